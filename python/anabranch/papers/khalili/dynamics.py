"""Claims about sweeps, flapping, settling and plain TCP: simulated."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, pairwise, permutations

import numpy as np

from ...fairness import dominance, settling_time, swaps
from ...result import Result
from ...statistics import Interval, Verdict, interval, jain, paired, ratio_of_means
from ..findings import (
    Bound,
    Check,
    Finding,
    finding,
    hold_together,
    holds,
    measured,
    within,
)
from ..laboratory import Laboratory
from ..ledger import Claim
from . import oracle, reasons, wireless
from .paper import PAPER, PHIS, SWEEP, scenario_a
from .tables import EXPLAINING_LIA, mbps

FREED_S = 60.0
"""When the TCP flows leave the shared path."""
TAKEN_S = 120.0
"""When others come."""


@PAPER.claim("alg.phi_family", "phi-0.1", "phi-1", "phi-2", "phi-0.1-floor1")
def phi_family(claim: Claim, lab: Laboratory) -> Finding:
    """Ratio of windows at twice the loss."""

    def ratio(configuration: str) -> np.ndarray:
        w1, w2 = (lab[configuration].path("user", path, "cwnd_segments")[:, 0] for path in (0, 1))
        return w1 / w2

    checks = [
        measured(claim, "w1_over_w2_phi2", ratio("phi-2")),
        measured(claim, "w1_over_w2_phi1", ratio("phi-1")),
        measured(claim, "w1_over_w2_phi_near_0", ratio("phi-0.1")),
    ]
    small = lab["phi-0.1"].path("user", 1, "cwnd_segments").mean()
    why = (
        f"At φ = 0.1 the worse path has {small:.1f} segments in the mean: it is kept up by its floor of ssthresh and by "
        "slow start after timeouts, which the formula knows nothing of. With RFC 5681's floor of two segments w1/w2 is "
        f"{interval(ratio('phi-0.1'))}, with a floor of one {interval(ratio('phi-0.1-floor1'))}; the formula has 2¹⁰."
    )
    return finding(claim, lab.world.name, checks, why)


def _first_user(result: Result, measure: str) -> list[np.ndarray]:
    """A path series of the first flow for each seed, shape (samples, paths)."""
    paths = len(result.plan.classes[0].paths)
    return [run.series.paths.column(measure)[:, :paths] for run in result.runs]


@PAPER.claim(
    "alg.fully_coupled_flappy",
    *(f"flap-{law}" for law in ("fully-coupled", "lia", "olia", "uncoupled")),
)
def flappy(claim: Claim, lab: Laboratory) -> Finding:
    """Fraction of time in which one of two equal paths has more than 90 % of the window."""
    laws = ("fully-coupled", "lia", "olia", "uncoupled")
    plan = lab["flap-lia"].plan
    warm = round(plan.warmup_s / plan.sample_s)
    windows = {
        law: [w[warm:] for w in _first_user(lab[f"flap-{law}"], "cwnd_segments")] for law in laws
    }
    dominated = {law: np.array([dominance(w) for w in rows]) for law, rows in windows.items()}
    checks = [
        within(
            "fully coupled less 2 LIA",
            "fully coupled at least 2 LIA",
            paired(dominated["fully-coupled"], 2 * dominated["lia"]),
            0.0,
            None,
        ),
        within(
            "1.5 LIA less OLIA",
            "OLIA at most 1.5 LIA",
            paired(1.5 * dominated["lia"], dominated["olia"]),
            0.0,
            None,
        ),
        *(
            within(
                f"{law.upper()} less uncoupled",
                "uncoupled lowest",
                paired(dominated[law], dominated["uncoupled"]),
                0.0,
                None,
            )
            for law in ("lia", "olia")
        ),
    ]
    per_100_s = 100.0 / (plan.duration_s - plan.warmup_s)
    turns = {law: np.mean([swaps(w) for w in rows]) for law, rows in windows.items()}
    why = "; ".join(
        f"{law}: dominated {interval(dominated[law])} of the time, {turns[law] * per_100_s:.2g} swaps in 100 s"
        for law in laws
    )
    return finding(claim, lab.world.name, checks, f"{why}.", unless=reasons.FLAPPY)


@dataclass(frozen=True)
class Settling:
    """Settling times over seeds; runs that did not settle count with the time they were watched."""

    times_s: np.ndarray
    settled: int

    @property
    def is_bound(self) -> bool:
        """Whether some runs did not settle, so that the mean is a lower bound."""
        return self.settled < len(self.times_s)

    def __str__(self) -> str:
        runs = f"({self.settled} of {len(self.times_s)} runs within {TAKEN_S - FREED_S:g} s)"
        if self.is_bound:
            return f"at least {self.times_s.mean():.3g} s {runs}"
        return f"{interval(self.times_s)} s {runs}"


def _settling(result: Result) -> Settling:
    """Settling times of the freed path until others come.

    The new steady rate is the whole link, which every law here fills in the end.
    """
    shared = result.rates_bps["shared"]
    series = _first_user(result, "arrived_bytes")
    times = np.array(
        [
            settling_time(run.series.t_s, bytes_[:, 1], FREED_S, TAKEN_S, shared)
            for run, bytes_ in zip(result.runs, series, strict=True)
        ]
    )
    return Settling(np.minimum(times, TAKEN_S - FREED_S), int(np.isfinite(times).sum()))


def settling_ratio(claim: Claim, lia: Settling, olia: Settling) -> Check:
    """OLIA's settling time over LIA's: a lower bound where OLIA did not settle, nothing where LIA
    did not.

    A lower bound has no upper end, so it can miss the band above, but never lie inside.
    """
    key = "settling_ratio_olia_over_lia"
    ratio = ratio_of_means(olia.times_s, lia.times_s)
    check = measured(claim, key, ratio)
    if lia.is_bound:
        runs = len(lia.times_s)
        text = f"no ratio: LIA does not settle in {runs - lia.settled} of {runs} runs"
        return replace(check, obtained=text, verdict="undecided")
    if olia.is_bound:
        low = f", its interval from {ratio.low:.2f}" if ratio.n > 1 else ""
        _, high = claim.band(key)
        missed = high is not None and ratio.low > high
        verdict: Verdict = "not_reproduced" if missed else "undecided"
        return replace(check, obtained=f"at least {ratio.mean:.2f}{low}", verdict=verdict)
    return check


@PAPER.claim("alg.olia_responsive", "freed-lia", "freed-olia")
def olia_responsive(claim: Claim, lab: Laboratory) -> Finding:
    """Time until freed capacity is used."""
    lia, olia = (_settling(lab[f"freed-{law}"]) for law in ("lia", "olia"))
    checks = [
        settling_ratio(claim, lia, olia),
        holds(
            "most runs of both settle within 60 s",
            "implied",
            2 * min(lia.settled, olia.settled) > len(lia.times_s),
        ),
    ]
    why = f"Settling time: LIA {lia}, OLIA {olia}."
    return finding(claim, lab.world.name, checks, why, unless=reasons.UNRESPONSIVE)


RESAMPLES = 400
"""Resamples of the seeds, for the interval of a rank correlation."""


def rank_correlation(values: np.ndarray, censored: np.ndarray) -> Interval:
    """Spearman's coefficient of phi and seed means, shape (phis, seeds) each.

    The interval has the middle 95 % of resamples of the seeds. A mean that contains a censored
    value is known from below alone: every order of the means that this allows counts.
    """
    random = np.random.default_rng(7)
    phis, seeds = values.shape
    ends = [_rank_range(values.mean(axis=1), np.asarray(censored.any(axis=1)))]
    for _ in range(RESAMPLES):
        chosen = random.integers(seeds, size=(phis, seeds))
        resampled, unknown = (np.take_along_axis(x, chosen, axis=1) for x in (values, censored))
        ends.append(_rank_range(resampled.mean(axis=1), np.asarray(unknown.any(axis=1))))
    lows, highs = np.array(ends).T
    low, high = np.percentile(lows, 2.5), np.percentile(highs, 97.5)
    half = float(high - low) / 2 if seeds > 1 else math.inf
    return Interval(float(low + high) / 2, half, seeds)


def _rank_range(means: np.ndarray, bounds: np.ndarray) -> tuple[float, float]:
    """The least and the largest coefficient of ranks that means allow, those where `bounds` being
    lower bounds.
    """
    ranks = np.arange(len(means))
    found = [
        float(np.corrcoef(ranks, np.argsort(order))[0, 1])
        for order in permutations(range(len(means)))
        if all(
            bounds[later] or (means[earlier] <= means[later])
            for earlier, later in combinations(order, 2)
        )
    ]
    return min(found), max(found)


@PAPER.claim("theory.tradeoff", *(f"{kind}-phi-{phi:g}" for kind in ("a", "freed") for phi in PHIS))
def tradeoff(claim: Claim, lab: Laboratory) -> Finding:
    """Balance against responsiveness over phi, with intervals over seeds."""
    rates = np.stack([mbps(lab, f"a-phi-{phi:g}", "type2") for phi in PHIS])
    settled = [_settling(lab[f"freed-phi-{phi:g}"]) for phi in PHIS]
    times = np.stack([found.times_s for found in settled])
    checks = [
        within(
            "type 2 rate against phi, Spearman",
            "at most -0.9",
            rank_correlation(rates, np.zeros_like(rates, dtype=bool)),
            None,
            -0.9,
        ),
        within(
            "settling time against phi, Spearman",
            "at most -0.9",
            rank_correlation(times, times >= TAKEN_S - FREED_S),
            None,
            -0.9,
        ),
    ]
    rows = (
        f"phi {phi:g}: type 2 {interval(rate)} Mb/s, settling {found}"
        for phi, rate, found in zip(PHIS, rates, settled, strict=True)
    )
    why = (
        f"{'; '.join(rows)}. Intervals are of {RESAMPLES} resamples of the seeds; a mean with runs that did not settle may "
        "have any rank from its lower bound on."
    )
    return finding(claim, lab.world.name, checks, why)


@PAPER.claim("sec4.monotone_n1", *(f"a-lia-{n1}" for n1 in SWEEP), *EXPLAINING_LIA[30])
def monotone(claim: Claim, lab: Laboratory) -> Finding:
    """Type 2 falls as N1 grows, near the fixed point up to 30 users and not above it beyond."""
    type2 = {n1: mbps(lab, f"a-lia-{n1}", "type2") for n1 in SWEEP}
    fixed = {n1: oracle.fixed_point("scenario-a", "lia", scenario_a(n1))["type2"] for n1 in SWEEP}
    drops: list[Bound] = [(type2[a] - type2[b], 0.0, None) for a, b in pairwise(SWEEP)]
    checks = [hold_together("type 2 strictly decreasing", claim.expected["trend"], drops)]
    for n1 in SWEEP:
        low = fixed[n1] - 0.08 if n1 <= 30 else None
        checks.append(
            within(f"type2_n{n1}", f"fixed point {fixed[n1]:.3f}", type2[n1], low, fixed[n1] + 0.08)
        )
        checks.append(
            within(f"type1_n{n1}", "0.90 to 1.00", mbps(lab, f"a-lia-{n1}", "type1"), 0.9, 1.0)
        )
    return finding(claim, lab.world.name, checks, unless=reasons.small_windows(lab))


@PAPER.claim("sec1.tcp_baseline", "tcp-equal", "tcp-unequal")
def tcp_baseline(claim: Claim, lab: Laboratory) -> Finding:
    """Plain TCP shares equally at equal RTT and favours the shorter one."""
    equal = lab["tcp-equal"]
    rates = np.concatenate([equal.users("near"), equal.users("far")], axis=1)
    unequal = mbps(lab, "tcp-unequal", "near") / mbps(lab, "tcp-unequal", "far")
    checks = [
        measured(claim, "jain_equal_rtt", jain(rates)),
        measured(claim, "throughput_ratio_rtt_2", unequal),
    ]
    return finding(claim, lab.world.name, checks)


@PAPER.claim(
    "sec1.mptcp_benefits",
    *(f"goal1-{ratio}{path}" for ratio in (1, 2, 4) for path in ("", "-empty", "-busy")),
    "shared-lia",
    "shared-uncoupled",
)
def mptcp_benefits(claim: Claim, lab: Laboratory) -> Finding:
    """LIA against a TCP on the best path, and on a shared bottleneck."""
    checks = []
    for slower in (1, 2, 4):
        alone = (mbps(lab, f"goal1-{slower}-{path}", "user") for path in ("empty", "busy"))
        best = max(alone, key=np.mean)
        relative = ratio_of_means(mbps(lab, f"goal1-{slower}", "user"), best)
        low, high = claim.band("goal1_ratio")
        checks.append(
            within(f"goal 1 ratio at RTT ratio {slower}", "at least 1", relative, low, high)
        )
    share = {
        law: mbps(lab, f"shared-{law}", "multipath") / mbps(lab, f"shared-{law}", "tcp")
        for law in ("lia", "uncoupled")
    }
    checks.append(measured(claim, "shared_bottleneck_lia_over_tcp", share["lia"]))
    checks.append(
        within("shared_bottleneck_uncoupled_over_tcp", "1.7 to 2.3", share["uncoupled"], 1.7, 2.3)
    )
    return finding(claim, lab.world.name, checks)


def over_lia(lab: Laboratory, name: Callable[[str], str]) -> np.ndarray:
    """The user's throughput under OLIA over that under LIA: for each seed a value whose mean is the
    ratio of means and whose spread is that ratio's (see `ratio_of_means`).
    """
    lia, olia = (mbps(lab, name(law), "user") for law in wireless.LAWS)
    ratio = olia.mean() / lia.mean()
    return np.asarray(ratio + (olia - ratio * lia) / lia.mean())


LEAST = 0.95
"""OLIA over LIA: a point of the design below it counts as lost."""
LOST = 0.1
"""The part of the design's points that may be lost."""


