"""What the drawings say is what the rows hold."""

import re
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from heedful.findings.instance_table import COLUMNS
from heedful.report.charts import CHARTS, Facts
from heedful.report.charts.render import to_svg

FACTS = Facts(classes=("bad", "good"), grouped=True, n=40, epsilon=0.01, columns=frozenset(COLUMNS))
ALL = Facts(classes=tuple("abcdefgh"), grouped=False, n=40, epsilon=0.01, columns=frozenset(COLUMNS))
Rows = list[dict[str, Any]]


def _rows(low: float, high: float, *columns: str) -> Rows:
    draw = np.random.default_rng(1)
    return [
        {"id": f"i{index}", "decided": FACTS.classes[index % 2], "decision": index % 2, "items": 9}
        | {name: float(draw.uniform(low, high)) for name in columns}
        for index in range(40)
    ]


def _drawn(name: str, rows: Rows, facts: Facts = FACTS) -> tuple[list[str], list[str]]:
    """The words of a drawing, and what its marks are said to be."""
    root = ElementTree.fromstring(to_svg(CHARTS[name].spec(facts), rows))
    words = [element.text or "" for element in root.iter() if element.tag.endswith("text")]
    return words, [element.attrib["aria-label"] for element in root.iter() if "aria-label" in element.attrib]


def test_a_histogram_tells_means_and_shares_by_class() -> None:
    rows = _rows(-1, 1, "tau_gradient")
    rows[0]["tau_gradient"] = None
    words, said = _drawn("tau-gradient", rows)
    for decided, undefined in (("bad", ", undefined in 1"), ("good", "")):
        values = [row["tau_gradient"] for row in rows if row["decided"] == decided and row["tau_gradient"] is not None]
        mean = f"{np.mean(values):.2f}".replace("-", "\u2212")
        assert f"mean {mean}, {len(values)} instances{undefined}" in words
    counts = [int(found[1]) for label in said if (found := re.search(r"instances: (\d+)", label))]
    expected = [
        count
        for decided in FACTS.classes
        for count in np.histogram(
            [row["tau_gradient"] for row in rows if row["decided"] == decided and row["tau_gradient"] is not None],
            bins=30,
            range=(-1, 1),
        )[0]
        if count
    ]
    assert sorted(counts) == sorted(expected)


def test_the_last_bin_holds_the_greatest_value() -> None:
    rows = _rows(1, 1, "tau_gradient")
    _, said = _drawn("tau-gradient", rows, ALL)
    assert sum("instances: 40" in label for label in said) == 1


def test_only_negative_differences_are_counted() -> None:
    rows = _rows(0, 1, "delta_weight", "delta_js")
    for index, row in enumerate(rows):
        row["delta_js"] = [-0.1, 0.0, 0.1, None][index % 4]
        row["delta_weight"] = None if row["delta_js"] is None else row["delta_weight"]
    words, _ = _drawn("delta-js-negative", rows, ALL)
    mean = np.mean([row["delta_weight"] for row in rows if row["delta_js"] is not None and row["delta_js"] < 0])
    assert f"mean {mean:.2f}, 10 of 30 instances, undefined in 10" in words


def test_violins_stand_in_four_bands_of_attention() -> None:
    rows = _rows(0, 1, "permuted_tvd", "max_attention")
    words, said = _drawn("permutation", rows)
    bands = [min(3, int(4 * row["max_attention"])) for row in rows]
    counts = np.unique([2 * band + row["decision"] for band, row in zip(bands, rows, strict=True)], return_counts=True)
    assert sorted(word for word in words if word.startswith("n = ")) == sorted(f"n = {n}" for n in counts[1])
    medians = {float(found[1]) for label in said if (found := re.search(r"; median: ([\d.]+)", label))}
    assert medians == {
        round(
            float(
                np.median(
                    [r["permuted_tvd"] for r, b in zip(rows, bands, strict=True) if b == band and r["decided"] == c]
                )
            ),
            3,
        )
        for band in range(4)
        for c in FACTS.classes
        if any(b == band and r["decided"] == c for r, b in zip(rows, bands, strict=True))
    }


def test_decisions_that_never_change_are_counted_and_single_items_left_out() -> None:
    chart = CHARTS["removal-fraction"]
    rows = _rows(0, 1, *chart.columns, *chart.optional)
    for index, row in enumerate(rows):
        row["items"] = 1 if index < 10 else 9
        if index % 3 == 0:
            row["attention_fraction"] = None
    words, said = _drawn("removal-fraction", rows)
    assert "33% never (10)" in words
    values = [row["attention_fraction"] for row in rows[10:] if row["attention_fraction"] is not None]
    box = next(label for label in said if "ranking: attention;" in label)
    assert f"median: {np.median(values):.3f}" in box
    assert f"first quartile: {np.quantile(values, 0.25):.3f}" in box
    assert f"decisions that change: {len(values)}; of: 30" in box


@pytest.mark.parametrize("outlier", [0.9, 0.1])
def test_whiskers_end_within_one_and_a_half_boxes(outlier: float) -> None:
    chart = CHARTS["removal-mass"]
    rows = _rows(0.45, 0.55, *chart.columns, *chart.optional)
    for row in rows:
        row["items"] = 5
    rows[0]["attention_mass"] = outlier
    _, said = _drawn("removal-mass", rows)
    assert f"share of attention zeroed: {outlier}; zeroed in order of: attention; instances: 1" in said
