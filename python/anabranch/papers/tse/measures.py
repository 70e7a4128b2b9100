"""What the thesis' ledger measures beyond the basic measures."""

from __future__ import annotations

from .comparing import (
    allocation,
    differences_from_eq_1_2,
    differences_from_eq_1_4,
    excess_on_a_link,
    random_allocations,
    used_by_paths,
    were_run,
)
from .drops import drops
from .laws import grows, halvings, left, mean_interval, random_windows, tfrc_rate
from .reading import (
    bound,
    compared,
    count,
    excess,
    lenient,
    link_delay,
    link_loss,
    link_rate,
    others,
    pftk_rate,
    stringent,
    unused,
    used,
)
from .steps import accounts, background, probes, rate_over_response, reports_s, two_levels, yields
from .transfers import arrived_packets, loss_seen, packet_bytes, sent_again

__all__ = [
    "accounts",
    "allocation",
    "arrived_packets",
    "background",
    "bound",
    "compared",
    "count",
    "differences_from_eq_1_2",
    "differences_from_eq_1_4",
    "drops",
    "excess",
    "excess_on_a_link",
    "grows",
    "halvings",
    "left",
    "lenient",
    "link_delay",
    "link_loss",
    "link_rate",
    "loss_seen",
    "mean_interval",
    "others",
    "packet_bytes",
    "pftk_rate",
    "probes",
    "random_allocations",
    "random_windows",
    "rate_over_response",
    "reports_s",
    "sent_again",
    "stringent",
    "tfrc_rate",
    "two_levels",
    "unused",
    "used",
    "used_by_paths",
    "were_run",
    "yields",
]
