"""How Serrano & Smith 2019 trained their flat and hierarchical models, corpus by corpus (their released settings)."""

from typing import Any, NamedTuple

_ENCODERS: dict[str, dict[str, Any]] = {
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


_SETTINGS = {
    "yahoo": Settings(4e-4, 15, 0.444467, 0.220164, 0.374868, 0.444467, 0.445736, 1000, 15_000, 5),
    "imdb-ratings": Settings(4e-4, 15, 0.444467, 0.220164, 0.245736, 0.444467, 0.345736, 2000, 20_000, 5),
    "amazon": Settings(2e-4, 60, 0.6, 0.2, 0.4, 0.6, 0.4, 9000, 135_000, 30),
    "yelp": Settings(1e-4, 60, 0.7, 0.1, 0.7, 0.7, 0.7, 6000, 90_000, 30),
}
_USUAL = Settings(1e-3, 15, 0.2, 0.2, 0.0, 0.2, 0.0, 0, 0, 0)  # corpora that are not the paper's
_LONG = 60  # epochs at most without an encoder, and patience twice that of others


def document_defaults(corpus: str, model: str, encoder: str) -> dict[str, Any]:
    """The values for a corpus, a model (`flan` or `han`) and an encoder."""
    settings, known = _SETTINGS.get(corpus, _USUAL), corpus in _SETTINGS
    flat, bare = model == "flan", encoder == "none"
    training = {
        "epochs": max(_LONG, settings.epochs) if bare and known else settings.epochs,
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
        "encoder_options": _ENCODERS[encoder],
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
