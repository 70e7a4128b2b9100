"""Definitions and theory: predicates, formulas and solvers, with checks of them in small
networks.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from ... import theory
from ...fairness import do_no_harm as no_harm
from ...statistics import interval, ratio_of_means
from ...theory import coding
from ...theory.coding import CodedFlow, CodedNetwork, CodedPath
from ..findings import Finding, finding, hold_together, holds, measured, within
from ..laboratory import Laboratory
from ..ledger import Claim
from .configurations import (
    BOTH,
    CALLED,
    COUPLE,
    EVERY,
    HIDDEN,
    HIDING,
    LIA,
    POINTS,
    PRINTED,
    SINGLE,
    WINDOWS,
    delays,
    hidden,
    hiding,
    point,
    single,
    singles,
)
from .paper import PAPER
from .reading import SUB0, SUB1, Floats, competition, exact, listed, path_series, total

MARGIN = 0.1
"""The ledger's margin of both predicates."""
INSTANCES = 200


def _tcp_rates(losses: Floats, rtts_s: Floats) -> Floats:
    """`sqrt(2/p)/RTT`."""
    return np.asarray(np.sqrt(2 / losses) / rtts_s)


def _random(seed: int) -> tuple[Floats, Floats]:
    """Losses and round trips of two to four paths."""
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 5))
    return 10 ** random.uniform(-3, -1.5, n), random.uniform(0.02, 0.2, n)


def harmless(rates: Floats, tcp: Floats) -> bool:
    """Equation (2) for every set of paths that share a bottleneck: no more than a TCP on the best
    of them.
    """
    sets = [list(s) for k in range(1, len(rates) + 1) for s in combinations(range(len(rates)), k)]
    return no_harm([rates[s].sum() for s in sets], [tcp[s].max() for s in sets], margin=MARGIN)


def _lia_rates(losses: Floats, rtts_s: Floats) -> Floats:
    """RTT Compensator's rates by equation (3)."""
    return np.asarray(coding.aimd_windows(losses, rtts_s) / rtts_s)


@PAPER.claim("def.do_no_harm", point(LIA, *PRINTED), point(COUPLE, *PRINTED), "tcp-on-1")
def do_no_harm(claim: Claim, lab: Laboratory) -> Finding:
    """The predicate over equilibria, of RTT Compensator, of independent TCPs, and where losses are
    hidden.
    """
    fair, greedy, unseen, uneven = [], [], [], []
    for seed in range(INSTANCES):
        p, rtt = _random(seed)
        uneven.append(harmless(_lia_rates(p, rtt), _tcp_rates(p, rtt)))
        p[:], rtt[:] = (
            p[0],
            rtt[0],
        )  # paths over one bottleneck have equal losses, and the paper's equal RTTs
        tcp = _tcp_rates(p, rtt)
        fair.append(harmless(_lia_rates(p, rtt), tcp))
        greedy.append(harmless(tcp, tcp))
        sensed = np.array([*p[:-1], coding.hidden_loss(p[-1], W=6, R=1.15, p_max=0.2)])
        unseen.append(harmless(_lia_rates(sensed, rtt), tcp))
    checks = [
        holds("RTT Compensator, all instances", claim.expected["predicate"], all(fair)),
        holds(
            "independent TCPs on each path violate it in all", "more than one TCP", not any(greedy)
        ),
    ]
    reference = competition(lab, "tcp-on-1")[:, 0].mean()
    taken = {CALLED[c]: competition(lab, point(c, *PRINTED))[:, SUB1].mean() for c in BOTH}
    verdicts = ", ".join(
        f"{name} {rate:.0f} kb/s: {'kept' if no_harm([rate], [reference], margin=MARGIN) else 'violated'}"
        for name, rate in taken.items()
    )
    why = (
        f"{INSTANCES} random flows of two to four paths over one bottleneck with equal round trips, all subsets, margin "
        f"{MARGIN:g}. (With "
        f"losses and round trips of any kind {INSTANCES - sum(uneven)} of {INSTANCES} have some subset that exceeds the "
        "best TCP on it: RTT "
        f"Compensator bounds the whole and each path, not every set between.) With the loss of "
        f"one path hidden as in (4) (W = 6, R = 1.15, p_max = 0.2) {INSTANCES - sum(unseen)} of them violate it. "
        "Simulated, on "
        f"the shared link at a loss of 0.01 and redundancy of 1.05, where a TCP in place of the multipath flow gets "
        f"{reference:.0f} kb/s in its competition: {verdicts}."
    )
    return finding(claim, "theory", checks, why)


