"""What items are called, which tokens they are made of, and where texts end."""

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from heedful.adapters.huggingface import HuggingFace
from heedful.adapters.huggingface.tokens import Tokens
from heedful.errors import BadConfig, BadInput
from tests.adapters.tiny import TEXTS, byte_level, classifier, word_pieces


def sentence_pieces() -> PreTrainedTokenizerFast:
    """As Llama's: no words are known, spaces are part of the text."""
    tokens = ["<unk>", "<s>", "▁", *"abcdefghijklmnopqrstuvwxyz!", "oo", "go", "▁f"]
    merges = [("o", "o"), ("g", "o"), ("▁", "f")]
    backend = Tokenizer(models.BPE({token: place for place, token in enumerate(tokens)}, merges, unk_token="<unk>"))
    backend.pre_tokenizer = pre_tokenizers.Metaspace(split=False)
    backend.decoder = decoders.Metaspace()
    return PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="<unk>", bos_token="<s>")


def test_added_tokens_are_no_items() -> None:
    texts = Tokens(word_pieces(), items="tokens", vocabulary=99).encode(["Good film, unfunny!", ""])
    assert texts.names[0].tolist() == ["Good", "film", ",", "un", "fun", "ny", "!"]
    assert texts.item[0].tolist() == [-1, 0, 1, 2, 3, 4, 5, 6, -1]
    assert texts.tokens[1].tolist() == [2, 3]
    assert texts.item[1].tolist() == [-1, -1]
    assert len(texts.names[1]) == 0


def test_subwords_become_words() -> None:
    texts = Tokens(word_pieces(), items="words", vocabulary=99).encode(["Good film, unfunny acting! Zzz"])
    assert texts.names[0].tolist() == ["Good", "film", ",", "unfunny", "acting", "!", "Zzz"]
    assert texts.item[0].tolist() == [-1, 0, 1, 2, 3, 3, 3, 4, 4, 5, 6, -1]


@pytest.mark.parametrize("tokenizer", [byte_level, sentence_pieces])
def test_words_of_tokenizers_that_join_spaces(tokenizer) -> None:
    texts = Tokens(tokenizer(), items="words", vocabulary=999).encode(["film good for\nfoo"])
    names = texts.names[0].tolist()
    assert [name for name in names if name != "\\n"] == ["film", "good", "for", "foo"]
    assert np.all(np.diff(texts.item[0]) >= 0)
    assert len(set(texts.item[0])) == len(names)


def test_names_of_bytes_are_readable() -> None:
    texts = Tokens(byte_level(), items="tokens", vocabulary=999).encode([" good  film\né"])
    names = texts.names[0].tolist()
    assert names[:4] == ["good", "␣", "␣", "film"] or names[:3] == ["good", "␣", "film"]
    assert "\\n" in names
    assert names[-2:] == ["é", "é"]  # one letter of two tokens
    assert not any(sign in name for name in names for sign in "Ġ Ċ")


def test_words_are_read_as_their_tokens_are() -> None:
    model = classifier("bert")
    tokens, words = (HuggingFace(model, word_pieces(), items=items) for items in ("tokens", "words"))
    seen, merged = tokens.read(tokens.encode(TEXTS)), words.read(words.encode(TEXTS))
    np.testing.assert_array_equal(seen.logits, merged.logits)
    item = words.encode(TEXTS).item[2]
    np.testing.assert_allclose(np.bincount(item[item >= 0], seen.weights[2]), merged.weights[2], atol=1e-6)


@pytest.mark.parametrize(("family", "positions", "longest"), [("bert", 12, 12), ("roberta", 12, 11), ("gpt2", 12, 12)])
def test_no_text_is_cut_and_too_long_ones_are_said(family: str, positions: int, longest: int) -> None:
    model = classifier(family, max_position_embeddings=positions)
    subject = HuggingFace(model, word_pieces())
    assert subject.longest == longest
    whole = ["good " * (longest - 2)]
    assert np.isfinite(subject.read(subject.encode(whole)).logits).all()
    texts = subject.encode([*whole, "bad " * (longest - 1)])
    assert texts.tokens.lengths.tolist() == [longest, longest + 1]
    with pytest.raises(BadInput, match=f"text 1 has {longest + 1} tokens, but the model reads {longest} at most"):
        subject.read(texts)
    with pytest.raises((IndexError, RuntimeError)):  # the limit is the model's, not ours
        model(input_ids=torch.full((1, longest + 1), 5))


def test_the_tokenizers_own_limit_counts() -> None:
    tokenizer = word_pieces()
    tokenizer.model_max_length = 7
    assert HuggingFace(classifier("bert"), tokenizer).longest == 7


def test_blank_is_a_token_that_does_not_move_the_decision_elsewhere() -> None:
    assert HuggingFace(classifier("bert"), word_pieces()).blank == 4
    tokenizer = word_pieces()
    tokenizer.mask_token = None
    assert HuggingFace(classifier("bert"), tokenizer).blank == 1
    tokenizer = byte_level()
    tokenizer.unk_token = "<|end|>"  # as GPT-2's: the token that pads, too
    assert HuggingFace(classifier("gpt2", vocabulary=300), tokenizer).blank is None


def test_a_padding_token_at_the_end_moves_the_row_as_the_model_does() -> None:
    model = classifier("gpt2", vocabulary=300)
    subject = HuggingFace(model, byte_level())
    texts = subject.encode(["film good", "film good<|end|>"])
    assert texts.tokens.lengths.tolist() == [2, 3]
    subject.check(texts)
    seen = subject.read(texts)
    np.testing.assert_allclose(seen.logits[0], seen.logits[1], atol=1e-6)
    np.testing.assert_allclose([*seen.weights[0], 0], seen.weights[1], atol=1e-6)


def test_tokenizer_of_another_model_is_refused() -> None:
    subject = HuggingFace(classifier("bert", vocabulary=17), word_pieces())
    with pytest.raises(BadInput, match=r"do not belong together: token 'love' of text 1 .* has number"):
        subject.encode(["the film", "of love"])


def test_tokenizers_that_cannot_serve_are_refused() -> None:
    model = classifier("bert")
    with pytest.raises(BadConfig, match=r"unknown items 'word' .*did you mean 'words'"):
        HuggingFace(model, word_pieces(), items="word")
    with pytest.raises(BadConfig, match="fast tokenizer"):
        HuggingFace(model, object())
    empty = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.WordPiece({"[UNK]": 0})), unk_token="[UNK]")
    with pytest.raises(BadInput, match="only special tokens"):
        HuggingFace(model, empty)
