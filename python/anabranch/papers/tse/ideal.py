"""Section 2.2: Multi-Priority TCP over a perfect background protocol. Queues with strict priorities
keep the packets of its background flow from all others.
"""

from __future__ import annotations

import numpy as np

from ...statistics import interval
from ..findings import Finding, finding
from ..laboratory import Laboratory
from ..ledger import Claim
from .configurations import (
    BOTH,
    HETERO,
    at,
    ideal,
    with_ideal_background,
    without_background,
    without_ensemble,
)
from .paper import PAPER
from .reading import READINGS, Floats, everywhere, on_path, taken, unused

MARGIN = 1.02
"""The ledger's 2 %."""


def most(lab: Laboratory, what: str, value: float, spare: dict[str, Floats]) -> Floats:
    """The bound of eq. 1.4 in Mb/s, from the spare capacity of each path."""
    tcp = {path: taken(lab, without_background(what, value, path)) for path in BOTH}
    base = {path: np.maximum(tcp[path], spare[path]) for path in BOTH}
    return np.asarray(
        np.maximum(base["first"] + spare["second"], base["second"] + spare["first"]), dtype=float
    )


@PAPER.claim(
    "theory.multi_priority_stringent",
    *dict.fromkeys(name for what, value in HETERO for name in ideal(what, value)),
)
def ideal_background(claim: Claim, lab: Laboratory) -> Finding:
    """A TCP on one path and, on the other, a TCP that strict priority keeps from all others."""
    totals: dict[str, dict[str, Floats]] = {reading: {} for reading in READINGS}
    beside: dict[str, Floats] = {}
    used: dict[str, Floats] = {}
    for what, value in HETERO:
        nobody = without_ensemble(what, value)
        bounds = {
            reading: most(
                lab, what, value, {path: unused(lab, nobody, path, reading) for path in BOTH}
            )
            for reading in READINGS
        }
        for base, other in (BOTH, BOTH[::-1]):
            name = with_ideal_background(what, value, base)
            where = f"{at(what, value)}, base on {base}"
            for reading, bound in bounds.items():
                totals[reading][where] = taken(lab, name) / bound
            tcp = f"tcp-on-{other}"
            beside[where] = lab[name].rate(tcp) / lab[nobody].rate(tcp)
            used[where] = on_path(lab, name, 1) / 1e6
    checks = [
        everywhere("total over the bound of eq. 1.4", "at most 1", totals["unused"], None, MARGIN)
    ]
    harmed = min(beside, key=lambda where: float(beside[where].mean()))
    strict = max(totals["elsewhere"], key=lambda where: float(totals["elsewhere"][where].mean()))
    taker = max(used, key=lambda where: float(used[where].mean()))
    why = (
        "Both links have a queue with strict priorities, and the background flow is a TCP whose packets are of lower effort; "
        f"{len(HETERO)} settings of Figures 4-6 to 4-8, with the base flow on either path. The background flow takes most "
        f"at {taker}: {interval(used[taker])} Mb/s. The TCP beside it has what it has without it: the farthest below is "
        f"{interval(beside[harmed])} of that, at {harmed}. Where only what flows leave that are limited elsewhere counts "
        f"as spare, the total is up to {interval(totals['elsewhere'][strict])} of the bound, at {strict}: a background flow "
        "takes what a TCP under random loss leaves, and that reading calls none of it spare."
    )
    return finding(claim, lab.world.name, checks, why)
