"""Tiny classifiers of many families with random weights, and a tokenizer for them, made here: nothing is downloaded."""

from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import AutoConfig, AutoModelForSequenceClassification, PreTrainedTokenizerFast

WORDS = "the film was really good bad and not a dull story of love with some fun in it".split()
PIECES = [*WORDS, "un", "##fun", "##ny", "##ing", "act", "!", ".", ","]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
TEXTS = [
    "the film was really good",
    "bad",
    "a dull story of love, not good and not bad. some unfunny acting!",
    "the love was in it with some fun and a good story of love and love",
    "fun!",
]

SMALL = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 48}
FAMILIES: dict[str, dict[str, Any]] = {
    "bert": SMALL,
    "distilbert": {"dim": 32, "n_layers": 3, "n_heads": 4, "hidden_dim": 48},
    "roberta": SMALL,
    "electra": SMALL | {"embedding_size": 16},
    "albert": SMALL | {"embedding_size": 16},
    "modernbert": SMALL | {"local_attention": 4, "global_attn_every_n_layers": 2, "reference_compile": False},
    "gpt2": {"n_embd": 32, "n_layer": 3, "n_head": 4, "n_inner": 48},
    "llama": SMALL | {"num_key_value_heads": 2},
}
UNUSUAL: dict[str, dict[str, Any]] = {  # scores capped, windows, sinks that take a part of the attention
    "gemma2": SMALL | {"num_key_value_heads": 2, "head_dim": 8, "sliding_window": 4, "attn_logit_softcapping": 1.0},
    "gpt_oss": SMALL
    | {"num_key_value_heads": 2, "head_dim": 8, "sliding_window": 4, "num_local_experts": 2, "num_experts_per_tok": 1},
}
REFUSED: dict[str, dict[str, Any]] = {
    "deberta-v2": SMALL | {"relative_attention": True, "pos_att_type": ["c2p", "p2c"]},
    "xlnet": {"d_model": 32, "n_layer": 3, "n_head": 4, "d_inner": 48},
}


def word_pieces() -> PreTrainedTokenizerFast:
    """As BERT's: words in pieces, a classification token and a separator around each text."""
    tokens = [*SPECIAL, *PIECES]
    backend = Tokenizer(models.WordPiece({token: place for place, token in enumerate(tokens)}, unk_token="[UNK]"))
    backend.normalizer = normalizers.BertNormalizer()
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece()
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
    return PreTrainedTokenizerFast(
        tokenizer_object=backend, **{f"{name}_token": token for name, token in names.items()}
    )


def byte_level() -> PreTrainedTokenizerFast:
    """As GPT-2's: pieces that begin with the space before them, nothing added, no mask."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokens = ["<|end|>", *alphabet, "Ġg", "oo", "Ġgoo", "Ġgood", "fi", "lm", "film"]
    merges = [("Ġ", "g"), ("o", "o"), ("Ġg", "oo"), ("Ġgoo", "d"), ("f", "i"), ("l", "m"), ("fi", "lm")]
    vocabulary = {token: place for place, token in enumerate(tokens)}
    backend = Tokenizer(models.BPE(vocabulary, merges))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="<|end|>", pad_token="<|end|>")


def classifier(family: str, *, vocabulary: int | None = None, seed: int = 0, **options: Any) -> Any:
    """A classifier with weights large enough for its attention to matter."""
    settings = {"vocab_size": vocabulary or len(SPECIAL) + len(PIECES), "pad_token_id": 0, "num_labels": 3}
    settings |= {"bos_token_id": None, "eos_token_id": None} if family in ("gpt2", "llama", *UNUSUAL) else {}
    settings |= (FAMILIES | UNUSUAL | REFUSED)[family] | options
    torch.manual_seed(seed)
    model = AutoModelForSequenceClassification.from_config(AutoConfig.for_model(family, **settings)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.mul_(10)
    return model
