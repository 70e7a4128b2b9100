"""What a worker does: the runs of a task, as rows. It needs nothing but the task."""

from __future__ import annotations

import platform
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .configuration import Configuration, Task
from .parts import RUNS, joined
from .rows import version
from .store import Failure
from .worlds import make

if TYPE_CHECKING:
    import pyarrow


class OtherVersion(ValueError):
    """A worker has another version than the driver; the text names the worker."""


@dataclass
class Outcome:
    """What became of a task."""

    name: str
    """The hash of the runs that gave rows, which is the name of their part in a store; of those
    that failed, if all did.
    """
    tables: dict[str, pyarrow.Table] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    runs: int = 0
    """Those that gave rows."""
    took_s: float = 0.0


def work(task: Task) -> Outcome:
    """Makes the runs of a task, on one processor. A run that fails is kept with its reason, and the
    others go on. Raises OtherVersion.
    """
    if task.version != version():
        raise OtherVersion(
            f"the worker on {platform.node()} has anabranch {version()}, and the sweep is of "
            f"{task.version}: install that there"
        )
    began = time.perf_counter()
    outcome = Outcome(task.name())
    found: dict[str, list[pyarrow.Table]] = {}
    for configuration, seeds in task.parts:
        for tables in results(configuration, seeds, task, outcome):
            for table, part in tables.items():
                found.setdefault(table, []).append(part)
    outcome.runs = sum(part.num_rows for part in found.get(RUNS, []))
    outcome.tables = {table: joined(parts) for table, parts in found.items()}
    if outcome.tables and outcome.failures:
        outcome.name = task.name({(one.configuration, one.seed) for one in outcome.failures})
    outcome.took_s = time.perf_counter() - began
    return outcome


def results(
    of: Configuration, seeds: Sequence[int], task: Task, outcome: Outcome
) -> Iterator[dict[str, pyarrow.Table]]:
    """The rows of all seeds together, or, where one of them fails, of each that does not."""
    groups: list[Sequence[int]] = [seeds]
    while groups:
        group = groups.pop()
        try:
            of.check()
            yield make(of, group, task.tables, task.version)
        except (Exception, SystemExit) as error:
            # What a controller of the user's raises is a result too.
            if len(group) > 1:
                groups.extend([seed] for seed in reversed(group))
            else:
                notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
                reason = f"{type(error).__name__}: {error}{notes}"
                where = "".join(traceback.format_tb(error.__traceback__)[-1:])
                outcome.failures.append(Failure(of.key, group[0], task.version, reason, where))
