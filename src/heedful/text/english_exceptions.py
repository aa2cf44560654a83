"""What the rules of `english` would split wrongly: contractions, abbreviations, times and emoticons.

Made from word lists by the rules of English, not taken from any library. Where spaCy reads a common word as a
contraction without its apostrophe (`id` as I'd, `Wed` as we'd), it stays a word here.
"""

from collections.abc import Iterable, Iterator

Pieces = tuple[str, ...]

_APOSTROPHES = "'’"

# who may be followed by a short verb, and by which
_SUBJECTS = {
    "i": "m ll d ve",
    "you we they": "re ll d ve",
    "he she it": "s ll d ve",
    "who what when where why how there that": "s ll d ve re",
    "this": "s ll d",
}
_OTHER_WORDS = frozenset("ill id hell hed heve shell shed well wed were its this whore".split())  # no contractions
# before n't
_VERBS = "ai are ca could did do does had has have is may might must need ought sha should was were wo would".split()
_MODALS = "could might must should would".split()

_ABBREVIATIONS = """
    Mr. Mrs. Ms. Dr. Prof. Rev. Gen. Gov. Sen. Rep. St. Mt. Jr. Co. co. Corp. Inc. Ltd. Bros. Messrs. Adm. vs. v.s.
    e.g. E.g. i.e. I.e. a.m. p.m. Ph.D.
    Jan. Feb. Mar. Apr. Jun. Jul. Aug. Sep. Sept. Oct. Nov. Dec.
    Ala. Ariz. Ark. Calif. Colo. Conn. Del. Fla. Ga. Ia. Id. Ill. Ind. Kan. Kans. Ky. La. Mass. Md. Mich. Minn. Miss.
    Mo. Mont. Neb. Nebr. Nev. Okla. Ore. Pa. Tenn. Va. Wash. Wis. D.C. N.C. N.D. N.H. N.J. N.M. N.Y. S.C.
""".split()
_CLIPPED = "'em 'cause 'cos 'coz 'bout 'nuff 's 're ol' ma'am o'clock".split()
_CLIPPED += "doin' goin' havin' lovin' nothin' nuthin' somethin'".split()
_UNITED = "and/or w/o C++ ''".split()

_EYES, _NOSES, _MOUTHS = ":;=", ("", "-", "o", "'"), ")(]}DPpO/|*3x"
_FACES = """
    <3 </3 ^_^ -_- o_O O_o o.O O.o >.< @_@ XD xD >:( >:) :)) :))) :-)) :(( :((( :> :-> 8) 8-) 8D 8-D :o :-o
    (: (; (= (-: (-; ): )-: [= [: [-:
""".split()
_NO_FACES = frozenset("=P ;] ;o) ;p =x =o) =o( =/ =|".split())  # more often code, or marks that only meet


def _contractions() -> Iterator[Pieces]:
    for subjects, verbs in _SUBJECTS.items():
        for subject in subjects.split():
            for verb in verbs.split():
                yield from ((subject, mark + verb) for mark in _APOSTROPHES)
                if verb in ("d", "ll"):
                    yield from ((subject, mark + verb, mark + "ve") for mark in _APOSTROPHES)
                if subject + verb not in _OTHER_WORDS:
                    yield subject, verb
    for verb in _VERBS:
        yield from ((verb, f"n{mark}t") for mark in _APOSTROPHES)
        yield from ((verb, f"n{mark}t", f"{mark}ve") for mark in _APOSTROPHES)
        yield verb, "nt"
    for verb in _MODALS:
        yield from ((verb, f"{mark}ve") for mark in _APOSTROPHES)
        yield verb, "ve"
    for mark in _APOSTROPHES:
        yield from (("let", f"{mark}s"), (f"c{mark}m", "on"), (f"y{mark}", "all"))
    yield from (("can", "not"), ("gon", "na"), ("got", "ta"), ("i", "m", "a"))


def _times() -> Iterator[Pieces]:
    for hour in range(1, 13):
        yield from ((str(hour), half) for half in ("a.m.", "p.m.", "am", "pm"))


def _words() -> Iterator[Pieces]:
    """What stays one token."""
    initials = (f"{chr(letter)}." for letter in range(ord("a"), ord("z") + 1))
    clipped = (word.replace("'", mark) for word in _CLIPPED for mark in _APOSTROPHES)
    faces = (eyes + nose + mouth for eyes in _EYES for nose in _NOSES for mouth in _MOUTHS)
    for word in (*_ABBREVIATIONS, *initials, *_UNITED, *_FACES, *faces):
        if word not in _NO_FACES:
            yield (word,)
    yield from _at_beginnings((word,) for word in clipped)


def _at_beginnings(every: Iterable[Pieces]) -> Iterator[Pieces]:
    """As in the middle of a sentence, and as at its beginning."""
    for pieces in every:
        yield pieces
        head = pieces[0]
        yield head[0] + head[1:].capitalize() if head[0] in _APOSTROPHES else head.capitalize(), *pieces[1:]


EXCEPTIONS: dict[str, Pieces] = {
    "".join(pieces): pieces for pieces in (*_at_beginnings(_contractions()), *_times(), *_words())
}
