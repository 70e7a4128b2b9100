"""The wishes of the authors, and the paper's summary."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...result import Result
from ...statistics import interval, ratio_of_means
from ..findings import Check, Finding, finding, hold_together, holds, within
from ..laboratory import Laboratory
from ..ledger import Claim
from .configurations import (
    ALTERNATIVES,
    BOTH,
    CALLED,
    COUPLE,
    EVERY,
    FIXED,
    LASTS_S,
    LIA,
    OTHERS,
    POINTS,
    PRINTED,
    VARYING,
    bare,
    closed,
    mobile,
    point,
    points,
    varying,
    without_tcp,
)
from .mobile import reaction_s, worse_s
from .paper import PAPER
from .reading import (
    FLOW_PATHS,
    START_S,
    SUB1,
    TCP,
    Floats,
    competition,
    listed,
    over,
    over_points,
    path_series,
    three,
)
from .static import gap
from .uncongested import coded_rate

WIFI = FLOW_PATHS[SUB1]
UNTIL_S = 36.0
"""Data held back by the excursion waits until then."""


def away_s(result: Result) -> list[Floats]:
    """When Wi-Fi is suspended, and when it is back, in turn, for each seed: its window says nothing
    meanwhile.
    """
    found = []
    for t_s, window in path_series(result, "cwnd_segments", WIFI):
        out = np.isnan(window) & (t_s > START_S)
        found.append(t_s[np.flatnonzero(np.diff(out.astype(int))) + 1])
    return found


def peaks_kb(result: Result, start_s: float, end_s: float) -> Floats:
    """The most that waits at the receiver within a time, by samples, for each seed."""
    found = []
    for run in result.runs:
        t_s = np.asarray(run.series.t_s)
        held = np.asarray(run.series.flows.held_bytes)[:, 0]
        found.append(held[(t_s >= start_s) & (t_s < end_s)].max() / 1e3)
    return np.array(found)


def _in_use_at_peak(result: Result) -> NDArray[np.bool_]:
    """Whether Wi-Fi is in use when the most data waits at the receiver, for each seed."""
    found = []
    for run, (_, window) in zip(
        result.runs, path_series(result, "cwnd_segments", WIFI), strict=True
    ):
        at = int(np.asarray(run.series.flows.held_bytes)[:, 0].argmax())
        found.append(not np.isnan(window[at]))
    return np.array(found)


def _suspensions(result: Result) -> str:
    """Number, first time and duration of suspensions of Wi-Fi in the excursion, in words."""
    end_s = result.plan.duration_s
    times = [t for t in away_s(result) if len(t)]
    if not times:
        return "in none of the runs"
    first = np.array([t[0] for t in times])
    long = np.array([float(np.diff([*t, end_s] if len(t) % 2 else t)[::2].sum()) for t in times])
    return (
        f"in {len(times)} of {len(result.runs)} runs, first at {interval(first)} s, {interval(long)} s in all and "
        f"{np.mean([np.ceil(len(t) / 2) for t in times]):.1f} times"
    )


@PAPER.claim("wish.path_selection", *(name(c) for c in BOTH for name in (mobile, closed)))
def path_selection(claim: Claim, lab: Laboratory) -> Finding:
    """Wi-Fi suspended and used again by the sender's own rule."""
    without, ruled = mobile(COUPLE), closed(COUPLE)
    peaks = {c: lab[c].rate("multipath", "held_max_bytes") / 1e3 for c in (without, ruled)}
    rates = {c: lab[c].rate("multipath", "goodput_bps") / 1e3 for c in peaks}
    meanwhile = {c: peaks_kb(lab[c], worse_s(lab[c].plan), UNTIL_S) for c in peaks}
    checks = [
        within(
            "peak of what waits over that without the rule",
            claim.expected["trend"],
            ratio_of_means(peaks[ruled], peaks[without]),
            None,
            0.8,
        ),
        within(
            "throughput over that without the rule",
            "no lower",
            ratio_of_means(rates[ruled], rates[without]),
            1.0,
            None,
        ),
    ]
    away = "; ".join(f"{CALLED[c]} {_suspensions(lab[closed(c)])}" for c in BOTH)
    why = (
        f"With `suspend` Wi-Fi is suspended: {away}. Peak of what waits with Couple+: {interval(peaks[without])} kB, with "
        f"the rule {interval(peaks[ruled])}; from {worse_s(lab[ruled].plan):g} to {UNTIL_S:g} s "
        f"{interval(meanwhile[without])} and {interval(meanwhile[ruled])} kB; goodput {interval(rates[without])} and "
        f"{interval(rates[ruled])} kb/s."
    )
    used = _in_use_at_peak(lab[ruled])
    unless = (
        f"With the rule, most waits while Wi-Fi is in use in {used.sum()} of {len(used)} runs: the rule waits for 2 s of "
        "silence, and what waits for a failing path is there before they are over, or when a path that has come back "
        "loses again."
    )
    return finding(claim, lab.world.name, checks, why, unless=unless)


