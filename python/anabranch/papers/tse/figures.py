"""The thesis' figures redrawn: measured curves with the fair line, the band of a claim and the
values in the text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ... import plot
from ...report import Cell, Figure, Section, Table
from ...statistics import interval
from ..laboratory import Laboratory
from . import summary
from .configurations import (
    BILEVEL,
    BOTH,
    BUSY_PATHS,
    CAPACITIES,
    CONTESTED,
    FIRST,
    FRACTION,
    MOST,
    PATHS,
    RATES,
    SECOND,
    SECOND_LOSS,
    SECOND_MBPS,
    SECOND_MS,
    TCP,
    USERS,
    on_two_paths,
    placed_worst,
)
from .definitions import optimal_units
from .independent import UNIT_MBPS
from .paper import (
    BASE,
    HACKER,
    MISPLACED,
    NAIVE,
    NAMES,
    ROBUST,
    ROBUST_PATHS,
    ROBUST_QUEUES,
    SHARING,
    SWITCHING,
    TRIAL,
    independent_name,
    shared_name,
)
from .reading import Floats, share, taken, used
from .twopaths import MARGIN, half_of_larger, used_mbps

QUEUE_WORDS = {"red": "RED", "drop-tail": "drop-tail"}


def _curve(
    lab: Laboratory, label: str, configurations: Mapping[float, str], of: Callable[[str], Floats]
) -> list[plot.Curve]:
    """A curve over the configurations that have been run, if there are enough for one."""
    here = {
        x: configuration
        for x, configuration in configurations.items()
        if configuration in lab.results
    }
    if len(here) < 2:
        return []
    return [
        plot.Curve(
            label, list(here), [interval(of(configuration)) for configuration in here.values()]
        )
    ]


def _flat(label: str, x: Sequence[float], value: float) -> plot.Line:
    return plot.Line(label, [min(x), max(x)], [value, value])


def _band(x: Sequence[float], low: float, high: float, of: str = "band of the claim") -> plot.Band:
    return plot.Band(of, [min(x), max(x)], [low, low], [high, high])


def _drawn(caption: str, panels: list[plot.Panel], **options: Any) -> list[Figure]:
    """A figure, if there is anything in it."""
    drawn = [panel for panel in panels if panel.curves]
    return [Figure(caption, plot.curves(drawn, **options))] if drawn else []


def _figure3(lab: Laboratory, queue: str, number: str, text: str) -> list[Figure]:
    """Naive and borrowing over paths, a panel for each."""
    panels = []
    for controller, name in ((NAIVE, "naive"), (BASE, "with borrowing and returning")):
        curves = []
        for mbps in CAPACITIES:
            configurations = {float(n): shared_name(controller, n, queue, mbps) for n in PATHS}
            curves += _curve(
                lab,
                f"{mbps:g} Mb/s",
                configurations,
                lambda configuration: share(lab, configuration),
            )
        bands = (_band(PATHS, 0.45, 0.55),) if controller == BASE else ()
        panels.append(
            plot.Panel(
                f"Multi-Priority TCP, {name}", curves, (_flat("fair share", PATHS, 0.5),), bands
            )
        )
    return _drawn(
        f"Figure {number}. {text}",
        panels,
        title=f"Figure {number}: share of a {QUEUE_WORDS[queue]} link beside one TCP",
        labels=("Paths of the ensemble", "Share of all traffic"),
        ticks=PATHS,
    )


def _figure4_2(lab: Laboratory) -> list[Figure]:
    curves = []
    for controller in (BASE, BILEVEL, HACKER, FRACTION, TCP, "bilevel", "mtcp"):
        configurations = {float(n): shared_name(controller, n) for n in PATHS}
        curves += _curve(
            lab, NAMES[controller], configurations, lambda configuration: share(lab, configuration)
        )
    return _drawn(
        "Figure 4-2. The text: Multi-Priority TCP and Bilevel TFRC show nearly perfect fairness, reduced aggression takes "
        "more with every path; mTCP, if it detects the bottleneck, is one TCP.",
        [plot.Panel("", curves, (_flat("fair share", PATHS, 0.5),), (_band(PATHS, 0.45, 0.55),))],
        title="Figure 4-2: share of a RED link of 5 Mb/s beside one TCP",
        labels=("Paths of the ensemble", "Share of all traffic"),
        ticks=PATHS,
    )


def _figure4_4(lab: Laboratory) -> list[Figure]:
    if independent_name(TCP, 1, 0) not in lab.results:
        return []
    one = taken(lab, independent_name(TCP, 1, 0))
    curves = []
    for controller in (BASE, BILEVEL, HACKER, FRACTION, TCP):
        configurations = {float(n): independent_name(controller, n, 0) for n in PATHS}
        curves += _curve(
            lab,
            NAMES[controller],
            configurations,
            lambda configuration: taken(lab, configuration) / one,
        )
    bilevel = plot.Band("band of Bilevel TFRC at 16", [15.7, 16.3], [11.5, 11.5], [14.3, 14.3])
    return _drawn(
        "Figure 4-4. The text: Multi-Priority TCP and reduced aggression scale like an optimal scheme, fractional TFRC takes "
        "slightly more than independent TCPs, Bilevel TFRC is 13 times a TCP with sixteen paths.",
        [plot.Panel("", curves, (plot.Line("linear", PATHS, PATHS),), (bilevel,))],
        title="Figure 4-4: throughput over empty paths of 5 Mb/s",
        labels=("Paths", "Throughput (single TCPs)"),
        ticks=PATHS,
    )


def _figure4_5(lab: Laboratory) -> list[Figure]:
    curves = []
    for controller in (BASE, BILEVEL, HACKER, TCP):
        configurations = {float(k): independent_name(controller, MOST, k) for k in CONTESTED}
        curves += _curve(
            lab,
            NAMES[controller],
            configurations,
            lambda configuration: taken(lab, configuration) / UNIT_MBPS,
        )
    line = plot.Line(
        "eq. 1.4, links filled by a TCP", CONTESTED, [optimal_units(k) for k in CONTESTED]
    )
    return _drawn(
        "Figure 4-5. The text: Multi-Priority TCP and Bilevel TFRC converge to one TCP's worth when all paths are contested, "
        "reduced aggression stays above, mTCP (a TCP on each path) has sixteen.",
        [plot.Panel("", curves, (line,))],
        title="Figure 4-5: throughput over sixteen paths, some with a TCP",
        labels=("Paths with a TCP", "Throughput (fair shares of 2.5 Mb/s)"),
        ticks=CONTESTED,
    )


def _two(
    lab: Laboratory,
    what: str,
    values: Sequence[float],
    schemes: Sequence[tuple[str, str, str]],
    of: Callable[[str], Floats],
) -> list[plot.Curve]:
    """Curves over a setting of two paths: controller, base path and label of each."""
    curves = []
    for controller, base, label in schemes:
        configurations = {float(v): on_two_paths(controller, what, v, base) for v in values}
        curves += _curve(lab, label, configurations, of)
    return curves


PLACED = (
    (BASE, FIRST, "Multi-Priority (1)"),
    (BASE, SECOND, "Multi-Priority (2)"),
    (BILEVEL, FIRST, NAMES[BILEVEL]),
    (HACKER, FIRST, "reduced aggression (1)"),
    (HACKER, SECOND, "reduced aggression (2)"),
    (FRACTION, FIRST, NAMES[FRACTION]),
    (TCP, FIRST, NAMES[TCP]),
)
"""Schemes with both places of the base flow."""


def _figure4_6(lab: Laboratory) -> list[Figure]:
    def of(configuration: str) -> Floats:
        rates_bps = lab[configuration].rates_bps
        return np.asarray(1e6 * taken(lab, configuration) / (rates_bps[FIRST] + rates_bps[SECOND]))

    curves = _two(lab, "capacity", SECOND_MBPS, PLACED, of)
    line = plot.Line(
        "half of the larger path", SECOND_MBPS, [half_of_larger(c) for c in SECOND_MBPS]
    )
    near = plot.Band(
        "band of the right placement",
        SECOND_MBPS,
        [half_of_larger(c) - MARGIN for c in SECOND_MBPS],
        [half_of_larger(c) + MARGIN for c in SECOND_MBPS],
    )
    return _drawn(
        "Figure 4-6. The text: no more than half of the larger path; with its base flow on the smaller one Multi-Priority TCP "
        "gets far less; Bilevel TFRC takes a third at equal paths. (1) and (2): the path of the base flow.",
        [plot.Panel("", curves, (line,), (near,))],
        title="Figure 4-6: two paths with a TCP each, the first of 5 Mb/s",
        labels=("Capacity of the second path (Mb/s)", "Part of both capacities"),
        ticks=SECOND_MBPS,
    )


def _figure4_7(lab: Laboratory) -> list[Figure]:
    schemes = [row for row in PLACED if row[1] == FIRST and row[0] != TCP]
    curves = _two(lab, "delay", SECOND_MS, schemes, lambda configuration: share(lab, configuration))
    near = _band(SECOND_MS, 0.2, 0.3, "band of Multi-Priority")
    said = plot.Line("Bilevel TFRC by the text", (25, 100, 150), (0.33, 0.25, 0.2))
    return _drawn(
        "Figure 4-7. The text: Multi-Priority TCP stays at 25 %, reduced aggression is flat and above it, Bilevel "
        "TFRC falls from 33 % over 25 % at a difference of 300 % (here drawn at 100 ms) to 20 % at 600 %.",
        [plot.Panel("", curves, (_flat("stringently fair", SECOND_MS, 0.25), said), (near,))],
        title="Figure 4-7: two paths with a TCP each, the first of 25 ms one way",
        labels=("One-way delay of the second path (ms)", "Share of all traffic"),
        ticks=SECOND_MS[:1] + SECOND_MS[2:],
    )


def _figure4_8(lab: Laboratory) -> list[Figure]:
    schemes = [row for row in PLACED if (row[0], row[1]) != (HACKER, SECOND) and row[0] != TCP]
    curves = _two(
        lab, "loss", SECOND_LOSS, schemes, lambda configuration: share(lab, configuration)
    )
    for curve in list(curves):
        curves[curves.index(curve)] = plot.Curve(curve.label, [100 * x for x in curve.x], curve.y)
    fair = {}
    for p in SECOND_LOSS:
        configuration = on_two_paths(TCP, "loss", p)
        if configuration in lab.results:
            clean, lossy = (used_mbps(lab, configuration, path) for path in BOTH)
            fair[100 * p] = float((clean / 2 / (clean + lossy)).mean())
    lines = (
        (plot.Line("half of the clean path (simulated)", list(fair), list(fair.values())),)
        if fair
        else ()
    )
    percent = [100 * p for p in SECOND_LOSS]
    return _drawn(
        "Figure 4-8. The text: half of the clean path is 25 % of all traffic at 0.1 % and around 40 % at 10 % loss; reduced "
        "aggression takes most; Multi-Priority TCP (2), whose base flow is on the lossy path, 8 % at 10 % loss; Bilevel TFRC "
        "begins at a third and tends to the fair line.",
        [plot.Panel("", curves, lines)],
        title="Figure 4-8: two paths with a TCP each, random loss on the second",
        labels=("Random loss of the second path (%)", "Share of all traffic"),
        log=True,
        ticks=percent,
    )


def _figure4_10(lab: Laboratory) -> list[Figure]:
    curves = []
    for mbps in RATES:
        configurations = {float(m): placed_worst(m, mbps) for m in BUSY_PATHS}
        curves += _curve(
            lab,
            f"{mbps:g} Mb/s",
            configurations,
            lambda configuration: used(lab, configuration, "empty", "contested"),
        )
    last = max(BUSY_PATHS)
    end = _band((last - 0.3, last + 0.3), 0.48, 0.8, "band at 16 paths")
    return _drawn(
        "Figure 4-10. The text: the part of the optimum that all flows use falls towards 50 % as more paths of Bilevel "
        "TFRC are put on the contested link, faster at higher rates.",
        [plot.Panel("", curves, (_flat("asymptote", BUSY_PATHS, 0.5),), (end,))],
        title="Figure 4-10: Bilevel TFRC with one path over an empty link",
        labels=("Paths over the contested link", "Part of both links that is used"),
        ticks=BUSY_PATHS,
    )


def _figure4_11(lab: Laboratory) -> list[Figure]:
    schemes = (
        (BASE, FIRST, "base flow contested"),
        (BASE, SECOND, "background flow contested"),
        (SWITCHING, SECOND, "the same, switching"),
        (TRIAL, SECOND, "the same, trial"),
    )
    curves = _two(lab, "users", USERS, schemes, lambda configuration: share(lab, configuration))
    lines = (
        plot.Line("(1 + 1/(m+1))/2", USERS, [(1 + 1 / (m + 1)) / 2 for m in USERS]),
        _flat("half", USERS, 0.5),
    )
    near = _band(USERS[1:], 0.45, 0.55, "band, background contested")
    return _drawn(
        "Figure 4-11. The text: with m TCPs on the base flow's path 1/(m+1) of that path and all of the empty one, two "
        "thirds at m = 2; with them on the background flow's path a flat 50 %. Where the base may move, it begins on the "
        "empty path.",
        [plot.Panel("", curves, lines, (near,))],
        title="Figure 4-11: two equal paths, TCPs on one of them",
        labels=("TCPs on the contested path", "Share of all traffic"),
        ticks=USERS,
    )


def _placements(lab: Laboratory) -> list[Table]:
    """Recovery by a base flow that moves, compared with the thesis' static placement."""
    rows: list[list[str | Cell]] = []
    for what, value, good, bad in MISPLACED:
        names = (
            on_two_paths(BASE, what, value, good),
            *(on_two_paths(c, what, value, bad) for c in (BASE, SWITCHING, TRIAL)),
        )
        if all(name in lab.results for name in names):
            label = f"{what} {100 * value:g} %" if what == "loss" else f"{what} {value:g}"
            rows.append([label, *(str(interval(taken(lab, name))) for name in names)])
    head = ["setting", "base right, stays", "wrong, stays", "wrong, switching", "wrong, trial"]
    return (
        [
            Table(
                "Mb/s of Multi-Priority TCP; the base flow begins on the wrong path but in the first column",
                head,
                rows,
            )
        ]
        if rows
        else []
    )


