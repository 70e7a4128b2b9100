"""Claims about transport: one TCP over several paths, losses found path by path, reliability, long
runs of TFRC.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ... import theory
from ...result import Result
from ...runs import Run
from ...statistics import interval
from ..findings import Finding, finding, holds, measured, within
from ..laboratory import Laboratory
from ..ledger import Claim
from .logs import PathLog, logged
from .paper import PAPER, STRIPED_MS
from .reading import ENSEMBLE, Floats, everywhere, exact, listed, on_path, taken

CUT_S = 10.0
"""When the second path of the transfer is cut."""

BOTH_MBPS = 10.0
"""Capacity of the two empty paths."""


def _sum(lab: Laboratory, configuration: str, metric: str) -> Floats:
    """A count over all paths of the ensemble."""
    paths = len(lab[configuration].plan.classes[0].paths)
    return np.asarray(sum(on_path(lab, configuration, p, metric) for p in range(paths)))


def spurious(lab: Laboratory, configuration: str) -> Floats:
    """Retransmitted segments in excess of the lost ones."""
    return _sum(lab, configuration, "retransmits") - _sum(lab, configuration, "lost_packets")


@PAPER.claim(
    "mech.striping_single_tcp",
    *(f"{kind}-{ms:g}" for kind in ("striped", "unstriped") for ms in STRIPED_MS),
    "striped-loss-free",
)
def striping(claim: Claim, lab: Laboratory) -> Finding:
    """One TCP's packets in turn over two paths."""
    far = {f"ratio {ms / 25:g}": taken(lab, f"striped-{ms:g}") / BOTH_MBPS for ms in STRIPED_MS}
    apart = {f"ratio {ms / 25:g}": taken(lab, f"unstriped-{ms:g}") / BOTH_MBPS for ms in STRIPED_MS}
    low, high = claim.band("utilisation")
    unequal = {where: values for where, values in far.items() if where != "ratio 1"}
    lost = _sum(lab, "striped-loss-free", "lost_packets")
    again = _sum(lab, "striped-loss-free", "retransmits")
    checks = [
        everywhere("utilisation", "poor", unequal, low, high),
        within("spurious_retransmissions", "> 0 without any queue drop", again, 1.0, None),
        within("lost packets meanwhile", "none", lost, None, 0.0),
    ]
    goodput = {
        f"ratio {ms / 25:g}": lab[f"striped-{ms:g}"].rate(ENSEMBLE, "goodput_bps") / 1e7
        for ms in STRIPED_MS
    }
    why = (
        f"Of both capacities, one TCP striped: {listed(far)} (goodput {listed(goodput)}); a TCP on each path: {listed(apart)}. "
        f"With buffers that never fill, striped at ratio 3: {interval(again)} segments sent again, {interval(lost)} lost."
    )
    return finding(claim, lab.world.name, checks, why)


@PAPER.claim("mech.per_subflow_loss_detection", "unstriped-loss-free", "striped-loss-free")
def per_subflow(claim: Claim, lab: Laboratory) -> Finding:
    """Losses are found path by path: nothing is sent again where nothing is lost."""
    configuration = "unstriped-loss-free"
    again, lost = _sum(lab, configuration, "retransmits"), _sum(lab, configuration, "lost_packets")
    packet = lab[configuration].plan.classes[0].packet_bytes
    overhead = 8 / packet
    checks = [
        measured(claim, "spurious_retransmissions", again),
        within("lost packets", "loss-free", lost, None, 0.0),
        measured(claim, "header_overhead", exact(overhead)),
    ]
    striped = _sum(lab, "striped-loss-free", "retransmits")
    why = (
        f"Two paths of 25 and 75 ms one way whose buffers never fill: {interval(_sum(lab, configuration, 'sent_packets'))} "
        "packets, "
        f"none lost, {again.mean():g} sent again; one TCP striped over the same paths sends {striped.mean():.0f} again. "
        f"64 bits of {packet} B are {overhead:.2%}."
    )
    return finding(claim, lab.world.name, checks, why)


@PAPER.claim("mech.tfrc_wraparound", "tfrc-constant-loss")
def wraparound(claim: Claim, lab: Laboratory) -> Finding:
    """The loss that TFRC's rate says it sees, before 100,000 packets and after 500,000, at a loss
    of 1 %.
    """
    result = lab["tfrc-constant-loss"]
    before, after, packets = [], [], []
    for run in result.runs:
        column = _column(result, run)
        t_s = np.asarray(run.series.t_s)
        arrived = np.asarray(run.series.paths.arrived_bytes)[:, column] / 1500
        rtt = float(np.median(np.asarray(run.series.paths.srtt_s)[:, column]))
        before.append(_loss_of(_rate(t_s, arrived, 1e4, 1e5) / 0.99, rtt))
        after.append(_loss_of(_rate(t_s, arrived, 5e5, np.inf) / 0.99, rtt))
        packets.append(float(arrived[-1]))
    drift = np.asarray(after) / np.asarray(before) - 1
    checks = [
        measured(claim, "loss_estimate_drift", drift),
        within("packets that arrived", "five times 100,000", np.asarray(packets), 5e5, None),
    ]
    why = (
        f"By its rate TFRC sees a loss event rate of {interval(before)} up to 100,000 packets and of {interval(after)} beyond "
        f"500,000, of {np.mean(packets):,.0f}; losses of one round trip are one event. Intervals are kept and not a history "
        "of arrivals, so there is nothing to wrap around."
    )
    return finding(claim, lab.world.name, checks, why)


