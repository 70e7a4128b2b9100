"""Claims about topologies, queues and update rules: the program itself is inspected."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ... import _core
from ...plan import Plan, Red
from ...result import run
from ...scenario import load
from ..findings import Finding, finding, holds, measured
from ..laboratory import Laboratory
from ..ledger import Claim
from .paper import PAPER
from .theory import exact

EXACT = 1e-6
"""Relative error allowed for update rules."""


def _ways(scenario: str, name: str) -> list[list[str]]:
    """Bottlenecks of each path of a class, pure delays left out."""
    plan = load(f"khalili/{scenario}").plan()
    (group,) = (c for c in plan.classes if c.name == name)
    links = plan.links
    return [[links[i].name for i in path.links if links[i].rate_bps] for path in group.paths]


def _as_drawn(claim: Claim, got: dict[str, list[str]]) -> Finding:
    """Whether paths cross the links in the document's drawing, in the same order."""
    checks = [holds(k, claim.expected[k], v == claim.expected[k]) for k, v in got.items()]
    return finding(claim, "structure", checks)


@PAPER.claim("topology.a")
def topology_a(claim: Claim, lab: Laboratory) -> Finding:
    """Bottlenecks that each path of scenario A crosses."""
    type1, type2 = _ways("scenario-a", "type1"), _ways("scenario-a", "type2")
    return _as_drawn(
        claim, {"type1_path1": type1[0], "type1_path2": type1[1], "type2_path": type2[0]}
    )


@PAPER.claim("topology.b")
def topology_b(claim: Claim, lab: Laboratory) -> Finding:
    """Providers that each path of scenario B crosses, in any order, and the cut-set bound."""
    from ...theory import max_throughput_bps
    from .oracle import network

    blue, red = _ways("scenario-b", "blue"), _ways("scenario-b", "red")
    got = {"b1": blue[0], "b2": blue[1], "r1": red[0], "r2": red[1]}
    checks = [
        holds(
            k,
            claim.expected[k],
            sorted(v) == sorted(link.lower() for link in claim.expected[k]),
        )
        for k, v in got.items()
    ]
    bound = max_throughput_bps(network("scenario-b-before")) / 1e6
    checks.append(measured(claim, "cut_set_bound", exact(round(bound, 6))))
    return finding(claim, "structure", checks)


@PAPER.claim("topology.c")
def topology_c(claim: Claim, lab: Laboratory) -> Finding:
    """Access points that each path of scenario C crosses."""
    multi, single = _ways("scenario-c", "multipath"), _ways("scenario-c", "single-path")
    return _as_drawn(
        claim, {"multi_path1": multi[0], "multi_path2": multi[1], "single_path": single[0]}
    )


@PAPER.claim("topology.queues")
def queues(claim: Claim, lab: Laboratory) -> Finding:
    """The drop curve that the shipped queue follows, and its scaling with capacity."""

    red = next(iter(reds(load("khalili/scenario-c").plan()).values()))  # of a link of 10 Mb/s

    def p(packets: float) -> float:
        thresholds = {"min_th": red.min_packets, "max_th": red.max_packets}
        return _core.red_drop_probability(packets, max_p=red.max_p, gentle=red.gentle, **thresholds)

    checks = [measured(claim, f"p_at_{q}", exact(p(q))) for q in (25, 50, 100)]
    checks.append(
        holds(
            "mid points",
            "0.05 at 37.5 and 0.55 at 75",
            abs(p(37.5) - 0.05) + abs(p(75) - 0.55) < 1e-12,
        )
    )
    thresholds = {
        name: (red.min_packets, red.max_packets)
        for name, red in reds(load("khalili/scenario-b").plan()).items()
    }
    wanted = {"x": (67.5, 135), "t": (90, 180), "y": (250, 500), "z": (250, 500)}
    checks.append(holds("scaling", claim.expected["scaling"], thresholds == wanted))
    return finding(claim, "structure", checks)


def reds(plan: Plan) -> dict[str, Red]:
    """The RED queues of a plan by the names of their links."""
    return {link.name: link.queue for link in plan.links if isinstance(link.queue, Red)}


def _worst_error(
    controller: str, formula: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
) -> float:
    """Largest relative deviation of the shipped growth from `formula` over random states."""
    random = np.random.default_rng(1)
    worst = 0.0
    for _ in range(2000):
        n = random.integers(1, 5)
        w, rtt = random.uniform(1, 200, n), random.uniform(0.01, 0.5, n)
        p = random.uniform(1e-4, 0.1, n)
        expected = formula(w, rtt, p)
        got = _core.growth(controller, w, rtt, p)
        worst = max(
            worst, float(np.max(np.abs(got - expected) / np.maximum(np.abs(expected), 1e-3 / w)))
        )
    return worst


