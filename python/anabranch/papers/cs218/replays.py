"""Laws replayed at every acknowledgement of a logged run, and how far its windows are from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..library import Floats, expensive, measure
from .logs import Log, Moment, logged

BYTE = 1 / 1448
"""One byte in segments: windows are logged in whole bytes."""
GAMMA, LOW_WINDOW = 30, 38
"""Compound TCP: packets in the queue that are too many, and the window from which on it gains."""

Increment = Callable[[int, Floats, Floats, float], float]
"""Arguments: a path, all windows, all smoothed RTTs and `DWND/α`. Returns the growth per segment,
in segments.
"""


def linked(windows: Floats, srtts_s: Floats) -> float:
    """α/w_tot of equation (1) of the report."""
    known = srtts_s > 0
    x = windows[known] / srtts_s[known]
    return float((x / srtts_s[known]).max() / x.sum() ** 2)


def lia(path: int, windows: Floats, srtts_s: Floats, boost: float) -> float:
    """Equation (2): nothing is boosted."""
    return min(linked(windows, srtts_s), 1 / float(windows[path]))


def twice(path: int, windows: Floats, srtts_s: Floats, boost: float) -> float:
    """Twice the amount of RTT Compensator: its increment times 1 + DWND/α."""
    return (1 + boost) * lia(path, windows, srtts_s, boost)


def capped(path: int, windows: Floats, srtts_s: Floats, boost: float) -> float:
    """α + DWND in the place of α inside the minimum."""
    return min((1 + boost) * linked(windows, srtts_s), 1 / float(windows[path]))


RULES: dict[str, Increment] = {"lia": lia, "twice": twice, "capped": capped}


@dataclass(frozen=True)
class Step:
    """An acknowledgement in congestion avoidance: the growth of the window, and its growth by a
    formula, in segments.
    """

    moment: Moment
    count: int
    """`ackCount` with it."""
    boost: float
    """`DWND/α`: bestRTT/lastRTT, at most 1, or nothing up to the threshold."""
    grown: float
    expected: float

    @property
    def off(self) -> float:
        """By how much it grew otherwise, in segments."""
        return self.grown - self.expected


def replayed(log: Log, increment: Increment, threshold: int = 5) -> list[Step]:
    """The pseudo code of Section 3.2.3 at each acknowledgement of a log; a path that is alone is a
    TCP.
    """
    paths = {m.path for m in log.moments}
    counts, best = dict.fromkeys(paths, 0), dict.fromkeys(paths, np.inf)
    losses = list(log.losses)
    found = []
    for m in log.moments:
        while losses and losses[0].t_s <= m.t_s:
            counts[losses.pop(0).path] = 0
        counts[m.path] += 1
        boost = min(1.0, best[m.path] / m.last_s) if counts[m.path] > threshold else 0.0
        best[m.path] = min(best[m.path], m.last_s)
        if m.avoids:
            rule = lia if (m.srtts_s > 0).sum() < 2 else increment
            expected = m.segments * rule(m.path, m.before, m.srtts_s, boost)
            grown = float(m.after - m.before[m.path])
            found.append(Step(m, counts[m.path], boost, grown, expected))
    return found


@measure
@expensive
def off_bytes(scenario: str, law: str, rule: str, threshold: int = 5) -> float:
    """The largest deviation of a logged window from a rule at an acknowledgement, in bytes."""
    steps = replayed(logged(scenario, law), RULES[rule], threshold)
    return max(abs(step.off) for step in steps) / BYTE


@measure
@expensive
def acknowledged(scenario: str, law: str) -> int:
    """Acknowledgements of a logged run in congestion avoidance."""
    return len(replayed(logged(scenario, law), lia))


@measure
@expensive
def first_boosted(scenario: str, law: str) -> list[int]:
    """After each loss: the number of the first acknowledgement at which the window grows beyond
    LIA's, by a byte; 0 if there is none.
    """
    log = logged(scenario, law)
    steps = replayed(log, lia)
    ends = [loss.t_s for loss in log.losses[1:]] + [np.inf]
    found = []
    for loss, end in zip(log.losses, ends, strict=True):
        own = (s for s in steps if s.moment.path == loss.path and loss.t_s < s.moment.t_s <= end)
        found.append(next((s.count for s in own if s.off > BYTE), 0))
    return found


@measure
@expensive
def losses_of(scenario: str, law: str) -> list[tuple[float, float]]:
    """The window before and after each congestion event of a logged run, in segments."""
    return [(loss.before, loss.after) for loss in logged(scenario, law).losses]


@measure
@expensive
def largest_alpha(scenario: str, law: str) -> float:
    """The largest 2 α of equation (1) in a logged run."""
    moments = logged(scenario, law).moments
    return max(float(2 * linked(m.before, m.srtts_s) * m.before.sum()) for m in moments)


@measure
@expensive
def boosted_growth(scenario: str, law: str, least: float, most: float) -> tuple[float, int]:
    """The growth over RTT Compensator's at all acknowledgements whose bestRTT/lastRTT lies between
    two ends once all paths have a round trip, and the number of these.
    """
    steps = [
        step
        for step in replayed(logged(scenario, law), lia)
        if least <= step.boost <= most and (step.moment.srtts_s > 0).all()
    ]
    return sum(s.grown for s in steps) / sum(s.expected for s in steps), len(steps)


@measure
@expensive
def compound_windows(scenario: str) -> dict[str, float]:
    """Compound TCP's two windows, reckoned apart (Tan et al., INFOCOM 2006) at each acknowledgement
    of a log of one path without a loss: α = 1/8, k = 3/4, ζ = 1, γ = 30 packets; `dwnd` does not
    grow in windows below 38.

    `off` is the largest deviation of their sum from the logged window, in bytes; `first` the first
    `dwnd`, `dwnd` its peak and `cwnd` the other window then, `least` the least `dwnd` later, in
    segments; `acks` the number of acknowledgements.
    """
    base, cwnd, dwnd, end = np.inf, 0.0, 0.0, 0
    samples: list[float] = []
    sums = []
    for m in logged(scenario, "compound").moments:
        base = min(base, m.last_s)
        samples.append(m.last_s)
        cwnd = cwnd + m.segments / (cwnd + dwnd) if m.avoids else m.after
        if m.una >= end:
            win = cwnd + dwnd
            diff = win * (1 - base / float(np.mean(samples)))
            if m.avoids and diff >= GAMMA:
                dwnd = max(dwnd - diff, 0.0)
            elif m.avoids and win >= LOW_WINDOW:
                dwnd += max(win**0.75 / 8 - 1, 0.0)
            samples, end = [], m.nxt
        if m.avoids:
            sums.append((cwnd, dwnd, m.after))
    own, delayed, seen = np.array(sums).T
    peak = int(delayed.argmax())
    return {
        "off": float(np.abs(own + delayed - seen).max()) / BYTE,
        "first": float(delayed[0]),
        "dwnd": float(delayed[peak]),
        "cwnd": float(own[peak]),
        "least": float(delayed[peak:].min()),
        "acks": len(sums),
    }
