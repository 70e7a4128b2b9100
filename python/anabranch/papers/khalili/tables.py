"""Tables 1 to 6 and the numbers in the text about them: simulated, in wire Mb/s per user."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...statistics import interval, ratio_of_means
from ..findings import Bound, Check, Finding, finding, hold_together, measured, within
from ..laboratory import Laboratory
from ..ledger import Claim
from . import oracle, reasons
from .paper import PAPER, SIZES, scenario_a, scenario_c


def explaining(scenario: str) -> tuple[str, ...]:
    """The configurations of a scenario that explain the effect of floors and delayed ACKs on OLIA's
    gain.
    """
    return tuple(name for name in PAPER.explaining if name.startswith(f"{scenario}-"))


EXPLAINING_LIA = {n1: (f"a-lia-{n1}-each", f"a-lia-{n1}-each-floor1") for n1 in SIZES}
"""The same of LIA alone in scenario A, by N1."""


def mbps(
    lab: Laboratory, configuration: str, name: str, metric: str = "throughput_bps"
) -> np.ndarray:
    """Mean rate per user of a class, one value for each seed."""
    return lab[configuration].rate(name, metric) / 1e6


def rated(claim: Claim, key: str, lab: Laboratory, configuration: str, name: str) -> Check:
    """A cell of a table against the wire bytes of a class, together with its goodput."""
    goodput = interval(mbps(lab, configuration, name, "goodput_bps"))
    return replace(measured(claim, key, mbps(lab, configuration, name)), goodput_mbps=goodput)


def loss(lab: Laboratory, configuration: str, link: str) -> np.ndarray:
    """Dropped over arrived packets of a link, one value for each seed."""
    return lab[configuration].link(link, "loss")


@PAPER.claim("table1.single_path", "a-before-10", "a-before-30")
def table1_single_path(claim: Claim, lab: Laboratory) -> Finding:
    """Table 1, before the upgrade."""
    checks = [
        rated(claim, f"{name}_n{n1}", lab, f"a-before-{n1}", name)
        for n1 in SIZES
        for name in ("type1", "type2")
    ]
    return finding(claim, lab.world.name, checks)


@PAPER.claim("table1.n10", "a-lia-10", *EXPLAINING_LIA[10])
@PAPER.claim("table1.n30", "a-lia-30", *EXPLAINING_LIA[30])
def table1(claim: Claim, lab: Laboratory) -> Finding:
    """Table 1, LIA."""
    n1 = int(claim.id.removeprefix("khalili.table1.n"))
    checks = [rated(claim, name, lab, f"a-lia-{n1}", name) for name in ("type1", "type2")]
    return finding(claim, lab.world.name, checks, unless=reasons.scenario_a_lia(lab, n1))


@PAPER.claim(
    "sec4.type2_decrease",
    *(f"a-{kind}-{n1}" for kind in ("before", "lia") for n1 in SIZES),
    *EXPLAINING_LIA[30],
)
def type2_decrease(claim: Claim, lab: Laboratory) -> Finding:
    """Loss of type 2 and gain of type 1, relative to the time before the upgrade."""
    change = {
        (name, n1): mbps(lab, f"a-lia-{n1}", name) / mbps(lab, f"a-before-{n1}", name) - 1
        for name in ("type1", "type2")
        for n1 in SIZES
    }
    checks = [measured(claim, f"decrease_n{n1}", -change["type2", n1]) for n1 in SIZES]
    low, high = claim.band("type1_change")
    checks += [within(f"type1_change_n{n1}", "0", change["type1", n1], low, high) for n1 in SIZES]
    return finding(claim, lab.world.name, checks, unless=reasons.scenario_a_lia(lab, 30))


@PAPER.claim("sec4.loss_lia", *(f"a-lia-{n1}" for n1 in SIZES), *EXPLAINING_LIA[30])
def loss_lia(claim: Claim, lab: Laboratory) -> Finding:
    """Losses at the server's link (p1) and at the access point (p2) under LIA."""
    checks = []
    for n1 in SIZES:
        p1, p2 = (loss(lab, f"a-lia-{n1}", link) for link in ("server", "ap"))
        checks += [
            measured(claim, f"p1_n{n1}", p1),
            measured(claim, f"p2_n{n1}", p2),
            measured(claim, f"p2_over_p1_n{n1}", p2 / p1),
        ]
    return finding(claim, lab.world.name, checks, unless=reasons.scenario_a_lia(lab, 30))


