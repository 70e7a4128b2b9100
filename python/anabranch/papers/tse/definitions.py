"""Definitions of Chapter 1 and formulas derived in Chapter 2, evaluated."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ... import theory
from ...fairness import Fairness, ensemble_fairness
from ..findings import Check, Finding, finding, holds, measured, within
from ..laboratory import Laboratory
from ..ledger import Claim
from .configurations import FRACTION, MBPS, MOST, TCP, on_two_paths
from .matching import against_links, against_twins, twin_names
from .paper import BASE, PAPER, independent_name, shared_name
from .reading import compared, exact, listed, share, taken

ROUNDING = 1e-9
"""Relative error allowed for formulas."""


@PAPER.claim("def.tcp_compatible", shared_name(FRACTION, 1))
def tcp_compatible(claim: Claim, lab: Laboratory) -> Finding:
    """TFRC takes no more than a TCP, and does not answer a loss as one does."""
    from ... import _core

    tcp = _core.window_after_loss(TCP, 20.0, 1) / 20.0
    tfrc = mean_interval([100.0] * 9) / mean_interval([0.0] + [100.0] * 8)
    rate = theory.tfrc_rate_bps(1 / 100, 0.05) / theory.tfrc_rate_bps(tfrc / 100, 0.05)
    checks = [
        within(
            "TFRC's share beside one TCP",
            "TCP-fair",
            share(lab, shared_name(FRACTION, 1)),
            None,
            0.55,
        ),
        holds("a TCP's window after one loss is half", "TCP-compatible", tcp == 0.5),
        holds(
            "TFRC's rate after one more usual loss interval is not, by eq. 3.2 and 2.1 (a definition)",
            "not TCP-compatible",
            rate > 0.9,
        ),
    ]
    why = (
        f"After a loss a TCP goes on with {tcp:.2f} of its window; TFRC, whose last eight loss intervals were 100 "
        f"packets, goes on with {rate:.2f} of its rate after a ninth."
    )
    return finding(claim, lab.world.name, checks, why)


WEIGHTS = (1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2)
"""Weights of loss intervals, newest first, as printed."""


def weights(n: int) -> list[float]:
    """The printed formula: `w_i = 1` for i <= n/2, else `1 - (i - n/2)/(n/2 + 1)`."""
    return [1.0 if i <= n / 2 else 1 - (i - n / 2) / (n / 2 + 1) for i in range(1, n + 1)]


def mean_interval(intervals: Sequence[float]) -> float:
    """Eq. 3.2 over the open interval and those before it: the open one counts only if it makes the
    mean longer.
    """
    closed = np.dot(intervals[1:9], WEIGHTS) / sum(WEIGHTS)
    opened = np.dot(intervals[:8], WEIGHTS) / sum(WEIGHTS)
    return float(max(closed, opened))


@PAPER.claim("def.tcp_fair", shared_name(TCP, 1))
def tcp_fair(claim: Claim, lab: Laboratory) -> Finding:
    """Eq. 1.1, and two TCPs on a link."""
    constant = 1.5 * math.sqrt(2 / 3)
    printed = constant * 1500 * 8 / (0.05 * math.sqrt(0.01)) / 1e6
    rare = 1e-12  # at so low a loss the response function has no timeouts
    limit = constant * 1500 * 8 / (0.05 * math.sqrt(rare))
    off = abs(theory.tfrc_rate_bps(rare, 0.05, packet_bytes=1500) / limit - 1)
    checks = [
        measured(claim, "constant", exact(constant)),
        measured(claim, "example_1500B_50ms_1pct", exact(printed)),
        within(
            "response function over eq. 1.1 for rare losses, less 1",
            "exact",
            exact(off),
            None,
            1e-9,
        ),
        within(
            "share of a TCP beside one TCP", "1/(N+1)", share(lab, shared_name(TCP, 1)), None, 0.55
        ),
    ]
    return finding(claim, lab.world.name, checks)


def _random(count: int) -> list[Fairness]:
    """Both definitions over random rates, shares, spare capacities and placements."""
    random = np.random.default_rng(1)
    found = []
    for _ in range(count):
        n = int(random.integers(1, 9))
        names = [f"link {i}" for i in range(int(random.integers(1, n + 1)))]
        where = [names[int(random.integers(len(names)))] for _ in range(n)]
        capacity = {name: float(random.uniform(1, 10)) for name in names}
        spare = {
            name: float(random.choice([0.0, random.uniform(0, 1)])) * capacity[name]
            for name in names
        }
        tcp = [float(random.uniform(0.05, 1)) * capacity[link] for link in where]
        rates = [float(random.uniform(0, 1.2)) * rate / random.integers(1, n + 1) for rate in tcp]
        found.append(ensemble_fairness(rates, where, tcp, spare, capacity))
    return found


@PAPER.claim(
    "def.lenient",
    shared_name(TCP, 4),
    independent_name(TCP, MOST, MOST),
    shared_name(TCP, 1),
    "shared-red-5-without",
    "shared-red-5-alone",
)
def lenient(claim: Claim, lab: Laboratory) -> Finding:
    """The evaluator on eq. 1.2 itself, and on TCPs that share a link and that do not."""
    direct = all(
        f.lenient
        == all(link.ensemble_bps <= link.tcp_bps + f.margin * link.capacity_bps for link in f.links)
        for f in _random(2000)
    )
    together = against_links(lab, shared_name(TCP, 4), contested=1)
    apart = against_links(lab, independent_name(TCP, MOST, MOST), contested=MOST)
    checks = [
        holds("predicate", claim.expected["predicate"], direct),
        holds("four TCPs on one link are not lenient", "not allowed", not together.lenient),
        holds("sixteen TCPs on sixteen links are", "allowed", apart.lenient),
    ]
    excess = max(link.excess for link in apart.links)
    why = (
        f"Four TCPs take {together.links[0].ensemble_bps / 1e6:.2f} Mb/s of a link where one in their place has "
        f"{together.links[0].tcp_bps / 1e6:.2f}; of sixteen on links of their own none takes more than "
        f"{excess:+.1%} of its link beyond one in its place. The predicate agrees with eq. 1.2 on 2000 random allocations."
    )
    return finding(claim, lab.world.name, checks, why)


@PAPER.claim(
    "def.stringent",
    *(on_two_paths(c, "capacity", MBPS) for c in (BASE, TCP)),
    *twin_names("capacity", MBPS),
)
def stringent(claim: Claim, lab: Laboratory) -> Finding:
    """The evaluator on eq. 1.4 itself, and on two paths with a TCP each."""
    random = np.random.default_rng(2)
    direct = True
    for _ in range(2000):
        n = int(random.integers(1, 9))
        names = [f"link {i}" for i in range(n)]
        fair, spare, rates = (random.uniform(0, 5, n) for _ in range(3))
        unused = dict(zip(names, spare.tolist(), strict=True))
        limits = dict.fromkeys(names, 10.0)
        found = ensemble_fairness(rates.tolist(), names, fair.tolist(), unused, limits)
        bound = max(fair[p] + spare.sum() - spare[p] for p in range(n))
        within_bound = rates.sum() <= 1.05 * bound
        direct &= abs(found.bound_bps / bound - 1) < ROUNDING and found.stringent == (
            found.lenient and within_bound
        )
    one = against_twins(lab, on_two_paths(BASE, "capacity", MBPS), "capacity", MBPS)
    two = against_twins(lab, on_two_paths(TCP, "capacity", MBPS), "capacity", MBPS)
    one_narrow, two_narrow = (
        against_twins(lab, on_two_paths(c, "capacity", MBPS), "capacity", MBPS, "elsewhere")
        for c in (BASE, TCP)
    )
    checks = [
        holds("predicate", claim.expected["predicate"], direct),
        holds(
            "Multi-Priority TCP on two contested paths is stringent, where all that is unused is spare",
            "met",
            one.stringent,
        ),
        holds(
            "a TCP on each of them is lenient and not stringent, by both readings of spare",
            "not met",
            two.lenient and not two.stringent and not two_narrow.stringent,
        ),
    ]
    why = (
        f"Two paths of 5 Mb/s with a TCP each: the bound is {one.bound_bps / 1e6:.2f} Mb/s, Multi-Priority TCP takes "
        f"{one.total_bps / 1e6:.2f} and a TCP on each path {two.total_bps / 1e6:.2f}. With only what flows leave that are "
        f"limited elsewhere as spare, the bound is {one_narrow.bound_bps / 1e6:.2f} Mb/s, and they are "
        f"{one_narrow.excess:+.0%} and {two_narrow.excess:+.0%} from it."
    )
    return finding(claim, lab.world.name, checks, why)


@PAPER.claim("def.stringent_implies_lenient")
def implication(claim: Claim, lab: Laboratory) -> Finding:
    """Over random allocations, and the counterexample of the reverse."""
    found = _random(10_000)
    strict = [f for f in found if f.stringent]
    names = [f"link {i}" for i in range(16)]
    example = ensemble_fairness(
        [0.5] * 16, names, [0.5] * 16, dict.fromkeys(names, 0.0), dict.fromkeys(names, 1.0)
    )
    checks = [
        holds("implication", claim.expected["implication"], all(f.lenient for f in strict)),
        holds(
            "not the reverse: TCPs on sixteen congested paths",
            "lenient, not stringent",
            example.lenient and not example.stringent,
        ),
    ]
    counts = (len(found), sum(f.lenient for f in found), len(strict))
    return finding(
        claim,
        "structure",
        checks,
        f"Of {counts[0]} random allocations {counts[1]} are lenient and {counts[2]} stringent.",
    )


@PAPER.claim("theory.bilevel_bound")
def bilevel_bound(claim: Claim, lab: Laboratory) -> Finding:
    """`N C/(N k + 1) <= 2 C/(k + 1)` in integers."""
    every = [(n, k) for n in range(1, 65) for k in range(1, 65)]
    good = all(n * (k + 1) <= 2 * (n * k + 1) for n, k in every)
    most = max((n * (k + 1) / (n * k + 1), n, k) for n, k in every)
    checks = [
        holds("bound", claim.expected["bound"], good),
        measured(claim, "n2_k1_fraction_of_total", exact(1 / (2 * 1 + 1))),
    ]
    why = (
        f"Largest factor over a fair share: {most[0]:.3f} at N = {most[1]}, k = {most[2]}; the bound is 2. These are sums on "
        "the formula N C / (N k + 1), a definition: no scheme is run. What Bilevel TFRC takes of two equal paths is judged "
        "for Figure 4-6."
    )
    return finding(claim, "theory", checks, why)


@PAPER.claim("theory.reduced_aggression_decrease")
def reduced_decrease(claim: Claim, lab: Laboratory) -> Finding:
    """The shipped law's answer to one loss, all windows equal."""
    from ... import _core

    left = {}
    for n in (2, 4, 16):
        equal, rtt, p = np.full(n, 10.0), np.full(n, 0.1), np.full(n, 0.01)
        after = equal.copy()
        after[n - 1] = _core.backoff("hacker:all", equal, rtt, p)[n - 1]
        left[n] = float(after.sum() / equal.sum())
    printed = all(abs(left[n] - (n - 0.5) / n) < ROUNDING for n in left)
    checks = [
        measured(claim, "remaining_fraction_n4", exact(left[4])),
        holds("((N-1)+1/2)/N for N = 2, 4, 16", "exact", printed),
    ]
    return finding(claim, "theory", checks)


