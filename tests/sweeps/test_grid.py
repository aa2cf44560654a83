from pathlib import Path
from typing import Any

import pytest

from heedful.errors import BadConfig, BadInput, NotFound
from heedful.runs.config import resolve
from heedful.sweeps.grid import built_in, make_grid, read_grid


def points(grid: dict[str, Any], *keys: str) -> list[tuple[Any, ...]]:
    return [tuple(getattr(config, key) for key in keys) for config in make_grid(grid).configs]


def test_lists_are_axes_and_cells_are_their_product() -> None:
    grid = {"corpus": ["sst", "planted"], "encoder": "cnn", "seed": [0, 1]}
    assert points(grid, "corpus", "encoder", "seed") == [
        ("sst", "cnn", 0),
        ("sst", "cnn", 1),
        ("planted", "cnn", 0),
        ("planted", "cnn", 1),
    ]


def test_a_cell_is_the_run_of_its_values() -> None:
    (config,) = make_grid({"corpus": "sst", "training": {"epochs": 3}}).configs
    assert config.name == resolve({"corpus": "sst", "training": {"epochs": 3}}).name


def test_axes_may_stand_in_tables_or_behind_dots() -> None:
    for grid in ({"training": {"epochs": [1, 2]}}, {"training.epochs": range(1, 3)}, {"training": [{"epochs": 1}, {}]}):
        assert len(make_grid({"corpus": "planted", **grid}).configs) == 2


@pytest.mark.parametrize(
    ("table", "key", "one", "several"),
    [
        ("importance", "measures", ["gradient", "leave_one_out"], [["gradient"], ["leave_one_out"]]),
        ("experiment_options", "rankings", ["attention"], [["attention"], ["random"]]),
        ("encoder_options", "kernels", [1, 3], [[1, 3], [5]]),
    ],
)
def test_what_is_a_list_is_an_axis_only_as_a_list_of_lists(
    table: str, key: str, one: list[Any], several: list[Any]
) -> None:
    grid = {"corpus": "planted", "encoder": "cnn"}
    assert len(make_grid({**grid, table: {key: one}}).configs) == 1
    assert len(make_grid({**grid, table: {key: several}}).configs) == 2


def test_the_same_configuration_is_one_cell() -> None:
    assert points({"corpus": "planted", "preset": "paper", "seed": [0, 0, 1]}, "seed") == [(0,), (1,)]
    # the paper's width is said and unsaid
    grid = {"corpus": "sst", "case": [{"when": {"seed": 0}, "encoder_options": {"hidden": 128}}], "seed": 0}
    assert make_grid(grid).configs[0].name == resolve({"corpus": "sst"}).name


def test_cases_change_or_skip_the_cells_they_are_about() -> None:
    grid = {
        "corpus": ["sst", "planted"],
        "model": ["classifier", "han"],
        "case": [
            {"when": {"corpus": "sst", "model": "han"}, "skip": True},
            {"when": {"model": ["han", "flan"]}, "encoder": "cnn", "seed": [1, 2]},
            {"when": {"encoder": "cnn", "seed": 2}, "attention": "dot"},
        ],
    }
    assert points(grid, "corpus", "model", "encoder", "seed", "attention") == [
        ("sst", "classifier", "bilstm", 0, "additive"),
        ("planted", "classifier", "bilstm", 0, "additive"),
        ("planted", "han", "cnn", 1, "additive"),
        ("planted", "han", "cnn", 2, "dot"),
    ]


def test_experiments_are_no_axis() -> None:
    assert make_grid({"corpus": "sst"}).experiments is None
    for experiments in ("reach,truth", ["reach", "truth"]):
        grid = make_grid({"corpus": "planted", "experiments": experiments})
        assert (len(grid.configs), grid.experiments) == (1, ("reach", "truth"))


