"""Options of `anabranch break`: the ranges that it draws from, and the replay of a scenario.

The defaults are those of `anabranch.breaking.ranges`, which takes longer to import than help
should; a test holds them together.
"""

from __future__ import annotations

from typing import Annotated

import typer

DEFAULTS = {
    "rate_bps": "1..100Mb/s",
    "rtt_s": "10..300 ms",
    "buffer": "0.1..8",
    "loss": "0.0001..0.02",
    "burst": "2..20",
    "jitter_s": "1..50 ms",
    "reorder": "0.001..0.1",
    "links": "1..4",
    "users": "1..6",
    "paths": "1..3",
    "queues": "droptail, red, codel, pie, fq-codel",
    "others": "reno, cubic, bbr",
}
"""The ranges by their names in `Ranges`, as their options are written."""

RateRangeOption = Annotated[
    str | None, typer.Option("--rate", help=f"Rates of links. Default: {DEFAULTS['rate_bps']}.")
]
RttRangeOption = Annotated[
    str | None,
    typer.Option("--rtt", help=f'Round trips without queues. Default: "{DEFAULTS["rtt_s"]}".'),
]
BufferRangeOption = Annotated[
    str | None,
    typer.Option(
        "--buffer", help=f"Queues, in bandwidth-delay products. Default: {DEFAULTS['buffer']}."
    ),
]
LossRangeOption = Annotated[
    str | None,
    typer.Option(
        "--loss",
        help=f"Random loss of the links that have any, a probability. Default: {DEFAULTS['loss']}.",
    ),
]
BurstRangeOption = Annotated[
    str | None,
    typer.Option(
        "--burst",
        help=f"Mean packets in a burst of random losses, where they come in bursts. Default: {DEFAULTS['burst']}.",
    ),
]
JitterRangeOption = Annotated[
    str | None,
    typer.Option(
        "--jitter",
        help=f'Random extra delay of the link that has any. Default: "{DEFAULTS["jitter_s"]}".',
    ),
]
ReorderRangeOption = Annotated[
    str | None,
    typer.Option(
        "--reorder",
        help=f"Part of the packets that a link holds back, where one does. Default: {DEFAULTS['reorder']}.",
    ),
]
LinksRangeOption = Annotated[
    str | None,
    typer.Option("--links", help=f"Number of links. Default: {DEFAULTS['links']}, the most."),
]
UsersRangeOption = Annotated[
    str | None,
    typer.Option(
        "--users",
        help=f"Number of users with the one under test. Default: {DEFAULTS['users']}, the most.",
    ),
]
PathsRangeOption = Annotated[
    str | None,
    typer.Option(
        "--paths",
        help=f"Number of paths of the user under test. Default: {DEFAULTS['paths']}, the most.",
    ),
]
QueuesRangeOption = Annotated[
    str | None, typer.Option("--queues", help=f"Kinds of queues. Default: {DEFAULTS['queues']}.")
]
OthersRangeOption = Annotated[
    str | None,
    typer.Option(
        "--others",
        help=f"Controllers of other users, beside the one under test. Default: {DEFAULTS['others']}.",
    ),
]
ReplayWorldOption = Annotated[
    str,
    typer.Option(
        "--world", help="With --replay: simulation, or linux: the real kernel, in real time."
    ),
]
ReplayedOption = Annotated[
    int | None,
    typer.Option(
        "--repeat",
        "-n",
        min=2,
        help="With --replay: number of replications. Default: 20; 3 in the world linux.",
    ),
]
