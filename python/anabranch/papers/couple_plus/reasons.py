"""Reasons why claims were not reproduced: observations, with numbers from the current runs."""

from __future__ import annotations

from ...statistics import interval
from ..laboratory import Laboratory
from .configurations import BOTH, CALLED, COUPLE, LIA, POINTS, PRINTED, READINGS, other, point
from .reading import SUB1, TCP, competition, listed, sub1_over_tcp, three

BUFFER = (
    "What waits is on the whole what subflow 0 has brought while the head of the stream is under way on subflow 1: "
    "queues of "
    "50 packets on two links are 0.85 s of round trip, and the deeper subflow 1's own queue, or the longer its timeouts, "
    "the more waits."
)


def _have(lab: Laboratory, *configurations: str) -> bool:
    return all(configuration in lab.results for configuration in configurations)


def short_competition(lab: Laboratory) -> str:
    """The mechanism exists, but takes longer than transfers of 5 MB last."""
    configurations = {CALLED[c]: other("long run", c) for c in BOTH}
    text = (
        "Windows of the TCP and of subflow 1 begin alike, both in slow start, and what coding hides moves them apart by "
        "one "
        "segment in a round trip of half a second: 5 MB are over before that has come to rest."
    )
    if not _have(lab, *configurations.values()):
        return text
    rows = "; ".join(
        f"{name} {three(lab, configuration)}" for name, configuration in configurations.items()
    )
    locked = other("long run without random processing time", LIA)
    more = (
        f" Without random processing time at the hosts RTT Compensator has {three(lab, locked)} there, a phase effect."
        if _have(lab, locked)
        else ""
    )
    red = other("RED at the shared link", LIA)
    if _have(lab, red):
        more += f" With RED at the shared link the competition gives {three(lab, red)}."
    return f"{text} In the long run, transfers without end for 600 s, the first 100 s off: {rows} kb/s.{more}"


def standing_queue(lab: Laboratory) -> str:
    """Why Couple+ yields so much at high wireless loss."""
    text = (
        "Where it misses, subflow 1 has too little. A TCP keeps the drop-tail queue of the shared link filled, so that "
        "the round "
        "trip is always more than twice its least; then the second sign of congestion is always there, and two losses of "
        "the air "
        "within a cycle, which one redundant packet cannot repair, are judged congestion. A TCP beside it never halves "
        "for "
        "those. More redundancy, a shorter cycle, makes it rarer."
    )
    high = point(COUPLE, 0.1, POINTS[0.1][0])
    if _have(lab, high):
        text += f" At a loss of 0.1 the ratio is {interval(sub1_over_tcp(lab, high))} at the least redundancy."
    variants = {
        "RED": other("RED at the shared link", COUPLE),
        "buffer of 64 kB": other("receive buffer 64 kB", COUPLE),
        "long run": other("long run", COUPLE),
    } | {name: point(c, *PRINTED) for name, c in READINGS.items()}
    found = {
        name: sub1_over_tcp(lab, configuration)
        for name, configuration in variants.items()
        if _have(lab, configuration)
    }
    if found:
        text += f" At a loss of 0.01 and a redundancy of 1.05 with other choices: {listed(found)}."
    return text


def low_redundancy(lab: Laboratory) -> str:
    """Why the order of RTT Compensator does not hold at every loss."""
    rows = []
    for p in POINTS:
        ends = [competition(lab, point(LIA, p, r)) for r in (POINTS[p][0], POINTS[p][-1])]
        rows.append(
            f"{p:g}: {interval(ends[0][:, SUB1])} of {interval(ends[0][:, TCP])} and {interval(ends[1][:, SUB1])} of "
            f"{interval(ends[1][:, TCP])}"
        )
    return (
        "With a redundancy near 1/(1 - p) losses of the air reach RTT Compensator too, and it is subflow 1 that yields. "
        "Subflow 1 and "
        f"the TCP at the least and the largest redundancy, kb/s: {'; '.join(rows)}."
    )
