"""Simulates what RFC 9438 and measurements of BBR say, and writes the numbers beside the published
ones.

    .venv/bin/python tools/compare_with_literature.py cubic    # twelve minutes on two cores
    .venv/bin/python tools/compare_with_literature.py bbr      # four minutes

writes measurements/literature/cubic.json and bbr.json, or the same in another folder (--out). With
--quick one point of each part is simulated, twice: that shows in seconds what is written, and is no
result. The scenarios lie there too, with sources and choices.
docs/pictures/beside-the-literature.py draws them; docs/explanation/beside-the-literature.md says
what they mean.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import anabranch as ab
from anabranch.files import write_json
from anabranch.statistics import Interval, interval, ratio_of_means
from literature import (
    PACKET_BITS,
    Losses,
    ideal_window,
    largest_window,
    leaves_reno,
    model_window,
    region,
    table_window,
    ware_share,
)

FOLDER = Path(__file__).resolve().parents[1] / "measurements" / "literature"
LOSSES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
"""Of the tables' seven; at 1e-7 a cycle is ten million packets."""
RTTS_S = (0.1, 0.01)
CAPACITIES_MBPS = (2, 10, 50, 200)
ROUND_TRIPS_MS = (5, 10, 20, 50, 100, 200)
BUFFERS_10 = (0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32)
BUFFERS_80 = (0.1, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2, 4, 8, 16, 30)
QUICK = range(1, 3)
"""Seeds of the quick form."""


def load(name: str) -> ab.Scenario:
    """A scenario of the folder."""
    return ab.load(FOLDER / f"{name}.toml")


def plain(value: Interval, digits: int = 5) -> list[float]:
    """Mean and half-width, rounded to what anybody needs."""
    return [float(f"{x:.{digits}g}") for x in (value.mean, value.half)]


def window_random(
    controller: str, p: float, rtt: float, seeds: Sequence[int], cycles: int | None = None
) -> dict[str, Any]:
    """Mean window of one flow under random loss, from what arrived and from samples."""
    expected = model_window(controller, p, rtt)
    cycles = cycles or (600 if p > 2e-5 else 200 if p > 2e-6 else 40)
    measured = max(cycles / p * rtt / expected, 240.0)
    changes = [
        f"flow.user.controller={controller}",
        f"link.line.delay={500 * rtt} ms",
        f"link.line.loss.probability={p}",
        f"transport.initial_ssthresh={table_window(controller, p, rtt):.0f}",
        f"duration={1.25 * measured:.1f} s",
        f"warmup={0.25 * measured:.1f} s",
    ]
    result = ab.run(load("window-random"), seeds, overrides=changes)
    window = interval(result.rate("user") * rtt / PACKET_BITS)
    names = "sent_packets", "lost_packets", "timeouts"
    sent, lost, timeouts = (float(result.path("user", 0, name).sum()) for name in names)
    return {
        "controller": controller,
        "loss": p,
        "measured_loss": float(f"{lost / sent:.4g}"),
        "rtt_s": rtt,
        "window": plain(window),
        "sampled_window": plain(interval(result.path("user", 0, "cwnd_segments")[:, 0])),
        "timeouts_per_loss": float(f"{timeouts / lost:.3g}"),
        "seeds": len(seeds),
    }


def ideals(controller: str, p: float, rtt: float) -> dict[str, float]:
    """The same from the rules alone, under both kinds of losses."""
    kinds: tuple[Losses, ...] = ("random", "periodic")
    return {
        f"ideal_{kind}": float(f"{ideal_window(controller, p, rtt, kind):.5g}") for kind in kinds
    }


def alone_on_a_queue(controller: str, p: float, rtt: float) -> list[str]:
    """Overrides of window-periodic.toml that make a flow lose every 1/p packets by the formulas."""
    largest = largest_window(controller, p, rtt)
    queue = max(2, round(0.05 * largest))
    return [
        f"flow.user.controller={controller}",
        f"link.line.delay={500 * rtt} ms",
        f"link.line.rate={(largest - queue) * PACKET_BITS / rtt:.0f} b/s",
        f"link.line.queue.droptail.packets={queue} packets",
        f"transport.initial_ssthresh={0.7 * largest:.0f}",
    ]


