"""Heat-maps in the terminal: the darker an item, the more weight it has. Beside the model's attention stands another
one that gives nearly the same output (Jain & Wallace 2019, Figure 1)."""

from typing import NamedTuple

from rich.console import Group, RenderableType
from rich.style import Style
from rich.table import Table
from rich.text import Text

from heedful.printable import printable
from heedful.report.heatmaps.instance import Adversarial, FlipSet, Instance

_NAMED = 12  # items that are named before the rest is counted
_FULL = (209, 90, 0)  # the hue of the heaviest item; the lightest is white


class Map(NamedTuple):
    """One distribution over an instance's items, and what it is."""

    title: str
    weights: list[float]
    marked: frozenset[int] = frozenset()  # the smallest set whose removal flips the decision

    @property
    def colours(self) -> list[tuple[int, ...]]:
        """RGB of each item, by its share of the heaviest, so that flat attention on a long text can still be seen."""
        heaviest = max(self.weights)
        shares = (weight / heaviest for weight in self.weights)
        return [tuple(round(255 + (full - 255) * share) for full in _FULL) for share in shares]


def maps(instance: Instance) -> list[Map]:
    """The model's attention and, where there is one, the adversary's."""
    fewest = instance.flip_set
    marked = frozenset((fewest and fewest.items) or ())
    own = Map("attention", instance.weights, marked if len(marked) < len(instance.tokens) else frozenset())
    if instance.adversarial is None or len(instance.tokens) == 1:
        return [own]
    return [own, Map("adversarial attention", instance.adversarial.weights)]


def headline(instance: Instance) -> str:
    """The decision, and whether it is correct."""
    right = ""
    if instance.label is not None:
        right = ", correct" if instance.label == instance.decision else f", but the label is {instance.label}"
    return printable(
        f"{instance.id} of {instance.corpus}: decided {instance.decision} (p = {instance.probability:.3f}){right}"
    )


def asked(instance: Instance) -> list[str]:
    """The question or hypothesis, where there is one."""
    return [] if instance.query is None else [f"question: {printable(' '.join(instance.query))}"]


def comparison(instance: Instance, other: Adversarial) -> str:
    """What the adversarial attention changes: the map, not the output."""
    if len(instance.tokens) == 1:
        return "There is no other attention over a single item."
    best = "this is the most different map possible"
    if not other.certified:
        best = f"no map further than {other.upper:.3f} is possible"
    return printable(
        f"With the adversarial attention: decided {other.decision} (p = {other.probability:.3f}). The output differs "
        f"by TVD {other.tvd:.3f} (at most {other.epsilon:g} allowed), the map by JSD {other.jsd:.3f} of at most 0.693; "
        f"{best}."
    )


def without(instance: Instance, fewest: FlipSet) -> str:
    """What it takes to change the decision: the items marked in the map."""
    if fewest.items is None:
        return "Zeroing attention never flips the decision."
    if len(fewest.items) == len(instance.tokens):
        return f"Only zeroing all attention flips the decision to {printable(fewest.decision or '')}."
    named = [name_of(instance, item) for item in fewest.items[:_NAMED]]
    more = f" and {len(fewest.items) - _NAMED} more" if len(fewest.items) > _NAMED else ""
    item = "sentences" if instance.sentences else "words"
    size = f"{len(fewest.items)} of {len(instance.tokens)} {item}"
    return (
        f"Zeroing the attention of {', '.join(named)}{more} (marked; {size}, the minimum) flips the decision to "
        f"{printable(fewest.decision or '')}."
    )


def terminal_heatmap(instance: Instance, *, top: int = 5) -> RenderableType:
    """Tokens on a background as strong as their weight, map beside map, and the heaviest of them in numbers."""
    shown = maps(instance)
    table = Table.grid(padding=(0, 3, 0, 0))
    for _ in shown:
        table.add_column(ratio=1, overflow="fold")  # a token is never cut
    if len(shown) > 1:
        table.expand = True
        table.add_row(*(Text(one.title, style="underline") for one in shown))
    table.add_row(*(_lines(instance.tokens, one) if instance.sentences else _coloured(instance, one) for one in shown))
    table.add_row(*(Text(heaviest(instance, one, top=top)) for one in shown))
    return Group(
        Text(headline(instance), style="bold"), *map(Text, asked(instance)), table, *map(Text, notes(instance))
    )


def heaviest(instance: Instance, shown: Map, *, top: int = 5) -> str:
    """The items with most weight in numbers: colours are only shares of the heaviest."""
    order = sorted(range(len(shown.weights)), key=lambda index: -shown.weights[index])[:top]
    named = [f"{name_of(instance, index)} {shown.weights[index]:.3f}" for index in order if shown.weights[index]]
    return f"most attended: {', '.join(named)}"


def name_of(instance: Instance, item: int) -> str:
    """An item in a sentence about it: a word itself, a sentence by its number."""
    return f"sentence {item + 1}" if instance.sentences else printable(instance.tokens[item])


def notes(instance: Instance) -> list[str]:
    """What is to be said below the maps."""
    lines = [] if instance.adversarial is None else [comparison(instance, instance.adversarial)]
    if instance.flip_set is not None:
        lines.append(without(instance, instance.flip_set))
    if instance.truth is not None:
        deciding = [index for index, decides in enumerate(instance.truth) if decides]
        words = ", ".join(name_of(instance, index) for index in deciding)
        mass = sum(instance.weights[index] for index in deciding)
        found = f"{words} (attention on them: {mass:.3f})" if words else "none"
        lines.append(f"Known to decide: {found}.")
    return lines


def _coloured(instance: Instance, shown: Map) -> Text:
    text = Text()
    for item, token in enumerate(instance.tokens):
        text.append_text(_item(token, shown, item)).append(" ")
    return text


def _lines(tokens: list[str], shown: Map) -> Table:
    """Sentences line by line, with their numbers and weights."""
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for item, (token, weight) in enumerate(zip(tokens, shown.weights, strict=True)):
        table.add_row(f"{item + 1}", f"{weight:.3f}", _item(token, shown, item))
    return table


def _item(token: str, shown: Map, item: int) -> Text:
    """On the colour of its weight; what is marked can be told without colours, too."""
    (red, green, blue), marked = shown.colours[item], item in shown.marked
    style = Style(color="rgb(0,0,0)", bgcolor=f"rgb({red},{green},{blue})", underline=marked)
    return Text(f"[{printable(token)}]" if marked else printable(token), style)
