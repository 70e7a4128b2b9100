"""A published rate with the rates of theory, of simulation and, if measured, of the real kernel."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..statistics import Interval, Verdict, apart, difference

WORLDS = {"simulation": "simulated", "linux": "on Linux", "wire": "on the wire"}
"""Worlds that run configurations, and the heads of their columns."""

BEYOND = "≠"
"""Marks a difference that the intervals do not explain."""


NEAR_THEORY = 0.05
"""Part of the fixed point within which a rate is as theory."""

FAR_FROM_MEASURED = 0.10
"""Part of the published rate beyond which a rate is not as measured."""

AS_THEORY = "as theory, not as measured"

REMARK = (
    f"A rate within {100 * NEAR_THEORY:.0f} % of the fixed point and more than {100 * FAR_FROM_MEASURED:.0f} % "
    f"from the published one is marked: {AS_THEORY}."
)
"""Meaning of the mark, for readers."""

UNKNOWN = Interval(math.nan, math.inf, 0)
"""The rate in a world that has not run the configuration."""


@dataclass(frozen=True)
class Row:
    """One class of users in one configuration; rates in Mb/s per user, on the wire but for
    goodput.
    """

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
    claim: str = ""
    """Id of the claim that expects the rate; empty for a rate that the document does not print."""
    key: str = ""
    """The expectation of that claim."""
    band: tuple[float | None, float | None] | None = None
    """Least and largest rate of that expectation."""

    @property
    def remark(self) -> str:
        """`AS_THEORY` where a rate is near the fixed point and far from the published one; else
        nothing. A band that spans both does not tell them apart.
        """
        *_, judged = self.rates.values()
        if self.published is None:
            return ""
        near = abs(judged.mean - self.fixed_point) <= NEAR_THEORY * self.fixed_point
        far = abs(judged.mean - self.published) > FAR_FROM_MEASURED * self.published
        return AS_THEORY if near and far else ""

    @property
    def difference(self) -> Interval | None:
        """The last world less the first; None with one world."""
        first, *others = self.rates.values()
        return difference(others[-1], first) if others else None

    @property
    def differs(self) -> bool:
        """Whether two worlds differ by more than their intervals explain."""
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
            "–" if self.band is None else band_text(self.band, "{:.2f}".format),
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
        "band",
        "fixed point",
        "optimum",
        "with probing",
        *(WORLDS[world] for world in worlds),
        *(["difference"] if len(worlds) > 1 else []),
        "goodput",
    ]


def caption(rows: Sequence[Row]) -> str:
    """Caption of a table of rows: the meaning of its numbers."""
    text = "Mb/s per user: published measurement, theory, simulation"
    marked = f" {REMARK}" if any(row.remark for row in rows) else ""
    if len(rows[0].rates) > 1:
        return (
            f"{text}, the real kernel. Wire bytes, held against the published rates on the kernel; {BEYOND} "
            "marks where it differs from the simulation beyond what their 95 % intervals explain. Goodput is "
            f"payload in order on the kernel.{marked}"
        )
    return (
        f"{text}. Simulated rates are wire bytes and held against the published ones; goodput is payload in "
        f"order.{marked}"
    )


def band_text(band: tuple[float | None, float | None], number: Callable[[float], str]) -> str:
    """A band in words: "0.31 … 0.52", or one end with its sign; `number` writes an end."""
    low, high = band
    if low is not None and high is not None:
        return number(low) if low == high else f"{number(low)} … {number(high)}"
    ends = (("≥", low), ("≤", high))
    return "".join(f"{sign} {number(edge)}" for sign, edge in ends if edge is not None)


def rate_text(value: Interval) -> str:
    """A rate to three decimals, with its interval if it has one."""
    return f"{value.mean:.3f}{spread(value)}" if math.isfinite(value.mean) else "–"


def spread(value: Interval) -> str:
    """Half-width of an interval to three decimals; empty for a single replication."""
    return f" ± {value.half:.3f}" if value.n > 1 else ""
