"""Networks drawn by chance, and small searches."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from anabranch.breaking.drawing import Needs, Unfit, draw
from anabranch.breaking.network import Network
from anabranch.breaking.ranges import Ranges

SMALL = Ranges(
    rate_bps=(1e6, 5e6),
    rtt_s=(0.05, 0.1),
    buffer=(0.5, 2.0),
    links=(1, 2),
    users=(1, 3),
    paths=(1, 2),
    packets=12_000,
    queues=("droptail", "red"),
    others=("reno",),
)
"""Ranges whose networks take a hundredth of a second."""


class Chance:
    """Numbers by chance alone, in the place of an optimiser's."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def unit(self, name: str) -> float:
        return self.random.random()

    def pick(self, name: str, options: Sequence[str]) -> str:
        return self.random.choice(list(options))


def drawn(count: int, ranges: Ranges | None = None, needs: Needs | None = None) -> list[Network]:
    """So many networks that fit."""
    found: list[Network] = []
    seed = 0
    while len(found) < count:
        seed += 1
        try:
            found.append(draw(Chance(seed), ranges or Ranges(), needs or Needs()))
        except Unfit:
            assert seed < 50 * count + 500, "hardly any draw fits"
    return found
