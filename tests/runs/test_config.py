from pathlib import Path
from typing import Any

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from heedful.errors import BadConfig, BadInput
from heedful.runs.config import RunConfig, read_config, read_toml, resolve
from heedful.runs.directory import Run


@pytest.mark.parametrize(
    ("encoder", "paper", "released"),
    [
        ("bilstm", {"hidden": 128}, {"hidden": 128}),
        ("cnn", {"filters": 64, "kernels": [1, 3, 5, 7]}, {"filters": 32, "kernels": [1, 3, 5, 7]}),
        ("average", {"hidden": 256, "activation": "relu"}, {"hidden": 128, "activation": "tanh"}),
    ],
)
def test_presets_have_their_sizes(encoder: str, paper: dict[str, Any], released: dict[str, Any]) -> None:
    for preset, expected in (("paper", paper), ("released", released)):
        config = resolve({"corpus": "sst", "encoder": encoder, "preset": preset})
        assert config.encoder_options == expected | ({"dropout": 0.0} if encoder == "cnn" else {})


def test_presets_train_as_the_text_and_the_code_say() -> None:
    paper, released = (resolve({"corpus": "sst", "preset": preset}) for preset in ("paper", "released"))
    assert (paper.training.loss, paper.training.amsgrad, paper.training.l2_on_attention) == ("mean", False, True)
    assert (released.training.loss, released.training.amsgrad, released.training.l2_on_attention) == (
        "sum",
        True,
        False,
    )
    assert (paper.embedding.missing, released.embedding.missing) == ("normal", "zero")
    assert paper.corpus_options["cleaning"] == "paper"
    assert (paper.training.batch, paper.training.epochs, paper.training.l2) == (32, 8, 1e-5)


@pytest.mark.parametrize(("corpus", "cut"), [("sst", 1), ("imdb", 10), ("newsgroups", 2), ("agnews", 5), ("adr", 2)])
def test_vocabularies_have_the_corpus_own_cut(corpus: str, cut: int) -> None:
    assert resolve({"corpus": corpus}).vocabulary.min_documents == cut


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"encoder": "bilstn"}, r"unknown encoder 'bilstn' \(did you mean 'bilstm'\?\); valid: average, bigru, bilstm"),
        ({"attention": "dott"}, "unknown attention 'dott'"),
        ({"corpus": "stt"}, "unknown corpus 'stt'"),
        ({"preset": "papers"}, "valid: paper, released"),
        ({"model": "transformer"}, "valid: classifier, flan, han"),
        ({"sead": 1}, r"unknown configuration key 'sead' \(did you mean 'seed'\?\)"),
        ({"training": {"epoch": 3}}, r"unknown configuration key 'training.epoch' \(did you mean 'training.epochs'"),
        ({"training": {"epochs": 0}}, "training.epochs = 0: .*greater than or equal to 1"),
        ({"training": {"learning_rate": "fast"}}, "training.learning_rate = 'fast'"),
        ({"encoder_options": {"width": 3}}, "unknown configuration key 'encoder_options.width'"),
        ({"encoder": "cnn", "encoder_options": {"kernels": [2]}}, "kernels are odd"),
        ({"corpus": "planted", "corpus_options": {"noise": 2}}, "corpus_options.noise = 2"),
        ({"corpus": "planted", "corpus_options": {"nois": 0}}, "did you mean 'corpus_options.noise'"),
        ({"training": 3}, "training = 3"),
        ({"encoder": ["bilstm"]}, "unknown encoder"),
        ({"threads": 2**40}, "threads = "),
        ({"embedding": "glove.vec"}, "embedding = 'glove.vec'"),
        ({"corpus": "table"}, "corpus_options.file is required"),
    ],
)
def test_bad_values_are_named(values: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadConfig, match=problem):
        resolve({"corpus": "planted", **values})


def test_the_same_configuration_has_the_same_name_and_another_one_another() -> None:
    assert resolve({"corpus": "sst"}).name == resolve({"corpus": "sst", "seed": 0, "encoder": "bilstm"}).name
    assert resolve({"corpus": "sst"}).name != resolve({"corpus": "sst", "training": {"l2": 0.0}}).name
    assert resolve({"corpus": "sst", "seed": 3}).name.startswith("sst-bilstm-additive-3-")


