"""Wishes of the author: remedies, more runs, a wired analogue, MAC shares."""

from __future__ import annotations

import numpy as np

from ...statistics import interval, ratio_of_means
from ..findings import Finding, finding, holds, measured, within
from ..laboratory import Laboratory
from ..ledger import Claim
from .configurations import (
    BANDS,
    BDP_BYTES,
    CANDIDATES,
    COUPLED,
    DOWN,
    RENO,
    UP,
    solution,
    solutions,
    two,
)
from .paper import PAPER
from .reading import (
    CALLED,
    FLOWS,
    MULTIPATH,
    Floats,
    columns,
    each_flow,
    interfaces,
    listed,
    mbps,
    of_windows,
    parallel,
    samples_mbps,
    share,
    total,
)

KEPT = 0.9
"""The part of the total that a remedy may not go below."""


def kept(lab: Laboratory, name: str) -> Floats:
    """Total throughput with a candidate over that without."""
    return total(lab, solution(name)) / total(lab, two(UP, COUPLED))


def best(lab: Laboratory) -> str:
    """The candidate with a share nearest to a third, among those that keep the total."""
    names = [name for name in CANDIDATES if kept(lab, name).mean() >= KEPT]
    middle = 1 / 3
    return min(names, key=lambda name: abs(float(share(lab, solution(name)).mean()) - middle))


@PAPER.claim("wish.solutions", *solutions(), two(UP, COUPLED))
def remedies(claim: Claim, lab: Laboratory) -> Finding:
    """Candidates on the uplink: the one nearest to a third is judged."""
    name = best(lab)
    checks = [
        measured(claim, "share", share(lab, solution(name))),
        within("total over that without a remedy", "at least 0.9", kept(lab, name), KEPT, None),
    ]
    rows = [
        f"{one}: {interval(share(lab, solution(one)))} ({interval(total(lab, solution(one)))} Mb/s)"
        for one in CANDIDATES
    ]
    configuration = two(UP, COUPLED)
    why = (
        f"Judged: {name}. Share and total of each: {'; '.join(rows)}; none: {interval(share(lab, configuration))} "
        f"({interval(total(lab, configuration))} Mb/s). A limit on the host's queue bounds delay and leaves the interface "
        "backlogged, "
        "so that the MAC goes on to decide; what drops or marks in the host's queue says how long that queue is, not that "
        "others are waiting. Delay-based windows see only their own host's and the access point's queue, and lose to "
        "parallel flows that fill theirs. A clamp needs the bandwidth-delay product to be known. Coupled rates need no "
        "signal: each path measures what it carries, and all together hold what the best one does."
    )
    return finding(claim, lab.world.name, checks, why)


@PAPER.claim(
    "wish.more_runs",
    *(two(d, c, bands) for d in (DOWN, UP) for bands in BANDS for c in (COUPLED, RENO)),
)
def more_runs(claim: Claim, lab: Laboratory) -> Finding:
    """Every direction over every pair of bands, and how wide their distributions are."""
    checks, rows = [], []
    for direction in (DOWN, UP):
        for bands in BANDS:
            configuration = two(direction, COUPLED, bands)
            pieces = samples_mbps(lab[configuration], MULTIPATH, 0)
            name = f"{direction}link, {bands} GHz"
            checks += [
                holds(
                    name,
                    claim.expected["output"],
                    whole(pieces, mbps(lab, configuration, 0)),
                ),
                within(f"widest gap, {name}", "no steps", widest(lab, configuration), None, STEP),
            ]
            spread = [
                float(np.percentile(rates, 90) - np.percentile(rates, 10)) for rates in pieces
            ]
            gap = np.abs(mbps(lab, configuration, 2) - mbps(lab, configuration, 3))
            rows.append(
                f"{direction}link {bands} GHz: share {interval(share(lab, configuration))}, 80 % of a subflow's seconds within "
                f"{interval(spread)} Mb/s, parallel flows {interval(gap)} Mb/s apart"
            )
    smooth = all(check.verdict == "reproduced" for check in checks)
    why = (
        f"{'; '.join(rows)}. The author asks for runs without the steps of the uplink's distribution, or for a reason. A step "
        f"is a gap between neighbouring seconds of {STEP:g} of what 80 % of them span; chance leaves such a gap in one of a "
        f"million runs. {NO_STEPS if smooth else 'Some are here.'}"
    )
    return finding(claim, lab.world.name, checks, why)


