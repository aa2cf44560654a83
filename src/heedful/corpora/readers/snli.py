"""`snli`: the Stanford Natural Language Inference corpus (Bowman et al. 2015).

The premise is the text that is attended to, the hypothesis the query. Pairs without a gold label (`-`) are left out.
The order of the classes is the paper's or, with cleaning "released", the code's.
"""

from collections.abc import Iterator

from heedful.corpora.corpus import SPLITS, Document
from heedful.corpora.locating import Found, below, split_lines
from heedful.corpora.reader import Options, Published, Reader, Source
from heedful.corpora.tabular import json_object
from heedful.errors import BadInput
from heedful.printable import plain_text

UNDECIDED = "-"  # the label of a pair on which the annotators did not agree

_NAMES = {split: f"snli_1.0_{split}.jsonl" for split in SPLITS}
_FOLDERS = ["snli_1.0", "snli/snli_1.0", "snli", ""]
_ARCHIVE = {"archive": "snli_1.0.zip"}
_CLASSES = ("neutral", "contradiction", "entailment")


class SNLI(Reader):
    """Pairs of sentences."""

    name = "snli"
    query = True
    task = "does a sentence follow from another, contradict it, or neither?"
    sizes = "549,367 / 9,842 / 9,824 labelled pairs"
    how_to_get = "`heedful corpora get snli` downloads it"
    source = Source(
        "https://nlp.stanford.edu/projects/snli",
        "snli_1.0",
        _ARCHIVE,
        {"train": 550152, "dev": 10000, "test": 10000},
        {  # tensorflow/datasets, commit 333639b, tensorflow_datasets/url_checksums/snli.txt
            "archive": Published(
                "afb3d70a5af5d8de0d9d81e2637e0fb8c22d1235c2749d83125ca43dab0dbd3e", 94550081, "TensorFlow Datasets"
            )
        },
    )
    layouts = (*below(_FOLDERS, _NAMES), *below(_FOLDERS, _ARCHIVE))

    def native_splits(self, found: Found) -> Iterator[str]:
        return (split for split in SPLITS for _ in _pairs(found, split))

    def classes(self, options: Options) -> tuple[str, ...]:
        """As in the paper; the released code has them alphabetically."""
        return _CLASSES if options.cleaning == "paper" else tuple(sorted(_CLASSES))

    def documents(self, found: Found, options: Options) -> Iterator[Document]:
        for split in SPLITS:
            for number, (where, line) in enumerate(_pairs(found, split), start=1):
                row = json_object(line, where)
                label = _field(row, "gold_label", where)
                if label == UNDECIDED:
                    continue
                if label not in _CLASSES:
                    raise BadInput(f"{where}: label '{label}' is none of {', '.join(_CLASSES)} or {UNDECIDED}")
                yield Document(
                    id=_field(row, "pairID", where) if "pairID" in row else f"{split}-{number}",
                    tokens=self._tokens(row, "sentence1", where, options),
                    label=label,
                    split=split,
                    query=self._tokens(row, "sentence2", where, options),
                )

    def _tokens(self, row: dict[str, object], field: str, where: str, options: Options) -> list[str]:
        tokens = self.tokenise(_field(row, field, where), options)
        if not tokens:
            raise BadInput(f"{where}: {field} is empty; remove the line or fill it in")
        return tokens


def _pairs(found: Found, split: str) -> Iterator[tuple[str, str]]:
    """The lines of a split with their places."""
    return ((where, line) for where, line in split_lines(found, split, _NAMES[split]) if line.strip())


def _field(row: dict[str, object], name: str, where: str) -> str:
    value = row.get(name)
    if not isinstance(value, str):
        raise BadInput(f"{where}: there is no text '{name}'; a pair needs gold_label, sentence1 and sentence2")
    return plain_text(value, f"{where}, {name}")
