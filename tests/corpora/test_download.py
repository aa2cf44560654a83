import functools
import gzip
import hashlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from heedful.corpora import download
from heedful.corpora.download import get
from heedful.corpora.loading import load
from heedful.corpora.reader import Published
from heedful.corpora.registry import READERS, reader_of
from heedful.errors import BadConfig, BadInput, HeedfulError
from tests.cli.calling import heedful
from tests.corpora.native import pack, tree, write


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture
def mirror(tmp_path):
    """A folder and its address on this machine."""
    folder = tmp_path / "mirror"
    folder.mkdir()
    with serving(functools.partial(Quiet, directory=str(folder))) as address:
        yield folder, address


@contextmanager
def serving(handler):
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads, server.block_on_close = True, False
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(autouse=True)
def downloads(tmp_path, monkeypatch):
    monkeypatch.setenv("HEEDFUL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("HEEDFUL_DATA", raising=False)
    for name in ("sst", "imdb", "newsgroups", "agnews", "babi-1", "snli"):  # made up below, so with other hashes
        publish(monkeypatch, name, {})
    return tmp_path / "cache" / "data"


def publish(monkeypatch, name, published):
    kind = type(reader_of(name))
    monkeypatch.setattr(kind, "source", replace(kind.source, published=published))


def truth(path, size=None):
    return Published(hashlib.sha256(path.read_bytes()).hexdigest(), size or path.stat().st_size, "its authors")


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
    path, checked = get(name, address=address, progress=lambda done, total: seen.append((done, total)))
    assert path == downloads / files[0]
    assert checked == "row counts as expected; no published hash"
    assert everything(downloads) == files
    assert seen[-1][0] == seen[-1][1] > 0
    for file in folder.iterdir():
        assert (path / file.name).read_bytes() == file.read_bytes()
        file.unlink()
    # the mirror, now empty, is not asked
    assert get(name, address=address) == (path, "there already, not checked again")


def test_what_was_downloaded_is_found(mirror):
    folder, address = mirror
    sst(folder)
    get("sst", address=address + "/")
    assert sum(load("sst").counts()["test"]) > 500


def test_one_archive_serves_all_tasks(mirror):
    folder, address = mirror
    babi(folder)
    path = get("babi-3", address=address).folder
    (folder / "tasks_1-20_v1-2.tar.gz").unlink()
    assert get("babi-1", address=address).folder == get("babi-2", address=address).folder == path


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


SOURCES = {name: reader.source for name, reader in READERS.items() if reader.source is not None}  # as they are


@pytest.mark.parametrize("name", SOURCES)
def test_every_public_file_has_a_published_hash_and_a_safe_address(name):
    source = SOURCES[name]
    assert source.address.startswith("https://")
    assert source.published.keys() == source.files.keys()
    for published in source.published.values():
        assert re.fullmatch("[0-9a-f]{64}", published.sha256)
        assert published.size > 100_000
        assert published.by


def test_what_was_checked_is_said(mirror, monkeypatch):
    folder, address = mirror
    sst(folder)
    publish(monkeypatch, "sst", {"archive": truth(folder / "trainDevTestTrees_PTB.zip")})
    answer = heedful("corpora", "get", "sst", "--from", address)
    assert answer.code == 0, answer.err
    assert "downloading sst: SHA-256 as published by its authors; row counts as expected\n" in answer.err
    assert "there already, not checked again" in heedful("corpora", "get", "sst").err
    agnews(folder)
    publish(monkeypatch, "agnews", {"test": truth(folder / "test.csv")})
    assert heedful("corpora", "get", "agnews", "--from", address).err.endswith(
        "SHA-256 as published by its authors; row counts as expected; no published hash of train.csv\n"
    )


def test_a_changed_file_is_refused_though_its_rows_are_as_many(mirror, downloads, monkeypatch):
    folder, address = mirror
    sst(folder)
    archive = folder / "trainDevTestTrees_PTB.zip"
    publish(monkeypatch, "sst", {"archive": truth(archive)})
    content = bytearray(archive.read_bytes())
    content[12] ^= 1  # in the time of the first entry
    archive.write_bytes(content)
    found = hashlib.sha256(content).hexdigest()
    with pytest.raises(BadInput, match=rf"PTB\.zip is not the official file and was removed: its SHA-256 is {found}"):
        get("sst", address=address)
    assert everything(downloads) == []


@pytest.mark.parametrize("form", ["said", "unsaid", "compressed"])
def test_a_server_that_sends_too_much_is_stopped(downloads, monkeypatch, form):
    sent = []

    class Endless(BaseHTTPRequestHandler):
        def log_message(self, *args):
            pass

        def do_GET(self):
            self.send_response(200)
            if form == "said":
                self.send_header("Content-Length", str(1 << 40))
            if form == "compressed":
                self.send_header("Content-Encoding", "gzip")
            self.end_headers()
            piece = gzip.compress(bytes(1 << 24)) if form == "compressed" else bytes(1 << 16)
            for _ in range(2000):
                self.wfile.write(piece)
                sent.append(len(piece))

    publish(monkeypatch, "sst", {"archive": Published("0" * 64, 1_000_000, "nobody")})
    with (
        serving(Endless) as address,
        pytest.raises(BadInput, match=r"PTB\.zip sends more than the 1,000,000 bytes that the file may have"),
    ):
        get("sst", address=address)
    assert sum(sent) < 20_000_000  # what fits into buffers on the way
    assert everything(downloads) == []


def test_a_file_of_unknown_size_has_a_limit_too(mirror, downloads, monkeypatch):
    folder, address = mirror
    sst(folder)
    monkeypatch.setattr(download, "MOST", 10_000)
    with pytest.raises(BadInput, match="sends more than the 10,000 bytes"):
        get("sst", address=address)
    assert everything(downloads) == []


class Silent(BaseHTTPRequestHandler):
    """Sends a part and then nothing."""

    def log_message(self, *args):
        pass

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "1000000")
        self.end_headers()
        self.wfile.write(bytes(100_000))
        self.wfile.flush()
        time.sleep(60)


def test_a_server_that_falls_silent_is_given_up(downloads, monkeypatch):
    monkeypatch.setattr(download, "SILENCE", 0.3)
    with serving(Silent) as address, pytest.raises(HeedfulError, match=r"could not be downloaded \(.*[Tt]imed? ?out"):
        get("sst", address=address)
    assert everything(downloads) == []


def test_what_a_killed_download_leaves_is_removed_by_the_next_and_no_link_is_followed(mirror, downloads, tmp_path):
    folder, address = mirror
    sst(folder)
    with serving(Silent) as silent:
        program = f"from heedful.corpora.download import get; get('imdb', address={silent!r})"
        process = subprocess.Popen([sys.executable, "-c", program], env=os.environ)
        deadline = time.monotonic() + 60
        while not [path for path in downloads.glob(".download.*/*") if path.stat().st_size]:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        [draft] = downloads.glob(".download.*")
        get("sst", address=address)
        assert draft.exists()  # it is at work
        process.send_signal(signal.SIGKILL)
        process.wait()
    mine = write(tmp_path / "mine" / "kept.txt", "kept").parent
    (draft / "link").symlink_to(mine)
    link = downloads / ".download.abcdefgh.tmp"
    link.symlink_to(mine)
    newsgroups(folder)
    get("newsgroups", address=address)
    assert sorted(path.name for path in downloads.iterdir()) == [link.name, "20news", "sst"]
    assert (mine / "kept.txt").read_text() == "kept"