def _column(result: Result, run: Run) -> int:
    """Column of the ensemble's only path in the series."""
    flows = np.asarray(run.flows.class_)[run.paths.flow]
    return int(np.flatnonzero(flows == ENSEMBLE)[0])


def _rate(t_s: Floats, arrived: Floats, low: float, high: float) -> float:
    """Packets per second while so many have arrived; none if too few did."""
    inside = np.flatnonzero((arrived >= low) & (arrived < high))
    if len(inside) < 2:
        return float("nan")
    first, last = inside[0], inside[-1]
    return float((arrived[last] - arrived[first]) / (t_s[last] - t_s[first]))


def _loss_of(packets_per_s: float, rtt_s: float) -> float:
    """The loss at which the response function gives a rate."""
    if not np.isfinite(packets_per_s):
        return float("nan")
    return theory.loss_at_rate(lambda p: theory.tfrc_rate_bps(p, rtt_s), packets_per_s * 12_000)


@PAPER.claim("alg.bilevel_reliability", "cut")
def reliability(claim: Claim, lab: Laboratory) -> Finding:
    """A transfer whose second path is cut completes over the first; its retransmissions, with path
    and time.
    """
    result, configuration = lab["cut"], lab.configurations["cut"]
    done = result.users(ENSEMBLE, "fct_s")[:, 0]
    _, logs = logged(configuration.scenario, configuration.overrides)
    gaps, later, elsewhere = _sent_again(logs)
    low, _ = claim.band("nack_hold")
    least = min(gaps, default=float("nan"))
    stall = _longest_stall(logs)
    completes = claim.expected["transfer_after_path_cut"]
    checks = [
        holds("transfer_after_path_cut", completes, bool(np.isfinite(done).all())),
        holds("packets sent again twice before the cut", "some to judge by", bool(gaps)),
        within("longest time without a packet of new data, in s", 5, exact(stall), None, 5.0),
        within(
            "nack_hold: least time between two retransmissions of a packet before the cut, in round trips",
            low,
            exact(least),
            low,
            None,
        ),
        within(
            "retransmissions on another path than the original, before the cut",
            "preferred",
            exact(elsewhere),
            0.5,
            None,
        ),
    ]
    sent = _sum(lab, "cut", "sent_packets")
    why = (
        f"The transfer of 20 MB is done after {interval(done)} s, with {interval(sent)} packets where 13,813 are needed; the "
        f"second path is cut after 10 s. In a log {len(gaps)} packets were sent again a second time before the cut; a round "
        "trip is the larger of the smoothed ones of both paths at that moment. Beyond the cut, where a path falls silent and "
        f"what it had is sent elsewhere without a NACK, {len(later)} were, {sum(gap < 1.5 for gap in later)} of them sooner."
    )
    return finding(claim, lab.world.name, checks, why)


def _longest_stall(logs: list[PathLog]) -> float:
    """The longest time in which a transfer sends no new data, in seconds: a missing segment blocks
    later data once the receive buffer is full.
    """
    first: dict[float, float] = {}
    for log in logs:
        for t, offset in zip(log.sent_s, log.offsets, strict=True):
            first[float(offset)] = min(float(t), first.get(float(offset), np.inf))
    times = np.sort(np.array(list(first.values())))
    return float(np.diff(times).max(initial=0.0))


def _sent_again(logs: list[PathLog]) -> tuple[list[float], list[float], float]:
    """Round trips between a packet's retransmissions before and after the cut, and the part of the
    first retransmissions that changed the path."""
    every = sorted(
        (float(t), float(offset), p)
        for p, log in enumerate(logs)
        for t, offset in zip(log.sent_s, log.offsets, strict=True)
    )
    seen: dict[float, list[tuple[float, int]]] = {}
    for t, offset, p in every:
        seen.setdefault(offset, []).append((t, p))
    gaps: list[float] = []
    later: list[float] = []
    moved = []
    for times in seen.values():
        if len(times) > 1 and times[1][0] < CUT_S:
            moved.append(times[0][1] != times[1][1])
        for (before, _), (after, _) in pairwise(times[1:]):
            gap = (after - before) / max(log.rtt(after) for log in logs)
            (gaps if after < CUT_S else later).append(gap)
    return gaps, later, float(np.mean(moved)) if moved else float("nan")
