"""Claims about the sending host: the effect of its queue on other flows, and TCP Small Queues."""

from __future__ import annotations

import numpy as np

from ...statistics import interval, jain, ratio_of_means
from ..findings import Finding, finding, measured, within
from ..laboratory import Laboratory
from ..ledger import Claim
from .configurations import COUPLED, SMALL, UP, call, two
from .paper import PAPER
from .reading import PACKET_BYTES, Floats, change, rtt_ms, share

LIMIT_BYTES = 16_384
PAYLOAD_BYTES = 1448
PROBE = "probe"
OFF, LARGE, TIGHT = call("off"), call("131072 B"), call(SMALL)


def pair(lab: Laboratory, configuration: str) -> Floats:
    """Rates of both bulk flows, shape (seeds, 2), in Mb/s."""
    return np.stack([lab[configuration].rate(name) / 1e6 for name in ("bulk", "parallel")], axis=1)


@PAPER.claim("up.regular_tcp_ok", OFF, "call-without-bulk", "call-saturated", "idle")
def regular(claim: Claim, lab: Laboratory) -> Finding:
    """Two TCPs share the channel, and one of them delays the call on its host."""
    rates, most = pair(lab, OFF), pair(lab, "call-saturated").sum(axis=1)
    delay, without = rtt_ms(lab, OFF, PROBE), rtt_ms(lab, "call-without-bulk", PROBE)
    checks = [
        measured(claim, "jain", jain(rates)),
        within(
            "part of what saturated TCPs get",
            "at least 0.95",
            ratio_of_means(rates.sum(axis=1), most),
            0.95,
            None,
        ),
        measured(claim, "probe_extra_delay", delay - without),
    ]
    why = (
        f"{interval(rates[:, 0])} and {interval(rates[:, 1])} Mb/s, without residual loss {interval(most)} in all. The "
        f"call's round trip is {interval(delay)} ms beside the bulk flow of its host, {interval(without)} ms with the "
        f"other host's only, and {interval(rtt_ms(lab, 'idle', PROBE))} ms on an idle network."
    )
    return finding(claim, lab.world.name, checks, why)


def highest(lab: Laboratory, configuration: str) -> Floats:
    """The longest queue of the multipath client's interfaces in any sample after the warm-up."""
    found = []
    result = lab[configuration]
    skip = round(result.plan.warmup_s / result.plan.sample_s)
    for run in result.runs:
        names = np.asarray(run.stations.name)
        queues = np.asarray(run.series.stations.queue_packets)
        found.append(float(queues[skip:, names == "client"].max()))
    return np.array(found)


@PAPER.claim(
    "up.tsq",
    OFF,
    LARGE,
    TIGHT,
    "call-without-bulk",
    "up-small-lia",
    "up-small-reno",
    two(UP, COUPLED),
)
def small_queues(claim: Claim, lab: Laboratory) -> Finding:
    """A cap on a flow's bytes in the host: its effect on the call, and none on the share."""
    delays = {
        configuration: rtt_ms(lab, configuration, PROBE) for configuration in (OFF, LARGE, TIGHT)
    }
    without = rtt_ms(lab, "call-without-bulk", PROBE)
    longest = highest(lab, "up-small-lia")
    allowed = LIMIT_BYTES / PAYLOAD_BYTES + 1
    checks = [
        measured(
            claim, "delay_reduction", change(delays[OFF] - delays[TIGHT] + delays[OFF], delays[OFF])
        ),
        measured(claim, "share_with_tsq", share(lab, "up-small-lia")),
        within(
            "packets in the queue of a subflow's interface", "limit + 1 packet", longest, 0, allowed
        ),
    ]
    extra = ratio_of_means(delays[TIGHT] - without, delays[OFF] - without)
    why = (
        f"Round trip of the call: {interval(delays[OFF])} ms without a cap, {interval(delays[LARGE])} ms with 128 KiB, "
        f"{interval(delays[TIGHT])} ms with 16 KiB, {interval(without)} ms without the host's bulk flow; of what that one "
        f"adds, {1 - extra.mean:.2f} ± {extra.half:.2f} is taken away. Share with 128 KiB "
        f"{interval(share(lab, two(UP, COUPLED)))}, with 16 KiB {interval(share(lab, 'up-small-lia'))}, New Reno "
        f"{interval(share(lab, 'up-small-reno'))}."
    )
    return finding(claim, lab.world.name, checks, why, unless=elsewhere(lab))


def elsewhere(lab: Laboratory) -> str:
    """Places of the remaining delay of the call."""
    own = lab[TIGHT].station("only", "client", "queue_packets")
    point = lab[TIGHT].station("only", "ap", "queue_packets")
    before = lab[OFF].station("only", "client", "queue_packets")
    return (
        f"The cap cuts the host's queue from {interval(before)} to {interval(own)} packets of {PACKET_BYTES} B, in the mean. "
        f"But the call's ACKs come back through the access point, where {interval(point)} ACKs of both bulk flows wait: two "
        "stations that always send leave it a third of the opportunities, just enough for an ACK to every second packet."
    )
