"""Measures where detectors of shared bottlenecks err, and draws it.

    .venv/bin/python tools/map_detectors.py [--only wires|loop|wifi]

Run it from the root of the repository; it takes some fifteen minutes on two cores. It writes
measurements/detectors.json, from which tools/generate_detectors.py makes the tables of
docs/explanation/shared-bottlenecks.md, and three pictures. With `--only` a part is measured, and
what was measured of the other stays.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anabranch import _core
from anabranch.files import atomic_write
from anabranch.result import run
from anabranch.scenario import Scenario
from anabranch.sharing import Errors, Ranges, measure
from anabranch.sharing.closed_loop import moved, of_a_tcp, of_uncoupled, regrouped
from anabranch.sharing.drawing import SUBJECT
from anabranch.sharing.errors import measure_on
from anabranch.sharing.wifi import LAYOUTS, draw_wifi
from anabranch.statistics import Interval, ratio_of_means

OUT = Path("measurements/detectors.json")
CURVE = Path("docs/pictures/detectors-curve.png")
TIME = Path("docs/pictures/detectors-time.png")
WIFI = Path("docs/pictures/detectors-wifi.png")

NETWORKS = 200
SEED = 1
EACH = 100
"""Networks for each value of a parameter."""

STATIONS = (0, 1, 2, 4)
"""Stations of others on each channel."""

COSTLY = ("one-queue", "two-queues")
"""Layouts of which it is measured what the detector's answer costs others."""

COSTLY_STATIONS = 2

SUBFLOWS = (1, 2, 4, 8)

SHOWN_S = (5, 10, 15, 20, 30)

MAP: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "rate": [
        (f"{mbps:g} Mb/s", {"rate_bps": (mbps * 1e6, mbps * 1e6)}) for mbps in (1, 4, 20, 100, 200)
    ],
    "round trips": [
        ("5 ms", {"rtt_s": (0.005, 0.005)}),
        ("20 ms", {"rtt_s": (0.02, 0.02)}),
        ("100 ms", {"rtt_s": (0.1, 0.1)}),
        ("300 ms", {"rtt_s": (0.3, 0.3)}),
        ("10 to 300 ms", {"rtt_s": (0.01, 0.3)}),
    ],
    "queue": [
        (queue, {"queues": (queue,)}) for queue in ("droptail", "red", "codel", "pie", "fq-codel")
    ],
    "size of the queue": [
        (f"{bdp:g} BDP", {"buffer_bdp": (bdp, bdp)}) for bdp in (0.1, 0.3, 1.0, 4.0)
    ],
    "TCPs beside it": [(str(count), {"rivals": (count,)}) for count in (0, 1, 4, 12)],
    "load of short transfers": [
        (f"{100 * load:g} %", {"short_load": (load,)}) for load in (0.0, 0.3, 0.6)
    ],
    "TCP on the way back": [("none", {"reverse": 0.0}), ("one", {"reverse": 1.0})],
    "lag": [
        ("none", {"before": (0.0, 0.0)}),
        ("up to 15 ms", {"rtt_s": (0.03, 0.03), "before": (0.0, 1.0)}),
        ("up to 150 ms", {"rtt_s": (0.3, 0.3), "before": (0.0, 1.0)}),
    ],
    "noise of each path": [
        (f"{1e3 * noise_s:g} ms", {"noise_s": (noise_s,)}) for noise_s in (0.0, 0.005, 0.02, 0.05)
    ],
    "bottlenecks that are alike": [("none", {"alike": 0.0}), ("all", {"alike": 1.0})],
    "paths": [(str(count), {"paths": (count,)}) for count in (2, 4, 8)],
}
"""Values of each parameter of `Ranges`; the others keep their ranges."""


