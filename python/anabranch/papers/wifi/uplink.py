"""Claims about the uplink, where the sender's own interface is the bottleneck."""

from __future__ import annotations

import numpy as np

from ...statistics import interval, jain, paired, ratio_of_means
from ..findings import Check, Finding, finding, hold_together, measured, within
from ..laboratory import Laboratory
from ..ledger import Claim
from .configurations import BANDS, BDP_BYTES, COUPLED, DOWN, FIXED, RENO, UP, other, two, window
from .paper import PAPER
from .reading import (
    CALLED,
    MULTIPATH,
    PARALLEL,
    Floats,
    beside,
    change,
    columns,
    each_flow,
    flow,
    interfaces,
    listed,
    loss_places,
    mbps,
    medians,
    most,
    of_windows,
    rtt_ms,
    share,
    total,
    within_band,
)

COUPLED_UP, RENO_UP = two(UP, COUPLED), two(UP, RENO)


def idle_interface(lab: Laboratory, configuration: str) -> str:
    """Fraction of time in which interfaces have nothing to send, in words."""
    return each_flow(columns(100 * interfaces(lab, configuration, "empty")), " %")


@PAPER.claim("up.share", COUPLED_UP, RENO_UP)
def up_share(claim: Claim, lab: Laboratory) -> Finding:
    """Half of all traffic: each subflow has the rate of the competing flow."""
    bottom, top = claim.band("subflow_over_parallel")
    each = np.stack(
        [
            within_band(share(lab, COUPLED_UP), claim.band("share")),
            *(within_band(values, (bottom, top)) for values in beside(lab, COUPLED_UP).T),
        ]
    )
    inside = np.asarray(each.all(axis=0))
    checks = [measured(claim, "share", share(lab, COUPLED_UP))]
    checks += [
        within(
            f"{CALLED[p]} over its parallel flow",
            claim.expected["subflow_over_parallel"],
            ratio_of_means(mbps(lab, COUPLED_UP, p), mbps(lab, COUPLED_UP, p + 2)),
            bottom,
            top,
        )
        for p in (0, 1)
    ]
    checks.append(most("share and both ratios", "in 70 % of seeds", inside, 0.7))
    why = (
        f"Mb/s: {each_flow(lambda i: mbps(lab, COUPLED_UP, i))}, in all {interval(total(lab, COUPLED_UP))}; New Reno on "
        f"each subflow has a share of {interval(share(lab, RENO_UP))}."
    )
    unless = (
        "Coupled's windows are half as large: after a loss one is for a while too small to keep its interface busy. "
        f"Interfaces have nothing to send for {idle_interface(lab, COUPLED_UP)} of the time."
    )
    return finding(claim, lab.world.name, checks, why, unless=unless)


@PAPER.claim("up.all_channels", *(two(UP, c, bands) for bands in BANDS for c in (COUPLED, RENO)))
def all_channels(claim: Claim, lab: Laboratory) -> Finding:
    """The same at 5 GHz, at 2.4 GHz and over both."""
    low, high = claim.band("share_each_combination")
    shares = {f"{bands} GHz": share(lab, two(UP, COUPLED, bands)) for bands in BANDS}
    checks = [within(f"share, {bands}", 0.5, values, low, high) for bands, values in shares.items()]
    reno = {f"{bands} GHz": share(lab, two(UP, RENO, bands)) for bands in BANDS}
    why = f"New Reno: {listed(reno)}. The networks are on channels that do not overlap."
    return finding(claim, lab.world.name, checks, why)


@PAPER.claim("up.cwnd_inflated", COUPLED_UP, "idle")
def inflated(claim: Claim, lab: Laboratory) -> Finding:
    """Windows over the chapter's 25 kB."""

    def median(index: int) -> Floats:
        return of_windows(lab, COUPLED_UP, index, lambda w: float(np.median(w))) / BDP_BYTES

    above = [
        of_windows(lab, COUPLED_UP, p, lambda w: float(np.mean(w > BDP_BYTES))) for p in (0, 1)
    ]
    checks = [
        measured(claim, "median_cwnd_over_bdp", (median(0) + median(1)) / 2),
        measured(claim, "median_cwnd_over_bdp_parallel", (median(2) + median(3)) / 2),
        measured(claim, "time_above_bdp", (above[0] + above[1]) / 2),
    ]
    idle = rtt_ms(lab, "idle", "probe")
    own = {
        name: median(i) * BDP_BYTES / (2e-3 * idle * mbps(lab, COUPLED_UP, i) * 1e6 / 8)
        for i, name in enumerate(CALLED)
    }
    why = (
        f"Medians over 25 kB: {each_flow(median)}. Over twice the idle round trip times the flow's own throughput: "
        f"{listed(own)}."
    )
    return finding(claim, lab.world.name, checks, why)


