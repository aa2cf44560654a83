from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from heedful.adapters.affine import affine
from heedful.adapters.changes import assigned
from heedful.adapters.checking import check
from heedful.adapters.module import Module
from heedful.adapters.observing import observe
from heedful.adapters.subject import padded
from heedful.errors import BadConfig, BadInput, HeedfulError
from tests.adapters.small import FORMS, TEXTS, WORDS, Form, Small, numbers, subject_of


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_weights_is_heard_and_replaced(form: str) -> None:
    model = Small(form)
    subject = subject_of(model)
    texts = subject.encode(TEXTS)
    contract = check(subject, texts)
    assert contract.identity <= 1e-6
    assert contract.invariance <= 1e-5
    batch = padded(texts, np.arange(len(texts)))
    other = torch.rand(len(texts), batch.items) * batch.mask
    other /= other.sum(dim=1, keepdim=True)
    model.eval()
    with torch.no_grad():
        reading = subject.forward(batch)
        states = model.states(batch.tokens, batch.real)
        own = model.form.unwrap(model.attention(states, batch.real))
        assert torch.allclose(reading.weights, own.mean(dim=1), atol=1e-6)
        assert torch.allclose(reading.logits, model.decide(own, states), atol=1e-6)
        changed = subject.forward(batch, change=assigned(other))
        expected = model.decide(other[:, None].expand_as(own), states)
    assert torch.allclose(changed.logits, expected, atol=1e-6)
    assert torch.allclose(changed.weights, other, atol=1e-6)  # the attention that was computed with


@pytest.mark.parametrize("outputs", [1, 2, 3])
def test_scores_and_bias_of_an_affine_head_are_found(outputs: int) -> None:
    model = Small(outputs=outputs)
    classes = ("a", "b", "c")[: max(2, outputs)]
    subject = subject_of(model, classes=classes, output="sigmoid" if outputs == 1 else "softmax")
    texts = subject.encode(TEXTS)
    evidence = observe(subject, TEXTS, texts, labels=np.zeros(len(TEXTS), dtype=np.int64)).validate()
    assert evidence.scores is not None
    assert evidence.bias is not None
    model.eval()
    batch = padded(texts, np.arange(len(texts)))
    with torch.no_grad():
        said = model.states(batch.tokens, batch.real) @ model.head.weight.T
    assert np.allclose(evidence.scores.values, said[batch.real].numpy(), atol=1e-5)
    assert np.allclose(evidence.bias, model.head.bias.detach().numpy(), atol=1e-5)


@pytest.mark.parametrize("model", [Small(bend=torch.tanh), Small("heads"), Small(bend=nn.Softmax(dim=-1))])
def test_what_is_not_affine_has_no_scores(model: Small) -> None:
    subject = subject_of(model)
    texts = subject.encode(TEXTS)
    assert not affine(subject, texts)
    assert observe(subject, TEXTS, texts).validate().scores is None
    with pytest.raises(BadInput, match="not affine"):
        observe(subject, TEXTS, texts, exact=True)


def test_tokens_without_a_name_are_read_and_keep_their_weight() -> None:
    def framed(text: str) -> tuple[list[int], list[str | None]]:
        return [1, *numbers(text), 2], [None, *text.split(), None]

    model = Small()
    subject = subject_of(model, tokenize=framed)
    texts = subject.encode(TEXTS)
    check(subject, texts)
    assert texts.lengths.tolist() == [len(text.split()) for text in TEXTS]
    seen = subject.read(texts)
    assert np.allclose(seen.weights.sum(), 1)
    assert (seen.aside > 0.01).all()
    evidence = observe(subject, TEXTS, texts, seen).validate()  # scores and bias take what is aside into account
    assert evidence.scores is not None
    changed = subject.read(texts, lambda batch: assigned(batch.mask / batch.lengths[:, None]))
    uniform = texts.names.like(np.repeat(1 / texts.lengths, texts.lengths))
    exp = np.exp(changed.logits)
    assert np.allclose(evidence.decode(uniform), exp / exp.sum(axis=1, keepdims=True), atol=1e-5)
    nothing = subject.read(texts.keep(np.zeros(len(texts.names.values), dtype=bool)))
    assert np.isfinite(nothing.logits).all()
    assert np.allclose(nothing.aside, 1)


