"""Entries: what came out for a criterion under a controller, case by case."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from ..statistics import Interval, interval, significant
from .criterion import Case, Criterion, Unit
from .goals import Values, Verdict

UNMEASURED = "it was not run"


@dataclass(frozen=True)
class Measured:
    """The measure of a case under a controller in one world."""

    seeds: tuple[int, ...] = ()
    values: Values | None = None
    """Shape (seeds,); shape (1,) for theory. None where there is no answer."""
    digests: tuple[str, ...] = ()
    """Of each simulated run."""
    why: str = ""
    """Reason why there is no answer."""
    left_out: bool = False
    """Whether there is none because an interrupt came before the run."""
    raised: bool = False
    """Whether there is none because the controller, a class of the user, raised an exception."""

    @property
    def interval(self) -> Interval | None:
        """Mean and interval over the replications; of infinite values the mean alone."""
        if self.values is None:
            return None
        if not np.isinf(self.values).any():
            return interval(self.values)
        with np.errstate(invalid="ignore"):  # of both infinities the mean is NaN
            return Interval(float(self.values.mean()), np.inf, self.values.size)

    @property
    def digest(self) -> str:
        """A hash over the digests of all seeds; empty if there are none."""
        if not self.digests:
            return ""
        return hashlib.blake2b("\n".join(self.digests).encode(), digest_size=8).hexdigest()

    def to_json(self) -> dict[str, Any]:
        """The measure as plain data; values at full precision."""
        found = self.interval
        if found is None:
            return {"why": self.why, **({"raised": True} if self.raised else {})}
        content: dict[str, Any] = {"values": self.values}
        if self.seeds:
            content |= {"seeds": list(self.seeds), **found.to_json()}
        if self.digests:
            content |= {"digests": list(self.digests), "digest": self.digest}
        return content


NOTHING = Measured(why=UNMEASURED, left_out=True)
SAME = "with one path the law is not consulted: the values are Reno's"
"""What `Row.same_as` means, if it is Reno."""


@dataclass(frozen=True)
class Row:
    """A case under a controller."""

    case: Case
    measured: Measured
    references: Mapping[str, Measured]
    """Of the standard controllers, in the same case."""
    verdict: Verdict
    why: str = ""
    """Reason why it was not evaluated, or what the controller raised."""
    bound: tuple[float, float] = (-np.inf, np.inf)
    """Lowest and highest value that meets the goal."""
    theory: Measured | None = None
    """None where theory was not asked."""
    linux: Measured | None = None
    """None where the kernel was not asked."""
    same_as: str = ""
    """The controller whose runs these are: "reno", if a law has one path."""
    left_out: bool = False
    """Whether an interrupt left out its run, or one of a controller that its goal needs."""

    @property
    def margin(self) -> float:
        """Distance of the mean from the nearest end of the goal, relative to the larger of the two;
        negative where the goal is missed, infinite without a value or an end.
        """
        found = self.measured.interval
        if found is None:
            return -np.inf if self.measured.raised else np.inf
        if np.isnan(found.mean):
            return -np.inf
        low, high = self.bound
        if np.isinf(found.mean):
            return np.inf if low <= found.mean <= high else -np.inf
        sides = [(found.mean - low, low), (high - found.mean, high)]
        parts = [
            distance / (max(abs(end), abs(found.mean)) or 1.0)
            for distance, end in sides
            if np.isfinite(end)
        ]
        return min(parts, default=np.inf)

    def to_json(self) -> dict[str, Any]:
        """The row as plain data, without what stands with its criterion."""
        low, high = self.bound
        content = {
            "verdict": self.verdict,
            "bound": [low if np.isfinite(low) else None, high if np.isfinite(high) else None],
            **self.measured.to_json(),
        }
        if self.why:
            content["why"] = self.why
        if self.same_as:
            content["same_as"] = self.same_as
        worlds = {"theory": self.theory, "linux": self.linux}
        return content | {
            name: found.to_json() for name, found in worlds.items() if found is not None
        }


@dataclass(frozen=True)
class Entry:
    """A criterion under a controller: all its cases."""

    criterion: Criterion
    controller: str
    rows: Sequence[Row]
    verdict: Verdict = field(init=False)
    """Of the worst case. Where cases were not evaluated, the others cannot make it `meets`."""

    def __post_init__(self) -> None:
        """Finds the verdict."""
        object.__setattr__(self, "verdict", worst([row.verdict for row in self.rows]))

    @property
    def deciding(self) -> Row:
        """The row that the verdict rests on: of those with the worst verdict the one with the least
        margin.
        """
        for verdict in ("misses", "undecided", "meets"):
            rows = [row for row in self.rows if row.verdict == verdict]
            if rows:
                return min(rows, key=lambda row: row.margin)
        return self.rows[0]

    @property
    def reasons(self) -> dict[str, list[str]]:
        """Reasons why cases were not evaluated, each with the names of these cases."""
        return self._whys("not_evaluated")

    @property
    def failures(self) -> dict[str, list[str]]:
        """What the controller raised, each with the names of the cases."""
        return self._whys("misses")

    def _whys(self, verdict: Verdict) -> dict[str, list[str]]:
        """Reasons for a verdict, each with the names of the cases."""
        found: dict[str, list[str]] = {}
        for row in self.rows:
            if row.verdict == verdict and row.why:
                found.setdefault(row.why, []).append(row.case.name)
        return found


def worst(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict on a criterion from those of its cases."""
    found = set(verdicts)
    if "misses" in found:
        return "misses"
    if found == {"not_evaluated"} or not found:
        return "not_evaluated"
    return "meets" if found == {"meets"} else "undecided"


