"""What the report's ledger measures beyond the basic measures."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...fairness import Reference, do_no_harm, p1, p2, tcp_fairness
from ...fairness.references import limits
from ...result import Result
from ...statistics import interval
from ..laboratory import Laboratory, NotRun
from ..library import Cell, Floats, Link, Metric, Users, measure, signed_percent
from . import figures, nodes, replays, rules, series  # noqa: F401

Points = Mapping[str, Floats]
"""Values for each seed by the name of an algorithm, shape (seeds,) each."""


@measure
def per_path(lab: Laboratory, cell: Cell, users: Users, metric: Metric) -> Floats:
    """A metric of the paths of a class, shape (seeds, users, paths)."""
    result = lab[cell]
    (own,) = (c for c in result.plan.classes if c.name == users)
    columns = [result.path(users, number, metric) for number in range(len(own.paths))]
    return np.stack(columns, axis=-1)


@measure
def parts(lab: Laboratory, cell: Cell, users: Users, metric: Metric) -> list[Floats]:
    """Each path's part of the sum over the paths of a user, mean over the users of a class."""
    values = per_path(lab, cell, users, metric)
    return list((values / values.sum(axis=-1, keepdims=True)).mean(axis=1).T)


@measure
def paired(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """The same two if they have as many seeds; a row of a table is left out if not."""
    if len(first) != len(second):
        raise NotRun("values of other seeds")
    return first, second


@measure
def relative(first: Floats, second: Floats) -> Floats:
    """The first less the second, seed by seed, as a part of the second one's mean."""
    first, second = paired(first, second)
    by = float(np.mean(second))
    return np.asarray(first / by - second / by)


@measure
def known_relative(first: Floats, second: Floats) -> str:
    """The same in percent, where both are known; a dash where fewer than two seeds are."""
    first, second = paired(first, second)
    known = np.isfinite(first) & np.isfinite(second)
    return signed_percent(relative(first[known], second[known])) if known.sum() > 1 else "–"


def _ordered(by: Points) -> list[str]:
    return sorted(by, key=lambda name: -float(np.mean(by[name])))


@measure
def listed(by: Points, unit: str = "") -> str:
    """Means in words, the largest first."""
    return ", ".join(f"{name} {interval(by[name])}{unit}" for name in _ordered(by))


@measure
def compared(by: Points, name: str) -> str:
    """Relative difference to each other algorithm, in words."""
    rows = (f"{o} {signed_percent(relative(by[name], by[o]))}" for o in _ordered(by) if o != name)
    return f"{name}, seed by seed, over " + ", ".join(rows)


def _reference(in_place: Result, without: Result, link: str) -> Reference:
    """Rate of a TCP in place of the connection on either path, and unused capacity without it (Tse
    2006, §1.3).
    """
    whole = in_place.rates_bps[link]
    spare = whole * np.maximum(1 - without.link(link, "utilisation"), 0.0)
    alone = in_place.rate("multipath")
    tcp = np.maximum(alone, spare)
    return Reference(
        "multipath",
        (link, link),
        np.array([tcp, tcp]),
        {link: spare},
        {link: float(whole)},
        np.array([alone, alone]),
        {link: spare * ~limits(without, link)},
    )


@measure
def fairness(
    lab: Laboratory, cell: Cell, in_place: Cell, without: Cell, link: Link
) -> dict[str, bool]:
    """P1, P2, design goal 2 and both definitions of fairness, by means over the seeds.

    P1 compares with a TCP in place of the connection; P2 with half of the link for each.
    """
    lab = lab.paired((cell, in_place, without))
    result, before = lab[cell], lab[in_place]
    own, theirs = (float(result.rate(name).mean()) for name in ("multipath", "tcp"))
    own_before, theirs_before = (float(before.rate(name).mean()) for name in ("multipath", "tcp"))
    twin = _reference(before, lab[without], link)
    fair = tcp_fairness(result, twin)
    half = twin.capacities_bps[link] / 2
    return {
        "P1": p1(theirs_before, theirs, own_before, own),
        "P2": p2(own, theirs, half, half),
        "goal 2": do_no_harm([own], [own_before]),
        "lenient": fair.lenient,
        "stringent": fair.stringent,
    }