def _matrix(lab: Laboratory) -> list[Table]:
    """Schemes by experiments: stringent violations and utilisation."""
    schemes = (BASE, BILEVEL, HACKER)
    found = summary.table(lab, schemes)
    experiments = list(dict.fromkeys(experiment for experiment, _ in found))
    rows: list[list[str | Cell]] = []
    for c in schemes:
        entries = [found.get((experiment, c)) for experiment in experiments]
        whole = [entry for entry in entries if entry]
        texts = [str(entry) if entry else "–" for entry in entries]
        rows.append([NAMES[c], *texts, str(summary.together(whole)) if whole else "–"])
    if not experiments:
        return []
    head = ["scheme", *experiments, "all"]
    return [
        Table(
            "Points that violate stringent fairness (margin 5 %), where all that is unused is spare / where only what flows "
            "leave that are limited elsewhere is; and mean utilisation of the paths' links",
            head,
            rows,
        )
    ]


def _robust(lab: Laboratory) -> list[Table]:
    """Queue, paths and sharing by schemes."""
    found = summary.robust(lab)
    if not found:
        return []
    rows: list[list[str | Cell]] = []
    for queue in ROBUST_QUEUES:
        for n in ROBUST_PATHS:
            for sharing in SHARING:
                texts = []
                for c in ROBUST:
                    entry = found.get((queue, n, sharing, c))
                    texts.append("–" if entry is None else _verdicts(*entry))
                if any(text != "–" for text in texts):
                    rows.append([f"{queue}, {n} paths, {sharing:.0%} shared", *texts])
    head = ["cell", *(NAMES.get(c, c) for c in ROBUST)]
    return [
        Table(
            "S stringent, L only lenient, – neither; part of the links' capacity that is used",
            head,
            rows,
        )
    ]


