"""The chapter's figures again: distributions of throughput, windows and queues over time, retries
and failures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import plot
from ...plot import style
from ...report import Cell, Figure, Section, Table
from ...statistics import interval
from ..laboratory import Laboratory
from .added import BDP
from .configurations import (
    BANDS,
    CANDIDATES,
    COUPLED,
    DOWN,
    FIXED,
    OPEN,
    RENO,
    UP,
    other,
    solution,
    two,
    window,
)
from .downlink import DISTURBED_S
from .logs import send_queues
from .reading import (
    CALLED,
    FLOWS,
    MULTIPATH,
    PARALLEL,
    Floats,
    interfaces,
    mbps,
    multipath,
    parallel,
    samples_mbps,
    share,
    total,
    windows_bytes,
)
from .uplink import fixed
from .wishes import shares_on_air

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

LOADED_S = 0.02
"""Round trip of the chapter's bandwidth-delay product."""
CLOSE_S = 40.0
"""Length of the figures of windows on the uplink."""
SUM = "MPTCP sum"
LOOKS = {name: (0, number) for number, name in enumerate((SUM, *CALLED[:2]))}
LOOKS |= {name: (1 + number, 0) for number, name in enumerate(CALLED[2:])}
"""Colour and line style by name: one colour for the multipath client, one for each
parallel flow.
"""


def pieces(lab: Laboratory, configuration: str) -> dict[str, Floats]:
    """Throughput of all flows and the multipath sum in pieces of 1 s, of all replications
    together.
    """
    flows = {
        name: np.array(samples_mbps(lab[configuration], *flow))
        for name, flow in zip(CALLED, FLOWS, strict=True)
    }
    together = {SUM: flows[CALLED[0]] + flows[CALLED[1]], **flows}
    return {name: values.ravel() for name, values in together.items()}


@style.styled
def distributions(panels: Mapping[str, Mapping[str, Floats]], title: str) -> Drawing:
    """A panel of distribution functions for each entry."""
    figure, axes = style.panels(len(panels), 2.7, title)
    for ax, (heading, curves) in zip(axes, panels.items(), strict=True):
        for name, values in curves.items():
            ax.ecdf(values, **_look(name))
        ax.set_title(heading)
        ax.set_ylim(0, 1.02)
        ax.grid(axis="x")
        ax.set_ylabel("Fraction of time")
    axes[-1].set_xlim(left=0)
    axes[-1].set_xlabel("Throughput in pieces of 1 s (Mb/s)")
    style.legend(figure, [style.entry(name, **_look(name)) for name in LOOKS])
    return figure


def _look(name: str) -> dict[str, Any]:
    colour, line = LOOKS[name]
    width = 2.2 if name == SUM else 1.4
    return {"color": style.colour(colour), "linestyle": style.line(line), "linewidth": width}


def _cdf(
    lab: Laboratory, configurations: Mapping[str, str], title: str, caption: str
) -> list[Figure]:
    here = {
        heading: pieces(lab, configuration)
        for heading, configuration in configurations.items()
        if configuration in lab.results
    }
    return [Figure(caption, distributions(here, title))] if here else []


def _fairness(lab: Laboratory) -> list[Figure]:
    """The chapter's first figure, for each pair of bands that has been run."""
    found = []
    for bands in BANDS:
        configurations = {f"{d}link": two(d, COUPLED, bands) for d in (DOWN, UP)}
        found += _cdf(
            lab,
            configurations,
            f"Traffic on downlink and uplink with Coupled, {bands} GHz",
            "The text: on the downlink the MPTCP sum is close to a parallel flow, on the uplink each subflow is.",
        )
    return found