@PAPER.claim("def.improve_throughput", point(LIA, *PRINTED), point(COUPLE, *PRINTED), "tcp-on-0")
def improve_throughput(claim: Claim, lab: Laboratory) -> Finding:
    """The predicate over equilibria of RTT Compensator, and of a simulated flow of each scheme."""
    kept, short = [], []
    for seed in range(INSTANCES):
        p, rtt = _random(seed)
        best = _tcp_rates(p, rtt).max()
        kept.append(_lia_rates(p, rtt).sum() >= (1 - MARGIN) * best)
        half = _tcp_rates(p, rtt) / 2 / len(p)
        short.append(half.sum() >= (1 - MARGIN) * best)
    alone = competition(lab, "tcp-on-0")[:, 0]
    checks = [
        holds("RTT Compensator, all instances", claim.expected["predicate"], all(kept)),
        holds(
            "half a TCP divided over the paths violates it in all",
            "less than one TCP",
            not any(short),
        ),
    ]
    ratios = {}
    for c in BOTH:
        both = competition(lab, point(c, *PRINTED))
        ratios[CALLED[c]] = ratio_of_means(both[:, SUB0] + both[:, SUB1], alone)
        checks.append(
            within(
                f"total over a TCP on path 0, {CALLED[c]}",
                "at least 1",
                ratios[c := CALLED[c]],
                1 - MARGIN,
                None,
            )
        )
    why = (
        f"{INSTANCES} random instances, margin {MARGIN:g}. Simulated at a loss of 0.01 and a redundancy of 1.05, a TCP "
        "alone on "
        f"the path that nobody shares has {interval(alone)} kb/s; total over that: {listed(ratios)}."
    )
    return finding(claim, lab.world.name, checks, why)


def _instance(seed: int) -> CodedNetwork:
    """A flow of an own path and a coded one that a TCP shares."""
    random = np.random.default_rng(seed)
    r, w = random.uniform(1.0, 1.25), float(random.integers(1, 7))
    coded = CodedFlow("multipath", (CodedPath((0,)), CodedPath((1,), r=max(r, 1.01), w=w)))
    capacities = (float(random.uniform(0.1, 1.0)), float(random.uniform(0.5, 2.0)))
    return CodedNetwork(capacities, (coded, CodedFlow("tcp", (CodedPath((1,)),))))


SOLVED = range(40)
CODED_R = 1.05


@PAPER.claim("def.balance_congestion", point(LIA, *PRINTED), point(COUPLE, *PRINTED))
def balance_congestion(claim: Claim, lab: Laboratory) -> Finding:
    """Equal prices at the solver's optimum; the order of the gaps between simulated subflows."""
    worst, violated, uneven = 0.0, 0, 0
    for seed in SOLVED:
        network = _instance(seed)
        best, blind = coding.solve(network), coding.ignorant(network)
        worst = max(worst, _excess(network, best))
        both = bool((blind.rates["multipath"] > 1e-4).all())
        uneven += both
        violated += both and _excess(network, blind) > 1e-3
    gaps = {c: np.subtract(*competition(lab, point(c, *PRINTED))[:, :2].T) for c in BOTH}
    checks = [
        within(
            "largest excess of a used path's price at the optimum",
            claim.expected["predicate"],
            exact(worst),
            None,
            1e-6,
        ),
        holds(
            "who ignores coding violates it wherever both paths are used",
            "unequal prices",
            violated == uneven > 0,
        ),
        hold_together(
            "the gap between the subflows is larger with Couple+",
            "ordering only",
            [(gaps[COUPLE] - gaps[LIA], 0.0, None)],
        ),
    ]
    why = (
        f"{len(SOLVED)} random networks; in {uneven} of them who ignores coding uses both paths. Gap of subflow 0 over "
        "subflow "
        f"1 at a loss of 0.01 and a redundancy of 1.05: {listed({CALLED[c]: gaps[c] for c in BOTH}, ' kb/s')}."
    )
    return finding(claim, "theory", checks, why)


