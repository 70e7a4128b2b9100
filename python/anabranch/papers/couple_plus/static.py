"""Figures 9 and 10: two subflows, one of them coded, and a competing TCP; topologies."""

from __future__ import annotations

import numpy as np

from ...statistics import Interval, interval, ratio_of_means
from ..findings import Bound, Check, Finding, finding, hold_together, holds, measured, within
from ..laboratory import Laboratory
from ..ledger import Claim
from . import reasons
from .configurations import (
    BOTH,
    CALLED,
    COUPLE,
    EVERY,
    LIA,
    POINTS,
    PRINTED,
    WINDOW,
    WINDOWS,
    mobile,
    other,
    point,
    points,
    readings,
)
from .logs import episodes, of_path, of_seeds
from .mobile import outage_s
from .paper import EXPLAINING, PAPER
from .reading import (
    START_S,
    SUB0,
    SUB1,
    TCP,
    Floats,
    competition,
    end_of,
    exact,
    listed,
    over_points,
    rank_correlation,
    sub1_over_tcp,
    three,
)

HERE, THERE = point(LIA, *PRINTED), point(COUPLE, *PRINTED)
"""The configurations at the point whose numbers the text gives."""
VARIED = tuple(other(variant, c) for variant in EXPLAINING for c in BOTH)
ALL = tuple(points(c) for c in BOTH)
EVERYWHERE = (*ALL[0], *ALL[1])
LEVELS = {p: f"{p:.2f}".replace(".", "_") for p in POINTS}


def gap(rates: Floats) -> Floats:
    """Subflow 0 over subflow 1."""
    return rates[:, SUB0] - rates[:, SUB1]


def ratio(rates: Floats) -> Floats:
    """Subflow 1 over the TCP."""
    return rates[:, SUB1] / rates[:, TCP]


@PAPER.claim("fig9a.rttc_sub1", HERE, *VARIED)
def rttc_sub1(claim: Claim, lab: Laboratory) -> Finding:
    """Subflow 1 with RTT Compensator."""
    rates = competition(lab, HERE)
    checks = [measured(claim, "sub1", rates[:, SUB1])]
    why = f"Subflow 0 / subflow 1 / TCP in kb/s: {three(lab, HERE)}. Packets on the wire have 1064 B for 1000 B of payload."
    return finding(claim, lab.world.name, checks, why, unless=reasons.short_competition(lab))


@PAPER.claim("fig10a.rttc_tcp", HERE, *VARIED)
def rttc_tcp(claim: Claim, lab: Laboratory) -> Finding:
    """Rate of the TCP that competes with RTT Compensator."""
    rates = competition(lab, HERE)
    checks = [measured(claim, "tcp", rates[:, TCP])]
    why = f"Subflow 0 / subflow 1 / TCP in kb/s: {three(lab, HERE)}."
    return finding(claim, lab.world.name, checks, why, unless=reasons.short_competition(lab))


@PAPER.claim("fig9-10.rttc_ratio", *ALL[0], *VARIED)
def rttc_ratio(claim: Claim, lab: Laboratory) -> Finding:
    """Subflow 1 over the TCP with RTT Compensator at the three losses."""
    checks = [measured(claim, "ratio_0_01_r1_05", _mean_ratio(lab, HERE))]
    rows = []
    for p, redundancies in POINTS.items():
        rows.append(
            f"{p:g}: "
            + ", ".join(f"{r:g} {_mean_ratio(lab, point(LIA, p, r))}" for r in redundancies)
        )
        if p > 0.01:
            own = over_points(lab, LIA, p, lambda x: x[:, SUB1])
            theirs = over_points(lab, LIA, p, lambda x: x[:, TCP])
            checks.append(measured(claim, f"ratio_mean_{LEVELS[p]}", ratio_of_means(own, theirs)))
    why = f"Subflow 1 over the TCP by loss and redundancy, ratios of means: {'; '.join(rows)}."
    return finding(claim, lab.world.name, checks, why, unless=reasons.short_competition(lab))


def _mean_ratio(lab: Laboratory, configuration: str) -> Interval:
    rates = competition(lab, configuration)
    return ratio_of_means(rates[:, SUB1], rates[:, TCP])


