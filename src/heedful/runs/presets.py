"""The presets: the paper's text, or the released code where it differs. Both are only configuration values.

Where the paper is silent both use the code's value; docs/fidelity.md lists every difference. The models of Serrano &
Smith are trained the same way in both.
"""

from typing import Any, NamedTuple

_DOCUMENT_ENCODERS: dict[str, dict[str, Any]] = {
    "bigru": {"hidden": 50},
    "cnn": {"filters": 50, "kernels": [3, 5], "dropout": 0.3},
    "none": {},
    "bilstm": {"hidden": 50},  # not in the paper: of the same size
    "average": {"hidden": 100, "activation": "relu"},
}


class Settings(NamedTuple):
    """What differs between corpora."""

    learning_rate: float
    epochs: int
    word_dropout: float  # of a hierarchical model
    sentence_dropout: float
    logit_dropout: float
    flat_dropout: float  # of the words of a flat model
    flat_logit_dropout: float
    sentence_tokens: int  # of a batch of a hierarchical model, at most
    flat_tokens: int
    vector_epochs: int  # of word2vec


_DOCUMENT_SETTINGS = {
    "yahoo": Settings(4e-4, 15, 0.444467, 0.220164, 0.374868, 0.444467, 0.445736, 1000, 15_000, 5),
    "imdb-ratings": Settings(4e-4, 15, 0.444467, 0.220164, 0.245736, 0.444467, 0.345736, 2000, 20_000, 5),
    "amazon": Settings(2e-4, 60, 0.6, 0.2, 0.4, 0.6, 0.4, 9000, 135_000, 30),
    "yelp": Settings(1e-4, 60, 0.7, 0.1, 0.7, 0.7, 0.7, 6000, 90_000, 30),
}
_DOCUMENT_USUAL = Settings(1e-3, 15, 0.2, 0.2, 0.0, 0.2, 0.0, 0, 0, 0)  # corpora that are not the paper's
_LONG_DOCUMENTS = 60  # epochs at most without an encoder, and patience twice that of others


def document_defaults(corpus: str, model: str, encoder: str) -> dict[str, Any]:
    """The values for a corpus, a model (`flan` or `han`) and an encoder."""
    settings, known = _DOCUMENT_SETTINGS.get(corpus, _DOCUMENT_USUAL), corpus in _DOCUMENT_SETTINGS
    flat, bare = model == "flan", encoder == "none"
    training = {
        "epochs": max(_LONG_DOCUMENTS, settings.epochs) if bare and known else settings.epochs,
        "patience": 10 if bare else 5,
        "batch": 64,
        "batch_tokens": settings.flat_tokens if flat else settings.sentence_tokens,
        "learning_rate": settings.learning_rate,
        "decay": 0.5,
        "l2": 0.0,
        "class_weights": False,
        "select": "accuracy",
        "word_dropout": 0.0 if flat else settings.word_dropout,
        "item_dropout": settings.flat_dropout if flat else settings.sentence_dropout,
        "logit_dropout": settings.flat_logit_dropout if flat else settings.logit_dropout,
    }
    by_value = corpus in ("amazon", "yelp") and encoder != "cnn"
    training |= {"clip_value": 50.0} if by_value else {"clip_norm": 10.0}
    if corpus == "yelp" and not flat and encoder != "cnn":
        training["max_norm"] = 1.0
    values: dict[str, Any] = {
        "embedding": {"width": 200},
        "encoder_options": _DOCUMENT_ENCODERS.get(encoder, {}),
        "training": training,
        "importance": {"measures": ("gradient",)},  # `correlation` is not of this paper; more on request
    }
    if known:
        values["vocabulary"] = {"min_count": 5, "dev": True}
        values["embedding"] |= {
            "vectors": "word2vec",
            "word2vec_window": 5,
            "word2vec_epochs": settings.vector_epochs,
            "word2vec_min_count": 1,
            "word2vec_unknown": True,
            "word2vec_normalise": True,
        }
    if corpus == "table" and not flat:
        values["corpus_options"] = {"sentences": "sentencizer"}
    return values


PRESETS = ("paper", "released")

_RECURRENT = {"bilstm": {"hidden": 128}, "bigru": {"hidden": 128}}
_KERNELS = [1, 3, 5, 7]
_ENCODERS: dict[str, dict[str, dict[str, Any]]] = {
    "paper": {"cnn": {"filters": 64, "kernels": _KERNELS}, "average": {"hidden": 256, "activation": "relu"}},
    "released": {"cnn": {"filters": 32, "kernels": _KERNELS}, "average": {"hidden": 128, "activation": "tanh"}},
}

# bAbI's world is small: a few dozen words
_SMALL: dict[str, dict[str, dict[str, Any]]] = {
    "paper": {"bilstm": {"hidden": 30}, "bigru": {"hidden": 30}, "cnn": {"filters": 8}, "average": {"hidden": 32}},
    "released": {"bilstm": {"hidden": 32}, "bigru": {"hidden": 32}, "cnn": {"filters": 8}, "average": {"hidden": 32}},
}

_TRAINING: dict[str, dict[str, Any]] = {
    "paper": {"amsgrad": False, "l2_on_attention": True, "loss": "mean"},
    "released": {"amsgrad": True, "l2_on_attention": False, "loss": "sum"},
}

# question answering and inference, whatever the preset
_ANSWERING = {"l2_on_attention": True, "loss": "mean", "class_weights": False, "select": "accuracy"}
_BATCHES = {"snli": 128, "cnn": 90, "babi": 50}  # 100 for others
_MEASURES = ("gradient", "leave_one_out")  # those of the paper; integrals over long stories take very long
_QUERY_EPSILON = {"paper": 0.05, "released": 0.01}  # 0.01 in classification; the released search selects at 0.05

_MISSING = {"paper": "normal", "released": "zero"}

_MIMIC = ("mimic-diabetes", "mimic-anemia")  # their word vectors are trained on them
# training documents a word must occur in; 1 where nothing is said
_MIN_DOCUMENTS = {"imdb": 10, "newsgroups": 2, "adr": 2, "agnews": 5, **dict.fromkeys(_MIMIC, 5), "snli": 3, "cnn": 8}


def defaults(preset: str, corpus: str, model: str, encoder: str, *, query: bool) -> dict[str, Any]:
    """The preset's values for a corpus, with or without queries, a model and an encoder."""
    if model != "classifier":
        return document_defaults(corpus, model, encoder)
    family = corpus.partition("-")[0]
    small = family == "babi"
    training, encoders = _TRAINING[preset], _RECURRENT | _ENCODERS[preset]
    if query:
        training = {**training, **_ANSWERING, "batch": _BATCHES.get(family, 100), "epochs": 100 if small else 25}
    return {
        "corpus_options": {"cleaning": preset},
        "vocabulary": {"min_documents": _MIN_DOCUMENTS.get(corpus, 1)},
        "embedding": {
            "width": 50 if small else 300,
            "vectors": "word2vec" if corpus in _MIMIC else "",
            "missing": _MISSING[preset],
        },
        "encoder_options": encoders.get(encoder, {}) | (_SMALL[preset].get(encoder, {}) if small else {}),
        "training": training,
        "importance": {"measures": _MEASURES} if query else {},
        "experiment_options": {"epsilon": _QUERY_EPSILON[preset] if query else 0.01},
    }
