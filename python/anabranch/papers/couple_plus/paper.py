"""The paper's experiments as cells; the ids are those of the claims ledger."""

from __future__ import annotations

from ..document import Paper
from . import cells
from .cells import (
    ALTERNATIVES,
    BOTH,
    COUNTED,
    COUPLE,
    LIA,
    OTHERS,
    PRINTED,
    RULE,
    WINDOW,
    WINDOWS,
    merged,
)

STATIC = merged(
    *(cells.points(c) for c in BOTH),
    *(cells.points(LIA, w) for w in WINDOWS if w != WINDOW),
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
        "couple-fig7": cells.measurement(),
        "couple-fig9-10": STATIC,
        "couple-mobile": cells.mobiles(),
        "couple-fig14": cells.without_tcp(),
        "couple-classifier": merged(
            cells.points(COUPLE),
            {
                name: cell
                for name, cell in cells.without_tcp().items()
                if name in {cells.alone(COUPLE, p, r) for p, r in cells.EVERY}
            },
        ),
        "couple-hidden-loss": merged(cells.hiding(), cells.delays()),
        "couple-dual": {},
    },
    auxiliary=merged(
        cells.singles(),
        cells.family(),
        cells.lossy(),
        cells.in_place(),
        *(cells.points(c) for c in ALTERNATIVES),
        *(cells.points(c, chosen=(PRINTED,)) for c in OTHERS),
        cells.points(COUPLE, chosen=RULE),
        cells.others(*EXPLAINING),
        cells.readings(),
    ),
    unclaimed=merged(
        {n: c for n, c in cells.others().items() if n not in cells.others(*EXPLAINING)},
        *(cells.points(COUPLE, w) for w in WINDOWS if w != WINDOW),
        cells.points(COUNTED),
    ),
    shown=(cells.point(LIA, *PRINTED), cells.point(COUPLE, *PRINTED)),
)
