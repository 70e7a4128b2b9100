"""The paper's experiments as configurations; the ids are those of the claims ledger."""

from __future__ import annotations

from ..document import Paper
from . import configurations
from .configurations import (
    ALTERNATIVES,
    BOTH,
    COUNTED,
    COUPLE,
    LIA,
    OTHERS,
    PRINTED,
    WINDOW,
    WINDOWS,
    merged,
)

STATIC = merged(
    *(configurations.points(c) for c in BOTH),
    *(configurations.points(LIA, w) for w in WINDOWS if w != WINDOW),
)
"""RTT Compensator and Couple+ at every loss and redundancy."""

EXPLAINING = (
    "long run",
    "long run without random processing time",
    "RED at the shared link",
    "receive buffer 64 kB",
)

PAPER = Paper(
    key="couple-plus",
    title="Migrating unfairness among subflows in MPTCP with network coding for wired–wireless networks (Xue et al., 2017)",
    experiments={
        "couple-fig7": configurations.measurement(),
        "couple-fig9-10": STATIC,
        "couple-mobile": configurations.mobiles(),
        "couple-fig14": configurations.without_tcp(),
        "couple-classifier": merged(
            configurations.points(COUPLE),
            {
                name: configuration
                for name, configuration in configurations.without_tcp().items()
                if name in {configurations.alone(COUPLE, p, r) for p, r in configurations.EVERY}
            },
        ),
        "couple-hidden-loss": merged(configurations.hiding(), configurations.delays()),
        "couple-dual": {},
    },
    auxiliary=merged(
        configurations.singles(),
        configurations.family(),
        configurations.lossy(),
        configurations.in_place(),
        configurations.lonelies(),
        *(configurations.points(c) for c in ALTERNATIVES),
        *(configurations.points(c, chosen=(PRINTED,)) for c in OTHERS),
        configurations.varyings(),
        configurations.others(*EXPLAINING),
        configurations.readings(),
    ),
    unclaimed=merged(
        {
            n: c
            for n, c in configurations.others().items()
            if n not in configurations.others(*EXPLAINING)
        },
        *(configurations.points(COUPLE, w) for w in WINDOWS if w != WINDOW),
        configurations.points(COUNTED),
    ),
    shown=(configurations.point(LIA, *PRINTED), configurations.point(COUPLE, *PRINTED)),
)
