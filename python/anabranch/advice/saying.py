"""Advice in words: the verdict, the commands, what is not known, and what is wrong with the links."""

from __future__ import annotations

from typing import Any

from ..statistics import RATE, column, significant
from .candidates import Situation
from .fitting import Estimate
from .judging import KEPT, NEAR, Advice, Outcome
from .links import QUEUE_S, RTT_S
from .measured import Measured

LONG_QUEUE_S = 1.0
"""A wait in a queue from which on it is called one of seconds."""

ACKS_PER_PACKET = 0.5
"""Receivers of Linux acknowledge every other packet."""


def verdict(advice: Advice) -> str:
    """What one says on the phone: one sentence, or two if it is not known whether links share."""
    first = _use(advice, advice.shared)
    if advice.shared is not None:
        return f"Use {first}."
    apart, joint = advice.best_if(False), advice.best_if(True)
    if apart is joint is advice.best:
        return f"Use {first}, whether the links share a bottleneck or not."
    return (
        f"If the links share no bottleneck, use {_use(advice, False)}; if they share one, "
        f"{_use(advice, True)}. Not knowing, use {advice.best.candidate.controller}, which harms nobody."
        if not advice.best.harms(None)
        else f"If the links share no bottleneck, use {_use(advice, False)}; if they share one, "
        f"{_use(advice, True)}. Find out which: no candidate is harmless both ways."
    )


def _use(advice: Advice, shared: bool | None) -> str:
    """The candidate for a case, what it gives, and why no faster one."""
    best = advice.best_if(shared)
    rate = best.case(shared).rate_bps.mean
    gain = rate / advice.single_bps.mean
    than = (
        f"{significant(gain, 2)} times one link" if gain >= 1.0 + NEAR else "no more than one link"
    )
    told = f"{best.candidate.controller} ({significant(rate / 1e6)} Mb/s, {than}"
    faster = [
        one
        for one in advice.outcomes
        if one.harms(shared) and one.case(shared).rate_bps.mean > (1.0 + NEAR) * rate
    ]
    if best.harms(shared):
        return f"{told}; others keep {_least(best, shared)}; no candidate leaves them {100 * KEPT:g} %)"
    if faster:
        first = max(faster, key=lambda one: one.case(shared).rate_bps.mean)
        return f"{told}; {first.candidate.controller} is faster and leaves others {_least(first, shared)})"
    return f"{told})"


def _least(outcome: Outcome, shared: bool | None) -> str:
    """The least that others keep, in percent."""
    parts = [case.kept.mean for case in outcome.cases(shared)]
    return f"{significant(100.0 * min(*parts, 1.0), 2)} %"


def commands(advice: Advice) -> tuple[list[str], list[str]]:
    """The lines that do it and those that undo it, for the host that sends the data."""
    controller = advice.best.candidate.controller
    law = controller.removesuffix("+sbd")
    kernel_name = f"ab_{law.replace('-', '')}" if advice.best.candidate.loaded else controller
    do, undo = [], []
    if advice.best.candidate.loaded:
        do.append(f"sudo anabranch linux load {controller}")
        if controller != law:
            do.append(f"sudo anabranch linux couple {controller} &")
    do.append(f"sudo sysctl -w net.ipv4.tcp_congestion_control={kernel_name}")
    undo.append("sudo sysctl -w net.ipv4.tcp_congestion_control=cubic")
    if advice.best.candidate.loaded:
        undo.append(f"sudo anabranch linux unload {controller}")
    more = len(advice.situation.links) - 1
    do.append(f"sudo ip mptcp limits set subflows {more} add_addr_accepted {more}")
    for link in advice.situation.links[1:]:
        do.append(
            f"sudo ip mptcp endpoint add ADDRESS-OF-{link.name} dev DEVICE-OF-{link.name} subflow"
        )
    undo.append("sudo ip mptcp endpoint flush")
    return do, undo


