"""A published rate beside what theory, simulation and, perhaps, the real kernel give."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..statistics import Interval, Verdict, apart, difference

WORLDS = {"simulation": "simulated", "linux": "on Linux"}
"""Worlds in which configurations are run, and their columns."""

BEYOND = "≠"
"""Marks a difference that the intervals do not explain."""


UNKNOWN = Interval(math.nan, math.inf, 0)
"""The rate in a world in which the configuration has not been run."""


@dataclass(frozen=True)
class Row:
    """One class of users in one configuration; rates in Mb/s per user, on the wire but for goodput."""

    scenario: str
    setting: str
    controller: str
    users: str
    published: float | None
    """None for a configuration that the document does not print."""
    fixed_point: float
    optimum: float
    probing_optimum: float
    rates: dict[str, Interval]
    """By world; the last one is judged."""
    goodput: Interval
    """In the world that is judged."""
    verdict: Verdict | None
    configuration: str

    @property
    def difference(self) -> Interval | None:
        """The last world less the first; None with one world."""
        first, *others = self.rates.values()
        return difference(others[-1], first) if others else None

    @property
    def differs(self) -> bool:
        """Whether two worlds differ beyond what their intervals explain."""
        first, *others = self.rates.values()
        return bool(others) and apart(others[-1], first)

    def texts(self) -> list[str]:
        """The entries under `head`."""
        theory = (self.fixed_point, self.optimum, self.probing_optimum)
        between = []
        if self.difference is not None:
            mark = f" {BEYOND}" if self.differs else ""
            by = f"{self.difference.mean:+.3f}{spread(self.difference)}{mark}"
            between = [by if math.isfinite(self.difference.mean) else "–"]
        return [
            self.setting,
            self.controller,
            self.users,
            "–" if self.published is None else f"{self.published:.2f}",
            *(f"{rate:.3f}" for rate in theory),
            *(rate_text(rate) for rate in self.rates.values()),
            *between,
            rate_text(self.goodput),
        ]


def head(rows: Sequence[Row]) -> list[str]:
    """Names of the entries of rows; scenario and verdict stand before and behind them."""
    worlds = list(rows[0].rates)
    return [
        "setting",
        "controller",
        "users",
        "published",
        "fixed point",
        "optimum",
        "with probing",
        *(WORLDS[world] for world in worlds),
        *(["difference"] if len(worlds) > 1 else []),
        "goodput",
    ]


def caption(rows: Sequence[Row]) -> str:
    """What the numbers of rows are."""
    text = "Mb/s per user: published measurement, theory, simulation"
    if len(rows[0].rates) > 1:
        return (
            f"{text}, the real kernel. Wire bytes, held against the published rates on the kernel; {BEYOND} "
            "marks where it differs from the simulation beyond what their 95 % intervals explain. Goodput is "
            "payload in order on the kernel."
        )
    return (
        f"{text}. Simulated rates are wire bytes and held against the published ones; goodput is payload in "
        "order."
    )


def rate_text(value: Interval) -> str:
    """A rate to three decimals, with its interval where there is one."""
    return f"{value.mean:.3f}{spread(value)}" if math.isfinite(value.mean) else "–"


def spread(value: Interval) -> str:
    """Half an interval to three decimals, if there is one."""
    return f" ± {value.half:.3f}" if value.n > 1 else ""
