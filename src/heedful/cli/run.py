"""`heedful run`: train a model on a corpus and test its attention."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Option
from typer.core import TyperCommand


class RunCommand(TyperCommand):
    """`heedful run`; its help names the experiments, which are loaded for that alone."""

    def format_options(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        """Write the options, with the experiments by name."""
        from heedful.experiments import EXPERIMENTS

        (option,) = (each for each in self.params if each.name == "experiments")
        asked = ", ".join(name for name, experiment in EXPERIMENTS.items() if not experiment.default)
        option.help = f"{', '.join(EXPERIMENTS)}; all, or none. Default: all but {asked}."  # type: ignore[attr-defined]
        super().format_options(ctx, formatter)


def run(
    corpus: Annotated[str | None, Option(help="Corpus; `heedful corpora` lists them.")] = None,
    model: Annotated[
        str | None, Option(help="classifier, flan or han (flat and hierarchical models of Serrano & Smith).")
    ] = None,
    encoder: Annotated[str | None, Option(help="bilstm, bigru, cnn, average or none.")] = None,
    attention: Annotated[str | None, Option(help="additive or dot.")] = None,
    preset: Annotated[str | None, Option(help="paper: settings of the paper; released: those of its code.")] = None,
    vectors: Annotated[
        str | None, Option(help="Pretrained word vectors (.vec, GloVe text, word2vec .bin), or `word2vec`.")
    ] = None,
    subset: Annotated[bool | None, Option("--subset", help="Accept a subset of the official data.")] = None,
    seed: Annotated[
        int | None, Option(help="Seed of the model and its training (corpora: corpus_options.seed).")
    ] = None,
    threads: Annotated[int | None, Option(help="Torch threads.")] = None,
    file: Annotated[str | None, Option(help="For corpus `table`: your CSV, TSV, JSONL or Parquet file.")] = None,
    text: Annotated[str | None, Option(help="For corpus `table`: column of texts.")] = None,
    query: Annotated[str | None, Option(help="For corpus `table`: column of questions or hypotheses, if any.")] = None,
    label: Annotated[str | None, Option(help="For corpus `table`: column of labels.")] = None,
    split: Annotated[str | None, Option(help="For corpus `table`: column with train, dev or test.")] = None,
    skip_empty: Annotated[
        bool | None, Option("--skip-empty", help="For corpus `table`: leave out rows without text.")
    ] = None,
    skip_unlabelled: Annotated[
        bool | None, Option("--skip-unlabelled", help="For corpus `table`: leave out rows without a label.")
    ] = None,
    merge_labels: Annotated[
        bool | None,
        Option("--merge-labels", help="For corpus `table`: one class for labels that differ only in case or spaces."),
    ] = None,
    rationales: Annotated[
        str | None,
        Option(help="For corpus `table`: words that people marked, a file (id, and spans or rationale) or a column."),
    ] = None,
    config: Annotated[Path | None, Option(help="TOML file of configuration values.")] = None,
    set_: Annotated[
        list[str] | None, Option("--set", help="Any configuration value, e.g. training.epochs=3; repeatable.")
    ] = None,
    experiments: Annotated[
        str | None,
        Option(help="Experiments, e.g. reach,permutation; all; none. Default: all but the slow adversary_search."),
    ] = None,
    epochs: Annotated[int | None, Option(help="Epochs of training; the same as --set training.epochs=N.")] = None,
    workers: Annotated[int, Option(help="Processes for importance and experiments.")] = 1,
    data: Annotated[Path | None, Option(help="Folder of corpora (default: HEEDFUL_DATA, then downloads).")] = None,
    out: Annotated[Path, Option(help="Folder for run directories.")] = Path("runs"),
    private: Annotated[
        bool, Option("--private", help="Only you can read what is written (always so with restricted corpora).")
    ] = False,
    verbose: Annotated[bool, Option("--verbose", help="Print everything that was found, not only the answer.")] = False,
    as_json: Annotated[
        bool, Option("--json", help="Print directory, verdict, metrics and result summaries as JSON.")
    ] = False,
) -> None:
    """Train a model on a corpus, test its attention, and say whether it may be shown as an explanation. Resumes an
    interrupted run; repeats nothing."""
    from heedful.cli.console import bars, console, parse_settings
    from heedful.errors import BadConfig
    from heedful.findings.run_summary import summaries
    from heedful.report.terminal.run import not_tested, run_place, run_summary
    from heedful.runs.config import merge, read_config
    from heedful.runs.execution import perform
    from heedful.runs.plausibility import plausibility_of

    values: dict[str, Any] = read_config(config) if config else {}
    values = merge(values, parse_settings(set_ or []))
    names = {"model": model, "encoder": encoder, "attention": attention, "preset": preset}
    options: dict[str, Any] = {"corpus": "table" if corpus is None and file is not None else corpus, **names}
    options |= {"subset": subset, "seed": seed, "threads": threads}
    columns: dict[str, Any] = {"file": file, "text": text, "query": query, "label": label, "split": split}
    columns |= {"skip_empty": skip_empty, "skip_unlabelled": skip_unlabelled, "merge_labels": merge_labels}
    values = merge(values, _present(options))
    tables = (("embedding", {"vectors": vectors}), ("training", {"epochs": epochs}), ("corpus_options", columns))
    for table, entries in tables:
        if _present(entries):
            values = merge(values, {table: _present(entries)})
    named = values.get("corpus")
    for option, column in columns.items():
        if column is not None and named not in (None, "table"):
            given = f"--{option.replace('_', '-')}" + (f" {column}" if column is not True else "")
            raise BadConfig(f"{given}: only for corpus `table` (your own texts), not for {named}; leave it out")
    if "corpus" not in values:
        raise BadConfig("no corpus was named; give --corpus NAME (`heedful corpora` lists them)")
    with bars(brief=not verbose) as reporter:
        chosen: dict[str, Any] = {"experiments": experiments, "workers": workers, "rationales": rationales}
        done = perform(values, out=out, data=data, private=private, reporter=reporter, **chosen)
    if as_json:
        facts = {"run": str(done.folder), "verdict": done.verdict.to_json(), "not_tested": not_tested(done)}
        facts |= {"manifest": done.manifest, "metrics": done.metrics, "results": summaries(done)}
        plausible = plausibility_of(done)
        beside = {} if plausible is None else {"plausibility": plausible.to_json()}
        typer.echo(json.dumps({**facts, **beside}))
    else:
        console.print(run_summary(done, verbose=verbose))
        console.print(run_place(done, verbose=verbose), markup=False, soft_wrap=True)


def _present(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}
