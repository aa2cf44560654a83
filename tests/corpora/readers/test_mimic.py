import pytest

from heedful.corpora.loading import load
from heedful.corpora.readers.mimic import clean_note
from heedful.errors import BadInput
from tests.corpora.native import write

NOTES = "ROW_ID,SUBJECT_ID,HADM_ID,CHARTDATE,CHARTTIME,STORETIME,CATEGORY,DESCRIPTION,CGID,ISERROR,TEXT\n"
DIAGNOSES = "ROW_ID,SUBJECT_ID,HADM_ID,SEQ_NUM,ICD9_CODE\n"


def note(row, admission, text, *, date="2101-01-01", category="Discharge summary", description="Report"):
    return f'{row},{row},{admission},{date},,,"{category}","{description}",,,"{text}"\n'


def diagnosis(row, admission, code):
    return f'{row},{row},{admission},1,"{code}"\n'


def hospital(tmp_path, codes, *, notes="", diagnoses=""):
    """One admission a code; the report comes last, after an addendum and a nurse's note."""
    first = "".join(
        note(n, 1000 + n, f'Addendum {n}: ""still"" well', description="Addendum", date="2101-02-02")
        + note(n, 1000 + n, "nursing words", category="Nursing")
        for n in range(len(codes))
    )
    last = "".join(
        note(n, 1000 + n, f"Admission Date: [**2101-1-{n}**]\nName: [**Known lastname {n}**] ======= he is\nwell.")
        for n in range(len(codes))
    )
    write(tmp_path / "mimic" / "NOTEEVENTS.csv.gz", NOTES + first + last + notes)
    rows = "".join(diagnosis(n, 1000 + n, code) for n, code in enumerate(codes))
    write(tmp_path / "mimic" / "DIAGNOSES_ICD.csv", DIAGNOSES + rows + diagnoses)


def rows_of(corpus):
    return {
        row["id"]: (" ".join(row["tokens"]), corpus.classes[row["label"]])
        for split in ("train", "dev", "test")
        for row in corpus.split(split).iter_rows(named=True)
    }


def test_anemia(tmp_path):
    codes = ["2851", "28521"] * 30 + ["4019", "2800"]
    both = diagnosis(90, 1000, "28529")  # admission 1000 has both kinds
    other = note(91, 5555, "an admission without a diagnosis") + note(92, "", "no admission at all")
    hospital(tmp_path, codes, notes=other, diagnoses=both)
    paper = load("mimic-anemia", data=tmp_path)
    released = load("mimic-anemia", data=tmp_path, options={"cleaning": "released"})
    assert paper.classes == ("acute", "chronic")
    assert released.classes == ("chronic", "acute")
    rows = rows_of(paper)
    assert rows == rows_of(released)
    assert set(rows) == {str(1000 + n) for n in range(1, 60)}
    text = 'admission date : <DE> name : <DE> = he is well . addendum qqq : " still " well'
    assert rows["1001"] == (text, "chronic")
    assert rows["1002"][1] == "acute"
    counts = paper.counts()
    assert sum(counts["test"]) == 12
    assert abs(counts["test"][0] - counts["test"][1]) <= 1
    assert sum(counts["dev"]) == 8


def test_diabetes_drawn_and_by_lists(tmp_path):
    codes = ["25000", "25001", "4019"] * 20
    hospital(tmp_path, codes, notes=note(70, 1000 + 60, "too few words"), diagnoses=diagnosis(70, 1060, "4019"))
    drawn = load("mimic-diabetes", data=tmp_path)
    assert drawn.classes == ("no diabetes", "diabetes")
    assert set(rows_of(drawn)) == {str(1000 + n) for n in range(60)}
    assert rows_of(drawn)["1000"][1] == "diabetes"
    assert rows_of(drawn)["1001"][1] == "no diabetes"
    assert drawn.counts()["test"] == [9, 4]  # 41 and 20, one of the 41 too short
    lists = {"train": range(30), "dev": range(30, 36), "test": range(36, 45)}
    for split, numbers in lists.items():
        write(tmp_path / "mimic" / f"{split}_50_hadm_ids.csv", "".join(f"{1000 + n}\n" for n in numbers))
    listed = load("mimic-diabetes", data=tmp_path)
    for split, numbers in lists.items():
        assert set(listed.split(split)["id"]) == {str(1000 + n) for n in numbers}


def test_long_admissions_are_left_out(tmp_path):
    hospital(tmp_path, ["2851", "28521"] * 30, notes=note(80, 1003, "word " * 4000, description="Addendum"))
    assert "1003" not in rows_of(load("mimic-anemia", data=tmp_path))


def test_the_order_of_notes_does_not_matter(tmp_path):
    hospital(tmp_path / "a", ["2851", "28521"] * 30)
    hospital(tmp_path / "b", ["2851", "28521"] * 30)
    path = tmp_path / "b" / "mimic" / "NOTEEVENTS.csv.gz"
    summary = [note(n, 1000 + n, f"Report {n}, which is long enough.") for n in range(60)]
    addenda = [note(n, 1000 + n, f"Addendum {n}.", description="Addendum", date="2102-01-01") for n in range(60)]
    write(tmp_path / "a" / "mimic" / "NOTEEVENTS.csv.gz", NOTES + "".join(summary + addenda))
    write(path, NOTES + "".join(reversed(summary + addenda)))
    first, second = (load("mimic-anemia", data=tmp_path / name) for name in "ab")
    assert all(first.split(split).equals(second.split(split)) for split in ("train", "dev", "test"))


@pytest.mark.parametrize(
    ("notes", "diagnoses", "message"),
    [
        (NOTES.replace("TEXT", "BODY"), DIAGNOSES, r"NOTEEVENTS\.csv has no column 'TEXT'; it has: ROW_ID, .*BODY"),
        (NOTES, "a,b\n1,2\n", r"DIAGNOSES_ICD\.csv has no column 'HADM_ID'; it has: A, B"),
        (NOTES + "1,2,3\n", DIAGNOSES, r"NOTEEVENTS\.csv, line 2: 3 fields, but the header has 11"),
        (NOTES + '1,2,3,,,,"Discharge', DIAGNOSES, r"NOTEEVENTS\.csv, row that begins on line 2"),
        ("", DIAGNOSES, r"NOTEEVENTS\.csv has no column .*none, it is empty"),
        (NOTES, DIAGNOSES, r"NOTEEVENTS\.csv.*no documents were found"),
    ],
)
def test_bad_files(tmp_path, notes, diagnoses, message):
    write(tmp_path / "NOTEEVENTS.csv", notes)
    write(tmp_path / "DIAGNOSES_ICD.csv", diagnoses)
    with pytest.raises(BadInput, match=message):
        load("mimic-anemia", data=tmp_path)


def test_clean_note():
    text = "Mr. [**Last Name\n(un) 12**]-- seen at 10:30 ..... [**Hospital 1**]"
    assert clean_note(text) == ["mr.", "<DE>", "-", "seen", "at", "qqq", ".", "<DE>"]
