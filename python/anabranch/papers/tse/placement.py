"""Figures 4-10 and 4-11, and the base flow that moves: where subflows are placed."""

from __future__ import annotations

import numpy as np

from ...statistics import paired
from ..findings import Bound, Finding, finding, hold_together, holds, measured, within
from ..laboratory import Laboratory
from ..ledger import Claim
from . import reasons
from .configurations import (
    BOTH,
    BUSY_PATHS,
    FIRST,
    RATES,
    SECOND,
    USERS,
    on_two_paths,
    placed_worst,
)
from .matching import against_twins, against_worst, twin_names
from .paper import BASE, MISPLACED, PAPER, SWITCHING, TRIAL
from .reading import (
    READINGS,
    Floats,
    everywhere,
    exact,
    links_of,
    listed,
    on_path,
    rank,
    share,
    stringent_by_both,
    swing,
    taken,
    used,
)


def of_optimum(lab: Laboratory, mbps: float) -> dict[int, Floats]:
    """Figure 4-10: rate of all flows over both links, over the number of paths on the contested
    one.
    """
    return {m: used(lab, placed_worst(m, mbps), "empty", "contested") for m in BUSY_PATHS}


def _worst_configurations() -> tuple[str, ...]:
    configurations = [placed_worst(m, mbps) for mbps in RATES for m in BUSY_PATHS]
    twins = [
        f"worst-{mbps:g}-{name}"
        for mbps in RATES
        for name in ("tcp-on-empty", "tcp-on-contested", "without")
    ]
    return (*configurations, *twins)


@PAPER.claim("fig4-10", *_worst_configurations())
def figure4_10(claim: Claim, lab: Laboratory) -> Finding:
    """More paths on the contested link draw traffic there, and the empty one lies idle."""
    curves = {mbps: of_optimum(lab, mbps) for mbps in RATES}
    low, high = claim.band("asymptote")
    last = max(BUSY_PATHS)
    ends = {f"{mbps:g} Mb/s": points[last] for mbps, points in curves.items()}
    every = {
        f"{mbps:g} Mb/s, {m} paths": v for mbps, points in curves.items() for m, v in points.items()
    }
    worst_rank = max(rank(BUSY_PATHS, list(points.values())).mean for points in curves.values())
    fall = {f"{mbps:g} Mb/s": points[1] - points[last] for mbps, points in curves.items()}
    faster: list[Bound] = [
        (curves[min(RATES)][m] - curves[max(RATES)][m], 0.0, None) for m in BUSY_PATHS if m >= 8
    ]
    contested = {
        f"{mbps:g} Mb/s, {m} paths": _of_contested(lab, m, mbps)
        for mbps in RATES
        for m in BUSY_PATHS
    }
    found, narrow = (
        [
            against_worst(lab, placed_worst(m, mbps), mbps, spare)
            for mbps in RATES
            for m in BUSY_PATHS
        ]
        for spare in READINGS
    )
    checks = [
        everywhere("asymptote: at 16 shared paths", 0.5, ends, low, high),
        within(
            "Spearman over shared paths, largest of all rates",
            "decreasing",
            exact(worst_rank),
            None,
            -0.8,
        ),
        everywhere("at 1 less at 16 shared paths", "at least 0.1", fall, 0.1, None),
        everywhere("never below 0.48", "towards 0.50", every, 0.48, None),
        hold_together(
            "lowest rate above the highest from 8 paths on", "faster at higher rates", faster
        ),
        everywhere(
            "the ensemble's part of the contested link", "at most 0.55", contested, None, 0.55
        ),
        *stringent_by_both(found, narrow),
    ]
    rows = "; ".join(
        f"{mbps:g} Mb/s: {listed({f'{m}': v for m, v in points.items()})}"
        for mbps, points in curves.items()
    )
    why = (
        f"Used of both links over the number of shared paths: {rows}. Largest excess over eq. 1.4: "
        f"{max(f.excess for f in found):+.1%}, and with only what flows leave that are limited elsewhere "
        f"{max(f.excess for f in narrow):+.1%}."
    )
    return finding(claim, lab.world.name, checks, why, unless=reasons.worst_placement(lab))


def _of_contested(lab: Laboratory, m: int, mbps: float) -> Floats:
    """Share of the ensemble in the contested link."""
    configuration = placed_worst(m, mbps)
    return np.asarray(sum(on_path(lab, configuration, p) for p in range(1, m + 1)) / (1e6 * mbps))


@PAPER.claim("topology.worst_placement", placed_worst(16, 5.0))
def topology(claim: Claim, lab: Laboratory) -> Finding:
    """One path over the empty link, all others over the link of the TCP."""
    configuration = placed_worst(16, 5.0)
    links = links_of(lab, configuration)
    plan = lab[configuration].plan
    tcp = next(c for c in plan.classes if c.name == "tcp")
    contested = plan.links[tcp.paths[0].links[0]].name
    alone = sum(link != contested for link in links)
    checks = [
        holds("subflows_on_empty_path", claim.expected["subflows_on_empty_path"], alone == 1),
        holds("competing TCPs", 1, tcp.count == 1),
    ]
    return finding(
        claim,
        "structure",
        checks,
        f"{links.count(contested)} paths over {contested}, {alone} over the other link.",
    )