def _excess(network: CodedNetwork, found: coding.CodedAllocation) -> float:
    """Relative excess of the dearest used path's price over the cheapest, for the
    multipath flow.
    """
    k = coding.path_prices(network, found.link_prices).k
    return coding.congestion_equality(k, found.rates).flows["multipath"].excess


@PAPER.claim("theory.aimd_balance", *singles())
def aimd_balance(claim: Claim, lab: Laboratory) -> Finding:
    """The solver's residual, and a TCP's mean window under imposed loss."""
    residual = 0.0
    for seed in range(INSTANCES):
        p, rtt = _random(seed)
        windows = coding.aimd_windows(p, rtt)
        residual = max(residual, float(np.abs(coding.aimd_residual(windows, p, rtt)).max()))
    means = {p: total(lab, single(p), ("tcp", 0), "cwnd_segments") for p in SINGLE}
    checks = [
        within("residual of (3)", "0", exact(residual), None, 1e-6),
        measured(claim, "w_tcp_p_0_005", means[0.005]),
        *(
            within(
                f"mean window over sqrt(2/p) at p = {p:g}", 1, means[p] / np.sqrt(2 / p), 0.85, 1.15
            )
            for p in SINGLE
        ),
    ]
    timeouts = {f"p = {p:g}": total(lab, single(p), ("tcp", 0), "timeouts") for p in SINGLE}
    why = f"Mean windows: {listed({f'p = {p:g}': means[p] for p in SINGLE})} segments. Timeouts in 540 s: {listed(timeouts)}."
    unless = (
        "A sawtooth between w and w/2 is 0.87 of sqrt(2/p) in the mean, losses at random make that 0.91, and from ten "
        "segments "
        "down second losses in a window end in timeouts, after which NewReno without SACK begins with one segment."
    )
    return finding(claim, lab.world.name, checks, why, unless=unless)


def sensed_over_true(lab: Laboratory, w: int = 0, r: float = 0.0) -> Floats:
    """Indications over packets sent, over the part of packets that is lost."""
    configuration = hidden(w, r)
    own = {
        m: total(lab, configuration, ("multipath", 0), m)
        for m in ("recoveries", "timeouts", "lost_packets")
    }
    return np.asarray((own["recoveries"] + own["timeouts"]) / own["lost_packets"])


@PAPER.claim("theory.hidden_loss", *hiding())
def hidden_loss(claim: Claim, lab: Laboratory) -> Finding:
    """The formula at the ledger's example, its order, and the loss that a simulated sender
    senses.
    """
    example = {"W": 6, "R": 1.05, "p_max": 0.3}
    ratios = {(w, r): sensed_over_true(lab, w, r) for w, r in HIDDEN}
    grid = [
        [
            [float(coding.hidden_loss(0.02, w, r, 0.3)) for r in (1.02, 1.05, 1.1, 1.2)]
            for w in WINDOWS
        ]
    ][0]
    falling = bool((np.diff(grid, axis=0) < 0).all() and (np.diff(grid, axis=1) < 0).all())
    in_w = [
        (ratios[w, r] - ratios[v, r], 0.0, None)
        for w, v in ((2, 6), (6, 12))
        for r in (1.02, 1.05, 1.08)
        if (w, r) in ratios and (v, r) in ratios
    ]
    in_r = [
        (ratios[w, r] - ratios[w, s], 0.0, None)
        for w in WINDOWS
        for r, s in ((1.02, 1.05), (1.05, 1.08))
        if (w, r) in ratios and (w, s) in ratios
    ]
    checks = [
        measured(claim, "example_D", exact(float(coding.detection_spacing(**example)))),
        measured(claim, "example_p_nc", exact(float(coding.hidden_loss(0.02, **example)))),
        holds(
            "order of the formula",
            claim.expected["ordering"],
            falling and max(map(max, grid)) < 0.02,
        ),
        hold_together(
            "simulated: sensed below true loss",
            "p_nc < p_c",
            [(v, None, 1.0) for v in ratios.values()],
        ),
        hold_together("simulated: falls with the coding window", "falls", in_w),
        hold_together("simulated: falls with redundancy", "falls", in_r),
    ]
    rows = {f"W = {w}, R = {r:g}:": values for (w, r), values in ratios.items()}
    why = (
        f"Simulated: one path alone, {HIDING:g} of its packets lost by chance in place of congestion, 280 s; fast "
        "recoveries and "
        f"timeouts over packets lost: {listed(rows)}; without coding {interval(sensed_over_true(lab))}, since a recovery "
        "mends several losses of one window."
    )
    return finding(claim, lab.world.name, checks, why)


