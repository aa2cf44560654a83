"""Messages: long values are cut, prose is not; what is missing comes with how to get it."""

import json
from importlib import metadata
from pathlib import Path

import pytest

from heedful.errors import BadInput, HeedfulError, MissingExtra, install_hint


class Installed:
    """A distribution whose installer recorded where it came from."""

    def __init__(self, recorded):
        self.recorded = recorded

    def read_text(self, name):
        assert name == "direct_url.json"
        return None if self.recorded is None else json.dumps(self.recorded)


def test_in_a_clone_with_its_own_environment_make_sets_up(tmp_path):
    (tmp_path / "pyproject.toml").touch()
    package = tmp_path / "src" / "heedful"
    assert install_hint("papers", package=package, environment=tmp_path / ".venv") == f"run `make setup` in {tmp_path}"


def test_in_a_clone_with_another_environment_pip_installs_the_clone(tmp_path):
    (tmp_path / "pyproject.toml").touch()
    hint = install_hint("hf", package=tmp_path / "src" / "heedful", environment=tmp_path / "conda")
    assert hint == f'pip install -e "{tmp_path}[hf]"'


@pytest.mark.parametrize(
    ("recorded", "hint"),
    [
        (None, 'pip install "heedful[papers]"'),
        ({"url": "file:///clone", "dir_info": {}}, 'pip install "heedful[papers] @ file:///clone"'),
        (
            {"url": "https://example.org/heedful", "vcs_info": {"vcs": "git", "commit_id": "0"}},
            'pip install "heedful[papers] @ git+https://example.org/heedful"',
        ),
    ],
)
def test_elsewhere_pip_installs_from_where_heedful_came(tmp_path, monkeypatch, recorded, hint):
    monkeypatch.setattr(metadata, "distribution", lambda name: Installed(recorded))
    package = tmp_path / "site-packages" / "heedful"
    assert install_hint("papers", package=package, environment=tmp_path) == hint


def test_a_missing_extra_says_what_for_and_how_to_get_it():
    error = MissingExtra("spaCy", "papers", "reading")
    assert str(error) == f"reading needs spaCy, which is not installed: {install_hint('papers')}"


def test_the_demo_ends_with_how_to_use_heedful():
    recipe = (Path(__file__).parents[1] / "Makefile").read_text().partition("\ndemo:")[2].partition("\n\n")[0]
    assert "source $(BIN)/activate" in recipe
    assert "heedful run --file" in recipe


def test_downloads_are_part_of_the_core():
    required = (Path(__file__).parents[1] / "pyproject.toml").read_text().partition("[project.optional")[0]
    assert '"pooch' in required


def test_long_ids_are_cut_and_what_stands_around_them_is_not() -> None:
    reason = "the evidence's ids must be unique, and it's the user's task to see to that, " * 4
    message = str(BadInput(f"table.csv, line 3: the id '{'x' * 50_000}end' occurs twice: {reason}'short' isn't long"))
    assert len(message) < 800
    assert message.startswith("table.csv, line 3: the id 'xxx")
    assert "xxxend' occurs twice" in message
    assert " … " in message
    assert message.endswith(f"{reason}'short' isn't long")


def test_a_message_has_an_end_whatever_is_listed_in_it() -> None:
    message = str(HeedfulError(f"no column 'text'; it has: {', '.join(map(str, range(10**5)))}; rename one"))
    assert len(message) < 5000
    assert message.startswith("no column 'text'; it has: 0, 1, 2")
    assert message.endswith("; rename one")
