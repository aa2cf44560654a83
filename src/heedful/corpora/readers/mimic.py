"""`mimic-diabetes`, `mimic-anemia`: discharge summaries of MIMIC-III (Johnson et al. 2016), labelled by ICD-9 codes.

A document is an admission: its discharge report followed by the addenda. The files are streamed, and notes are
grouped by admission in a temporary database on disk, since those of one admission are not adjacent.

Diabetes: does any code start with 250.00? The papers split it by the lists of admissions of Mullenbach et al. 2018
("CAML"): if `train_50_hadm_ids.csv`, `dev_50_hadm_ids.csv` and `test_50_hadm_ids.csv` lie beside the data they are
used. Otherwise every admission with a summary and a diagnosis is taken, and split as anemia is.

Anemia: 285.1 (acute) or 285.2 (chronic), not both; 20 % for test (seed 12939) and 15 % of the rest for dev (seed
13448), by class. Fewer than 4,000 tokens; diabetes also more than 6.
"""

import re
import sqlite3
from abc import abstractmethod
from collections.abc import Collection, Container, Iterator
from contextlib import closing
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import polars as pl

from heedful.corpora.archives import lines
from heedful.corpora.corpus import SPLITS, Document
from heedful.corpora.locating import Found, below
from heedful.corpora.reader import Options, Reader
from heedful.corpora.splitting import hold_out, in_order_of, within_lengths
from heedful.corpora.tabular import named_rows
from heedful.errors import BadInput, DiskFull
from heedful.text.tokenising import tokeniser

TEST_SEED, DEV_SEED = 12939, 13448
MOST_TOKENS = 4000

_FOLDERS = ["mimic", "mimic3", "mimic-iii", "mimiciii", "mimic-iii-clinical-database-1.4", ""]
_TABLES = {"notes": "NOTEEVENTS.csv", "diagnoses": "DIAGNOSES_ICD.csv"}
_LISTS = {split: f"{split}_50_hadm_ids.csv" for split in SPLITS}
_HIDDEN = re.compile(r"\[\*\*.*?\*\*\]", re.DOTALL)  # stands for a removed name, date or place
_REPEATED_SIGN = re.compile(r"([^a-zA-Z0-9\s])(?:\s*\1)+")
_COLUMNS = ("HADM_ID", "CHARTDATE", "CATEGORY", "DESCRIPTION", "TEXT")


class MIMIC(Reader):
    """What the two tasks have in common."""

    how_to_get = (
        "apply for MIMIC-III at physionet.org and put NOTEEVENTS.csv.gz and DIAGNOSES_ICD.csv.gz "
        "below the data folder, in mimic/"
    )
    layouts = below(_FOLDERS, _TABLES)
    restricted = True
    least_tokens = 0

    @abstractmethod
    def label(self, codes: Collection[str]) -> str | None:
        """The class of an admission with these codes (without the point, as in the files), or None."""

    def documents(self, found: Found, options: Options) -> Iterator[Document]:
        """Every labelled admission that has a summary, in the order of admission numbers."""
        codes, splits = _codes(found.files["diagnoses"]), self.splits(found)
        labels = {admission: self.label(codes[admission]) for admission in codes if not splits or admission in splits}
        wanted = {admission: label for admission, label in labels.items() if label is not None}
        for admission, text in summaries(found.files["notes"], wanted):
            yield Document(admission, self.tokenise(text, options), wanted[admission], splits.get(admission, ""))

    def tokenise(self, text: str, options: Options) -> list[str]:
        return clean_note(text)

    def splits(self, found: Found) -> dict[str, str]:
        """The split of each admission, where it is given."""
        return {}

    def split(self, table: pl.DataFrame, options: Options) -> pl.Series:
        if set(table["split"]) == {""}:
            ordered = table.sort(pl.col("id").cast(pl.Int64)).with_columns(split=pl.lit("train"))
            for into, share, seed in (("test", 0.2, TEST_SEED), ("dev", 0.15, DEV_SEED)):
                ordered = hold_out(ordered, among="train", into=into, share=share, seed=seed, stratified=True)
            table = table.with_columns(split=in_order_of(table, ordered))
        return within_lengths(table, above=self.least_tokens, below=MOST_TOKENS)["split"]


