"""The presets: the paper's text, or the released code where it differs. Both are only configuration values.

Where the paper is silent both use the code's value; docs/fidelity.md lists every difference. The models of Serrano &
Smith are trained the same way in both.
"""

from typing import Any

from heedful.runs.presets_documents import document_defaults

PRESETS = ("paper", "released")

_ENCODERS: dict[str, dict[str, dict[str, Any]]] = {
    "paper": {
        "bilstm": {"hidden": 128},
        "bigru": {"hidden": 128},
        "cnn": {"filters": 64, "kernels": [1, 3, 5, 7]},
        "average": {"hidden": 256, "activation": "relu"},
        "none": {},
    },
    "released": {
        "bilstm": {"hidden": 128},
        "bigru": {"hidden": 128},
        "cnn": {"filters": 32, "kernels": [1, 3, 5, 7]},
        "average": {"hidden": 128, "activation": "tanh"},
        "none": {},
    },
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
_LENGTHS = {
    "snli": {"batch": 128, "epochs": 25},
    "cnn": {"batch": 90, "epochs": 25},
    "babi": {"batch": 50, "epochs": 100},
}
_USUAL_LENGTH = {"batch": 100, "epochs": 25}
_MEASURES = ("gradient", "leave_one_out")  # those of the paper; integrals over long stories take very long
_QUERY_EPSILON = {"paper": 0.05, "released": 0.01}  # 0.01 in classification; the released search selects at 0.05

_MISSING = {"paper": "normal", "released": "zero"}

# training documents a word must occur in; 1 where nothing is said
_MIN_DOCUMENTS = {
    "imdb": 10,
    "newsgroups": 2,
    "adr": 2,
    "agnews": 5,
    "mimic-diabetes": 5,
    "mimic-anemia": 5,
    "snli": 3,
    "cnn": 8,
}

_TRAINED_VECTORS = ("mimic-diabetes", "mimic-anemia")


def defaults(preset: str, corpus: str, model: str, encoder: str, *, query: bool) -> dict[str, Any]:
    """The preset's values for a corpus, with or without queries, a model and an encoder."""
    if model != "classifier":
        return document_defaults(corpus, model, encoder)
    family = corpus.partition("-")[0]
    small = family == "babi"
    training = _TRAINING[preset]
    if query:
        training = {**training, **_ANSWERING, **_LENGTHS.get(family, _USUAL_LENGTH)}
    return {
        "corpus_options": {"cleaning": preset},
        "vocabulary": {"min_documents": _MIN_DOCUMENTS.get(corpus, 1)},
        "embedding": {
            "width": 50 if small else 300,
            "vectors": "word2vec" if corpus in _TRAINED_VECTORS else "",
            "missing": _MISSING[preset],
        },
        "encoder_options": _ENCODERS[preset][encoder] | (_SMALL[preset].get(encoder, {}) if small else {}),
        "training": training,
        "importance": {"measures": _MEASURES} if query else {},
        "experiment_options": {"epsilon": _QUERY_EPSILON[preset] if query else 0.01},
    }
