"""Files that do not hold what was written to them are named and never read."""

import json
import os
from pathlib import Path

import pytest

from heedful import integrity
from heedful.errors import BadInput
from heedful.files import write_json, write_text
from heedful.integrity import MANIFEST, Damaged, checked, content_fingerprint, known_fingerprint, sealed, unsealed
from heedful.workspace.bit_repair import sealed_again, with_digest
from heedful.workspace.verification import repair, verify
from tests.workspace.toy import Toy, perform


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    toy = Toy(tmp_path / "toy")
    toy.write_toml({"size": 3, "name": "façade"})
    perform(toy)
    return toy


def flip(path: Path, bit: int) -> None:
    content = bytearray(path.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)


def test_every_single_flipped_bit_of_a_manifest_is_noticed(toy: Toy) -> None:
    whole = (toy.folder / MANIFEST).read_bytes()
    assert unsealed(whole) == (toy.manifest, True)
    for bit in range(8 * len(whole)):
        content = bytearray(whole)
        content[bit // 8] ^= 1 << bit % 8
        with pytest.raises((ValueError, KeyError)):
            unsealed(bytes(content))


def test_what_is_sealed_comes_back_as_it_was() -> None:
    manifest = {"files": {}, "texts": ["ü", 'a "digest": "b"', "\n"], "cost": 0.1, "n": 10**20, "stages": {}}
    assert unsealed(sealed(manifest).encode()) == (manifest, True)
    assert unsealed(sealed({"stages": {}}).encode()) == ({"stages": {}}, True)
    assert unsealed(b'{"stages": {}}') == ({"stages": {}}, False)  # as older versions wrote it


def test_a_file_is_refused_when_it_is_read_and_its_neighbours_are_not(toy: Toy) -> None:
    file = toy.folder / "model.txt"
    assert checked(file) == file
    flip(file, 11)
    with pytest.raises(Damaged, match=r"model\.txt is damaged: its content.*delete it and run again.*verify --repair"):
        checked(file)
    for name in ("texts.txt", "log.txt", "toy.toml", "of-nobody.txt"):
        checked(toy.folder / name)


def test_options_are_refused_when_the_directory_is_opened(toy: Toy) -> None:
    flip(toy.folder / "toy.toml", 40)
    with pytest.raises(Damaged, match=r"toy\.toml is damaged"):
        Toy.load(toy.folder)


def test_files_below_a_folder_of_the_directory_are_known_too(toy: Toy) -> None:
    (toy.folder / "results").mkdir()
    file = toy.folder / "results" / "a.txt"
    file.write_text("right")
    toy.record(files={"results/a.txt": content_fingerprint(file)})
    checked(file)
    file.write_text("wrong")
    with pytest.raises(Damaged, match=r"a\.txt is damaged"):
        checked(file)


def test_a_file_is_hashed_once_a_process_until_it_changes(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    hashed = []
    monkeypatch.setattr(integrity, "content_fingerprint", lambda path: hashed.append(path) or content_fingerprint(path))
    file = toy.folder / "new.txt"
    file.write_text("one")
    for _ in range(3):
        known_fingerprint(file)
    assert hashed == [file]
    file.write_text("two")
    os.utime(file, (1e9, 1e9))
    assert known_fingerprint(file) == content_fingerprint(file)
    assert hashed == [file, file]


@pytest.mark.parametrize("content", ["[]", "{", '{"name": "an app"}', '{"digest": "sha256:12", "layers": []}', "\0"])
def test_a_manifest_of_another_program_is_no_manifest(tmp_path: Path, content: str) -> None:
    (tmp_path / MANIFEST).write_text(content)
    (tmp_path / "table.parquet").touch()
    assert checked(tmp_path / "table.parquet") == tmp_path / "table.parquet"


@pytest.mark.parametrize("name", ["../mine.txt", "/etc/passwd", "results/../../mine.txt", "a\\b"])
def test_names_that_lead_out_of_the_directory_are_refused_and_nothing_is_deleted(toy: Toy, name: str) -> None:
    mine = toy.folder.parent / "mine.txt"
    mine.write_text("precious")
    manifest = {**toy.manifest, "files": {name: "0" * 16}}
    write_text(toy.folder / MANIFEST, sealed(manifest))
    with pytest.raises(BadInput, match="there can be no file"):
        _ = toy.manifest
    repair(verify(Toy, toy.folder), Toy.load)
    assert mine.read_text() == "precious"


def test_damaged_files_are_not_deleted_through_a_link(toy: Toy, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "a.txt").write_text("wrong")
    (toy.folder / "results").symlink_to(tmp_path / "elsewhere")
    toy.record(files={"results/a.txt": "0" * 16})
    with pytest.raises(BadInput, match="is a symbolic link"):
        repair(verify(Toy, toy.folder), Toy.load)
    assert (tmp_path / "elsewhere" / "a.txt").exists()


def test_a_whole_directory_is_verified(toy: Toy) -> None:
    seen: list[int] = []
    found = verify(Toy, toy.folder, seen.append)
    assert (found.intact, found.files, found.unrecorded) == (True, 7, ())  # five files of stages, options, manifest
    assert sum(seen) == found.size


def test_damaged_and_missing_files_are_found_with_their_stages(toy: Toy) -> None:
    flip(toy.folder / "log.txt", 3)
    (toy.folder / "lengths.parquet").unlink()
    found = verify(Toy, toy.folder)
    assert [(each.file, each.stage, each.reason) for each in found.damaged] == [
        ("log.txt", "model", "its content is not what was recorded"),
        ("lengths.parquet", "lengths", "it is missing"),
    ]


def test_verification_reads_files_that_this_process_has_read_before(toy: Toy) -> None:
    file = toy.folder / "log.txt"
    checked(file)
    status = file.stat()
    flip(file, 0)
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert [each.file for each in verify(Toy, toy.folder).damaged] == ["log.txt"]


def test_a_repair_deletes_the_stage_and_what_reads_its_files(toy: Toy) -> None:
    flip(toy.folder / "model.txt", 3)
    (toy.folder / "extra.txt").touch()
    assert repair(verify(Toy, toy.folder), Toy.load) == ["deleted stages: model, scores"]
    assert list(toy.manifest["stages"]) == ["texts", "lengths"]
    left = {path.name for path in toy.folder.iterdir()} - {".lock"}
    assert left == {"toy.toml", MANIFEST, "texts.txt", "lengths.parquet"}
    assert verify(Toy, toy.folder).intact


@pytest.mark.parametrize("bit", [0, 77, 141])
def test_one_flipped_bit_of_the_options_is_flipped_back(toy: Toy, bit: int) -> None:
    whole = (toy.folder / "toy.toml").read_bytes()
    flip(toy.folder / "toy.toml", bit)
    assert repair(verify(Toy, toy.folder), Toy.load) == [f"flipped one bit of toy.toml back, in byte {bit // 8}"]
    assert (toy.folder / "toy.toml").read_bytes() == whole


def test_options_that_are_beyond_repair_are_left_with_what_to_do(toy: Toy) -> None:
    file = toy.folder / "toy.toml"
    flip(file, 3)
    flip(file, 40)
    with pytest.raises(BadInput, match=r"rename it, and use `make toy` with the same options"):
        repair(verify(Toy, toy.folder), Toy.load)
    file.rename(toy.folder / "toy.damaged.toml")
    toy.write_toml({"size": 3, "name": "façade"})
    assert verify(Toy, toy.folder).intact


def test_one_flipped_bit_of_a_manifest_is_flipped_back_wherever_it_is(toy: Toy) -> None:
    whole = (toy.folder / MANIFEST).read_bytes()
    for bit in [*range(0, 8 * len(whole), 977), *range(8 * len(whole) - 260, 8 * len(whole), 13)]:
        content = bytearray(whole)
        content[bit // 8] ^= 1 << bit % 8
        assert sealed_again(bytes(content)) == whole


def test_after_a_manifest_the_files_are_repaired_too(toy: Toy) -> None:
    flip(toy.folder / MANIFEST, 400)
    flip(toy.folder / "texts.txt", 4)
    done = repair(verify(Toy, toy.folder), Toy.load)
    assert done == [
        "flipped one bit of manifest.json back, in byte 50",
        "deleted stages: texts, model, scores, lengths",
    ]


def test_without_its_manifest_a_directory_is_done_again_from_the_beginning(toy: Toy) -> None:
    (toy.folder / MANIFEST).write_text("{broken")
    parts = toy.folder / ".scores.parquet.parts"
    parts.mkdir()
    assert repair(verify(Toy, toy.folder), Toy.load) == ["deleted manifest.json, so that every stage is done again"]
    assert not parts.exists()
    assert toy.manifest == {"stages": {}}
    assert (toy.folder / "toy.toml").exists()


def test_no_other_content_is_taken_for_a_flipped_bit() -> None:
    assert with_digest(b"some text", "0" * 16) is None
    assert with_digest(bytes(1 << 16), "0" * 16) is None  # too long to be searched
    assert sealed_again(b"") is None
    assert sealed_again(b"{}" * 40) is None


def test_an_older_directory_is_read_and_told_from_a_checked_one(toy: Toy) -> None:
    stages = {name: {"seconds": 1.0} for name in toy.manifest["stages"]}
    write_json(toy.folder / MANIFEST, {"stages": stages})
    flip(toy.folder / "log.txt", 3)
    checked(toy.folder / "log.txt")
    Toy.load(toy.folder)
    found = verify(Toy, toy.folder)
    assert found.intact
    assert set(found.unrecorded) == {"toy.toml", MANIFEST, "texts.txt", "model.txt", "log.txt", "scores.parquet"} | {
        "lengths.parquet"
    }


def test_the_options_of_an_older_directory_are_recorded_when_it_goes_on(toy: Toy) -> None:
    write_json(toy.folder / MANIFEST, {"stages": {}})
    toy.write_toml({"size": 3})
    assert toy.file_hashes() == {"toy.toml": content_fingerprint(toy.folder / "toy.toml")}
    assert json.loads((toy.folder / MANIFEST).read_text())["format"] == integrity.FORMAT


def test_a_kill_before_the_options_are_written_leaves_nothing_to_be_taken_for_damage(
    toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(path: Path, text: str) -> None:
        if path.name == "toy.toml":
            raise KeyboardInterrupt
        write_text(path, text)

    (toy.folder / "toy.toml").unlink()
    monkeypatch.setattr("heedful.workspace.folder.write_text", killed)
    with pytest.raises(KeyboardInterrupt):
        toy.write_toml({"size": 4})
    monkeypatch.undo()
    toy.write_toml({"size": 4})
    assert verify(Toy, toy.folder).intact