def _verdicts(fairness: object, use: Floats) -> str:
    """A cell of the matrix."""
    stringent, lenient = (getattr(fairness, name) for name in ("stringent", "lenient"))
    return f"{'S' if stringent else 'L' if lenient else '–'} {use.mean():.2f}"


def sections(lab: Laboratory) -> list[Section]:
    """Figures and matrices for the configurations that have been run."""
    chapter3 = [
        *_figure3(
            lab,
            "drop-tail",
            "3-1",
            "The text: naive Multi-Priority TCP takes more than half, more with more background flows and at lower "
            "capacities; with borrowing the split is even everywhere.",
        ),
        *_figure3(
            lab,
            "red",
            "3-2",
            "The text: over RED naive Multi-Priority TCP is unfair at every capacity; with borrowing the split is even.",
        ),
    ]
    found = [
        Section(
            "Schemes and experiments",
            "Violations of eq. 1.2 or 1.4 by means over replications, with fair shares of an idealised TCP.",
            _matrix(lab),
        ),
        Section("Figures 3-1 and 3-2: borrowing", "", (), chapter3),
        Section(
            "Figures 4-2 to 4-5: shared and independent paths",
            "",
            (),
            [*_figure4_2(lab), *_figure4_4(lab), *_figure4_5(lab)],
        ),
        Section(
            "Figures 4-6 to 4-8: paths that differ",
            "",
            (),
            [*_figure4_6(lab), *_figure4_7(lab), *_figure4_8(lab)],
        ),
        Section(
            "Figures 4-10 and 4-11: placement",
            "",
            _placements(lab),
            [*_figure4_10(lab), *_figure4_11(lab)],
        ),
        Section("Robustness", "A TCP on each link; 180 s.", _robust(lab)),
    ]
    return [section for section in found if section.tables or section.figures]