def by_loss(lab: Laboratory, configuration: str) -> dict[float, Floats]:
    """The three rates in kb/s while the wireless link loses so much, shape (seeds, 3)."""
    found: dict[float, Floats] = {}
    for p in POINTS:
        spans = [
            (max(n * LASTS_S, START_S), (n + 1) * LASTS_S)
            for n, loss in enumerate(VARYING)
            if loss == p
        ]
        taken = [
            sum(over(run, "taken_bytes", *span) for span in spans)
            for run in lab[configuration].runs
        ]
        found[p] = np.array(taken) * 8e-3 / sum(end - start for start, end in spans)
    return found


@PAPER.claim("wish.coding_parameters", varying(), *(varying(r) for r in FIXED))
def coding_parameters(claim: Claim, lab: Laboratory) -> Finding:
    """Redundancy that follows the estimated loss, while the loss varies."""
    low, high = claim.band("sub1_over_tcp")
    rates = {c: by_loss(lab, c) for c in (varying(), *(varying(r) for r in FIXED))}
    checks = [
        within(
            f"sub1 over tcp, loss {p:g}",
            claim.expected["sub1_over_tcp"],
            ratio_of_means(own[:, SUB1], own[:, TCP]),
            low,
            high,
        )
        for p, own in rates[varying()].items()
    ]
    names = {varying(): "adapted", **{varying(r): f"fixed at {r:g}" for r in FIXED}}
    rows = [
        f"{name} "
        + ", ".join(
            f"{p:g}: {interval(own[:, SUB1])} / {interval(own[:, TCP])} "
            f"({ratio_of_means(own[:, SUB1], own[:, TCP])})"
            for p, own in rates[c].items()
        )
        for c, name in names.items()
    ]
    sent = {name: _packets_per_segment(lab, c) for c, name in names.items()}
    why = (
        f"Loss of the air goes {', '.join(f'{p:g}' for p in VARYING)}, {LASTS_S} s each. Subflow 1 / TCP in kb/s by loss: "
        f"{'; '.join(rows)}. Packets that arrived for each decoded segment: {listed(sent)}."
    )
    unless = (
        "The rule bounds redundancy from below by what repairs losses in the mean. What subflow 1 gets depends on how "
        "often two losses meet in a redundant cycle: behind a TCP's full queue those are judged congestion, and then "
        "they do not count as the air's either."
    )
    return finding(claim, lab.world.name, checks, why, unless=unless)


def _packets_per_segment(lab: Laboratory, configuration: str) -> Floats:
    found = []
    for run in lab[configuration].runs:
        coding = run.coding
        found.append(float(coding.arrived_packets[0]) / float(coding.decoded_segments[0]))
    return np.array(found)


