"""Flipped bits in finished runs: each is noticed by `verify` and by whoever reads the file; repairs restore all."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from heedful.errors import HeedfulError
from heedful.experiments import EXPERIMENT_NAMES
from heedful.runs.catalogue import runs_in, scan
from heedful.runs.directory import STAGES, Run
from heedful.runs.execution import perform
from heedful.workspace.verification import repair, verify
from tests.runs.flipping import flipped, flips
from tests.runs.small import VALUES, contents

Copy = Callable[[Path], Run]


def read(folder: Path, name: str) -> None:
    """Read a file as the library does."""
    run = Run.open(folder)
    readers: dict[str, Callable[[], object]] = {
        "config.toml": lambda: run,
        "manifest.json": lambda: run.manifest,
        "vocabulary.parquet": lambda: run.vocabulary,
        "training.jsonl": lambda: run.history,
        "model.safetensors": run.model,
        "evidence.parquet": lambda: run.evidence,
        "metrics.json": lambda: run.metrics,
        "importance.parquet": lambda: run.importance,
        **{STAGES[each].file: lambda each=each: run.results(each) for each in EXPERIMENT_NAMES},  # type: ignore[misc]
    }
    readers[name]()


def campaign(run: Run, count: int, seed: int) -> tuple[int, int]:
    """How many of so many single flipped bits are found by `verify`, and refused by whoever reads the file."""
    found = refused = 0
    for number, (name, bit) in enumerate(flips(run, count, seed=seed)):
        with flipped(run.folder / name, bit, tick=10**18 + 10**9 * number):
            found += name in [damage.file for damage in verify(Run, run.folder).damaged]
            try:
                read(run.folder, name)
            except HeedfulError as error:
                refused += f"{name} is damaged" in str(error)
    return found, refused


def test_every_flipped_bit_is_found_and_refused(copy_small_run: Copy, tmp_path: Path) -> None:
    run = copy_small_run(tmp_path)
    for name in ("manifest.json", *run.file_hashes()):
        read(run.folder, name)  # whole ones are read
    assert campaign(run, 100, seed=0) == (100, 100)
    assert verify(Run, run.folder).intact


@pytest.mark.slow
def test_1600_flipped_bits_are_all_found_and_refused(copy_small_run: Copy, tmp_path: Path) -> None:
    found = campaign(copy_small_run(tmp_path), 1600, seed=1)
    print(f"of 1,600 flipped bits {found[0]:,} were found by verify, {found[1]:,} refused by readers")
    assert found == (1600, 1600)


@pytest.mark.parametrize(
    ("file", "redone"),
    [
        ("results/permutation.parquet", ["permutation"]),
        ("importance.parquet", ["importance", "correlation"]),
        ("vocabulary.parquet", [*dict.fromkeys(STAGES)]),
    ],
)
def test_what_is_repaired_is_made_again_by_the_same_run(
    small_run: Run, copy_small_run: Copy, tmp_path: Path, file: str, redone: list[str]
) -> None:
    run = copy_small_run(tmp_path)
    with (run.folder / file).open("r+b") as opened:
        opened.seek(40)
        byte = opened.read(1)[0]
        opened.seek(40)
        opened.write(bytes([byte ^ 4]))
    (done,) = repair(verify(Run, run.folder), Run.open)
    assert done == f"deleted stages: {', '.join(name for name in redone if name in small_run.manifest['stages'])}"
    assert contents(perform(VALUES, out=tmp_path).folder) == contents(small_run.folder)
    assert verify(Run, run.folder).intact


def test_a_run_whose_manifest_is_lost_is_repaired_by_doing_it_again(
    small_run: Run, copy_small_run: Copy, tmp_path: Path
) -> None:
    run = copy_small_run(tmp_path)
    (run.folder / "manifest.json").write_bytes((run.folder / "manifest.json").read_bytes()[:200])
    repair(verify(Run, run.folder), Run.open)
    assert contents(perform(VALUES, out=tmp_path).folder) == contents(small_run.folder)


def test_lost_options_are_written_again_by_the_same_run_and_nothing_is_repeated(
    copy_small_run: Copy, tmp_path: Path
) -> None:
    run = copy_small_run(tmp_path)
    stages = run.manifest["stages"]
    (run.folder / "config.toml").rename(run.folder / "config.damaged.toml")
    again = perform(VALUES, out=tmp_path)
    assert again.manifest["stages"] == stages
    assert verify(Run, again.folder).intact
    assert (again.folder / "config.toml").exists()


def test_a_damaged_run_in_a_folder_of_runs_is_listed_and_named_when_scanned(
    copy_small_run: Copy, tmp_path: Path
) -> None:
    whole, other = copy_small_run(tmp_path / "a"), copy_small_run(tmp_path / "b")
    file = other.folder / STAGES["permutation"].file
    with flipped(file, 999, tick=10**18):
        frame = scan(tmp_path, "permutation")  # lazy: nothing is read yet
        with pytest.raises(HeedfulError, match=r"permutation\.parquet is damaged"):
            frame.collect()
        assert len(scan(whole.folder, "permutation").collect()) == 30
    shutil.rmtree(whole.folder)
    with flipped(other.folder / "config.toml", 99, tick=10**18):
        assert runs_in(tmp_path)["state"].to_list() == ["damaged"]
