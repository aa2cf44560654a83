import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from heedful.adapters.module.inputs import encoded
from heedful.adapters.texts import NO_ITEM, Texts, each_token_an_item
from heedful.ragged import Ragged

Text = list[tuple[int, int | None]]  # each token with the item it belongs to


@st.composite
def texts(draw: st.DrawFn) -> list[Text]:
    """Items of one to three tokens, tokens of no item anywhere, texts without either."""
    made = []
    for _ in range(draw(st.integers(1, 5))):
        sizes = draw(st.lists(st.integers(1, 3), max_size=4))
        text: Text = [(draw(st.integers(0, 9)), item) for item, size in enumerate(sizes) for _ in range(size)]
        for _ in range(draw(st.integers(0, 2))):
            text.insert(draw(st.integers(0, len(text))), (draw(st.integers(10, 19)), None))
        made.append(text)
    return made


def encode(rows: list[Text]) -> Texts:
    counts = [len({item for _, item in row if item is not None}) for row in rows]
    return Texts(
        Ragged.from_rows([[token for token, _ in row] for row in rows], dtype=np.int64),
        Ragged.from_rows([[NO_ITEM if item is None else item for _, item in row] for row in rows], dtype=np.int64),
        Ragged.from_rows([[f"{n}.{item}" for item in range(c)] for n, c in enumerate(counts)], dtype=object),
    )


def listed(made: Texts) -> list[tuple[list[int], list[int], list[str]]]:
    rows = zip(made.tokens, made.item, made.names, strict=True)
    return [(tokens.tolist(), item.tolist(), names.tolist()) for tokens, item, names in rows]


@given(texts(), st.data())
def test_kept_and_replaced_items_are_those_of_a_plain_version(rows: list[Text], data: st.DataObject) -> None:
    made = encode(rows)
    total = len(made.names.values)
    flags = np.array(data.draw(st.lists(st.booleans(), min_size=total, max_size=total)), dtype=bool)
    kept, replaced, first = [], [], 0
    for number, row in enumerate(rows):
        count = int(made.lengths[number])
        chosen = flags[first : first + count]
        first += count
        places = {item: place for place, item in enumerate(np.flatnonzero(chosen).tolist())}
        left = [(token, item) for token, item in row if item is None or chosen[item]]
        tokens = [token for token, _ in left]
        items = [NO_ITEM if item is None else places[item] for _, item in left]
        kept.append((tokens, items, [f"{number}.{item}" for item in places]))
        blanked = [99 if item is not None and chosen[item] else token for token, item in row]
        replaced.append((blanked, *listed(made)[number][1:]))
    assert listed(made.keep(flags)) == kept
    assert listed(made.replaced(flags, 99)) == replaced


@given(texts())
def test_keeping_everything_and_replacing_nothing_changes_nothing(rows: list[Text]) -> None:
    made = encode(rows)
    every = np.ones(len(made.names.values), dtype=bool)
    assert listed(made.keep(every)) == listed(made.replaced(~every, 99)) == listed(made)
    nothing = made.keep(~every)
    assert nothing.lengths.tolist() == [0] * len(rows)
    assert (nothing.item.values == NO_ITEM).all()


@given(texts(), st.data())
def test_keeping_in_two_steps_is_keeping_at_once(rows: list[Text], data: st.DataObject) -> None:
    made = encode(rows)
    total = len(made.names.values)
    both = [np.array(data.draw(st.lists(st.booleans(), min_size=total, max_size=total)), dtype=bool) for _ in range(2)]
    assert listed(made.keep(both[0]).keep(both[1][both[0]])) == listed(made.keep(both[0] & both[1]))


@given(texts(), st.data())
def test_texts_are_taken_whole(rows: list[Text], data: st.DataObject) -> None:
    made = encode(rows)
    some = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=6))
    assert listed(made.take(some)) == [listed(made)[row] for row in some]
    assert listed(made.slice(1, 3)) == listed(made)[1:3]


def test_tokens_without_a_name_are_no_items() -> None:
    made = encoded(["a b"], lambda text: ([7, 5, 6, 8], [None, "a", "b", None]))
    assert listed(made) == [([7, 5, 6, 8], [NO_ITEM, 0, 1, NO_ITEM], ["a", "b"])]
    plain = encoded(["a b", ""], lambda text: [ord(word) for word in text.split()])
    assert listed(plain) == listed(each_token_an_item(plain.tokens, plain.names))