@PAPER.claim(
    "sec4.loss_olia",
    *(f"a-{law}-{n1}" for law in ("lia", "olia") for n1 in SIZES),
    *explaining("a"),
)
def loss_olia(claim: Claim, lab: Laboratory) -> Finding:
    """The same under OLIA, and how much it relieves the access point."""
    low, high = claim.band("p1")
    checks = [
        within(f"p1_n{n1}", "0.009", loss(lab, f"a-olia-{n1}", "server"), low, high) for n1 in SIZES
    ]
    for n1, most in zip(SIZES, (0.75, 0.5), strict=True):
        p2 = loss(lab, f"a-olia-{n1}", "ap")
        checks.append(measured(claim, f"p2_n{n1}", p2))
        ratio = p2 / loss(lab, f"a-lia-{n1}", "ap")
        checks.append(within(f"p2_olia_over_lia_n{n1}", f"at most {most}", ratio, None, most))
    return finding(claim, lab.world.name, checks, unless=reasons.olia(lab, "a", "type2"))


@PAPER.claim(
    "table4.olia",
    *(f"a-{law}-{n1}" for law in ("lia", "olia") for n1 in SIZES),
    *explaining("a"),
)
def table4(claim: Claim, lab: Laboratory) -> Finding:
    """Table 4: OLIA in scenario A, and its gain over LIA."""
    checks = []
    for n1, least in zip(SIZES, (0.08, 0.18), strict=True):
        for name in ("type1", "type2"):
            checks.append(rated(claim, f"{name}_n{n1}", lab, f"a-olia-{n1}", name))
        gain = mbps(lab, f"a-olia-{n1}", "type2") - mbps(lab, f"a-lia-{n1}", "type2")
        checks.append(within(f"type2_gain_n{n1}", f"at least {least} Mb/s", gain, least, None))
    return finding(claim, lab.world.name, checks, unless=reasons.olia(lab, "a", "type2"))


@PAPER.claim("table2.before", "b-before-lia")
def table2_before(claim: Claim, lab: Laboratory) -> Finding:
    """Table 2, before Red users upgrade."""
    red, blue = (mbps(lab, "b-before-lia", name) for name in ("red", "blue"))
    checks = [
        *(rated(claim, name, lab, "b-before-lia", name) for name in ("red", "blue")),
        measured(claim, "aggregate", 15 * (red + blue)),
    ]
    return finding(claim, lab.world.name, checks)


@PAPER.claim("table2.after", "b-after-lia")
def table2_after(claim: Claim, lab: Laboratory) -> Finding:
    """Table 2, after Red users upgraded."""
    checks = [rated(claim, name, lab, "b-after-lia", name) for name in ("red", "blue")]
    return finding(claim, lab.world.name, checks)


def _upgrade(lab: Laboratory, law: str) -> dict[str, np.ndarray]:
    """Relative change of each rate in scenario B by Red's upgrade, one value for each seed."""
    before = {name: mbps(lab, f"b-before-{law}", name) for name in ("red", "blue")}
    after = {name: mbps(lab, f"b-after-{law}", name) for name in ("red", "blue")}
    change = {name: after[name] / before[name] - 1 for name in before}
    change["aggregate"] = sum(after.values()) / sum(before.values()) - 1
    return change


@PAPER.claim("sec5.drops", "b-before-lia", "b-after-lia")
def drops(claim: Claim, lab: Laboratory) -> Finding:
    """Loss of throughput by Red's upgrade."""
    change = _upgrade(lab, "lia")
    checks = [
        measured(claim, "blue_drop", -change["blue"]),
        measured(claim, "aggregate_drop", -change["aggregate"]),
        measured(claim, "red_gain", change["red"]),
    ]
    return finding(claim, lab.world.name, checks)


@PAPER.claim(
    "table5.olia", *(f"b-{when}-{law}" for when in ("before", "after") for law in ("lia", "olia"))
)
def table5(claim: Claim, lab: Laboratory) -> Finding:
    """Table 5: OLIA in scenario B."""
    checks: list[Check] = []
    for when in ("before", "after"):
        for name in ("red", "blue"):
            checks.append(rated(claim, f"{name}_{when}", lab, f"b-{when}-olia", name))
    checks.append(measured(claim, "aggregate_drop", -_upgrade(lab, "olia")["aggregate"]))
    gap = {
        law: mbps(lab, f"b-before-{law}", "blue") - mbps(lab, f"b-before-{law}", "red")
        for law in ("lia", "olia")
    }
    narrower = gap["lia"] - gap["olia"]
    checks.append(within("gap_narrower_than_lia", "at least 0.3 Mb/s", narrower, 0.3, None))
    return finding(claim, lab.world.name, checks)


