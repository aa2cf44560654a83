"""The experiments of a run: those on evidence, and those that read texts again and so need the model, too."""

from heedful.experiments import EXPERIMENTS

ERASURE = "erasure"
EXPERIMENT_NAMES = (*EXPERIMENTS, ERASURE)
