"""Figures 12 and 13: a terminal that leaves Wi-Fi and comes back."""

from __future__ import annotations

import numpy as np

from ...plan import Link as LinkPlan
from ...plan import Plan
from ...result import Result
from ...statistics import Interval, interval, ratio_of_means
from ..findings import Finding, finding, measured, within
from ..laboratory import Laboratory
from ..ledger import Claim
from .configurations import BOTH, CALLED, COUPLE, LIA, mobile
from .paper import PAPER
from .reading import FLOW_PATHS, SUB0, SUB1, TCP, Floats, bins_kbps, listed, path_series, total

CONFIGURATIONS = tuple(mobile(c) for c in BOTH)
WIFI = FLOW_PATHS[SUB1]
LEAST = 1.0
"""The smallest window, in segments."""
BAD = 0.3
"""The ledger's clock starts when Wi-Fi loses more than this."""


def _wifi(plan: Plan) -> LinkPlan:
    (link,) = [link for link in plan.links if link.name == "wifi"]
    return link


def worse_s(plan: Plan, above: float | None = None) -> float:
    """When Wi-Fi first loses more than it does at rest, or more than `above`."""
    link = _wifi(plan)
    least = link.loss if above is None else above
    return next(c.at_s for c in link.changes if c.loss is not None and c.loss > (least or 0.0))


def outage_s(plan: Plan) -> tuple[float, float]:
    """From when until when Wi-Fi loses everything."""
    rows = [(c.at_s, c.loss) for c in _wifi(plan).changes if c.loss is not None]
    gone = next(t for t, loss in rows if loss == 1.0)
    return gone, next(t for t, loss in rows if t > gone and loss < 1.0)


def mean_kbps(
    lab: Laboratory, configuration: str, start: int, end: int, path: int = SUB1
) -> Floats:
    """The mean of bins of 1 s from a time to another."""
    return np.asarray(bins_kbps(lab[configuration], FLOW_PATHS[path])[:, start:end].mean(axis=1))


@PAPER.claim("fig12-13.decrease_after_20", *CONFIGURATIONS)
def decrease(claim: Claim, lab: Laboratory) -> Finding:
    """Subflow 1 during the excursion and after it, over before."""
    checks, rows = [], []
    for c in BOTH:
        before, during, after = (
            mean_kbps(lab, mobile(c), *span) for span in ((10, 20), (22, 30), (36, 46))
        )
        for key, values in (("during_over_before", during), ("after_over_before", after)):
            low, high = claim.band(key)
            ratio = ratio_of_means(values, before)
            low = low or None  # no ratio of rates is below 0, though an interval may be
            checks.append(within(f"{key}, {CALLED[c]}", claim.expected[key], ratio, low, high))
        rows.append(f"{CALLED[c]} {interval(before)}, {interval(during)}, {interval(after)}")
    why = f"Subflow 1 in 10 to 20 s, 22 to 30 s and 36 to 46 s, kb/s: {'; '.join(rows)}."
    return finding(claim, lab.world.name, checks, why, unless=after_outage(lab))


def after_outage(lab: Laboratory) -> str:
    """Why the subflow stays down after the outage."""
    timeouts = {CALLED[c]: total(lab, mobile(c), WIFI, "timeouts") for c in BOTH}
    silent = {
        CALLED[c]: _first_after(lab[mobile(c)], outage_s(lab[mobile(c)].plan)[1]) for c in BOTH
    }
    return (
        f"Timeouts of subflow 1 in a run: {listed(timeouts)}. While nothing comes through, the timeout doubles; the first "
        "new "
        f"payload after 27 s comes at {listed(silent, ' s')}, and from one segment linked increases raise a path by less "
        "than one segment in "
        "a round trip, beside a TCP that has had the link for itself."
    )


def _first_after(result: Result, start_s: float) -> Floats:
    found = []
    for t_s, taken in path_series(result, "taken_bytes", WIFI):
        base = np.interp(start_s, t_s, taken)
        later = t_s[(t_s > start_s) & (taken > base)]
        found.append(later[0] if len(later) else t_s[-1])
    return np.array(found)


@PAPER.claim("fig12-13.lowest", *CONFIGURATIONS)
def lowest(claim: Claim, lab: Laboratory) -> Finding:
    """Subflow 1 around the outage, and its least second."""
    edges = [(20, 25), (27, 32)]
    around, least = {}, {}
    for c in BOTH:
        bins = bins_kbps(lab[mobile(c)], WIFI)
        own = np.concatenate([bins[:, a:b] for a, b in edges], axis=1)
        around[c], least[c] = own.mean(axis=1), own.min(axis=1)
    checks = [
        measured(claim, "ratio_rttc_over_couple", ratio_of_means(around[LIA], around[COUPLE])),
        within(
            "least second of RTT Compensator less that of Couple+ (kb/s)",
            "not lower",
            least[LIA] - least[COUPLE],
            0.0,
            None,
        ),
    ]
    approach = {CALLED[c]: mean_kbps(lab, mobile(c), 20, 25) for c in BOTH}
    return_ = {CALLED[c]: mean_kbps(lab, mobile(c), 27, 32) for c in BOTH}
    why = (
        f"20 to 25 s: {listed(approach)} kb/s; 27 to 32 s: {listed(return_)} kb/s; least second of both spans: "
        f"{listed({CALLED[c]: least[c] for c in BOTH})} kb/s."
    )
    return finding(claim, lab.world.name, checks, why, unless=after_outage(lab))


