"""Claims about the uplink with 100 ms added at the server."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...statistics import interval, ratio_of_means
from ..findings import Check, Finding, finding, measured, within
from ..laboratory import Laboratory
from ..ledger import Claim
from .configurations import ADDED_S, COUPLED, RENO, UP, other, two
from .paper import PAPER
from .reading import (
    CALLED,
    FLOWS,
    MULTIPATH,
    Floats,
    beside,
    columns,
    each_flow,
    exact,
    flow,
    interfaces,
    listed,
    mbps,
    medians,
    multipath,
    of_windows,
    series,
)
from .structure import IDLE_S, MBPS, bdp_kb

KINDS = {COUPLED: "Coupled", RENO: "New Reno"}
BDP = bdp_kb(2 * IDLE_S + ADDED_S, MBPS)
"""In kB, by the chapter's numbers."""


def added(controller: str) -> str:
    """The configuration with 100 ms added."""
    return f"up-100-{controller}"


def plain(controller: str) -> str:
    """The configuration without."""
    return two(UP, controller)


BOTH = (added(COUPLED), plain(COUPLED))
ALL = (*BOTH, added(RENO), plain(RENO))


@PAPER.claim("rtt100.throughput_drop", *ALL)
def throughput_drop(claim: Claim, lab: Laboratory) -> Finding:
    """Median throughput of a flow with 100 ms added, over that without."""
    low, high = claim.band("median_ratio")
    published = claim.expected["median_ratio"]
    rows = {
        "Coupled": (medians(lab, added(COUPLED)), medians(lab, plain(COUPLED))),
        "New Reno": (medians(lab, added(RENO)), medians(lab, plain(RENO))),
        "parallel": (
            medians(lab, added(COUPLED), FLOWS[2:]),
            medians(lab, plain(COUPLED), FLOWS[2:]),
        ),
    }
    checks = [
        within(f"median ratio, {name}", published, ratio_of_means(*pair), low, high)
        for name, pair in rows.items()
    ]
    words = {name: f"{interval(a)} of {interval(b)}" for name, (a, b) in rows.items()}
    why = f"Medians of 1 s pieces in Mb/s: {', '.join(f'{k} {v}' for k, v in words.items())}."
    return finding(claim, lab.world.name, checks, why)


LONG_S = 10.0
"""A path that brings nothing for so long is at a standstill."""


def standstills(lab: Laboratory, configuration: str) -> Floats:
    """For each seed, the number of subflows at a standstill."""
    result = lab[configuration]
    least = round(LONG_S / result.plan.sample_s)
    found = np.zeros(len(result.runs))
    for path in (0, 1):
        for seed, arrived in enumerate(series(result, "arrived_bytes", MULTIPATH, path)):
            found[seed] += bool((arrived[least:] == arrived[:-least]).any())
    return found


@PAPER.claim("rtt100.coupled_worse", *BOTH)
def worse(claim: Claim, lab: Laboratory) -> Finding:
    """Coupled against New Reno when windows are too small."""
    configuration = added(COUPLED)
    best = np.maximum(mbps(lab, configuration, 2), mbps(lab, configuration, 3))
    own = mbps(lab, configuration, 0) + mbps(lab, configuration, 1)
    theirs = mbps(lab, configuration, 2) + mbps(lab, configuration, 3)
    checks = [
        measured(claim, "subflow_over_parallel", ratio_of_means(own, theirs)),
        measured(claim, "sum_over_best_parallel", ratio_of_means(own, best)),
    ]
    smaller = np.minimum(mbps(lab, configuration, 0), mbps(lab, configuration, 1)) / own
    why = (
        f"Mb/s: {each_flow(lambda i: mbps(lab, configuration, i))}; sum {interval(multipath(lab, configuration))}, best "
        "parallel flow "
        f"{interval(best)}. The smaller subflow has {interval(smaller)} of the sum. Timeouts of the subflows in a run: "
        f"{interval(flow(lab, configuration, 0, 'timeouts') + flow(lab, configuration, 1, 'timeouts'))}; "
        f"{standstills(lab, configuration).sum():.0f} of {2 * len(own)} subflows bring nothing for {LONG_S:g} s or more."
    )
    unless = (
        "Two subflows at a quarter of New Reno's growth have a quarter of its window each only as long as they are equal. "
        "Linked increases grow the larger one faster, at the same loss times it stays the larger one, and alone it grows "
        f"as New Reno does: so the sum tends to one parallel flow. {by_packet(lab)}"
    )
    return finding(claim, lab.world.name, checks, why, unless=unless)


