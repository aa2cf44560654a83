"""`table`: your own texts and labels, from CSV, TSV, JSON lines or Parquet."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import polars as pl
from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from heedful.corpora.bad_rows import BadRow, BadRowList, BlankRow, EmptyText
from heedful.corpora.corpus import Document, LeftOut
from heedful.corpora.labels import listed, merged, variants
from heedful.corpora.locating import Found
from heedful.corpora.reader import Options, Reader
from heedful.corpora.splitting import hold_out
from heedful.corpora.tabular import Located, class_name, columns_of, is_blank, values
from heedful.corpora.text_format import TextFormat, text_format
from heedful.errors import BadConfig, BadInput, NotFound
from heedful.printable import plain_text
from heedful.text.sentences import flatten, text_sentences, token_sentences
from heedful.text.tokenising import BUILT_IN, tokeniser

SPACES = "spaces"
_FILL_IN = "remove the row or fill it in"
SPLIT_NAMES = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("dev", "development", "val", "valid", "validation"), "dev"),
    **dict.fromkeys(("test", "testing", "eval"), "test"),
}


class TableOptions(Options):
    """Which file, and what its columns mean."""

    file: Path  # .csv, .tsv, .jsonl or .parquet; text files also as .gz
    text: str = "text"  # a column of strings or, with tokens "spaces", of lists of tokens (JSON lines, Parquet)
    # splits texts into sentences: "sentencizer", or a spaCy model with a parser. A list of strings is then a list of
    # sentences; with tokens "spaces", a list of lists is sentences of tokens
    sentences: str | None = Field(None, min_length=1)
    label: str = "label"
    query: str | None = None  # a column of questions or hypotheses, tokenised as the texts are
    split: str | None = None  # a column of train, dev or test; without dev, 15 % of train are taken
    id: str | None = None  # a column of unique names; otherwise rows are numbered
    tokens: Literal["built-in", "spacy", "spaces"] = BUILT_IN  # by whose rules; "spaces": texts are tokenised already
    seed: int = Field(0, ge=0, lt=2**32)  # of the splits that are drawn
    skip_empty: bool = False  # leave out rows without text
    skip_unlabelled: bool = False  # leave out rows without a label
    merge_labels: bool = False  # make one class of labels that differ only in case or spaces
    delimiter: str | None = Field(None, min_length=1, max_length=1)  # of a text file, and its encoding; None: told from
    encoding: str | None = Field(None, min_length=1)  # the file

    @model_serializer(mode="wrap")
    def _set(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Without options that are off: runs keep the names that they had before there were these."""
        values: dict[str, Any] = dump(self)
        for name in ("skip_empty", "skip_unlabelled", "merge_labels", "delimiter", "encoding"):
            if not values.get(name):
                values.pop(name, None)
        return values


