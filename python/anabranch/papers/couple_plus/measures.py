"""What the paper's ledger measures beyond the basic measures."""

from __future__ import annotations

import numpy as np

from ...fairness import do_no_harm, ensemble_fairness
from ..laboratory import Laboratory
from ..library import Cell, measure
from . import (  # noqa: F401
    captures,
    detection,
    drawings,
    episodes,
    equilibria,
    excursion,
    reading,
    rules,
    varying,
)
from .reading import competition


@measure
def harmless_and_fair(
    lab: Laboratory, cell: Cell, tcp_on_0: Cell, tcp_on_1: Cell, margin: float
) -> list[float]:
    """Part of the seeds in which a cell does no harm on the shared link, and in which it is fair by
    the lenient and by the stringent definition, taken literally.

    A TCP's rate is that of a TCP in place of the multipath flow on either path; no capacity is
    spare.
    """
    alone = [competition(lab[one])[:, 0] for one in (tcp_on_0, tcp_on_1)]
    found = []
    for rates, first, second in zip(competition(lab[cell]), *alone, strict=False):
        fair = ensemble_fairness(
            list(1e3 * rates[:2]),
            ["second-0", "shared"],
            [1e3 * first, 1e3 * second],
            {"second-0": 1e3 * first, "shared": 0.0},
            {"second-0": 1e6, "shared": 1e6},
            margin=margin,
        )
        harmless = do_no_harm([rates[1]], [second], margin=margin)
        found.append((harmless, fair.lenient, fair.stringent))
    return [float(part) for part in np.mean(found, axis=0)]
