"""Reasons why claims were not reproduced: observations, with numbers from the current runs."""

from __future__ import annotations

import numpy as np

from ...statistics import interval
from ..laboratory import Laboratory
from .configurations import (
    BILEVEL,
    FIRST,
    MBPS,
    MOST,
    RATES,
    SECOND,
    on_two_paths,
    placed_worst,
)
from .paper import BASE, POOLED, independent_name, shared_name
from .reading import on_path, share, used

STATIC = (
    "The response function gives an empty path the highest rate, but a background flow fills that as well: what moving "
    "the base gains is what a TCP gets there beyond a background flow, which nobody can measure without trying. Trials "
    "do; how long they rest was chosen on these very settings."
)


def own_queue(lab: Laboratory) -> str:
    """Why TCP-LP does not fill an empty link."""
    lp, tcp, lp_tail, tcp_tail = (
        used(lab, configuration, "bottleneck").mean()
        for configuration in (
            "lp-alone",
            "shared-red-5-alone",
            "lp-alone-drop-tail",
            "shared-drop-tail-5-alone",
        )
    )
    return (
        "TCP-LP yields to its own queue too: it halves its window once delay is 15 % of the range that it knows above its "
        "least, so that the buffer does not carry it over. Over drop-tail of one bandwidth-delay product it uses "
        f"{lp_tail:.3f} of the link where a TCP alone uses {tcp_tail:.3f}. Over this RED link they use {lp:.3f} and "
        f"{tcp:.3f}: RED's early drops leave part of it to neither."
    )


def borrowing(lab: Laboratory) -> str:
    """Why Multi-Priority TCP takes a little more than half of a fast RED link."""
    configuration = shared_name(BASE, MOST, "red", 20.0)
    if configuration not in lab.results:
        return ""
    own = [on_path(lab, configuration, p).mean() for p in range(MOST)]
    probe = 1 / (1 + on_path(lab, configuration, 0, "cwnd_segments").mean())
    free = 1 - lab[configuration].link("bottleneck", "utilisation").mean()
    return (
        f"On the fastest RED link {free:.2f} of the capacity is unused even so, and background flows find short delays: with "
        f"16 paths at 20 Mb/s they carry {sum(own[1:]) / sum(own):.2f} of what the ensemble takes, where one probe in a round "
        f"trip would be {probe:.2f}. Beyond probes nothing is charged to the base flow."
    )


def queues(lab: Laboratory) -> str:
    """Why Bilevel TFRC takes more over drop-tail."""
    rows = []
    for n in (1, MOST):
        configuration = shared_name(BILEVEL, n, "drop-tail")
        own = np.mean([on_path(lab, configuration, p, "loss").mean() for p in range(n)])
        tcp = lab[configuration].path("tcp", 0, "loss").mean()
        rows.append(f"{own:.4f} against {tcp:.4f} with {n} path{'s' if n > 1 else ''}")
    return (
        "A full drop-tail buffer drops what comes in bursts: TFRC spaces its packets evenly and finds the place that the last "
        f"departure left, TCP sends two for an ACK when its window grows. Loss of TFRC and of the TCP: {', '.join(rows)}. RED "
        "drops both alike. Sixteen paths have shorter loss intervals each, and less of this."
    )


def hardly_misplaced() -> str:
    """Why a TCP that moves recovers little when it competes with reduced flows."""
    return (
        "The response function finds the larger and the less lossy path, but gives an empty one the highest rate, which a "
        "reduced flow fills as well."
    )


def pooled(lab: Laboratory) -> str:
    """Why one history of all paths does not fill all of them."""
    configuration = independent_name(POOLED, MOST, 0)
    own = np.array([on_path(lab, configuration, p) for p in range(MOST)]) / (MBPS * 1e6)
    return (
        "One history of all paths forgets N times as fast as N histories, so that the ensemble is there within the run instead "
        "of most of an hour. But eight events on sixteen paths say little of each: the parts that paths have of the master's "
        "rate differ by chance, and one of them overflows before the others are full. Of its link the fullest path uses "
        f"{own.max(axis=0).mean():.2f} in the mean of the runs, the emptiest {own.min(axis=0).mean():.2f}. That does not go "
        "away with time; longer histories divide better, and are too slow again."
    )


def spare(lab: Laboratory) -> str:
    """Why Multi-Priority is above the thesis' line at its end."""
    free = 1 - lab["shared-red-5-without"].link("bottleneck", "utilisation").mean()
    return (
        f"The line takes contested links to be full. One TCP leaves {free:.0%} of this RED link unused, background flows take "
        "part of that on every contested path, and with 15 of them this adds up to more than the line has; Bilevel stays below."
    )


def background_share(lab: Laboratory) -> str:
    """Free capacity that background flows find with few TCPs."""
    rows = []
    for m in (1, 2, 8):
        configuration = on_two_paths(BASE, "users", m, SECOND)
        own = on_path(lab, configuration, 1) / 1e6
        rows.append(f"m = {m}: {own.mean():.2f} Mb/s")
    return (
        "A single TCP leaves part of a RED link free, and the background flow takes some of it; more TCPs fill the link. The "
        f"background flow has {', '.join(rows)}."
    )


def delay(lab: Laboratory) -> str:
    """Why Multi-Priority is above a quarter in Figure 4-7."""
    rows = []
    for ms in (50.0, 150.0):
        configuration = on_two_paths(BASE, "delay", ms)
        rows.append(f"{on_path(lab, configuration, 1).mean() / 1e6:.2f} Mb/s at {ms:g} ms")
    return (
        "The base flow has its half of the first path; what is above a quarter is capacity of the second that its TCP leaves "
        f"free, of which the background flow takes {' and '.join(rows)}."
    )


def loss_base(lab: Laboratory) -> str:
    """Why Multi-Priority with its base on the lossy path gets more than half of that."""
    configuration = on_two_paths(BASE, "loss", 0.1, SECOND)
    base, other = (on_path(lab, configuration, p) / 1e6 for p in (0, 1))
    tcp = lab[configuration].rate(f"tcp-on-{FIRST}").mean() / 1e6
    return (
        f"The base flow on the lossy path has {interval(base)} Mb/s. The thesis has nothing on the clean path, where one TCP "
        f"takes {tcp:.2f} of 5 Mb/s of this RED link and the background flow {interval(other)} Mb/s of the rest."
    )


def worst_placement(lab: Laboratory) -> str:
    """Why Figure 4-10 has wide intervals."""
    rows = []
    for mbps in RATES:
        own = on_path(lab, placed_worst(MOST, mbps), 0) / 1e6
        lost = on_path(lab, placed_worst(MOST, mbps), 0, "lost_packets")
        rows.append(
            f"{own.min():.2f} to {own.max():.2f} Mb/s at {mbps:g} Mb/s (lost: {lost.mean():.0f} packets)"
        )
    return (
        "The path over the empty link loses nothing once it has started: what it gets is decided by its loss events in slow "
        f"start and differs from seed to seed, with 16 shared paths {', '.join(rows)}."
    )


def ranking(lab: Laboratory, violations: str, level: int, elsewhere: int) -> str:
    """Violations of stringent fairness by scheme."""
    configuration = shared_name(BASE, MOST)
    return (
        "Where all that is unused is spare, with a margin of 5 %, Multi-Priority's violations are "
        f"{violations or 'none'}: with 16 paths it has {share(lab, configuration).mean():.3f} of a shared RED link's traffic. "
        f"Bilevel TFRC has {level}, and {elsewhere} where only what flows leave that are limited elsewhere is spare: eq. 1.4 "
        "allows its third of two contested paths only if what TCPs leave free of RED links counts."
    )