class Table(Reader):
    """A table of texts and labels."""

    name = "table"
    task = "your own texts and labels, perhaps with questions"
    sizes = "any"
    how_to_get = "give it as the option file: .csv, .tsv, .jsonl or .parquet with a column of texts and one of labels"
    options = TableOptions

    def find(self, roots: Sequence[Path], options: TableOptions, *, subset: bool) -> Found:
        for path in (options.file, *(root / options.file for root in roots)):
            if path.is_file():
                return Found({"table": path})
        raise NotFound(f"{options.file}: there is no such file; give the path of your table")

    def documents(self, found: Found, options: TableOptions) -> Iterator[Document | LeftOut]:
        """Every row; those that cannot be used are reported together at the end, unless the options leave them out."""
        path = found.files["table"]
        columns = {role: getattr(options, role) for role in ("text", "label", "split", "id", "query")}
        named = {role: column for role, column in columns.items() if column is not None}
        bad = BadRowList(str(path), skip_empty=options.skip_empty, skip_unlabelled=options.skip_unlabelled)
        rows = values(path, list(named.values()), form=_format(path, options), refuse=bad.refuse)
        for number, (where, row) in enumerate(rows, start=1):
            try:
                yield self._row(dict(zip(named, row, strict=True)), where, f"row-{number}", options)
            except BadInput as error:
                if why := bad.refuse(error):
                    yield LeftOut(why)
        bad.check()

    def _row(self, cell: dict[str, Any], where: str, name: str, options: TableOptions) -> Document:
        if is_blank(cell["text"]) and is_blank(cell["label"]):
            raise BlankRow(where, "there is neither text nor label", _FILL_IN)
        tokens, lengths = self._document(cell["text"], where, options)
        return Document(
            id=_text(cell["id"], where, options.id or "", BadRow) if "id" in cell else name,
            tokens=tokens,
            sentences=lengths,
            label=class_name(cell["label"], where, options.label),
            split=_split(cell["split"], where) if "split" in cell else "train",
            query=self._tokens(cell["query"], where, options.query or "", options) if "query" in cell else None,
        )

    def cells(self, path: Path, columns: Sequence[str], options: TableOptions) -> Iterator[Located]:
        """Columns of the table, row by row, however it is written."""
        return values(path, columns, form=_format(path, options))

    def columns(self, path: Path, options: TableOptions) -> list[str]:
        """The columns there are."""
        return columns_of(path, _format(path, options))

    def same_labels(self, labels: pl.Series, options: TableOptions) -> Mapping[str, str]:
        return merged(variants(labels)) if options.merge_labels else {}

    def notes(self, found: Found, labels: pl.Series, options: TableOptions) -> Iterable[str]:
        form = _format(found.files["table"], options)
        if form is not None and not form.usual:
            yield str(form)
        if groups := variants(labels):
            told = "were merged" if options.merge_labels else "look the same; --merge-labels makes them one class"
            yield f"labels {listed(groups)} {told}"

    def tokenise(self, text: str, options: TableOptions) -> list[str]:
        return text.split() if options.tokens == SPACES else tokeniser(options.tokens)(text)

    def has_sentences(self, options: TableOptions) -> bool:
        return options.sentences is not None

    def sentences(self, text: str, options: TableOptions) -> list[list[str]] | None:
        if options.sentences is None:
            return None
        if options.tokens == SPACES:
            return token_sentences(text.split(), options.sentences)
        return text_sentences(text, options.sentences, rules=options.tokens, numbers=False)

    def _document(self, value: Any, where: str, options: TableOptions) -> tuple[list[str], list[int] | None]:
        """The tokens of a text and, if it is cut into sentences, how many each has."""
        column = options.text
        if options.sentences is None:
            return self._tokens(value, where, column, options), None
        if isinstance(value, list):
            sentences = [_sentence(one, where, column) for one in value]
            cut = [self._tokens(one, where, column, options) for one in sentences if one]
        else:
            cut = self.sentences(_text(value, where, column), options) or []
        if not cut:
            raise EmptyText(where, f"column '{column}' has no sentence", _FILL_IN)
        return flatten(cut)

    def _tokens(self, value: Any, where: str, column: str, options: TableOptions) -> list[str]:
        if isinstance(value, list):
            if options.tokens != SPACES:  # so that later texts are tokenised the same way
                raise BadRow(where, f"column '{column}' holds lists", "if of tokens, set tokens to 'spaces'")
            tokens = [_text(token, where, column) for token in value]
        else:
            tokens = self.tokenise(_text(value, where, column), options)
        if not tokens:
            raise EmptyText(where, f"the text in column '{column}' is empty", _FILL_IN)
        return tokens

    def split(self, table: pl.DataFrame, options: TableOptions) -> pl.Series:
        """The given split; what it lacks is drawn by class: 15 % for test, then 15 % for dev."""
        given = set(table["split"])
        if options.split is not None and not {"train", "test"} <= given:
            missing = ", ".join(sorted({"train", "test"} - given))
            raise BadInput(f"{options.file}: column '{options.split}' puts no row in {missing}")
        for into in ("test", "dev"):
            if into not in given:
                table = hold_out(table, among="train", into=into, share=0.15, seed=options.seed, stratified=True)
        return table["split"]


def _format(path: Path, options: TableOptions) -> TextFormat | None:
    """How a text file is written; None: it is none."""
    if path.suffix == ".parquet":
        if options.delimiter or options.encoding:
            raise BadConfig(f"{path}: a Parquet file has neither delimiter nor encoding; leave them out")
        return None
    return text_format(path, delimiter=options.delimiter, encoding=options.encoding)


def _text(value: Any, where: str, column: str, empty: type[BadRow] = EmptyText) -> str:
    if isinstance(value, list | dict | bytes):
        raise BadRow(where, f"column '{column}' holds {str(value)[:40]}, which is no text", "give strings")
    text = plain_text("" if is_blank(value) else str(value), f"{where}, column '{column}'")
    if not text.strip():
        raise empty(where, f"column '{column}' is empty", _FILL_IN)
    return text


def _sentence(value: Any, where: str, column: str) -> str | list[Any]:
    """A sentence in a list of them, empty if there is nothing in it."""
    if isinstance(value, str):
        return value.strip()
    if not isinstance(value, list):
        raise BadRow(where, f"column '{column}' has the sentence {value!r}", "give strings, or lists of tokens")
    return value


def _split(value: Any, where: str) -> str:
    name = SPLIT_NAMES.get(str(value).strip().lower())
    if name is None:
        raise BadRow(where, f"'{value}' is no split", f"valid: {', '.join(SPLIT_NAMES)}")
    return name
