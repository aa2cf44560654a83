"""`heedful run`: from a corpus to a trained model and its evidence."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer


def run(
    corpus: Annotated[str | None, typer.Option(help="Which corpus; `heedful corpora` lists them.")] = None,
    model: Annotated[
        str | None, typer.Option(help="classifier, flan or han (flat and hierarchical; Serrano & Smith)")
    ] = None,
    encoder: Annotated[str | None, typer.Option(help="bilstm, bigru, cnn, average or none")] = None,
    attention: Annotated[str | None, typer.Option(help="additive or dot")] = None,
    preset: Annotated[str | None, typer.Option(help="paper: as the paper says; released: as its code does.")] = None,
    vectors: Annotated[
        str | None, typer.Option(help="Pretrained word vectors (.vec, GloVe text, word2vec .bin), or `word2vec`.")
    ] = None,
    subset: Annotated[bool | None, typer.Option("--subset", help="Accept a part of the official data.")] = None,
    seed: Annotated[
        int | None,
        typer.Option(help="Seed of the model and its training; corpora have their own (corpus_options.seed)."),
    ] = None,
    threads: Annotated[int | None, typer.Option(help="Threads of the network's arithmetic.")] = None,
    file: Annotated[str | None, typer.Option(help="Corpus `table`: your CSV, TSV, JSONL or Parquet file.")] = None,
    text: Annotated[str | None, typer.Option(help="Corpus `table`: the column of texts.")] = None,
    query: Annotated[
        str | None, typer.Option(help="Corpus `table`: the column of questions or hypotheses, if there is one.")
    ] = None,
    label: Annotated[str | None, typer.Option(help="Corpus `table`: the column of labels.")] = None,
    split: Annotated[str | None, typer.Option(help="Corpus `table`: the column that says train, dev or test.")] = None,
    config: Annotated[Path | None, typer.Option(help="A TOML file with any configuration values.")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="Any configuration value, e.g. training.epochs=3; repeatable.")
    ] = None,
    experiments: Annotated[
        str | None,
        typer.Option(help="Which experiments, e.g. reach,permutation; all, none; default: all but the slow search."),
    ] = None,
    workers: Annotated[int, typer.Option(help="Processes that share importance and experiments.")] = 1,
    data: Annotated[Path | None, typer.Option(help="Where corpora lie (default: HEEDFUL_DATA, downloads).")] = None,
    out: Annotated[Path, typer.Option(help="Where run directories go.")] = Path("runs"),
    as_json: Annotated[
        bool, typer.Option("--json", help="Print directory, metrics and summed-up results as JSON.")
    ] = False,
) -> None:
    """Train a model on a corpus and put its attention to the tests; resumes what was interrupted, repeats nothing."""
    from heedful.cli.console import bars, console, parse_settings
    from heedful.errors import BadConfig
    from heedful.findings.run_summary import summaries
    from heedful.report.terminal.run import run_place, run_summary
    from heedful.runs.config import merge, read_toml
    from heedful.runs.execution import perform

    values: dict[str, Any] = read_toml(config) if config else {}
    values = merge(values, parse_settings(set_ or []))
    given = {
        "corpus": "table" if corpus is None and file is not None else corpus,
        "model": model,
        "encoder": encoder,
        "attention": attention,
        "preset": preset,
        "subset": subset,
        "seed": seed,
        "threads": threads,
    }
    columns = {"file": file, "text": text, "query": query, "label": label, "split": split}
    values = merge(values, _present(given))
    for table, options in (("embedding", {"vectors": vectors}), ("corpus_options", columns)):
        if _present(options):
            values = merge(values, {table: _present(options)})
    named = values.get("corpus")
    for option, column in (
        ("--file", file),
        ("--text", text),
        ("--query", query),
        ("--label", label),
        ("--split", split),
    ):
        if column is not None and named not in (None, "table"):
            raise BadConfig(
                f"{option} {column}: that is for corpus `table`, your own texts, not for {named}; leave it out"
            )
    if "corpus" not in values:
        raise BadConfig("no corpus was named: give --corpus NAME (`heedful corpora` lists them)")
    with bars() as reporter:
        done = perform(values, out=out, data=data, experiments=experiments, workers=workers, reporter=reporter)
    if as_json:
        facts = {"run": str(done.folder), "manifest": done.manifest, "metrics": done.metrics}
        typer.echo(json.dumps({**facts, "results": summaries(done)}))
    else:
        console.print(run_summary(done))
        console.print(run_place(done), markup=False, soft_wrap=True)


def _present(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}