PEAK_S = 1.0
"""About a round trip with full queues: losses of a burst fall within it."""


def detection(lab: Laboratory, configuration: str) -> tuple[Floats, Floats]:
    """By seed: mean packets from the first drop of an episode to the first indication, and the part
    dropped in the second after a first drop, at the peak."""
    from .logs import of_path, of_seeds

    packets, parts = [], []
    result = of_seeds(lab.configurations[configuration], lab[configuration].seeds)
    arrived = path_series(result, "arrived_bytes", ("multipath", 1))
    for run, (t_s, taken) in zip(result.runs, arrived, strict=True):
        events = of_path(run, 0, 1)
        drops = events.times("drop")
        told = events.times("recovery", "timeout")
        size = 1064 if configuration == "delay-coded" else 1052
        spans, since = [], 10.0
        for end in told[told > since]:
            own = drops[(drops > since) & (drops < end)]
            since = end
            if len(own):
                came = (np.interp(end, t_s, taken) - np.interp(own[0], t_s, taken)) / size
                spans.append(came + len(own))
        if not spans and len(drops):  # never told of: as if it were at the end
            spans.append((taken[-1] - np.interp(drops[0], t_s, taken)) / size)
        packets.append(np.mean(spans))
        firsts = drops[np.diff(drops, prepend=-PEAK_S) > PEAK_S]
        lost = sum(int(((drops >= t) & (drops < t + PEAK_S)).sum()) for t in firsts)
        ends = np.minimum(firsts + PEAK_S, t_s[-1])
        came = float(np.sum(np.interp(ends, t_s, taken) - np.interp(firsts, t_s, taken)) / size)
        parts.append(lost / (lost + came))
    return np.array(packets), np.array(parts)


@PAPER.claim("fig2.detection_delay", *delays())
def detection_delay(claim: Claim, lab: Laboratory) -> Finding:
    """Packets from the first drop to the first indication, coded less uncoded, against D."""
    coded, part = detection(lab, "delay-coded")
    plain, _ = detection(lab, "delay-uncoded")
    peak = float(part.mean())
    later = coded - plain
    checks = [within("coded minus uncoded (packets)", "more than 0", later, 0.0, None)]
    bound = float(1 - 1 / CODED_R)
    if peak > bound:
        spacing = float(coding.detection_spacing(6, CODED_R, peak))
        checks.append(measured(claim, "delay_over_D", later / spacing))
        against = f"The part dropped in the second after a first drop is {peak:.3f}; so D = {spacing:.1f} packets"
    else:
        checks.append(holds("delay_over_D", "D has a meaning: R (1 - p_max) < 1", False))
        against = f"The part dropped in the second after a first drop, {peak:.3f}, is below 1 - 1/R = {bound:.3f}: no D"
    why = (
        f"RTT Compensator beside the TCP for 300 s, no wireless loss. Packets from the first drop of the path to its next "
        f"recovery or timeout: coded {interval(coded)}, uncoded {interval(plain)}; later by {interval(later)}. {against}."
    )
    unless = (
        "D is of a loss that stays at its peak. Behind a drop-tail queue losses come in short bursts with long gaps, in "
        "which "
        "redundancy repays the deficit: most bursts are never told of, and the delay is to the first that is beyond the "
        "window."
    )
    return finding(claim, lab.world.name, checks, why, unless=unless)