@style.styled
def over_time(lab: Laboratory, configuration: str) -> Drawing:
    """Mean throughput of all flows over time, other clients shaded."""
    result = lab[configuration]
    title = f"Cross-band downlink with Coupled, mean of {len(result.runs)} replications"
    figure, axes = style.panels(2, 2.4, title)
    for place, (ax, band) in enumerate(zip(axes, ("2.4 GHz", "5 GHz"), strict=True)):
        for index in (place, place + 2):
            rates = np.mean(samples_mbps(result, *FLOWS[index]), axis=0)
            t_s = result.plan.warmup_s + np.arange(len(rates)) + 0.5
            ax.plot(t_s, rates, **_look(CALLED[index]))
        for start, end in DISTURBED_S:
            ax.axvspan(start, end, color="#eeeeee", zorder=0, linewidth=0)
        ax.set_title(band)
        ax.set_ylim(bottom=0)
        ax.set_ylabel("Throughput (Mb/s)")
    axes[-1].set_xlabel("Time (s)")
    entries = [style.entry(name, **_look(name)) for name in CALLED]
    shade = style.entry("others use 5 GHz", color="#e3e3e3", linewidth=8)
    style.legend(figure, [*entries, shade])
    return figure


def _cross_band(lab: Laboratory) -> list[Figure]:
    if "cross-band" not in lab.results:
        return []
    caption = (
        "The text: Coupled effectively uses the 2.4 GHz link only when the 5 GHz network sees lowered throughput for "
        "periods due to other clients."
    )
    return [Figure(caption, over_time(lab, "cross-band"))]


def _windows(lab: Laboratory, configuration: str, rtt_s: float, caption: str) -> list[Figure]:
    """Window and bandwidth-delay product over time."""
    if configuration not in lab.results:
        return []
    start_s = lab[configuration].plan.warmup_s
    options: dict[str, Any] = {"start_s": start_s, "end_s": start_s + CLOSE_S, "log": False}
    names = (MULTIPATH, PARALLEL[0])
    return [
        Figure(caption, plot.inflation(lab[configuration], classes=names, rtt_s=rtt_s, **options))
    ]


@style.styled
def against_product(lab: Laboratory, configuration: str) -> Drawing:
    """Windows of all flows over time with 100 ms added, and the chapter's bandwidth-delay
    product.
    """
    result = lab[configuration]
    title = f"Windows with 100 ms added to the round trip, Coupled, seed {result.seeds[0]}"
    figure, axes = style.panels(len(FLOWS), 1.7, title)
    for index, ax in enumerate(axes):
        windows = windows_bytes(lab, configuration, index)[0] / 1e3
        t_s = result.plan.warmup_s + np.arange(len(windows)) * result.plan.sample_s
        ax.plot(t_s, windows, **_drawn(0))
        ax.axhline(BDP, **_product())
        ax.set_title(CALLED[index])
        ax.set_ylim(bottom=0)
        ax.set_ylabel("Window (kB)")
    axes[-1].set_xlabel("Time (s)")
    product = style.entry(f"bandwidth-delay product: 120 ms at 10 Mb/s = {BDP:g} kB", **_product())
    style.legend(figure, [style.entry("congestion window", **_drawn(0)), product])
    return figure


def _product() -> dict[str, Any]:
    return {"color": style.INK, "linestyle": style.line(1)}


def _queues(lab: Laboratory, configuration: str, caption: str) -> list[Figure]:
    """Queue, retries and failures of the interfaces in the first network."""
    if configuration not in lab.results:
        return []
    names, start_s = ["first/client", "first/other-1"], lab[configuration].plan.warmup_s
    return [Figure(caption, plot.stations(lab[configuration], stations=names, start_s=start_s))]


@style.styled
def unacknowledged(seed: int) -> Drawing:
    """Window and send queue of both subflows on the downlink."""
    title = f"Window and unacknowledged data on the downlink with Coupled, seed {seed}"
    figure, axes = style.panels(2, 2.2, title)
    for place, (ax, queue) in enumerate(zip(axes, send_queues(seed), strict=True)):
        ax.plot(queue.t_s, queue.window_bytes / 1e3, **_drawn(0))
        ax.plot(queue.t_s, queue.sent_bytes / 1e3, **_drawn(1))
        ax.set_title(f"{CALLED[place]}: median difference {100 * queue.difference:.1f} %")
        ax.set_ylim(bottom=0)
        ax.set_ylabel("kB of payload")
    axes[-1].set_xlabel("Time (s)")
    names = ("congestion window", "send queue (unacknowledged)")
    style.legend(figure, [style.entry(name, **_drawn(i)) for i, name in enumerate(names)])
    return figure


