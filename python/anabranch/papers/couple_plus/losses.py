"""Losses: their number in a cycle, and Couple+'s verdicts on them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...statistics import interval
from ..findings import Check, Finding, finding, holds, measured, within
from ..laboratory import Laboratory
from ..ledger import Claim
from .configurations import COUPLE, EVERY, alone, measurement, point
from .logs import Episode, episodes, of_path, of_seeds
from .paper import PAPER
from .reading import START_S, Floats, end_of, total

CYCLE = 21
"""Packets of a redundant cycle at a redundancy of 1.05."""


def in_cycles(lab: Laboratory, configuration: str) -> Floats:
    """Cycles by the number of packets that the Wi-Fi link lost in them, 0 to 21, shape
    (seeds, 22).
    """
    result = of_seeds(lab.configurations[configuration], lab[configuration].seeds)
    (user,) = [c for c in result.plan.classes if c.name == "over-wifi"]
    assert user.app_rate_bps, "the class is of UDP"
    space_s = user.packet_bytes * 8 / user.app_rate_bps
    found = []
    for run in result.runs:
        lost = of_path(run, 0, 0).times("loss")
        whole = int(run.paths.sent_packets[0]) // CYCLE
        number = np.floor(np.round(lost / space_s, 3) / CYCLE).astype(int)
        counts = np.bincount(number[number < whole], minlength=whole)
        found.append(np.bincount(counts, minlength=CYCLE + 1))
    return np.array(found, dtype=float)


def single(counts: Floats) -> Floats:
    """Cycles with one loss, as a fraction of cycles with losses."""
    return np.asarray(counts[:, 1] / counts[:, 1:].sum(axis=1))


@PAPER.claim("fig7", *measurement())
def figure7(claim: Claim, lab: Laboratory) -> Finding:
    """Losses in a cycle on the sparse channel, and where losses are more frequent."""
    counts = in_cycles(lab, "measurement")
    wired = total(lab, "measurement", ("over-wire", 0), "loss")
    checks = [
        measured(claim, "p_single_given_loss", single(counts)),
        measured(claim, "wired_loss", wired),
    ]
    parts = counts.sum(axis=0) / counts.sum()
    more = {p: single(in_cycles(lab, f"measurement-p{p:g}")) for p in (0.01, 0.05)}
    expected = {p: 21 * p * (1 - p) ** 20 / (1 - (1 - p) ** 21) for p in more}
    why = (
        f"An hour of UDP at 95 kb/s, losses from the event log: cycles of {CYCLE} packets with none {parts[0]:.3f}, one "
        f"{parts[1]:.3f}, two {parts[2]:.4f}, more {parts[3:].sum():.5f}. It holds for sparse losses only: by themselves "
        "with p = "
        + ", with p = ".join(
            f"{p:g} it is {interval(v)} (binomial {expected[p]:.3f})" for p, v in more.items()
        )
        + "; and the paper simulates 0.01, 0.05 and 0.10."
    )
    return finding(claim, lab.world.name, checks, why)


@PAPER.claim("topology.measurement", "measurement")
def topology_measurement(claim: Claim, lab: Laboratory) -> Finding:
    """Both last hops of the plan, and the load."""
    plan = lab["measurement"].plan
    hops = [plan.links[c.paths[0].links[-1]].name for c in plan.classes]
    rates = [c.app_rate_bps for c in plan.classes if c.app_rate_bps]
    low, high = 0.4e6, 3e6
    wifi = lab["measurement"].rates_bps["wifi"]
    checks = [
        holds("last_hop", claim.expected["last_hop"], hops == claim.expected["last_hop"]),
        holds("UDP of at most 100 kb/s", "100 kbps", max(rates) <= 1e5),
        holds("Wi-Fi of 0.4 to 3 Mb/s", "0.4..3", low <= wifi <= high),
    ]
    why = f"Flows of {rates[0] / 1e3:g} kb/s over {hops[0]} ({wifi / 1e6:g} Mb/s) and {hops[1]}; a simulated counterpart only."
    return finding(claim, "structure", checks, why)


def merged(found: Sequence[Episode]) -> list[Episode]:
    """Questions about the same losses are one: the last verdict counts."""
    together: list[Episode] = []
    for episode in found:
        if together and episode.dropped + episode.lost == 0:
            first = together.pop()
            together.append(
                Episode(first.asked_s, episode.end_s, episode.congestion, first.dropped, first.lost)
            )
        elif episode.dropped + episode.lost:
            together.append(episode)
    return together


def judged(lab: Laboratory, configuration: str) -> list[list[Episode]]:
    """The episodes of subflow 1 in the competition period, for each seed."""
    result = of_seeds(lab.configurations[configuration], lab[configuration].seeds)
    return [merged(episodes(of_path(run, 0, 1), START_S, end_of(run))) for run in result.runs]


def matrix(lab: Laboratory, configurations: Sequence[str]) -> Floats:
    """Counts by seed, truth (air alone, queue) and verdict (noise, congestion), shape (seeds, 2,
    2).
    """
    found = np.zeros((len(lab[configurations[0]].runs), 2, 2))
    for configuration in configurations:
        for seed, own in enumerate(judged(lab, configuration)):
            for episode in own:
                found[seed, int(episode.dropped > 0), int(episode.congestion)] += 1
    return found


NETWORKS = {
    "with TCP": [point(COUPLE, p, r) for p, r in EVERY],
    "without TCP": [alone(COUPLE, p, r) for p, r in EVERY],
}


def by_size(lab: Laboratory, configurations: Sequence[str]) -> str:
    """The part judged congestion of episodes with one, two, three to five, and more drops."""
    every = [
        e
        for configuration in configurations
        for own in judged(lab, configuration)
        for e in own
        if e.dropped
    ]
    rows = []
    for low, high in ((1, 1), (2, 2), (3, 5), (6, 1000)):
        own = [e.congestion for e in every if low <= e.dropped <= high]
        if own:
            name = (
                f"{low}" if low == high else f"{low} to {high}" if high < 100 else f"{low} or more"
            )
            rows.append(f"{name}: {np.mean(own):.2f} of {len(own)}")
    return ", ".join(rows)


@PAPER.claim(
    "mech.wireless_vs_congestion",
    *(configuration for configurations in NETWORKS.values() for configuration in configurations),
)
def classifier(claim: Claim, lab: Laboratory) -> Finding:
    """Verdicts compared with the real losses."""
    checks: list[Check] = []
    rows = []
    for name, configurations in NETWORKS.items():
        counts = matrix(lab, configurations)
        for row, column, key in ((0, 0, "wireless_correct"), (1, 1, "congestion_correct")):
            low, high = claim.band(key)
            whole = counts[:, row].sum(axis=1)
            part = counts[whole > 0, row, column] / whole[whole > 0]
            checks.append(within(f"{key}, {name}", claim.expected[key], part, low, high))
        sums = counts.sum(axis=0)
        rows.append(
            f"{name}: air alone {sums[0, 0]:.0f} noise, {sums[0, 1]:.0f} congestion; with queue drops {sums[1, 0]:.0f} "
            "noise, "
            f"{sums[1, 1]:.0f} congestion; judged congestion by number of drops {by_size(lab, configurations)}"
        )
    why = (
        "Every question of Couple+ at all losses and redundancies, from the event log, with what was "
        "lost on the path "
        f"since the verdict before, or at most a second before the question. {'. '.join(rows)}."
    )
    unless = (
        "Decoding does not tell where one packet was lost: a single drop, and two in two cycles, are repaired by "
        "redundancy and "
        "judged noise as by design, and a drop-tail queue that one flow of two fills drops one at a time. Losses of the "
        "air that meet "
        "in a cycle are judged congestion where the TCP's standing queue makes the round trip long."
    )
    return finding(claim, lab.world.name, checks, why, unless=unless)