@pytest.mark.parametrize("blank", [None, 1])
def test_a_text_without_tokens_gets_no_attention(blank: int | None) -> None:
    model = Small()
    subject = subject_of(model, blank=blank)
    texts = subject.encode(["", "3 4", ""])
    seen = subject.read(texts)
    assert np.allclose(seen.logits[[0, 2]], model.head.bias.detach().numpy(), atol=1e-6)
    assert np.allclose(subject.read(texts.take([0])).logits, seen.logits[0])
    assert seen.aside.tolist() == pytest.approx([0, 0, 0])


class Keeping(Small):
    """Keeps what it made for later."""

    kept: Tensor | None = None

    def states(self, tokens: Tensor, real: Tensor) -> Tensor:
        if self.kept is None:
            self.kept = torch.ones(6) * 2
        return super().states(tokens, real) * self.kept


class Failing(Small):
    def decide(self, weights: Tensor, states: Tensor) -> Tensor:
        raise RuntimeError("on purpose")


def _state(model: nn.Module) -> list[Any]:
    modules = [(m.training, len(m._forward_hooks), len(m._forward_pre_hooks)) for m in model.modules()]
    return [modules, [(p.requires_grad, p.grad, p._version) for p in model.parameters()]]


@pytest.mark.parametrize("kind", [Small, Failing])
def test_the_model_is_left_as_it_was_found(kind: type[Small]) -> None:
    model = kind()
    model.train()
    model.mix.eval()
    model.head.requires_grad_(False)
    model.attention.register_forward_hook(lambda module, inputs, output: None)
    before = _state(model)
    subject = subject_of(model)
    texts = subject.encode(TEXTS)
    batch = padded(texts, np.arange(len(texts)))
    if kind is Failing:
        with pytest.raises(BadInput, match=r"Failing, reading tokens .* failed: RuntimeError: .*on purpose"):
            subject.forward(batch, change=lambda shares: shares)
    else:
        check(subject, texts)
        observe(subject, TEXTS, texts)
        for each in subject.differentiable(texts, attention_fixed=False):
            each.read().product(torch.ones(len(each.rows), 2))
    with pytest.raises(BadInput if kind is Failing else ZeroDivisionError):  # a fault of ours stays one
        subject.forward(batch, change=lambda shares: shares * (1 / 0))
    assert _state(model) == before


def test_what_a_model_keeps_can_be_differentiated_later() -> None:
    model = Keeping()
    subject = subject_of(model)
    texts = subject.encode(TEXTS)
    subject.read(texts)
    model(torch.tensor([[3, 4]]), torch.ones(1, 2, dtype=torch.bool)).sum().backward()


class Twice(Small):
    def forward(self, tokens: Tensor, real: Tensor) -> Tensor:
        states = self.states(tokens, real)
        self.attention(states, real)
        return self.decide(self.form.unwrap(self.attention(states, real)), states)


class Around(Small):
    def forward(self, tokens: Tensor, real: Tensor) -> Tensor:
        states = self.states(tokens, real)
        return self.decide(self.form.unwrap(self.attention.forward(states, real)), states)


class Unused(Small):
    """Returns other weights than it computes with."""

    def forward(self, tokens: Tensor, real: Tensor) -> Tensor:
        states = self.states(tokens, real)
        self.attention(states, real)
        return self.decide(real[:, None] / real.sum(dim=1)[:, None, None], states)


class Padding(Small):
    """Reads padding, too."""

    def decide(self, weights: Tensor, states: Tensor) -> Tensor:
        return super().decide(weights, states) + states.shape[1]


class Neighbours(Small):
    """Reads other texts, too."""

    def decide(self, weights: Tensor, states: Tensor) -> Tensor:
        logits = super().decide(weights, states)
        return logits - logits.mean(dim=0)


class Stateful(Small):
    """Says something else every time."""

    times = 0

    def decide(self, weights: Tensor, states: Tensor) -> Tensor:
        self.times += 1
        return super().decide(weights, states) + self.times


