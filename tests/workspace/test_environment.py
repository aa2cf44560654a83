"""Which version of heedful performed what."""

from heedful.version import __version__
from heedful.workspace.environment import change_of_version, code_fingerprint, mixture, performers

OLD = {"heedful": "0.0.1", "code": "aa"}
NOW = {"heedful": __version__, "code": code_fingerprint()}


def test_stages_of_one_version_are_no_mixture() -> None:
    manifest = {**NOW, "stages": {"prepare": NOW, "train": NOW}}
    assert performers(manifest) == {__version__: ["prepare", "train"]}
    assert mixture(manifest) == change_of_version(manifest) == ""


def test_stages_of_two_versions_are_told_apart() -> None:
    manifest = {"stages": {"prepare": OLD, "train": OLD, "evidence": NOW}}
    assert mixture(manifest) == f"0.0.1: prepare, train; {__version__}: evidence"
    assert change_of_version(manifest) == f"begun by heedful 0.0.1; goes on with {__version__}; both are recorded"


def test_other_code_of_the_same_version_is_named_by_its_fingerprint() -> None:
    manifest = {"stages": {"prepare": {**NOW, "code": "aa"}, "train": NOW}}
    assert mixture(manifest) == f"{__version__} (code aa): prepare; {__version__} (code {NOW['code']}): train"
    assert f"begun by heedful {__version__} (code aa); goes on with {__version__} (code {NOW['code']})" in (
        change_of_version(manifest)
    )


def test_stages_that_name_no_version_are_of_the_one_that_began_the_directory() -> None:
    manifest = {**OLD, "stages": {"prepare": {"seconds": 1}, "train": {}}}
    assert performers(manifest) == {"0.0.1": ["prepare", "train"]}
    assert change_of_version(manifest) != ""
    assert performers({"stages": {"prepare": {}}}) == {"unknown": ["prepare"]}
    assert change_of_version({"stages": {}}) == ""
