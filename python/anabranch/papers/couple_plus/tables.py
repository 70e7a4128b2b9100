"""Tables of the report: open choices, the family, failures, volumes, verdicts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...fairness import do_no_harm, ensemble_fairness
from ...report import Cell, Table
from ...statistics import interval, ratio_of_means
from ..laboratory import Laboratory
from .configurations import (
    BOTH,
    CALLED,
    COUNTED,
    COUPLE,
    HIDDEN,
    HIDING,
    LASTING,
    LIA,
    OPEN,
    OTHERS,
    POINTS,
    PRINTED,
    READINGS,
    WINDOW,
    WINDOWS,
    alone,
    bare,
    hiding,
    other,
    point,
)
from .definitions import MARGIN, sensed_over_true
from .losses import NETWORKS, matrix
from .reading import SUB0, SUB1, TCP, competition
from .uncongested import volumes_mb

Rows = list[list[str | Cell]]


def _table(caption: str, head: Sequence[str], rows: Rows) -> list[Table]:
    return [Table(caption, list(head), rows)] if rows else []


def _three(lab: Laboratory, configuration: str) -> list[str]:
    """The three rates, and subflow 1 over the TCP."""
    rates = competition(lab, configuration)
    ratio = ratio_of_means(rates[:, SUB1], rates[:, TCP])
    return [*(str(interval(rates[:, column])) for column in (SUB0, SUB1, TCP)), str(ratio)]


HEAD = ("subflow 0, kb/s", "subflow 1, kb/s", "TCP, kb/s", "subflow 1 / TCP")


def leaves_open(lab: Laboratory) -> list[Table]:
    """The point whose numbers the text gives, with each open choice changed."""
    variants = {
        (name or "as chosen", CALLED[c]): other(name, c) if name else point(c, *PRINTED)
        for name in ("", *OPEN)
        for c in BOTH
    }
    variants |= {(name, "Couple+"): point(c, *PRINTED) for name, c in READINGS.items()}
    rows: Rows = [
        [name, scheme, *_three(lab, configuration)]
        for (name, scheme), configuration in variants.items()
        if configuration in lab.results
    ]
    caption = (
        "What changes with what the paper leaves open: loss 0.01, redundancy 1.05, W = 6. Verdicts are on the first two "
        "rows. "
        f"The competition period but for {' and '.join(f'“{name}”' for name in LASTING)}: transfers without end, 600 s "
        "less the first 100 s, "
        "receive buffer 4 MB"
    )
    return _table(caption, ["choice", "scheme", *HEAD], rows)


def beyond(lab: Laboratory) -> list[Table]:
    """All controllers on the coded path, and those cited as alternatives at every loss."""
    rows: Rows = [
        [c, *_three(lab, point(c, *PRINTED))]
        for c in (*OTHERS, *BOTH)
        if point(c, *PRINTED) in lab.results
    ]
    caption = (
        "Beyond the paper: the whole family on the coded path, loss 0.01, redundancy 1.05, W = 6"
    )
    return _table(caption, ["controller", *HEAD], rows)


def _predicates(lab: Laboratory, configuration: str) -> tuple[float, float, float]:
    """Fraction of the seeds in which a configuration does no harm on the shared link, and in which
    it is fair by each definition, taken literally.

    A TCP's rate is that of a TCP in place of the multipath flow on either path; no capacity is
    spare.
    """
    alone0 = competition(lab, "tcp-on-0")[:, 0]
    alone1 = competition(lab, "tcp-on-1")[:, 0]
    harmless, lenient, stringent = [], [], []
    for rates, first, second in zip(competition(lab, configuration), alone0, alone1, strict=False):
        harmless.append(do_no_harm([rates[SUB1]], [second], margin=MARGIN))
        fair = ensemble_fairness(
            list(1e3 * rates[:2]),
            ["second-0", "shared"],
            [1e3 * first, 1e3 * second],
            {"second-0": 1e3 * first, "shared": 0.0},
            {"second-0": 1e6, "shared": 1e6},
            margin=MARGIN,
        )
        lenient.append(fair.lenient)
        stringent.append(fair.stringent)
    return float(np.mean(harmless)), float(np.mean(lenient)), float(np.mean(stringent))


def where(lab: Laboratory) -> list[Table]:
    """Loss, redundancy and coding window: where subflow 1 takes more than a TCP, and where it
    starves.
    """
    if not {"tcp-on-0", "tcp-on-1"} <= set(lab.results):
        return []
    columns = [*((c, w) for c in BOTH for w in WINDOWS), (COUNTED, WINDOW)]
    rows: Rows = []
    for p, redundancies in POINTS.items():
        for r in redundancies:
            configurations = [point(c, p, r, w) for c, w in columns]
            if not all(configuration in lab.results for configuration in configurations):
                continue
            row: list[str | Cell] = [f"{p:g}", f"{r:g}"]
            for configuration in configurations:
                rates = competition(lab, configuration)
                ratio = ratio_of_means(rates[:, SUB1], rates[:, TCP])
                kept = " / ".join(f"{part:.2f}" for part in _predicates(lab, configuration))
                row.append(Cell(f"{ratio}", note=kept))
            rows.append(row)
    head = ["loss", "redundancy", *(f"{CALLED[c]}, W = {w}" for c, w in columns)]
    caption = (
        "Where it fails: subflow 1 over the TCP, and below it the part of the seeds in which subflow 1 takes no more "
        "than a TCP would in its place on the shared link without wireless loss (do no harm) / in which each path has at "
        "most a TCP's rate and what nobody else uses (lenient) / in which the total is also at most a TCP's rate on the best "
        f"path and what nobody else uses on the others (stringent); margin {MARGIN:g}. “counted” is ours"
    )
    return _table(caption, head, rows)


def volumes(lab: Laboratory) -> list[Table]:
    """Figure 14 in numbers."""
    rows: Rows = []
    for p, redundancies in POINTS.items():
        for r in redundancies:
            configurations = [alone(COUPLE, p, r), alone(LIA, p, r), bare(p)]
            if not all(configuration in lab.results for configuration in configurations):
                continue
            row: list[str | Cell] = [f"{p:g}", f"{r:g}"]
            row += [
                str(interval(competition(lab, configuration)[:, SUB1]))
                for configuration in configurations
            ]
            row += [
                str(interval(volumes_mb(lab, configuration)[:, SUB1]))
                for configuration in configurations
            ]
            rows.append(row)
    names = ("Couple+ coded", "RTT Compensator coded", "uncoded")
    head = ["loss", "redundancy", *(f"{n}, kb/s" for n in names), *(f"{n}, MB" for n in names)]
    return _table(f"Subflow 1 without the TCP, W = {WINDOW}", head, rows)


def hidden_losses(lab: Laboratory) -> list[Table]:
    """Loss that a sender senses of an imposed loss, by coding window and redundancy."""
    if not set(hiding()) <= set(lab.results):
        return []
    redundancies = list(dict.fromkeys(r for _, r in HIDDEN))
    rows: Rows = [
        ["uncoded", str(interval(sensed_over_true(lab))), *["–"] * (len(redundancies) - 1)]
    ]
    for w in WINDOWS:
        row: list[str | Cell] = [f"W = {w}"]
        row += [
            str(interval(sensed_over_true(lab, w, r))) if (w, r) in HIDDEN else "–"
            for r in redundancies
        ]
        rows.append(row)
    caption = (
        f"Recoveries and timeouts over packets lost, one path with an imposed loss of {HIDING:g}; without coding there is "
        "no redundancy"
    )
    return _table(caption, ["", *(f"R = {r:g}" for r in redundancies)], rows)


def matrices(lab: Laboratory) -> list[Table]:
    """Confusion matrices with and without the TCP."""
    rows: Rows = []
    for name, configurations in NETWORKS.items():
        if not all(configuration in lab.results for configuration in configurations):
            continue
        counts = matrix(lab, configurations).sum(axis=0)
        for truth, row in zip(("the air alone", "a queue dropped"), counts, strict=True):
            part = row / max(row.sum(), 1)
            rows.append(
                [name, truth, f"{row[0]:.0f} ({part[0]:.2f})", f"{row[1]:.0f} ({part[1]:.2f})"]
            )
    head = ["network", "what was lost", "judged noise", "judged congestion"]
    return _table(
        "Questions of Couple+ by what was lost, all losses, redundancies and seeds",
        head,
        rows,
    )
