"""Quantities that claims read from configurations: shares, totals, and the two definitions of
fairness; one value for each seed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...fairness import Fairness, Spare, ensemble_fairness
from ...fairness.references import limits
from ...statistics import Interval, Verdict, interval, judge, paired, worst
from ..findings import Check, holds
from ..laboratory import Laboratory

Floats = NDArray[np.float64]
ENSEMBLE = "ensemble"

Points = Mapping[str, Floats]
"""Values of a curve, by the point's name."""


def exact(value: float) -> Interval:
    """A number without spread."""
    return Interval(float(value), 0.0, 1)


def taken(lab: Laboratory, configuration: str) -> Floats:
    """Rate of the ensemble, in Mb/s."""
    return lab[configuration].rate(ENSEMBLE) / 1e6


def others(lab: Laboratory, configuration: str) -> Floats:
    """Rate of all competing TCPs, in Mb/s."""
    result = lab[configuration]
    names = [name for name in result.classes if name != ENSEMBLE]
    total = np.zeros(len(result.runs))
    for name in names:
        total += result.users(name).sum(axis=1) / 1e6
    return total


def carried(lab: Laboratory, configuration: str) -> Floats:
    """Rate of all flows together, in Mb/s."""
    return taken(lab, configuration) + others(lab, configuration)


def share(lab: Laboratory, configuration: str) -> Floats:
    """The ensemble's part of all traffic."""
    return taken(lab, configuration) / carried(lab, configuration)


def on_path(
    lab: Laboratory, configuration: str, path: int, metric: str = "throughput_bps"
) -> Floats:
    """A metric of one of the ensemble's paths."""
    return np.asarray(lab[configuration].path(ENSEMBLE, path, metric)[:, 0])


def used(lab: Laboratory, configuration: str, *links: str) -> Floats:
    """The part of the capacity of some links that all flows use."""
    result = lab[configuration]
    total = sum(result.link(link, "throughput_bps") for link in links)
    return np.asarray(total / sum(result.rates_bps[link] for link in links), dtype=float)


def links_of(lab: Laboratory, configuration: str) -> tuple[str, ...]:
    """The link of each of the ensemble's paths."""
    plan = lab[configuration].plan
    (group,) = (c for c in plan.classes if c.name == ENSEMBLE)
    return tuple(plan.links[path.links[0]].name for path in group.paths)


def compared(
    lab: Laboratory,
    configuration: str,
    tcp_mbps: Mapping[str, Floats],
    spare_mbps: Mapping[str, Floats],
    spare: Spare = "unused",
) -> Fairness:
    """Both definitions for a configuration, with the rate of a TCP on each link in its place and
    the unused capacity there.

    Fair shares are those of an idealised TCP (footnote 1): it takes at least the free capacity. A
    real TCP that halves its window or loses packets at random does not.
    """
    links = links_of(lab, configuration)
    plan = lab[configuration].plan
    capacity = {link.name: link.rate_bps for link in plan.links if link.rate_bps}
    rates = [float(on_path(lab, configuration, p).mean()) for p in range(len(links))]
    return ensemble_fairness(
        rates,
        links,
        [float(1e6 * np.maximum(tcp_mbps[link], spare_mbps[link]).mean()) for link in links],
        {link: float(1e6 * spare_mbps[link].mean()) for link in links},
        {link: float(capacity[link]) for link in links},
        reading=spare,
    )


READINGS: tuple[Spare, ...] = ("unused", "elsewhere")


def stringent_by_both(unused: Sequence[Fairness], elsewhere: Sequence[Fairness]) -> list[Check]:
    """Checks that all of some configurations are stringent, for either reading of spare
    capacity.
    """
    return [
        holds(f"stringent predicate, {what}", "holds", all(f.stringent for f in found))
        for what, found in (
            ("where all that is unused is spare", unused),
            ("where only what flows leave that are limited elsewhere is spare", elsewhere),
        )
    ]


def unused(lab: Laboratory, configuration: str, link: str, spare: Spare = "unused") -> Floats:
    """Unused capacity of a link, in Mb/s; zero by the reading "elsewhere" if the link limits a
    flow.
    """
    (rate,) = (one.rate_bps for one in lab[configuration].plan.links if one.name == link)
    free = np.maximum(1 - lab[configuration].link(link, "utilisation"), 0.0)
    counts = True if spare == "unused" else ~limits(lab[configuration], link)
    return np.asarray(free * rate / 1e6 * counts)


_BADNESS: dict[Verdict, int] = {"reproduced": 0, "not_run": 1, "undecided": 2, "not_reproduced": 3}


def everywhere(
    name: str, published: Any, points: Points, low: float | None, high: float | None
) -> Check:
    """Checks a band at every point of a curve; shows the deciding point."""
    found = {where: interval(values) for where, values in points.items()}
    verdicts = {where: judge(value, low, high) for where, value in found.items()}

    def distance(where: str) -> tuple[int, float]:
        value, (bottom, top) = found[where], (low, high)
        gaps = [gap for gap in (_gap(bottom, value.low, 1), _gap(top, value.high, -1)) if gap]
        return _BADNESS[verdicts[where]], max((-gap for gap in gaps), default=0.0)

    decides = max(found, key=distance)
    most = "farthest" if len(found) > 1 else "only"
    return Check(
        f"{name} (at every point, {most}: {decides})",
        published,
        found[decides],
        (low, high),
        worst(list(verdicts.values())),
    )


def _gap(edge: float | None, end: float, sign: int) -> float | None:
    """Distance of an end inside an edge; None if the band is open there."""
    return None if edge is None else sign * (end - edge) or 1e-12


def swing(points: Points) -> Interval:
    """The largest mean of a curve less the smallest, as a paired difference."""
    top = max(points, key=lambda where: float(points[where].mean()))
    bottom = min(points, key=lambda where: float(points[where].mean()))
    return paired(points[top], points[bottom])


def rank(x: Sequence[float], points: Sequence[Floats]) -> Interval:
    """Spearman's coefficient of the means of a curve over its parameter."""
    from scipy.stats import spearmanr

    return exact(float(spearmanr(x, [float(np.mean(values)) for values in points])[0]))


def paths(n: int) -> str:
    """A number of paths in words."""
    return f"{n} path{'s' if n > 1 else ''}"


def listed(points: Points) -> str:
    """Values of a curve in words."""
    return ", ".join(f"{where}: {interval(values)}" for where, values in points.items())
