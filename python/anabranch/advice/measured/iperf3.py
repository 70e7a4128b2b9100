"""Reports of iperf3: `iperf3 --json`, one link each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from ..fitting import RESIDUE, Estimate, Fitted
from ..links import PACKET_BITS
from .paths import Measured

FORMAT = "a report of iperf3 --json"

HEADERS = 1500.0 / 1448.0
"""Bytes of a packet for each of payload, with time stamps."""

FEWEST_INTERVALS = 4


def knows(head: bytes) -> bool:
    """By the names that a report begins with."""
    return head.lstrip()[:1] == b"{" and b'"start"' in head and b'"connected"' in head


def read(path: Path) -> Measured:
    """The link that a report is of; its name is the file's. Raises OSError and ValueError."""
    try:
        return report(json.loads(path.read_text("utf-8")), path.name.partition(".")[0])
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} is no report of iperf3: {error!r} is missing") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"{path} is no report of iperf3: {error}") from None


def report(content: dict[str, Any], name: str) -> Measured:
    """The same from what was read. Raises ValueError, and KeyError if a part is missing."""
    if error := content.get("error"):
        raise ValueError(f"{name}: iperf3 failed: {error}")
    rates = _rates(content)
    if len(rates) < FEWEST_INTERVALS:
        raise ValueError(
            f"{name}: {len(rates)} intervals; {FEWEST_INTERVALS} or more say something of a link: iperf3 -t 10"
        )
    sender = content
    if content["start"]["test_start"].get("reverse") and "server_output_json" in content:
        sender = content["server_output_json"]
    rate = Estimate(
        float(np.quantile(rates, 0.75)),
        (1.0 - RESIDUE) * float(np.quantile(rates, 0.25)),
        (1.0 + RESIDUE) * float(np.max(rates)),
    )
    trips_s = _trips_s(sender)
    if not len(trips_s):
        raise ValueError(
            f"{name}: no round trips, which only the sender knows; for data that comes, run "
            "iperf3 --server --json there, and --reverse --get-server-output here"
        )
    least, most = float(trips_s.min()), float(trips_s.max())
    packets = (most - least) * rate.value / PACKET_BITS
    fitted = Fitted(
        (name,),
        rate,
        (Estimate(least, 0.5 * least, least),),
        Estimate(packets, 0.7 * packets, 2.0 * packets),
        Estimate(0.0, 0.0, 0.0),
        Estimate(0.0, 0.0, 0.0),
        float(np.mean(rates)),
    )
    note = f"{name}: random losses and TCPs of others, which a report of iperf3 does not tell; none were assumed"
    return Measured([fitted], None, [note])


def _rates(content: dict[str, Any]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Of the link in bit/s, of each interval after the first."""
    sums = [
        interval["sum"] for interval in content["intervals"] if not interval["sum"].get("omitted")
    ]
    return np.array([HEADERS * float(one["bits_per_second"]) for one in sums[1:]])


def _trips_s(content: dict[str, Any]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Smoothed round trips at the end of each interval, where the side that sent said them."""
    streams = [stream for interval in content["intervals"] for stream in interval["streams"]]
    found = [float(stream["rtt"]) * 1e-6 for stream in streams if stream.get("rtt")]
    ends = [stream.get("sender", {}) for stream in content["end"].get("streams", ())]
    found += [float(end["min_rtt"]) * 1e-6 for end in ends if end.get("min_rtt")]
    return np.array(found)