def window_periodic(controller: str, p: float, rtt: float) -> dict[str, Any]:
    """Mean window of one flow that is alone on a short queue, and the formula at what came out.

    Nothing is drawn, so it runs once. The number of packets in flight on average is what was sent
    in a second times the round trip; losses are counted as events, of which the formula has one per
    cycle.
    """
    cycle = rtt / (p * model_window(controller, p, rtt))
    duration = max(40 * cycle, 60.0)
    changes = [
        *alone_on_a_queue(controller, p, rtt),
        f"duration={duration:.1f} s",
        f"warmup={duration / 4:.1f} s",
    ]
    result = ab.run(load("window-periodic"), [1], overrides=changes)
    sent = float(result.path("user", 0, "sent_packets")[0, 0])
    events = float(result.path("user", 0, "recoveries")[0, 0])
    mean_rtt = float(result.path("user", 0, "srtt_s")[0, 0])
    event_p = events / sent
    row = {
        "controller": controller,
        "loss": p,
        "rtt_s": rtt,
        "measured_loss": event_p,
        "measured_rtt_s": mean_rtt,
        "events": int(events),
        "lost_packets": int(result.path("user", 0, "lost_packets")[0, 0]),
        "window": sent / (0.75 * duration) * mean_rtt,
        "model": model_window(controller, event_p, mean_rtt),
        "utilisation": float(result.link("line", "utilisation")[0]),
    }
    return {k: float(f"{v:.5g}") if isinstance(v, float) else v for k, v in row.items()}


def sharing(
    rate_mbps: float,
    rtt_ms: float,
    queue: str,
    seeds: Iterable[int],
    flows: int = 1,
    spread: float = 0.05,
    first: str = "cubic",
) -> dict[str, Any]:
    """CUBIC (or `first`) and Reno on one bottleneck: rates per flow, their ratio over draws of
    delays.
    """
    product = rate_mbps * 1e6 * rtt_ms / 1e3 / PACKET_BITS
    fair = 1.5 * product / (2 * flows)
    # Reno's sawtooth: from 2/3 to 4/3 of its share, a packet in a round trip of one and a half
    # delays.
    cycle = 2 / 3 * fair * 1.5 * rtt_ms / 1e3
    duration = min(max(20 * cycle, 200.0), 1500.0)
    changes = [
        f"link.bottleneck.rate={rate_mbps} Mb/s",
        f"link.bottleneck.queue={queue_of(queue, product, fair)}",
        f"flow.cubic.controller={first}",
        f"flow.cubic.count={flows}",
        f"flow.reno.count={flows}",
        f"duration={1.2 * duration:.0f} s",
        f"warmup={0.2 * duration:.0f} s",
    ]
    results = each(lambda seed: _drawn(seed, rtt_ms, spread, changes), seeds)
    cubic, reno = (np.concatenate([r.rate(name) for r in results]) for name in ("cubic", "reno"))
    rtt = np.mean([r.path("reno", 0, "srtt_s").mean() for r in results])
    events = [
        sum(r.path(name, 0, "recoveries").sum() for r in results) for name in ("cubic", "reno")
    ]
    return {
        "rate_mbps": rate_mbps,
        "rtt_ms": rtt_ms,
        "flows_each": flows,
        "queue": queue,
        "spread_of_delays": spread,
        "region": region(rate_mbps * 1e6 / flows, rtt_ms / 1e3),
        "cubic_mbps": plain(interval(cubic / 1e6)),
        "reno_mbps": plain(interval(reno / 1e6)),
        "ratio": plain(ratio_of_means(cubic, reno)),
        "ratio_of_each_draw": [float(f"{x:.3g}") for x in cubic / reno],
        "utilisation": float(
            f"{np.mean([r.link('bottleneck', 'utilisation') for r in results]):.4f}"
        ),
        "mean_rtt_ms": float(f"{1e3 * rtt:.4g}"),
        "boundary_window": float(f"{leaves_reno(float(rtt)):.4g}"),
        "window": float(f"{(cubic + reno).mean() / 2 * rtt / PACKET_BITS:.4g}"),
        "reno_events_per_cubic_event": float(f"{events[1] / max(events[0], 1):.3g}"),
        "seeds": len(results),
    }


