"""Processors that stay awake. One that sleeps has to be woken, and where that is a virtual
machine's its host takes milliseconds for it when it is busy."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from .. import _core


@contextmanager
def awake() -> Iterator[int]:
    """Keeps processors awake: during the block, a thread of idle priority spins on every processor
    that the caller may use. Yields the number of these threads.

    The threads get their policy from outside and never touch Python: a thread of the lowest
    priority must not hold a lock.
    """
    with ExitStack() as stack:
        kept = 0
        for processor in os.sched_getaffinity(0):
            spinner = _core.Spinner()
            stack.callback(spinner.stop)
            try:
                os.sched_setaffinity(spinner.thread_id, [processor])
                os.sched_setscheduler(spinner.thread_id, os.SCHED_IDLE, os.sched_param(0))
            except OSError:
                spinner.stop()
            else:
                kept += 1
        yield kept
