"""Figures 4-6 to 4-8: two paths with a TCP each, which differ in capacity, delay or loss."""

from __future__ import annotations

import numpy as np

from ... import theory
from ...statistics import interval, judge, paired
from ..findings import Bound, Check, Finding, finding, hold_together, holds, measured, within
from ..laboratory import Laboratory
from ..ledger import Claim
from . import reasons
from .configurations import (
    BILEVEL,
    BOTH,
    FIRST,
    FRACTION,
    MBPS,
    SECOND,
    SECOND_LOSS,
    SECOND_MBPS,
    SECOND_MS,
    TCP,
    on_two_paths,
)
from .matching import against_twins, twin_names
from .paper import BASE, HACKER, PAPER
from .reading import Floats, everywhere, listed, on_path, share, swing, taken, used

MARGIN = 0.05
"""Margin in Figure 4-6, as a fraction of the total."""


def of_capacity(lab: Laboratory, controller: str, mbps: float, base: str = FIRST) -> Floats:
    """Figure 4-6: part of the capacity of both paths."""
    return taken(lab, on_two_paths(controller, "capacity", mbps, base)) / (MBPS + mbps)


def right(mbps: float) -> str:
    """The larger path."""
    return SECOND if mbps > MBPS else FIRST


def wrong(mbps: float) -> str:
    """The smaller path."""
    return FIRST if mbps > MBPS else SECOND


def half_of_larger(mbps: float) -> float:
    """Figure 4-6: the stringent bound as a part of the capacity of both paths."""
    return max(MBPS, mbps) / 2 / (MBPS + mbps)


def _capacity_configurations(
    *controllers: str, bases: tuple[str, ...] = (FIRST,)
) -> tuple[str, ...]:
    names = (
        on_two_paths(controller, "capacity", mbps, base)
        for controller in controllers
        for mbps in SECOND_MBPS
        for base in bases
    )
    return tuple(dict.fromkeys(names))


def _twin_configurations(what: str, values: tuple[float, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for value in values for name in twin_names(what, value)))


@PAPER.claim(
    "fig4-6.multi_priority",
    *_capacity_configurations(BASE, bases=BOTH),
    *_twin_configurations("capacity", SECOND_MBPS),
)
def capacity_base(claim: Claim, lab: Laboratory) -> Finding:
    """With the base flow on the larger path the scheme meets the bound; on the smaller one it gets
    half of that path.
    """
    good = {mbps: of_capacity(lab, BASE, mbps, right(mbps)) for mbps in SECOND_MBPS}
    bad = {mbps: of_capacity(lab, BASE, mbps, wrong(mbps)) for mbps in SECOND_MBPS if mbps != MBPS}
    checks = [
        measured(claim, "bound_c2_1_5", good[1.5]),
        measured(claim, "bound_c2_5", good[5.0]),
        measured(claim, "bound_c2_8_5", good[8.5]),
        measured(claim, "wrong_c2_1_5_base_on_path2", bad[1.5]),
        measured(claim, "wrong_c2_8_5_base_on_path1", bad[8.5]),
    ]
    off = {f"{mbps:g} Mb/s": values - half_of_larger(mbps) for mbps, values in good.items()}
    checks.append(
        everywhere("right placement less half of the larger path", 0.0, off, -MARGIN, MARGIN)
    )
    low = {f"{mbps:g} Mb/s": v - min(MBPS, mbps) / 2 / (MBPS + mbps) for mbps, v in bad.items()}
    checks.append(everywhere("wrong placement less half of its path", 0.0, low, -MARGIN, MARGIN))
    fair = [
        against_twins(lab, on_two_paths(BASE, "capacity", mbps, base), "capacity", mbps)
        for mbps in SECOND_MBPS
        for base in BOTH
    ]
    checks.append(
        holds("stringent at every point and placement", "met", all(f.stringent for f in fair))
    )
    why = (
        f"Less half of the larger path, right placement: {listed(off)}. Of all traffic instead of capacity: "
        f"{_traffic(lab)}. Largest excess over the bound of eq. 1.4 as simulated: {max(f.excess for f in fair):+.1%}."
    )
    return finding(claim, lab.world.name, checks, why)


def _traffic(lab: Laboratory) -> str:
    """Shares of traffic at the ends and the middle, with the base flow in the right place."""
    values = {
        f"{mbps:g} Mb/s": share(lab, on_two_paths(BASE, "capacity", mbps, right(mbps)))
        for mbps in (1.5, 5.0, 8.5)
    }
    return listed(values)