@PAPER.claim("table3.n10", "c-lia-10")
@PAPER.claim("table3.n30", "c-lia-30")
def table3(claim: Claim, lab: Laboratory) -> Finding:
    """Table 3, LIA in scenario C."""
    configuration = f"c-lia-{claim.id.removeprefix('khalili.table3.n')}"
    checks = [
        rated(claim, "multipath", lab, configuration, "multipath"),
        rated(claim, "single_path", lab, configuration, "single-path"),
    ]
    return finding(claim, lab.world.name, checks)


@PAPER.claim("sec6.decrease", *(f"c-lia-{n1}" for n1 in SIZES))
def decrease(claim: Claim, lab: Laboratory) -> Finding:
    """Loss of single-path users in scenario C against the proportionally fair rate."""
    checks = []
    for n1 in SIZES:
        fair = oracle.optimum("scenario-c", scenario_c(n1))["single-path"]
        checks.append(
            measured(claim, f"decrease_n{n1}", 1 - mbps(lab, f"c-lia-{n1}", "single-path") / fair)
        )
    return finding(claim, lab.world.name, checks)


@PAPER.claim(
    "table6.olia",
    *(f"c-{law}-{n1}" for law in ("lia", "olia") for n1 in SIZES),
    *explaining("c"),
)
def table6(claim: Claim, lab: Laboratory) -> Finding:
    """Table 6: OLIA in scenario C, and its gain over LIA."""
    checks = []
    for n1, least in zip(SIZES, (0.12, 0.18), strict=True):
        configuration = f"c-olia-{n1}"
        checks += [
            rated(claim, f"multipath_n{n1}", lab, configuration, "multipath"),
            rated(claim, f"single_path_n{n1}", lab, configuration, "single-path"),
        ]
        gain = mbps(lab, configuration, "single-path") - mbps(lab, f"c-lia-{n1}", "single-path")
        checks.append(
            within(f"single_path_gain_n{n1}", f"at least {least} Mb/s", gain, least, None)
        )
    return finding(claim, lab.world.name, checks, unless=reasons.olia(lab, "c", "single-path"))


def between(lia: np.ndarray, olia: np.ndarray, best: float) -> list[Bound]:
    """OLIA gives more than LIA and no more than the optimum."""
    return [(olia - lia, 0.0, None), (olia, None, best + 0.02)]


@PAPER.claim(
    "sec7.olia_near_optimum",
    *(f"{s}-{law}-{n1}" for s in "ac" for law in ("lia", "olia") for n1 in SIZES),
    *(f"b-before-{law}" for law in ("lia", "olia")),
)
def olia_near_optimum(claim: Claim, lab: Laboratory) -> Finding:
    """Fraction of LIA's distance to the optimum with probing cost that OLIA leaves."""
    places = [
        ("a", f"{n1}", "type2", oracle.optimum_with_waits("scenario-a", scenario_a(n1)))
        for n1 in SIZES
    ]
    places += [
        ("c", f"{n1}", "single-path", oracle.optimum_with_waits("scenario-c", scenario_c(n1)))
        for n1 in SIZES
    ]
    low, high = claim.band("distance_ratio_a_and_c")
    checks: list[Check] = []
    ordered: list[Bound] = []
    for scenario, n1, name, best in places:
        lia, olia = (mbps(lab, f"{scenario}-{law}-{n1}", name) for law in ("lia", "olia"))
        left = ratio_of_means(best[name] - olia, best[name] - lia)
        where = f"distance_ratio_{scenario}_n{n1}"
        checks.append(within(where, "0.22 on average", left, low, high))
        ordered += between(lia, olia, best[name])
    best_b = oracle.optimum_with_waits("scenario-b-before")["red"]
    lia, olia = (mbps(lab, f"b-before-{law}", "red") for law in ("lia", "olia"))
    ordered += between(lia, olia, best_b)
    checks += [
        measured(claim, "distance_ratio_b_red_before", ratio_of_means(best_b - olia, best_b - lia)),
        hold_together("ordering", claim.expected["ordering"], ordered),
    ]
    return finding(claim, lab.world.name, checks)
