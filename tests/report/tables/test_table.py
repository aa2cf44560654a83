import json

import pytest

from heedful.report.tables.layout import estimate, number, published, share
from heedful.report.tables.table import Column, Kind, Table, Value

COLUMNS = (
    Column("corpus", "corpus"),
    number("n", "n", "How many."),
    *estimate("tau", "tau", "A figure.", std=True),
    published("tau", "The paper's."),
    *share("flips", "flips", "A share."),
)


def _table(*rows: tuple[Value, ...]) -> Table:
    return Table("t", "T", "About t.", COLUMNS, rows, (), ("folder",) * len(rows))


def test_cells_of_estimates_hold_spread_and_interval() -> None:
    table = _table(("a", 1234, 0.384, 0.19, 0.37, 0.4, 0.4, 0.5, 0.25, 0.754))
    (cells,) = table.formatted
    assert [cells[index] for index in table.shown] == [
        *("a", "1,234", "0.38±0.19 [0.37, 0.40]", "0.40", "50.0% [25.0, 75.4]"),
    ]
    assert cells[3] == "0.19"  # a part has a cell of its own, too


def test_what_is_not_known_is_a_dash_and_intervals_without_ends_are_left_out() -> None:
    (cells,) = _table((None, 0, None, None, None, None, None, 0.5, None, None)).formatted
    assert cells[0] == cells[2] == "\u2013"
    assert cells[7] == "50.0%"


@pytest.mark.parametrize(
    ("kind", "digits", "value", "told"),
    [
        ("text", 0, "a\nb\x1b[0m", "a\\nb\\x1b[0m"),
        ("count", 0, 1234567, "1,234,567"),
        ("figure", 2, -0.001, "0.00"),
        ("percent", 0, 0.126, "13%"),
        ("signed", 3, 0.0104, "+0.010"),
        ("signed", 2, -0.001, "+0.00"),
        ("p", 0, 0.00099, "<0.001"),
        ("p", 0, 0.0456, "0.046"),
        ("flag", 0, False, "no"),
    ],
)
def test_values_are_told_by_their_kind(kind: Kind, digits: int, value: Value, told: str) -> None:
    assert Column("k", "t", kind, digits).format(value) == told


def test_json_has_raw_and_formatted_cells() -> None:
    table = _table(("a", 2, 0.123456, None, None, None, None, None, None, None))
    told = json.loads(json.dumps(table.to_json(), allow_nan=False))
    assert told["rows"] == [["a", 2, 0.123456, *[None] * 7]]
    assert told["formatted"][0][2] == "0.12"
    assert told["shown"] == [0, 1, 2, 6, 7]
    assert told["runs"] == ["folder"]
    paper = told["columns"][6]
    assert (paper["key"], paper["published"], paper["beside"]) == ("paper_tau", True, "tau")
    assert (told["columns"][4]["part"], told["columns"][4]["of"]) == ("low", "tau")
