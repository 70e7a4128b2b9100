"""Figures 4-4 and 4-5: sixteen links of their own, empty at first and then with more and
more TCPs.
"""

from __future__ import annotations

import numpy as np

from ...statistics import interval, paired
from ..findings import Bound, Finding, finding, hold_together, holds, measured, within
from ..laboratory import Laboratory
from ..ledger import Claim
from . import open_choices, reasons
from .configurations import BILEVEL, CONTESTED, FRACTION, MBPS, MOST, PACKET_BITS, PATHS, TCP
from .definitions import optimal_units
from .matching import SINGLE_LINKS, against_links
from .paper import BASE, DISCOUNTING, HACKER, PAPER, independent_name, later
from .reading import READINGS, Floats, everywhere, links_of, listed, on_path, paths, taken

UNIT_MBPS = MBPS / 2
"""A fair share: half a path, 1/32 of the network."""


def scaling(lab: Laboratory, controller: str) -> dict[int, Floats]:
    """Throughput over the number of empty paths, in single TCPs."""
    one = taken(lab, independent_name(TCP, 1, 0))
    return {n: taken(lab, independent_name(controller, n, 0)) / one for n in PATHS}


def filled(lab: Laboratory, controller: str) -> dict[int, Floats]:
    """Throughput over the number of contested paths, in fair shares."""
    return {k: taken(lab, independent_name(controller, MOST, k)) / UNIT_MBPS for k in CONTESTED}


def _scaling_configurations(*controllers: str) -> tuple[str, ...]:
    names = [independent_name(TCP, 1, 0)]
    names += [independent_name(c, n, 0) for c in controllers for n in PATHS]
    return tuple(dict.fromkeys(names))


@PAPER.claim("fig4-4.linear", *_scaling_configurations(BASE, HACKER, TCP))
def linear(claim: Claim, lab: Laboratory) -> Finding:
    """Multi-Priority and reduced aggression use every empty path."""
    checks = []
    rows = []
    for controller in (BASE, HACKER):
        points = scaling(lab, controller)
        low, high = claim.band("normalised_n16")
        checks.append(
            within(f"{controller}: normalised_n16", 16, points[MOST], low, high),
        )
        each = {paths(n): values / n for n, values in points.items()}
        checks.append(
            everywhere(f"{controller}: throughput of a path in TCPs", "1", each, 0.92, 1.05)
        )
        rows.append(f"{controller}: {listed(each)}")
    tcps = scaling(lab, TCP)[MOST]
    why = f"Of a TCP alone, each path has: {'; '.join(rows)}. Sixteen independent TCPs: {interval(tcps)}."
    return finding(claim, lab.world.name, checks, why)


@PAPER.claim(
    "fig4-4.bilevel",
    *_scaling_configurations(BILEVEL, BASE),
    later(BILEVEL),
    independent_name(DISCOUNTING[BILEVEL], MOST, 0),
    *open_choices.needed(BILEVEL),
)
def bilevel(claim: Claim, lab: Laboratory) -> Finding:
    """Bilevel TFRC loses some of the capacity as paths are added."""
    part = {n: _of_capacity(lab, BILEVEL, n) for n in PATHS}
    points = scaling(lab, BILEVEL)
    base = scaling(lab, BASE)[MOST]
    checks = [
        measured(claim, "utilisation_n16", part[MOST]),
        measured(claim, "normalised_n16", points[MOST]),
        within("below Multi-Priority by", "at least 5 %", 1 - points[MOST] / base, 0.05, None),
        within(
            "utilisation at 16 paths less at 1", "falls", paired(part[MOST], part[1]), None, 0.0
        ),
    ]
    why = (
        f"Part of the capacity: {listed({paths(n): v for n, v in part.items()})}; with 16 paths in the last 300 of "
        f"3000 s {interval(taken(lab, later(BILEVEL)) / (MOST * MBPS))}; with history discounting "
        f"{interval(_of_capacity(lab, DISCOUNTING[BILEVEL], MOST))}."
    )
    return finding(
        claim, lab.world.name, checks, why, unless=open_choices.silent_paths(lab, BILEVEL)
    )


def _of_capacity(lab: Laboratory, controller: str, n: int) -> Floats:
    return taken(lab, independent_name(controller, n, 0)) / (n * MBPS)


@PAPER.claim(
    "fig4-4.fractional",
    *_scaling_configurations(FRACTION, BASE, TCP),
    later(FRACTION),
    independent_name(DISCOUNTING[FRACTION], MOST, 0),
    *open_choices.needed(FRACTION),
)
def fractional(claim: Claim, lab: Laboratory) -> Finding:
    """Each 1/N-TFRC acts like a whole one on an empty path, and then some."""
    points = scaling(lab, FRACTION)
    base, tcps = (scaling(lab, c)[MOST] for c in (BASE, TCP))
    one = taken(lab, independent_name(TCP, 1, 0))
    configuration = independent_name(FRACTION, MOST, 0)
    nominal = _nominal(lab, configuration)
    checks = [
        measured(claim, "ratio_to_independent_tcp", points[MOST] / tcps),
        within(
            "ratio to Multi-Priority at 16 paths", "1.00 to 1.08", points[MOST] / base, 0.995, 1.08
        ),
        measured(claim, "nominal_rate_over_path_rate", nominal),
    ]
    why = (
        f"In single TCPs: {listed({paths(n): v for n, v in points.items()})}; sixteen TCPs {interval(tcps)}. The "
        "nominal rate is N times what is sent on a path. In the last 300 of 3000 s sixteen paths have "
        f"{interval(taken(lab, later(FRACTION)) / one)} single TCPs, and a nominal rate of "
        f"{interval(_nominal(lab, later(FRACTION)))} times a path. With history discounting they have "
        f"{interval(taken(lab, independent_name(DISCOUNTING[FRACTION], MOST, 0)) / one)} single TCPs."
    )
    return finding(
        claim, lab.world.name, checks, why, unless=open_choices.silent_paths(lab, FRACTION)
    )


