"""A published rate beside what theory and simulation give."""

from __future__ import annotations

from dataclasses import dataclass

from ..statistics import Interval, Verdict


@dataclass(frozen=True)
class Row:
    """One class of users in one cell; rates in Mb/s per user, on the wire but for goodput."""

    scenario: str
    setting: str
    controller: str
    users: str
    published: float
    fixed_point: float
    optimum: float
    probing_optimum: float
    simulated: Interval
    goodput: Interval
    verdict: Verdict
    cell: str

    def texts(self) -> list[str]:
        """The entries under `HEAD`."""
        theory = (self.fixed_point, self.optimum, self.probing_optimum)
        return [
            self.setting,
            self.controller,
            self.users,
            f"{self.published:.2f}",
            *(f"{rate:.3f}" for rate in theory),
            rate_text(self.simulated),
            rate_text(self.goodput),
        ]


HEAD = (
    "setting",
    "controller",
    "users",
    "published",
    "fixed point",
    "optimum",
    "with probing",
    "simulated",
    "goodput",
)
"""Names of a row's entries; scenario and verdict stand before and behind them."""


def rate_text(value: Interval) -> str:
    """A rate to three decimals, with its interval where there is one."""
    return f"{value.mean:.3f}" + (f" ± {value.half:.3f}" if value.n > 1 else "")
