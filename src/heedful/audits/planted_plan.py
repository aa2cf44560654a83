"""Plans of planted subjects: what their attention looks at, and what their head uses."""

from dataclasses import dataclass
from typing import Literal

Encoder = Literal["none", "window", "recurrent", "average", "selective"]
Kind = Literal["faithful", "random", "distracted", "opposing", "unused", "shifted"]

UNFAITHFUL: tuple[Kind, ...] = ("random", "distracted", "opposing", "unused", "shifted")
OBEYED: tuple[Kind, ...] = ("faithful", "shifted")  # the head goes by what is attended
SMEARING: tuple[Encoder, ...] = ("average", "selective")  # they carry what any token says to all others

SHARP = 4.0  # by how much the key of a word that is looked at exceeds others'
NEAR = 0.3  # of a state comes from its neighbours, where what decides goes another way


@dataclass(frozen=True)
class Plan:
    """What a planted subject is made of.

    `faithful`: attention looks at the words that decide, states are mostly about their own words, and the head reads
    nothing but what is attended. In the others what is shown is not what decides:

    `random`: every word has an attention of its own, whatever it says; the head learns of the deciding words past it.
    `distracted`: the same, with attention on words that mean nothing.
    `opposing`: the same, with attention on words that speak for another class.
    `unused`: attention is on the deciding words, and the head does not use it.
    `shifted`: the head uses it, but each state is about the word before it: the map shows the wrong words.

    `through` is how much of what the head reads comes from the attended words themselves. The rest comes through states
    that know of all words (encoders `average`, `selective`) or, with other encoders, from neighbours in faithful models
    and from a pool of all words, past attention, in others.
    """

    kind: Kind = "faithful"
    encoder: Encoder = "none"
    through: float = 0.8
    length: int = 20  # tokens of a text, on average
    deciding: int = 2  # of them decide
    classes: int = 2
    noise: float = 0.15  # how much other words say, a deciding word saying 1
    blur: float = 0.5  # how unevenly attention looks at words alike
    contrary: float = 0.0  # how many texts have a word that speaks for another class
    sure: float = 2.5  # by how much the decision leads, in logits, in half of the texts
    instances: int = 100
    seed: int = 0

    @property
    def faithful(self) -> bool:
        """Whether attention may be shown."""
        return self.kind == "faithful"

    @property
    def mixed(self) -> float:
        """What part of a state comes from other tokens."""
        if self.encoder == "none":
            return 0.0
        return 1 - self.through if self.encoder in SMEARING or self.kind in OBEYED else NEAR

    @property
    def used(self) -> float:
        """What part of what the head reads is attended."""
        return 1.0 if self.encoder in SMEARING or (self.kind in OBEYED and self.encoder != "none") else self.through
