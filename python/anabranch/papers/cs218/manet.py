"""Claims about the MANET: the report's two tables and its figures, moving and static."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from ...statistics import Interval, interval, jain, ratio_of_means
from ..findings import (
    Check,
    Finding,
    difference_or_none,
    finding,
    hold_together,
    holds,
    measured,
    within,
)
from ..laboratory import Laboratory
from ..ledger import Claim
from .configurations import CALLED, COUPLED, CS218, FOUR, LIA, LOSS, RENO, under
from .networks import FREE, MOBILE, STATIC, STILL_ALONE, TABLED, THRESHOLDS
from .paired import Floats, Sweep, Values
from .paper import PAPER
from .reading import (
    echoed,
    goodput,
    lost,
    mbps,
    over_time,
    per_path,
    rto_ms,
    rtt_ms,
    sent,
    times_s,
)

BOTH = {MOBILE: Sweep(MOBILE), STATIC: Sweep(STATIC)}
CONFIGURATIONS = tuple(
    configuration for sweep in BOTH.values() for configuration in sweep.configurations
)
OTHERS = tuple(c for c in FOUR if c != CS218)
STEADY_S, LATE_S = (4.0, 6.0), (8.0, 10.0)
"""Before and after the moment at which a window of the report's figure begins to grow."""
SSTHRESH = 46.8
"""Segments at which slow start ends in the report's model."""


def others(values: Values) -> Floats:
    """The mean of the three other algorithms, seed by seed."""
    return np.asarray(np.mean([values.by[c] for c in OTHERS], axis=0))


def latest(lab: Laboratory, network: str, controller: str) -> Floats:
    """Windows of the subflows at the end in segments, shape (seeds, subflows)."""
    return np.asarray(over_time(lab[under(network, controller)], "cwnd_segments")[:, -1])


def boost(lab: Laboratory, network: str) -> Interval:
    """DWND/α from the windows: their growth beyond that of RTT Compensator from ssthresh on."""
    grown = [latest(lab, network, c).mean(axis=1) - SSTHRESH for c in (CS218, LIA)]
    ratio = ratio_of_means(*grown)
    return Interval(ratio.mean - 1, ratio.half, ratio.n)


def reasons(lab: Laboratory, network: str) -> str:
    """Why the algorithms hardly differ here, with the numbers of the runs."""
    values = BOTH[network]
    losses = values.values(lab, lambda r: 1e4 * lost(r))
    trips = values.values(lab, rtt_ms)
    return (
        "Every channel is saturated from 0.5 s on, whoever sends. Slow start ends at 46.8 segments, which the 52 packets of an "
        f"interface's queue hold, and RTT Compensator over eight equal channels adds 1/64 segment in a round trip: within 10 s "
        f"nobody fills a queue but Uncoupled. Lost of 10,000 packets: {losses.listed()}. The queue makes the last round trip "
        f"{trips.mean(CS218)} ms where the first ones took a few, so that DWND is a part of {boost(lab, network)} of α: the "
        f"algorithm is RTT Compensator here.{_until_a_loss(lab)}"
    )


def _until_a_loss(lab: Laboratory) -> str:
    """Differences that remain if slow start ends with a loss; empty if that has not been run."""
    sweep = Sweep(FREE)
    if not sweep.have(lab):
        return ""
    rates = sweep.values(lab, mbps)
    losses = sweep.values(lab, lambda r: 1e4 * lost(r))
    return (
        f" Where slow start lasts until the first loss, with nothing else changed, packets are lost ({losses.listed()} of "
        f"10,000), and {rates.compared(LIA)}."
    )


def in_order(lab: Laboratory, network: str) -> str:
    """Goodput, which holes at the end of the run leave behind throughput."""
    values = BOTH[network].values(lab, goodput, " Mb/s")
    return f"Goodput within the 10 s: {values.listed()}; {values.compared(CS218)}."


NEARER = (
    "Bands that begin at no difference are not moved. Where an interval contains no difference, and all of it is nearer to "
    "that than to the published one, the published difference is not there, and more seeds would not bring it."
)


