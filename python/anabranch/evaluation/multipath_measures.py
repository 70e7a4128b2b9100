"""Measures and settings of users with several paths (RFC 9743 §7.10)."""

from __future__ import annotations

import numpy as np

from ..fairness import dominance, settling_time
from ..result import Result
from ..runs import Run
from ..theory import Network, optimum
from .criterion import SUBJECT, Found, Measure
from .goals import Values
from .measures import columns, planned, rates_over

STEADY = ("duration=300 s", "warmup=30 s")
"""A hundred congestion epochs at 10 Mb/s and 100 ms, for shares in steady state."""

LONG = ("duration=600 s", "warmup=30 s")
"""Twice as long, for rates of single paths."""

FIRST = '{ links = ["first-line", "first"], back = ["first-back"] }'
SECOND = '{ links = ["second-line", "second"], back = ["second-back"] }'
"""The subject's paths in rfc9743/two-links."""

BACKUP = SECOND.replace(" }", ", backup = true }")
"""The second one, used only while the first does not work."""

FAILS = ("warmup=20 s", "duration=30 s", 'link.first.change=[{ at = "20 s", up = false }]')
"""The first path goes down for good; the 10 s from then on are measured."""


def in_place(**paths: str) -> dict[str, tuple[str, ...]]:
    """A Reno TCP in the subject's place on each of these paths, for `Case.beside`."""
    return {
        name: (f"flow.{SUBJECT}.controller=reno", f"flow.{SUBJECT}.path=[{path}]")
        for name, path in paths.items()
    }


TCPS = in_place(first=FIRST, second=SECOND)
"""The same for the paths of rfc9743/two-links."""


def red(megabits: float) -> str:
    """The draft's RED for a link of that rate: thresholds in proportion to it."""
    least, most, limit = (f"{n * megabits / 10:g} packets" for n in (25, 50, 200))
    return (
        f'{{ red = {{ min = "{least}", max = "{most}", max_p = 0.1, weight = 0.0625, '
        f'spacing = "independent", limit = "{limit}" }} }}'
    )


def link(name: str, megabits: float) -> tuple[str, str]:
    """Overrides for a link of another rate, with the draft's RED."""
    return f"link.{name}.rate={megabits:g} Mb/s", f"link.{name}.queue={red(megabits)}"


FOUR = (
    *link("first", 40),
    *link("second", 40),
    *(f"flow.{name}.count=4" for name in (SUBJECT, "tcp-on-first", "tcp-on-second")),
)
"""Four of each user in rfc9743/two-links, on links four times as wide."""


def gain(found: Found) -> Values:
    """The subject's rate over that of a TCP in its place on its best path."""
    return found.result.rate(SUBJECT) / _best(_tcps(found, "throughput_bps"))


def goodput_gain(found: Found) -> Values:
    """As `gain`, of goodput."""
    return found.result.rate(SUBJECT, "goodput_bps") / _best(_tcps(found, "goodput_bps"))


def _tcps(found: Found, metric: str) -> list[Values]:
    """The rates of TCPs in the subject's place."""
    return [result.rate(SUBJECT, metric) for result in found.beside.values()]


def _best(rates: list[Values]) -> Values:
    """Those with the largest mean: the best of each replication would be luck in part."""
    return max(rates, key=lambda values: float(values.mean()))


def excess_on_worst_path(found: Found) -> Values:
    """The subject's rate on a path over that of a TCP in its place there, on the path where that
    is most.
    """
    parts = [
        found.result.path(SUBJECT, place, "throughput_bps").mean(axis=1) / beside.rate(SUBJECT)
        for place, beside in enumerate(found.beside.values())
    ]
    return _best(parts)


def filled(found: Found) -> Values:
    """The subject's rate over that of a TCP on each of its paths together."""
    apart: Values = np.sum(_tcps(found, "throughput_bps"), axis=0)
    return found.result.rate(SUBJECT) / apart


