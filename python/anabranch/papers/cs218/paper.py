"""The report's experiments as cells; the ids are those of the claims ledger."""

from __future__ import annotations

from ..document import Paper
from . import cells, networks
from .cells import CAPPED, CS218, FAIRNESS, FOUR, LIA, MORE, QUEUES, RENO, merged
from .networks import CSMA, MESH, MIXED, MOBILE, STATIC

BESIDE = tuple(network for network in QUEUES if network != FAIRNESS)

PAPER = Paper(
    key="cs218",
    title="Improving Multipath TCP congestion control (CS 218 project report, 2017)",
    experiments={
        "cs218-manet-mobile": networks.manet(MOBILE),
        "cs218-manet-static": networks.manet(STATIC),
        "cs218-csma": networks.wired_and_not(CSMA),
        "cs218-mixed": networks.wired_and_not(MIXED),
        "cs218-full-mesh": networks.wired_and_not(MESH),
        "cs218-fairness": cells.fairness(FAIRNESS, FOUR),
        "cs218-ramp": cells.ramps(LIA, CS218),
        "cs218-threshold": networks.thresholds(),
        "cs218-random-loss": cells.losses(LIA, CS218),
        "cs218-lte-wifi": networks.dual(),
        "cs218-vanet": networks.vanet(),
        "cs218-large": networks.large(),
    },
    auxiliary=merged(
        cells.fairness(FAIRNESS, (CAPPED, *MORE)),
        *(cells.fairness(network) for network in BESIDE),
        cells.ramps(CAPPED, RENO),
        cells.ramp_of_tcp(),
        cells.losses(CAPPED, RENO),
        cells.loss_of_tcp(),
        cells.interfaces(),
        networks.structure(),
        networks.quiet(),
    ),
    unclaimed=merged(*(cells.twins(network) for network in QUEUES), networks.unclaimed()),
)
"""CS 218 project report, Fall 2017: CS218_ALGO, and what it was held against."""