def _halves_down_to(controller: str, floor: float) -> bool:
    """Whether a loss halves the window of one of two paths, and stops at a floor."""
    windows = (1.0, 1.5, 2.0, 3.0, 8.0, 20.0, 100.0)
    after = [_core.window_after_loss(controller, w, 2) for w in windows]
    return after == [max(w / 2, floor) for w in windows]


def _couples_increase_only(controller: str) -> bool:
    """Whether a sibling's window affects a path's growth but not its window after a loss."""
    rtt, p = np.array([0.1, 0.2]), np.array([0.01, 0.02])
    states = [np.array([8.0, sibling]) for sibling in (4.0, 20.0)]
    growth, backoff = (
        [of(controller, w, rtt, p)[0] for w in states] for of in (_core.growth, _core.backoff)
    )
    return bool(growth[0] != growth[1] and backoff[0] == backoff[1])


@PAPER.claim("alg.lia")
def lia(claim: Claim, lab: Laboratory) -> Finding:
    """Growth per ACK against RFC 6356, typed out here."""

    def rfc6356(w: np.ndarray, rtt: np.ndarray, p: np.ndarray) -> np.ndarray:
        alpha = w.sum() * np.max(w / rtt**2) / np.sum(w / rtt) ** 2
        return np.asarray(np.minimum(alpha / w.sum(), 1 / w))

    checks = [
        holds(
            "increase_per_ack_mss",
            claim.expected["increase_per_ack_mss"],
            _worst_error("lia", rfc6356) < EXACT,
        ),
        holds("decrease", claim.expected["decrease"], _halves_down_to("lia", 2.0)),
    ]
    why = (
        "Windows after a loss are halved and stop at 2 segments: unmodified TCP is RFC 5681's, whose floor RFC 6356 keeps. The "
        "ledger's formula has 1."
    )
    return finding(claim, "structure", checks, why)


@PAPER.claim("alg.olia")
def olia(claim: Claim, lab: Laboratory) -> Finding:
    """Growth per ACK against the companion draft, typed out here, at l = 1/p."""

    def companion(w: np.ndarray, rtt: np.ndarray, p: np.ndarray) -> np.ndarray:
        quality = (1 / p) / rtt**2
        largest, best = w == w.max(), quality == quality.max()
        collected = best & ~largest
        alpha = np.zeros(len(w))
        if collected.any():
            alpha[collected] = 1 / (len(w) * collected.sum())
            alpha[largest] = -1 / (len(w) * largest.sum())
        return np.asarray((w / rtt**2) / np.sum(w / rtt) ** 2 + alpha / w)

    checks = [
        holds("increase", "both terms, within 1e-6", _worst_error("olia", companion) < EXACT),
        holds("loss_response", claim.expected["loss_response"], _halves_down_to("olia", 1.0)),
        holds("couples", claim.expected["couples"], _couples_increase_only("olia")),
    ]
    return finding(claim, "structure", checks)


WATCHED_S = 3.0
"""Time after the last flow's start for which controllers are observed."""


def _runs(scenario: str, controller: str) -> bool:
    """Whether a scenario runs under a controller with rates above zero for its multipath users, or
    for all users if it has no multipath users.
    """
    begun = max(c.start_s + c.spread_s for c in load(scenario).plan().classes) + 1
    short = (f"duration={begun + WATCHED_S:g} s", f"warmup={begun:g} s")
    try:
        result = run(scenario, 1, controller=controller, overrides=short)
    except _core.ScenarioError:
        return False
    several = [c.name for c in result.plan.classes if len(c.paths) > 1]
    return all((result.rate(name) > 0).all() for name in several or result.classes)


@PAPER.claim("sec8.revisit")
def pluggable(claim: Claim, lab: Laboratory) -> Finding:
    """Every controller that the claim names carries data in every scenario, for some seconds."""
    from ...scenario import shipped

    names = ("reno", "lia", "olia", "fully-coupled", "uncoupled", "phi:0.5")
    scenarios = [name for name in shipped() if name.startswith("khalili/")]
    failed = [f"{name} in {s}" for s in scenarios for name in names if not _runs(s, name)]
    why = f"Runs of {len(scenarios)} scenarios under {', '.join(names)}: " + (
        f"nothing arrives with {', '.join(failed)}." if failed else "data arrives in each."
    )
    return finding(
        claim, "structure", [holds("contains", claim.expected["contains"], not failed)], why
    )