def worst_goodput_over(other: str) -> Measure:
    """The goodput of the worst user of the subject over the mean of another class."""

    def measure(found: Found) -> Values:
        worst = found.result.users(SUBJECT, "goodput_bps").min(axis=1)
        return np.asarray(worst / found.result.rate(other, "goodput_bps"))

    return measure


def of_optimum(found: Found) -> Values:
    """The mean rate of the other users over that of the optimum, in which each path carries at
    least one segment in a round trip without queueing.
    """
    result = found.result
    other = next(name for name in result.classes if name != SUBJECT)
    best = optimum(Network.from_plan(result.plan), floor=1.0)
    return result.rate(other) / best.class_rates_bps[other]


def segments_in_round_trip(path: int) -> Measure:
    """The subject's traffic on a path, in segments in its mean smoothed round trip."""

    def measure(found: Found) -> Values:
        bits = 8.0 * planned(found.result).packet_bytes
        rtts_s = found.result.path(SUBJECT, path, "srtt_s")
        rates = found.result.path(SUBJECT, path, "throughput_bps")
        return np.asarray((rates * rtts_s).mean(axis=1) / bits)

    return measure


def dominated(found: Found) -> Values:
    """Part of the time after the warm-up in which one path has more than 90 % of the window."""
    return np.array([dominance(windows) for windows in _series(found.result, "cwnd_segments")])


def aggregate_variation(found: Found) -> Values:
    """Coefficient of variation over time of the rate at which all users send together, in means
    over a sampling interval.
    """
    rates = [np.diff(sent.sum(axis=1)) for sent in _series(found.result, "sent_packets")]
    return np.array([rate.std() / rate.mean() for rate in rates])


def time_below_share(name: str, link: str, at_s: float, span_s: float) -> Measure:
    """Seconds of the `span_s` after `at_s` in which a class carries less than 80 % of its fair
    share of a link that all users of the network are on, as a mean over 2 s.
    """

    def measure(found: Found) -> Values:
        result = found.result
        count = {one.name: one.count for one in result.plan.classes}
        fair_bps = result.rates_bps[link] * count[name] / sum(count.values())
        seconds = []
        for run in result.runs:
            ends, rates = rates_over(run, columns(run, (name,)), 2.0)
            after = (ends > at_s) & (ends <= at_s + span_s)
            below = np.count_nonzero(rates[after].sum(axis=1) < 0.8 * fair_bps)
            seconds.append(result.plan.sample_s * below)
        return np.array(seconds)

    return measure


def return_time(at_s: float, down_s: float, part: float) -> Measure:
    """Seconds from the return of the first path until the users carry there a part of what TCPs in
    their place, the run "first" beside, carried in the 20 s before it failed; NaN if they do not.
    It was down from `at_s` for `down_s`. Needs series of both.
    """

    def measure(found: Found) -> Values:
        back = at_s + down_s
        until = found.result.plan.duration_s
        found_s = []
        for run, tcps in zip(found.result.runs, found.beside["first"].runs, strict=True):
            then_s, carried = _on_first(tcps)
            before = carried[(then_s >= at_s - 20.0) & (then_s <= at_s)]
            then_bps = 8.0 * (before[-1] - before[0]) / 20.0
            found_s.append(settling_time(*_on_first(run), back, until, then_bps, level=part))
        seconds = np.array(found_s)
        return np.where(np.isfinite(seconds), seconds, np.nan)

    return measure


def _on_first(run: Run) -> tuple[Values, Values]:
    """Times of samples, and bytes that the subject's first paths have carried by then."""
    own = columns(run) & (np.asarray(run.paths.path) == 0)
    return np.asarray(run.series.t_s), np.asarray(run.series.paths.arrived_bytes)[:, own].sum(
        axis=1
    )


def _series(result: Result, metric: str) -> list[Values]:
    """A series of the subject's paths after the warm-up, for each replication of shape (samples,
    paths).
    """
    skipped = round(result.plan.warmup_s / result.plan.sample_s)
    return [
        np.asarray(getattr(run.series.paths, metric))[skipped:, columns(run)] for run in result.runs
    ]
