"""Which ranking flips decisions with fewer items? From the frame of `removal` (Serrano & Smith 2019, section 5)."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import polars as pl

from heedful.errors import BadInput, unknown_name
from heedful.experiments.experiment import check_frame
from heedful.experiments.rankings import ORDERINGS, RANKINGS
from heedful.experiments.single_weight import flip_table
from heedful.experiments.summary import SIGNIFICANT, estimates, interval_kinds
from heedful.measures import holm, sign_test
from heedful.ragged import Floats

_MEANS = ("fraction", "fraction_all", "mass", "mass_all", "excess", "optimal")
_SCORE_KINDS = dict.fromkeys((f"{mean}{end}" for mean in _MEANS for end in ("", "_low", "_high", "_std")), pl.Float64)
_WIN_KINDS: dict[str, type[pl.DataType]] = {
    **dict.fromkeys(("first", "second"), pl.String),
    **dict.fromkeys(("n", "first_wins", "second_wins", "ties", "neither"), pl.Int64),
    **dict.fromkeys(("share", "low", "high"), pl.Float64),
    **interval_kinds(["first_all", "second_all"]),
    "p_value": pl.Float64,
}
_SINGLE = "zeroing the top item's attention alone mostly flips no decision"
_SOONER = {  # the ranking that should win, its rival, and the claim
    ("gradient", "attention"): "zeroing in gradient order flips decisions sooner than in attention order",
    (
        "gradient_attention",
        "attention",
    ): "zeroing in gradient x attention order flips decisions sooner than in attention order",
    ("attention", "random"): "zeroing in attention order flips decisions sooner than in random order",
}


def removal_scores(frame: pl.DataFrame, *, seed: int = 0, draws: int = 2000) -> pl.DataFrame:
    """From the frame of `removal`, one row a ranking, over the `n` instances with several items.

    `never`, how many decisions never change; `fraction` and `mass`, means over those that do, with `_std` (of the
    population); `fraction_all` and `mass_all`, means over all, with everything removed where the decision never
    changes; `excess`, the mean number of items more than necessary, and `optimal`, how often that is none. 95 %
    bootstrap intervals: `<mean>_low`, `<mean>_high` (null without draws). `random` averages over all its orders.
    """
    check_frame(frame, "removal", ["items", "confidence"])
    several, names = frame.filter(pl.col("items") > 1), rankings_in(frame)
    values = {name: _values(several, name) for name in names}  # (n,) each, NaN where undefined
    figures = {f"{name} {mean}": values[name][mean] for name in names for mean in _MEANS}
    found = estimates(pl.DataFrame(figures), seed=seed, draws=draws)
    rows = []
    for name in names:
        row: dict[str, object] = {"ranking": name, "n": len(several), "never": float(values[name]["never"].sum())}
        for mean in _MEANS:
            estimate = found[f"{name} {mean}"]
            row[mean] = estimate.mean
            if mean in ("fraction", "mass"):
                row[f"{mean}_std"] = estimate.std
            row |= estimate.columns(mean)
        rows.append(row)
    return pl.DataFrame(rows, schema_overrides=_SCORE_KINDS)


def removal_wins(
    frame: pl.DataFrame, *, only: pl.Series | Sequence[bool] | None = None, seed: int = 0, draws: int = 2000
) -> pl.DataFrame:
    """From the frame of `removal`, one row for each two rankings, over the instances with several items.

    A ranking wins (`first_wins`, `second_wins`) if it needs fewer items, or changes a decision that the other never
    changes; instances where `neither` does are not compared. `share`: the `first` ranking's wins in the `n` compared
    instances, with its bootstrap interval `low`, `high` (null without draws); `first_all` and `second_all`: each one's
    wins in all instances, as in the paper, with `first_all_low` and so on. `p_value` is that of an exact sign test,
    `p_holm` corrected for all rows. `random` is its first order; `optimal` never loses, and is left out.

    `only` picks instances: one truth value a row of the frame.
    """
    check_frame(frame, "removal", ["items"])
    taken = frame.filter((pl.col("items") > 1) & _picked(frame, only))
    names = [name for name in ORDERINGS if f"{name}_count" in frame.columns]
    needed = taken.select(pl.col(f"{name}_count").cast(pl.Float64).fill_null(np.inf).alias(name) for name in names)
    pairs = list(combinations(names, 2))
    shares = [value.alias(f"{'/'.join(pair)} {name}") for pair in pairs for name, value in _shares(*pair).items()]
    found = estimates(needed.select(shares), seed=seed, draws=draws)
    rows = []
    for first, second in pairs:
        pair = needed.select(first, second).to_numpy()  # (n, 2)
        compared = pair[np.isfinite(pair).any(axis=1)]
        tested = sign_test(compared[:, 0], compared[:, 1])
        wins = {"first_wins": tested.lower, "second_wins": tested.higher, "ties": tested.ties}
        row = {"first": first, "second": second, "n": len(compared), **wins, "neither": len(needed) - len(compared)}
        share = found[f"{first}/{second} share"]
        row |= {"share": share.mean, "low": share.low, "high": share.high, "p_value": tested.p_value}
        for name in ("first_all", "second_all"):
            row |= found[f"{first}/{second} {name}"].columns(name)
        rows.append(row)
    table = pl.DataFrame(rows, schema=_WIN_KINDS)
    return table.with_columns(pl.Series("p_holm", holm(table["p_value"].to_numpy()), dtype=pl.Float64))


def never_flipped(frame: pl.DataFrame, *, ranking: str = "attention") -> pl.DataFrame:
    """From the frame of `removal`, one row a decided class and one for all (`decision` null), over instances with
    several items: `n`, how many `never` change in the order of a ranking, as a `share`; `default`, the share of these
    decided as with nothing attended to (it can be no other); and the mean `confidence` and `entropy` of the output of
    these and of the others: `<figure>_never`, `<figure>_rest`."""
    check_frame(frame, "removal", ["items", "confidence"])
    count = f"{ranking}_count"
    if count not in frame.columns:
        raise unknown_name("ranking", ranking, [name for name in RANKINGS if f"{name}_count" in frame.columns])
    never = pl.col(count).is_null()
    figures = [
        pl.len().cast(pl.Int64).alias("n"),
        never.sum().cast(pl.Int64).alias("never"),
        never.mean().alias("share"),
        pl.col("default").filter(never).mean().alias("default"),
        *(
            pl.col(figure).filter(of).mean().alias(f"{figure}_{name}")
            for figure in ("confidence", "entropy")
            for name, of in (("never", never), ("rest", ~never))
        ),
    ]
    several = frame.filter(pl.col("items") > 1)
    overall = several.select(pl.lit(None, dtype=pl.Int32).alias("decision"), *figures)
    return pl.concat([overall, several.group_by("decision").agg(figures).sort("decision")])


def claims(single: pl.DataFrame | None, removed: pl.DataFrame | None, *, only: pl.Series | None = None) -> pl.DataFrame:
    """From the frames of `single_weight` and `removal` (None: not performed), one row a `claim`: the `share` of
    the `n` instances that speaks for it, the one that speaks `against` it, and whether it `holds`.

    Which ranking needs fewer items is decided by a sign test, Holm-corrected over all pairs of rankings; `holds` is
    null where that is not significant (p > 0.05) or nothing is known. `only` is as in `removal_wins`.
    """
    rows: list[tuple[str, int, float | None, float | None, bool | None]] = []
    if single is not None:
        flips = flip_table(single, draws=0).filter((pl.col("ranking") == "attention") & (pl.col("rival") == "expected"))
        changed = flips.select(pl.col("both") + pl.col("top_only")).item()
        shares = (None, None, None) if changed is None else (1 - changed, changed, changed < 0.5)
        rows.append((_SINGLE, flips["n"].item(), *shares))
    if removed is not None:
        wins = removal_wins(removed, only=only, draws=0)
        rows += [(claim, *_sooner(wins, *pair)) for pair, claim in _SOONER.items()]
    kinds = {"claim": pl.String, "n": pl.Int64, "share": pl.Float64, "against": pl.Float64, "holds": pl.Boolean}
    return pl.DataFrame(rows, schema=kinds, orient="row")


def rankings_in(frame: pl.DataFrame) -> list[str]:
    """The rankings of a frame; `optimal` only if it is known of some instance."""
    names = [name for name in RANKINGS if f"{name}_count" in frame.columns]
    return [name for name in names if name != "optimal" or not frame["optimal_count"].is_null().all()]


def _values(several: pl.DataFrame, name: str) -> dict[str, Floats]:
    """Each figure of each instance; of a random ranking, the mean over its orders."""
    counts, masses = (_table(several, name, figure) for figure in ("count", "mass"))  # (n, R)
    items, never = several["items"].to_numpy()[:, None], np.isnan(counts)
    fractions = counts / items
    least = _table(several, "optimal", "count") if "optimal_count" in several.columns else np.nan * counts[:, :1]
    excess = np.where(np.isnan(least), np.nan, counts - least)
    return {
        "never": never.mean(axis=1),
        "fraction": _mean(fractions),
        "fraction_all": np.where(never, 1.0, fractions).mean(axis=1),
        "mass": _mean(masses),
        "mass_all": np.where(never, 1.0, masses).mean(axis=1),
        "excess": _mean(excess),
        # an order that never changes a decision that a smaller set does change is not optimal
        "optimal": _mean(np.where(np.isnan(least), np.nan, (counts == least).astype(np.float64))),
    }


def _table(several: pl.DataFrame, name: str, figure: str) -> Floats:
    """Values (n, R) of a ranking, R = 1 but for a random one; NaN for null."""
    if name == "random":
        lists = several["random_counts" if figure == "count" else "random_masses"]
        width = int(lists.list.len().max() or 1)  # type: ignore[arg-type]
        return lists.explode().cast(pl.Float64).fill_null(np.nan).to_numpy().reshape(len(several), width)
    return several[f"{name}_{figure}"].cast(pl.Float64).fill_null(np.nan).to_numpy()[:, None]


def _mean(values: Floats) -> Floats:
    """Of the defined values of each row, (n,); NaN where there are none."""
    defined = ~np.isnan(values)
    total = np.where(defined, values, 0.0).sum(axis=1)
    mean = np.divide(total, defined.sum(axis=1), out=np.full(len(values), np.nan), where=defined.any(axis=1))
    return np.asarray(mean)


def _shares(first: str, second: str) -> dict[str, pl.Expr]:
    """What each share is the mean of."""
    one, other = pl.col(first), pl.col(second)
    share = pl.when(one.is_finite() | other.is_finite()).then(one < other)
    return {"share": share, "first_all": one < other, "second_all": other < one}


def _picked(frame: pl.DataFrame, only: pl.Series | Sequence[bool] | None) -> pl.Series:
    if only is None:
        return pl.repeat(True, len(frame), eager=True)
    only = pl.Series(only)
    if only.dtype != pl.Boolean or len(only) != len(frame):
        raise BadInput(
            f"only: {len(only):,} values of {only.dtype} were given for {len(frame):,} instances; give one truth value "
            "an instance, in the frame's order"
        )
    return only.fill_null(value=False)


def _sooner(wins: pl.DataFrame, winner: str, loser: str) -> tuple[int, float | None, float | None, bool | None]:
    """Of how many instances of several items; how often each of the two wins; whether that is more than chance."""
    pair = wins.filter(pl.col("first").is_in([winner, loser]) & pl.col("second").is_in([winner, loser]))
    if not len(pair):
        return 0, None, None, None
    row = pair.row(0, named=True)
    ours, theirs = ("first", "second") if row["first"] == winner else ("second", "first")
    total, share, against = row["n"] + row["neither"], row[f"{ours}_all"], row[f"{theirs}_all"]
    return total, share, against, share > against if total and row["p_holm"] <= SIGNIFICANT else None