class Probable(Small):
    def decide(self, weights: Tensor, states: Tensor) -> Tensor:
        return super().decide(weights, states).softmax(dim=-1)


class Vanishing(Small):
    def decide(self, weights: Tensor, states: Tensor) -> Tensor:
        return super().decide(weights, states).log()


class Wrong(Small):
    """Its weights (B, L) are tampered with, and it knows how to read them."""

    def __init__(self, tamper: Any, undo: Any = lambda weights: weights) -> None:
        super().__init__()
        self.attention.wrap = lambda weights, states: tamper(weights[:, 0])
        self.form = Form(lambda weights, states: None, lambda out: undo(out)[:, None])


class Multihead(nn.Module):
    """torch's own attention: what it returns beside its output is for show."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, 6)
        self.attention = nn.MultiheadAttention(6, 2, batch_first=True)
        self.head = nn.Linear(6, 2)

    def forward(self, tokens: Tensor, real: Tensor) -> Tensor:
        vectors = self.embedding(tokens)
        attended, _ = self.attention(vectors, vectors, vectors, key_padding_mask=~real)
        return self.head(attended[:, 0])


REFUSED: list[tuple[nn.Module, dict[str, Any], str]] = [
    (Twice(), {}, "attention 'attention' must be called once when a batch is read; it was called 2 times"),
    (Around(), {}, r"it was not called: hooks hear `module\(...\)`"),
    (Unused(), {}, "are not what the model computes with"),
    (Multihead(), {"row": 0}, "are not what the model computes with"),
    (Multihead(), {}, "these are no heads but queries, as many as tokens; say by row="),
    (Small("queries"), {"row": None}, "say by row="),
    (Small("heads and queries"), {"row": None}, "the attention of 2 queries; say by row="),
    (Small("heads and queries"), {"row": 2}, "row=2: 'attention' returns the attention of 2 queries, 0 to 1"),
    (Small("chosen"), {"element": None}, "more than one may be weights: say element=0 or element=1"),
    (Small("chosen"), {"element": 2}, "element=2: 'attention' returns 0: a tensor of shape"),
    (Padding(), {}, "read in a batch with longer texts, logits or weights move by"),
    (Neighbours(), {}, "read in a batch with longer texts, logits or weights move by"),
    (Stateful(), {}, "put back, logits move by"),
    (Probable(), {}, "these are probabilities"),
    (Vanishing(), {}, "NaN or infinite"),
    (Wrong(lambda weights: weights * 0.9), {}, "'attention' returns sum to 0.9 over the real tokens, not to 1"),
    (Wrong(lambda weights: weights.log(), lambda out: out.exp()), {}, "NaN or infinite|negative|sum to 0"),
    (Wrong(lambda weights: 2 * weights - 1 / weights.shape[1]), {}, "negative, down to -0."),
    (Wrong(lambda weights: weights.where(weights > 0, 0.1)), {}, "put [0-9.]+ on padding"),
    (Wrong(lambda weights: weights / weights.sum(dim=1).log(), lambda out: out.nan_to_num()), {}, "NaN or infinite"),
    (
        Wrong(lambda weights: weights.T, lambda out: out.T),
        {},
        r"returns a tensor of shape \(2, 1\) for 1 texts of 2 tok",
    ),
    (Wrong(lambda weights: (weights.T, None), lambda out: out[0].T), {}, "none of these is attention"),
    (Wrong(lambda weights: [[weights]], lambda out: out[0][0]), {}, "returns 0: a list: none of these is attention"),
    (Small(), {"attention": "mix"}, "'mix' returns a tensor of shape"),
    (Small(), {"embedding": "head"}, r"embedding 'head' returns a tensor of shape \(1, 2\)"),
    (Small(), {"classes": ("a", "b", "c")}, r"not logits \(1, 3\)"),
    (Small(), {"output": "sigmoid"}, r"not logits \(1, 1\)"),
    (Small(), {"call": lambda model, tokens, real: None}, "Small returns None for 1 texts"),
]


@pytest.mark.parametrize(("model", "options", "reason"), REFUSED)
def test_what_cannot_be_audited_is_refused_with_the_reason(
    model: nn.Module, options: dict[str, Any], reason: str
) -> None:
    subject = subject_of(model, **options)
    with pytest.raises(HeedfulError, match=reason):
        check(subject, subject.encode(TEXTS))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (
            {"attention": "atention"},
            r"attention='atention': the model has no such module \(did you mean 'attention' or",
        ),
        ({"attention": "score"}, "did you mean 'attention.score'"),
        ({"attention": ""}, "no such module; its modules: embedding, mix, dropout, attention"),
        ({"embedding": "words"}, "embedding='words': the model has no such module"),
        ({"row": "first"}, "row='first'"),
        ({"output": "tanh"}, "output='tanh'"),
        ({"classes": ("a",)}, "two classes or more"),
        ({"classes": ("a", "a")}, "each another one"),
        ({"classes": ("a", "b", "c"), "output": "sigmoid"}, "one sigmoid decides between two classes"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(BadConfig, match=reason):
        subject_of(Small(), **options)


def test_only_modules_are_audited() -> None:
    with pytest.raises(BadConfig, match="model is a str"):
        Module("model", attention="a", embedding="b", tokenize=numbers, classes=("a", "b"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        ([[1, 2]], "must return a list of token ids"),
        (["a"], "must return a list of token ids"),
        ([1.5], "must return a list of token ids"),
        (([1, 2], ["a"]), "2 ids and 1 names"),
    ],
)
def test_a_tokenizer_that_returns_something_else_is_refused(made: Any, reason: str) -> None:
    with pytest.raises(BadInput, match=f"text 0: tokenize .*{reason}"):
        subject_of(Small(), tokenize=lambda text: made).encode(["a b"])


def test_a_tokenizer_of_another_model_is_refused() -> None:
    subject = subject_of(Small())
    with pytest.raises(BadInput, match=r"text 1: token 20 .* embeds 20 tokens, 0 to 19"):
        subject.encode(["1 2", "3 20"])
    for option in ("blank", "pad"):
        with pytest.raises(BadConfig, match=f"{option}=-1: .* embeds 20 tokens"):
            subject_of(Small(), **{option: -1})


def test_items_are_called_as_the_text_calls_them() -> None:
    subject = subject_of(Small(), tokenize=lambda text: [len(word) for word in text.split("-")])
    assert [list(names) for names in subject.encode(["a-bb", "c d", "e"]).names] == [["1", "2"], ["3"], ["e"]]


def test_nothing_to_audit_is_said() -> None:
    subject = subject_of(Small())
    with pytest.raises(BadInput, match="no text has an item"):
        check(subject, subject.encode([""]))


def test_checks_keep_to_what_a_model_can_read() -> None:
    class Short(Small):
        def forward(self, tokens: Tensor, real: Tensor) -> Tensor:
            assert tokens.shape[1] <= 5
            return super().forward(tokens, real)

    subject = subject_of(Short(), longest=5)
    check(subject, subject.encode(TEXTS))
    with pytest.raises(BadInput, match="longer than the model can read"):
        check(subject, subject.encode(TEXTS[-1:]))


def test_attention_over_states_that_are_all_alike_is_computed_with() -> None:
    class Alike(Small):
        def states(self, tokens: Tensor, real: Tensor) -> Tensor:
            return torch.ones(*tokens.shape, 6) + 0 * self.embedding(tokens)

    subject = subject_of(Alike())
    assert check(subject, subject.encode(TEXTS)).moved > 0.01  # moving attention does nothing, having less of it does


def test_the_last_token_decides_where_that_is_said() -> None:
    class Last(Small):
        def forward(self, tokens: Tensor, real: Tensor) -> Tensor:
            states = self.states(tokens, real)
            weights = self.attention(states, real)[torch.arange(len(tokens)), real.sum(dim=1) - 1]
            return self.decide(weights[:, None], states)

    subject = subject_of(Last("queries"), row="last")
    texts = subject.encode(TEXTS)
    assert check(subject, texts).moved > 0.01
    with pytest.raises(BadInput, match="not what the model computes with"):
        check(subject_of(Last("queries"), row=0), texts.take([5]))