@pytest.mark.parametrize(
    ("grid", "problem"),
    [
        ({"encodr": "cnn"}, r"unknown key of a grid 'encodr' \(did you mean 'encoder'\?\); valid: .*experiments"),
        ({"experimens": []}, "did you mean 'experiments'"),
        ({"training": {"epoch": [1]}}, r"'training.epoch' \(did you mean 'training.epochs'"),
        ({"training": {"epochs": [1, 0]}}, "cell training.epochs=0: training.epochs = 0: .*skip = true leaves"),
        ({"training": 3}, "^training = 3"),
        ({"seed": {"of": 1}}, "unknown key of a grid 'seed.of'"),
        ({"seed": []}, r"the grid is empty: seed = \[\] has no value"),
        ({"seed": list(range(200)), "training": {"epochs": list(range(1, 200))}}, "39,800 cells"),
        ({"encoder": ["cnn", "bilstm"], "encoder_options": {"filters": 2}}, "cell encoder=bilstm: .*'encoder_options"),
        ({"corpus": ["sst", "planted"], "model": ["flan", "han"]}, "cell corpus=sst, model=han: .*sentences"),
        ({"corpus": ["sst", "sts", "stt"]}, r"corpus=sts: unknown corpus.*\(and 1 more of 3 cells\)"),
        ({"experiments": "reich"}, "unknown experiment 'reich'"),
        ({"case": {"when": {"seed": 0}}}, r"\[\[case\]\]"),
        ({"case": [{"skip": True}]}, "case 1 does not say which cells"),
        ({"case": [{"when": {"corpus": "planted"}}]}, "case 1 changes nothing"),
        ({"case": [{"when": {"corpus": "planted"}, "skip": 1}]}, "skip = 1"),
        ({"case": [{"when": {"corpus": "plantet"}, "skip": True}]}, "did you mean 'planted'"),
        ({"case": [{"when": {"corpsu": "sst"}, "skip": True}]}, "did you mean 'corpus'"),
        ({"case": [{"when": {"corpus": "planted"}, "sed": 1}]}, "did you mean 'seed'"),
        ({"case": [{"when": {"training.epochs": 1}, "skip": True}]}, "case 1: no cell sets training.epochs"),
        ({"case": [{"when": {"corpus": ["planted", "sst"]}, "skip": True}]}, "the grid is empty: its cases skip"),
    ],
)
def test_bad_grids_are_named(grid: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadConfig, match=problem):
        make_grid({"corpus": "planted", **grid})


def test_a_corpus_is_needed() -> None:
    with pytest.raises(BadConfig, match="no corpus was named"):
        make_grid({"seed": [0, 1]})


def test_grids_are_files_and_settings_go_before_them(tmp_path: Path) -> None:
    file = tmp_path / "grid.toml"
    file.write_text(
        'corpus = "planted"\nseed = [0, 1]\n[training]\nepochs = 2\n[[case]]\nwhen.seed = 1\nencoder = "cnn"'
    )
    assert [config.encoder for config in read_grid(file).configs] == ["bilstm", "cnn"]
    changed = read_grid(str(file), {"seed": [1, 2, 3], "training": {"batch": 8}})
    assert [(config.encoder, config.training.epochs, config.training.batch) for config in changed.configs] == [
        ("cnn", 2, 8),
        ("bilstm", 2, 8),
        ("bilstm", 2, 8),
    ]
    file.write_text("corpus = [")
    with pytest.raises(BadInput, match=r"grid\.toml: not valid TOML"):
        read_grid(file)
    file.write_text('corpus = "planted"\nsed = 1')
    with pytest.raises(BadConfig, match=r"grid\.toml: unknown key of a grid 'sed'"):
        read_grid(file)
    with pytest.raises(NotFound, match="there is no such grid; built in are jain-wallace"):
        read_grid(tmp_path / "none.toml")
    with pytest.raises(BadConfig, match="did you mean 'jain-wallace'"):
        read_grid("jain-walace")


@pytest.mark.parametrize(
    ("name", "cells"), [("jain-wallace", 72), ("jain-wallace-short", 24), ("serrano-smith", 24), ("seeds", 5)]
)
def test_built_in_grids(name: str, cells: int) -> None:
    assert name in built_in()
    assert len(read_grid(name).configs) == cells


def test_the_grid_of_jain_and_wallace_measures_what_the_paper_does() -> None:
    measures = {config.importance.measures for config in read_grid("jain-wallace").configs}
    assert measures == {("gradient", "leave_one_out")}
    assert {(config.model, config.encoder) for config in read_grid("serrano-smith").configs} == {
        (model, encoder) for model in ("han", "flan") for encoder in ("bigru", "cnn", "none")
    }