def by_packet(lab: Laboratory) -> str:
    """Result with a loss by packet; empty if that has not been run."""
    configuration = other("loss by packet", True, COUPLED)
    if configuration not in lab.results:
        return ""
    best = np.maximum(mbps(lab, configuration, 2), mbps(lab, configuration, 3))
    return (
        f"With loss by packet the sum is {ratio_of_means(multipath(lab, configuration), best)} of the best parallel flow, "
        "and a "
        f"subflow {interval(beside(lab, configuration).mean(axis=1))} of its own."
    )


def everywhere(claim: Claim, key: str, of: Callable[[int], Floats]) -> list[Check]:
    """A band of the ledger for each of the four flows."""
    low, high = claim.band(key)
    return [
        within(f"{key}, {name}", claim.expected[key], of(i), low, high)
        for i, name in enumerate(CALLED)
    ]


@PAPER.claim("rtt100.cwnd_below_bdp", *BOTH)
def below(claim: Claim, lab: Laboratory) -> Finding:
    """Windows over the 150 kB that would be needed."""
    configuration = added(COUPLED)

    def part(percent: float) -> Callable[[int], Floats]:
        return lambda i: (
            of_windows(lab, configuration, i, lambda w: float(np.percentile(w, percent)))
            / (1e3 * BDP)
        )

    checks = [
        measured(claim, "bdp", exact(BDP)),
        *everywhere(claim, "median_cwnd_over_bdp", part(50)),
        *everywhere(claim, "p95_cwnd_over_bdp", part(95)),
    ]
    seen = {
        name: bdp_kb(2 * IDLE_S + ADDED_S, 1.0) * mbps(lab, plain(COUPLED), i)
        for i, name in enumerate(CALLED)
    }
    why = (
        f"The first expectation is a definition: 120 ms at 10 Mb/s are {BDP:g} kB. "
        f"With the throughput that is seen without added delay: {listed(seen, ' kB')}. "
        f"95th percentiles over {BDP:g} kB: {each_flow(part(95))}."
    )
    unless = (
        "A small subflow of Coupled is left with a window near one segment: it is below the BDP all the more, but beneath "
        "the band's lower end."
    )
    return finding(claim, lab.world.name, checks, why, unless=unless)


@PAPER.claim("rtt100.same_drops", *ALL)
def same_drops(claim: Claim, lab: Laboratory) -> Finding:
    """Packets given up by the four clients' interfaces."""
    counts = {
        configuration: interfaces(lab, configuration, "failed_packets").sum(axis=1)
        for configuration in ALL
    }
    done = {
        configuration: interfaces(lab, configuration, "acknowledged_packets").sum(axis=1)
        for configuration in ALL
    }
    low, high = claim.band("count_ratio")
    published = claim.expected["count_ratio"]
    checks = [
        within(
            f"count_ratio, {name}",
            published,
            ratio_of_means(counts[added(c)], counts[plain(c)]),
            low,
            high,
        )
        for c, name in KINDS.items()
    ]
    rates = {
        f"{name}{' with 100 ms' if configuration == added(c) else ''}": counts[configuration]
        / done[configuration]
        for c, name in KINDS.items()
        for configuration in (plain(c), added(c))
    }
    number = {
        name: counts[configuration]
        for configuration, name in zip(ALL, ("100 ms", "none"), strict=False)
    }
    why = (
        f"Packets given up with Coupled: {listed(number)}; per packet: {listed(rates)}. Bursts of noise "
        "come once in 2 s whatever is sent, which is put in; a burst takes a packet only if one is begun in it, so an "
        "interface that is idle for much of the time gives up fewer. Whether counts agree is therefore a result."
    )
    return finding(claim, lab.world.name, checks, why)


