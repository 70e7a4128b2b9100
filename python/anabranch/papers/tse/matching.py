"""References of configurations: TCPs in place of the ensemble, and the network without it.
Configurations share them.
"""

from __future__ import annotations

import numpy as np

from ...fairness import Fairness, Spare
from ..laboratory import Laboratory
from .configurations import BOTH, MBPS, WITHOUT, in_place, on_two_paths
from .reading import Floats, compared, links_of, taken, unused

SINGLE_LINKS = ("shared-red-5-reno-1", "shared-red-5-without", "shared-red-5-alone")
"""A TCP in place of the ensemble with a competing TCP, the competing TCP alone, a TCP alone."""

Rates = dict[str, Floats]


def twin_names(what: str, value: float) -> tuple[str, ...]:
    """The configurations that a setting of two paths is compared with."""
    return (*(in_place(what, value, path) for path in BOTH), on_two_paths(WITHOUT, what, value))


def two_path_rates(
    lab: Laboratory, what: str, value: float, spare: Spare = "unused"
) -> tuple[Rates, Rates]:
    """Rate of a TCP on either of two paths in place of the ensemble, and unused capacity without
    it; Mb/s.
    """
    tcp = {path: taken(lab, in_place(what, value, path)) for path in BOTH}
    nobody = on_two_paths(WITHOUT, what, value)
    return tcp, {path: unused(lab, nobody, path, spare) for path in BOTH}


def against_twins(
    lab: Laboratory, configuration: str, what: str, value: float, spare: Spare = "unused"
) -> Fairness:
    """Both definitions for a configuration of two paths."""
    return compared(lab, configuration, *two_path_rates(lab, what, value, spare), spare)


def against_links(
    lab: Laboratory, configuration: str, contested: int, spare: Spare = "unused"
) -> Fairness:
    """Both definitions for a configuration with equal, disjoint links; the first `contested` links
    of the ensemble carry a TCP. So runs with one link give the rates for each.
    """
    beside, nobody, alone = SINGLE_LINKS
    links = tuple(dict.fromkeys(links_of(lab, configuration)))
    busy = set(links[:contested])
    free = np.full(len(lab[configuration].runs), MBPS)
    tcp = {link: taken(lab, beside if link in busy else alone) for link in links}
    left = unused(lab, nobody, "bottleneck", spare)
    return compared(
        lab, configuration, tcp, {link: left if link in busy else free for link in links}, spare
    )


def against_worst(
    lab: Laboratory, configuration: str, mbps: float, spare: Spare = "unused"
) -> Fairness:
    """Both definitions for a configuration of Figure 4-10."""
    name = f"worst-{mbps:g}"
    tcp = {link: taken(lab, f"{name}-tcp-on-{link}") for link in ("empty", "contested")}
    nobody = f"{name}-without"
    free = {link: unused(lab, nobody, link, spare) for link in tcp}
    return compared(lab, configuration, tcp, free, spare)
