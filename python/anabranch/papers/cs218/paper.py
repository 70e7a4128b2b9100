"""The report's experiments as cells; the ids are those of the claims ledger."""

from __future__ import annotations

from ..document import Paper
from . import cells
from .cells import CAPPED, CS218, FAIRNESS, FOUR, LIA, MORE, QUEUES, RENO, merged

BESIDE = tuple(network for network in QUEUES if network != FAIRNESS)

PAPER = Paper(
    key="cs218",
    title="Improving Multipath TCP congestion control (CS 218 project report, 2017)",
    experiments={
        "cs218-manet-mobile": {},
        "cs218-manet-static": {},
        "cs218-csma": {},
        "cs218-mixed": {},
        "cs218-full-mesh": {},
        "cs218-fairness": cells.fairness(FAIRNESS, FOUR),
        "cs218-ramp": cells.ramps(LIA, CS218),
        "cs218-threshold": {},
        "cs218-random-loss": cells.losses(LIA, CS218),
        "cs218-lte-wifi": {},
        "cs218-vanet": {},
        "cs218-large": {},
    },
    auxiliary=merged(
        cells.fairness(FAIRNESS, (CAPPED, *MORE)),
        *(cells.fairness(network) for network in BESIDE),
        cells.ramps(CAPPED, RENO),
        cells.ramp_of_tcp(),
        cells.losses(CAPPED, RENO),
        cells.loss_of_tcp(),
        cells.interfaces(),
    ),
    unclaimed=merged(*(cells.twins(network) for network in QUEUES)),
)
"""CS 218 project report, Fall 2017: CS218_ALGO, and what it was held against."""
