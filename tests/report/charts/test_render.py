from pathlib import Path
from typing import Any

import pytest
import vl_convert

from heedful.errors import BadConfig
from heedful.report.charts import CHARTS, Facts
from heedful.report.charts.marks import DARK, LIGHT, config
from heedful.report.charts.render import render, to_svg
from tests.report.made_run import made_run

FACTS = Facts(classes=("a", "b"), grouped=True, n=2, epsilon=0.01, columns=frozenset())
ROWS = [{"id": name, "decided": name, "label_name": None, "delta_js": 0.1, "delta_weight": 0.2} for name in "ab"]
POINTS = CHARTS["delta-js"]


def test_each_format_becomes_a_file_of_its_kind(tmp_path: Path) -> None:
    paths = render(POINTS.spec(FACTS), ROWS, tmp_path / "new" / "delta.js", formats=("svg", "pdf", "png"))
    assert [path.name for path in paths] == ["delta.js.svg", "delta.js.pdf", "delta.js.png"]
    assert [path.read_bytes()[:4] for path in paths] == [b"<svg", b"%PDF", b"\x89PNG"]
    assert sorted(path.name for path in paths[0].parent.iterdir()) == sorted(path.name for path in paths)


def test_a_png_is_drawn_in_double_size(tmp_path: Path) -> None:
    (path,) = render(POINTS.spec(FACTS), ROWS, tmp_path / "x", formats=["png"])
    width = int.from_bytes(path.read_bytes()[16:20], "big")
    assert f'width="{width // 2}"' in to_svg(POINTS.spec(FACTS), ROWS)


def test_a_failure_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.svg").write_text("old")

    def fail(path: Path, _: Any) -> None:
        raise OSError("no")

    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(OSError, match="no"):
        render(POINTS.spec(FACTS), ROWS, tmp_path / "x", formats=["svg"])
    assert [path.name for path in tmp_path.iterdir()] == ["x.svg"]
    assert (tmp_path / "x.svg").read_text() == "old"


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match=r"unknown format 'gif'.*pdf, png, svg"):
        render(POINTS.spec(FACTS), ROWS, tmp_path / "x", formats=["gif"])
    assert not list(tmp_path.iterdir())


def test_a_drawing_is_the_same_whatever_was_drawn_before() -> None:
    first = to_svg(POINTS.spec(FACTS), ROWS)
    to_svg(CHARTS["adversary-search"].spec(FACTS), [])
    assert to_svg(POINTS.spec(FACTS), ROWS) == first


def test_nothing_is_fetched() -> None:
    spec = {"data": {"url": "https://example.org/rows.json"}, "mark": "point", "encoding": {}}
    with pytest.raises(ValueError, match=r"example.org|[Aa]llowed|External"):
        to_svg(spec, [])


def test_the_theme_surrounds_the_marks() -> None:
    light, dark = (to_svg(POINTS.spec(FACTS), ROWS, theme=config(look)) for look in (LIGHT, DARK))
    assert LIGHT.text in light
    assert DARK.background in dark
    assert LIGHT.text not in dark


def test_width_is_the_themes_to_choose() -> None:
    widths = [
        int(to_svg(chart.spec(FACTS), [], theme=config(width=width)).split('width="')[1].split('"')[0])
        for chart in (POINTS, CHARTS["tau-gradient"], CHARTS["removal-mass"])
        for width in (300, 500)
    ]
    assert [wide - narrow for narrow, wide in zip(widths[::2], widths[1::2], strict=True)] == pytest.approx(
        [200, 200, 200], abs=2
    )


def test_charts_of_a_run_that_can_be_drawn(tmp_path: Path) -> None:
    run = made_run(tmp_path / "run", experiments=("single_weight", "removal", "truth"))
    drawn = ["delta-js", "delta-js-negative", "removal-fraction", "removal-mass", "truth-mass"]
    assert [name for name, chart in CHARTS.items() if chart.missing(run) is None] == drawn


def test_the_bundle_of_the_site_is_of_the_version_that_draws_files() -> None:
    version = POINTS.spec(FACTS)["$schema"].removesuffix(".json").rpartition("/v")[2]
    assert version.rpartition(".")[0] in vl_convert.get_vegalite_versions()
