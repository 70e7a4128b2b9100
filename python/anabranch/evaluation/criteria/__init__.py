"""The criteria, in the order of a dossier.

A new criterion is a file here, a line below, and an entry of `../requirements.toml`: its name in
the requirement that it answers, or an `[[addition]]` with the reason. A test names what is missing.
"""

from __future__ import annotations

import importlib
from functools import cache

from ..criterion import Criterion

NAMES: tuple[str, ...] = (
    "persistent_congestion",
    "after_timeout",
    "standing_queue",
    "bufferbloat",
    "loss_rate",
    "after_idle",
    "self_fairness",
    "convergence",
    "ramp_up",
    "rtt_fairness",
    "application_limited",
    "short_flows",
    "long_beside_short",
    "timeout_backoff",
    "starvation",
    "harm_in_delay",
    "harm_in_loss",
    "beside_reno",
    "beside_cubic",
    "beside_bbr",
    "real_time_delay",
    "real_time_loss",
    "short_and_long",
    "common_suite",
    "drop_tail",
    "wired_rates",
    "round_trips",
    "random_loss",
    "wifi_down",
    "wifi_up",
    "cellular",
    "cellular_delay",
    "aqm",
    "aqm_delay",
    "aqm_loss",
    "ecn",
    "circuit_breaker",
    "varying_delay",
    "small_window",
    "high_delay",
    "unresponsive_sender",
    "reordering",
    "onset",
    "release",
    "outage",
    "rate_steps",
    "rate_steps_loss",
    "route_change",
    "shared_bottleneck",
    "partly_shared",
    "unequal_rtt",
    "do_no_harm",
    "balance",
    "probing_cost",
    "best_path_gain",
    "disjoint_paths",
    "receive_buffer",
    "flapping",
    "synchronisation",
    "path_fails",
    "failover_synchronised",
    "failover_recovery",
    "path_degrades",
    "path_returns",
    "data_center_incast",
)
"""Modules of this folder; each defines CRITERION."""


@cache
def criteria() -> dict[str, Criterion]:
    """All criteria by name."""
    found = [importlib.import_module(f"{__name__}.{name}").CRITERION for name in NAMES]
    return {one.name: one for one in found}
