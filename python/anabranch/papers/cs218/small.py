"""Small networks for observing a controller at every acknowledgement."""

from __future__ import annotations

from functools import cache

from .logs import Log, logged

SECONDS, EVERY_S = 16, 2
"""Duration of the run with two paths, and the interval of losses on the first."""

TWO_PATHS = """
name = "small"
duration = "{seconds} s"
warmup = "0 s"
[transport]
initial_ssthresh = 10
[[link]]
name = "near"
rate = "20 Mb/s"
delay = "25 ms"
change = [{changes}]
[[link]]
name = "far"
rate = "20 Mb/s"
delay = "100 ms"
[[flow]]
name = "user"
path = [{{ links = ["near"] }}, {{ links = ["far"] }}]
"""
"""Base RTTs of 50 and 200 ms, no other traffic; at each loss the first path drops everything for
0.8 ms.
"""

LONG = """
name = "long"
duration = "600 s"
warmup = "0 s"
[transport]
initial_ssthresh = 10
rto_min = "20 s"
[[link]]
name = "one"
rate = "1 Gb/s"
delay = "0.494 ms"
change = [{ at = "10 ms", delay = "9999.494 ms" }]
[[link]]
name = "other"
rate = "1 Gb/s"
delay = "0.494 ms"
change = [{ at = "10 ms", delay = "9999.494 ms" }]
[[flow]]
name = "user"
path = [{ links = ["one"] }, { links = ["other"] }]
"""
"""Two equal paths with a round trip of 1 ms, and soon of 10 s; no timer runs out meanwhile."""

DRAINED = """
name = "drained"
duration = "20 s"
warmup = "0 s"
[transport]
initial_ssthresh = 60
[[link]]
name = "only"
rate = "100 Mb/s"
delay = "50 ms"
change = [{ at = "5 s", rate = "40 Mb/s" }]
[[flow]]
name = "user"
path = [{ links = ["only"] }]
"""
"""One path without other traffic or drops; its rate falls, and a queue forms."""


@cache
def watched(controller: str) -> Log:
    """Two paths under a controller; the first one loses a packet or two every two seconds."""
    changes = ", ".join(
        f'{{ at = "{at} s", loss = 1 }}, {{ at = "{at + 0.0008:.4f} s", loss = 0 }}'
        for at in range(EVERY_S, SECONDS, EVERY_S)
    )
    return logged(TWO_PATHS.format(seconds=SECONDS, changes=changes), controller)


def far(controller: str) -> Log:
    """Log of two paths whose RTT becomes ten thousand times as long."""
    return logged(LONG, controller)


def drained(controller: str) -> Log:
    """Log of the path on which a queue forms."""
    return logged(DRAINED, controller)
