"""Criteria: what a controller is tried on, what is measured, and what meets the criterion."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from ..result import Result
from .goals import Goal, Values

Level = Literal["MUST", "SHOULD", "advice"]
"""Weight of a criterion in RFC 9743; "advice" is text without a key word of BCP 14, and what this
laboratory adds."""

SUBJECT = "subject"
"""Name of the class of users that has the controller under evaluation, in every scenario."""


@dataclass(frozen=True)
class Case:
    """A setting of a criterion: a shipped scenario with overrides, run once for each seed."""

    name: str
    """The setting in a few words, such as "4 BDP, 16 rivals"."""
    scenario: str
    """Name of a shipped scenario. Its flow with `subject = true` gets the controller."""
    overrides: tuple[str, ...] = ()
    beside: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Further runs of the same scenario that do not depend on the controller, such as one without
    the subject: overrides for each, on top of `overrides`."""
    series: bool = False
    """Whether the measure needs samples over time."""
    events: bool = False
    """Whether the measure needs the log of events."""
    seeds: int | None = None
    """Largest number of replications, for expensive settings."""


@dataclass(frozen=True)
class Found:
    """The runs of a case: what a measure is computed from."""

    case: Case
    result: Result
    """Under the controller. Without series and events where theory made it."""
    beside: Mapping[str, Result]
    """The further runs of the case, with the same seeds."""


Measure = Callable[[Found], Values]
"""One value for each replication; NaN where a replication has none, which is never met. Raises
KeyError (as a result does) for a world that lacks a column."""


@dataclass(frozen=True)
class Unit:
    """How values are printed: multiplied by `factor`, followed by `name`."""

    name: str = ""
    factor: float = 1.0


RATIO = Unit()
PERCENT = Unit("%", 100.0)
SECONDS = Unit("s")
MILLISECONDS = Unit("ms", 1e3)
MEGABITS = Unit("Mb/s", 1e-6)


@dataclass(frozen=True)
class Criterion:
    """A question of RFC 9743 that runs can answer, in one or more settings."""

    name: str
    """In commands and files, such as "standing-queue"."""
    title: str
    """A line for tables, such as "Standing queue at a drop-tail bottleneck"."""
    section: str
    """Of RFC 9743, such as "5.1.2"."""
    level: Level
    question: str
    """One sentence that ends in a question mark."""
    method: str
    """What is measured and how, with the source of the setting: a few sentences."""
    unit: Unit
    cases: tuple[Case, ...]
    measure: Measure
    goal: Goal
    why: str
    """Reason for the goal, or its source. RFC 9743 itself has no thresholds (§5)."""
    theory: bool = False
    """Whether the measure can be computed from theory's equilibrium too."""
    recording: Callable[[str], Case] | None = None
    """The case for a file of delivery opportunities that a user gives, where one makes sense."""
    linux: bool | tuple[str, ...] = False
    """Whether the real kernel can run the cases, or the names of those that it is to run: it takes
    real time."""
