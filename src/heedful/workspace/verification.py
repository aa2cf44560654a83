"""Verification: are all files of runs and audits as their manifests recorded them, and how do damaged ones go?"""

import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heedful.errors import BadInput
from heedful.files import locked, write_text
from heedful.integrity import MANIFEST, content_fingerprint, recorded_hashes, unsealed
from heedful.workspace.bit_repair import flipped_byte, sealed_again, with_digest
from heedful.workspace.folder import StageFolder, delete_file


@dataclass(frozen=True)
class Damage:
    """A file that is not as it was recorded."""

    file: str
    reason: str
    stage: str | None = None  # that left it


@dataclass(frozen=True)
class Verified:
    """What was found of a directory."""

    folder: Path
    kind: type[StageFolder]
    files: int = 0  # whose hashes were compared
    size: int = 0  # their bytes
    damaged: tuple[Damage, ...] = ()
    unrecorded: tuple[str, ...] = ()  # files without a hash: of older versions

    @property
    def intact(self) -> bool:
        """Whether nothing is damaged."""
        return not self.damaged

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON."""
        damaged = [{"file": each.file, "stage": each.stage, "reason": each.reason} for each in self.damaged]
        about = {"folder": str(self.folder), "kind": self.kind.KIND.split()[-1], "intact": self.intact}
        return {**about, "files": self.files, "bytes": self.size, "damaged": damaged, "unrecorded": [*self.unrecorded]}


def verify(kind: type[StageFolder], folder: Path, on_bytes: Callable[[int], None] = lambda _: None) -> Verified:
    """Compare every recorded file of a directory with its hash; `on_bytes` is called with the size of each."""
    try:
        manifest, digested = _manifest(folder)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        return Verified(folder, kind, damaged=(Damage(MANIFEST, f"it cannot be read ({_words(error)})"),))
    hashes = recorded_hashes(manifest)
    left_by = {name: stage for stage, entry in manifest["stages"].items() for name in entry.get("files", {})}
    damaged, size = [], 0
    for name, expected in hashes.items():
        path = folder / name
        try:
            size += path.stat().st_size
            reason = None if content_fingerprint(path) == expected else "its content is not what was recorded"
        except FileNotFoundError:
            reason = "it is missing"
        except OSError as error:
            reason = f"it cannot be read ({_words(error)})"
        if reason is not None:
            damaged.append(Damage(name, reason, left_by.get(name)))
        elif path.exists():
            on_bytes(path.stat().st_size)
    unrecorded = [name for name in _expected(kind, manifest) if name not in hashes and (folder / name).exists()]
    if not digested and (folder / MANIFEST).exists():
        unrecorded.append(MANIFEST)
    return Verified(folder, kind, len(hashes) + digested, size, tuple(damaged), tuple(unrecorded))


def size_of(folder: Path) -> int:
    """The bytes of a directory's recorded files."""
    try:
        names = recorded_hashes(_manifest(folder)[0])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return 0
    return sum((folder / name).stat().st_size for name in names if (folder / name).is_file())


def repair(verified: Verified, open_folder: Callable[[Path], StageFolder]) -> list[str]:
    """Take the damage out of a directory, so that the same command makes again what is missing; in words, what was
    done to it.

    Stages with a damaged file are deleted, and all stages that read their files. In the options and in the manifest,
    which no stage makes, one flipped bit is flipped back.
    """
    folder, kind, done = verified.folder, verified.kind, []
    with locked(folder):
        if any(damage.file == MANIFEST for damage in verified.damaged):
            path = folder / MANIFEST
            restored = _flipped_back(path, sealed_again(path.read_bytes()))
            if restored is None:
                return [_begin_anew(folder)]
            done.append(restored)
            verified = verify(kind, folder)  # what it says of the files is known only now
        if any(damage.file == kind.OPTIONS for damage in verified.damaged):
            path, expected = folder / kind.OPTIONS, recorded_hashes(_manifest(folder)[0])[kind.OPTIONS]
            restored = _flipped_back(path, with_digest(path.read_bytes(), expected))
            if restored is None:
                raise BadInput(_options_lost(verified))
            done.append(restored)
        left = [damage for damage in verified.damaged if damage.file != kind.OPTIONS]
        stages = [damage.stage for damage in left if damage.stage is not None]
        if stages:
            done.append(f"deleted stages: {', '.join(open_folder(folder).delete_stages(stages))}")
        for damage in left:
            if damage.stage is None:
                delete_file(folder, damage.file)
                done.append(f"deleted {damage.file}")
    return done


def _flipped_back(path: Path, right: bytes | None) -> str | None:
    """Write a file's right content, if it was found; in words."""
    if right is None:
        return None
    byte = flipped_byte(path.read_bytes(), right)
    write_text(path, right.decode("utf-8"))
    return f"flipped one bit of {path.name} back, in byte {byte:,}"


def _options_lost(verified: Verified) -> str:
    kind, path = verified.kind, verified.folder / verified.kind.OPTIONS
    return (
        f"{path} is damaged, and no stage makes it again: read its options from it, rename it, and use "
        f"`{kind.COMMAND}` with the same options, which writes it again and repeats no stage"
    )


def _begin_anew(folder: Path) -> str:
    """Without a manifest no stage counts as done; parts of files and checkpoints must not be gone on from."""
    (folder / MANIFEST).unlink(missing_ok=True)
    for hidden in [*folder.glob(".*.parts"), *folder.glob("*/.*.parts"), folder / ".checkpoint"]:
        if hidden.is_dir() and not hidden.is_symlink():
            shutil.rmtree(hidden)
    return f"deleted {MANIFEST}, so that every stage is done again"


def _manifest(folder: Path) -> tuple[dict[str, Any], bool]:
    """The manifest, and whether it has a digest; before anything was recorded, an empty one."""
    if not (folder / MANIFEST).exists():
        return {"stages": {}}, False
    manifest, digested = unsealed((folder / MANIFEST).read_bytes())
    recorded_hashes(manifest)  # raises if this is no manifest of ours
    return manifest, digested


def _expected(kind: type[StageFolder], manifest: Mapping[str, Any]) -> Iterator[str]:
    """The files that a directory with this manifest may have."""
    yield kind.OPTIONS
    for stage in kind.stages_of(manifest):
        if stage.name in manifest["stages"]:
            yield from (*stage.files, *stage.optional)


def _words(error: Exception) -> str:
    return " ".join(str(error).split())
