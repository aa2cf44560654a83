"""How much results vary from seed to seed."""

from collections.abc import Sequence

from benchmarks.reproduction.markdown import table
from benchmarks.reproduction.reading import corpus_name, model_name
from heedful import seed_figures, seed_pairs
from heedful.findings.key_figures import KEYS
from heedful.runs.between_seeds import by_configuration
from heedful.runs.directory import Run


def several(runs: Sequence[Run]) -> list[list[Run]]:
    """Configurations of more than one seed."""
    return [group for group in by_configuration(runs) if len(group) > 1]


def figures(groups: Sequence[Sequence[Run]]) -> str:
    """Every key figure: mean, standard deviation over seeds, interval over seeds and instances, each seed's own."""
    meanings = {key.name: key.meaning.rstrip(".") for key in KEYS}
    rows = []
    for group in groups:
        for row in seed_figures(group).iter_rows(named=True):
            own = ", ".join(f"{value:.3f}" for value in row["run_means"])
            interval = f"[{row['low']:.3f}, {row['high']:.3f}]"
            told = [meanings[row["figure"]], f"{row['mean']:.3f}", f"{row['std']:.3f}", interval, own]
            rows.append([corpus_name(group[0]), model_name(group[0]), *told])
    return table(["corpus", "model", "figure", "mean", "sd", "95 %", "seed by seed"], rows, left=3)


def attention(groups: Sequence[Sequence[Run]]) -> str:
    """How far the attention of two seeds is apart on the same instance."""
    rows = []
    for group in groups:
        for pair in seed_pairs(group).iter_rows(named=True):
            told = [
                f"{pair[name]:.3f} [{pair[f'{name}_low']:.3f}, {pair[f'{name}_high']:.3f}]"
                for name in ("jsd", "tvd", "same")
            ]
            seeds = f"{pair['first']} and {pair['second']}"
            rows.append([corpus_name(group[0]), model_name(group[0]), seeds, *told])
    return table(["corpus", "model", "seeds", "JSD of attention", "TVD of output", "same decision"], rows, left=3)
