"""What may be set about encoders and training; without torch, so that a configuration is read and checked at once."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator


class Options(BaseModel):
    """Base of all options: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class BiLSTMOptions(Options):
    """A bidirectional LSTM."""

    hidden: int = Field(128, ge=1)  # in each direction


class CNNOptions(Options):
    """Parallel convolutions."""

    filters: int = Field(64, ge=1)  # of each kernel
    kernels: tuple[int, ...] = Field((1, 3, 5, 7), min_length=1)

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


ENCODER_OPTIONS: dict[str, type[Options]] = {"bilstm": BiLSTMOptions, "cnn": CNNOptions, "average": AverageOptions}
ATTENTION_NAMES = ("additive", "dot")


class TrainingOptions(Options):
    """How a model is trained."""

    epochs: int = Field(8, ge=1)
    batch: int = Field(32, ge=1)
    learning_rate: float = Field(1e-3, gt=0)
    l2: float = Field(1e-5, ge=0)
    l2_on_attention: bool = True
    amsgrad: bool = False
    loss: Literal["mean", "sum"] = "mean"  # over the instances of a batch
    class_weights: bool = True  # rare classes count more, by their frequency in training
    select: Literal["roc_auc", "accuracy"] = "roc_auc"  # the dev metric that picks the epoch