@PAPER.claim("fig9-10.couple_fair", *ALL[1], HERE, *VARIED, *readings())
def couple_fair(claim: Claim, lab: Laboratory) -> Finding:
    """Subflow 1 over the TCP with Couple+ at every point, and the gain of the TCP."""
    low, high = claim.band("sub1_over_tcp")
    published = claim.expected["sub1_over_tcp"]
    checks: list[Check] = []
    for p, r in EVERY:
        rates = competition(lab, point(COUPLE, p, r))
        value = ratio_of_means(rates[:, SUB1], rates[:, TCP])
        checks.append(
            within(f"sub1 over tcp, loss {p:g}, redundancy {r:g}", published, value, low, high)
        )
    gain = ratio_of_means(competition(lab, THERE)[:, TCP], competition(lab, HERE)[:, TCP])
    checks.append(measured(claim, "tcp_gain_over_rttc_0_01_r1_05", gain))
    largest = {
        f"loss {p:g}": max(
            (interval(sub1_over_tcp(lab, point(COUPLE, p, r))) for r in redundancies),
            key=lambda v: v.mean,
        )
        for p, redundancies in POINTS.items()
    }
    why = (
        f"Largest ratio over redundancies: {listed(largest)}. At the point with numbers, kb/s: Couple+ "
        f"{three(lab, THERE)}, "
        f"RTT Compensator {three(lab, HERE)}."
    )
    return finding(claim, lab.world.name, checks, why, unless=reasons.standing_queue(lab))


@PAPER.claim("fig9-10.total_above_tcp", *ALL[1])
def total_above(claim: Claim, lab: Laboratory) -> Finding:
    """Both subflows over the TCP at every point."""
    low, high = claim.band("total_over_tcp")
    checks = []
    for p, r in EVERY:
        rates = competition(lab, point(COUPLE, p, r))
        value = ratio_of_means(rates[:, SUB0] + rates[:, SUB1], rates[:, TCP])
        name = f"total over tcp, loss {p:g}, redundancy {r:g}"
        checks.append(within(name, claim.expected["total_over_tcp"], value, low, high))
    rows = {f"{p:g}": over_points(lab, COUPLE, p, lambda x: x[:, SUB0]) for p in POINTS}
    why = f"Mean over redundancies of subflow 0 by loss, kb/s: {listed(rows)}."
    unless = (
        "A path that is nobody else's carries 1000 B of 1052 at 1 Mb/s at most, less what slow start and its timeouts "
        "cost; where "
        "the TCP has its own link almost alone there are hardly 15 % between the two."
    )
    return finding(claim, lab.world.name, checks, why, unless=unless)


@PAPER.claim("fig9.gap", *EVERYWHERE)
def gaps(claim: Claim, lab: Laboratory) -> Finding:
    """By how much the gap between the subflows is larger with Couple+."""
    checks, rows = [], []
    low, high = claim.band("gap_difference")
    for p in POINTS:
        wide, narrow = (over_points(lab, c, p, gap) for c in (COUPLE, LIA))
        checks.append(
            within(
                f"gap difference, loss {p:g}",
                claim.expected["gap_difference"],
                wide - narrow,
                low,
                high,
            )
        )
        rows.append(f"{p:g}: {interval(wide)} and {interval(narrow)}")
    why = f"Subflow 0 over subflow 1, mean over redundancies, Couple+ and RTT Compensator, kb/s: {'; '.join(rows)}."
    return finding(claim, lab.world.name, checks, why)


@PAPER.claim("fig9.rttc_total_higher", *EVERYWHERE)
def total_higher(claim: Claim, lab: Laboratory) -> Finding:
    """The surplus of RTT Compensator, and the flows that lose it."""
    checks, rows = [], []
    low, high = claim.band("sub1_ratio")
    for p in POINTS:
        own, theirs = (over_points(lab, c, p, lambda x: x[:, SUB1]) for c in (LIA, COUPLE))
        more = ratio_of_means(own, theirs)
        checks.append(
            within(f"sub1 ratio, loss {p:g}", claim.expected["sub1_ratio"], more, low, high)
        )
        whole = [over_points(lab, c, p, lambda x: x[:, SUB0] + x[:, SUB1]) for c in (LIA, COUPLE)]
        tcp = [over_points(lab, c, p, lambda x: x[:, TCP]) for c in (LIA, COUPLE)]
        checks.append(
            within(
                f"total less that of Couple+, loss {p:g} (kb/s)",
                "not lower",
                whole[0] - whole[1],
                0.0,
                None,
            )
        )
        checks.append(
            within(
                f"TCP less that beside Couple+, loss {p:g} (kb/s)",
                "lower",
                tcp[0] - tcp[1],
                None,
                0.0,
            )
        )
        rows.append(f"{p:g}: {more}")
    return finding(
        claim,
        lab.world.name,
        checks,
        f"Subflow 1 over that of Couple+, by loss: {', '.join(rows)}.",
    )