def _drawn(number: int) -> dict[str, Any]:
    return {"color": style.colour(number), "linestyle": style.line(number)}


def _send_queue(lab: Laboratory) -> list[Figure]:
    configuration = two(DOWN, COUPLED)
    if configuration not in lab.results:
        return []
    caption = "The text: the send queue is indeed plotted, but is generally exactly equal to the congestion window."
    return [Figure(caption, unacknowledged(lab[configuration].seeds[0]))]


def _sweep(lab: Laboratory) -> list[Figure]:
    """Throughput over an imposed window."""
    here = [bdps for bdps in FIXED if window(bdps) in lab.results]
    if len(here) < 2:
        return []
    curves = [plot.Curve("client, both interfaces", here, [interval(fixed(lab, b)) for b in here])]
    theirs = [interval(sum(lab[window(b)].rate(name) for name in PARALLEL) / 1e6) for b in here]
    curves.append(plot.Curve("parallel flows, both", here, theirs))
    figure = plot.curves(
        [plot.Panel("", curves)],
        title="Throughput on the uplink over a window that is imposed on the client",
        labels=("Window (bandwidth-delay products of 25 kB)", "Throughput (Mb/s)"),
        log=True,
        ticks=FIXED,
    )
    return [Figure("Throttling helps others only while the window governs what is sent.", figure)]


Rows = list[list[str | Cell]]


def _table(caption: str, head: Sequence[str], rows: Rows) -> list[Table]:
    return [Table(caption, list(head), rows)] if rows else []


def _shares(lab: Laboratory) -> list[Table]:
    """Every configuration of two networks with Coupled and New Reno."""
    settings = {f"{d}link, {bands} GHz": (d, bands) for d in (DOWN, UP) for bands in BANDS}
    names = {
        label: [two(d, c, bands) for c in (COUPLED, RENO)] for label, (d, bands) in settings.items()
    }
    names["uplink, 100 ms added"] = [f"up-100-{c}" for c in (COUPLED, RENO)]
    names["downlink, first network slower"] = [f"slow-{c}" for c in (COUPLED, RENO)]
    names["uplink, slow lines"] = ["deep", "deep-reno"]
    rows: Rows = []
    for label, configurations in names.items():
        if not all(configuration in lab.results for configuration in configurations):
            continue
        row: list[str | Cell] = [label]
        for configuration in configurations:
            ratio = interval(multipath(lab, configuration) / parallel(lab, configuration))
            row += [
                str(interval(share(lab, configuration))),
                str(ratio),
                str(interval(total(lab, configuration))),
            ]
        rows.append(row)
    head = ["setting"]
    for name in ("Coupled", "New Reno"):
        head += [f"share, {name}", "sum / parallel", "all flows, Mb/s"]
    return _table(
        "The multipath client's share of all traffic; a third is fair, a half is not", head, rows
    )


def _air(lab: Laboratory) -> list[Table]:
    """Counters of the interfaces of the four flows."""
    rows: Rows = []
    configurations = {"Coupled": two(UP, COUPLED), "New Reno": two(UP, RENO)}
    configurations |= {
        f"{name}, 100 ms added": f"up-100-{c}"
        for name, c in (("Coupled", COUPLED), ("New Reno", RENO))
    }
    for name, configuration in configurations.items():
        if configuration not in lab.results:
            continue
        air, packets = shares_on_air(lab, configuration)
        counts = {
            m: interfaces(lab, configuration, m)
            for m in ("attempts", "unanswered", "failed_packets", "empty")
        }
        for i, flow in enumerate(CALLED):
            columns = [air[:, i], packets[:, i]]
            columns.append(counts["unanswered"][:, i] / counts["attempts"][:, i])
            columns += [counts["failed_packets"][:, i], counts["empty"][:, i]]
            rows.append([f"{name}: {flow}", *(str(interval(values)) for values in columns)])
    head = [
        "interface of",
        "airtime of data",
        "packets",
        "failed attempts",
        "packets given up",
        "queue empty",
    ]
    return _table(
        "MAC shares in each network on the uplink; the access point has the rest", head, rows
    )