def few_lost(ratios: Sequence[Interval]) -> Check:
    """Whether at most a tenth of the points lies below 0.95; undecided while the answer depends on
    intervals that straddle 0.95.
    """
    certain, possible = (
        sum(end < LEAST for end in ends)
        for ends in ([r.high for r in ratios], [r.low for r in ratios])
    )
    most = LOST * len(ratios)
    verdict: Verdict = (
        "not_reproduced" if certain > most else "undecided" if possible > most else "reproduced"
    )
    return Check(
        f"points of the design below {LEAST}",
        f"at most {most:g} of {len(ratios)}",
        f"{certain} for certain, {possible} with their intervals",
        None,
        verdict,
    )


@PAPER.claim("sec7.wireless_followups", *wireless.configurations())
def wireless_followups(claim: Claim, lab: Laboratory) -> Finding:
    """OLIA over LIA with Wi-Fi and cellular, and over a design that fills a space of networks."""
    numbers = range(1, wireless.POINTS + 1)
    every = np.array([over_lia(lab, partial(wireless.point, n)) for n in numbers])
    points = [interval(values) for values in every]
    checks = [
        within(
            "OLIA over LIA, Wi-Fi and cellular", "at least 1", over_lia(lab, wireless.base), 1, None
        ),
        within("OLIA over LIA, mean of the design", "at least 1", every.mean(axis=0), 1, None),
        few_lost(points),
    ]
    rates = {law: interval(mbps(lab, wireless.base(law), "user")) for law in wireless.LAWS}
    bursts = ", ".join(
        f"{name} {interval(over_lia(lab, partial(wireless.beside, name)))}"
        for name in wireless.BURSTS
    )
    low, high = (pick(points, key=lambda r: r.mean) for pick in (min, max))
    why = (
        f"Wi-Fi and cellular, Mb/s: LIA {rates['lia']}, OLIA {rates['olia']}; ratio with {bursts}. The design's "
        f"{len(points)} networks lie between {low} and {high}. The networks are the ledger's: the draft gives none, and "
        "what the studies that it cites measured is not repeated here."
    )
    worst_of = 1 + points.index(low)
    return finding(claim, lab.world.name, checks, why, unless=_left_alone(lab, worst_of))


def _left_alone(lab: Laboratory, number: int) -> str:
    """The windows of both laws at a point of the design."""
    windows = {
        law: [
            lab[wireless.point(number, law)].path("user", path, "cwnd_segments").mean()
            for path in (0, 1)
        ]
        for law in wireless.LAWS
    }
    words = " and ".join(
        f"{law.upper()} has {' and '.join(f'{w:.1f}' for w in both)} segments"
        for law, both in windows.items()
    )
    return (
        "OLIA leaves a path whose l/rtt² is smaller at a few segments, also where its link has the larger rate and nobody "
        f"else uses it. At the lowest point (number {number}) {words} on Wi-Fi and cellular."
    )