def reaction_s(result: Result) -> Floats:
    """Time from Wi-Fi's first worsening until the window is at most half of its mean in 10 to 20 s
    and stays so until the outage is over; to the outage's end if never.

    The clock starts before the first event that a sender could react to. A window that falls below
    half for a moment in its own sawtooth has not reacted. Half of a window below two segments
    counts as one segment, the smallest window.
    """
    start, end = worse_s(result.plan), outage_s(result.plan)[1]
    found = []
    for t_s, window, half in _halves(result):
        large = t_s[(t_s >= start) & (t_s < end) & (window > half)]
        later = t_s[t_s > large[-1]] if len(large) else [start]
        found.append(min(later[0], end) - start)
    return np.array(found)


def first_half_s(result: Result) -> Floats:
    """The ledger's clock: time from a loss above 0.3 until the window is first at most half of its
    mean in 10 to 20 s; to the outage's end if never.
    """
    start, end = worse_s(result.plan, BAD), outage_s(result.plan)[1]
    found = []
    for t_s, window, half in _halves(result):
        small = t_s[(t_s >= start) & (t_s < end) & (window <= half)]
        found.append((small[0] if len(small) else end) - start)
    return np.array(found)


def _halves(result: Result) -> list[tuple[Floats, Floats, float]]:
    """Times, windows, and half of the mean window in 10 to 20 s, for each seed."""
    return [
        (t_s, window, max(float(window[(t_s >= 10) & (t_s < 20)].mean()) / 2, LEAST))
        for t_s, window in path_series(result, "cwnd_segments", WIFI)
    ]


@PAPER.claim("fig12-13.window", *CONFIGURATIONS)
def window(claim: Claim, lab: Laboratory) -> Finding:
    """Time for which the window stays large on the failing link."""
    times = {c: reaction_s(lab[mobile(c)]) for c in BOTH}
    checks = [measured(claim, "reaction_ratio", ratio_of_means(times[COUPLE], times[LIA]))]
    sizes = {CALLED[c]: _before(lab[mobile(c)]) for c in BOTH}
    plan = lab[mobile(COUPLE)].plan
    ledgers = {c: first_half_s(lab[mobile(c)]) for c in BOTH}
    already = {CALLED[c]: float(np.mean(ledgers[c] < 0.1)) for c in BOTH}
    why = (
        f"From {worse_s(plan):g} s, when Wi-Fi begins to worsen, until the window is at most half of its mean in 10 to 20 s "
        f"and stays so, sampled every 50 ms: {listed({CALLED[c]: times[c] for c in BOTH}, ' s')}; that mean: "
        f"{listed(sizes)} segments. The ledger's clock starts at {worse_s(plan, BAD):g} s, when Wi-Fi loses more than "
        f"{BAD:g}, and stops when the window is first below half, as it is at the start already in "
        f"{', '.join(f'{name} {part:.2f}' for name, part in already.items())} of the runs: "
        f"{listed({CALLED[c]: ledgers[c] for c in BOTH}, ' s')}."
    )
    return finding(claim, lab.world.name, checks, why)


def _before(result: Result) -> Floats:
    return np.array(
        [w[(t >= 10) & (t < 20)].mean() for t, w in path_series(result, "cwnd_segments", WIFI)]
    )


@PAPER.claim("fig12-13.fairness_kept", *CONFIGURATIONS)
def fairness_kept(claim: Claim, lab: Laboratory) -> Finding:
    """Subflow 1 over the TCP before the excursion."""
    ratios = {c: _over_tcp(lab, mobile(c)) for c in BOTH}
    checks = [
        measured(claim, "couple_ratio", ratios[COUPLE]),
        measured(claim, "rttc_ratio", ratios[LIA]),
    ]
    rows = [
        f"{CALLED[c]} "
        + " / ".join(
            str(interval(mean_kbps(lab, mobile(c), 5, 20, path))) for path in (SUB0, SUB1, TCP)
        )
        for c in BOTH
    ]
    why = f"Subflow 0 / subflow 1 / TCP in 5 to 20 s, kb/s: {'; '.join(rows)}."
    unless = (
        "As in the static case: fifteen seconds are not enough for what coding hides to move the windows apart, and with "
        "a loss of "
        "0.05 behind a standing queue Couple+ takes pairs of losses for congestion."
    )
    return finding(claim, lab.world.name, checks, why, unless=unless)


def _over_tcp(lab: Laboratory, configuration: str) -> Interval:
    return ratio_of_means(*(mean_kbps(lab, configuration, 5, 20, path) for path in (SUB1, TCP)))
