"""What the chapter's ledger measures beyond the basic measures: flows over time, and interfaces."""

from __future__ import annotations

import numpy as np

from ..laboratory import Laboratory
from ..library import Cell, Floats, measure
from . import figures, flows, growth, logs  # noqa: F401
from .flows import warm


@measure
def longest_queue(lab: Laboratory, cell: Cell, host: str = "") -> Floats:
    """The longest queue of a host's interfaces in any sample after the warm-up, in packets. Without
    a host it is that of all stations in any sample.
    """
    found = []
    for run in lab[cell].runs:
        queues = np.asarray(run.series.stations.queue_packets)
        if host:
            queues = queues[warm(lab, cell) :, np.asarray(run.stations.name) == host]
        found.append(float(queues.max()))
    return np.array(found)