def published_ratio(network: str, controller: str, other: str = LIA) -> float:
    """A ratio of the report's table of a variant."""
    keys = {c: key for key, c in TABLED.items()}
    cells = PAPER.claims[PAPER.full(f"table_{network}")].expected
    first, second = (float(cells[keys[c]]["value"]) for c in (controller, other))
    return first / second


def table(claim: Claim, lab: Laboratory, network: str) -> Finding:
    """Throughputs of the four algorithms, and three of them over RTT Compensator's."""
    values = BOTH[network].values(lab, mbps, " Mb/s")
    own = BOTH[network].values(lab, goodput)
    checks = [
        replace(measured(claim, key, values.mean(c)), goodput_mbps=own.mean(c))
        for key, c in TABLED.items()
    ]
    checks += [
        difference_or_none(
            measured(claim, f"{key}_over_rttc", values.ratio(c, LIA)),
            1.0,
            published_ratio(network, c),
        )
        for key, c in TABLED.items()
        if c != LIA
    ]
    why = f"{values.listed()}. {values.compared(LIA)}. {in_order(lab, network)}"
    unless = f"{NEARER} {reasons(lab, network)}"
    return finding(claim, lab.world.name, checks, why, unless=unless)


@PAPER.claim("table_mobile", *BOTH[MOBILE].configurations)
def table_mobile(claim: Claim, lab: Laboratory) -> Finding:
    """The first table."""
    return table(claim, lab, MOBILE)


@PAPER.claim("table_static", *BOTH[STATIC].configurations)
def table_static(claim: Claim, lab: Laboratory) -> Finding:
    """The second table."""
    return table(claim, lab, STATIC)


@PAPER.claim("tables.highest", *CONFIGURATIONS)
def highest(claim: Claim, lab: Laboratory) -> Finding:
    """CS218_ALGO less each other, seed by seed, moving and static."""
    checks: list[Check] = []
    rows = []
    for network, sweep in BOTH.items():
        values = sweep.values(lab, mbps)
        second = next(c for c in values.ordered if c != CS218)
        margin = f"margin_over_second_{network}"
        checks.append(
            difference_or_none(
                measured(claim, margin, values.relative(CS218, second)),
                0.0,
                float(claim.expected[margin]["value"]),
            )
        )
        for c in OTHERS:
            by = values.relative(CS218, c)
            name = f"{network}, over {CALLED[c]}: no less in the mean, interval above -1 %"
            checks.append(holds(name, True, by.mean >= 0 and by.low > -0.01))
        rows.append(f"{network}: {values.listed()} Mb/s; {values.compared(CS218)}")
    unless = f"{NEARER} {reasons(lab, MOBILE)}"
    return finding(claim, lab.world.name, checks, ". ".join(rows) + ".", unless=unless)


@PAPER.claim(
    "alg.threshold",
    *(under(network, c) for network in (MOBILE, LOSS) for c in THRESHOLDS.values()),
)
def threshold(claim: Claim, lab: Laboratory) -> Finding:
    """The throughput with 5 over the best one's, in the MANET and over two paths that lose by
    chance, where the count begins again and again.
    """
    key = "relative_throughput_at_5"
    checks, rows = [], []
    for network in (MOBILE, LOSS):
        values = Sweep(network, tuple(THRESHOLDS.values())).values(lab, mbps)
        least, _ = claim.band(key)  # the upper end is what a ratio to the best cannot pass
        ratio = values.ratio(CS218, values.ordered[0])
        check = within(f"{key}, {network}", "at least 0.98 of the best", ratio, least, None)
        same = all(np.array_equal(values.by[c], values.by[CS218]) for c in THRESHOLDS.values())
        if not same:
            checks.append(check)
        listed = ", ".join(f"{n}: {values.mean(THRESHOLDS[n])}" for n in sorted(THRESHOLDS))
        rows.append(f"{network}, {listed}{' (the same to the last packet)' if same else ''}")
    why = (
        f"Mb/s by threshold: {'; '.join(rows)}. Where all thresholds give the same packets nothing is judged: in the MANET a "
        "count is at more than 20 when slow start ends, and nobody loses anything later."
    )
    if not checks:
        nothing = "the same packets under every threshold"
        checks = [replace(check, obtained=nothing, verdict="undecided")]
    return finding(claim, lab.world.name, checks, why)


