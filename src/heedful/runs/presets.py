"""The presets: the paper's text, or the released code where it differs. Both are only configuration values.

Where the paper is silent both use the code's value; docs/fidelity.md lists every difference.
"""

from typing import Any

PRESETS = ("paper", "released")

_ENCODERS: dict[str, dict[str, dict[str, Any]]] = {
    "paper": {
        "bilstm": {"hidden": 128},
        "cnn": {"filters": 64, "kernels": [1, 3, 5, 7]},
        "average": {"hidden": 256, "activation": "relu"},
    },
    "released": {
        "bilstm": {"hidden": 128},
        "cnn": {"filters": 32, "kernels": [1, 3, 5, 7]},
        "average": {"hidden": 128, "activation": "tanh"},
    },
}

_TRAINING: dict[str, dict[str, Any]] = {
    "paper": {"amsgrad": False, "l2_on_attention": True, "loss": "mean"},
    "released": {"amsgrad": True, "l2_on_attention": False, "loss": "sum"},
}

_MISSING = {"paper": "normal", "released": "zero"}

# training documents a word must occur in; 1 where nothing is said
_MIN_DOCUMENTS = {"imdb": 10, "newsgroups": 2, "adr": 2, "agnews": 5, "mimic-diabetes": 5, "mimic-anemia": 5}

_TRAINED_VECTORS = ("mimic-diabetes", "mimic-anemia")


def defaults(preset: str, corpus: str, encoder: str) -> dict[str, Any]:
    """The preset's values for a corpus and an encoder."""
    return {
        "corpus_options": {"cleaning": preset},
        "vocabulary": {"min_documents": _MIN_DOCUMENTS.get(corpus, 1)},
        "embedding": {
            "vectors": "word2vec" if corpus in _TRAINED_VECTORS else "",
            "missing": _MISSING[preset],
        },
        "encoder_options": _ENCODERS[preset][encoder],
        "training": _TRAINING[preset],
    }
