"""The two definitions of multipath TCP-fairness, over rates of any world (Tse 2006, §1.3).

*Lenient* (Definition 1, eq. 1.2 and 1.3): on each link the ensemble takes at most the rate of one
TCP. *Stringent* (Definition 2, eq. 1.4): the ensemble is lenient, and its total is at most one
TCP's share on its best path plus the unused capacity of its other paths, `M ≤ max_p (T_p + Σ_{q≠p}
S_q)`. The thesis prints `arg max` and `M_p` where `max` and the share of a TCP are meant.

`S_q` has two readings, and both are computed. *unused* is all capacity that is free without the
ensemble, including the capacity that one TCP leaves free by halving its window. *elsewhere* is the
thesis' wording, capacity "available because all flows using the links of p are bottlenecked
elsewhere": the unused capacity of a link that neither drops, marks nor loses a packet without the
ensemble. Other links have none.

Links are the bottlenecks of the paths: on a link that does not limit any of them, flows over
several bottlenecks may add up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

Spare = Literal["unused", "elsewhere"]
"""The two readings of spare capacity."""


@dataclass(frozen=True)
class OnLink:
    """Rate of an ensemble on one bottleneck, and the rate of a TCP there."""

    link: str
    ensemble_bps: float
    tcp_bps: float
    capacity_bps: float

    @property
    def excess(self) -> float:
        """Excess over a TCP's rate as a fraction of the link's capacity; negative if below."""
        return (self.ensemble_bps - self.tcp_bps) / self.capacity_bps


@dataclass(frozen=True)
class Fairness:
    """Whether an ensemble is TCP-fair: both definitions, with the figures that decide."""

    links: tuple[OnLink, ...]
    total_bps: float
    bound_bps: float
    """Right side of eq. 1.4."""
    best_path: int
    """The path `p` of that maximum."""
    margin: float
    spare: Spare = "unused"
    """The reading of spare capacity that this rests on."""

    @property
    def violated(self) -> tuple[str, ...]:
        """Bottlenecks on which the ensemble exceeds a TCP's rate by more than the margin."""
        return tuple(link.link for link in self.links if link.excess > self.margin)

    @property
    def lenient(self) -> bool:
        """Definition 1."""
        return not self.violated

    @property
    def excess(self) -> float:
        """Excess over the bound of eq. 1.4 as a fraction of the bound; negative if below."""
        return excess(self.total_bps, self.bound_bps)

    @property
    def stringent(self) -> bool:
        """Definition 2, which includes Definition 1."""
        return self.lenient and self.excess <= self.margin

    def to_json(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {
            "lenient": self.lenient,
            "stringent": self.stringent,
            "violated": list(self.violated),
            "total_bps": self.total_bps,
            "bound_bps": self.bound_bps,
            "excess": self.excess,
            "best_path": self.best_path,
            "spare": self.spare,
            "links": [asdict(link) | {"excess": link.excess} for link in self.links],
        }


def excess(rate: float, bound: float) -> float:
    """`rate / bound − 1`; of nothing that is allowed, anything is infinitely too much."""
    if bound > 0:
        return rate / bound - 1
    return float("inf") if rate > 0 else 0.0


def ensemble_fairness(
    path_rates: Sequence[float],
    bottlenecks: Sequence[str],
    tcp_rates: Sequence[float],
    spare: Mapping[str, float],
    capacities: Mapping[str, float],
    *,
    margin: float = 0.05,
    reading: Spare = "unused",
) -> Fairness:
    """Both definitions for an ensemble with one rate, bottleneck and rate of a TCP for each path,
    in bit/s.

    `tcp_rates[p]` is the rate of one TCP on path `p` in place of the ensemble. `spare[l]` is the
    capacity of bottleneck `l` that is unused without the ensemble, by the `reading` that the result
    names. `margin` is a fraction of a link's capacity in Definition 1, and of the bound in
    Definition 2. Paths that share a bottleneck are one path to eq. 1.4: its spare capacity counts
    once, and does not count if the TCP is on that path.

    Raises ValueError if there is no path, lengths differ, a rate is negative or unknown, the margin
    is not from 0 to 1, or a bottleneck has no spare capacity (which may be zero) or no capacity.
    """
    counts = {len(path_rates), len(bottlenecks), len(tcp_rates)}
    if counts == {0} or len(counts) > 1:
        raise ValueError(
            f"{len(path_rates)} rates, {len(bottlenecks)} bottlenecks and {len(tcp_rates)} rates of TCP; "
            "give one of each for every path"
        )
    if missing := sorted(set(bottlenecks) - set(spare)):
        raise ValueError(
            f"there is no spare capacity of {', '.join(missing)}; zero if there is none"
        )
    if missing := sorted(link for link in set(bottlenecks) if not capacities.get(link, 0) > 0):
        raise ValueError(f"there is no capacity of {', '.join(missing)}; a bottleneck has one")
    for rate in (*path_rates, *tcp_rates, *spare.values()):
        if not 0 <= rate < math.inf:
            raise ValueError(f"{rate} bit/s is no rate; rates and spare capacities are at least 0")
    if not 0 <= margin <= 1:
        raise ValueError(f"the margin is {margin}; it is a part, from 0 to 1")
    paths = range(len(path_rates))
    links = tuple(
        OnLink(
            link,
            sum(path_rates[p] for p in paths if bottlenecks[p] == link),
            max(tcp_rates[p] for p in paths if bottlenecks[p] == link),
            capacities[link],
        )
        for link in dict.fromkeys(bottlenecks)
    )
    distinct = tuple(dict.fromkeys(bottlenecks))
    elsewhere = {
        link: sum(spare[other] for other in distinct if other != link) for link in distinct
    }
    bound, best = max((tcp_rates[p] + elsewhere[bottlenecks[p]], -p) for p in paths)
    return Fairness(links, float(sum(path_rates)), bound, -best, margin, reading)
