"""Further tables on the MANET: every pair of algorithms, open parameters, harmed flows, routes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np

from ...report import Section, Table
from ...result import Result
from ...runs import Run
from ...statistics import Interval, interval
from ..laboratory import Laboratory
from .configurations import CALLED, COUPLED, CS218, FIVE, FOUR, LIA, MORE, NOBODY, RENO, under
from .manet import BOTH
from .networks import MOBILE, OTHERWISE, STATIC
from .paired import Floats, Sweep, Values, interval_percent
from .reading import class_rtt_ms, echoed, goodput, lost, mbps, per_path, rto_ms, rtt_ms

PUBLISHED = {
    MOBILE: {CS218: 25.04, RENO: 24.89, LIA: 24.52, COUPLED: 24.06},
    STATIC: {CS218: 25.05, LIA: 24.74, RENO: 22.3328, COUPLED: 22.3104},
}
"""The report's tables, Mb/s."""

Of = Callable[[Result], Floats]


def called(controller: str) -> str:
    """A controller in words."""
    return CALLED.get(controller, controller)


def here(lab: Laboratory, network: str, controllers: Sequence[str]) -> tuple[str, ...]:
    """Controllers whose configurations of a network have been run."""
    return tuple(c for c in controllers if under(network, c) in lab.results)


def survives(published: float, obtained: Interval) -> str:
    """Whether a published difference is confirmed: same sign, and an interval that
    excludes zero.
    """
    if obtained.low <= 0 <= obtained.high:
        return "no difference"
    same = (obtained.mean > 0) == (published > 0)
    inside = obtained.low <= published <= obtained.high
    return "the other way round" if not same else "yes" if inside else "same sign"


def pairs(lab: Laboratory) -> list[Table]:
    """Published differences of all pairs of algorithms, and those from runs with the same seeds."""
    rows = []
    for network, sweep in BOTH.items():
        if not sweep.have(lab):
            continue
        rates, payload = sweep.values(lab, mbps), sweep.values(lab, goodput)
        printed = PUBLISHED[network]
        for first, second in combinations(sorted(FOUR, key=lambda c: -printed[c]), 2):
            part = printed[first] / printed[second] - 1
            found = rates.relative(first, second)
            rows.append(
                [
                    network,
                    f"{called(first)} over {called(second)}",
                    f"{100 * part:+.1f} %",
                    interval_percent(found),
                    interval_percent(payload.relative(first, second)),
                    survives(part, found),
                ]
            )
    head = ["MANET", "pair", "published", "throughput", "goodput", "does the difference survive?"]
    caption = (
        "Differences of the report's tables, and of runs with the same seeds with 95 % intervals. Goodput is in order within "
        "the 10 s"
    )
    return [Table(caption, head, rows)] if rows else []


def costs(lab: Laboratory) -> list[Table]:
    """Each algorithm in either variant: rates, RTT, timeout, losses, and the rate of competing UDP
    clients.
    """
    columns: list[tuple[str, Of]] = [
        ("Mb/s", mbps),
        ("goodput", goodput),
        ("RTT, ms", rtt_ms),
        ("RTO, ms", rto_ms),
        ("lost of 10,000", lambda r: 1e4 * lost(r)),
        ("UDP echoed, %", lambda r: 100 * echoed(r)),
        ("UDP RTT, ms", lambda r: class_rtt_ms(r, "udp")),
    ]
    rows = []
    for network in BOTH:
        for c in here(lab, network, (*FIVE, *MORE)):
            result = lab[under(network, c)]
            rows.append([network, called(c), *(str(interval(of(result))) for _, of in columns)])
        for c in here(lab, network, (NOBODY,)):
            result = lab[under(network, c)]
            own = [str(interval(of(result))) for _, of in columns[-2:]]
            rows.append([network, "no connection", *["–"] * (len(columns) - 2), *own])
    head = ["MANET", "algorithm", *(name for name, _ in columns)]
    return (
        [Table("What each algorithm gains and costs, and the UDP clients", head, rows)]
        if rows
        else []
    )