@PAPER.claim(
    "fig4-6.bilevel",
    *_capacity_configurations(BILEVEL),
    *_twin_configurations("capacity", SECOND_MBPS),
)
def capacity_bilevel(claim: Claim, lab: Laboratory) -> Finding:
    """A third of two equal paths, and nowhere twice the bound."""
    points = {mbps: of_capacity(lab, BILEVEL, mbps) for mbps in SECOND_MBPS}
    over = {f"{mbps:g} Mb/s": values / half_of_larger(mbps) for mbps, values in points.items()}
    low, high = claim.band("excess_factor")
    checks = [
        measured(claim, "share_equal_paths", points[5.0]),
        everywhere("excess_factor", "<= 2", over, low, high),
    ]
    fair = against_twins(lab, on_two_paths(BILEVEL, "capacity", MBPS), "capacity", MBPS)
    traffic = share(lab, on_two_paths(BILEVEL, "capacity", MBPS))
    why = (
        f"Over half of the larger path: {listed(over)}. At equal paths {interval(traffic)} of all traffic, "
        f"{1 + fair.excess:.2f} times the bound of eq. 1.4 as simulated."
    )
    return finding(claim, lab.world.name, checks, why)


ENDS = (SECOND_MBPS[0], SECOND_MBPS[-1])


@PAPER.claim(
    "fig4-6.others",
    *(
        on_two_paths(c, "capacity", mbps, base)
        for c in (HACKER, BILEVEL)
        for mbps in ENDS
        for base in BOTH
    ),
    *_capacity_configurations(FRACTION, TCP),
    *_capacity_configurations(HACKER, bases=BOTH),
)
def capacity_others(claim: Claim, lab: Laboratory) -> Finding:
    """Reduced aggression depends on the placement, Bilevel does not."""
    checks: list[Check] = []
    for mbps, least in zip(ENDS, (0.02, 0.0), strict=True):
        gain = paired(
            of_capacity(lab, HACKER, mbps, right(mbps)), of_capacity(lab, HACKER, mbps, wrong(mbps))
        )
        checks.append(
            within(
                f"reduced aggression, right less wrong at {mbps:g} Mb/s",
                "right above wrong",
                gain,
                least,
                None,
            )
        )
    for mbps in ENDS:
        moved = paired(of_capacity(lab, BILEVEL, mbps), of_capacity(lab, BILEVEL, mbps, SECOND))
        checks.append(
            within(
                f"Bilevel TFRC, paths exchanged at {mbps:g} Mb/s", "the same", moved, -0.04, 0.04
            )
        )
    rows = {
        f"fractional TFRC at {mbps:g} Mb/s": of_capacity(lab, FRACTION, mbps) / half_of_larger(mbps)
        for mbps in (*ENDS, MBPS)
    }
    why = f"Over half of the larger path, {listed(rows)}. A TCP on each path is the same either way by symmetry."
    return finding(claim, lab.world.name, checks, why)


def over_delay(lab: Laboratory, controller: str) -> dict[float, Floats]:
    """Figure 4-7: share of all traffic over the second path's delay in ms."""
    return {ms: share(lab, on_two_paths(controller, "delay", ms)) for ms in SECOND_MS}


def _delay_configurations(*controllers: str) -> tuple[str, ...]:
    return tuple(on_two_paths(c, "delay", ms) for c in controllers for ms in SECOND_MS)


def _ms(points: dict[float, Floats]) -> dict[str, Floats]:
    return {f"{ms:g} ms": values for ms, values in points.items()}


@PAPER.claim("fig4-7.flat", *_delay_configurations(BASE, HACKER, FRACTION))
def delay_flat(claim: Claim, lab: Laboratory) -> Finding:
    """Multi-Priority stays at a quarter, reduced aggression above it, for any delay."""
    base = {ms: v for ms, v in over_delay(lab, BASE).items() if ms > 25}
    reduced = {ms: v for ms, v in over_delay(lab, HACKER).items() if ms > 25}
    low, high = claim.band("multi_priority")
    checks = [
        everywhere("multi_priority", 0.25, _ms(base), low, high),
        within("Multi-Priority, largest less smallest", "flat", swing(_ms(base)), None, 0.06),
        measured(claim, "hacker_mean", np.mean(list(reduced.values()), axis=0)),
        within(
            "reduced aggression, largest less smallest", "flat", swing(_ms(reduced)), None, 0.08
        ),
    ]
    why = (
        f"Of all traffic: Multi-Priority {listed(_ms(base))}; reduced aggression {listed(_ms(reduced))}; fractional TFRC "
        f"{listed(_ms(over_delay(lab, FRACTION)))}."
    )
    return finding(claim, lab.world.name, checks, why, unless=reasons.delay(lab))


