"""The chapter's experiments as configurations; the ids are those of the claims ledger."""

from __future__ import annotations

from ..document import Paper
from . import configurations
from .configurations import BANDS, COUPLED, DOWN, RENO, SLOW_NETWORK, UP, merged

KINDS = (COUPLED, RENO)


def _both(direction: str) -> configurations.Configurations:
    """Every pair of bands with Coupled and with New Reno."""
    return merged(*(configurations.networks(direction, c, bands) for c in KINDS for bands in BANDS))


def _slow() -> configurations.Configurations:
    """The downlink where one network is slower."""
    return merged(
        *(configurations.changed(f"slow-{c}", c, *SLOW_NETWORK, direction=DOWN) for c in KINDS),
    )


def _added() -> configurations.Configurations:
    """The uplink with 100 ms added."""
    return merged(
        *(configurations.changed(f"up-100-{c}", c, *configurations.delayed()) for c in KINDS)
    )


def _five(direction: str) -> configurations.Configurations:
    """Both networks at 5 GHz, with Coupled and with New Reno: the reference of other
    experiments.
    """
    return merged(*(configurations.networks(direction, c) for c in KINDS))


PLAIN = configurations.networks(UP, COUPLED)
"""The uplink without changes: the reference of its variants."""

BRIEF = (
    "def.do_no_harm",
    "def.coupled",
    "topology.two_networks",
    "topology.deep_bottleneck",
    "base.newreno",
    "down.share",
    "down.one_subflow_limited",
    "down.mechanism",
    "down.send_queue_equals_cwnd",
    "up.share",
    "up.bdp",
    "up.cwnd_inflated",
    "up.aggressiveness_from_cwnd",
    "up.no_queue_loss",
    "up.mac_retries_hide_loss",
    "up.mac_fair_per_interface",
    "up.equals_newreno",
    "up.regular_tcp_ok",
    "up.only_immediate_bottleneck",
    "rtt100.setup",
    "rtt100.throughput_drop",
    "rtt100.coupled_worse",
    "rtt100.cwnd_below_bdp",
    "rtt100.same_drops",
    "rtt100.window_limited",
    "rtt100.coupled_reads_loss",
    "wish.mac_fairness_discussion",
)
"""Claims whose configurations a quick run simulates; it also judges other claims that need only
these configurations.
"""

PAPER = Paper(
    key="wifi",
    title="Fairness of Multipath TCP over wireless networks (section 'Fairness' of a report)",
    experiments={
        "wifi-down": merged(_both(DOWN), _slow()),
        "wifi-cross-band": configurations.cross_band(),
        "wifi-up": merged(_both(UP), configurations.backlogged(), _five(DOWN), _added()),
        "wifi-rtt100": merged(_added(), _five(UP)),
        "wifi-deep-bottleneck": merged(configurations.deep(), PLAIN),
        "wifi-cwnd-sweep": configurations.windows(),
        "wifi-tsq": merged(configurations.calls(), configurations.smalls(), PLAIN),
        "wifi-solutions": merged(configurations.solutions(), PLAIN),
        "wifi-wired-analogue": configurations.wired(),
    },
    auxiliary=merged(configurations.one_path(), configurations.idle()),
    unclaimed=configurations.others(),
    brief=BRIEF,
)