def orderings(lab: Laboratory, p: float) -> dict[str, list[Bound]]:
    """The orderings of the five claims on Figures 9 and 10 at a loss, as bounds on means over
    redundancies.
    """

    def mean(c: str, column: int) -> Floats:
        return over_points(lab, c, p, lambda x: x[:, column])

    return {
        "RTT Compensator's subflow 1 has more than the TCP": [
            (mean(LIA, SUB1) - mean(LIA, TCP), 0.0, None)
        ],
        "the TCP has more with Couple+, and at least what subflow 1 has": [
            (mean(COUPLE, TCP) - mean(LIA, TCP), 0.0, None),
            (mean(COUPLE, TCP) - mean(COUPLE, SUB1), 0.0, None),
        ],
        "Couple+ has more in total than the TCP": [
            (mean(COUPLE, SUB0) + mean(COUPLE, SUB1) - mean(COUPLE, TCP), 0.0, None)
        ],
        "the gap is larger with Couple+": [
            (over_points(lab, COUPLE, p, gap) - over_points(lab, LIA, p, gap), 0.0, None)
        ],
        "RTT Compensator's subflow 1 has more than that of Couple+": [
            (mean(LIA, SUB1) - mean(COUPLE, SUB1), 0.0, None)
        ],
    }


@PAPER.claim("fig9-10.loss_rates_similar", *EVERYWHERE)
def similar(claim: Claim, lab: Laboratory) -> Finding:
    """The orderings of the five claims before at each loss."""
    checks = [
        hold_together(f"loss {p:g}: {name}", claim.expected["ordering"], bounds)
        for p in POINTS
        for name, bounds in orderings(lab, p).items()
    ]
    rows = {f"{p:g}": over_points(lab, LIA, p, ratio) for p in POINTS}
    why = f"Means over redundancies. Subflow 1 over the TCP with RTT Compensator by loss: {listed(rows)}."
    return finding(claim, lab.world.name, checks, why, unless=reasons.low_redundancy(lab))


@PAPER.claim(
    "mech.greedier_with_coding",
    *(configuration for w in WINDOWS for configuration in points(LIA, w)),
)
def greedier(claim: Claim, lab: Laboratory) -> Finding:
    """Subflow 1 over the TCP as a function of redundancy and of the coding window."""
    checks: list[Check] = []
    rows = []
    for p, redundancies in POINTS.items():
        at = {w: [_mean_ratio(lab, point(LIA, p, r, w)) for r in redundancies] for w in WINDOWS}
        rank = rank_correlation([v.mean for v in at[WINDOW]])
        checks.append(
            within(
                f"rank correlation with redundancy, loss {p:g}",
                claim.expected["trend"],
                exact(rank),
                0.6,
                None,
            )
        )
        wider = [over_points_w(lab, p, w) for w in (WINDOW, 2)]
        checks.append(
            within(
                f"share of the shared link at W = 6 less that at W = 2, loss {p:g}",
                "not lower",
                wider[0] - wider[1],
                0.0,
                None,
            )
        )
        rows.append(
            f"loss {p:g}: " + "; ".join(f"W = {w}: {', '.join(map(str, v))}" for w, v in at.items())
        )
    why = f"Subflow 1 over the TCP by redundancy: {'. '.join(rows)}."
    return finding(claim, lab.world.name, checks, why)


def over_points_w(lab: Laboratory, p: float, w: int) -> Floats:
    """Share of subflow 1 in its rate and the TCP's together, mean over redundancies."""
    found = []
    for r in POINTS[p]:
        rates = competition(lab, point(LIA, p, r, w))
        found.append(rates[:, SUB1] / (rates[:, SUB1] + rates[:, TCP]))
    return np.asarray(np.mean(found, axis=0))


def held_kb(lab: Laboratory, configuration: str) -> Floats:
    """Mean data that waits at the receiver in the competition period, in kB."""
    found = []
    for run in lab[configuration].runs:
        t_s = np.asarray(run.series.t_s)
        inside = (t_s >= START_S) & (t_s <= end_of(run))
        found.append(float(np.asarray(run.series.flows.held_bytes)[inside, 0].mean()) / 1e3)
    return np.array(found)


TIGHT = other("receive buffer 64 kB", COUPLE)
NEARLY_FULL = 0.9


def _full_episodes(lab: Laboratory, configuration: str) -> tuple[int, int]:
    """Episodes with a nearly full buffer, and how many of them are judged congestion."""
    full = right = 0
    result = of_seeds(lab.configurations[configuration], lab[configuration].seeds)
    limit = result.plan.classes[0].receive_buffer_bytes
    for run in result.runs:
        t_s = np.asarray(run.series.t_s)
        held = np.asarray(run.series.flows.held_bytes)[:, 0]
        for episode in episodes(of_path(run, 0, 1), START_S, end_of(run)):
            inside = held[(t_s >= episode.asked_s) & (t_s <= episode.end_s)]
            if len(inside) and inside.max() >= NEARLY_FULL * limit:
                full += 1
                right += episode.congestion
    return full, right


