"""What the kernel's own controllers cost per ACK, from samples of where the processors are.

The kernel keeps statistics of BPF programs, but not of its functions, and not every kernel can
trace them. `perf record` looks at every processor at each tick of a clock: ticks inside the
functions of a controller, times the time between two ticks, are the time that they took.
"""

from __future__ import annotations

import math
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

PERIOD_NS = 50_000
"""Between two looks at a processor. A look takes one or two microseconds."""

SHARED = "tcp_slow_start|tcp_cong_avoid_ai"
"""Functions that the callbacks of Reno and CUBIC call."""

FUNCTIONS = {
    "reno": rf"tcp_reno_\w+|{SHARED}",
    "cubic": rf"(?:cubictcp|bictcp|cubic)_\w+|{SHARED}",
    "bbr": r"bbr_\w+|minmax_running_max",
}
"""Functions of each controller: its callbacks, and functions that are called only by them."""

ACKS = "InSegs"
"""Segments that a host received, in /proc/net/snmp: at a host that only sends data these are ACKs."""


def looks(work: Callable[[], Any]) -> tuple[Counter[str], Any]:
    """How often each function of the kernel was found running during some work, and what it gave."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "perf.data"
        words = ["--all-cpus", "--event", "cpu-clock:k", "--count", str(PERIOD_NS)]
        recorder = subprocess.Popen(
            ["perf", "record", "--quiet", *words, "--output", str(file)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            done = work()
        finally:
            recorder.terminate()
            said, _ = recorder.communicate()
        if not file.exists() or not file.stat().st_size:
            raise OSError(f"perf recorded nothing: {said}")
        listed = subprocess.run(
            ["perf", "script", "--input", str(file), "--fields", "ip,sym"],
            check=True,
            capture_output=True,
            text=True,
        )
    lines = (line.split() for line in listed.stdout.splitlines())
    return Counter(words[1] for words in lines if len(words) > 1), done


def received() -> int:
    """Segments that came into this thread's network namespace."""
    head, row = (
        line.split()
        for line in Path("/proc/thread-self/net/snmp").read_text().splitlines()
        if line.startswith("Tcp:")
    )
    return int(row[head.index(ACKS)])


def per_ack(controller: str, found: Counter[str], acks: int) -> dict[str, Any]:
    """Nanoseconds of a controller's functions per ACK, with the interval of so many looks: they are
    rare and independent, so that their number is Poisson's.
    """
    own = {name: n for name, n in found.items() if re.fullmatch(FUNCTIONS[controller], name)}
    hits = sum(own.values())
    half = 1.96 * math.sqrt(hits)
    ns = PERIOD_NS / acks
    return {
        "acks": acks,
        "looks": hits,
        "ns_per_ack": ns * hits,
        "interval95": [ns * (hits - half), ns * (hits + half)],
        "functions": dict(sorted(own.items(), key=lambda one: -one[1])),
    }