def test_an_option_that_is_off_leaves_names_and_files_as_they_were() -> None:
    assert resolve({"corpus": "sst"}).name == "sst-bilstm-additive-0-b9b6a272"  # as before there was such an option
    off = resolve({"corpus": "sst", "importance": {"leave_one_out_tolerance": 0.0}})
    assert off == resolve({"corpus": "sst"})
    assert "leave_one_out_tolerance" not in off.model_dump(mode="json")["importance"]
    on = resolve({"corpus": "sst", "importance": {"leave_one_out_tolerance": 1e-4}})
    assert on.name != off.name
    assert resolve(on.model_dump(mode="json")) == on


@given(st.text(max_size=20), st.floats(1e-9, 1e9), st.integers(0, 2**63 - 1))
def test_a_configuration_survives_its_file(text: str, rate: float, seed: int) -> None:
    import tomllib

    config = resolve(
        {"corpus": "planted", "seed": seed, "embedding": {"vectors": text}, "training": {"learning_rate": rate}}
    )
    assert resolve(tomllib.loads(tomli_w.dumps(config.model_dump(mode="json")))) == config


def test_files_that_are_no_toml_are_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such configuration file"):
        read_toml(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("a = = 1")
    with pytest.raises(BadInput, match=r"bad\.toml: not valid TOML"):
        read_toml(tmp_path / "bad.toml")
    (tmp_path / "bytes.toml").write_bytes(b"a = '\xff'")
    with pytest.raises(BadInput, match=r"bytes\.toml: not valid TOML"):
        read_toml(tmp_path / "bytes.toml")


def test_a_resolved_configuration_is_complete() -> None:
    assert set(resolve({"corpus": "planted"}).model_dump()) == set(RunConfig.model_fields)


@pytest.mark.parametrize("preset", ["paper", "released"])
@pytest.mark.parametrize(
    ("corpus", "lengths", "words"),
    [("babi-2", (50, 100), (50, 1)), ("snli", (128, 25), (300, 3)), ("cnn", (90, 25), (300, 8))],
)
def test_question_answering_is_trained_as_specified(
    corpus: str, lengths: tuple[int, int], words: tuple[int, int], preset: str
) -> None:
    config = resolve({"corpus": corpus, "preset": preset})
    training = config.training
    assert (training.batch, training.epochs) == lengths
    assert (training.select, training.loss) == ("accuracy", "mean")
    assert training.l2_on_attention
    assert not training.class_weights
    assert training.amsgrad is (preset == "released")
    assert (config.embedding.width, config.vocabulary.min_documents) == words
    assert config.experiment_options.epsilon == {"paper": 0.05, "released": 0.01}[preset]


@pytest.mark.parametrize(("preset", "hidden"), [("paper", 30), ("released", 32)])
def test_models_of_stories_are_small(preset: str, hidden: int) -> None:
    options = {
        encoder: resolve({"corpus": "babi-1", "encoder": encoder, "preset": preset}).encoder_options
        for encoder in ("bilstm", "cnn", "average")
    }
    assert options["bilstm"]["hidden"] == hidden
    assert options["cnn"]["filters"] == 8
    assert options["average"]["hidden"] == 32


def test_a_table_with_a_column_of_questions_has_the_defaults_of_answering() -> None:
    table = {"file": "pairs.csv"}
    assert resolve({"corpus": "table", "corpus_options": {**table, "query": "hypothesis"}}).training.batch == 100
    assert resolve({"corpus": "table", "corpus_options": {**table, "query": None}}).training.batch == 32
    with pytest.raises(BadConfig, match="corpus_options"):
        resolve({"corpus": "table", "corpus_options": 3})


def test_a_new_table_has_the_built_in_tokeniser_and_names_it() -> None:
    config = resolve({"corpus": "table", "corpus_options": {"file": "mine.csv"}})
    assert config.corpus_options["tokens"] == "built-in"


@pytest.mark.parametrize("named", [None, "spaces", "built-in"])
def test_a_configuration_file_of_a_table_that_names_no_tokeniser_keeps_that_of_spacy(
    tmp_path: Path, named: str | None
) -> None:
    options = {"file": "mine.csv", **({} if named is None else {"tokens": named})}
    (tmp_path / "config.toml").write_text(tomli_w.dumps({"corpus": "table", "corpus_options": options}))
    config = resolve(read_config(tmp_path / "config.toml"))
    assert config.corpus_options["tokens"] == (named or "spacy")
    assert Run(tmp_path, config).config == Run.open(tmp_path).config


def test_a_configuration_file_without_a_table_leaves_the_tokeniser_open(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[training]\nepochs = 2\n")
    assert read_config(tmp_path / "config.toml") == {"training": {"epochs": 2}}