def buffer_commands(advice: Advice) -> tuple[list[str], list[str]]:
    """The same for the host that receives the data: none if its buffer suffices."""
    need = advice.situation.needed_bytes
    if need <= advice.situation.buffer_bytes:
        return [], []
    return (
        [f'sudo sysctl -w net.ipv4.tcp_rmem="4096 131072 {need}"'],
        ['sudo sysctl -w net.ipv4.tcp_rmem="4096 131072 6291456"'],
    )


def steps(advice: Advice) -> list[tuple[str, list[str]]]:
    """Commands with where to type them; without what there is nothing of."""
    do, undo = commands(advice)
    larger, back = buffer_commands(advice)
    found = [
        ("On the host that sends", do),
        ("On the host that receives", larger),
        ("To undo it on the host that sends", undo),
        ("To undo it on the host that receives", back),
    ]
    return [(title, lines) for title, lines in found if lines]


def unknown(advice: Advice) -> list[str]:
    """What was assumed, because it was not said."""
    found = []
    for link in advice.situation.links:
        if link.rtt_s is None:
            found.append(f"{link.name}: its round trip; {1e3 * RTT_S:g} ms was assumed")
        if link.queue_packets is None:
            found.append(f"{link.name}: its queue; one of {1e3 * QUEUE_S:g} ms was assumed")
        if link.others is None:
            found.append(f"{link.name}: who else uses it; one TCP under CUBIC was assumed")
        if advice.situation.up and link.up_bps is None:
            found.append(f"{link.name}: its rate upwards; that downwards was assumed")
    if advice.shared is None:
        found.append(
            "whether the links share a bottleneck behind the router: both ways were looked at; "
            "`anabranch shared` on a capture finds out"
        )
    if advice.measured:
        found += advice.measured.notes
    if advice.best.candidate.controller == "bbr":
        found.append(
            "how the BBR of your kernel differs: version 1 was simulated, as in Linux 6.18"
        )
    found.append("radio links vary; rates were taken as constant")
    return found


def diseases(situation: Situation) -> list[str]:
    """Known troubles of such links, each with its remedy."""
    found = []
    for link in situation.links:
        wait_s = link.wait_s(situation.up)
        if wait_s >= LONG_QUEUE_S:
            found.append(
                f"{link.name} has a queue of {significant(wait_s, 2)} s: limit its rate on the router "
                "with CAKE or FQ-CoDel, a little below the link's"
            )
    need = situation.needed_bytes
    if need > situation.buffer_bytes:
        found.append(
            f"the receive buffer is too small: {significant(situation.buffer_bytes / 2**20)} MiB, and "
            f"these links need {significant(need / 2**20)} MiB"
        )
    shortest = min(situation.links, key=lambda link: link.trip_s)
    longest = max(situation.links, key=lambda link: link.trip_s + link.wait_s(situation.up))
    waiting = longest.trip_s + longest.wait_s(situation.up) - shortest.trip_s
    blocked = situation.total_bps * waiting / 8.0
    if longest is not shortest and blocked > situation.buffer_bytes:
        found.append(
            f"the round trips of {shortest.name} and {longest.name} are too unequal for the buffer: while "
            f"{longest.name} delivers one packet, more arrives on {shortest.name} than it holds"
        )
    return found


def settings_cells(advice: Advice) -> dict[str, list[str]]:
    """The advised candidate with other schedulers and buffers, column by column."""
    rows = advice.settings
    return {
        "scheduler": [one.scheduler for one in rows],
        "receive buffer MiB": [significant(one.buffer_bytes / 2**20) for one in rows],
        "mine Mb/s": list(column([one.goodput_bps for one in rows], RATE)),
        "others %": [str(one.kept.times(100.0)) for one in rows],
        "held MiB": [significant(one.held_bytes / 2**20, 2) for one in rows],
    }


def settings_title(advice: Advice) -> str:
    """What the table of settings shows."""
    return f"{advice.best.candidate.controller} with other packet schedulers and receive buffers"


