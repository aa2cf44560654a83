"""The kinds of models by name."""

from heedful.models.classifier import Classifier
from heedful.models.flat import Flan
from heedful.models.hierarchical import Han

MODELS: dict[str, type[Classifier]] = {"classifier": Classifier, "flan": Flan, "han": Han}