def _candidates(lab: Laboratory) -> list[Table]:
    rows: Rows = []
    for name in CANDIDATES:
        configuration = solution(name)
        if configuration in lab.results:
            values = (
                share(lab, configuration),
                multipath(lab, configuration),
                parallel(lab, configuration),
                total(lab, configuration),
            )
            rows.append([name, *(str(interval(v)) for v in values)])
    head = ["candidate", "share", "multipath, Mb/s", "a parallel flow, Mb/s", "all flows, Mb/s"]
    return _table(
        "What could restore the feedback on the uplink, at the multipath client's host", head, rows
    )


def _open(lab: Laboratory) -> list[Table]:
    """Effect of open parameters."""
    rows: Rows = []
    variants = {"as chosen": [two(UP, COUPLED), two(UP, RENO), "up-100-lia", "up-100-reno"]}
    variants |= {
        v: [other(v, added, c) for added in (False, True) for c in (COUPLED, RENO)] for v in OPEN
    }
    for name, configurations in variants.items():
        if not all(configuration in lab.results for configuration in configurations):
            continue
        row: list[str | Cell] = [name]
        for configuration in configurations:
            row += [str(interval(share(lab, configuration)))]
        far = configurations[2]
        best = np.maximum(mbps(lab, far, 2), mbps(lab, far, 3))
        row.append(str(interval(multipath(lab, far) / best)))
        rows.append(row)
    head = [
        "variant",
        "Coupled",
        "New Reno",
        "Coupled, 100 ms",
        "New Reno, 100 ms",
        "sum / best parallel, Coupled, 100 ms",
    ]
    return _table("Share on the uplink where one open parameter is set otherwise", head, rows)


def _added(lab: Laboratory) -> list[Figure]:
    """The figure with 100 ms added."""
    configurations = {"as it is": two(UP, COUPLED), "100 ms added": "up-100-lia"}
    found = _cdf(
        lab,
        configurations,
        "Uplink with 100 ms added to the round trip, Coupled",
        "The text: the increased round trip should not affect throughput as drastically, and Coupled should not do worse "
        "than a New Reno flow.",
    )
    if "up-100-lia" not in lab.results:
        return found
    caption = (
        "The text: the window is never getting close to the product of the real round trip with 100 ms and the throughput "
        "without. The same is the case for the other subflow and the two parallel flows."
    )
    return [*found, Figure(caption, against_product(lab, "up-100-lia"))]


def sections(lab: Laboratory) -> list[Section]:
    """Figures and tables for the configurations that have been run."""
    close = (
        "The text: the congestion window is much greater than the bandwidth-delay product, 25 kB for 20 ms at 10 Mb/s. "
        "Here the product is of 20 ms and the flow's own throughput."
    )
    air = "The interface's queue over time, what it sends in vain, and packets that it gives up: it very rarely drops one."
    up = two(UP, COUPLED)
    found = [
        Section("Traffic on downlink and uplink", "", _shares(lab), _fairness(lab)),
        Section("Cross-band downlink", "", (), _cross_band(lab)),
        Section("Send queue on the downlink", "", (), _send_queue(lab)),
        Section(
            "Windows and queues on the uplink",
            "",
            _air(lab),
            [*_windows(lab, up, LOADED_S, close), *_queues(lab, up, air), *_sweep(lab)],
        ),
        Section("100 ms added to the round trip", "", (), _added(lab)),
        Section("Remedies and open parameters", "", [*_candidates(lab), *_open(lab)]),
    ]
    return [section for section in found if section.tables or section.figures]
