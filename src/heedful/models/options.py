"""Options of encoders and training, and the names of encoders, attentions and models.

No torch here: configurations are checked without it. An encoder or an attention in a file of its own takes one line
here, the module's name. The module registers it, and is imported when the encoder or attention is first used.
"""

from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from heedful.registry import Registry

if TYPE_CHECKING:
    from heedful.models.attentions import Variants


class Options(BaseModel):
    """Base of all options: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class BiLSTMOptions(Options):
    """A bidirectional LSTM."""

    hidden: int = Field(128, ge=1)  # in each direction


class BiGRUOptions(Options):
    """A bidirectional GRU."""

    hidden: int = Field(50, ge=1)  # in each direction


class CNNOptions(Options):
    """Parallel convolutions."""

    filters: int = Field(64, ge=1)  # of each kernel
    kernels: tuple[int, ...] = Field((1, 3, 5, 7), min_length=1)
    dropout: float = Field(0.0, ge=0, lt=1)  # of what it reads, in training

    @field_validator("kernels")
    @classmethod
    def _odd(cls, kernels: tuple[int, ...]) -> tuple[int, ...]:
        if any(kernel < 1 or kernel % 2 == 0 for kernel in kernels):
            raise ValueError("kernels are odd numbers, so that a window has a middle")
        return kernels


class AverageOptions(Options):
    """Each token by itself."""

    hidden: int = Field(256, ge=1)
    activation: Literal["relu", "tanh"] = "relu"


class NoneOptions(Options):
    """No encoder: there is nothing to set."""


ENCODER_OPTIONS: Registry[type[Options]] = Registry(
    {
        "bilstm": BiLSTMOptions,
        "bigru": BiGRUOptions,
        "cnn": CNNOptions,
        "average": AverageOptions,
        "none": NoneOptions,
    }
)
ATTENTIONS: "Registry[Variants]" = Registry(
    {
        "additive": "heedful.models.attentions",
        "dot": "heedful.models.attentions",
    }
)
MODEL_NAMES = ("classifier", "flan", "han")


class TrainingOptions(Options):
    """How a model is trained."""

    epochs: int = Field(8, ge=1)  # at most
    patience: int = Field(0, ge=0)  # epochs without a better dev metric after which training ends; 0: it does not
    batch: int = Field(32, ge=1)
    batch_tokens: int = Field(0, ge=0)  # texts of a batch times its longest text or sentence, at most; 0: any number
    learning_rate: float = Field(1e-3, gt=0)
    decay: float = Field(1.0, gt=0, le=1)  # the learning rate is multiplied by it after an epoch without a better one
    clip_norm: float = Field(0.0, ge=0)  # of all gradients together, at most; 0: any
    clip_value: float = Field(0.0, ge=0)  # of each number of a gradient, at most; 0: any
    max_norm: float = Field(0.0, ge=0)  # of a word vector when it is read in training, at most; 0: any
    word_dropout: float = Field(0.0, ge=0, lt=1)  # of the words a hierarchical model makes its sentences of
    item_dropout: float = Field(0.0, ge=0, lt=1)  # of what the encoder below the tested attention reads
    logit_dropout: float = Field(0.0, ge=0, lt=1)
    l2: float = Field(1e-5, ge=0)
    l2_on_attention: bool = True
    amsgrad: bool = False
    loss: Literal["mean", "sum"] = "mean"  # over the instances of a batch
    class_weights: bool = True  # rare classes count more, by their frequency in training
    select: Literal["roc_auc", "accuracy"] = "roc_auc"  # the dev metric that picks the epoch
