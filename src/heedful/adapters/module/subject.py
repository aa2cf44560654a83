"""Any torch module under audit: one submodule returns attention weights, one embeds tokens, hooks do the rest."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import torch
from torch import Tensor, nn

from heedful.adapters.changes import Change, changed, masses_of, normalised
from heedful.adapters.hardware import device_of, precision_of, widened
from heedful.adapters.module.inputs import Filled, Hook, Tokenize, check_token, encoded, filled, listening, submodule
from heedful.adapters.module.replay import KeptCalls, Returned, batch_dims, recording
from heedful.adapters.module.weights import Key, Row, Weights, described
from heedful.adapters.subject import Embed, Padded, Reading, States, Subject
from heedful.adapters.texts import Texts
from heedful.errors import BadConfig, BadInput, HeedfulError, user_code

Call = Callable[[Any, Tensor, Tensor], Any]  # of a model, tokens (B, L) and which of them are real (B, L)


class Module(Subject):
    """A torch module as the subject of an audit.

    `attention` and `embedding` are dotted names of submodules: the one that returns attention weights (after the
    softmax; the model must go on computing with what it returns), and the one that embeds tokens (B, L) to (B, L, D).
    Each must be called exactly once when a batch is read.

    `tokenize` makes a text's token ids, or (ids, names): a name each, None for a token that is no item. `call` reads a
    batch: `model(tokens, real)` unless given. With `output="sigmoid"` the model has one logit, for the second of two
    classes. Where the attention module returns several things, `element` says which are the weights, if their shapes
    and sums do not; `row` says whose attention is audited where there are several queries: a number, or "last".

    A text without any token is read as one `blank` (or `pad`) token that gets no attention.
    """

    def __init__(
        self,
        model: nn.Module,
        *,
        attention: str,
        embedding: str,
        tokenize: Tokenize,
        classes: Sequence[str],
        call: Call | None = None,
        output: Literal["softmax", "sigmoid"] = "softmax",
        element: Key | None = None,
        row: Row | None = None,
        blank: int | None = None,
        pad: int = 0,
        longest: int | None = None,
    ) -> None:
        if not isinstance(model, nn.Module):
            raise BadConfig(f"model is {described(model)}: give a torch.nn.Module")
        self.model = model
        self.precision, self.device = precision_of(model), device_of(model)
        self.attention = submodule(model, attention, "attention")
        self.embedding = submodule(model, embedding, "embedding")
        self.weights = Weights(attention, element=element, row=row)
        self.tokenize, self.call, self.pad = tokenize, call or (lambda model, tokens, real: model(tokens, real)), pad
        self.classes, self.blank, self.longest = tuple(classes), blank, longest
        self.outputs = _outputs(self.classes, output)
        self._dims: tuple[tuple[int, ...], ...] | None = None  # of what is kept for replays; None: not known yet
        self.known = self.embedding.num_embeddings if isinstance(self.embedding, nn.Embedding) else None
        check_token("pad", pad, self.known)
        check_token("blank", 0 if blank is None else blank, self.known)
        which = "" if row is None else f", row {row}"
        self.about = {"kind": "module", "name": type(model).__name__, "map": f"{attention}{which}"}
        self.about |= {"embedding": embedding, "torch": torch.__version__}

    def encode(self, texts: Sequence[str]) -> Texts:
        """Texts as the tokenizer cuts them."""
        return encoded(texts, self.tokenize, self.known)

    def forward(
        self, batch: Padded, *, change: Change | None = None, embed: Embed | None = None, attention_fixed: bool = False
    ) -> Reading:
        """Read a batch with hooks on; they are gone afterwards."""
        return self._forward(batch, change, embed, fixed=attention_fixed)

    def prepare(self, batch: Padded) -> States | None:
        """Read a batch and keep what submodules return before attention; None where rows cannot be chosen from it."""
        if not self.replays:
            return None
        calls: list[Returned] = []
        with torch.no_grad(), recording(self.model, self.attention, calls):
            reading = self.forward(batch)
        if self._dims is None:  # two batches of one text, which differ in size only
            found: dict[int, list[Returned]] = {2: [], 3: []}
            for rows, returned in found.items():
                with torch.no_grad(), recording(self.model, self.attention, returned):
                    self.forward(batch.take(torch.zeros(rows, dtype=torch.int64)))
            self._dims = batch_dims(found[2], found[3]) or ()
        self.replays = bool(self._dims) and len(self._dims) == len(calls)
        return KeptCalls(reading, tuple(calls), self._dims) if self.replays else None

    def replay(self, batch: Padded, states: States, change: Change) -> Reading:
        """Read a batch from its attention on."""
        if not isinstance(states, KeptCalls):
            raise TypeError("states of another model")
        with states.replayed():
            return self._forward(batch, change, None, fixed=False, replayed=True)

    def _forward(
        self, batch: Padded, change: Change | None, embed: Embed | None, *, fixed: bool, replayed: bool = False
    ) -> Reading:
        tokens, real, item, void = self._filled(batch)
        heard: list[Tensor] = []  # the attention that was computed with, (B, H, L), each time
        embedded: list[None] = []

        def attend(output: Any) -> Any:
            key, own = self.weights.find(output, real)
            weights = own.detach() if fixed else own
            if change is not None:
                weights = changed(widened(weights.cpu()), item, batch.items, change).to(own)
            if void.any():
                weights = weights.masked_fill(void[:, None, None].to(own.device), 0.0)
            heard.append(widened(weights.cpu()))
            return None if weights is own else self.weights.put(output, key, weights, real)

        def replace(vectors: Any) -> Any:
            embedded.append(None)
            if not isinstance(vectors, Tensor) or vectors.ndim != 3 or vectors.shape[:2] != tokens.shape:
                raise BadInput(
                    f"embedding '{self.about['embedding']}' returns {described(vectors)} for tokens "
                    f"{tuple(tokens.shape)}; name the module that makes vectors (B, L, D) of all tokens of a batch"
                )
            return None if embed is None else embed(vectors)

        try:
            logits = self._read(tokens, real, [(self.attention, attend), (self.embedding, replace)])
        except HeedfulError:
            raise
        except (Exception, SystemExit):
            self.original(batch)  # raises if the model fails by itself; otherwise what was changed is at fault
            raise
        self._check_calls("attention", self.weights.name, len(heard))
        if not replayed:  # what embeds may not be called at all
            self._check_calls("embedding", str(self.about["embedding"]), len(embedded))
        mean = heard[0].mean(dim=1, keepdim=True)  # (B, 1, L)
        masses = masses_of(mean, item, batch.items)[:, 0]  # (B, T)
        aside = (mean[:, 0].sum(dim=-1) - masses.sum(dim=-1)).clamp(min=0)
        return Reading(logits, normalised(masses), aside)

    def original(self, batch: Padded) -> Tensor:
        """Logits without any hook."""
        filled = self._filled(batch)
        what = f"{self.about['name']}, reading tokens {tuple(filled.tokens.shape)},"
        with user_code(what, "call the model in Python to see where"):
            return self._read(filled.tokens, filled.real, [])

    def bytes_of(self, tokens: int, *, gradient: bool) -> int:
        """Four bytes for what each layer makes of a token, twice for what is made in between, once more with gradients;
        where tokens attend to tokens, also for each pair of them."""
        width = sum(map(_width, self.model.modules()))
        pairs = 0 if self.weights.row is None else tokens * tokens * (self.weights.heads or 8)
        return 4 * (3 if gradient else 2) * (tokens * width + pairs)

    def _filled(self, batch: Padded) -> Filled:
        return filled(batch, pad=self.pad, blank=self.blank)

    def _read(self, tokens: Tensor, real: Tensor, hooks: Sequence[tuple[nn.Module, Hook]]) -> Tensor:
        with listening(self.model, hooks):
            logits = self.call(self.model, tokens.to(self.device), real.to(self.device))
        if isinstance(logits, Tensor) and self.outputs == 1 and logits.shape == (len(tokens),):
            logits = logits[:, None]
        if not isinstance(logits, Tensor) or logits.shape != (len(tokens), self.outputs):
            raise BadInput(
                f"{self.about['name']} returns {described(logits)} for {len(tokens)} texts, not logits ({len(tokens)}, "
                f"{self.outputs}); say by call= how it is read, by classes= what the classes are, and output='sigmoid' "
                "if one logit decides between two"
            )
        if not torch.isfinite(logits).all():
            raise BadInput(f"{self.about['name']} gives logits that are NaN or infinite, which are no outputs")
        return widened(logits.cpu())

    def _check_calls(self, what: str, path: str, calls: int) -> None:
        if calls == 1:
            return
        if not calls:
            reason = "was not called: hooks hear `module(...)`, not `module.forward(...)`; or another module is in use"
        else:
            reason = f"was called {calls} times, and it is not known which call counts; name a module called once"
        raise BadInput(f"{what} '{path}' must be called once when a batch is read; it {reason}")


def _outputs(classes: tuple[str, ...], output: str) -> int:
    if output not in ("softmax", "sigmoid"):
        raise BadConfig(f"output={output!r}: 'softmax' over one logit a class, or 'sigmoid' of a single one")
    if len(classes) < 2 or len(set(classes)) < len(classes):
        raise BadConfig(f"classes={classes!r}: give the names of two classes or more, each another one")
    if output == "sigmoid" and len(classes) != 2:
        raise BadConfig(f"classes={classes!r}: one sigmoid decides between two classes; name both")
    return 1 if output == "sigmoid" else len(classes)


def _width(module: nn.Module) -> int:
    """About how many numbers a module makes of a token: as many as its largest parameter has rows."""
    if isinstance(module, nn.Embedding):
        return module.embedding_dim
    return max((len(parameter) for parameter in module.parameters(recurse=False) if parameter.ndim), default=0)