def open_parameters(lab: Laboratory) -> list[Table]:
    """Open parameters of the report, changed: differences from RTT Compensator with the
    same seeds.
    """
    rows = []
    for network in (MOBILE, STATIC, *OTHERWISE):
        controllers = here(lab, network, FIVE)
        if LIA not in controllers:
            continue
        sweep = Sweep(network, controllers)
        rates, payload = sweep.values(lab, mbps), sweep.values(lab, goodput)
        trips = sweep.values(lab, rtt_ms)
        for c in controllers:
            rows.append(
                [
                    network,
                    called(c),
                    str(rates.mean(c)),
                    *(_over(values, c) for values in (rates, payload, trips)),
                    str(interval(1e4 * lost(lab[under(network, c)]))),
                    str(interval(100 * echoed(lab[under(network, c)]))),
                    str(interval(class_rtt_ms(lab[under(network, c)], "udp"))),
                ]
            )
    head = [
        "what is otherwise", "algorithm", "Mb/s", "over RTT Compensator", "goodput", "RTT",
        "lost of 10,000", "UDP echoed, %", "UDP RTT, ms",
    ]  # fmt: skip
    caption = "One thing otherwise in the MANET; differences from RTT Compensator, seed by seed. None of this is judged"
    return [Table(caption, head, rows)] if rows else []


def _over(values: Values, controller: str) -> str:
    """A difference from RTT Compensator as a part; a dash for itself, and where a subflow has no
    round trip.
    """
    own, base = values.by[controller], values.by[LIA]
    known = np.isfinite(own) & np.isfinite(base)
    if controller == LIA or known.sum() < 2:
        return "–"
    return interval_percent(
        Values({c: v[known] for c, v in values.by.items()}).relative(controller, LIA)
    )


def used_routes(run: Run, prefix: str) -> list[tuple[int, float]]:
    """For each way of a link of the connection: how many routes its packets took, and hops of a
    packet in the mean.
    """
    links = [str(link).split("/")[0] for link in run.ways.link]
    found = []
    for way in (number for number, link in enumerate(links) if link == prefix):
        rows = np.flatnonzero(np.asarray(run.routes.way, dtype=int) == way)
        packets = np.asarray(run.routes.packets, dtype=float)[rows]
        hops = [run.routes.nodes[row].count(" > ") for row in rows]
        found.append((len(rows), float(packets @ hops / packets.sum()) if len(rows) else np.nan))
    return found


def of_ways(result: Result, column: str, prefix: str = "up") -> Floats:
    """A column of the ways of the connection's data, mean over subflows, one for each seed."""
    values = []
    for run in result.runs:
        own = [str(link).split("/")[0] == prefix for link in run.ways.link]
        values.append(np.asarray(run.ways.column(column), dtype=float)[own].mean())
    return np.array(values)


def routes(lab: Laboratory) -> list[Table]:
    """Routes of the data under CS218_ALGO, where they are looked for."""
    rows = []
    for network in (MOBILE, STATIC, *OTHERWISE):
        if not here(lab, network, (CS218,)):
            continue
        result = lab[under(network, CS218)]
        found = [np.array(used_routes(run, "up")) for run in result.runs]
        hops = np.array(
            [np.nanmean(each[:, 1]) if np.isfinite(each[:, 1]).any() else np.nan for each in found]
        )
        rows.append(
            [
                network,
                str(interval([each[:, 0].mean() for each in found])),
                str(interval(hops[np.isfinite(hops)])),
                str(interval(of_ways(result, "route_changes"))),
                str(interval(100 * of_ways(result, "connected"))),
                str(interval(of_ways(result, "unreachable_packets"))),
            ]
        )
    head = ["MANET", "routes", "hops", "route changes", "connected, %", "packets without a route"]
    caption = "Routes of a subflow from client to server under CS218_ALGO: means over the eight subflows of a run"
    return [Table(caption, head, rows)] if rows else []


def spread(lab: Laboratory) -> list[Table]:
    """Packets of each subflow, in the order of channels."""
    rows = []
    for network in BOTH:
        for c in here(lab, network, FOUR):
            packets = per_path(lab[under(network, c)], "sent_packets")[:, 0]
            rows.append([network, called(c), *(str(interval(column)) for column in packets.T)])
    head = ["MANET", "algorithm", *(f"channel {n}" for n in range(1, 9))]
    return [Table("Packets sent on each subflow in 10 s", head, rows)] if rows else []


TEXT = (
    "The report's differences are of 0.6 to 11 %, of ten runs each, without a spread. Here each algorithm has the same seeds, "
    "so the same starts, places and contention."
)


def sections(lab: Laboratory) -> list[Section]:
    """Tables of the MANET, of the configurations that have been run."""
    found = [
        Section(
            "Do the report's differences survive?", TEXT, [*pairs(lab), *costs(lab), *spread(lab)]
        ),
        Section("The MANET with one thing otherwise", "", [*open_parameters(lab), *routes(lab)]),
    ]
    return [section for section in found if section.tables]
