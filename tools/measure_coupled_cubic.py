"""Measures Coupled CUBIC: what it takes of a path with a large bandwidth-delay product, and what it
leaves to one TCP at a shared bottleneck.

    .venv/bin/python tools/measure_coupled_cubic.py

writes measurements/coupled-cubic.json and prints its tables, in five minutes of processor time.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from anabranch import Scenario, run
from anabranch.files import atomic_write
from anabranch.statistics import interval

OUT = Path("measurements/coupled-cubic.json")
CONTROLLERS = ("lia", "coupled-cubic", "cubic")
SEEDS = 4

LARGE_MBPS = (100, 300, 1000)
LARGE_RTT_S = 0.1
SMALL_BPS = 10_000_000

SHARED = [(mbps, queue) for mbps in (20, 100) for queue in ("droptail", "red")]
SHARED_RTT_S = 0.04
"""Of the lines; a queue of one bandwidth-delay product comes on top."""


def queued(name: str, bps: int, packets: int, kind: str = "droptail") -> dict[str, Any]:
    """A link with a queue."""
    queue: dict[str, Any] = {"packets": f"{packets} packets"}
    if kind == "red":
        queue = {
            "min": f"{packets // 4} packets",
            "max": f"{packets // 2} packets",
            "max_p": 0.1,
            "limit": f"{2 * packets} packets",
        }
    return {"name": name, "rate": f"{bps} b/s", "queue": {kind: queue}}


def line(name: str, delay_s: float) -> dict[str, Any]:
    """The way to a link, with random processing time against phase effects."""
    return {"name": name, "delay": f"{delay_s * 1e3:g} ms", "jitter": "500 us", "per_user": True}


def scenario(name: str, links: list[dict[str, Any]], flows: list[dict[str, Any]]) -> Scenario:
    """A scenario of 150 s, of which the first 30 s are not counted."""
    large = {"receive_buffer": "256 MiB"}
    flows = [flow | {"transport": large} for flow in flows]
    times = {"duration": "150 s", "warmup": "30 s"}
    return Scenario.written({"name": name, **times, "link": links, "flow": flows})


def two_paths(mbps: int, controller: str) -> Scenario:
    """A connection alone, over a large path and a small one."""
    packets = round(0.1 * mbps * 1e6 * LARGE_RTT_S / 12_000)
    links = [
        queued("large", mbps * 1_000_000, packets),
        line("to-large", LARGE_RTT_S / 2.0),
        queued("small", SMALL_BPS, 50),
        line("to-small", 0.01),
    ]
    paths = [{"links": ["to-large", "large"]}, {"links": ["to-small", "small"]}]
    return scenario("two-paths", links, [{"name": "mine", "controller": controller, "path": paths}])


def one_bottleneck(mbps: int, kind: str, controller: str, other: str) -> Scenario:
    """Two subflows beside one TCP."""
    packets = round(mbps * 1e6 * SHARED_RTT_S / 12_000)
    links = [queued("shared", mbps * 1_000_000, packets, kind), line("line", SHARED_RTT_S / 2.0)]
    way = {"links": ["line", "shared"]}
    flows = [
        {"name": "mine", "controller": controller, "path": [way, way]},
        {"name": "other", "controller": other, "path": [way]},
    ]
    return scenario("one-bottleneck", links, flows)


def main() -> None:
    """Measures, prints, writes."""
    large, shared = [], []
    for mbps in LARGE_MBPS:
        for controller in CONTROLLERS:
            result = run(two_paths(mbps, controller), SEEDS)
            parts = [one.paths.throughput_bps[0] / (mbps * 1e6) for one in result.runs]
            part = interval(parts)
            large.append({"mbps": mbps, "controller": controller, "part": part.to_json()})
            print(f"{mbps} Mb/s: {controller} takes {part.times(100.0)} %", flush=True)
    for mbps, kind in SHARED:
        for controller, other in [(one, o) for one in CONTROLLERS for o in ("cubic", "reno")]:
            result = run(one_bottleneck(mbps, kind, controller, other), 2 * SEEDS)
            part = interval(result.rate("mine") / (result.rate("mine") + result.rate("other")))
            row = {"mbps": mbps, "queue": kind, "controller": controller, "other": other}
            shared.append(row | {"share": part.to_json()})
            print(f"{mbps} Mb/s, {kind}: {controller} beside {other} has {part}", flush=True)
    content = {"seeds": SEEDS, "large": large, "shared": shared}
    atomic_write(OUT, json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