def queue_of(kind: str, product: float, fair: float) -> str:
    """The bottleneck's queue: sizes in packets from the product, RED's slope from an equal share."""
    if kind == "drop-tail":
        return f'{{ droptail = {{ packets = "{max(1, round(product))} packets" }} }}'
    return (
        f'{{ red = {{ min = "{max(2, round(product / 4))} packets", '
        f'max = "{max(6, round(product))} packets", '
        f"max_p = {min(4 * 1.5 / max(fair, 1) ** 2, 0.1):.3g}, gentle = true, "
        f'weight = 0.0625, spacing = "independent", '
        f'limit = "{max(24, round(4 * product))} packets" }} }}'
    )


def _drawn(seed: int, rtt_ms: float, spread: float, changes: list[str]) -> ab.Result:
    """One replication, in which each class has a one-way delay within `spread` of half the round
    trip.
    """
    draw = random.Random(seed)
    delays = [
        f"link.to-{end}.delay={1e3 * rtt_ms / 2 * draw.uniform(1 - spread, 1 + spread):.0f} us"
        for end in ("cubic", "reno")
    ]
    scenario = load("cubic-beside-reno")
    return ab.run(scenario, [seed], overrides=[*changes, *delays], threads=1)


def each(work: Callable[[int], ab.Result], seeds: Iterable[int]) -> list[ab.Result]:
    """`work` for every seed, two at a time: a replication runs without the interpreter's lock."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(work, seeds))


def beside_cubic(
    name: str, buffer_bdp: float, seeds: Sequence[int], changes: Sequence[str] = ()
) -> dict[str, Any]:
    """BBR's share beside CUBIC with a buffer of so many products."""
    rate, rtt, flows = (10e6, 0.04, 1) if name.endswith("10") else (80e6, 0.025, 2)
    packets = max(1, round(buffer_bdp * rate * rtt / PACKET_BITS))
    overrides = [f"link.bottleneck.queue.droptail.packets={packets} packets", *changes]
    result = ab.run(load(name), seeds, overrides=overrides)
    bbr, cubic = (result.users(which).sum(axis=1) for which in ("bbr", "cubic"))
    goodput = [result.users(which, "goodput_bps").sum(axis=1) for which in ("bbr", "cubic")]
    return {
        "buffer_bdp": buffer_bdp,
        "packets": packets,
        "share": plain(interval(bbr / (bbr + cubic))),
        "bbr_mbps": plain(interval(bbr / 1e6)),
        "cubic_mbps": plain(interval(cubic / 1e6)),
        "bbr_goodput_share": plain(interval(goodput[0] / (goodput[0] + goodput[1]))),
        "spread": float(f"{(bbr / (bbr + cubic)).std(ddof=1):.3g}"),
        "utilisation": float(f"{result.link('bottleneck', 'utilisation').mean():.4f}"),
        "loss": float(f"{result.link('bottleneck', 'loss').mean():.3g}"),
        "seeds": len(seeds),
        "ware": float(f"{ware_share(buffer_bdp, rate, rtt, flows):.4f}"),
    }


