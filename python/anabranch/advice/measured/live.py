"""Measures links from this host with iperf3, to a server that the operator names."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_address

from .iperf3 import report
from .paths import Measured

APART, JOINT = 0.65, 0.35
"""Part of the slower link's rate that links add when both carry data: above it they share nothing,
below it a bottleneck; between, it is not known.
"""

GRACE_S = 15
"""Time that iperf3 has beyond what it measures."""

Tell = Callable[[float, float], object]


class LiveError(ValueError):
    """iperf3 did not measure."""


def source(text: str) -> tuple[str, str]:
    """A link and an address from `NAME=ADDRESS`. Raises ValueError."""
    name, _, address = text.partition("=")
    try:
        if NAME.fullmatch(name):
            return name, str(ip_address(address))
    except ValueError:
        pass
    raise ValueError(f"--via {text!r}: write NAME=ADDRESS, such as dsl=192.0.2.7")


NAME = re.compile(r"[A-Za-z][\w-]*")


def measure(
    server: str,
    sources: Sequence[tuple[str, str]],
    *,
    up: bool,
    seconds: int,
    port: int = 5201,
    progress: Tell | None = None,
) -> Measured:
    """Measures each link alone, then all together, for so many seconds each.

    `sources` are names of links and the local addresses that lead over them; `server` runs
    `iperf3 --server`. All together they use one server port each, from `port` on, so that the
    server is started once for each.

    Raises LiveError if iperf3 is missing, fails or does not end, and ValueError for a report that
    says too little.
    """
    if not shutil.which("iperf3"):
        raise LiveError("iperf3 is not installed; `apt install iperf3`, here and on the server")
    reports = []
    for done, (name, source) in enumerate(sources):
        reports.append(report(_run(server, source, up, seconds, port), name))
        if progress:
            progress(done + 1, len(sources) + 1)
    with ThreadPoolExecutor(len(sources)) as pool:
        together = list(
            pool.map(
                lambda one: report(_run(server, one[1][1], up, seconds, port + one[0]), one[1][0]),
                enumerate(sources),
            )
        )
    if progress:
        progress(len(sources) + 1, len(sources) + 1)
    fitted = [one.fitted[0] for one in reports]
    alone = sorted(one.own_bps for one in fitted)
    joint = sum(one.fitted[0].own_bps for one in together)
    notes = [note for one in reports for note in one.notes]
    return Measured(fitted, shared(alone, joint), notes)


def shared(alone: Sequence[float], joint: float) -> bool | None:
    """Whether links share a bottleneck, from their rates alone, in order, and all together; None
    if that is not clear.
    """
    added = (joint - alone[-1]) / sum(alone[:-1])
    return None if JOINT <= added <= APART else added < JOINT


def _run(server: str, source: str, up: bool, seconds: int, port: int) -> dict[str, object]:
    """The report of one measurement."""
    words = ["iperf3", "--client", server, "--bind", source, "--port", str(port), "--json"]
    words += ["--time", str(seconds), *(() if up else ("--reverse", "--get-server-output"))]
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=seconds + GRACE_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise LiveError(f"iperf3 from {source} to {server} did not end") from None
    try:
        content: dict[str, object] = json.loads(done.stdout)
    except json.JSONDecodeError:
        raise LiveError(f"iperf3 from {source} to {server}: {done.stderr or done.stdout}") from None
    if error := content.get("error"):
        raise LiveError(f"iperf3 from {source} to {server}, port {port}: {error}")
    return content
