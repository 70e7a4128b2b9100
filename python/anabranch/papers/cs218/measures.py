"""What the report's ledger measures beyond the basic measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...fairness import Reference, do_no_harm, p1, p2, tcp_fairness
from ...fairness.references import limits
from ...result import Result
from ...statistics import interval
from ..judging import Nothing
from ..laboratory import Laboratory, NotRun
from ..library import Cell, Floats, Link, Metric, Users, measure, signed_percent
from . import figures, nodes, replays, rules, series  # noqa: F401
from .series import HOW

Points = Mapping[str, Floats]
"""Values for each seed by the name of an algorithm, shape (seeds,) each."""


def _per_path(result: Result, users: str, metric: str) -> Floats:
    """A path metric of a class, shape (seeds, users, paths)."""
    (planned,) = (c for c in result.plan.classes if c.name == users)
    columns = [result.path(users, number, metric) for number in range(len(planned.paths))]
    return np.stack(columns, axis=-1)


@measure
def over_paths(
    lab: Laboratory, cell: Cell, users: Users, metric: Metric, how: str = "mean"
) -> Floats:
    """A metric of all paths of all users of a class, reduced as `HOW` says."""
    values = _per_path(lab[cell], users, metric)
    return np.asarray(HOW[how](values.reshape(len(values), -1), axis=1), dtype=float)


@measure
def parts(lab: Laboratory, cell: Cell, users: Users, metric: Metric) -> list[Floats]:
    """Each path's part of the sum over the paths of a user, mean over the users of a class."""
    values = _per_path(lab[cell], users, metric)
    return list((values / values.sum(axis=-1, keepdims=True)).mean(axis=1).T)


@measure
def idle(lab: Laboratory, cell: Cell, classes: Sequence[str]) -> Floats:
    """Number of paths of some classes without deliveries."""
    rates = [_per_path(lab[cell], users, "throughput_bps") for users in classes]
    return np.asarray(sum((each == 0).sum(axis=(1, 2)) for each in rates), dtype=float)


@measure
def class_rtt_ms(lab: Laboratory, cell: Cell, users: Users) -> Floats:
    """Round trip of a class in ms: mean over users and samples of the newest one."""
    index = lab[cell].classes.index(users)
    return np.array([1e3 * run.classes.rtt_mean_s[index] for run in lab[cell].runs])


@measure
def sent_mbps(lab: Laboratory, cell: Cell, users: Users) -> Floats:
    """All packets that a class of one user sent in the run, as a rate in Mb/s."""
    plan = lab[cell].plan
    (own,) = (c for c in plan.classes if c.name == users)
    packets = _per_path(lab[cell], users, "sent_packets").sum(axis=(1, 2))
    return np.asarray(8e-6 * own.packet_bytes / plan.duration_s * packets)


@measure
def has_run(lab: Laboratory, cells: Sequence[Cell]) -> bool:
    """Whether all of some cells have been run."""
    return all(cell in lab.results for cell in cells)


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


@measure
def nothing(why: str) -> Nothing:
    """There is nothing to judge."""
    return Nothing(why)


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
