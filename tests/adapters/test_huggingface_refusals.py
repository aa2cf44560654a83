"""What cannot be audited is refused with the reason: never a number that means nothing."""

import json
import re
import shutil
import sys
from pathlib import Path

import pytest
import torch
from transformers import (
    AutoModelForTokenClassification,
    BartConfig,
    BartForSequenceClassification,
    BertForSequenceClassification,
    FNetConfig,
    FNetForSequenceClassification,
)
from transformers.masking_utils import AttentionMaskInterface
from transformers.modeling_outputs import SequenceClassifierOutput
from transformers.models.bert import modeling_bert

from heedful.adapters.huggingface import HuggingFace
from heedful.adapters.huggingface.attention import NAME
from heedful.errors import BadInput, MissingExtra, NotFound, install_hint
from tests.adapters.tiny import SMALL, TEXTS, classifier, word_pieces


class LargestOfAll(BertForSequenceClassification):
    """Pools the largest of each state: no row of attention is the one that it decides from."""

    def forward(self, **inputs):
        inputs.pop("return_dict", None)
        states = self.bert(**inputs).last_hidden_state
        return SequenceClassifierOutput(logits=self.classifier(states[:, :2].max(dim=1).values))


def refused(model, reason: str) -> None:
    with pytest.raises(BadInput, match=reason):
        HuggingFace(model, word_pieces())


def test_models_that_are_no_classifiers() -> None:
    refused(torch.nn.Linear(2, 2), "Linear is no model of transformers: audit it as a torch module")
    refused(classifier("bert").bert, "BertModel is no sequence classifier: it gives no logits")
    tagger = AutoModelForTokenClassification.from_config(classifier("bert").config)
    refused(tagger, r"no sequence classifier: it gives logits of shape \(2, 5, 3\) where \(2, 3\)")
    refused(classifier("bert", num_labels=1), "has 1 outputs for regression")
    refused(classifier("bert", problem_type="multi_label_classification"), "3 outputs for multi label classification")
    refused(classifier("bert", problem_type="regression"), "3 outputs for regression")


def test_models_whose_attention_is_no_map_of_the_decision() -> None:
    small = dict.fromkeys(("encoder_layers", "decoder_layers", "encoder_attention_heads"), 2)
    bart = BartConfig(vocab_size=40, d_model=16, encoder_ffn_dim=16, decoder_ffn_dim=16, **small, num_labels=3)
    refused(BartForSequenceClassification(bart), "an encoder with a decoder")
    fourier = FNetConfig(vocab_size=40, num_labels=3, **{name: SMALL[name] for name in SMALL if "heads" not in name})
    refused(FNetForSequenceClassification(fourier), "of its 3 layers, 0 computed attention")
    refused(
        LargestOfAll(classifier("bert").config), r"decides neither from its first token, .* at \[\[0, 1\], \[0, 1\]\]"
    )


def test_a_model_that_fails_says_so() -> None:
    model = classifier("bert")
    model.bert.embeddings.position_embeddings = torch.nn.Embedding(3, 32)
    refused(model, "BertForSequenceClassification cannot read two short texts")


def test_weights_that_are_not_those_of_the_model(monkeypatch) -> None:
    eager = modeling_bert.eager_attention_forward

    def twice_as_sharp(module, query, *others, **options):
        return eager(module, 2 * query, *others, **options)

    subject = HuggingFace(classifier("bert"), word_pieces())
    monkeypatch.setattr(modeling_bert, "eager_attention_forward", twice_as_sharp)
    with pytest.raises(BadInput, match=r"with the very attention that was there put back, logits move by 0\.\d"):
        subject.check(subject.encode(TEXTS))


def test_numbers_that_are_none(monkeypatch) -> None:
    subject = HuggingFace(classifier("bert"), word_pieces())
    texts = subject.encode(TEXTS)
    forward = subject.forward

    def broken(batch, *, change=None, **options):
        reading = forward(batch, change=change, **options)
        return reading if change is None else reading._replace(logits=reading.logits * float("nan"))

    monkeypatch.setattr(subject, "forward", broken)
    with pytest.raises(BadInput, match="put back, logits move by nan"):
        subject.check(texts)