def shifts(lab: Laboratory, network: str, controller: str) -> Floats:
    """Mean window of each subflow late over that before, shape (seeds, subflows)."""
    result = lab[under(network, controller)]
    windows, t_s = over_time(result, "cwnd_segments"), times_s(result)
    early, late = (windows[:, (t_s >= a) & (t_s <= b)].mean(axis=1) for a, b in (STEADY_S, LATE_S))
    return np.asarray(late / early)


def dominated(ratios: Floats) -> bool:
    """Whether, in a seed, a subflow has grown by half and the median of the others by at most a
    tenth.
    """
    return any(
        ratio >= 1.5 and float(np.median(np.delete(ratios, path))) <= 1.1
        for path, ratio in enumerate(ratios)
    )


@PAPER.claim("fig_mobile.cwnd", under(MOBILE, CS218))
def mobile_windows(claim: Claim, lab: Laboratory) -> Finding:
    """Seeds in which one window grows by half after 6 s, and the others do not."""
    ratios = shifts(lab, MOBILE, CS218)
    inside = np.array([dominated(row) for row in ratios])
    checks = [
        measured(claim, "seeds_fraction", inside.astype(float)),
        holds("trend", claim.expected["trend"], float(inside.mean()) >= 0.7),
    ]
    ends = latest(lab, MOBILE, CS218)
    why = (
        f"Windows of 8 to 10 s over those of 4 to 6 s: the largest of a seed {interval(ratios.max(axis=1))}, the "
        f"median {interval(np.median(ratios, axis=1))}. At 10 s the largest has {interval(ends.max(axis=1))} segments and the "
        f"smallest {interval(ends.min(axis=1))}."
    )
    unless = (
        "All channels are in reach and equally loaded, and all subflows end slow start alike; for one window to grow by half "
        "in 4 s takes 23 segments, where RTT Compensator adds less than one. "
        + reasons(lab, MOBILE)
    )
    return finding(claim, lab.world.name, checks, why, unless=unless)


@PAPER.claim("fig_mobile.packets", *BOTH[MOBILE].configurations)
def mobile_packets(claim: Claim, lab: Laboratory) -> Finding:
    """Packets sent against throughput, their balance over subflows, and the ranking of the
    algorithms.
    """
    sweep = BOTH[MOBILE]
    result = lab[under(MOBILE, CS218)]
    plan = result.plan
    (own,) = (c for c in plan.classes if c.name == "multipath")
    scale = 8e-6 * own.packet_bytes / plan.duration_s
    packets, rates = sweep.values(lab, sent), sweep.values(lab, mbps)
    checks = [
        within(
            f"sent over arrived, {CALLED[c]}",
            "within 5 %",
            ratio_of_means(scale * packets.by[c], rates.by[c]),
            0.95,
            1.05,
        )
        for c in FOUR
    ]
    index = sweep.values(lab, lambda r: np.asarray(jain(per_path(r, "sent_packets")[:, 0])))
    even = index.ratio(CS218, LIA)
    checks.append(within("Jain's index over RTT Compensator's", "at least 0.95", even, 0.95, None))
    order = (CS218, RENO, LIA, COUPLED)
    bounds = [(packets.by[a] - packets.by[b], 0.0, None) for a, b in pairwise(order)]
    checks.append(hold_together("total_order", claim.expected["total_order"], bounds))
    why = (
        f"Packets sent in 10 s: {packets.listed()}; {packets.compared(CS218)}. Jain's index of packets over the eight "
        f"subflows: {index.listed()}."
    )
    return finding(claim, lab.world.name, checks, why, unless=reasons(lab, MOBILE))