def main() -> None:
    """Measures, writes, draws."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=list(PARTS), help="the part to measure")
    only = parser.parse_args().only
    content = json.loads(OUT.read_text("utf-8")) if only else {}
    for part, measured in PARTS.items():
        if only in (None, part):
            content |= measured()
    atomic_write(OUT, json.dumps(content, indent=1) + "\n")


def loop() -> dict[str, Any]:
    """What laws with `+sbd` take where paths share, where they do not, and where that changes."""
    coupled = ("lia", "olia", "balia")
    found = {
        "of_a_tcp": {
            law: {n: of_a_tcp(n, law).to_json() for n in SUBFLOWS}
            for law in ("reno", *coupled, *(f"{law}+sbd" for law in coupled))
        },
        "of_uncoupled": {
            law: {n: of_uncoupled(n, law).to_json() for n in SUBFLOWS[1:]}
            for law in (*coupled, *(f"{law}+sbd" for law in coupled))
        },
        "regrouped": {
            f"{law}+sbd": {n: regrouped(n, f"{law}+sbd") for n in SUBFLOWS[1:]} for law in coupled
        },
        "moved": {
            law: {
                n: {span: [one.to_json() for one in both] for span, both in moved(n, law).items()}
                for n in SUBFLOWS[1:]
            }
            for law in (*coupled, *(f"{law}+sbd" for law in coupled))
        },
    }
    return {"loop": found}


def wires() -> dict[str, Any]:
    """All that is measured where bottlenecks are wires."""
    kinds = [one["name"] for one in _core.detectors()]
    of = {kind: measure(f"lia+sbd:{kind}", NETWORKS, SEED) for kind in kinds}
    laws = {law: measure(f"{law}+sbd", NETWORKS, SEED) for law in ("reno", "lia", "olia", "balia")}
    rows: dict[str, Any] = {}
    for parameter, values in MAP.items():
        rows[parameter] = {}
        for name, changes in values:
            ranges = Ranges().changed(**changes)
            rows[parameter][name] = row(measure("lia+sbd", EACH, SEED, ranges))
            print(parameter, name, rows[parameter][name], flush=True)
    content = {
        "networks": NETWORKS,
        "seed": SEED,
        "each": EACH,
        "detectors": {kind: row(errors) for kind, errors in of.items()},
        "laws": {law: row(errors) for law, errors in laws.items()},
        "map": rows,
    }
    draw(of)
    return content


def wifi() -> dict[str, Any]:
    """Errors by layout and stations of others, and what others have under each controller; also
    draws the errors.
    """
    rows: dict[str, Any] = {}
    for name, layout in LAYOUTS.items():
        rows[name] = {"title": layout.title, "shared": layout.shared, "stations": {}}
        for stations in STATIONS:
            drawn = [draw_wifi(number, SEED, layout, stations) for number in range(EACH)]
            errors = measure_on(drawn)
            wrong = errors.misses if layout.shared else errors.false_alarms
            found = {"wrong": wrong.to_json(), "unknown": errors.unknown.to_json()}
            rows[name]["stations"][stations] = found
            print(name, stations, wrong.count, errors.unknown.count, flush=True)
    costs = {name: cost(name) for name in COSTLY}
    draw_wifi_errors(rows)
    content = {"each": EACH, "errors": rows, "stations": COSTLY_STATIONS, "cost": costs}
    return {"wifi": content}


PARTS = {"wires": wires, "loop": loop, "wifi": wifi}


def cost(layout: str) -> dict[str, Any]:
    """Rates of the connection and of others in a layout, in those under LIA on the same networks."""
    drawn = [draw_wifi(number, SEED, LAYOUTS[layout], COSTLY_STATIONS) for number in range(EACH)]
    rates: dict[str, list[tuple[float, float]]] = {law: [] for law in ("lia", "lia+sbd", "reno")}
    for law, found in rates.items():
        for network in drawn:
            scenario = Scenario.written(network.document(law) | {"warmup": "10 s"})
            (one,) = run(scenario, (1,)).runs
            classes = np.asarray(one.flows.class_)
            goodput = np.asarray(one.flows.goodput_bps)
            mine = float(goodput[classes == SUBJECT].sum())
            found.append((mine, float(goodput.sum()) - mine))
    usual = np.array(rates["lia"])
    told = {}
    for law in ("lia+sbd", "reno"):
        own = np.array(rates[law])
        told[law] = {
            who: ratio_of_means(own[:, column].tolist(), usual[:, column].tolist()).to_json()
            for column, who in enumerate(("mine", "others"))
        }
    return told


def row(errors: Errors) -> dict[str, Any]:
    """Counts of a row of a table."""
    late = {
        word: {str(at): round(float(errors.over_time(shared)[at]), 4) for at in SHOWN_S}
        for word, shared in (("missed", True), ("false", False))
    }
    return {
        "misses": errors.misses.to_json(),
        "false_alarms": errors.false_alarms.to_json(),
        **late,
    }


def draw(of: dict[str, Errors]) -> None:
    """The characteristic of each detector, and its errors over time."""
    from anabranch import plot as plots

    characteristic = []
    for kind, errors in of.items():
        alarms, hits = errors.curve()
        characteristic.append(curve(kind, 100.0 * alarms, 100.0 * hits))
    panel = plots.Panel("", characteristic)
    labels = (
        "pairs without a common bottleneck that are said to share, %",
        "pairs that share, found, %",
    )
    note = f"{NETWORKS} networks, after 30 s"
    plots.save(plots.curves([panel], labels=labels, note=note), CURVE)
    panels = [
        plots.Panel(
            title,
            [curve(kind, SECONDS, 100.0 * of[kind].over_time(shared)[SECONDS]) for kind in of],
        )
        for title, shared in (("all paths share", True), ("no paths share", False))
    ]
    labels = ("time in s", "judged wrongly, %")
    plots.save(plots.curves(panels, labels=labels, note=f"{NETWORKS} networks"), TIME)


def draw_wifi_errors(rows: dict[str, Any]) -> None:
    """Wrong answers and answers that are not known, over the stations of others."""
    from anabranch import plot as plots

    panels = []
    for shared, title in ((True, "paths over one channel"), (False, "paths that share no channel")):
        curves = []
        for row in rows.values():
            if row["shared"] == shared:
                values = list(row["stations"].values())
                wrong = [percent_of(one["wrong"]) for one in values]
                curves.append(plots.Curve(row["title"], list(STATIONS), wrong))
        panels.append(plots.Panel(title, curves))
    labels = ("stations of others on each channel", "judged wrongly, %")
    note = f"{EACH} networks each, after 30 s"
    figure = plots.curves(panels, labels=labels, ticks=STATIONS, note=note)
    plots.save(figure, WIFI)


def percent_of(rate: dict[str, Any]) -> Interval:
    """A rate in percent."""
    return Interval(100.0 * rate["rate"], math.inf, 1)


SECONDS = np.arange(2, 31, 2)


def curve(label: str, x: NDArray[np.float64], y: NDArray[np.float64]) -> Any:
    """A curve without intervals, of at most so many points."""
    from anabranch import plot as plots

    keep = np.unique(np.linspace(0, len(x) - 1, MOST_POINTS).round().astype(int))
    return plots.Curve(label, x[keep].tolist(), [Interval(float(v), math.inf, 1) for v in y[keep]])


MOST_POINTS = 16


if __name__ == "__main__":
    main()