def _nominal(lab: Laboratory, configuration: str) -> Floats:
    """The rate that TFRC allows on a path, which is N times the rate sent there, over the path's
    capacity; mean over paths.
    """
    plan = lab[configuration].plan
    sent = np.mean([on_path(lab, configuration, p, "sent_packets") for p in range(MOST)], axis=0)
    seconds = plan.duration_s - plan.warmup_s
    return np.asarray(MOST * sent * PACKET_BITS / seconds / (MBPS * 1e6))


def _filled_configurations(*controllers: str) -> tuple[str, ...]:
    return tuple(independent_name(c, MOST, k) for c in controllers for k in CONTESTED)


@PAPER.claim("fig4-5.converge", *_filled_configurations(BASE, BILEVEL), *SINGLE_LINKS)
def converge(claim: Claim, lab: Laboratory) -> Finding:
    """Both proposed schemes come down to one TCP's worth; Bilevel takes less on the way."""
    base, level = filled(lab, BASE), filled(lab, BILEVEL)
    line = {k: optimal_units(k) for k in CONTESTED}
    between: list[Bound] = []
    for k in CONTESTED:
        if 1 <= k <= 15:
            between += [(base[k] - level[k], 0.0, None), (line[k] - base[k], 0.0, None)]
    checks = [
        measured(claim, "multi_priority_k16", base[16]),
        measured(claim, "bilevel_k16", level[16]),
        within(
            "Multi-Priority over the optimal line at k = 8",
            "at least 0.85",
            base[8] / line[8],
            0.85,
            None,
        ),
        within(
            "Multi-Priority less Bilevel at k = 8",
            "Bilevel below",
            paired(base[8], level[8]),
            0.0,
            None,
        ),
        hold_together("ordering", claim.expected["ordering"], between),
    ]
    found, narrow = (
        against_links(lab, independent_name(BASE, MOST, MOST), MOST, spare) for spare in READINGS
    )
    why = (
        f"Units of 2.5 Mb/s. Multi-Priority: {listed({f'k = {k}': v for k, v in base.items()})}. Bilevel: "
        f"{listed({f'k = {k}': v for k, v in level.items()})}. The optimal line has "
        f"{', '.join(f'{v:g}' for v in line.values())}. At k = 16 what one TCP leaves free of each RED link counts as "
        f"spare too, so eq. 1.4 allows {found.bound_bps / 1e6 / UNIT_MBPS:.2f} units there and not 1; with only what "
        f"flows leave that are limited elsewhere it allows {narrow.bound_bps / 1e6 / UNIT_MBPS:.2f}."
    )
    return finding(claim, lab.world.name, checks, why, unless=reasons.spare(lab))


@PAPER.claim("fig4-5.hacker", *_filled_configurations(HACKER, BASE), *SINGLE_LINKS)
def hacker(claim: Claim, lab: Laboratory) -> Finding:
    """Reduced aggression takes far more than stringent fairness allows, and is lenient."""
    points, base = filled(lab, HACKER), filled(lab, BASE)
    configuration = independent_name(HACKER, MOST, MOST)
    own = taken(lab, SINGLE_LINKS[0])
    each = {f"path {p + 1}": on_path(lab, configuration, p) / 1e6 / own for p in range(MOST)}
    found, narrow = (against_links(lab, configuration, MOST, spare) for spare in READINGS)
    checks = [
        measured(claim, "total", points[16]),
        within(
            "less Multi-Priority at k = 16", "above by 0.4", paired(points[16], base[16]), 0.4, None
        ),
        everywhere("a path over a TCP in its place", "at most 1.05", each, None, 1.05),
        holds("lenient", "met", found.lenient),
        holds("stringent, where all that is unused is spare", "not met", not found.stringent),
    ]
    reduced = sum(on_path(lab, configuration, p) for p in range(1, MOST)) / 15 / 1e6 / own
    why = (
        f"Units of 2.5 Mb/s: {listed({f'k = {k}': v for k, v in points.items()})}. A reduced flow has {interval(reduced)} of "
        f"a TCP's share; the square-root law of its weight 1/4 beside a TCP gives 0.4. Eq. 1.4 allows "
        f"{found.bound_bps / 1e6 / UNIT_MBPS:.2f} units, {1 + found.excess:.2f} times which are taken; with only what flows "
        "leave that are limited elsewhere, "
        f"{1 + narrow.excess:.2f} times."
    )
    return finding(claim, lab.world.name, checks, why)


@PAPER.claim("topology.independent", independent_name(BASE, MOST, MOST))
def topology(claim: Claim, lab: Laboratory) -> Finding:
    """Sixteen distinct links of one capacity, a path over each."""
    configuration = independent_name(BASE, MOST, MOST)
    links = links_of(lab, configuration)
    real = [link for link in lab[configuration].plan.links if link.name in links]
    rates = {lab[configuration].rates_bps[link] for link in links}
    delays = {link.delay_s for link in real}
    checks = [
        holds("bottlenecks", claim.expected["bottlenecks"], len(set(links)) == MOST),
        holds("equal capacity and delay", "equal", len(rates) == len(delays) == 1),
    ]
    (rate,), (delay,) = rates, delays
    return finding(
        claim,
        "structure",
        checks,
        f"{len(set(links))} links of {rate / 1e6:g} Mb/s and {delay * 1e3:g} ms one way.",
    )