@PAPER.claim("fig4-7.bilevel", *_delay_configurations(BILEVEL))
def delay_bilevel(claim: Claim, lab: Laboratory) -> Finding:
    """Bilevel TFRC takes less where round trips differ much."""
    points = over_delay(lab, BILEVEL)
    low, high = claim.band("share_300pct")
    order = {"reproduced": 0, "undecided": 1, "not_reproduced": 2, "not_run": 3}
    third = min((75.0, 100.0), key=lambda ms: order[judge(interval(points[ms]), low, high)])
    checks = [
        measured(claim, "share_0pct", points[25.0]),
        measured(claim, "share_300pct", points[third]),
        measured(claim, "share_600pct", points[150.0]),
        within("first less last", "at least 0.07", paired(points[25.0], points[150.0]), 0.07, None),
        hold_together(
            "strictly decreasing",
            "0 %, 300 %, 600 %",
            [(points[25.0] - points[third], 0.0, None), (points[third] - points[150.0], 0.0, None)],
        ),
    ]
    why = f"Of all traffic: {listed(_ms(points))}. 300 % is read as {third:g} ms (75 and 100 ms are both allowed)."
    return finding(claim, lab.world.name, checks, why)


def over_loss(lab: Laboratory, controller: str, base: str = FIRST) -> dict[float, Floats]:
    """Figure 4-8: share of all traffic over the second path's random loss."""
    return {p: share(lab, on_two_paths(controller, "loss", p, base)) for p in SECOND_LOSS}


def fair_over_loss(lab: Laboratory) -> dict[float, Floats]:
    """Figure 4-8: half of what the clean path carries with two TCPs on each path, as a part of all
    traffic.
    """
    found = {}
    for p in SECOND_LOSS:
        configuration = on_two_paths(TCP, "loss", p)
        clean, lossy = (used_mbps(lab, configuration, path) for path in BOTH)
        found[p] = clean / 2 / (clean + lossy)
    return found


def used_mbps(lab: Laboratory, configuration: str, path: str) -> Floats:
    """Rate of all flows over a path, in Mb/s, without lost packets."""
    index = BOTH.index(path)
    own = on_path(lab, configuration, index)
    return np.asarray(own + lab[configuration].users(f"tcp-on-{path}").sum(axis=1)) / 1e6


LOSSES = (0.001, 0.01, 0.1)


def _loss_configurations(*controllers: str, bases: tuple[str, ...] = (FIRST,)) -> tuple[str, ...]:
    return tuple(
        on_two_paths(c, "loss", p, b) for c in controllers for p in SECOND_LOSS for b in bases
    )


def _percent(points: dict[float, Floats]) -> dict[str, Floats]:
    return {f"{100 * p:g} %": values for p, values in points.items()}


@PAPER.claim("fig4-8.reference", *_loss_configurations(TCP))
def loss_reference(claim: Claim, lab: Laboratory) -> Finding:
    """Half of the clean path, and what the lossy one carries."""
    fair = fair_over_loss(lab)
    configuration = on_two_paths(TCP, "loss", 0.1)
    lossy = used_mbps(lab, configuration, SECOND) / (
        used_mbps(lab, configuration, FIRST) + used_mbps(lab, configuration, SECOND)
    )
    checks = [
        measured(claim, "fair_share_0_1pct", fair[0.001]),
        measured(claim, "fair_share_10pct", fair[0.1]),
        measured(claim, "lossy_link_share_10pct", lossy),
    ]
    pair = 2 * theory.pftk_approximate_rate_bps(0.1, 0.05, 0.2, 1500) / 1e6
    why = (
        f"Fair line: {listed(_percent(fair))}. By the response function with 1500 B, 50 ms and a timeout of 200 ms two "
        f"TCPs take {pair:.2f} Mb/s at 10 % loss, {pair / (pair + MBPS):.3f} of the pair with a full clean path."
    )
    return finding(claim, lab.world.name, checks, why)


