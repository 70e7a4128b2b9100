"""The paper's figures redrawn, each with the statements of the text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import plot
from ...plot import style
from ...report import Figure, Section
from ...statistics import Interval, interval
from ..laboratory import Laboratory
from .configurations import BOTH, CALLED, COUPLE, LIA, POINTS, PRINTED, alone, bare, mobile, point
from .losses import CYCLE, in_cycles
from .reading import FLOW_PATHS, SUB0, SUB1, TCP, bins_kbps, competition
from .tables import beyond, hidden_losses, leaves_open, matrices, volumes, where
from .uncongested import volumes_mb

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

NUMBERS = {"sub1": 700.0, "tcp": 100.0}
"""The two numbers of the text, at a loss of 0.01 and a redundancy of 1.05."""
OUTAGE_S, AWAY_S = (25.0, 27.0), (20.0, 32.0)


def _rates(lab: Laboratory, controller: str, p: float, column: int) -> list[Interval]:
    return [interval(competition(lab, point(controller, p, r))[:, column]) for r in POINTS[p]]


def _have(lab: Laboratory, configurations: Sequence[str]) -> bool:
    return all(configuration in lab.results for configuration in configurations)


def _here(lab: Laboratory) -> list[float]:
    """Losses whose points have been run."""
    return [p for p in POINTS if _have(lab, [point(c, p, r) for c in BOTH for r in POINTS[p]])]


@style.styled
def against_redundancy(
    panels: Mapping[str, Sequence[plot.Curve]], title: str, mark: tuple[float, float, str] | None
) -> Drawing:
    """A panel for each loss over its redundancies; `mark` is a number of the text in the first."""
    figure, axes = style.panels(len(panels), 2.5, title)
    names: list[str] = []
    for ax, (heading, curves) in zip(axes, panels.items(), strict=True):
        for curve in curves:
            if curve.label not in names:
                names.append(curve.label)
            number = names.index(curve.label)
            half = [value.half if np.isfinite(value.half) else 0.0 for value in curve.y]
            means = [value.mean for value in curve.y]
            ax.errorbar(curve.x, means, half, capsize=3, elinewidth=1, **_look(number))
        ax.set_title(heading)
        ax.set_ylim(0, 1000)
        ax.set_xlim(1.0, 1.32)
        ax.set_ylabel("Rate (kb/s)")
    entries = [style.entry(name, **_look(number)) for number, name in enumerate(names)]
    if mark:
        look: dict[str, Any] = {"color": style.INK, "marker": "*", "linestyle": "none"}
        axes[0].plot([mark[0]], [mark[1]], markersize=13, zorder=5, **look)
        entries.append(style.entry(mark[2], markersize=11, **look))
    axes[-1].set_xlabel("Redundancy (packets sent per segment)")
    style.legend(figure, entries)
    return figure


MARKERS = ("o", "s", "^", "D")


def _look(number: int) -> dict[str, Any]:
    return {
        "color": style.colour(number // 2),
        "linestyle": style.line(number % 2),
        "marker": MARKERS[number % len(MARKERS)],
        "markersize": 5,
    }


def _figure9(lab: Laboratory) -> list[Figure]:
    panels = {
        f"Loss {p:g}, W = 6": [
            plot.Curve(f"subflow {column}, {CALLED[c]}", POINTS[p], _rates(lab, c, p, column))
            for column in (SUB0, SUB1)
            for c in BOTH
        ]
        for p in _here(lab)
    }
    if not panels:
        return []
    mark = (PRINTED[1], NUMBERS["sub1"], "the text: subflow 1, RTT Compensator")
    title = "Figure 9: the subflows in the competition period"
    caption = (
        "The text: with RTT Compensator subflow 1 gets around 700 kb/s at a redundancy of 1.05; with Couple+ the "
        "difference "
        "between the subflows is much larger."
    )
    return [Figure(caption, against_redundancy(panels, title, mark))]


def _figure10(lab: Laboratory) -> list[Figure]:
    panels = {
        f"Loss {p:g}, W = 6": [
            plot.Curve(f"TCP beside {CALLED[c]}", POINTS[p], _rates(lab, c, p, TCP)) for c in BOTH
        ]
        for p in _here(lab)
    }
    if not panels:
        return []
    mark = (PRINTED[1], NUMBERS["tcp"], "the text: less than this beside RTT Compensator")
    title = "Figure 10: the TCP in the competition period"
    caption = "The text: the TCP has less than 100 kb/s in the same case; with Couple+ it is much better off."
    return [Figure(caption, against_redundancy(panels, title, mark))]


@style.styled
def instantaneous(lab: Laboratory, controller: str, title: str) -> Drawing:
    """Both subflows and the TCP in pieces of 1 s: mean over replications with its interval, and one
    of them.
    """
    result = lab[mobile(controller)]
    figure, axes = style.panels(3, 2.2, title)
    names = ("(a) subflow 0 over 4G", "(b) subflow 1 over Wi-Fi", "(c) TCP")
    for number, (ax, name, path) in enumerate(zip(axes, names, FLOW_PATHS, strict=True)):
        bins = bins_kbps(result, path)
        t_s = np.arange(bins.shape[1]) + 0.5
        values = [interval(column) for column in bins.T]
        mean = np.array([value.mean for value in values])
        half = np.array([value.half if np.isfinite(value.half) else 0.0 for value in values])
        ax.axvspan(*AWAY_S, color="#eeeeee", zorder=0, linewidth=0)
        ax.axvspan(*OUTAGE_S, color="#cccccc", zorder=0, linewidth=0)
        ax.plot(t_s, bins[0], color=style.FAINT, linewidth=0.9)
        ax.plot(t_s, mean, color=style.colour(number), linewidth=1.8)
        ax.fill_between(
            t_s, mean - half, mean + half, color=style.colour(number), alpha=0.25, linewidth=0
        )
        ax.set_title(name)
        ax.set_ylim(0, max(1050.0, 1.05 * float(mean.max())))
        ax.set_ylabel("Rate (kb/s)")
    axes[-1].set_xlabel("Time (s)")
    entries = [
        style.entry("mean and 95 % interval", color=style.INK, linewidth=1.8),
        style.entry(f"seed {result.seeds[0]}", color=style.FAINT, linewidth=0.9),
        style.entry("away", color="#eeeeee", linewidth=8),
        style.entry("no Wi-Fi at all", color="#cccccc", linewidth=8),
    ]
    style.legend(figure, entries)
    return figure


def _mobile(lab: Laboratory) -> list[Figure]:
    figures = {12: COUPLE, 13: LIA}
    captions = {
        12: "The text: throughput of subflow 1 starts to fall after 20 s; Couple+ finds the abnormal loss in time. Payload is "
        "counted when it is decoded, so that a second after a stall may have more than a link carries.",
        13: "The text: the lowest throughput of subflow 1 is higher than with Couple+; the sender keeps a large window.",
    }
    return [
        Figure(
            captions[n],
            instantaneous(lab, c, f"Figure {n}: instantaneous throughput with {CALLED[c]}"),
        )
        for n, c in figures.items()
        if mobile(c) in lab.results
    ]


@style.styled
def cycles(lab: Laboratory) -> Drawing:
    """Distribution of the packets lost in a cycle, on the sparse channel and on denser ones, on a
    logarithmic scale.
    """
    configurations = {
        "in the long run 0.005, sparse": "measurement",
        "0.01": "measurement-p0.01",
        "0.05": "measurement-p0.05",
    }
    title = f"Figure 7: losses in a redundant cycle of {CYCLE} packets, UDP over Wi-Fi"
    figure, (ax,) = style.panels(1, 3.4, title)
    width = 0.26
    for number, configuration in enumerate(configurations.values()):
        counts = in_cycles(lab, configuration)[:, :6]
        parts = counts / in_cycles(lab, configuration).sum(axis=1, keepdims=True)
        values = [interval(column) for column in parts.T]
        x = np.arange(6) + (number - 1) * width
        heights = [value.mean for value in values]
        halves = [value.half if np.isfinite(value.half) else 0.0 for value in values]
        low = np.minimum(halves, np.array(heights) * 0.9).tolist()
        ax.bar(x, heights, width * 0.9, color=style.colour(number))
        ax.errorbar(
            x, heights, [low, halves], fmt="none", ecolor=style.INK, elinewidth=1, capsize=2
        )
    ax.set_yscale("log")
    ax.set_ylim(1e-5, 1.5)
    ax.set_ylabel("Part of the cycles")
    ax.set_xlabel(f"Lost packets in a cycle of {CYCLE}")
    ax.set_xticks(range(6))
    entries = [
        style.entry(f"loss {name}", color=style.colour(n), linewidth=7)
        for n, name in enumerate(configurations)
    ]
    style.legend(figure, entries)
    return figure


def _figure7(lab: Laboratory) -> list[Figure]:
    if not _have(lab, ["measurement", "measurement-p0.01", "measurement-p0.05"]):
        return []
    caption = (
        "The text: where there is a loss it is one with extremely high probability, and none on a wired link. So it is "
        "where losses "
        "are sparse, and not at the losses of the simulations."
    )
    return [Figure(caption, cycles(lab))]


@style.styled
def volume_curves(lab: Laboratory, losses: Sequence[float]) -> Drawing:
    """Volumes and rates of the subflows over redundancy, and of standard MPTCP as lines."""
    title = "Figure 14: volume of each subflow without the TCP"
    figure, axes = style.panels(len(losses), 2.5, title)
    for ax, p in zip(axes, losses, strict=True):
        for column in (SUB0, SUB1):
            values = [interval(volumes_mb(lab, alone(COUPLE, p, r))[:, column]) for r in POINTS[p]]
            half = [v.half if np.isfinite(v.half) else 0.0 for v in values]
            means = [v.mean for v in values]
            ax.errorbar(POINTS[p], means, half, capsize=3, elinewidth=1, **_look(2 * column))
            plain = interval(volumes_mb(lab, bare(p))[:, column])
            ax.plot(
                [1.0, 1.32], [plain.mean] * 2, color=style.colour(column), linestyle=style.line(1)
            )
        ax.set_title(f"Loss {p:g}, W = 6")
        ax.set_ylim(0, 5.2)
        ax.set_xlim(1.0, 1.32)
        ax.set_ylabel("Volume (MB)")
    axes[-1].set_xlabel("Redundancy (packets sent per segment)")
    entries = [style.entry(f"Couple+, subflow {c}", **_look(2 * c)) for c in (SUB0, SUB1)]
    entries += [
        style.entry(f"subflow {c} without coding", color=style.colour(c), linestyle=style.line(1))
        for c in (SUB0, SUB1)
    ]
    style.legend(figure, entries)
    return figure


def _figure14(lab: Laboratory) -> list[Figure]:
    losses = [
        p
        for p in POINTS
        if _have(lab, [bare(p), *(alone(c, p, r) for c in BOTH for r in POINTS[p])])
    ]
    if not losses:
        return []
    rates = {
        f"Loss {p:g}, W = 6": [
            *(
                plot.Curve(
                    f"subflow 1, {CALLED[c]}, coded",
                    POINTS[p],
                    [interval(competition(lab, alone(c, p, r))[:, SUB1]) for r in POINTS[p]],
                )
                for c in BOTH
            ),
            plot.Curve(
                "subflow 1 without coding",
                POINTS[p],
                [interval(competition(lab, bare(p))[:, SUB1])] * len(POINTS[p]),
            ),
        ]
        for p in losses
    }
    volume = "The text: subflow 1 carries little without coding, since losses of the air often reduce its window."
    rate = "The text: its throughput is much higher with coding."
    return [
        Figure(volume, volume_curves(lab, losses)),
        Figure(
            rate,
            against_redundancy(rates, "Beside Figure 14: rates of subflow 1 without the TCP", None),
        ),
    ]


def sections(lab: Laboratory) -> list[Section]:
    """Figures and tables for the configurations that have been run."""
    found = [
        Section("Losses in a redundant cycle", "", (), _figure7(lab)),
        Section(
            "Subflows and TCP in the competition period",
            "",
            [*leaves_open(lab), *beyond(lab), *where(lab)],
            [*_figure9(lab), *_figure10(lab)],
        ),
        Section("The mobile terminal", "", (), _mobile(lab)),
        Section("Without the TCP", "", volumes(lab), _figure14(lab)),
        Section(
            "What is sensed of losses, and what they are taken for",
            "",
            [*matrices(lab), *hidden_losses(lab)],
        ),
    ]
    return [section for section in found if section.tables or section.figures]