@PAPER.claim("rtt100.window_limited", *BOTH)
def window_limited(claim: Claim, lab: Laboratory) -> Finding:
    """Fraction of time in which interfaces have nothing to send, and throughput over window and
    RTT.
    """
    empty = {configuration: interfaces(lab, configuration, "empty") for configuration in BOTH}
    checks = [
        *everywhere(claim, "idle_fraction_100ms", columns(empty[added(COUPLED)])),
        *everywhere(claim, "idle_fraction_0ms", columns(empty[plain(COUPLED)])),
    ]
    limits = {name: by_window(lab, added(COUPLED), i) for i, name in enumerate(CALLED)}
    checks += [
        within(f"throughput over window / round trip, {name}", "within 15 %", value, 0.85, 1.15)
        for name, value in limits.items()
    ]
    why = (
        f"Empty with 100 ms: {each_flow(columns(empty[added(COUPLED)]))}; without: "
        f"{each_flow(columns(empty[plain(COUPLED)]))}."
    )
    unless = (
        "Without added delay New Reno's interfaces are rarely empty; Coupled's windows are half as large, and after a "
        "loss its interface waits for ACKs for a while. With the delay, a subflow whose timeout has grown sends less than "
        "its window of one segment allows."
    )
    return finding(claim, lab.world.name, checks, why, unless=unless)


def by_window(lab: Laboratory, configuration: str, index: int) -> Floats:
    """A flow's throughput over the mean of its window over its round trip."""
    name, path = FLOWS[index]
    windows, rtts = (series(lab[configuration], m, name, path) for m in ("cwnd_segments", "srtt_s"))
    limits = [
        float(np.mean(w[r > 0] / r[r > 0])) * 12e-3 for w, r in zip(windows, rtts, strict=True)
    ]
    return np.asarray(mbps(lab, configuration, index) / np.array(limits), dtype=float)


def increase(lab: Laboratory, configuration: str, *, by_time: bool = False) -> Floats:
    """Growth of RFC 6356 at the sampled windows over 1/w_r: the mean over packets that arrived, or
    over time.
    """
    result = lab[configuration]
    both: dict[str, list[list[Floats]]] = {
        m: [series(result, m, MULTIPATH, p) for p in (0, 1)]
        for m in ("cwnd_segments", "srtt_s", "arrived_bytes")
    }
    found = []
    for seed in range(len(result.runs)):
        w, rtt, arrived = (np.stack([rows[p][seed] for p in (0, 1)]) for rows in both.values())
        rtt = np.where(rtt > 0, rtt, np.inf)
        linked = (w / rtt**2).max(axis=0) / ((w / rtt).sum(axis=0) ** 2)
        ratio = np.minimum(linked * w, 1.0)[:, :-1]
        packets = np.ones_like(ratio) if by_time else np.diff(arrived, axis=1)
        known = np.isfinite(ratio)
        found.append(float((ratio * packets)[known].sum() / packets[known].sum()))
    return np.array(found)


def seen_increase(lab: Laboratory, configuration: str) -> Floats:
    """The same as the windows grew in fact: between samples without a reduction, above ssthresh."""
    result = lab[configuration]
    found = np.zeros(len(result.runs))
    weight = np.zeros(len(result.runs))
    for path in (0, 1):
        columns = [
            series(result, m, MULTIPATH, path)
            for m in ("cwnd_segments", "ssthresh_segments", "arrived_bytes")
        ]
        for seed, (w, ssthresh, arrived) in enumerate(zip(*columns, strict=True)):
            grown, packets = np.diff(w), np.diff(arrived) / 1500
            counted = (grown > 0) & (w[:-1] > ssthresh[:-1]) & (packets > 0)
            found[seed] += float((grown * w[:-1])[counted].sum())
            weight[seed] += float(packets[counted].sum())
    return np.asarray(found / np.maximum(weight, 1.0), dtype=float)


@PAPER.claim("rtt100.coupled_reads_loss", *BOTH)
def reads_loss(claim: Claim, lab: Laboratory) -> Finding:
    """Growth of a Coupled window per ACK, relative to New Reno's."""
    configuration = added(COUPLED)
    checks = [measured(claim, "increase_ratio", increase(lab, configuration))]
    larger = np.maximum(mbps(lab, configuration, 0), mbps(lab, configuration, 1)) / multipath(
        lab, configuration
    )
    why = (
        f"By RFC 6356 at the windows and round trips of every 100 ms, in the mean over packets; as the windows grew between "
        f"samples: {interval(seen_increase(lab, configuration))}; in the mean over time and both subflows "
        f"{interval(increase(lab, configuration, by_time=True))}. The larger subflow carries {interval(larger)} of the "
        "sum. Without "
        f"added delay: {interval(increase(lab, plain(COUPLED)))}."
    )
    unless = (
        "A quarter is that of two equal subflows. Equal losses in time do not keep them equal: one carries most of the "
        "packets, and nearly alone it grows as New Reno does. The other one's growth is far smaller, on few packets."
    )
    return finding(claim, lab.world.name, checks, why, unless=unless)