@PAPER.claim("up.aggressiveness_from_cwnd", COUPLED_UP, RENO_UP)
def aggressiveness(claim: Claim, lab: Laboratory) -> Finding:
    """Coupling moves the share by little."""
    moved = paired(share(lab, COUPLED_UP), share(lab, RENO_UP))
    why = (
        f"Share under Coupled {interval(share(lab, COUPLED_UP))}, under New Reno {interval(share(lab, RENO_UP))}. "
        f"{small_windows(lab)}"
    )
    return finding(claim, lab.world.name, [measured(claim, "share_difference", moved)], why)


def small_windows(lab: Laboratory) -> str:
    """Remaining effect of coupling on the uplink."""
    low = of_windows(lab, COUPLED_UP, 0, lambda w: float(np.mean(w < BDP_BYTES)))
    return (
        f"Coupled's windows are below 25 kB for {interval(100 * low)} % of the time, and then they do govern what the "
        f"interface sends. Idle interfaces: {idle_interface(lab, COUPLED_UP)}; with New Reno "
        f"{idle_interface(lab, RENO_UP)}."
    )


UPLINK = (
    *(two(UP, c, bands) for bands in BANDS for c in (COUPLED, RENO)),
    *(f"up-{what}-{c}" for what in ("100", "small") for c in (COUPLED, RENO)),
)
"""All uplink configurations of two networks whose hosts have the chapter's queue."""


@PAPER.claim("up.no_queue_loss", COUPLED_UP, RENO_UP, "up-100-lia", "up-100-reno")
def no_queue_loss(claim: Claim, lab: Laboratory) -> Finding:
    """Drops in the hosts' queues in all uplink runs, and their contribution to the RTT."""
    configurations = [configuration for configuration in UPLINK if configuration in lab.results]
    dropped = {
        configuration: interfaces(lab, configuration, "dropped_packets").sum(axis=1)
        for configuration in configurations
    }
    everything = np.sum(list(dropped.values()), axis=0)
    rtts = {name: rtt_ms(lab, COUPLED_UP, name) for name in (MULTIPATH, *PARALLEL)}
    checks = [
        measured(claim, "host_queue_drops", everything),
        measured(claim, "rtt_over_idle", np.min(list(rtts.values()), axis=0) / 10.0),
    ]
    deepest = np.max(
        [
            np.max(np.asarray(run.series.stations.queue_packets))
            for configuration in configurations
            for run in lab[configuration].runs
        ]
    )
    why = (
        f"{len(configurations)} configurations. Mean round trip: {listed(rtts, ' ms')}; the smallest is judged, over 10 "
        "ms. No queue ever "
        f"had more than {deepest:.0f} packets in a sample, of 1000 and 64."
    )
    return finding(claim, lab.world.name, checks, why)


@PAPER.claim("up.mac_retries_hide_loss", COUPLED_UP)
def retries(claim: Claim, lab: Laboratory) -> Finding:
    """Attempts fail often, packets rarely."""
    tried, unanswered, failed, done = (
        interfaces(lab, COUPLED_UP, metric).sum(axis=1)
        for metric in ("attempts", "unanswered", "failed_packets", "acknowledged_packets")
    )
    queue, air, wire = loss_places(lab, COUPLED_UP, UP)
    checks = [
        measured(claim, "residual_loss", failed / (failed + done)),
        within("failed attempts", "at least 0.05", unanswered / tried, 0.05, 1.0),
        within(
            "losses that are given up on the air",
            "at least 0.9",
            air / (queue + air + wire),
            0.9,
            1,
        ),
    ]
    why = (
        f"{interval(tried)} attempts of four interfaces, {interval(unanswered)} without an answer, {interval(failed)} "
        f"packets given up. Bursts of noise every 2 s take {4 * 100 / 2:.0f} of them in the mean: seven collisions in a row "
        "are too rare to be seen."
    )
    return finding(claim, lab.world.name, checks, why)


@PAPER.claim("up.mac_fair_per_interface", "backlogged", COUPLED_UP)
def fair_interfaces(claim: Claim, lab: Laboratory) -> Finding:
    """Two stations of a network that always have something to send."""
    rates = np.stack([lab["backlogged"].rate(name) for name in ("bulk", "parallel")], axis=1)
    checks = [
        measured(claim, "jain", jain(rates)),
        within("one over the other", "within 10 %", rates[:, 0] / rates[:, 1], 0.9, 1.1),
    ]
    own = {
        f"network {p + 1}": jain(
            np.stack([mbps(lab, COUPLED_UP, p), mbps(lab, COUPLED_UP, p + 2)], axis=1)
        )
        for p in (0, 1)
    }
    why = (
        f"Datagrams: {interval(rates[:, 0] / 1e6)} and {interval(rates[:, 1] / 1e6)} Mb/s over 100 s. Jain's index of "
        f"a subflow and its parallel flow: {listed(own)}."
    )
    return finding(claim, lab.world.name, checks, why)


