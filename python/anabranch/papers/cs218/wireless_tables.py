"""Tables of the bus, the mixed networks, LTE with Wi-Fi, and cars."""

from __future__ import annotations

from functools import partial

import numpy as np

from ...report import Section, Table
from ...result import Result
from ...statistics import interval, ratio_of_means
from ..laboratory import Laboratory
from .beside import called, here
from .configurations import FIVE, FOUR, LIA, NOBODY, under
from .dual import CARS, CELL_PATH, WIFI_PATH, away, handovers, longest_s
from .networks import (
    BESIDE,
    CELL_ONLY,
    CSMA,
    EVERY,
    LARGE,
    LTE,
    MESH,
    MIXED,
    ROADSIDE_ONLY,
    SINGLE,
    VANET,
    WIFI_ONLY,
    alone,
    single,
)
from .paired import Floats, Sweep, interval_percent
from .reading import class_rtt_ms, goodput, mbps, per_path
from .topologies import connections, parts

PATHS = {WIFI_ONLY: "Wi-Fi", "lte": "LTE", ROADSIDE_ONLY: "roadside", CELL_ONLY: "cellular"}


def networks(lab: Laboratory) -> list[Table]:
    """Every connection of the bus, the mixed networks and the large one under each algorithm."""
    rows = []
    for network in (CSMA, MIXED, MESH, LARGE):
        sweep = Sweep(network)
        if not sweep.have(lab):
            continue
        for name in connections(lab[sweep.configurations[0]]):
            values = sweep.values(lab, partial(mbps, name=name))
            for c in FOUR:
                result = lab[under(network, c)]
                each = 100 * parts(result, name)
                rows.append(
                    [
                        network,
                        name,
                        called(c),
                        str(values.mean(c)),
                        "–" if c == LIA else interval_percent(values.relative(c, LIA)),
                        str(interval(goodput(result, name))),
                        str(interval(class_rtt_ms(result, name))),
                        f"{interval(each.min(axis=1))} to {interval(each.max(axis=1))}",
                    ]
                )
    head = [
        "network", "connection", "algorithm", "Mb/s", "over RTT Compensator", "goodput", "RTT, ms",
        "least and most of its packets on a path, %",
    ]  # fmt: skip
    caption = "The topologies that gave the report no results: 10 s, and differences seed by seed"
    return [Table(caption, head, rows)] if rows else []


def slowest_ms(result: Result) -> Floats:
    """The larger smoothed RTT of the two paths in ms: in-order data waits for it."""
    return np.asarray(1e3 * per_path(result, "srtt_s")[:, 0].max(axis=1))


def best(lab: Laboratory, network: str, controller: str) -> str | None:
    """The configuration of the better single path for a controller, by goodput; None if neither has
    been run.
    """
    names = [single(network, path, controller) for path in SINGLE]
    run = [name for name in names if name in lab.results]
    return max(run, key=lambda name: float(goodput(lab[name]).mean()), default=None)


def dual(lab: Laboratory) -> list[Table]:
    """Goodput and delay of every controller with LTE and Wi-Fi, against the better path alone."""
    rows = []
    for c in here(lab, LTE, EVERY):
        result, base = lab[under(LTE, c)], best(lab, LTE, alone(c))
        over = ratio_of_means(goodput(result), goodput(lab[base])) if base else "–"
        each = per_path(result, "throughput_bps")[:, 0] / 1e6
        trips = 1e3 * per_path(result, "srtt_s")[:, 0]
        rows.append(
            [
                called(c),
                str(interval(mbps(result))),
                str(interval(goodput(result))),
                str(over),
                *(str(interval(column)) for column in each.T),
                *(str(interval(column)) for column in trips.T),
            ]
        )
    for path, word in PATHS.items():
        for c in ("reno", "cubic", "wvegas", "compound"):
            name = single(LTE, path, c)
            if name not in lab.results:
                continue
            result = lab[name]
            column = 0 if path == WIFI_ONLY else 1
            own = [
                str(interval(mbps(result))),
                str(interval(1e3 * per_path(result, "srtt_s")[:, 0, 0])),
            ]
            configurations = ["–"] * 4
            configurations[column], configurations[2 + column] = own
            rows.append(
                [
                    f"{c} on {word} alone",
                    own[0],
                    str(interval(goodput(result))),
                    "1",
                    *configurations,
                ]
            )
    head = [
        "controller", "Mb/s", "goodput", "over the better path alone", "on Wi-Fi", "on LTE", "RTT on Wi-Fi, ms",
        "RTT on LTE, ms",
    ]  # fmt: skip
    caption = "LTE beside Wi-Fi with nobody else; the better path alone is under the same controller (Reno, if it is one there)"
    return [Table(caption, head, rows)] if rows else []