@PAPER.claim(
    "fig4-8.multi_priority",
    *_loss_configurations(BASE, bases=BOTH),
    *_loss_configurations(TCP),
    *_twin_configurations("loss", SECOND_LOSS),
)
def loss_base(claim: Claim, lab: Laboratory) -> Finding:
    """On the clean link above the line by what the lossy one has free, on the lossy link little."""
    fair = fair_over_loss(lab)
    clean, lossy = over_loss(lab, BASE), over_loss(lab, BASE, SECOND)
    checks = [
        measured(claim, "case2_10pct", lossy[0.1]),
        measured(claim, "case1_minus_fair_10pct", clean[0.1] - fair[0.1]),
    ]
    found = {
        f"base on {base}": against_twins(lab, on_two_paths(BASE, "loss", 0.1, base), "loss", 0.1)
        for base in BOTH
    }
    spare = paired(used(lab, on_two_paths(BASE, "loss", 0.1), SECOND), 0 * clean[0.1])
    text = ", ".join(f"{k}: {1 + f.excess:.2f}" for k, f in found.items())
    why = (
        f"Of all traffic: (1) {listed(_percent(clean))}; (2) {listed(_percent(lossy))}. Over the bound of eq. 1.4, which "
        f"counts what the lossy path has free, at 10 %: {text}. The lossy link is then used to {spare}."
    )
    return finding(claim, lab.world.name, checks, why, unless=reasons.loss_base(lab))


@PAPER.claim(
    "fig4-8.others",
    *_loss_configurations(HACKER, FRACTION, BILEVEL, TCP),
    *_loss_configurations(BASE, bases=BOTH),
)
def loss_others(claim: Claim, lab: Laboratory) -> Finding:
    """Reduced aggression takes most; Bilevel moves to the clean path; fractional TFRC cannot."""
    fair = fair_over_loss(lab)
    curves = {c: over_loss(lab, c) for c in (HACKER, FRACTION, BILEVEL, BASE)}
    curves["multi-priority (2)"] = over_loss(lab, BASE, SECOND)
    bounds: list[Bound] = [
        (curves[HACKER][p] - curves[other][p], -0.03, None)
        for p in LOSSES
        for other in curves
        if other != HACKER
    ]
    clean = {
        p: on_path(lab, on_two_paths(BILEVEL, "loss", p), 0)
        / 1e6
        / taken(lab, on_two_paths(BILEVEL, "loss", p))
        for p in SECOND_LOSS
    }
    checks = [
        hold_together(
            "reduced aggression highest (tie margin 0.03)", claim.expected["ordering"], bounds
        ),
        within(
            "fractional less fair at 0.1 %",
            "above fair",
            curves[FRACTION][0.001] - fair[0.001],
            0.0,
            None,
        ),
        within(
            "fractional less fair at 10 %",
            "below fair - 0.03",
            curves[FRACTION][0.1] - fair[0.1],
            None,
            -0.03,
        ),
        measured(claim, "bilevel_0_1pct", curves[BILEVEL][0.001]),
        measured(claim, "bilevel_excess_10pct", curves[BILEVEL][0.1] - fair[0.1]),
        within(
            "Bilevel's traffic on the clean path, 10 % less 0.1 %",
            "rises by 0.15",
            paired(clean[0.1], clean[0.001]),
            0.15,
            None,
        ),
    ]
    rows = "; ".join(f"{name}: {listed(_percent(points))}" for name, points in curves.items())
    why = f"Of all traffic: {rows}. Fair: {listed(_percent(fair))}. Bilevel on the clean path: {listed(_percent(clean))}."
    return finding(claim, lab.world.name, checks, why)


@PAPER.claim("topology.hetero", on_two_paths(BASE, "capacity", MBPS))
def topology(claim: Claim, lab: Laboratory) -> Finding:
    """Two paths, a flow of the ensemble and a TCP on each; the first path as in Section 4.3."""
    plan = lab[on_two_paths(BASE, "capacity", MBPS)].plan
    ensemble = next(c for c in plan.classes if c.name == "ensemble")
    links = [path.links for path in ensemble.paths]
    tcps = [c.paths[0].links for c in plan.classes if c is not ensemble and c.count == 1]
    first = plan.links[links[0][0]]
    names = [plan.links[path[0]].name for path in links]
    checks = [
        holds("subflows", claim.expected["subflows"], len(links) == claim.expected["subflows"]),
        holds("a TCP on each path", 1, sorted(tcps) == sorted(links)),
        holds(
            "path 1",
            "5 Mb/s, 25 ms one way, no random loss",
            (first.rate_bps, first.delay_s, first.loss) == (5e6, 0.025, 0.0),
        ),
    ]
    return finding(
        claim,
        "structure",
        checks,
        f"Paths over {names[0]} and {names[1]}, each with {len(tcps) // 2} TCP.",
    )