NO_STEPS = (
    "None is here, in either direction: the MAC, noise and the controllers make none by themselves. Steps need a channel with "
    "several levels, as rate control or somebody else's network gives it; these networks have a fixed rate and nobody else."
)
STEP = 0.2
"""A gap of the inner 80 % of seconds that is called a step, as a part of what these span."""


def whole(pieces: list[Floats], rates: Floats) -> bool:
    """Whether each seed's distribution covers every second and its mean is the counted rate."""
    return all(
        len(seconds) >= 90 and abs(float(np.mean(seconds)) - rate) <= 0.005 * rate
        for seconds, rate in zip(pieces, rates, strict=True)
    )


def widest(lab: Laboratory, configuration: str) -> Floats:
    """The widest gap between neighbouring seconds of the inner 80 %, as a part of what these span:
    the mean over the four flows for each seed.
    """
    found = []
    for name, path in FLOWS:
        for seconds in samples_mbps(lab[configuration], name, path):
            tenth = len(seconds) // 10
            inner = np.sort(seconds)[tenth : len(seconds) - tenth]
            found.append(float(np.diff(inner).max() / (inner[-1] - inner[0])))
    return np.asarray(np.reshape(found, (len(FLOWS), -1)).mean(axis=0), dtype=float)


@PAPER.claim("wish.wired_analogue", "wired", "wired-reno", "wired-fair", "wired-shared")
def wired_analogue(claim: Claim, lab: Laboratory) -> Finding:
    """Windows where the immediate link is a wire, and shares by where the wire is."""

    def median(configuration: str, index: int) -> Floats:
        return of_windows(lab, configuration, index, lambda w: float(np.median(w))) / BDP_BYTES

    both = (median("wired", 0) + median("wired", 1)) / 2
    checks = [measured(claim, "median_cwnd_over_bdp", both)]
    rows = {
        "a wire for each host": "wired",
        "the same with New Reno": "wired-reno",
        "a wire for both hosts that serves them in turn and never drops": "wired-fair",
        "a wire for both hosts whose queue drops": "wired-shared",
    }
    shares = {name: share(lab, configuration) for name, configuration in rows.items()}
    why = (
        f"Windows over 25 kB: {each_flow(lambda i: median('wired', i))}. Shares: {listed(shares)}. So it is not the radio: "
        "where hosts are served in turn before anything drops, a third is not to be had; where one queue drops for both, "
        "Coupled is told."
    )
    return finding(claim, lab.world.name, checks, why)


def shares_on_air(lab: Laboratory, configuration: str) -> tuple[Floats, Floats]:
    """Each client interface's part of its network's airtime of data, and of its packets, shape
    (seeds, 4).
    """
    parts = []
    for metric in ("airtime", "acknowledged_packets"):
        own = interfaces(lab, configuration, metric)
        points = np.stack(
            [
                lab[configuration].station(m, f"ap-{i}", metric)
                for m, i in (("first", 1), ("second", 2))
            ],
            axis=1,
        )
        whole = own[:, :2] + own[:, 2:] + points
        parts.append(own / np.concatenate([whole, whole], axis=1))
    return parts[0], parts[1]


@PAPER.claim("wish.mac_fairness_discussion", two(UP, COUPLED), two(UP, RENO))
def mac_shares(claim: Claim, lab: Laboratory) -> Finding:
    """Airtime and packets of each interface."""
    rows, sums = [], []
    for configuration, name in ((two(UP, COUPLED), "Coupled"), (two(UP, RENO), "New Reno")):
        air, packets = shares_on_air(lab, configuration)
        rows.append(
            f"{name}: airtime {each_flow(columns(air))}; packets {each_flow(columns(packets))}"
        )
        sums.append(air[:, :2] + air[:, 2:])
    complete = all((whole > 0.8).all() and (whole < 1.0).all() for whole in sums)
    checks = [holds("output", claim.expected["output"], complete and len(CALLED) == 4)]
    ratio = ratio_of_means(parallel(lab, two(UP, COUPLED)), parallel(lab, two(UP, RENO)))
    why = (
        f"Of each network's airtime of data, and of its packets; the rest is the access point's, which sends ACKs. "
        f"{'. '.join(rows)}. Parallel flows get {ratio} times as much beside Coupled as beside New Reno."
    )
    return finding(claim, lab.world.name, checks, why)