@PAPER.claim("mech.rx_buffer", *EVERYWHERE, TIGHT, other("receive buffer 64 kB", LIA))
def rx_buffer(claim: Claim, lab: Laboratory) -> Finding:
    """Data waiting at the receiver, and verdicts on episodes with a full buffer."""
    checks, rows = [], []
    for p in POINTS:
        held = {c: np.mean([held_kb(lab, point(c, p, r)) for r in POINTS[p]], axis=0) for c in BOTH}
        checks.append(
            within(
                f"occupancy of Couple+ less RTT Compensator's, loss {p:g} (kB)",
                claim.expected["ordering"],
                held[COUPLE] - held[LIA],
                None,
                0.0,
            )
        )
        rows.append(f"{p:g}: {interval(held[COUPLE])} and {interval(held[LIA])}")
    configurations = [point(COUPLE, p, r) for p, r in EVERY]
    counts = [_full_episodes(lab, c) for c in (*configurations, TIGHT)]
    full, right = np.sum(counts, axis=0)
    name = "episodes with a buffer 90 % full that are judged congestion"
    checks.append(
        within(name, "in 90 %", exact(right / full), 0.9, None)
        if full
        else Check(name, "in 90 %", "there was none", (0.9, None), "undecided")
    )
    small = {CALLED[c]: held_kb(lab, other("receive buffer 64 kB", c)) for c in BOTH}
    why = (
        f"Mean over redundancies, Couple+ and RTT Compensator, kB of 256: {'; '.join(rows)}. With a buffer of 64 kB at a "
        "loss of 0.01 "
        f"and a redundancy of 1.05: {listed(small)}. Episodes in which 90 % of either buffer is occupied, sampled every "
        "250 ms: "
        f"{full}, of which {right} are judged congestion."
    )
    return finding(claim, lab.world.name, checks, why, unless=reasons.BUFFER)


@PAPER.claim("topology.static", THERE)
def topology_static(claim: Claim, lab: Laboratory) -> Finding:
    """Links of the plan."""
    plan = lab[THERE].plan
    names = [link.name for link in plan.links]
    ways = {
        (c.name, number): [names[i] for i in path.links]
        for c in plan.classes
        for number, path in enumerate(c.paths)
    }
    rtts = [path.base_rtt_s * 1e3 for c in plan.classes for path in c.paths]
    common = set(ways["multipath", 1]) & set(ways["tcp", 0])
    used = {name for way in ways.values() for name in way}
    links = {(link.rate_bps, link.delay_s) for link in plan.links if link.name in used}
    lossy = [link.name for link in plan.links if link.loss]
    low, high = claim.band("basic_rtt")
    checks = [
        holds(
            "shared_by",
            claim.expected["shared_by"],
            common == {"shared"} and not set(ways["multipath", 0]) & set(ways["tcp", 0]),
        ),
        *(
            within(
                f"basic rtt of path {i}",
                claim.expected["basic_rtt"],
                exact(round(rtt, 9)),
                low,
                high,
            )
            for i, rtt in enumerate(rtts)
        ),
        holds("all links 1 Mb/s and 10 ms", "1 Mbps, 10 ms", links == {(1e6, 0.01)}),
        holds(
            "the wireless hop is on subflow 1's path",
            "subflow 1",
            lossy == ["wireless"] and "wireless" in ways["multipath", 1],
        ),
        holds(
            "only subflow 1 is coded",
            "subflow 1 only",
            [bool(p.coding) for c in plan.classes for p in c.paths] == [False, True, False],
        ),
    ]
    why = f"Links: {'; '.join(f'{name} {number}: {way}' for (name, number), way in ways.items())}."
    return finding(claim, "structure", checks, why)


@PAPER.claim("topology.mobile", mobile(COUPLE))
def topology_mobile(claim: Claim, lab: Laboratory) -> Finding:
    """The trace of the Wi-Fi link and the coding of both paths."""
    plan = lab[mobile(COUPLE)].plan
    (wifi,) = [link for link in plan.links if link.name == "wifi"]
    rows = [(c.at_s, c.loss) for c in wifi.changes]
    worse = [t for t, loss in rows if loss != wifi.loss]
    gone, back = outage_s(plan)
    restored = next(t for t, loss in rows if t > worse[-1])
    coded = [p.coding for p in plan.classes[0].paths]
    checks = [
        measured(claim, "leave", exact(worse[0])),
        measured(claim, "return", exact(restored)),
        measured(claim, "outage", exact(back - gone)),
        holds(
            "both subflows are coded",
            "1.05 and 1.15",
            [c and c.redundancy for c in coded] == [1.05, 1.15],
        ),
        holds(
            "losses without the excursion",
            "0.001 and 0.05",
            [link.loss for link in plan.links if link.loss] == [0.001, 0.05],
        ),
    ]
    why = (
        f"Loss of Wi-Fi in {len(rows)} steps: above {wifi.loss:g} from {worse[0]:g} to {restored:g} s, 1 from {gone:g} to "
        f"{back:g} s."
    )
    return finding(claim, "structure", checks, why)
