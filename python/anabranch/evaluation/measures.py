"""Measures that several criteria use. Each function returns a measure: a function of the runs of a
case with one value for each replication.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..plan import Class
from ..result import Result
from ..runs import Run
from ..statistics import jain
from .criterion import SUBJECT, Found, Measure
from .goals import Values

Floats = NDArray[np.float64]

BOTTLENECK = "bottleneck"
"""Name of the link that matters in scenarios with one bottleneck."""
SUBJECTS = (SUBJECT,)


def loss(link: str = BOTTLENECK) -> Measure:
    """Packets dropped or lost on a link over packets that arrived there."""
    return lambda found: found.result.link(link, "loss")


def offered(link: str = BOTTLENECK) -> Measure:
    """Packets that arrive at a link for each packet that it carries: 1 without losses."""
    return lambda found: 1.0 / (1.0 - found.result.link(link, "loss"))


def marked(link: str = BOTTLENECK) -> Measure:
    """Packets marked, dropped or lost on a link over packets that arrived there."""

    def measure(found: Found) -> Values:
        arrived = np.maximum(found.result.link(link, "arrived_packets"), 1)
        return found.result.link(link, "marked_packets") / arrived + found.result.link(link, "loss")

    return measure


def occupancy(result: Result, link: str) -> Values:
    """Mean part of the room in a link's queue that waiting packets take: from 0 to 1.

    Raises KeyError for a queue without a limit in packets.
    """
    queue = next(one for one in result.plan.links if one.name == link).queue
    limit = getattr(queue, "limit_packets", None)
    if not limit:
        raise KeyError(f"{link} has no queue with a limit in packets")
    return np.asarray(result.link(link, "queue_packets") / limit, dtype=float)


def room(link: str = BOTTLENECK) -> Measure:
    """Mean part of a link's queue that is free: from 0 to 1."""
    return lambda found: 1.0 - occupancy(found.result, link)


def queue_delay(quantile: str = "p50", link: str = BOTTLENECK) -> Measure:
    """A quantile ("p50", "p95", "p99") of the queueing delay of a link over time, in seconds."""
    return lambda found: found.result.link(link, f"queue_delay_{quantile}_s")


def one_way_delay(quantile: str = "p95", link: str = BOTTLENECK) -> Measure:
    """The same with the propagation delay from sender to receiver of the subject's path."""

    def measure(found: Found) -> Values:
        plan = found.result.plan
        path = planned(found.result).paths[0]
        there = sum(plan.links[place].delay_s for place in path.links)
        return there + found.result.link(link, f"queue_delay_{quantile}_s")

    return measure


def capacity_bps(result: Result, link: str) -> Values:
    """What a link could carry in the mean of the measured time, shape (replications,)."""
    return result.link(link, "throughput_bps") / result.link(link, "utilisation")


def throughput(name: str = SUBJECT) -> Measure:
    """Throughput of all users of a class together, in bit/s; theory has it too."""
    return lambda found: np.asarray(found.result.users(name).sum(axis=1), dtype=float)


def goodput(classes: Sequence[str] = SUBJECTS) -> Measure:
    """Goodput of all users of classes together, in bit/s."""
    return lambda found: _goodput(found.result, classes)


def used(link: str = BOTTLENECK, classes: Sequence[str] = SUBJECTS) -> Measure:
    """Goodput of classes, headers added, over what the link could carry: 1 where it carries nothing
    else and each byte once.
    """

    def measure(found: Found) -> Values:
        result = found.result
        first = planned(result, classes[0])
        whole = first.packet_bytes / first.payload_bytes
        return whole * _goodput(result, classes) / capacity_bps(result, link)

    return measure


def left_over(link: str = BOTTLENECK, other: str = "udp") -> Measure:
    """The subject's goodput, headers added, over what traffic of constant rate leaves of a link."""

    def measure(found: Found) -> Values:
        rival = planned(found.result, other)
        taken = (rival.app_rate_bps or math.nan) * rival.packet_bytes / rival.payload_bytes
        capacity = capacity_bps(found.result, link)
        return used(link)(found) * capacity / (capacity - rival.count * taken)

    return measure


def delivered(classes: Sequence[str] = SUBJECTS) -> Measure:
    """Goodput of users with `app_rate` over what their applications write, without pauses."""

    def measure(found: Found) -> Values:
        wanted = sum(
            (c.app_rate_bps or math.nan) * c.count
            for c in found.result.plan.classes
            if c.name in classes
        )
        return _goodput(found.result, classes) / wanted

    return measure


def _goodput(result: Result, classes: Sequence[str]) -> Values:
    """Goodput of all users of the classes that have any, in bit/s."""
    found = [result.users(one, "goodput_bps").sum(axis=1) for one in classes]
    return np.asarray(np.sum(found, axis=0), dtype=float)


def jain_index(name: str = SUBJECT) -> Measure:
    """Jain's index of the throughputs of a class."""
    return lambda found: np.asarray(jain(found.result.users(name)), dtype=float)