@PAPER.claim(
    "wish.other_controllers",
    *(configuration for c in (*BOTH, *ALTERNATIVES) for configuration in points(c)),
    *(point(c, *PRINTED) for c in OTHERS),
)
def other_controllers(claim: Claim, lab: Laboratory) -> Finding:
    """wVegas and dynamic window coupling at every point, the rest of the family at one."""
    rows = []
    for p in POINTS:
        own = {
            c: interval(over_points(lab, c, p, lambda x: x[:, SUB1]))
            for c in (*ALTERNATIVES, *BOTH)
        }
        theirs = {c: interval(over_points(lab, c, p, lambda x: x[:, TCP])) for c in own}
        rows.append(f"{p:g}: " + ", ".join(f"{c} {own[c]} / {theirs[c]}" for c in own))
    names = (*OTHERS, *BOTH)
    checks = [
        holds(
            f"{c}: every point runs under it, and a transfer is complete in time",
            claim.expected["output"],
            all(_competes(lab[point(c, p, r)], c) for p, r in EVERY),
        )
        for c in ALTERNATIVES
    ]
    one = "; ".join(f"{c} {three(lab, point(c, *PRINTED))}" for c in names)
    why = (
        f"Subflow 1 / TCP in kb/s, mean over redundancies, by loss: {'; '.join(rows)}. At a loss of 0.01 and a redundancy "
        "of 1.05, subflow 0 / "
        f"subflow 1 / TCP: {one}. The ledger asks for the numbers and has no band for them: what is checked is that they "
        "are those of these controllers over a whole competition period. dwc is a reconstruction from its paper's text."
    )
    return finding(claim, lab.world.name, checks, why)


def _competes(result: Result, controller: str) -> bool:
    """Whether the multipath flow has this controller and the competition period ends in
    each run.
    """
    return result.plan.classes[0].controller == controller and all(
        bool(np.isfinite(np.asarray(run.flows.completed_s, dtype=float)).any())
        for run in result.runs
    )


SUMMED = (
    *(configuration for c in BOTH for configuration in points(c)),
    *(mobile(c) for c in BOTH),
    *without_tcp(),
)


@PAPER.claim("summary", *SUMMED)
def summary(claim: Claim, lab: Laboratory) -> Finding:
    """The four conclusions as orderings."""

    def mean(c: str, p: float, column: int) -> Floats:
        return over_points(lab, c, p, lambda x: x[:, column])

    greedy = [(mean(LIA, p, SUB1) - mean(LIA, p, TCP), 0.0, None) for p in POINTS]
    restored = [
        bound
        for p in POINTS
        for bound in (
            (over_points(lab, COUPLE, p, gap) - over_points(lab, LIA, p, gap), 0.0, None),
            (mean(COUPLE, p, TCP) - mean(LIA, p, TCP), 0.0, None),
        )
    ]
    times = [reaction_s(lab[mobile(c)]) for c in (COUPLE, LIA)]
    kept = [(coded_rate(lab, p) - competition(lab, bare(p))[:, SUB1], 0.0, None) for p in POINTS]
    checks: list[Check] = [
        hold_together(
            "1: earlier schemes do not fit coded paths: subflow 1 above the TCP at every loss",
            "holds",
            greedy,
        ),
        hold_together(
            "2: Couple+ moves load away and releases bandwidth to the TCP at every loss",
            "holds",
            restored,
        ),
        within(
            "3: reaction to abnormal loss less that of RTT Compensator (s)",
            "in time",
            times[0] - times[1],
            None,
            0.0,
        ),
        hold_together("4: Couple+ keeps the gain of coding at every loss", "holds", kept),
    ]
    reached = sum(check.verdict == "reproduced" for check in checks)
    excess = {f"{p:g}": over_points(lab, LIA, p, lambda x: x[:, SUB1] - x[:, TCP]) for p in POINTS}
    released = {f"{p:g}": mean(COUPLE, p, TCP) - mean(LIA, p, TCP) for p in POINTS}
    why = (
        f"{reached} of {claim.expected['conclusions']}, as orderings. Means over redundancies by loss, kb/s: subflow 1 "
        "above the TCP with "
        f"RTT Compensator {listed(excess)}; what Couple+ releases to the TCP {listed(released)}; reaction "
        f"{interval(times[0])} and "
        f"{interval(times[1])} s."
    )
    return finding(claim, lab.world.name, checks, why)
