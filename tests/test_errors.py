"""Messages: long values are cut, prose is not."""

from heedful.errors import BadInput, HeedfulError


def test_long_ids_are_cut_and_what_stands_around_them_is_not() -> None:
    reason = "the evidence's ids must be unique, and it's the user's task to see to that, " * 4
    message = str(BadInput(f"table.csv, line 3: the id '{'x' * 50_000}end' occurs twice: {reason}'short' isn't long"))
    assert len(message) < 800
    assert message.startswith("table.csv, line 3: the id 'xxx")
    assert "xxxend' occurs twice" in message
    assert " … " in message
    assert message.endswith(f"{reason}'short' isn't long")


def test_a_message_has_an_end_whatever_is_listed_in_it() -> None:
    message = str(HeedfulError(f"no column 'text'; it has: {', '.join(map(str, range(10**5)))}; rename one"))
    assert len(message) < 5000
    assert message.startswith("no column 'text'; it has: 0, 1, 2")
    assert message.endswith("; rename one")