def least_share(classes: Sequence[str] = SUBJECTS) -> Measure:
    """The lowest throughput among all users of classes over the mean of these users."""

    def measure(found: Found) -> Values:
        rates = np.concatenate([found.result.users(one) for one in classes], axis=1)
        return np.asarray(rates.min(axis=1) / rates.mean(axis=1), dtype=float)

    return measure


def completion(name: str = SUBJECT) -> Measure:
    """Mean completion time of the transfers of a class; see `mean_completion`."""
    return lambda found: mean_completion(found.result, name)


def mean_completion(result: Result, name: str) -> Values:
    """Mean completion time of the transfers of a class that began after the warm-up, in seconds.

    A transfer that is not complete counts with the time until the end of the run.
    """
    return _over_flows(result, (name,), np.mean)


def last_completion(name: str = SUBJECT) -> Measure:
    """The same of the transfer that takes longest."""
    return lambda found: _over_flows(found.result, (name,), np.max)


def typical_completion() -> Measure:
    """Geometric mean of the completion times of the transfers of all classes; see `completion`.

    Unlike their mean it does not rest on the few large transfers of heavy-tailed sizes.
    """

    def measure(found: Found) -> Values:
        return _over_flows(found.result, found.result.classes, _geometric)

    return measure


def _geometric(times: Floats) -> float:
    return math.exp(float(np.log(times).mean()))


def _over_flows(result: Result, classes: Sequence[str], over: Callable[[Floats], float]) -> Values:
    """Something over completion times, shape (replications,); NaN without transfers."""
    plan = result.plan

    def of(run: Run) -> float:
        starts = np.asarray(run.flows.start_s, dtype=float)
        times = np.asarray(run.flows.fct_s, dtype=float)
        chosen = np.isin(np.asarray(run.flows.class_), list(classes)) & (starts >= plan.warmup_s)
        times = np.where(np.isnan(times), plan.duration_s - starts, times)[chosen]
        return float(over(times)) if times.size else math.nan

    return np.array([of(run) for run in result.runs])


def lost_by(name: str) -> Measure:
    """Packets of a class that were lost, over all its users."""
    return lambda found: _lost(found.result, name)


def loss_of(name: str) -> Measure:
    """Lost packets over sent packets of a class."""
    return lambda found: lost_part(found.result, name)


def lost_part(result: Result, name: str) -> Values:
    """Lost packets over sent packets of a class, from 0 to 1."""
    sent = result.path(name, 0, "sent_packets").sum(axis=1)
    return np.asarray(_lost(result, name) / np.maximum(sent, 1), dtype=float)


def _lost(result: Result, name: str) -> Values:
    return np.asarray(result.path(name, 0, "lost_packets").sum(axis=1), dtype=float)


def over_equation(link: str = BOTTLENECK) -> Measure:
    """The subject's rate over that of TCP's response function at its loss and round trip, which RFC
    8083 takes: X = s / (R sqrt(2 p / 3)). Means over the measured time. Zero without a loss.
    """

    def measure(found: Found) -> Values:
        result = found.result
        p = lost_part(result, SUBJECT)
        place = result.classes.index(SUBJECT)
        rtt = np.array([run.classes.rtt_mean_s[place] for run in result.runs], dtype=float)
        segment = 8.0 * planned(result).packet_bytes
        sent = result.path(SUBJECT, 0, "sent_packets").mean(axis=1) * segment
        spans = result.plan.duration_s - result.plan.warmup_s
        return np.asarray(sent / spans * rtt * np.sqrt(2 * p / 3) / segment, dtype=float)

    return measure


def backoff() -> Measure:
    """Packets that the subject's user with most of them sends in the second half of the time in
    which a link is down. Needs series.

    Timeouts that grow by a factor b bring log 2 / log b packets in it, however long it is: 1 where
    they double (RFC 6298 §5.5). A constant rate brings packets in proportion to its length.
    """

    def measure(found: Found) -> Values:
        down_s, up_s = outage(found.result)
        half_s = (down_s + up_s) / 2
        sent = [_between(run, columns(run), half_s, up_s).max() for run in found.result.runs]
        return np.array(sent, dtype=float)

    return measure


def sent_in_silence() -> Measure:
    """Packets that the subject's user with most of them sends while a link is down, over the number
    that doubling timeouts (RFC 6298 §5.5) bring in that time. Needs series.

    Counted from `rto_min` after the link went down on: what was on its way has been acknowledged by
    then, and no timeout has come.
    """

    def measure(found: Found) -> Values:
        down_s, up_s = outage(found.result)
        sender = planned(found.result)
        first_s = sender.rto_min_s + sender.paths[0].base_rtt_s
        allowed = math.floor(math.log2((up_s - down_s) / first_s + 1))
        from_s = down_s + sender.rto_min_s
        sent = [_between(run, columns(run), from_s, up_s).max() for run in found.result.runs]
        return np.array(sent, dtype=float) / allowed

    return measure