def over_users(lab: Laboratory, base: str, controller: str = BASE) -> dict[int, Floats]:
    """Figure 4-11: share of all traffic over the number of TCPs on the first path."""
    return {m: share(lab, on_two_paths(controller, "users", m, base)) for m in USERS}


def _users(points: dict[int, Floats]) -> dict[str, Floats]:
    return {f"m = {m}": values for m, values in points.items()}


def _of_both(lab: Laboratory, base: str) -> dict[str, Floats]:
    """The same as a part of the capacity."""
    return {f"m = {m}": taken(lab, on_two_paths(BASE, "users", m, base)) / 10 for m in USERS}


@PAPER.claim(
    "fig4-11.base_contested", *(on_two_paths(BASE, "users", m, b) for m in USERS for b in BOTH)
)
def base_contested(claim: Claim, lab: Laboratory) -> Finding:
    """With TCPs on the base flow's path, it keeps a share of that path and all of the empty one."""
    base, other = over_users(lab, FIRST), over_users(lab, SECOND)
    checks = [measured(claim, f"m{m}", base[m]) for m in (1, 2, 4)]
    checks.append(
        within(
            "m = 2: above the background-contested case by",
            "at least 0.10",
            paired(base[2], other[2]),
            0.1,
            None,
        )
    )
    why = (
        f"Of all traffic: {listed(_users(base))}. Of the capacity: {listed(_of_both(lab, FIRST))}."
    )
    return finding(claim, lab.world.name, checks, why)


@PAPER.claim(
    "fig4-11.background_contested", *(on_two_paths(BASE, "users", m, SECOND) for m in USERS)
)
def background_contested(claim: Claim, lab: Laboratory) -> Finding:
    """With TCPs on the background flow's path, the TCPs take all of it."""
    points = {m: v for m, v in over_users(lab, SECOND).items() if m >= 1}
    low, high = claim.band("share")
    checks = [
        everywhere("share", 0.5, _users(points), low, high),
        within("largest less smallest", "flat", swing(_users(points)), None, 0.05),
    ]
    why = f"Of all traffic: {listed(_users(points))}. Of the capacity: {listed(_of_both(lab, SECOND))}."
    return finding(claim, lab.world.name, checks, why, unless=reasons.background_share(lab))


def _where(what: str, value: float) -> str:
    words = {"capacity": "{:g} Mb/s", "loss": "{:g} % loss", "users": "{:g} TCPs"}
    return words[what].format(100 * value if what == "loss" else value)


def recovered(lab: Laboratory, controller: str, at_rest: str = BASE) -> dict[str, Floats]:
    """Rate of an ensemble whose base flow begins on the wrong path, relative to that of `at_rest`
    on the right path.
    """
    found = {}
    for what, value, right, wrong in MISPLACED:
        best = taken(lab, on_two_paths(at_rest, what, value, right))
        moved = taken(lab, on_two_paths(controller, what, value, wrong))
        found[_where(what, value)] = np.asarray(moved / best.mean())
    return found


def _switching_configurations() -> tuple[str, ...]:
    names = []
    for what, value, right, wrong in MISPLACED:
        names.append(on_two_paths(BASE, what, value, right))
        names += [on_two_paths(c, what, value, wrong) for c in (BASE, SWITCHING, TRIAL)]
        names += twin_names(what, value)
    return tuple(dict.fromkeys(names))


@PAPER.claim("wish.switching", *_switching_configurations())
def switching(claim: Claim, lab: Laboratory) -> Finding:
    """The base flow that moves, by trials and by the response function."""
    low, high = claim.band("recovered_fraction")
    by_trial, by_formula, at_rest = (recovered(lab, c) for c in (TRIAL, SWITCHING, BASE))
    fair, narrow = (
        [
            against_twins(lab, on_two_paths(controller, what, value, wrong), what, value, spare)
            for controller in (SWITCHING, TRIAL)
            for what, value, _, wrong in MISPLACED
        ]
        for spare in READINGS
    )
    checks = [
        everywhere("recovered_fraction by the response function", 1.0, by_formula, low, high),
        everywhere("recovered_fraction by trials", 1.0, by_trial, low, high),
        *stringent_by_both(fair, narrow),
    ]
    why = (
        f"Over the right placement, by the response function (`:switching`): {listed(by_formula)}; by trials (`:trial`, "
        f"our rule): {listed(by_trial)}; at rest: {listed(at_rest)}. Largest excess over eq. 1.4: "
        f"{max(f.excess for f in fair):+.1%}, and with only what flows leave that are limited elsewhere "
        f"{max(f.excess for f in narrow):+.1%}."
    )
    return finding(claim, lab.world.name, checks, why, unless=reasons.STATIC)