def stricter(lab: Laboratory, network: str) -> str:
    """Parts of a timeout, in words."""
    return (
        "Without loss a timeout is the smoothed round trip and 200 ms, and the round trip is the window over the channel's "
        f"rate. {BOTH[network].values(lab, rtt_ms, ' ms').listed()}: the order is that of the windows, "
        + ", ".join(f"{CALLED[c]} {interval(latest(lab, network, c).mean(axis=1))}" for c in FOUR)
        + " segments at 10 s. CS218_ALGO's are the smallest with RTT Compensator's."
    )


@PAPER.claim(
    "fig_mobile.rto", *BOTH[MOBILE].configurations, *(under(FREE, c) for c in (CS218, LIA))
)
def mobile_rto(claim: Claim, lab: Laboratory) -> Finding:
    """Timeout over that of the others, and losses per packet compared with RTT Compensator."""
    values = BOTH[MOBILE].values(lab, rto_ms, " ms")
    parts = BOTH[MOBILE].values(lab, lost)
    freely = Sweep(FREE, (CS218, LIA)).values(lab, lost)
    checks = [
        measured(claim, "rto_ratio", ratio_of_means(values.by[CS218], others(values))),
        lost_alike("lost of sent packets over RTT Compensator's", parts),
        lost_alike(f"the same, {FREE}", freely),
    ]
    why = f"{values.listed()}; {values.compared(CS218)}. Lost of sent packets: {parts.listed()}; {FREE}: {freely.listed()}."
    return finding(claim, lab.world.name, checks, why, unless=stricter(lab, MOBILE))


def lost_alike(name: str, parts: Values) -> Check:
    """Losses per packet under CS218_ALGO over those under RTT Compensator; undecided where neither
    loses any, since nothing is compared then.
    """
    mine, theirs = parts.by[CS218], parts.by[LIA]
    if theirs.any():
        return within(name, "within 20 %", ratio_of_means(mine, theirs), 0.8, 1.2)
    if mine.any():
        return holds(name, "within 20 %", False)
    return Check(name, "within 20 %", "nobody lost a packet", None, "undecided")


@PAPER.claim("fig_mobile.rtt", *BOTH[MOBILE].configurations)
def mobile_rtt(claim: Claim, lab: Laboratory) -> Finding:
    """RTT over that of the others."""
    values = BOTH[MOBILE].values(lab, rtt_ms, " ms")
    checks = [measured(claim, "rtt_ratio", ratio_of_means(values.by[CS218], others(values)))]
    why = f"{values.listed()}; {values.compared(CS218)}."
    return finding(claim, lab.world.name, checks, why, unless=stricter(lab, MOBILE))


@PAPER.claim("fig_static.cwnd", *BOTH[STATIC].configurations)
def static_windows(claim: Claim, lab: Laboratory) -> Finding:
    """The largest window of any subflow at the end, and its algorithm."""
    largest = {c: latest(lab, STATIC, c).max(axis=1) for c in FOUR}
    coupled = np.maximum(largest[LIA], largest[COUPLED])
    whose = np.all([largest[CS218] > largest[c] for c in OTHERS], axis=0)
    inside = whose & (largest[CS218] >= 1.2 * coupled)
    checks = [
        measured(claim, "max_window_ratio", ratio_of_means(largest[CS218], coupled)),
        within(
            "seeds in which it is CS218's and 1.2 times", "70 %", inside.astype(float), 0.7, None
        ),
    ]
    values = Values(largest, " segments")
    why = (
        f"Largest window at 10 s: {values.ratio(CS218, COUPLED)} of Fully Coupled's; "
        + ", ".join(f"{CALLED[c]} {values.mean(c)}" for c in values.ordered)
    )
    unless = (
        "Fully Coupled adds a segment in a round trip to eight windows together, eight times what RTT Compensator adds to them "
        "where all are equal. " + reasons(lab, STATIC)
    )
    return finding(claim, lab.world.name, checks, f"{why} segments.", unless=unless)