class Diabetes(MIMIC):
    """Discharge summaries: diabetes or not."""

    name = "mimic-diabetes"
    task = "does a discharge summary go with a diagnosis of diabetes?"
    sizes = "7,734 / 1,614 admissions in the paper"
    layouts = below(_FOLDERS, _TABLES | _LISTS) + below(_FOLDERS, _TABLES)  # with the lists if they are there
    least_tokens = 6
    class_names = ("no diabetes", "diabetes")

    def label(self, codes: Collection[str]) -> str:
        """Diabetes if any code starts with 250.00."""
        return "diabetes" if any(code.startswith("25000") for code in codes) else "no diabetes"

    def splits(self, found: Found) -> dict[str, str]:
        lists = [(split, found.files[split]) for split in SPLITS if split in found.files]
        return {line.strip(): split for split, path in lists for _, line in lines(path) if line.strip()}


class Anemia(MIMIC):
    """Discharge summaries: acute or chronic anemia."""

    name = "mimic-anemia"
    task = "acute or chronic anemia: the diagnosis that goes with a discharge summary"
    sizes = "5,098 / 1,262 admissions in the paper"

    def classes(self, options: Options) -> tuple[str, ...]:
        """Acute, then chronic, as the paper says; the released code has it the other way."""
        return ("acute", "chronic") if options.cleaning == "paper" else ("chronic", "acute")

    def label(self, codes: Collection[str]) -> str | None:
        """Acute is 285.1, chronic 285.2; with both or neither the admission is left out."""
        acute = any(code.startswith("2851") for code in codes)
        chronic = any(code.startswith("2852") for code in codes)
        return None if acute == chronic else "acute" if acute else "chronic"


def clean_note(text: str) -> list[str]:
    """The tokens of a note; what was removed for privacy is `<DE>`, and repeated signs are one.

    Both happens before spaCy sees the text, which would split `<DE>` and the brackets.

    >>> clean_note("Mr. [**Known lastname 12**] ===== 5 mg")
    ['mr.', '<DE>', '=', 'qqq', 'mg']
    """
    tokenise = tokeniser()
    tokens: list[str] = []
    for index, piece in enumerate(_HIDDEN.split(text)):
        if index:
            tokens.append("<DE>")
        tokens += tokenise(_REPEATED_SIGN.sub(r"\1 ", piece))
    return tokens


def summaries(path: Path, wanted: Container[str]) -> Iterator[tuple[str, str]]:
    """Admission and text (the report, then addenda by date) of every wanted admission, by its number."""
    try:
        yield from _grouped(path, wanted)
    except sqlite3.OperationalError as error:
        raise DiskFull(
            f"{path}: its notes could not be grouped in the folder for temporary files ({error}): free some space "
            "there, or set SQLITE_TMPDIR to another folder"
        ) from error


def _grouped(path: Path, wanted: Container[str]) -> Iterator[tuple[str, str]]:
    with closing(sqlite3.connect("")) as database:  # no name: SQLite keeps it in a file that vanishes with it
        database.execute("create table note (admission integer, addendum integer, date text, text text)")
        notes = (
            (_number(admission, path, line), description.strip() == "Addendum", date, text)
            for line, (admission, date, category, description, text) in named_rows(path, _COLUMNS, any_case=True)
            if category.strip() == "Discharge summary" and admission in wanted
        )
        database.executemany("insert into note values (?, ?, ?, ?)", notes)  # one by one: all would not fit in memory
        rows = database.execute("select admission, text from note order by admission, addendum, date, rowid")
        for number, group in groupby(rows, key=itemgetter(0)):
            yield str(number), "\n".join(text for _, text in group)


def _number(admission: str, path: Path, line: int) -> int:
    try:
        return int(admission)
    except ValueError as error:
        raise BadInput(f"{path}, line {line}: HADM_ID '{admission}' is not a whole number") from error


def _codes(path: Path) -> dict[str, set[str]]:
    """Admission -> ICD-9 codes."""
    codes: dict[str, set[str]] = {}
    for _, (admission, code) in named_rows(path, ("HADM_ID", "ICD9_CODE"), any_case=True):
        if admission and code:
            codes.setdefault(admission, set()).add(code)
    return codes