@PAPER.claim("up.equals_newreno", COUPLED_UP, RENO_UP, two(DOWN, COUPLED), two(DOWN, RENO))
def equals(claim: Claim, lab: Laboratory) -> Finding:
    """Coupled less New Reno, up and down."""
    up = paired(share(lab, COUPLED_UP), share(lab, RENO_UP))
    down = paired(share(lab, two(DOWN, COUPLED)), share(lab, two(DOWN, RENO)))
    coupled, reno = medians(lab, COUPLED_UP), medians(lab, RENO_UP)
    checks = [
        measured(claim, "uplink_difference", up),
        measured(claim, "downlink_difference", down),
        within(
            "median of 1 s samples, Coupled over New Reno",
            "within 10 %",
            ratio_of_means(coupled, reno),
            0.9,
            1.1,
        ),
    ]
    why = f"Medians of a subflow: {interval(coupled)} and {interval(reno)} Mb/s."
    return finding(
        claim, lab.world.name, checks, why, unless=f"{small_windows(lab)} {open_parts(lab)}"
    )


def open_parts(lab: Laboratory) -> str:
    """The uplink shares of the variants that have been run."""
    found = {}
    for variant in ("loss by packet", "an ACK for each packet", "bursts every 1 s"):
        configuration = other(variant, False, COUPLED)
        if configuration in lab.results:
            found[variant] = share(lab, configuration)
    return f"Share with open parameters set otherwise: {listed(found)}." if found else ""


@PAPER.claim("up.only_immediate_bottleneck", "deep", "deep-reno", "deep-noise", COUPLED_UP)
def deeper(claim: Claim, lab: Laboratory) -> Finding:
    """A line behind the access point gives the feedback that the air does not."""
    ratios = np.mean(beside(lab, "deep"), axis=1)
    checks = [
        measured(claim, "share", share(lab, "deep")),
        within("subflow over its parallel flow, mean", "at most 0.75", ratios, 0.0, 0.75),
    ]
    why = (
        f"Mb/s: {each_flow(lambda i: mbps(lab, 'deep', i))}; share of Coupled where the air is the bottleneck "
        f"{interval(share(lab, COUPLED_UP))}, of New Reno behind the lines {interval(share(lab, 'deep-reno'))}. With bursts of "
        f"noise on the air as well {interval(share(lab, 'deep-noise'))}."
    )
    lost = [
        100 * (flow(lab, "deep", i, "loss") + flow(lab, "deep", i + 1, "loss")) / 2 for i in (0, 2)
    ]
    unless = (
        "A third follows from equal loss. But the faster a window grows, the farther it overshoots a queue of 20 packets: a "
        f"parallel flow loses {interval(lost[1])} % of its packets, a subflow {interval(lost[0])} %."
    )
    return finding(claim, lab.world.name, checks, why, unless=unless)


def fixed(lab: Laboratory, bdps: float) -> Floats:
    """Both flows with imposed windows, in Mb/s."""
    result = lab[window(bdps)]
    return np.asarray(result.rate("fixed-1") + result.rate("fixed-2")) / 1e6


@PAPER.claim("up.throttling_ineffective", *(window(bdps) for bdps in FIXED))
def throttling(claim: Claim, lab: Laboratory) -> Finding:
    """Throughput over an imposed window."""
    rates = {bdps: fixed(lab, bdps) for bdps in FIXED}
    steps = [(rates[b] - rates[a], 0.0, None) for a, b in ((0.25, 0.5), (0.5, 1.0))]
    checks: list[Check] = [
        measured(claim, "change_2_to_8_bdp", change(rates[8.0], rates[2.0])),
        hold_together("rises up to the BDP", "0.25, 0.5, 1", steps),
    ]
    why = f"Both flows in Mb/s over the window in BDPs: {listed({f'{b:g}:': v for b, v in rates.items()})}."
    idle = {
        f"{bdps:g} BDP:": 100 * interfaces(lab, window(bdps), "empty")[:, :2].mean(axis=1)
        for bdps in (2.0, 4.0, 8.0)
    }
    unless = (
        "25 kB are not the bandwidth-delay product of a busy channel, on which ACKs wait at the access point: the client's "
        f"interfaces have nothing to send for part of the time: {listed(idle, ' %')}. From 4 to 8 BDP throughput changes by "
        f"{100 * change(rates[8.0], rates[4.0]).mean:.1f} %. What the client gains a parallel flow loses: it has "
        f"{interval(lab[window(2.0)].rate('parallel-1') / 1e6)} Mb/s at 2 and "
        f"{interval(lab[window(8.0)].rate('parallel-1') / 1e6)} Mb/s at 8 BDP."
    )
    return finding(claim, lab.world.name, checks, why, unless=unless)
