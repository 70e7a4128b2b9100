"""Writes the outcomes of tasks to a store, and merges its small parts in the background."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from types import TracebackType

from .configuration import digest
from .parts import joined
from .store import Store
from .work import Outcome

TIDY_PARTS = 256
"""Parts that are added before small ones are merged: every part costs its readers time."""


def together(outcomes: Sequence[Outcome]) -> Outcome:
    """Combines the outcomes of several tasks into one."""
    if len(outcomes) == 1:
        return outcomes[0]
    named = [one.name for one in outcomes if one.tables] or [one.name for one in outcomes]
    tables = dict.fromkeys(table for one in outcomes for table in one.tables)
    return Outcome(
        digest(*sorted(named)) if len(named) > 1 else named[0],
        {
            table: joined([one.tables[table] for one in outcomes if table in one.tables])
            for table in tables
        },
        [failure for one in outcomes for failure in one.failures],
        sum(one.runs for one in outcomes),
        sum(one.took_s for one in outcomes),
    )


class Keeper:
    """Keeps outcomes in a store, or nowhere."""

    def __init__(self, store: Store | None) -> None:
        """Merging begins when TIDY_PARTS parts were added."""
        self.store = store
        self.added = 0
        self.thread = ThreadPoolExecutor(1, thread_name_prefix="tidy")
        self.merging: Future[int] | None = None

    def __enter__(self) -> Keeper:
        """Is ready."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        """Waits until parts that are being merged are."""
        self.thread.shutdown()

    def keep(self, outcomes: Sequence[Outcome]) -> Outcome:
        """Keeps outcomes as one part, and gives them as one. Raises OSError."""
        found = together(outcomes)
        if self.store:
            if found.tables:
                self.store.add(found.name, found.tables)
                self.added += 1
            if found.failures:
                failed = (f"{one.configuration}:{one.seed}" for one in found.failures)
                self.store.fail(digest(found.name, *sorted(failed)), found.failures)
            if self.added >= TIDY_PARTS and (self.merging is None or self.merging.done()):
                self.added = 0
                self.merging = self.thread.submit(tidied, self.store)
        return found


def tidied(store: Store) -> int:
    """Merges small parts; on an error of the disk they stay as they are."""
    with suppress(OSError):
        return store.tidy()
    return 0
