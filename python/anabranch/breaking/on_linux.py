"""Replications on the real kernel: in real time, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from ..linux import LinuxError
from ..linux import run as run_in_real_time
from ..result import Result
from .kind import Goal
from .searching import Tell
from .trial import Trial
from .worlds import Replication

REPLICATIONS = 3
"""Where a command does not say how many."""

FEWEST = 2
"""Valid replications that an interval needs."""


@dataclass
class Kernel:
    """Runs a replication when it is waited for, and tells how much of the time has passed."""

    tell: Tell
    seconds: float = 0.0
    """Of all runs."""
    done_s: float = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is left to drop."""

    def start(self, wanted: Replication) -> Callable[[], Result | None]:
        """Raises LinuxError for a class in Python, and later for a scenario that the kernel cannot
        run.
        """
        if wanted.controller is not None:
            raise LinuxError("the kernel runs no Python classes")
        return lambda: self._made(wanted)

    def _made(self, wanted: Replication) -> Result | None:
        """A replication; None if it was not valid, also when tried again.

        Raises LinuxError and KeyboardInterrupt.
        """

        def passed(part_s: float, _total_s: float) -> None:
            self.tell(self.done_s + part_s, self.seconds, f"linux: seed {wanted.seed}")

        result = run_in_real_time(
            wanted.scenario, (wanted.seed,), series=wanted.series, progress=passed
        )
        if not result.provenance["complete"]:
            raise KeyboardInterrupt
        self.done_s += result.plan.duration_s
        return result if result.runs else None


def check_goal(goal: Goal) -> None:
    """Raises ValueError for a goal of theory, which has no runs."""
    if not goal.simulated:
        raise ValueError(f"--world is linux; {goal.name} is a goal of theory, and runs nothing")


def check_trial(trial: Trial, wanted: int) -> None:
    """Raises LinuxError if too few replications were valid for an interval."""
    if len(trial.seeds) < FEWEST:
        raise LinuxError(
            f"{len(trial.seeds)} of {wanted} replications were valid with every variant, and an "
            f"interval needs {FEWEST}\nhelp: run nothing else on this machine meanwhile, or take "
            "more with --repeat"
        )