def test_padding_that_is_attended_to(monkeypatch) -> None:
    subject = HuggingFace(classifier("bert"), word_pieces())
    monkeypatch.setitem(AttentionMaskInterface._global_mapping, NAME, lambda *_, **__: None)
    with pytest.raises(BadInput, match="read in a batch with longer texts, logits or weights move by"):
        subject.check(subject.encode(TEXTS))


def test_rows_that_see_no_item() -> None:
    subject = HuggingFace(classifier("bert", is_decoder=True), word_pieces())  # the first token sees itself alone
    with pytest.raises(BadInput, match="the same logits to the last bit"):
        subject.check(subject.encode(TEXTS))


def test_nothing_to_check_with() -> None:
    subject = HuggingFace(classifier("bert"), word_pieces())
    with pytest.raises(BadInput, match="no text has an item"):
        subject.check(subject.encode([""]))


def test_missing_library(monkeypatch) -> None:
    model, tokenizer = classifier("bert"), word_pieces()
    monkeypatch.setitem(sys.modules, "transformers", None)
    for attempt in (lambda: HuggingFace(model, tokenizer), lambda: HuggingFace.load("anything")):
        with pytest.raises(MissingExtra, match=re.escape(install_hint("hf"))):
            attempt()


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    classifier("bert", id2label={0: "bad", 1: "good", 2: "so so"}).save_pretrained(folder)
    word_pieces().save_pretrained(folder)
    return folder


@pytest.fixture
def copied(saved: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(saved, tmp_path / "copy"))


def not_loaded(folder: Path | str, kind: type[Exception], reason: str) -> None:
    with pytest.raises(kind, match=reason):
        HuggingFace.load(str(folder))


def test_a_saved_model_is_loaded(saved: Path) -> None:
    subject = HuggingFace.load(str(saved), map="layer:0", items="words")
    assert subject.classes == ("bad", "good", "so so")
    assert subject.about["architecture"] == "BertForSequenceClassification"
    assert subject.about["map"] == "layer:0"
    texts = subject.encode(TEXTS)
    direct = HuggingFace(classifier("bert"), word_pieces(), map="layer:0", items="words")
    assert (subject.read(texts).logits == direct.read(texts).logits).all()


def test_folders_without_a_model(tmp_path: Path) -> None:
    not_loaded(tmp_path / "nowhere", NotFound, "no such folder, and no model of that name in the local cache")
    not_loaded("somebody/some-model", NotFound, "allow downloads")
    not_loaded(tmp_path, NotFound, "holds no model of transformers")


def test_folders_with_half_a_model(copied: Path) -> None:
    weights = copied / "model.safetensors"
    weights.write_bytes(b"not these")
    not_loaded(copied, BadInput, "cannot be loaded")
    weights.unlink()
    torch.save(classifier("bert").state_dict(), copied / "pytorch_model.bin")
    not_loaded(copied, BadInput, "must be safetensors")


def test_folders_without_a_tokenizer(copied: Path) -> None:
    for file in copied.glob("tokenizer*"):
        file.unlink()
    not_loaded(copied, BadInput, "tokenizer")


def test_an_encoder_without_a_trained_head(tmp_path: Path) -> None:
    classifier("bert").bert.save_pretrained(tmp_path)
    word_pieces().save_pretrained(tmp_path)
    not_loaded(tmp_path, BadInput, "saved as BertModel, not as a sequence classifier")
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"architectures": ["BertForSequenceClassification"]}))
    not_loaded(tmp_path, BadInput, "its files lack classifier.bias, classifier.weight, which would be random")


def test_code_of_the_models_own_is_not_run(copied: Path) -> None:
    config = json.loads((copied / "config.json").read_text())
    own = {"model_type": "own", "auto_map": {"AutoConfig": "own.Config"}}
    (copied / "config.json").write_text(json.dumps(config | own))
    (copied / "own.py").write_text("raise SystemExit('run')")
    not_loaded(copied, NotFound, "custom code")