@PAPER.claim("theory.dual")
def dual(claim: Claim, lab: Laboratory) -> Finding:
    """The optimum by two methods, and prices where flows react to q."""
    apart, residual, dearer, used = 0.0, 0.0, 0, 0
    for seed in SOLVED:
        network = _instance(seed)
        best, prices, blind = (
            coding.solve(network),
            coding.solve_dual(network),
            coding.ignorant(network),
        )
        residual = max(residual, best.residual, prices.residual, blind.residual)
        apart = max(
            apart, *(abs(best.flow_rates[f] - prices.flow_rates[f]) for f in best.flow_rates)
        )
        if (blind.rates["multipath"] > 1e-4).all():
            k = coding.path_prices(network, blind.link_prices).k["multipath"]
            used += 1
            dearer += bool(k[1] > k[0])
    checks = [
        within("residual of the optimality conditions", "0", exact(residual), None, 1e-6),
        within("rates by prices and by the convex program apart", "0", exact(apart), None, 1e-6),
        holds("ordering", claim.expected["ordering"], dearer == used > 0),
    ]
    why = (
        f"{len(SOLVED)} random networks of a two-path flow and a TCP on path 1, r up to 1.25, w from 1 to 6; theory only, "
        "no "
        f"packet is simulated. Where flows react to q, both paths are used in {used}, and the coded one has the higher "
        "true price in "
        f"{dearer} of them. Equations with errors are listed in docs/explanation/coded-paths.md."
    )
    return finding(claim, "theory", checks, why)


@PAPER.claim("theory.concavity")
def concavity(claim: Claim, lab: Laboratory) -> Finding:
    """Equation (13) on the ledger's grid: the sum of 1/k, the slope, and the sign of the second
    derivative.
    """
    identity, second, slope = 0.0, -np.inf, 0.0
    for p in np.linspace(0.001, 0.1, 12):
        for rtt in np.linspace(0.02, 0.2, 10):
            for n in (1, 2, 4):
                k = float(coding.sensed_price(p, rtt))
                y, h = n / k, 1e-4 * n / k
                identity = max(identity, abs(y - n * float(np.sqrt(2 / p) / rtt)) / y)
                u = [float(coding.utility_of_equal_paths(y + i * h, n)) for i in (-1, 0, 1)]
                second = max(second, (u[2] - 2 * u[1] + u[0]) / h**2 * y**2 / n)
                slope = max(slope, abs((u[2] - u[0]) / (2 * h) / k - 1))
    checks = [
        within(
            "second derivative times y²/n, the largest",
            claim.expected["second_derivative"],
            exact(second),
            None,
            -0.9,
        ),
        within("slope over k, off 1", "U' = k", exact(slope), None, 1e-6),
        within(
            "y = n/k against the sum of windows over RTTs", "equal", exact(identity), None, 1e-9
        ),
    ]
    why = "p from 0.001 to 0.1, RTT from 20 to 200 ms, one, two and four equal paths; exactly it is -1 everywhere."
    return finding(claim, "theory", checks, why)


@PAPER.claim("def.redundancy_lower_bound", point(COUPLE, *PRINTED))
def lower_bound(claim: Claim, lab: Laboratory) -> Finding:
    """1/(1 - p) for the three losses, and that every point that is run is above it."""
    bounds = [float(theory.coding.redundancy_bound(p)) for p in POINTS]
    checks = [
        holds(
            "r_min",
            claim.expected["r_min"],
            [round(b, 4) for b in bounds] == claim.expected["r_min"],
        ),
        holds(
            "every point of the static experiments is above",
            "r ≥ 1/(1 - p)",
            all(r >= theory.coding.redundancy_bound(p) for p, r in EVERY),
        ),
    ]
    asked = lab[point(COUPLE, *PRINTED)].plan.classes[0].paths[1].coding
    assert asked is not None, "the path of that configuration is coded"
    why = (
        f"{', '.join(f'{p:g}: {b:.6f}' for p, b in zip(POINTS, bounds, strict=True))}. {len(EVERY)} "
        "points; the plan of the one that the text has numbers of codes with redundancy "
        f"{asked.redundancy:g} and a window of {asked.window}."
    )
    return finding(claim, "theory", checks, why)
