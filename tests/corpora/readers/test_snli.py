import json

import pytest

from heedful.corpora.loading import load
from heedful.errors import BadInput
from tests.corpora.native import pack, write

LABELS = ["entailment", "neutral", "contradiction", "-"]


def rows(count, **fields):
    made = [
        {"gold_label": LABELS[n % 4], "sentence1": f"A man eats {n} pies.", "sentence2": "Someone's eating!", **fields}
        for n in range(count)
    ]
    return "".join(json.dumps(row) + "\n" for row in made)


def save(folder, **fields):
    write(folder / "snli_1.0_train.jsonl.gz", rows(12, **fields))
    for split in ("dev", "test"):
        write(folder / f"snli_1.0_{split}.jsonl", rows(8, **fields))


def test_premise_hypothesis_and_classes(tmp_path):
    save(tmp_path / "snli_1.0")
    corpus = load("snli", data=tmp_path)
    assert corpus.classes == ("neutral", "contradiction", "entailment")
    assert corpus.counts() == {"train": [3, 3, 3], "dev": [2, 2, 2], "test": [2, 2, 2]}
    assert corpus.split("dev")["id"].to_list() == ["dev-1", "dev-2", "dev-3", "dev-5", "dev-6", "dev-7"]
    first = corpus.split("test").row(0, named=True)
    assert first["tokens"] == "a man eats qqq pies .".split()
    assert first["query"] == "someone 's eating !".split()
    assert first["label"] == 2
    released = load("snli", data=tmp_path, options={"cleaning": "released"})
    assert released.classes == ("contradiction", "entailment", "neutral")
    assert released.split("test")["label"].to_list() == [1, 2, 0] * 2


def test_pairs_have_their_own_ids_where_given(tmp_path):
    save(tmp_path)
    text = "".join(
        json.dumps({**json.loads(line), "pairID": f"p{n}"}) + "\n" for n, line in enumerate(rows(8).splitlines())
    )
    write(tmp_path / "snli_1.0_test.jsonl", text)
    assert load("snli", data=tmp_path).split("test")["id"].to_list() == ["p0", "p1", "p2", "p4", "p5", "p6"]


def test_the_zip_gives_the_same(tmp_path):
    save(tmp_path / "plain")
    files = {f"snli_1.0/snli_1.0_{split}.jsonl": rows(12 if split == "train" else 8).encode() for split in SPLITS}
    # what the official archive holds beside it
    files |= {f"__MACOSX/snli_1.0/._snli_1.0_{split}.jsonl": b"\x00\xff" for split in SPLITS}
    pack(tmp_path / "packed" / "snli_1.0.zip", files)
    plain, packed = (load("snli", data=tmp_path / kind) for kind in ("plain", "packed"))
    assert all(plain.split(split).equals(packed.split(split)) for split in SPLITS)


SPLITS = ("train", "dev", "test")


def test_a_subset_says_so(tmp_path):
    save(tmp_path)
    (tmp_path / "snli_1.0_train.jsonl.gz").rename(tmp_path / "snli_1.0_train_subset.jsonl.gz")
    assert load("snli", data=tmp_path, subset=True).subset


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{not json}", r"dev\.jsonl, line 9: not JSON"),
        ("[1]", r"dev\.jsonl, line 9: each line must be one object"),
        (rows(1, gold_label="maybe"), r"dev\.jsonl, line 9: label 'maybe' is none of neutral, contradiction"),
        (rows(1, gold_label=1), r"dev\.jsonl, line 9: there is no text 'gold_label'"),
        (rows(1, sentence1=None), r"dev\.jsonl, line 9: there is no text 'sentence1'; a pair needs gold_label"),
        (rows(1, sentence1=" "), r"dev\.jsonl, line 9: sentence1 is empty"),
        (rows(1, sentence2=""), r"dev\.jsonl, line 9: sentence2 is empty"),
        (rows(1, sentence2="\ud800"), r"dev\.jsonl, line 9, sentence2: .*surrogate"),
    ],
)
def test_bad_lines(tmp_path, line, message):
    save(tmp_path)
    write(tmp_path / "snli_1.0_dev.jsonl", rows(8) + line)
    with pytest.raises(BadInput, match=message):
        load("snli", data=tmp_path)
