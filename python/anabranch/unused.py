"""Paths of a connection that carried nothing, and what that may come from."""

from __future__ import annotations

from collections.abc import Collection

from .capture import Capture

LEAST_SHARE = 0.01
"""A path with less of its connection's data carried next to nothing, in tables."""

FEWEST_PACKETS = 200
"""A path with as many data packets was used, whatever its share."""


def idle(capture: Capture, flow: int) -> list[int]:
    """The paths of a connection that carried next to nothing of its data."""
    shares, packets = capture.shares, capture.paths.sent_packets
    own = [row for row in range(len(shares)) if capture.paths.flow[row] == flow]
    return [
        row
        for row in own
        if len(own) > 1 and not shares[row] >= LEAST_SHARE and not packets[row] >= FEWEST_PACKETS
    ]


def unused(capture: Capture, flow: int, rows: Collection[int]) -> list[str]:
    """Why paths of a connection carried nothing; `rows` are those that did not."""
    if capture.labels:
        return [
            f"{capture.label(row)} was opened and carried next to nothing: is it a backup, was it never validated, or "
            "does the sender's scheduler leave it out? (picoquic#2073 is of this kind)"
            for row in rows
        ]
    found = [
        f"{capture.label(row)} joined and carried next to nothing: is it a backup, or much slower than the others?"
        for row in rows
    ]
    own = [row for row in range(len(capture.paths.flow)) if capture.paths.flow[row] == flow]
    if len(own) == 1 and capture.paths.multipath[own[0]]:
        announced = int(capture.flows.addresses_announced[flow])
        found.append(
            "the second path was not used: "
            + (
                f"{announced} addresses were announced, and nobody joined; look at `ip mptcp limits`"
                if announced
                else "no address was announced or joined; add it with `ip mptcp endpoint add`"
            )
        )
    return found


def told(capture: Capture) -> list[str]:
    """A sentence on each path of a capture that carried next to nothing of what its connection
    carried, and on MPTCP with one path.
    """
    rates = capture.flows.throughput_bps
    flows = [flow for flow in range(len(rates)) if rates[flow] > 0]
    return [text for flow in flows for text in unused(capture, flow, idle(capture, flow))]
