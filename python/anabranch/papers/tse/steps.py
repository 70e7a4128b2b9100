"""Steps of the schemes, read from logs of small runs: what windows do at losses, delays, and ACKs.

A log is of the cell that a measure names, with seed 1. `step` is how far two windows of a log must
be apart to differ: windows are logged in whole bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ... import theory
from ..laboratory import Laboratory
from ..library import Cell, Floats, measure, without_runs
from .laws import mean_interval
from .logs import PathLog, changes, logged

AVOIDING = "congestion_avoidance"


def _logs(lab: Laboratory, cell: str) -> list[PathLog]:
    return logged(lab.configurations[cell])


def _falls(log: PathLog, step: float, from_s: float = 0.0) -> list[tuple[float, float, float]]:
    """Time of each reduction of a window, and the window before and after."""
    return [(t, b, a) for t, b, a in changes(log) if t >= from_s and a < b - step]


def _largest(values: Sequence[float] | Floats) -> float:
    """The largest deviation; not a number where there is nothing to judge by."""
    return float(np.max(np.abs(values))) if len(values) else float("nan")


@measure
@without_runs
def background(
    lab: Laboratory, cell: Cell, step: float, inference: float, second: float
) -> dict[str, float]:
    """What TCP-LP does at congestion indications, in segments and numbers.

    `off`: how far a reduction is from half the window and from one, whichever is nearer.
    `second_off`: how far the window is from one after a reduction within `second` round trips of
    the one before, and `seconds` their number. `grown`: increases within `inference` round trips of
    a reduction. `per_rtt`: packets in a round trip at a window of one.
    """
    (log,) = _logs(lab, cell)
    falls, rtt = _falls(log, step), log.mean_rtt(5, 60)
    rises = [t for t, b, a in changes(log) if a > b + step]
    seconds = [
        a for (t1, *_), (t2, b, a) in pairwise(falls) if t2 - t1 < second * rtt and b > 1 + step
    ]
    at_one = [t for t in log.sent_s if log.windows.at(t) <= 1 + step and t > 10]
    return {
        "falls": len(falls),
        "rises": len(rises),
        "seconds": len(seconds),
        "off": max(min(abs(a - max(b / 2, 1)), abs(a - 1)) for _, b, a in falls),
        "second_off": max((abs(a - 1) for a in seconds), default=0.0),
        "grown": sum(any(s < t < s + inference * rtt for s, *_ in falls) for t in rises),
        "per_rtt": rtt / float(np.median(np.diff(at_one))) if len(at_one) > 1 else float("nan"),
    }


@measure
@without_runs
def yields(lab: Laboratory, cell: Cell, step: float, from_s: float) -> dict[str, float]:
    """A window before the first indication after a time, and the round trips from there until it is
    one segment.
    """
    (log,) = _logs(lab, cell)
    falls = _falls(log, step, from_s)
    begins, window, _ = falls[0]
    reached = next(t for t, _, a in falls if a <= 1 + step)
    return {"window": window, "round_trips": (reached - begins) / log.mean_rtt(begins, reached)}


@measure
@without_runs
def accounts(lab: Laboratory, cell: Cell) -> dict[str, Any]:
    """What Multi-Priority TCP charges its base window for probes of one background flow.

    `lent`, `slow` and `fast`: deviations of each change of the base window from the rule when a
    probe leaves, and when its answer is slow or fast, in segments. `least`: the smallest base
    window. The growth by the base flow's own ACK at the moment is subtracted.
    """
    base, other = _logs(lab, cell)
    own = {t: (b, a) for t, b, a in changes(other)}
    base_acks, other_acks = set(base.acked_s), set(other.acked_s)
    lent, slow, fast = [], [], []
    for t, before, after in changes(base):
        if base.state(t) != AVOIDING or t not in own:
            continue
        was, now = own[t]
        if t in base_acks and t not in other_acks and (was, now) == (0.0, 1.0):
            lent.append(after - before - (1 / before - 1))  # its own growth, less the lent segment
        elif t in other_acks and t not in base_acks and was == 1:
            earned = 1 / (before + 1)  # w_B has the packet that is lent
            if now == 0:
                slow.append(after - before - (1 + earned))
            elif now == 2:
                fast.append(after - before - 1)
    least = float(base.windows.values[base.windows.t_s > 5.0].min())
    return {"lent": lent, "slow": slow, "fast": fast, "least": least}


@measure
@without_runs
def probes(lab: Laboratory, cell: Cell, step: float, watched_s: float) -> dict[str, float]:
    """Packets of backed-off background flows from 20 s to 120 s of a log, by round trips of the
    base flow, as `sorted_probes` tells them apart.

    `most` and `most_lent`: the largest number in a round trip over any `watched_s` seconds, of all
    and of those lent in turn; `mean`: of all over the whole time. `moments`: the number of moments
    at which `free` ones leave; `at_one`: those at which the base window is one segment.
    """
    base, *others = _logs(lab, cell)
    lent, free, repairs = sorted_probes(others, 20, step)

    def most(sent: list[float]) -> float:
        per_rtt = (
            sum(start <= t < start + watched_s for t in sent)
            * base.mean_rtt(start, start + watched_s)
            / watched_s
            for start in range(20, 121 - round(watched_s))
        )
        return float(max(per_rtt))

    moments = set(free)
    return {
        "number": len(lent + free),
        "mean": len(lent + free) * base.mean_rtt(20, 120) / 100,
        "most": most(lent + free),
        "most_lent": most(lent),
        "free": len(free),
        "repairs": len(repairs),
        "moments": len(moments),
        "at_one": sum(base.windows.at(t) <= 1 + step for t in moments),
    }


def sorted_probes(
    others: list[PathLog], after_s: float, step: float
) -> tuple[list[float], list[float], list[float]]:
    """Send times of background flows at window one, in three lists: segments lent to them in turn;
    new data while all of them could send, so that none waited for a turn; retransmissions.
    """
    lent: list[float] = []
    free: list[float] = []
    repairs: list[float] = []
    for log in others:
        seen: set[float] = set()
        for t, offset in zip(log.sent_s, log.offsets, strict=True):
            if t > after_s and log.windows.at(t) <= 1 + step:
                nobody_waits = all(other.windows.at(t) >= 1 - step for other in others)
                (repairs if offset in seen else free if nobody_waits else lent).append(t)
            seen.add(offset)
    return lent, free, repairs


@measure
@without_runs
def two_levels(lab: Laboratory, cell: Cell, step: float) -> dict[str, float]:
    """How Bilevel TCP departs from its rules (eq. 2.2): largest deviations, of growth the median.

    `grown`: the sum of windows at an ACK, in segments. `halved`: their sum after a loss over that
    before. `shares`: the part that the path with the loss keeps. Windows of one segment are left
    out: less is sent one at a time.
    """
    logs = _logs(lab, cell)
    times = np.unique(np.concatenate([log.windows.t_s for log in logs]))
    windows = np.array([[log.windows.at(t) for log in logs] for t in times])
    total = windows.sum(axis=1)
    acks = [set(log.acked_s) for log in logs]
    grown, shares, halved = [], [], []
    last = -1.0
    for i in range(1, len(times)):
        t = float(times[i])
        if t < 10 or windows[i - 1 : i + 1].min() <= 1 + step:
            continue
        rtt = max(log.mean_rtt(t - 1, t) for log in logs)
        avoiding = all(log.state(t) == AVOIDING for log in logs)
        began = [p for p, log in enumerate(logs) if log.begins("recovery", t)]
        # One path's ACK, and no path in recovery.
        alone = avoiding and sum(t in times_ for times_ in acks) == 1
        if alone and len(began) == 1 and t - last > 2 * rtt:
            f = windows[i - 1][began[0]] / total[i - 1]
            halved.append(total[i] / total[i - 1] - 0.5)
            shares.append(windows[i][began[0]] / total[i] - (f / 2) / (1 - f / 2))
        if began:
            last = t
        elif alone and total[i] > total[i - 1]:
            grown.append(total[i] - total[i - 1] - 1 / total[i - 1])
    return {
        "acks": len(grown),
        "losses": len(halved),
        "grown": float(np.median(np.abs(grown))),
        "halved": _largest(halved),
        "shares": _largest(shares),
    }


@measure
@without_runs
def reports_s(lab: Laboratory, cell: Cell) -> dict[str, float]:
    """Seconds between reports of a TFRC receiver from 10 s on, and the mean round trip."""
    (log,) = _logs(lab, cell)
    times = [t for t in log.acked_s if t > 10]
    return {"apart": float(np.median(np.diff(times))), "rtt": log.mean_rtt(10, 60)}


@measure
@without_runs
def rate_over_response(lab: Laboratory, cell: Cell, weights: Sequence[float], late: int) -> float:
    """The rate of a TFRC at random loss over the response function of the loss events that its log
    has, in the median over reports from 30 s on.

    A loss is known once `late` later packets have arrived; losses of one round trip are one event.
    """
    (log,) = _logs(lab, cell)
    rtt = float(np.median(log.rtts.values))
    _, again = np.unique(log.offsets[::-1], return_index=True)
    last = len(log.offsets) - 1 - again
    lost = np.setdiff1d(np.arange(len(log.offsets)), last)  # segments that are retransmitted later
    starts: list[int] = []
    for number in lost:
        if not starts or log.sent_s[number] - log.sent_s[starts[-1]] > rtt:
            starts.append(int(number))
    ratios = []
    for t in log.acked_s[log.acked_s > 30]:
        arrived = int(np.searchsorted(log.sent_s, t - rtt, side="right"))  # when the report left
        known = [start for start in starts if start < arrived - late]
        if len(known) < len(weights) + 2:
            continue
        closed = [float(b - a) for a, b in pairwise(known)]
        intervals = [float(arrived - known[-1]), *closed[::-1]]
        predicted = theory.tfrc_rate_bps(1 / mean_interval(intervals, weights), rtt) / 12_000
        ratios.append(log.windows.at(t) / rtt / predicted)
    return float(np.median(ratios))