def harmed(result: Result, without: Result, who: str) -> str:
    """Rate of another flow, and the fraction by which it is lower than without the connection."""
    own, before = (goodput(r, who) for r in (result, without))
    return f"{interval(own)} ({100 * (own.mean() / before.mean() - 1):+.0f} %)"


def shared(lab: Laboratory) -> list[Table]:
    """The same with a neighbour's TCP in each network: rates, and harmed flows."""
    empty = under(BESIDE, NOBODY)
    if empty not in lab.results:
        return []
    base = best(lab, BESIDE, "reno")
    named = [(called(c), under(BESIDE, c)) for c in here(lab, BESIDE, EVERY)]
    named += [(f"a TCP on {PATHS[path]}", single(BESIDE, path)) for path in SINGLE]
    rows = []
    for word, name in named:
        if name not in lab.results:
            continue
        result = lab[name]
        over = ratio_of_means(goodput(result), goodput(lab[base])) if base else "–"
        others = [harmed(result, lab[empty], who) for who in ("neighbour", "user")]
        delays = [str(interval(class_rtt_ms(result, who))) for who in ("neighbour", "user")]
        rows.append(
            [
                word,
                str(interval(goodput(result))),
                str(over),
                str(interval(slowest_ms(result))),
                *others,
                *delays,
            ]
        )
    rows.append(
        ["nobody", "–", "–", "–"]
        + [str(interval(goodput(lab[empty], who))) for who in ("neighbour", "user")]
        + [str(interval(class_rtt_ms(lab[empty], who))) for who in ("neighbour", "user")]
    )
    head = [
        "controller", "goodput, Mb/s", "over the better path alone", "RTT of the slower path, ms",
        "neighbour on Wi-Fi", "other user of the cell", "neighbour's RTT, ms", "user's RTT, ms",
    ]  # fmt: skip
    caption = "LTE beside Wi-Fi with a TCP of somebody else on each; in brackets what they lose by the connection"
    return [Table(caption, head, rows)]


def cars(lab: Laboratory) -> list[Table]:
    """Rates of a car, and how long nothing arrives, over each network and over both."""
    named = [
        (called(c), under(VANET, c), True)
        for c in here(lab, VANET, (*FIVE, "olia", "balia", "cubic"))
    ]
    named += [
        (f"a TCP, {PATHS[p]} alone", single(VANET, p), False) for p in (ROADSIDE_ONLY, CELL_ONLY)
    ]
    rows = []
    for word, name, both in named:
        if name not in lab.results:
            continue
        result = lab[name]
        over = [
            str(interval(100 * away(result, WIFI_PATH))),
            str(interval(longest_s(result, WIFI_PATH))),
        ]
        over = over if both or name == single(VANET, ROADSIDE_ONLY) else ["–", "–"]
        paths = (WIFI_PATH, CELL_PATH) if both else (0,)
        part = per_path(result, "throughput_bps", CARS)
        roadside = (
            str(interval(100 * (part[..., 0] / part.sum(axis=-1)).mean(axis=1))) if both else "–"
        )
        rows.append(
            [
                word,
                str(interval(mbps(result, CARS))),
                str(interval(goodput(result, CARS))),
                roadside,
                str(interval(class_rtt_ms(result, CARS))),
                str(interval(handovers(result))) if over[0] != "–" else "–",
                *over,
                str(interval(100 * away(result, *paths))),
                str(interval(longest_s(result, *paths))),
            ]
        )
    head = [
        "controller", "Mb/s", "goodput", "over the roadside, %", "RTT, ms", "handovers", "roadside silent, %",
        "longest, s", "all silent, %", "longest, s",
    ]  # fmt: skip
    caption = (
        "Cars on a highway: 55 s, means over the four cars. Silent: no arrival within 0.1 s or more"
    )
    return [Table(caption, head, rows)] if rows else []


def sections(lab: Laboratory) -> list[Section]:
    """Tables of these networks, of the configurations that have been run."""
    found = [
        Section("Bus, mixed networks, full mesh, large network", "", networks(lab)),
        Section("LTE beside Wi-Fi", "", [*dual(lab), *shared(lab)]),
        Section("Cars", "", cars(lab)),
    ]
    return [section for section in found if section.tables]
