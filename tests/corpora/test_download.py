import functools
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from heedful.corpora.download import get
from heedful.corpora.loading import load
from heedful.errors import BadConfig, BadInput, HeedfulError
from tests.corpora.native import pack, tree, write


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture
def mirror(tmp_path):
    """A folder and its address on this machine."""
    folder = tmp_path / "mirror"
    folder.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield folder, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(autouse=True)
def downloads(tmp_path, monkeypatch):
    monkeypatch.setenv("HEEDFUL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("HEEDFUL_DATA", raising=False)
    return tmp_path / "cache" / "data"


def sst(folder, train=8544):
    counts = {"train": train, "dev": 1101, "test": 2210}
    trees = {
        split: "\n".join(
            tree(number % 5, f"this is a film of {number} reels" + " or so" * (number % 3)) for number in range(count)
        )
        for split, count in counts.items()
    }
    pack(folder / "trainDevTestTrees_PTB.zip", {f"trees/{split}.txt": text.encode() for split, text in trees.items()})


def imdb(folder):
    files = {
        f"aclImdb/{split}/{side}/{number}_1.txt": b"x"
        for split in ("train", "test")
        for side in ("pos", "neg")
        for number in range(12500)
    }
    pack(folder / "aclImdb_v1.tar.gz", files | {"aclImdb/train/unsup/0_0.txt": b"x"})


def newsgroups(folder):
    counts = {("train", "baseball"): 597, ("train", "hockey"): 600, ("test", "baseball"): 397, ("test", "hockey"): 399}
    files = {
        f"20news-bydate-{split}/rec.sport.{group}/{number}": b"Subject: x\n\nA post of eight words is enough here"
        for (split, group), count in counts.items()
        for number in range(count)
    }
    pack(folder / "20news-bydate.tar.gz", files | {"20news-bydate-train/sci.med/1": b"x"})


def agnews(folder):
    for name, count in (("train.csv", 120_000), ("test.csv", 7600)):
        write(folder / name, "".join(f'"{number % 4 + 1}","t","d"\n' for number in range(count)))


def babi(folder):
    story = "1 Mary went to the kitchen.\n2 Where is Mary? \tkitchen\t1\n"
    titles = ("qa1_single-supporting-fact", "qa2_two-supporting-facts", "qa3_three-supporting-facts")
    files = {
        f"tasks_1-20_v1-2/en-10k/{title}_{split}.txt": story.encode() * count
        for title in titles
        for split, count in (("train", 10_000), ("test", 1000))
    }
    pack(folder / "tasks_1-20_v1-2.tar.gz", files | {"tasks_1-20_v1-2/en/qa1_single-supporting-fact_train.txt": b"x"})


def snli(folder):
    counts = {"train": 550_152, "dev": 10_000, "test": 10_000}
    pack(
        folder / "snli_1.0.zip",
        {f"snli_1.0/snli_1.0_{split}.jsonl": b"{}\n" * count for split, count in counts.items()},
    )


def everything(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*")) if folder.exists() else []


@pytest.mark.parametrize(
    ("name", "make", "files"),
    [
        ("sst", sst, ["sst", "sst/trainDevTestTrees_PTB.zip"]),
        ("imdb", imdb, ["imdb", "imdb/aclImdb_v1.tar.gz"]),
        ("newsgroups", newsgroups, ["20news", "20news/20news-bydate.tar.gz"]),
        ("agnews", agnews, ["ag_news_csv", "ag_news_csv/test.csv", "ag_news_csv/train.csv"]),
        ("babi-1", babi, ["babi", "babi/tasks_1-20_v1-2.tar.gz"]),
        ("snli", snli, ["snli_1.0", "snli_1.0/snli_1.0.zip"]),
    ],
)
def test_official_row_counts_are_accepted(mirror, downloads, name, make, files):
    folder, address = mirror
    make(folder)
    seen = []
    path = get(name, address=address, progress=lambda done, total: seen.append((done, total)))
    assert path == downloads / files[0]
    assert everything(downloads) == files
    assert seen[-1][0] == seen[-1][1] > 0
    for file in folder.iterdir():
        assert (path / file.name).read_bytes() == file.read_bytes()
        file.unlink()
    assert get(name, address=address) == path  # there already: the mirror, now empty, is not asked


def test_what_was_downloaded_is_found(mirror):
    folder, address = mirror
    sst(folder)
    get("sst", address=address + "/")
    assert sum(load("sst").counts()["test"]) > 500


def test_one_archive_serves_all_tasks(mirror):
    folder, address = mirror
    babi(folder)
    path = get("babi-3", address=address)
    (folder / "tasks_1-20_v1-2.tar.gz").unlink()
    assert get("babi-1", address=address) == get("babi-2", address=address) == path


def test_a_wrong_count_leaves_nothing_behind(mirror, downloads):
    folder, address = mirror
    sst(folder, train=8543)
    with pytest.raises(BadInput, match=r"for sst has 8,543 train, 1,101 dev, 2,210 test rows instead of 8,544 train"):
        get("sst", address=address)
    assert everything(downloads) == []


def test_what_is_not_the_corpus_leaves_nothing_behind(mirror, downloads):
    folder, address = mirror
    (folder / "aclImdb_v1.tar.gz").write_bytes(b"<html>Sign in to the network</html>")
    with pytest.raises(BadInput, match=r"downloaded for imdb is not usable and was removed: .*aclImdb_v1\.tar\.gz"):
        get("imdb", address=address)
    assert everything(downloads) == []


def test_no_file_and_no_server(mirror, downloads):
    _, address = mirror
    with pytest.raises(HeedfulError, match=r"20news-bydate\.tar\.gz could not be downloaded \(404") as caught:
        get("newsgroups", address=address)
    assert "\n" not in str(caught.value)
    with pytest.raises(HeedfulError, match=r"train\.csv could not be downloaded") as caught:
        get("agnews", address="http://127.0.0.1:1")
    assert "\n" not in str(caught.value)
    assert everything(downloads) == []


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("cnn", "DMQA"),
        ("adr", "adr/adr.tsv"),
        ("mimic-anemia", "physionet"),
        ("table", "option file"),
        ("planted", "built in"),
    ],
)
def test_what_cannot_be_downloaded(name, hint):
    public = "sst, imdb, newsgroups, agnews, babi-1, babi-2, babi-3, snli"
    with pytest.raises(BadConfig, match=rf"{name} cannot be downloaded .*only {public} can.*{hint}"):
        get(name)
    with pytest.raises(BadConfig, match="unknown corpus"):
        get("ssst")