def cubic_sweep(quick: bool = False) -> dict[str, Any]:
    """Windows, the map, and what more flows change."""
    seeds, few = (QUICK, QUICK) if quick else (range(1, 7), range(1, 5))
    points = 1 if quick else None
    cells = [(c, p, rtt) for rtt in RTTS_S for p in LOSSES for c in ("reno", "cubic")][:points]
    pairs = [(rate, rtt) for rate in CAPACITIES_MBPS for rtt in ROUND_TRIPS_MS]
    friendly = [pair for pair in pairs if region(pair[0] * 1e6, pair[1] / 1e3) == "friendly"]
    return {
        "windows_random": [
            told(window_random(*cell, seeds if cell[1] > 2e-6 else few) | ideals(*cell))
            for cell in cells
        ],
        "windows_periodic": [told(window_periodic(*cell)) for cell in cells],
        "map": [
            told(sharing(rate, rtt, queue, seeds))
            for queue in ("red", "drop-tail")
            for rate, rtt in pairs[:points]
        ],
        "equal_delays": [
            told(sharing(rate, rtt, "drop-tail", few, spread=0.0))
            for rate, rtt in friendly[:points]
        ],
        "reno_beside_reno": [
            told(sharing(rate, rtt, "drop-tail", seeds, first="reno"))
            for rate, rtt in ((10, 50), (50, 20), (50, 100))[:points]
        ],
        "more_flows": [
            told(sharing(10 * flows, 50, queue, seeds, flows))
            for queue in ("red", "drop-tail")
            for flows in (1, 2, 5)[:points]
        ],
    }


def bbr_sweep(quick: bool = False) -> dict[str, Any]:
    """Shares by buffer in the set-ups of two sources, and what Linux has that these have not."""
    seeds = QUICK if quick else range(1, 11)
    points = 1 if quick else None
    from_start = ("duration=240 s", "warmup=0 s")
    variants = {
        "as in the scenario": (),
        "acknowledgements delayed by 40 ms": ("transport.delayed_ack=40 ms",),
        "HyStart++": ("flow.cubic.controller=cubic:hystart",),
        "RACK and tail-loss probes": ("transport.rack=true", "transport.tlp=true"),
    }
    tens, eighties = BUFFERS_10[:points], BUFFERS_80[:points]
    return {
        "converged_10": [told(beside_cubic("bbr-beside-cubic-10", x, seeds)) for x in tens],
        "from_start_10": [
            told(beside_cubic("bbr-beside-cubic-10", x, seeds, from_start)) for x in tens
        ],
        "four_cubic_10": [
            told(beside_cubic("bbr-beside-cubic-10", x, seeds, ("flow.cubic.count=4",)))
            for x in (1, 4, 8, 16)[:points]
        ],
        "steady_80": [told(beside_cubic("bbr-beside-cubic-80", x, seeds)) for x in eighties],
        "sensitivity_80": [
            told({"variant": name} | beside_cubic("bbr-beside-cubic-80", x, seeds, changes))
            for name, changes in list(variants.items())[:points]
            for x in (1.25, 2, 4, 8)[:points]
        ],
    }


def told(row: dict[str, Any]) -> dict[str, Any]:
    """Prints a row as soon as it is there."""
    print({k: v for k, v in row.items() if k not in ("seeds", "flows_each")}, flush=True)
    return row


def main() -> None:
    """Runs a sweep and writes its file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sweep", choices=("cubic", "bbr"))
    parser.add_argument("--out", type=Path, help="another folder than measurements/literature")
    parser.add_argument("--quick", action="store_true", help="one point of each part, two seeds")
    words = parser.parse_args()
    if words.quick and (words.out is None or words.out.resolve() == FOLDER):
        parser.error("--quick needs --out: its numbers are not those of measurements/literature")
    begun = time.monotonic()
    content = (cubic_sweep if words.sweep == "cubic" else bbr_sweep)(words.quick)
    head = {
        "command": f"tools/compare_with_literature.py {words.sweep}{' --quick' * words.quick}",
        "version": ab.__version__,
        "intervals": "mean and half-width of the 95 % Student interval over seeds",
    }
    write_json((words.out or FOLDER) / f"{words.sweep}.json", head | content)
    print(f"{time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main()