def judged(
    criterion: Criterion,
    case: Case,
    found: Measured,
    references: Mapping[str, Measured],
    *,
    theory: Measured | None = None,
    linux: Measured | None = None,
    same_as: str = "",
) -> Row:
    """A row with its verdict. `references` has at least the controllers of the goal. A controller
    that raised misses.
    """
    runs = [found, *(references.get(name, NOTHING) for name in criterion.goal.needs)]
    made = partial(
        Row,
        case,
        found,
        references,
        theory=theory,
        linux=linux,
        same_as=same_as,
        left_out=any(one.left_out for one in runs),
    )
    if found.raised:
        return made(verdict="misses", why=found.why)
    why = found.why
    needed: dict[str, Values] = {}
    for name in criterion.goal.needs:
        other = references.get(name, NOTHING)
        if other.values is None:
            why = why or f"there is no {name} to compare with: {other.why}"
        else:
            needed[name] = other.values
    if found.values is None or len(needed) < len(criterion.goal.needs):
        return made(verdict="not_evaluated", why=why)
    verdict = criterion.goal.judge(found.values, needed)
    return made(verdict=verdict, bound=criterion.goal.bound(needed))


def printed(value: float, unit: Unit) -> str:
    """A value with its unit, to three digits."""
    text = significant(value * unit.factor)
    return f"{text} {unit.name}".rstrip()


def interval_text(found: Interval | None, unit: Unit) -> str:
    """A mean with its half-width, in its unit; a dash for nothing."""
    if found is None:
        return "–"
    if np.isfinite(found.mean):
        return f"{found.times(unit.factor)} {unit.name}".rstrip()
    return "none" if np.isnan(found.mean) else "infinite" if found.mean > 0 else "-infinite"


def bound_text(row: Row, unit: Unit) -> str:
    """The values that meet the goal in a case, such as "≤ 5 %"; a dash if there is no end."""
    low, high = (printed(end, unit) for end in row.bound)
    if np.isinf(row.bound[0]):
        return "–" if np.isinf(row.bound[1]) else f"≤ {high}"
    return f"≥ {low}" if np.isinf(row.bound[1]) else f"{low} … {high}"
