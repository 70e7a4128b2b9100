"""Tables of the report: fairness of the algorithms by each definition, and their differences seed
by seed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...fairness import Reference, do_no_harm, p1, p2, tcp_fairness
from ...fairness.references import limits
from ...report import Section, Table
from ...result import Result
from ...statistics import Interval, interval, ratio_of_means
from ..laboratory import Laboratory
from . import beside, configurations, figures, wireless_tables
from .configurations import CALLED, FIVE, LIA, QUEUES, WORDS, under
from .paired import Floats, Sweep, interval_percent
from .reading import MULTIPATH, TCP, mbps
from .wired import LOSSY, RAMPS, SHARED, time_to_fill

BOTTLENECK = "bottleneck"


def compared_with(lab: Laboratory, network: str) -> Reference:
    """Rate of a TCP in place of the connection on either path, and unused capacity without it (Tse
    2006, §1.3).
    """
    in_place, without = (
        lab[under(network, who)] for who in (configurations.TCP, configurations.NOBODY)
    )
    capacity = in_place.rates_bps[BOTTLENECK]
    spare = capacity * np.maximum(1 - without.link(BOTTLENECK, "utilisation"), 0.0)
    alone = in_place.rate(MULTIPATH)
    tcp = np.maximum(alone, spare)
    return Reference(
        MULTIPATH,
        (BOTTLENECK, BOTTLENECK),
        np.array([tcp, tcp]),
        {BOTTLENECK: spare},
        {BOTTLENECK: float(capacity)},
        np.array([alone, alone]),
        {BOTTLENECK: spare * ~limits(without, BOTTLENECK)},
    )


def verdicts(lab: Laboratory, network: str, controller: str) -> dict[str, bool]:
    """P1, P2, design goal 2 and both definitions of fairness, by means over the seeds.

    P1 compares with a TCP in place of the connection; P2 with half of the link for each.
    """
    result, before = lab[under(network, controller)], lab[under(network, configurations.TCP)]
    own, theirs = (float(result.rate(name).mean()) for name in (MULTIPATH, TCP))
    own_before, theirs_before = (float(before.rate(name).mean()) for name in (MULTIPATH, TCP))
    twin = compared_with(lab, network)
    fair = tcp_fairness(result, twin)
    half = twin.capacities_bps[BOTTLENECK] / 2
    return {
        "P1": p1(theirs_before, theirs, own_before, own),
        "P2": p2(own, theirs, half, half),
        "goal 2": do_no_harm([own], [own_before]),
        "lenient": fair.lenient,
        "stringent": fair.stringent,
    }


def excess(lab: Laboratory, network: str, controller: str) -> Interval:
    """By what part the connection has more than a TCP in its place, seed by seed."""
    before = lab[under(network, configurations.TCP)].rate(MULTIPATH)
    over = ratio_of_means(lab[under(network, controller)].rate(MULTIPATH), before)
    return Interval(over.mean - 1, over.half, over.n)


def fairness(lab: Laboratory) -> list[Table]:
    """Each algorithm against a TCP on one link: rates, predicates, and RTT Compensator seed by
    seed.
    """
    rows: list[list[str]] = []
    for network in QUEUES:
        twins = (under(network, configurations.TCP), under(network, configurations.NOBODY))
        sweep = Sweep(network, FIVE)
        if not sweep.have(lab) or not all(configuration in lab.results for configuration in twins):
            continue
        values = sweep.values(lab, mbps)
        for c in FIVE:
            result = lab[under(network, c)]
            rows.append(
                [
                    WORDS[network],
                    CALLED[c],
                    str(interval(mbps(result))),
                    str(interval(mbps(result, TCP))),
                    str(ratio_of_means(mbps(result), mbps(result, TCP))),
                    interval_percent(excess(lab, network, c)),
                    "–" if c == LIA else interval_percent(values.relative(c, LIA)),
                    *("yes" if held else "no" for held in verdicts(lab, network, c).values()),
                ]
            )
    head = [
        "queue", "algorithm", "Mb/s", "TCP, Mb/s", "ratio", "over a TCP in its place", "over RTT Compensator",
        "P1", "P2", "goal 2", "lenient", "stringent",
    ]  # fmt: skip
    caption = (
        "Fair like RTT Compensator? A connection with two paths beside one TCP over 10 Mb/s, by means over the seeds. P1: the "
        "TCP loses 5 % and the connection gains 2 % at most, against a TCP in its place. P2: the connection has a tenth more "
        "than half of the link and the TCP a tenth less. Goal 2: no more than a tenth above a TCP in its place. Lenient: no "
        "more than that one, within 5 % of the link; stringent: and within 5 % of its rate"
    )
    return [Table(caption, head, rows)] if rows else []


def _pairs(
    lab: Laboratory, sweep: Sweep, what: str, of: Callable[[Result], Floats], unit: str
) -> list[list[str]]:
    """Means of a network, and differences from RTT Compensator."""
    if not sweep.have(lab):
        return []
    values = sweep.values(lab, of)
    return [
        [
            what,
            CALLED[c],
            f"{values.mean(c)} {unit}",
            "–" if c == LIA else f"{values.difference(c, LIA)} {unit}",
            "–" if c == LIA else interval_percent(values.relative(c, LIA)),
        ]
        for c in sweep.controllers
    ]


def differences(lab: Laboratory) -> list[Table]:
    """Every network in which the algorithms have run, with differences from RTT Compensator seed by
    seed.
    """
    rows = [
        row
        for network, sweep in SHARED.items()
        for row in _pairs(lab, sweep, f"one link, {WORDS[network]}", mbps, "Mb/s")
    ]
    rows += _pairs(lab, LOSSY, "two paths that lose 0.1 %", mbps, "Mb/s")
    rows += _pairs(lab, RAMPS, "half of an empty path, to be filled", time_to_fill, "s")
    head = ["network", "algorithm", "mean", "less RTT Compensator's", "as a part"]
    return [Table("The algorithms with the same seeds", head, rows)] if rows else []


def sections(lab: Laboratory) -> Sequence[Section]:
    """Tables and figures for the configurations that have been run."""
    own = [
        Section("Fair like RTT Compensator?", "", fairness(lab)),
        Section("Seed by seed", "", differences(lab)),
    ]
    wired = [section for section in own if section.tables]
    return [*figures.sections(lab), *beside.sections(lab), *wireless_tables.sections(lab), *wired]