@PAPER.claim("fig_static.rto", *BOTH[STATIC].configurations)
def static_rto(claim: Claim, lab: Laboratory) -> Finding:
    """Timeout over that of each other algorithm."""
    values = BOTH[STATIC].values(lab, rto_ms, " ms")
    checks = [
        measured(claim, "ratio_to_rttc", values.ratio(CS218, LIA)),
        within("ratio to Uncoupled", "similar", values.ratio(CS218, RENO), 0.8, 1.25),
        measured(claim, "ratio_to_fully_coupled", values.ratio(CS218, COUPLED)),
    ]
    why = f"{values.listed()}; {values.compared(CS218)}."
    return finding(claim, lab.world.name, checks, why, unless=stricter(lab, STATIC))


@PAPER.claim("fig_static.rtt", *BOTH[STATIC].configurations)
def static_rtt(claim: Claim, lab: Laboratory) -> Finding:
    """The round trip over the lowest of the others, and over RTT Compensator's."""
    values = BOTH[STATIC].values(lab, rtt_ms, " ms")
    best = min(OTHERS, key=lambda c: float(values.by[c].mean()))
    checks = [
        measured(claim, "rtt_ratio_to_best", values.ratio(CS218, best)),
        within("over RTT Compensator", "at most 1.3", values.ratio(CS218, LIA), None, 1.3),
    ]
    why = f"{values.listed()}; {values.compared(CS218)}. The lowest of the others is {CALLED[best]}'s."
    return finding(claim, lab.world.name, checks, why, unless=stricter(lab, STATIC))


@PAPER.claim("mech.other_algorithms_balance", *BOTH[STATIC].configurations, STILL_ALONE)
def balance(claim: Claim, lab: Laboratory) -> Finding:
    """Goodput over what the channels give without UDP clients, and how far windows of subflows are
    apart.
    """
    whole = goodput(lab[STILL_ALONE])
    values = BOTH[STATIC].values(lab, goodput)
    use = Values({c: values.by[c] / whole.mean() for c in FOUR})
    apart = Values({c: latest(lab, STATIC, c).std(axis=1) for c in FOUR})
    checks = [
        *(
            difference_or_none(
                within(
                    f"goodput over {CALLED[c]}",
                    claim.expected["ordering"],
                    use.ratio(CS218, c),
                    1.0,
                    None,
                ),
                1.0,
                published_ratio(STATIC, CS218, c),
            )
            for c in OTHERS
        ),
        within(
            "spread of windows over RTT Compensator's", "> 1", apart.ratio(CS218, LIA), 1.0, None
        ),
    ]
    why = (
        f"Goodput over the {interval(whole)} Mb/s that the eight channels give without UDP clients: {use.listed()}; "
        f"{use.compared(CS218)}. Standard deviation of the subflows' windows at 10 s, segments: {apart.listed()}."
    )
    unless = f"{NEARER} The published difference is the static table's. {reasons(lab, STATIC)}"
    return finding(claim, lab.world.name, checks, why, unless=unless)


@PAPER.claim("summary.tradeoff", *CONFIGURATIONS)
def tradeoff(claim: Claim, lab: Laboratory) -> Finding:
    """Throughput and round trip over RTT Compensator's, moving and static."""
    checks, rows = [], []
    for network, sweep in BOTH.items():
        rates, trips = sweep.values(lab, mbps), sweep.values(lab, rtt_ms)
        timers, clients = sweep.values(lab, rto_ms), sweep.values(lab, echoed)
        checks += [
            difference_or_none(
                within(
                    f"throughput, {network}", "1.00 to 1.08", rates.ratio(CS218, LIA), 1.0, 1.08
                ),
                1.0,
                published_ratio(network, CS218),
            ),
            within(f"RTT, {network}", "0.98 to 1.30", trips.ratio(CS218, LIA), 0.98, 1.30),
        ]
        rows.append(
            f"{network}: throughput {rates.ratio(CS218, LIA)}, RTT {trips.ratio(CS218, LIA)}, RTO "
            f"{timers.ratio(CS218, LIA)}, echoed packets of the UDP clients {clients.ratio(CS218, LIA)}"
        )
    why = f"CS218_ALGO over RTT Compensator, {'; '.join(rows)}. {in_order(lab, MOBILE)}"
    unless = f"{NEARER} {reasons(lab, MOBILE)}"
    return finding(claim, lab.world.name, checks, why, unless=unless)