def optimal_units(k: int, n: int = MOST) -> float:
    """Eq. 1.4 in fair shares, half a link each: `n` links, of which `k` carry a TCP that fills
    them.
    """
    names = [f"link {i}" for i in range(n)]
    fair = [0.5 if i < k else 1.0 for i in range(n)]
    spare = {name: 0.0 if i < k else 1.0 for i, name in enumerate(names)}
    found = ensemble_fairness([0.0] * n, names, fair, spare, dict.fromkeys(names, 1.0))
    return found.bound_bps / 0.5


@PAPER.claim("fig4-5.optimal")
def optimal_line(claim: Claim, lab: Laboratory) -> Finding:
    """The reference line, from the evaluator of eq. 1.4."""
    checks: list[Check] = [
        measured(claim, f"units_k{k}", exact(optimal_units(k))) for k in (0, 8, 16)
    ]
    formula = all(optimal_units(k) == 2 * (MOST - k) + 1 for k in range(1, MOST + 1))
    checks.append(holds("2 (16 - k) + 1 for k = 1 to 16", "exact", formula))
    return finding(claim, "theory", checks)


@PAPER.claim(
    "theory.fractional_underuse",
    f"five-{FRACTION}",
    f"five-{BASE}",
    "five-tcp-on-large",
    "five-tcp-on-small-1",
    "five-without",
)
def fractional_underuse(claim: Claim, lab: Laboratory) -> Finding:
    """Five paths with a TCP each, one of them large."""
    names = ["large", "small-1", "small-2", "small-3", "small-4"]
    capacity = dict(zip(names, (20.0, 1.0, 1.0, 1.0, 1.0), strict=True))
    ideal = ensemble_fairness(
        [0.0] * 5, names, [c / 2 for c in capacity.values()], dict.fromkeys(names, 0.0), capacity
    )
    checks = [
        measured(claim, "ideal_total", taken(lab, f"five-{FRACTION}")),
        measured(claim, "stringent_bound", exact(ideal.bound_bps)),
    ]
    tcp, spare = five_rates(lab)
    found = {name: compared(lab, f"five-{name}", tcp, spare) for name in (FRACTION, BASE)}
    taken_text = listed({name: taken(lab, f"five-{name}") for name in (FRACTION, BASE)})
    why = (
        f"Mb/s in all: {taken_text}. The bound of these queues, where a TCP in place of the ensemble has "
        f"{tcp['large'].mean():.2f} Mb/s of the large path and what one TCP leaves free counts, is "
        f"{found[BASE].bound_bps / 1e6:.2f} Mb/s."
    )
    return finding(claim, lab.world.name, checks, why)


def five_rates(lab: Laboratory) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Rate of a TCP on each of five links, and unused capacity; small links are equal."""
    from .configurations import FIVE
    from .reading import unused

    like = {link: "large" if link == "large" else "small-1" for link in FIVE}
    tcp = {link: taken(lab, f"five-tcp-on-{like[link]}") for link in FIVE}
    return tcp, {link: unused(lab, "five-without", link) for link in FIVE}
