"""Small BERT classifiers: random weights, a tokenizer of whole words, attention that can be watched and replaced."""

from contextlib import AbstractContextManager
from typing import Any

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from torch import Tensor, nn
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

from benchmarks.calibration.factory.networks import POSITIONS, Read
from benchmarks.calibration.factory.plans import Plan
from benchmarks.calibration.factory.tasks import SPECIAL, Task
from heedful.adapters.huggingface import HuggingFace
from heedful.adapters.huggingface.attention import ATTENTION, NAME, borrowed, register, watching
from heedful.adapters.subject import Subject

INITIAL = 0.1  # standard deviation of weights; the usual 0.02 takes narrow models long to leave
SHARP = 3.0  # times which frozen random queries and keys are larger: a softmax over them is uneven


class Transformer(nn.Module):
    """A BERT classifier, read as the pooling networks are."""

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        config = BertConfig(
            vocab_size=len(plan.task.words),
            hidden_size=plan.width,
            num_hidden_layers=plan.layers,
            num_attention_heads=plan.heads,
            intermediate_size=2 * plan.width,
            max_position_embeddings=POSITIONS + 2,
            type_vocab_size=1,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
            initializer_range=INITIAL,
            num_labels=plan.task.classes,
            id2label=dict(enumerate(plan.classes)),
            attn_implementation="eager",
        )
        self.bert = BertForSequenceClassification(config)
        self.frozen = plan.kind == "random"
        if self.frozen:
            attention = self.bert.bert.encoder.layer[-1].attention.self
            for linear in (attention.query, attention.key):
                linear.weight.data.mul_(SHARP)
                linear.requires_grad_(False)

    def watched(self) -> AbstractContextManager[None]:
        """Within it, `read` can be called."""
        register()
        return borrowed(self.bert, {ATTENTION: NAME})

    def read(self, words: Tensor, real: Tensor, given: Tensor | None = None) -> Read:
        """Logits and weights; the last texts of the batch are read with the weights (B', T) given for them, in every
        head of the last layer's first row."""
        tokens, mask = _framed(words, real)
        seen: list[Tensor] = []

        def look(layer: int, weights: Tensor, values: Tensor, output: Tensor) -> Tensor:
            seen.append(weights)
            if layer < self.bert.config.num_hidden_layers - 1:
                return output
            if self.frozen:  # nor shall states learn to be attended to
                return (weights.detach() @ values).transpose(1, 2)
            if given is None:
                return output
            own = len(tokens) - len(given)
            row = nn.functional.pad(given, (1, 1))[:, None, None]  # (B', 1, 1, L): nothing on added tokens
            replaced = (row @ values[own:])[:, :, 0]  # (B', H, D)
            first = torch.cat([output[:own, 0], replaced])
            return torch.cat([first[:, None], output[:, 1:]], dim=1)

        with watching(look):
            logits = self.bert(input_ids=tokens, attention_mask=mask.long()).logits
        width = words.shape[1]
        shown = seen[-1][:, :, 0, 1 : width + 1] * real[:, None]
        return Read(logits, shown, tuple(weights[:, :, 1 : width + 1, 1 : width + 1] for weights in seen[:-1]))


def _framed(words: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
    """Texts between a classification token and a separator, and which tokens are real."""
    first, last = SPECIAL.index("[CLS]"), SPECIAL.index("[SEP]")
    tokens = nn.functional.pad(nn.functional.pad(words, (1, 0), value=first), (0, 1))
    ends = real.sum(dim=1, keepdim=True) + 1
    places = torch.arange(tokens.shape[1])
    return tokens.where(places != ends, last), places <= ends


def word_level(task: Task) -> PreTrainedTokenizerFast:
    """Words as tokens, between a classification token and a separator."""
    words = {word: place for place, word in enumerate(task.words)}
    backend = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    added = [(word, words[word]) for word in ("[CLS]", "[SEP]")]
    backend.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=added)
    names: dict[str, Any] = {f"{word.strip('[]').lower()}_token": word for word in SPECIAL}
    return PreTrainedTokenizerFast(tokenizer_object=backend, **names)


def transformer_subject(network: Transformer, plan: Plan) -> Subject:
    """The classifier as an audit sees it: the last layer's first row, mean of its heads."""
    return HuggingFace(network.bert.eval(), word_level(plan.task), map="cls", items="tokens")