def _between(run: Run, chosen: NDArray[np.bool_], from_s: float, to_s: float) -> Floats:
    """Packets that each path sent between two times."""
    t_s = np.asarray(run.series.t_s, dtype=float)
    first = int(np.searchsorted(t_s, from_s, side="right")) - 1
    last = min(int(np.searchsorted(t_s, to_s, side="left")), len(t_s) - 1)
    sent = np.asarray(run.series.paths.sent_packets, dtype=float)[:, chosen]
    return np.asarray(sent[last] - sent[first], dtype=float)


def outage(result: Result) -> tuple[float, float]:
    """When a link goes down and comes up again. Raises ValueError if none does."""
    changes = [change for link in result.plan.links for change in link.changes]
    downs = [change.at_s for change in changes if change.up is False]
    ups = [change.at_s for change in changes if change.up]
    if not downs or not ups:
        raise ValueError(f"no link of {result.plan.name} goes down and comes up again")
    return downs[0], ups[0]


def recovery(link: str = BOTTLENECK, level: float = 0.8, over_s: float = 1.0) -> Measure:
    """Time after a link came up again until the subject's users together have `level` of its rate
    in a span of `over_s`, over the time that it was down. Needs series.

    Where they do not reach it by the end of the run, the time until then.
    """

    def measure(found: Found) -> Values:
        down_s, up_s = outage(found.result)
        wanted = level * found.result.rates_bps[link]
        times = [
            _until(run, SUBJECTS, up_s, found.result.plan.duration_s, wanted, over_s)
            for run in found.result.runs
        ]
        return np.array(times) / (up_s - down_s)

    return measure


def rise(from_s: float, wanted_bps: float, over_s: float = 1.0) -> Measure:
    """Seconds from a time on until the subject's users together have a rate in a span of `over_s`;
    where they do not reach it, until the end of the run. Needs series.
    """
    return lambda found: np.array(
        [
            _until(run, SUBJECTS, from_s, found.result.plan.duration_s, wanted_bps, over_s)
            for run in found.result.runs
        ]
    )


def _until(
    run: Run, classes: Sequence[str], from_s: float, end_s: float, wanted_bps: float, over_s: float
) -> float:
    """Seconds from `from_s` until the rate of classes over the last `over_s`, all of it after
    `from_s`, is at least `wanted_bps`; `end_s - from_s` if it never is.
    """
    at, rates = rates_over(run, columns(run, classes), over_s)
    reached = (at >= from_s + over_s) & (rates.sum(axis=1) >= wanted_bps)
    return float((at[reached][0] if reached.any() else end_s) - from_s)


def fair_share_time(
    newcomer: str, start_s: float, *, delta: float = 0.2, over_s: float = 5.0, held_s: float = 5.0
) -> Measure:
    """Seconds until a newcomer has its part of what it and the subject have together, within a part
    `delta` of it on either side, in each span of `over_s` for `held_s`: the delta-fair convergence
    time (RFC 5166 §2.3), which for two flows asks for shares from (1 - delta) / 2 to
    (1 + delta) / 2. Needs series.

    A newcomer that takes everything passes its share and is not counted as converged. Where it
    never keeps its share, the time until the end of the run.
    """

    def of(run: Run, end_s: float, part: float) -> float:
        new = columns(run, (newcomer,))
        at, rates = rates_over(run, new | columns(run), over_s)
        mine = rates_over(run, new, over_s)[1].sum(axis=1)
        whole = part * rates.sum(axis=1)
        fair = (at >= start_s + over_s) & (mine > 0) & (np.abs(mine - whole) <= delta * whole)
        width = round(held_s / (at[1] - at[0])) + 1
        kept = np.convolve(fair, np.ones(width), mode="valid") == width
        return float(at[kept.argmax()] - start_s) if kept.any() else end_s - start_s

    def measure(found: Found) -> Values:
        counts = {c.name: c.count for c in found.result.plan.classes}
        part = counts[newcomer] / (counts[newcomer] + counts[SUBJECT])
        end_s = found.result.plan.duration_s
        return np.array([of(run, end_s, part) for run in found.result.runs])

    return measure


def rates_over(run: Run, chosen: NDArray[np.bool_], over_s: float) -> tuple[Floats, Floats]:
    """Ends of spans of `over_s`, shape (n,), and the throughput of paths in each in bit/s, shape
    (n, paths), from samples. Raises KeyError without series.
    """
    t_s = np.asarray(run.series.t_s, dtype=float)
    arrived = np.asarray(run.series.paths.arrived_bytes, dtype=float)[:, chosen]
    step = t_s[1] - t_s[0]
    width = max(1, round(over_s / step))
    return t_s[width:], 8.0 * (arrived[width:] - arrived[:-width]) / (width * step)


def planned(result: Result, name: str = SUBJECT) -> Class:
    """A class in the plan. Raises ValueError if there is none of that name."""
    return result.plan.classes[result.classes.index(name)]


def columns(run: Run, classes: Sequence[str] = SUBJECTS) -> NDArray[np.bool_]:
    """Which columns of the series of paths belong to classes, shape (paths,)."""
    flows = np.asarray(run.paths.flow, dtype=int)
    return np.isin(np.asarray(run.flows.class_)[flows], list(classes))
