"""Claims about wishes of the authors: LTE with Wi-Fi, and cars."""

from __future__ import annotations

import numpy as np

from ...result import Result
from ...statistics import ratio_of_means
from ..findings import Check, Finding, finding, holds, measured, within
from ..laboratory import Laboratory
from ..ledger import Claim
from .configurations import CALLED, CS218, FOUR, under
from .networks import LTE, LTE_ONLY, SINGLE, VANET, WIFI_ONLY, single
from .paired import Floats, Sweep
from .paper import PAPER
from .reading import gaps_s, goodput, mbps, over_time, per_path, rtt_ms, times_s

DUAL, PLATOON = Sweep(LTE), Sweep(VANET)
SINGLES = {path: single(LTE, path) for path in SINGLE}
LEAST = 0.05
"""The part of the packets from which on an interface counts as used."""
CARS = "cars"


def best_single(lab: Laboratory) -> str:
    """The path on which a TCP has the higher rate."""
    return max(SINGLES, key=lambda path: float(mbps(lab[SINGLES[path]]).mean()))


@PAPER.claim("wish.lte_wifi", *DUAL.configurations, *SINGLES.values())
def lte_wifi(claim: Claim, lab: Laboratory) -> Finding:
    """Both interfaces together over a TCP on the better one, under each algorithm."""
    best = best_single(lab)
    alone = mbps(lab[SINGLES[best]])
    low, high = claim.band("aggregate_over_best_single")
    worse = mbps(lab[SINGLES[LTE_ONLY if best == WIFI_ONLY else WIFI_ONLY]])
    checks: list[Check] = [
        measured(
            claim, "aggregate_over_best_single", ratio_of_means(mbps(lab[under(LTE, CS218)]), alone)
        )
    ]
    for c in FOUR:
        result = lab[under(LTE, c)]
        if c != CS218:
            over = ratio_of_means(mbps(result), alone)
            checks.append(within(f"the same, {CALLED[c]}", "> 1", over, low, high))
        used = per_path(result, "throughput_bps")[:, 0]
        part = np.min(used / used.sum(axis=1, keepdims=True), axis=1)
        checks.append(
            within(f"part of the lesser interface, {CALLED[c]}", "both used", part, LEAST, None)
        )
    rates, payload = DUAL.values(lab, mbps, " Mb/s"), DUAL.values(lab, goodput, " Mb/s")
    trips = DUAL.values(lab, rtt_ms, " ms")
    why = (
        f"A TCP on {'Wi-Fi' if best == WIFI_ONLY else 'LTE'} has {ratio_of_means(alone, worse)} times what it has on the "
        f"other. Both: {rates.listed()}; {rates.compared(CS218)}. Goodput: {payload.listed()}. "
        f"RTT, mean of both: {trips.listed()}. With nobody else on either network all but Fully Coupled fill both."
    )
    unless = (
        "The ledger asks it of all four. Fully Coupled takes half of the total window from the path that loses, which leaves "
        "its floor of one segment where windows are alike, and adds a segment to all paths together in a round trip."
    )
    return finding(claim, lab.world.name, checks, why, unless=unless)


def car_gaps(result: Result, *paths: int) -> list[list[Floats]]:
    """Gaps in s in the arrivals on some paths of each car after the warm-up, by seed and car."""
    t_s = times_s(result)
    arrived = over_time(result, "arrived_bytes", CARS)[:, t_s >= result.plan.warmup_s]
    (own,) = (c for c in result.plan.classes if c.name == CARS)
    each = arrived.reshape(*arrived.shape[:2], own.count, -1)[..., list(paths)].sum(axis=-1)
    sample_s = result.plan.sample_s
    return [[gaps_s(car, sample_s) for car in run.T] for run in each]


def longest_s(result: Result, *paths: int) -> Floats:
    """The longest gap of each car in s, mean over cars, one for each seed."""
    found = [[float(gaps.max(initial=0.0)) for gaps in run] for run in car_gaps(result, *paths)]
    return np.asarray(np.mean(found, axis=1))


def away(result: Result, *paths: int) -> Floats:
    """Fraction of the time without arrivals on some paths, mean over cars, one value for
    each seed.
    """
    seconds = result.plan.duration_s - result.plan.warmup_s
    found = [[float(gaps.sum()) / seconds for gaps in run] for run in car_gaps(result, *paths)]
    return np.asarray(np.mean(found, axis=1))


def handovers(result: Result, medium: str = "wifi") -> Floats:
    """Changes of the access point of a car, mean over cars, one for each seed."""
    found = []
    for run in result.runs:
        media, names = run.stations.medium, run.stations.name
        own = [m == medium and n.startswith("car") for m, n in zip(media, names, strict=True)]
        found.append(float(np.mean(np.asarray(run.stations.handovers)[own])))
    return np.array(found)


WIFI_PATH, CELL_PATH = 0, 1


@PAPER.claim("wish.vanet", *PLATOON.configurations)
def vanet(claim: Claim, lab: Laboratory) -> Finding:
    """Throughput of a car, and how long nothing arrives."""
    rates = PLATOON.values(lab, lambda r: mbps(r, CARS), " Mb/s")
    payload = PLATOON.values(lab, lambda r: goodput(r, CARS), " Mb/s")
    silent = PLATOON.values(lab, lambda r: 100 * away(r, WIFI_PATH), " %")
    longest = PLATOON.values(lab, lambda r: longest_s(r, WIFI_PATH), " s")
    whole = PLATOON.values(lab, lambda r: longest_s(r, WIFI_PATH, CELL_PATH), " s")
    runs = all(
        (mbps(lab[configuration], CARS) > 0).all() for configuration in PLATOON.configurations
    )
    changes = PLATOON.values(lab, handovers)
    checks = [
        holds("runs complete with all four algorithms", claim.expected["output"], runs),
        holds(
            "cars change their access point in every run", True, bool((changes.by[CS218] > 0).all())
        ),
    ]
    why = (
        f"A car: {rates.listed()}; {rates.compared(CS218)}. Goodput: {payload.listed()}. In 60 s it changes its access point "
        f"or loses it {changes.mean(CS218)} times. Nothing arrives over the roadside for {silent.listed()} of the time, at the "
        f"longest for {longest.listed()}; over both networks together at the longest for {whole.listed()}."
    )
    return finding(claim, lab.world.name, checks, why)
