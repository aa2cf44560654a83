"""A sequence classifier of Hugging Face transformers as the subject of an audit."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from heedful.adapters.changes import Change, masses_of, normalised
from heedful.adapters.checking import Contract, check
from heedful.adapters.hardware import AUTO, device_of, precision_of
from heedful.adapters.huggingface.attention import (
    ATTENTION,
    CACHE,
    NAME,
    PADDING,
    Intervention,
    Look,
    attending,
    borrowed,
    embedding,
    probe,
    register,
    watching,
)
from heedful.adapters.huggingface.loading import described, load_parts, required
from heedful.adapters.huggingface.maps import ALL, LAST, Rows, Size, checked, output_projection, parsed, rows_of
from heedful.adapters.huggingface.replay import KeptStates, layers_of
from heedful.adapters.huggingface.tokens import Tokens
from heedful.adapters.subject import Embed, Padded, Prefixes, Reading, States, Subject
from heedful.adapters.texts import NO_ITEM, Texts
from heedful.errors import BadInput, user_code

LONG, SHORT = 5, 3  # tokens of the texts that a model is tried with


class HuggingFace(Subject):
    """A classifier and its tokenizer; which map is audited, and whether its items are tokens or words.

    Maps: see `maps.py`. Changes of attention reach the classifying rows (`maps.Rows`) of the layers
    and heads that the map is made of: for `rollout`, of all layers. A text without any token is read as one padding
    token. While the model reads, no other thread should use it.
    """

    def __init__(self, model: Any, tokenizer: Any, *, map: str = "cls", items: str = "tokens") -> None:
        required()
        register()
        checked(map)
        self.model, self.tokenizer = model, tokenizer
        self.precision, self.device = precision_of(model), device_of(model)
        about = described(model)
        self.classes, self.outputs = about.classes, len(about.classes)
        self.embeddings, self.longest = about.embeddings, about.longest(tokenizer)
        self.config = model.config.get_text_config()
        self.tokens = Tokens(tokenizer, items=items, vocabulary=self.embeddings.num_embeddings)
        self.blank, self.unknown = self._blank(), getattr(self.tokenizer, "unk_token_id", None)
        self.pooling, heads = probe(self)
        self.map = parsed(map, heads)
        self.projection = output_projection(self, self.map.layers[-1]) if self.map.kind.projection else None
        self.about = about.words | {"map": map, "items": items, "pooling": self.pooling, "layers": len(heads)}
        self.layers = len(heads)
        self.replayed = layers_of(self)

    @classmethod
    def load(
        cls,
        name: str,
        *,
        map: str = "cls",
        items: str = "tokens",
        device: str = AUTO,
        float32: bool = False,
        download: bool = False,
    ) -> "HuggingFace":
        """A classifier from a folder or from the local cache; from the hub only if it may be downloaded. Only
        safetensors are read and no code of the model's is run; weights keep their precision unless `float32`. `device`:
        cpu, cuda, mps, or auto, the first accelerator that torch can use."""
        checked(map)
        parts = load_parts(name, download=download, device=device, float32=float32)
        with user_code(f"{name}: asking the model for its attention", "the values in its config.json may not fit"):
            return cls(*parts, map=map, items=items)

    def encode(self, texts: Sequence[str]) -> Texts:
        """Texts as the model reads them; none is cut, however long."""
        return self.tokens.encode(texts)

    def check(self, texts: Texts) -> Contract:
        """Before any test: see `heedful.adapters.checking`. BadInput, with what was measured, if something is wrong."""
        return check(self, texts)

    def forward(
        self, batch: Padded, *, change: Change | None = None, embed: Embed | None = None, attention_fixed: bool = False
    ) -> Reading:
        """Read a batch, as `Subject.forward` says."""
        look, logits = self._read(batch, change, embed, fixed=attention_fixed)
        if len(look.heads) != self.layers:
            raise BadInput(f"attention was computed in {len(look.heads)} layers, not in {self.layers} as at first")
        return _reading(logits, look)

    def prepare(self, batch: Padded) -> States | None:
        """Read a batch and keep what its audited layer read; None where a replay saves nothing or is not exact."""
        if self.replayed is None or not self.replays:
            return None
        hidden: list[Tensor] = []
        with torch.no_grad(), self.replayed.recording(hidden.append):
            look, logits = self._read(batch, None, None, fixed=False)
        tokens, real, padding = self.inputs(batch)
        reading, place = _reading(logits, look), look.rows.place
        if not self.replayed.single_row or place is None or look.audited is None:
            each = self._bytes_of(tokens.shape[1], self.layers - self.replayed.first)
            return KeptStates(reading, padding, each, hidden[0], tokens, real)
        text = torch.arange(len(tokens), device=place.device)
        token = tokens[text.cpu(), place.cpu()][:, None]
        state, alone = hidden[0][text, place][:, None], torch.ones_like(token, dtype=torch.bool)
        rows, values = look.audited.rows, look.audited.values
        each = 2 * values[0].nbytes + 4 * rows[0].nbytes + self._bytes_of(1, 1)
        return KeptStates(reading, padding, each, state, token, alone, rows, values)

    def replay(self, batch: Padded, states: States, change: Change) -> Reading:
        """Read a batch from its audited layer on."""
        if self.replayed is None or not isinstance(states, KeptStates):
            raise TypeError("states of another model")
        tokens, real, padding = states.tokens, states.real, states.padding
        if states.rows is None or states.values is None:
            look = self._intervention(batch, tokens.shape[1], self._rows(tokens, real, padding), change)
            watch = watching(look, first=self.replayed.first)
        else:
            shares = states.rows.new_ones(len(states.rows), 1)
            rows = Rows(torch.zeros(len(shares), dtype=torch.int64, device=shares.device), shares)
            look = self._intervention(batch, states.rows.shape[-1], rows, change)
            watch = attending(look.mixed(states.rows, states.values))
        with self.replayed.replaying(states.hidden):
            return _reading(self._call(tokens, real, padding, watch), look)

    def begin(self, batch: Padded) -> Prefixes | None:
        """Read a batch of prefixes and keep its keys and values; None unless the model decides from its last token."""
        from heedful.adapters.huggingface.prefix import begin  # loads transformers

        return begin(self, batch) if self.pooling == LAST and self.resumes else None

    def resume(self, batch: Padded, prefixes: Prefixes, start: int) -> Tensor:
        """Read a batch from its prefixes on."""
        from heedful.adapters.huggingface.prefix import KeysAndValues, resume

        if not isinstance(prefixes, KeysAndValues):
            raise TypeError("prefixes of another model")
        return resume(self, batch, prefixes, start)

    def _read(
        self, batch: Padded, change: Change | None, embed: Embed | None, *, fixed: bool
    ) -> tuple[Intervention, Tensor]:
        """The attention that was seen, and the logits."""
        tokens, real, padding = self.inputs(batch)
        look = self._intervention(batch, tokens.shape[1], self._rows(tokens, real, padding), change, fixed=fixed)
        return look, self.call(tokens, real, padding, look, embed)

    def _rows(self, tokens: Tensor, real: Tensor, padding: int) -> Rows:
        return rows_of(self.pooling, tokens.to(self.device), real.to(self.device), padding, self.precision)

    def _intervention(
        self, batch: Padded, width: int, rows: Rows, change: Change | None, *, fixed: bool = False
    ) -> Intervention:
        item = pad(batch.item, (0, width - batch.item.shape[1]), value=NO_ITEM)
        return Intervention(self.map, rows, item, batch.items, self.projection, change, fixed)

    def original(self, batch: Padded) -> Tensor:
        """Logits (B, K) by the model's own implementation of attention, each text alone and without padding."""
        logits = []
        for row in range(len(batch.tokens)):
            one = batch.take(torch.tensor([row]))
            tokens = one.tokens[one.real][None]
            alone = replace(one, tokens=tokens, real=torch.ones_like(tokens, dtype=torch.bool))
            logits.append(self.call(*self.inputs(alone), None))
        return torch.cat(logits)

    def call(self, tokens: Tensor, real: Tensor, padding: int, look: Look | None, embed: Embed | None = None) -> Tensor:
        """Logits (B, K) of tokens (B, L), the attention looked at; by the model's own implementation without a look."""
        return self._call(tokens, real, padding, watching(look) if look else None, embed)

    def _call(
        self,
        tokens: Tensor,
        real: Tensor,
        padding: int,
        watch: AbstractContextManager[None] | None,
        embed: Embed | None = None,
    ) -> Tensor:
        settings = {ATTENTION: NAME, PADDING: padding, CACHE: False} if watch else {}
        with borrowed(self.model, settings), embedding(self.embeddings, embed), watch or nullcontext():
            return self.logits({"input_ids": tokens.to(self.device), "attention_mask": real.long().to(self.device)})

    def inputs(self, batch: Padded) -> tuple[Tensor, Tensor, int]:
        """Tokens (B, L) padded on the right as the model expects it, the real ones, and the token that pads."""
        missing = 1 if batch.tokens.shape[1] == 0 else 0
        real = pad(batch.real, (0, missing)).clone()
        padding = self._padding(batch.tokens[batch.real])
        tokens = pad(batch.tokens, (0, missing)).where(real, padding)
        real[:, 0] |= ~real.any(dim=1)
        width = int(real.sum(dim=1).max())
        if self.longest is not None and width > self.longest:
            raise BadInput(
                f"text {batch.rows[int(real.sum(dim=1).argmax())]} has {width} tokens, but the model reads "
                f"{self.longest} at most: shorten it, or choose to have long texts cut"
            )
        return tokens, real, padding

    def example(self) -> Padded:
        """Two short texts of ordinary tokens, one of them padded, to try the model with."""
        special = set(self.tokenizer.all_special_ids) | {getattr(self.config, PADDING, None)}
        ordinary = [token for token in range(self.embeddings.num_embeddings) if token not in special][:3]
        tokens = torch.tensor([(ordinary * LONG)[:LONG]] * 2)
        real = torch.arange(LONG) < torch.tensor([[LONG], [SHORT]])
        return Padded(np.arange(2), tokens, real, torch.full_like(tokens, NO_ITEM), torch.zeros(2, dtype=torch.int64))

    def bytes_of(self, tokens: int, *, gradient: bool) -> int:
        """About how much memory it takes to read one text: four arrays of weights and the states of a layer, kept for
        all layers where gradients are asked for."""
        return self._bytes_of(tokens, self.layers if gradient else 1)

    def _bytes_of(self, tokens: int, layers: int) -> int:
        config = self.config
        heads, width = int(config.num_attention_heads), int(config.hidden_size)
        inner = int(getattr(config, "intermediate_size", None) or 4 * width)
        layer = 4 * heads * tokens**2 + tokens * (8 * width + 3 * inner)
        layer += 8 * heads * tokens**2 if self.pooling == ALL else 0  # all rows are changed
        return 4 * (layer * layers + self.map.kind.numbers(Size(tokens, self.layers, heads, width)))

    def logits(self, inputs: dict[str, Any]) -> Tensor:
        """Logits (B, K) of a call of the model."""
        output = self.model(**inputs, return_dict=True)
        logits = getattr(output, "logits", None)
        expected = (len(inputs["input_ids"]), self.outputs)
        if not isinstance(logits, Tensor) or logits.shape != expected:
            found = "no logits" if not isinstance(logits, Tensor) else f"logits of shape {tuple(logits.shape)}"
            raise BadInput(
                f"{type(self.model).__name__} is no sequence classifier: it gives {found} where {expected} is needed; "
                "load the model with AutoModelForSequenceClassification"
            )
        return logits.float().cpu()

    def _padding(self, tokens: Tensor) -> int:
        """The model's padding token; where it has none, a token that does not occur, which the model is told of."""
        named = getattr(self.config, PADDING, None)
        if named is not None and 0 <= named < self.embeddings.num_embeddings:
            return int(named)
        used = torch.zeros(self.embeddings.num_embeddings, dtype=torch.bool)
        used[tokens] = True
        if used.all():
            raise BadInput("the model has no padding token and every token occurs: set model.config.pad_token_id")
        return int((~used).int().argmax())

    def _blank(self) -> int | None:
        padding = getattr(self.config, PADDING, None)  # padding inside a text would move what the model decides from
        for name in ("mask_token_id", "unk_token_id"):
            token = getattr(self.tokenizer, name, None)
            if token is not None and token < self.embeddings.num_embeddings and token != padding:
                return int(token)
        return None


def _reading(logits: Tensor, look: Intervention) -> Reading:
    """Logits and the map over items."""
    masses = masses_of(look.tokens().float().cpu()[:, None], look.item, look.items)[:, 0]  # (B, T)
    return Reading(logits, normalised(masses), (1 - masses.sum(dim=1)).clamp(0, 1))
