"""What the authors wished for, and the paper's summary."""

from __future__ import annotations

import numpy as np

from ...result import Result
from ...statistics import interval, ratio_of_means
from ..findings import Check, Finding, finding, hold_together, holds, within
from ..laboratory import Laboratory
from ..ledger import Claim
from .configurations import (
    ALTERNATIVES,
    BOTH,
    CLOSE_S,
    COUPLE,
    EVERY,
    LIA,
    OPEN_S,
    OTHERS,
    POINTS,
    PRINTED,
    RULE,
    bare,
    mobile,
    point,
    points,
    without_tcp,
)
from .mobile import reaction_s
from .paper import PAPER
from .reading import (
    FLOW_PATHS,
    SUB1,
    TCP,
    Floats,
    competition,
    listed,
    over_points,
    path_series,
    three,
)
from .static import gap
from .uncongested import coded_rate

SLOW, PATIENCE_S = 0.1, 2.0
"""The ledger's rule: a subflow is suspended after so long below such a part of its mean rate."""


def closes_s(result: Result) -> Floats:
    """When the rule would close Wi-Fi, by seed, from the excursion's begin on."""
    found = []
    for t_s, taken in path_series(result, "taken_bytes", FLOW_PATHS[SUB1]):
        at = np.arange(20.0, 30.0, 0.25)
        rate = (np.interp(at, t_s, taken) - np.interp(at - PATIENCE_S, t_s, taken)) / PATIENCE_S
        slow = at[rate < SLOW * np.interp(20.0, t_s, taken) / 20.0]
        found.append(slow[0] if len(slow) else 30.0)
    return np.array(found)


@PAPER.claim("wish.path_selection", mobile(COUPLE), mobile(LIA), "mobile-closed")
def path_selection(claim: Claim, lab: Laboratory) -> Finding:
    """Wi-Fi closed and opened again at the times that a rule gives."""
    closed = "mobile-closed"
    peaks = {
        configuration: lab[configuration].rate("multipath", "held_max_bytes") / 1e3
        for configuration in (mobile(COUPLE), closed)
    }
    rates = {
        configuration: lab[configuration].rate("multipath", "goodput_bps") / 1e3
        for configuration in peaks
    }
    kept = ratio_of_means(rates[closed], rates[mobile(COUPLE)])
    checks = [
        within(
            "peak of what waits over that without the rule",
            claim.expected["trend"],
            ratio_of_means(peaks[closed], peaks[mobile(COUPLE)]),
            None,
            0.8,
        ),
        within("throughput over that without the rule", "no lower", kept, 1.0, None),
    ]
    times = {c: closes_s(lab[mobile(c)]) for c in BOTH}
    why = (
        f"No rule runs: Wi-Fi leaves at {CLOSE_S} s and joins again at {OPEN_S} s, where the ledger's rule has its "
        "median. Below 10 % of the "
        f"mean rate for 2 s is first met with Couple+ at {interval(times[COUPLE])} s, with RTT Compensator at "
        f"{interval(times[LIA])} s. Peak of what waits: {interval(peaks[mobile(COUPLE)])} kB, with the rule "
        f"{interval(peaks[closed])}; "
        f"mean {interval(lab[mobile(COUPLE)].rate('multipath', 'held_bytes') / 1e3)} and "
        f"{interval(lab[closed].rate('multipath', 'held_bytes') / 1e3)} kB; goodput {interval(rates[mobile(COUPLE)])} and "
        f"{interval(rates[closed])} kb/s."
    )
    unless = (
        "The peak is in the beginning, when slow start has filled the queues of both paths and the first losses are "
        "mended by "
        "timeouts; what Couple+ leaves on the failing path is little, so that closing it takes little away."
    )
    return finding(claim, lab.world.name, checks, why, unless=unless)


@PAPER.claim("wish.coding_parameters", *points(COUPLE, chosen=RULE))
def coding_parameters(claim: Claim, lab: Laboratory) -> Finding:
    """The redundancy that the rule gives at each loss."""
    low, high = claim.band("sub1_over_tcp")
    checks, rows = [], []
    for p, r in RULE:
        rates = competition(lab, point(COUPLE, p, r))
        ratio = ratio_of_means(rates[:, SUB1], rates[:, TCP])
        checks.append(
            within(
                f"sub1 over tcp, loss {p:g}, redundancy {r:g}",
                claim.expected["sub1_over_tcp"],
                ratio,
                low,
                high,
            )
        )
        rows.append(f"{p:g}: {three(lab, point(COUPLE, p, r))}")
    why = (
        "Nothing adapts: each loss has the fixed redundancy 1/(1 - p) + 0.03 that the rule would come to, and loss does "
        "not vary over "
        f"time. Subflow 0 / subflow 1 / TCP, kb/s: {'; '.join(rows)}."
    )
    unless = (
        "The rule bounds redundancy from below by what repairs losses in the mean. What subflow 1 gets depends on how "
        "often two "
        "losses meet in a cycle, and that calls for far more where losses are many."
    )
    return finding(claim, lab.world.name, checks, why, unless=unless)


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
    """Whether the multipath flow has this controller, and each run's competition period an end."""
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
