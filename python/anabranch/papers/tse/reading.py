"""Quantities of the thesis' networks: rates of all flows together, capacity that is left, and the
two definitions of fairness for a cell.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ... import theory
from ...fairness import Fairness, Spare, ensemble_fairness
from ...fairness.references import limits
from ..laboratory import Laboratory
from ..library import Cell, Floats, Link, Values, measure

ENSEMBLE = "ensemble"
"""The class of the thesis' scenarios that has several paths."""


@measure
def unused(lab: Laboratory, cell: Cell, link: Link, reading: Spare) -> Floats:
    """Unused capacity of a link, in Mb/s; zero by the reading "elsewhere" if the link limits a
    flow.
    """
    result = lab[cell]
    free = np.maximum(1 - result.link(link, "utilisation"), 0.0)
    counts = True if reading == "unused" else ~limits(result, link)
    return np.asarray(free * result.rates_bps[link] / 1e6 * counts)


@measure
def compared(
    lab: Laboratory,
    cell: Cell,
    links: Sequence[str],
    tcp_mbps: Sequence[Values],
    spare_mbps: Sequence[Values],
    reading: Spare,
    margin: float,
) -> Fairness:
    """Both definitions (eq. 1.2 and 1.4) for a cell's ensemble, with the rate of a TCP on each link
    in its place and the unused capacity there, by a reading of spare capacity; means over seeds.

    Fair shares are those of an idealised TCP (footnote 1): it takes at least the free capacity. A
    real TCP that halves its window or loses packets at random does not.
    """
    result = lab[cell]
    (group,) = (one for one in result.plan.classes if one.name == ENSEMBLE)
    own = [result.plan.links[path.links[0]].name for path in group.paths]
    rates = [
        float(result.path(ENSEMBLE, number, "throughput_bps").mean()) for number in range(len(own))
    ]
    tcp, spare = (dict(zip(links, values, strict=True)) for values in (tcp_mbps, spare_mbps))
    return ensemble_fairness(
        rates,
        own,
        [float(1e6 * np.maximum(tcp[link], spare[link]).mean()) for link in own],
        {link: float(1e6 * np.mean(spare[link])) for link in own},
        {link: float(result.rates_bps[link]) for link in own},
        margin=margin,
        reading=reading,
    )


pftk_rate_bps = measure(theory.pftk_approximate_rate_bps)
"""Rate of a TCP by PFTK's approximation (eq. 2.1)."""
