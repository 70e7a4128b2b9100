"""Losses in the log of a run, and Couple+'s verdicts on them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from ..laboratory import Configuration, Laboratory
from ..library import Cell, Floats, measure
from ..logs import logged
from .logs import Episode, episodes, of_path
from .reading import START_S, end_of


@cache
def _counts(configuration: Configuration, seeds: tuple[int, ...], cycle: int) -> Floats:
    result = logged(configuration, seeds)
    (user,) = [c for c in result.plan.classes if c.name == "over-wifi"]
    assert user.app_rate_bps, "the class is of UDP"
    space_s = user.packet_bytes * 8 / user.app_rate_bps
    found = []
    for run in result.runs:
        lost = of_path(run, 0, 0).times("loss")
        whole = int(run.paths.sent_packets[0]) // cycle
        number = np.floor(np.round(lost / space_s, 3) / cycle).astype(int)
        counts = np.bincount(number[number < whole], minlength=whole)
        found.append(np.bincount(counts, minlength=cycle + 1))
    return np.array(found, dtype=float)


@measure
def cycles(lab: Laboratory, cell: Cell, cycle: int) -> Floats:
    """Cycles of so many packets over Wi-Fi by the number of packets lost in them, shape
    (seeds, cycle + 1).
    """
    return _counts(lab.configurations[cell], tuple(lab[cell].seeds), cycle)


def merged(found: Sequence[Episode]) -> list[Episode]:
    """Questions about the same losses are one: the last verdict counts."""
    together: list[Episode] = []
    for episode in found:
        if together and episode.dropped + episode.lost == 0:
            end_s, congestion = episode.end_s, episode.congestion
            together[-1] = together[-1]._replace(end_s=end_s, congestion=congestion)
        elif episode.dropped + episode.lost:
            together.append(episode)
    return together


@cache
def _asked(configuration: Configuration, seeds: tuple[int, ...]) -> list[list[Episode]]:
    """The episodes of subflow 1 in the competition period, for each seed."""
    runs = logged(configuration, seeds).runs
    return [episodes(of_path(run, 0, 1), START_S, end_of(run)) for run in runs]


def _judged(lab: Laboratory, cells: Sequence[Cell]) -> list[list[Episode]]:
    """The same of several cells, questions about the same losses counted once."""
    own = [_asked(lab.configurations[cell], tuple(lab[cell].seeds)) for cell in cells]
    return [[one for each in seed for one in merged(each)] for seed in zip(*own, strict=True)]


@measure
def verdicts_on(lab: Laboratory, cells: Sequence[Cell], dropped: bool, congestion: bool) -> Floats:
    """Number of episodes with or without a queue's drops that have a verdict."""
    return np.array(
        [
            sum((one.dropped > 0, one.congestion) == (dropped, congestion) for one in seed)
            for seed in _judged(lab, cells)
        ],
        dtype=float,
    )


@measure
def verdicts_by_size(lab: Laboratory, cells: Sequence[Cell], least: int, most: int) -> list[bool]:
    """The verdicts, true for congestion, on episodes with so many drops of queues."""
    every = [one for seed in _judged(lab, cells) for one in seed]
    return [one.congestion for one in every if least <= one.dropped <= most]


@measure
def verdicts_when_full(lab: Laboratory, cells: Sequence[Cell], part: float) -> list[bool]:
    """The verdicts, true for congestion, on episodes in which so much of the receive buffer was
    occupied.
    """
    found = []
    for cell in cells:
        configuration, seeds = lab.configurations[cell], tuple(lab[cell].seeds)
        result = logged(configuration, seeds)
        full = part * result.plan.classes[0].receive_buffer_bytes
        for run, asked in zip(result.runs, _asked(configuration, seeds), strict=True):
            t_s = np.asarray(run.series.t_s)
            held = np.asarray(run.series.flows.held_bytes)[:, 0]
            for one in asked:
                inside = held[(t_s >= one.asked_s) & (t_s <= one.end_s)]
                if len(inside) and inside.max() >= full:
                    found.append(one.congestion)
    return found
