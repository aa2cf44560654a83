import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.corpora.readers.babi import questions
from heedful.errors import BadInput

STORY = """\
1 Mary moved to the bathroom.
2 John went to the hallway.
3 Where is Mary? \tbathroom\t1
4 Daniel went back to the hallway.
5 Where is John? \thallway\t2 4
1 Sandra travelled to the office.

2 Where is Sandra? \toffice\t1
"""


def parsed(text):
    return list(questions((f"f.txt, line {number}", line) for number, line in enumerate(text.split("\n"), start=1)))


def test_facts_so_far_without_questions():
    first, second, third = parsed(STORY)
    assert first.facts == ("Mary moved to the bathroom.", "John went to the hallway.")
    assert (first.text, first.answer, first.supporting) == ("Where is Mary?", "bathroom", {0})
    assert second.facts == (*first.facts, "Daniel went back to the hallway.")
    assert (second.story, second.number, second.supporting) == (1, 5, {1, 2})
    assert (third.story, third.number, third.facts) == (2, 2, ("Sandra travelled to the office.",))


@given(
    stories=st.lists(
        st.lists(st.booleans(), max_size=8).map(lambda kinds: [False, *kinds]),  # True is a question
        max_size=4,
    )
)
def test_what_is_written_is_read(stories):
    lines, expected = [], []
    for story, kinds in enumerate(stories, start=1):
        facts = []
        for number, is_question in enumerate(kinds, start=1):
            if is_question:
                lines.append(f"{number} Which fact is {len(facts)}? \tw{number}\t{facts[-1][0]}")
                expected.append((story, number, [text for _, text in facts], f"w{number}", {len(facts) - 1}))
            else:
                facts.append((number, f"Fact {story} {number}."))
                lines.append(f"{number} {facts[-1][1]}")
    found = parsed("\n".join(lines))
    assert [(q.story, q.number, list(q.facts), q.answer, set(q.supporting)) for q in found] == expected


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("Mary went home.", r"line 9: should begin with a number .*'Mary went home\.'"),
        ("3", r"line 9: should begin with a number"),
        ("4 Mary went home.", r"line 9: number 4 where 3 should be; .*without gaps"),
        ("2 Mary went home.", r"line 9: number 2 where 3 should be"),
        ("3 Mary went home", r"line 9: a sentence should end in a full stop"),
        ("3 Where is Mary?", r"line 9: a question should be .*tabs between; found 'Where is Mary\?'"),
        ("3 Where is Mary? \thome", r"line 9: a question should be"),
        ("3 Where is Mary \thome\t1", r"line 9: a question should be"),
        ("3 Where is Mary? \t\t1", r"line 9: the answer '' is not one word"),
        ("3 Where is Mary? \tat home\t1", r"line 9: the answer 'at home' is not one word"),
        ("3 Where is Mary? \thome,office\t1", r"line 9: the answer 'home,office' is not one word"),
        ("3 Where is Mary? \thome\t2", r"line 9: supporting fact '2' is no fact of the story .*it has: 1"),
        ("3 Where is Mary? \thome\t1 7", r"line 9: supporting fact '7' is no fact"),
        ("3 Where is Mary? \thome\tone", r"line 9: supporting fact 'one' is no fact"),
        ("3 Where is Mary? \thome\t", r"line 9: no supporting fact is named"),
        ("1 Where is Mary? \thome\t1", r"line 9: a question without any fact before it"),
    ],
)
def test_bad_lines(line, message):
    with pytest.raises(BadInput, match=message):
        parsed(STORY + line)


def test_a_file_that_begins_in_the_middle():
    with pytest.raises(BadInput, match=r"line 1: number 2 where 1 should be"):
        parsed("2 Mary went home.")
