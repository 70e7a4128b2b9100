"""What the paper's ledger measures beyond the basic measures."""

from __future__ import annotations

import numpy as np

from ...fairness import do_no_harm, ensemble_fairness
from ..laboratory import Laboratory
from ..library import Cell, measure
from .captures import (
    acknowledgements,
    counters,
    early_verdicts,
    kept_back,
    participations,
    redundant_gaps,
    transitions,
    verdicts,
)
from .detection import lost_at_peak, packets_until_told
from .drawings import instantaneous, losses_drawing
from .episodes import (
    judged_as,
    losses_in_cycles,
    nothing,
    single_losses,
    verdicts_by_size,
    verdicts_on,
    verdicts_when_full,
)
from .equilibria import (
    aimd_residual,
    aimd_windows,
    detection_spacing,
    hidden_loss,
    most_harm,
    planned_coding,
    random_flows,
    redundancy_bound,
    redundant_cycle,
    sensed_price,
    solved,
    utility_of_equal_paths,
)
from .excursion import (
    bin_kbps,
    first_at_most_s,
    first_new_s,
    least_bin_kbps,
    stays_at_most_s,
    window,
)
from .plans import base_rtts_ms, loss_steps, losses, of_link, redundancies, udp_kbps, ways
from .reading import (
    competition,
    difference_of,
    held_kb,
    kbps,
    of_coding,
    rank_correlation,
    volume_mb,
)
from .rules import rule_error, start
from .varying import in_use_at_peak, peak_kb, suspensions, while_losing

__all__ = [
    "acknowledgements",
    "aimd_residual",
    "aimd_windows",
    "base_rtts_ms",
    "bin_kbps",
    "counters",
    "detection_spacing",
    "difference_of",
    "early_verdicts",
    "first_at_most_s",
    "first_new_s",
    "held_kb",
    "hidden_loss",
    "in_use_at_peak",
    "instantaneous",
    "judged_as",
    "kbps",
    "kept_back",
    "least_bin_kbps",
    "loss_steps",
    "losses",
    "losses_drawing",
    "losses_in_cycles",
    "lost_at_peak",
    "most_harm",
    "nothing",
    "of_coding",
    "of_link",
    "packets_until_told",
    "participations",
    "peak_kb",
    "planned_coding",
    "random_flows",
    "rank_correlation",
    "redundancies",
    "redundancy_bound",
    "redundant_cycle",
    "redundant_gaps",
    "rule_error",
    "sensed_price",
    "single_losses",
    "solved",
    "start",
    "stays_at_most_s",
    "suspensions",
    "transitions",
    "udp_kbps",
    "utility_of_equal_paths",
    "verdicts",
    "verdicts_by_size",
    "verdicts_on",
    "verdicts_when_full",
    "volume_mb",
    "ways",
    "while_losing",
    "window",
]


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
