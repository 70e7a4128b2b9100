"""Packets that the queues of empty paths drop, from a log of single events."""

from __future__ import annotations

import numpy as np

from ..laboratory import Laboratory
from ..library import Cell, measure
from ..logs import logged


@measure
def drops(lab: Laboratory, cell: Cell, slow_start_s: float) -> dict[str, int]:
    """Drops in a run with seed 1: all of them, those within `slow_start_s` of the first one on
    their path, and those after the warm-up; and the loss events of all paths.
    """
    log = logged(lab.configurations[cell], (1,)).runs[0].events_log
    times, paths, kinds = (np.asarray(one) for one in (log.t_s, log.path, log.kind))
    dropped = kinds == "drop"
    since = np.concatenate(
        [own - own.min() for own in (times[dropped & (paths == p)] for p in set(paths[dropped]))]
    )
    return {
        "all": int(dropped.sum()),
        "first": int((since <= slow_start_s).sum()),
        "measured": int((times[dropped] >= lab[cell].plan.warmup_s).sum()),
        "events": int((kinds == "recovery").sum()),
    }
