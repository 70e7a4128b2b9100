"""The chapter's experiments as cells; the ids are those of the claims ledger."""

from __future__ import annotations

from ..document import Paper
from . import cells
from .cells import BANDS, COUPLED, DOWN, RENO, SLOW_NETWORK, UP, merged

KINDS = (COUPLED, RENO)


def _both(direction: str) -> cells.Configurations:
    """Every pair of bands with Coupled and with New Reno."""
    return merged(*(cells.networks(direction, c, bands) for c in KINDS for bands in BANDS))


def _slow() -> cells.Configurations:
    """The downlink where one network is slower."""
    return merged(
        *(cells.changed(f"slow-{c}", c, *SLOW_NETWORK, direction=DOWN) for c in KINDS),
    )


def _added() -> cells.Configurations:
    """The uplink with 100 ms added."""
    return merged(*(cells.changed(f"up-100-{c}", c, *cells.delayed()) for c in KINDS))


def _five(direction: str) -> cells.Configurations:
    """Both networks at 5 GHz, with Coupled and with New Reno: what other experiments are compared
    with.
    """
    return merged(*(cells.networks(direction, c) for c in KINDS))


PLAIN = cells.networks(UP, COUPLED)
"""The uplink as it is, beside which its changes are read."""

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
"""Claims whose cells a quick run simulates; it also judges all others that need no more than these."""

PAPER = Paper(
    key="wifi",
    title="Fairness of Multipath TCP over wireless networks (section 'Fairness' of a report)",
    experiments={
        "wifi-down": merged(_both(DOWN), _slow()),
        "wifi-cross-band": cells.cross_band(),
        "wifi-up": merged(_both(UP), cells.backlogged(), _five(DOWN), _added()),
        "wifi-rtt100": merged(_added(), _five(UP)),
        "wifi-deep-bottleneck": merged(cells.deep(), PLAIN),
        "wifi-cwnd-sweep": cells.windows(),
        "wifi-tsq": merged(cells.calls(), cells.smalls(), PLAIN),
        "wifi-solutions": merged(cells.solutions(), PLAIN),
        "wifi-wired-analogue": cells.wired(),
    },
    auxiliary=merged(cells.one_path(), cells.idle()),
    unclaimed=cells.others(),
    brief=BRIEF,
)
