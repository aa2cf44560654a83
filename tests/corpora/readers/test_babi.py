import pytest

from heedful.corpora.loading import load
from heedful.corpora.readers.babi import BabiOptions, questions
from heedful.corpora.registry import READERS
from heedful.errors import BadConfig, BadInput, NotFound
from tests.corpora.native import pack, write

ROOMS = ["kitchen", "office"]
TITLES = {1: "qa1_single-supporting-fact", 2: "qa2_two-supporting-facts", 3: "qa3_three-supporting-facts"}


def stories(count):
    return "".join(
        f"1 Mary went to the {ROOMS[n % 2]}.\n2 John moved to the garden.\n3 Where is Mary? \t{ROOMS[n % 2]}\t1\n"
        f"4 John took the milk there.\n5 Where is John? \tgarden\t2\n"
        for n in range(count)
    )


def save(folder, task=1, train=20, suffix=""):
    write(folder / f"{TITLES[task]}_train.txt{suffix}", stories(train))
    write(folder / f"{TITLES[task]}_test.txt", stories(4))


@pytest.mark.parametrize("place", ["babi/tasks_1-20_v1-2/en-10k", "tasks_1-20_v1-2/en-10k", "babi/en-10k", "en-10k"])
def test_where_the_files_may_lie(tmp_path, place):
    save(tmp_path / place, suffix=".gz")
    corpus = load("babi-1", data=tmp_path)
    assert corpus.sizes() == {"train": 34, "dev": 6, "test": 8}
    assert not corpus.subset


def test_cleaning_as_in_the_paper(tmp_path):
    save(tmp_path / "en-10k")
    corpus = load("babi-1", data=tmp_path)
    row = corpus.split("test").row(1, named=True)
    assert row["id"] == "test-00001-005"
    assert " ".join(row["tokens"]) == "mary went to the kitchen . john moved to the garden . john took the milk there ."
    assert row["query"] == ["where", "is", "john", "?"]
    marked = [token for token, true in zip(row["tokens"], row["truth"], strict=True) if true]
    assert marked == ["john", "moved", "to", "the", "garden"]
    words = ". ? garden is john kitchen mary milk moved office the there to took went where"
    assert corpus.classes == tuple(words.split())
    assert corpus.classes[row["label"]] == "garden"


def test_cleaning_as_released(tmp_path):
    save(tmp_path / "en-10k")
    corpus = load("babi-1", data=tmp_path, options={"cleaning": "released"})
    first, second = corpus.split("test").head(2).to_dicts()
    assert " ".join(first["tokens"]) == "Mary went to the kitchen . John moved to the garden"
    assert second["query"] == ["Where", "is", "John"]
    assert first["truth"] == [True] * 5 + [False] * 6
    assert len(second["truth"]) == len(second["tokens"])
    assert corpus.classes[:4] == (".", "John", "Mary", "Where")


def test_the_archive_gives_the_same(tmp_path):
    save(tmp_path / "plain" / "en-10k", task=2)
    save(tmp_path / "plain" / "en", task=2, train=30)
    files = {
        f"tasks_1-20_v1-2/{path.relative_to(tmp_path / 'plain')}": path.read_bytes()
        for path in (tmp_path / "plain").rglob("*.txt")
    }
    pack(tmp_path / "packed" / "babi" / "tasks_1-20_v1-2.tar.gz", files)
    for training in ("10k", "1k"):
        options = {"training": training}
        plain, packed = (load("babi-2", data=tmp_path / kind, options=options) for kind in ("plain", "packed"))
        assert plain.sizes() == packed.sizes()
        assert plain.split("train").equals(packed.split("train"))
    assert sum(plain.sizes().values()) == 60 + 8


def test_an_error_in_the_archive_names_the_file_inside(tmp_path):
    name = f"tasks_1-20_v1-2/en-10k/{TITLES[1]}_train.txt"
    pack(tmp_path / "tasks_1-20_v1-2.tar.gz", {name: b"1 Mary went home.\n3 John left.\n"})
    with pytest.raises(BadInput, match=rf"tasks_1-20_v1-2\.tar\.gz, {name}, line 2: number 3 where 2 should be"):
        load("babi-1", data=tmp_path)


def test_a_partial_folder_is_a_subset(tmp_path):
    save(tmp_path / "babi" / "en-10k", task=3)
    (tmp_path / "babi" / "en-10k" / f"{TITLES[3]}_train.txt").unlink()
    write(tmp_path / "babi" / "en-10k-partial" / f"{TITLES[3]}_train.txt.gz", stories(10))
    with pytest.raises(NotFound, match=r"a subset is there: --subset uses it"):
        load("babi-3", data=tmp_path)
    corpus = load("babi-3", data=tmp_path, subset=True)
    assert corpus.subset
    assert corpus.sizes() == {"train": 17, "dev": 3, "test": 8}


def test_a_data_folder_that_is_called_partial_makes_no_subset(tmp_path):
    save(tmp_path / "my-partial" / "en-10k")
    assert not load("babi-1", data=tmp_path / "my-partial").subset


def test_errors_name_file_and_line(tmp_path):
    save(tmp_path / "en-10k")
    write(tmp_path / "en-10k" / f"{TITLES[1]}_train.txt", stories(3) + "1 Where is Mary? \tkitchen\t1\n")
    with pytest.raises(BadInput, match=r"qa1_single-supporting-fact_train\.txt, line 16: a question without any fact"):
        load("babi-1", data=tmp_path)


def test_an_answer_that_is_no_word_of_training(tmp_path):
    save(tmp_path / "en-10k")
    write(tmp_path / "en-10k" / f"{TITLES[1]}_test.txt", "1 Mary went home.\n2 Where is Mary? \tcellar\t1\n")
    with pytest.raises(BadInput, match=r"label 'cellar' occurs in test but never in training"):
        load("babi-1", data=tmp_path)
    # a word of the stories is a class, though no training question has it for its answer
    write(tmp_path / "en-10k" / f"{TITLES[1]}_test.txt", "1 Mary went home.\n2 Who went home? \tMary\t1\n")
    assert load("babi-1", data=tmp_path).split("test")["label"].null_count() == 0


def test_an_unknown_variant(tmp_path):
    with pytest.raises(BadConfig, match=r"corpus babi-1, option training: .*'10k' or '1k'"):
        load("babi-1", data=tmp_path, options={"training": "5k"})


@pytest.mark.parametrize("task", [1, 2, 3])
def test_tokens_are_those_of_spacy(real_data, task):
    from heedful.text.tokenising import tokeniser

    reader, options = READERS[f"babi-{task}"], BabiOptions(training="1k")
    found = reader.find([real_data], options, subset=False)
    texts = {text for _, question in reader.questions(found, options) for text in (*question.facts, question.text)}
    assert len(texts) > 100
    assert all(reader.tokenise(text, options) == tokeniser()(text) for text in texts)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("0 Mary went to the kitchen.", "number 0 where 1 should be"),
        ("1 .", "no word"),
        (f"{'9' * 5000} Mary went.", "should begin with a number"),
    ],
)
def test_awkward_first_lines_are_refused(line: str, said: str) -> None:
    with pytest.raises(BadInput, match=f"here: .*{said}"):
        list(questions([("here", line)]))


def test_a_question_without_a_word_is_refused() -> None:
    with pytest.raises(BadInput, match="line 2: there is no word"):
        list(questions([("line 1", "1 Mary went to the kitchen."), ("line 2", "2 ?\tkitchen\t1")]))