def of_settings(advice: Advice) -> str:
    """Whether another scheduler or buffer is worth having. It is if its goodput is certainly
    higher, and by more than candidates differ that are called equally fast.
    """
    given, *others = advice.settings
    least_bps = (1.0 + NEAR) * given.goodput_bps.mean
    better = [
        one
        for one in others
        if one.goodput_bps.mean > least_bps and one.goodput_bps.low > given.goodput_bps.high
    ]
    if not better:
        return f"No other scheduler or receive buffer gives {100 * NEAR:g} % more."
    first = max(better, key=lambda one: one.goodput_bps.mean)
    gain = 100.0 * (first.goodput_bps.mean / given.goodput_bps.mean - 1.0)
    what = (
        f"The scheduler {first.scheduler}"
        if first.buffer_bytes == given.buffer_bytes
        else f"A receive buffer of {significant(first.buffer_bytes / 2**20)} MiB"
    )
    return f"{what} would give {significant(gain, 2)} % more."


def cost(outcome: Outcome, rate_bps: float) -> float:
    """The part of a processor that the controller takes at this rate: its callbacks, and what
    decides which paths are coupled.
    """
    candidate = outcome.candidate
    acks_per_s = rate_bps / 12_000 * ACKS_PER_PACKET
    return acks_per_s * candidate.ns_per_ack * 1e-9 + candidate.deciding


def measured_cells(measured: Measured) -> dict[str, list[str]]:
    """What was measured of each bottleneck, column by column, with intervals."""

    def cell(one: Estimate, factor: float, digits: int = 3) -> str:
        value, low, high = (
            significant(factor * end, digits) for end in (one.value, one.low, one.high)
        )
        return value if low == high else f"{value} ({low} to {high})"

    rows = measured.fitted
    return {
        "link": [" and ".join(one.names) for one in rows],
        "rate Mb/s": [cell(one.rate_bps, 1e-6) for one in rows],
        "RTT ms": ["; ".join(cell(trip, 1e3) for trip in one.trips_s) for one in rows],
        "queue packets": [cell(one.queue_packets, 1.0) for one in rows],
        "random loss %": [cell(one.loss, 1e2, 2) for one in rows],
        "TCPs of others": [cell(one.others, 1.0, 2) for one in rows],
    }


NOTES = (
    "others: what the others on a link keep of what they have beside one TCP in place of the connection, where "
    f"they keep least; below {100 * KEPT:g} % a candidate harms. theory: the equilibrium, where there is one. "
    "shared: if all links lead over one bottleneck. CPU: of a processor for the controller's callbacks, at "
    "100 Mb/s and 1 Gb/s, beyond those of the kernel's Reno; of +sbd also what decides."
)

SETTINGS_NOTES = (
    "mine: each byte once. held: the most that the receiver held at once. Linux has the scheduler `linux`; "
    "others need a kernel with more of them (net.mptcp.available_schedulers)."
)


def all_diseases(advice: Advice) -> list[str]:
    """Those of the links, and those that a measurement shows."""
    return diseases(advice.situation) + (advice.measured.diseases if advice.measured else [])


def to_json(advice: Advice) -> dict[str, Any]:
    """All of it as plain data."""
    do, undo = commands(advice)
    larger, back = buffer_commands(advice)
    situation = advice.situation
    return {
        "links": [vars(one) for one in situation.links],
        "measured": advice.measured and [one.to_json() for one in advice.measured.fitted],
        "up": situation.up,
        "buffer_bytes": situation.buffer_bytes,
        "shared": advice.shared,
        "advised": advice.best.candidate.controller,
        "verdict": verdict(advice),
        "candidates": [one.to_json() for one in advice.outcomes],
        "single_bps": advice.single_bps.to_json(),
        "do": do,
        "undo": undo,
        "do_receiver": larger,
        "undo_receiver": back,
        "diseases": all_diseases(advice),
        "unknown": unknown(advice),
        "settings": [one.to_json() for one in advice.settings],
    }
