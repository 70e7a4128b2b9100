"""The mechanisms of coding and of Couple+ in captures of small runs: what is sent, what feedback
tells, and the steps of the transient state.

A run is of the static network with overrides of a ledger. With `lost` it is one of a single coded
path, and so many packets in a row are lost on the air.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ..library import expensive, measure
from ..readings import times_s
from .logs import Captured, captured
from .reading import waiting_kb

COUPLE = "couple-plus"
AT_S = 3.01
"""When scripted losses begin."""
PACKET_S = 0.8512e-3
"""A packet of 1064 bytes at 10 Mb/s."""


def log_of(overrides: Sequence[str], lost: int = 0, law: str = COUPLE) -> Captured:
    """The capture of a run. Raises ValueError if no time of silence loses so many packets."""
    if not lost:
        return captured(tuple(overrides), law)
    for quarters in range(4):
        end_s = AT_S + (lost - 0.5 + quarters / 4) * PACKET_S
        change = f'link.wireless.change=[{{at="{AT_S} s",loss=1}},{{at="{end_s:.5f} s",loss=0}}]'
        log = captured((*overrides, change), law)
        if len(log.events.times("loss")) == lost:
            return log
    raise ValueError(f"no interval loses {lost} packets")


def _before_loss(log: Captured) -> list[tuple[int, int]]:
    """First segment and count of each packet that was sent before the first loss."""
    first = min([*log.events.t_s, math.inf])
    return [(c.base, c.count) for c in log.sent if c.t_s < first]


@measure
@expensive
def participations(overrides: Sequence[str]) -> list[int]:
    """In how many packets each segment takes part that was sent before the first loss."""
    sent = _before_loss(log_of(overrides))
    counts = np.bincount([base + i for base, count in sent for i in range(count)])
    return [int(count) for count in counts]


@measure
@expensive
def redundant_gaps(overrides: Sequence[str]) -> list[int]:
    """Packets from one that covers nothing new to the next, before the first loss."""
    covered, redundant = 0, []
    for number, (base, count) in enumerate(_before_loss(log_of(overrides))):
        if base + count <= covered:
            redundant.append(number)
        covered = max(covered, base + count)
    return [int(gap) for gap in np.diff([-1, *redundant])]


@measure
@expensive
def acknowledgements(overrides: Sequence[str], lost: int = 0) -> list[tuple[int, int, bool]]:
    """Degrees of freedom received, segments covered and the loss flag of each acknowledgement."""
    return [(ack.rank, ack.highest, ack.flag) for ack in log_of(overrides, lost).told]


Step = tuple[float, float, float]


@measure
@expensive
def transitions(
    overrides: Sequence[str], law: str, factor: float, floor: float
) -> dict[str, list[Step]]:
    """Steps of Couple+ by kind ("asked", "noise", "congestion"), where twnd is `factor` cwnd and no
    halving goes below `floor` segments. For each, in segments:

    the window after it less what the rule makes of the one before; the most by which the same
    acknowledgement lets it grow, by what it acknowledges in slow start and by 1/w of it later; and
    what the first would be had the window stayed as it was.
    """
    log = log_of(overrides, law=law)
    steps: dict[str, list[Step]] = {"asked": [], "noise": [], "congestion": []}
    held = 0.0
    for t, kind, timeout in log.verdicts():
        before, after = log.windows.at(t, before=True), log.windows.at(t)
        grown = log.acknowledged(t) / (1.0 if log.in_slow_start(t) else before)
        if kind == "asked":
            off, unchanged = after / factor - before, before / factor - before
            held = after / factor - after
        elif kind == "noise":
            off, unchanged = after - before - held, -held
        elif timeout:
            continue
        else:
            off, unchanged = (2 * (w - max(before / 2, floor)) for w in (after, before))
        steps[kind].append((off, grown, unchanged))
    return steps


@measure
@expensive
def kept_back(overrides: Sequence[str], lost: int) -> float:
    """Packets acknowledged and not sent anew while a question is open, less what twnd takes away
    from the window.
    """
    log = log_of(overrides, lost)
    (asked, _, _), (answered, _, _) = log.verdicts()
    sent, told = (sum(asked <= one.t_s < answered for one in many) for many in (log.sent, log.told))
    return told - sent - (log.windows.at(asked, before=True) - log.windows.at(asked))


def _counted(log: Captured) -> list[tuple[float, int, int, bool]]:
    """Episodes that neither decoding nor loss recovery ended. For each: its time, the counter then
    and one acknowledgement earlier, and whether the verdict was congestion."""
    found = []
    recoveries = set(log.events.times("recovery"))
    for (asked, kind, _), (end, verdict, timeout) in pairwise(log.verdicts()):
        if kind != "asked" or verdict == "asked" or timeout:
            continue
        inside = [a for a in log.told if asked - 1e-9 <= a.t_s <= end + 1e-9]
        if (verdict == "noise" and inside[-1].lost == 0) or (
            verdict == "congestion" and end not in recoveries
        ):
            continue
        *_, before, final = [inside[0], *inside]
        if final.first_unseen == before.first_unseen:
            continue  # a duplicate: it is for duplicate acknowledgements that this was congestion
        counter = last = 0
        for previous, ack in pairwise(inside):
            if ack.first_unseen > previous.first_unseen:
                last, counter = counter, counter + 1 + max(ack.lost - previous.lost, 0)
        found.append((end, counter, last, verdict == "congestion"))
    return found


@measure
@expensive
def counters(overrides: Sequence[str], lost: int = 0) -> list[tuple[int, int]]:
    """The counter at each verdict that neither decoding nor loss recovery brings, and one
    acknowledgement earlier, made of the acknowledgements of a capture.
    """
    return [(counter, last) for _, counter, last, _ in _counted(log_of(overrides, lost))]


@measure
@expensive
def early_verdicts(overrides: Sequence[str], cycle: int) -> list[float]:
    """Data that the receiver holds, in kB, at each verdict of congestion that comes before the
    counter is at `cycle` and that loss recovery does not explain.
    """
    log = log_of(overrides)
    t_s, held = times_s(log.result), waiting_kb(log.result.runs[0])
    return [
        float(np.interp(end, t_s, held))
        for end, counter, _, congestion in _counted(log)
        if congestion and counter < cycle
    ]


@measure
@expensive
def verdicts(overrides: Sequence[str], lost: int = 0, law: str = COUPLE) -> list[str]:
    """The questions of Couple+, "asked", and its verdicts, in their order: "noise", or "noise,
    decoded" where nothing was missing any more; "congestion", or "timeout" if that was the cause.
    """
    log = log_of(overrides, lost, law)
    found = []
    for t, kind, timeout in log.verdicts():
        told = [ack for ack in log.told if ack.t_s <= t + 1e-9]
        decoded = kind == "noise" and told[-1].lost == 0
        found.append("timeout" if timeout else f"{kind}, decoded" if decoded else kind)
    return found
