"""The report's experiments as configurations; the ids are those of the claims ledger."""

from __future__ import annotations

from ..document import Paper
from . import configurations, networks
from .configurations import CAPPED, CS218, FAIRNESS, FOUR, LIA, MORE, QUEUES, RENO, merged
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
        "cs218-fairness": configurations.fairness(FAIRNESS, FOUR),
        "cs218-ramp": configurations.ramps(LIA, CS218),
        "cs218-threshold": networks.thresholds(),
        "cs218-random-loss": configurations.losses(LIA, CS218),
        "cs218-lte-wifi": networks.dual(),
        "cs218-vanet": networks.vanet(),
        "cs218-large": networks.large(),
    },
    auxiliary=merged(
        configurations.fairness(FAIRNESS, (CAPPED, *MORE)),
        *(configurations.fairness(network) for network in BESIDE),
        configurations.ramps(CAPPED, RENO),
        configurations.ramp_of_tcp(),
        configurations.losses(CAPPED, RENO, *networks.THRESHOLDS.values()),
        configurations.loss_of_tcp(),
        configurations.interfaces(),
        networks.structure(),
        networks.free(),
        networks.quiet(),
    ),
    unclaimed=merged(*(configurations.twins(network) for network in QUEUES), networks.unclaimed()),
)
"""CS 218 project report, Fall 2017: CS218_ALGO, and what it was held against."""
