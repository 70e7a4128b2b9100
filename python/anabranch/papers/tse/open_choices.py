"""Open choices of the thesis on empty paths: the queue of their links, and the cap on the rates of
Bilevel TFRC's paths; with the drops of each queue.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from ...result import run
from ...statistics import Interval, interval
from ..laboratory import Configuration, Laboratory
from . import configurations
from .configurations import BILEVEL, FRACTION, MBPS, MOST, Configurations
from .reading import Floats, share, taken

AS_SHIPPED = "RED, weight 0.002"
DROP_TAIL = "drop-tail, 42 packets"
QUEUES = {
    AS_SHIPPED: "",
    "RED, weight 0.02": "link.{}.queue.red.weight=0.02",
    DROP_TAIL: 'link.{}.queue={{droptail={{packets="42 packets"}}}}',
    "drop-tail, 21 packets": 'link.{}.queue={{droptail={{packets="21 packets"}}}}',
}
"""RED with the average of the thesis' simulator and a faster one; drop-tail with RED's limit, two
bandwidth-delay products, and with one."""

SCALED = "bilevel-tfrc:scaled"
CAPS = {"": BILEVEL, ", cap scaled": SCALED}
FAR_MS = 150.0

EMPTY, FRACTIONS = "16 empty, Bilevel", "16 empty, fractional"
ONE_LINK, TWO, FAR = "16 on one link", "two paths", "two paths, one of 150 ms"
COLUMNS = (EMPTY, FRACTIONS, ONE_LINK, TWO, FAR)
TEXT = (
    "Parts from 0 to 1: of the capacity of sixteen empty paths, under Bilevel and under fractional TFRC (Figure 4-4; the "
    "thesis has 0.80 and slightly more than a TCP on each path); and Bilevel TFRC's part of all traffic with sixteen paths "
    "beside a TCP on one link (Figure 4-2; 0.5), on two paths with a TCP each (Figure 4-6; 1/3), and where the second has "
    "150 ms one way (Figure 4-7; 0.20). In brackets the change. "
    "'cap scaled' is `bilevel-tfrc:scaled`: twice what arrives caps a path's rate, and what arrives counts as if the path "
    "had sent all that its own TFRC allows."
)


def cell(queue: str, column: str, cap: str = "") -> tuple[str, Configuration]:
    """Name and configuration of a cell of the table, with a queue of `QUEUES` and a cap of
    `CAPS`."""
    controller = FRACTION if column == FRACTIONS else CAPS[cap]
    if column in (EMPTY, FRACTIONS):
        found = configurations.independent(controller, MOST, 0)
        links = [f"link-{i}" for i in range(1, MOST + 1)]
    elif column == ONE_LINK:
        found, links = configurations.shared(controller, MOST), ["bottleneck"]
    else:
        what = ("delay", FAR_MS) if column == FAR else ("capacity", MBPS)
        found, links = configurations.two(controller, *what), list(configurations.BOTH)
    ((name, configuration),) = found.items()
    if not QUEUES[queue]:
        return name, configuration
    change = tuple(QUEUES[queue].format(link) for link in links)
    return f"{queue}: {name}", replace(configuration, overrides=(*configuration.overrides, *change))


def cells() -> Iterator[tuple[str, str, str, Configuration]]:
    """Variant, column, name and configuration of every cell."""
    for cap in CAPS:
        for queue in QUEUES:
            for column in COLUMNS:
                if not (cap and column == FRACTIONS):
                    yield (queue + cap, column, *cell(queue, column, cap))


def needed(controller: str) -> tuple[str, ...]:
    """The cells that explain sixteen empty paths under a controller."""
    columns = {BILEVEL: [(EMPTY, cap) for cap in CAPS], FRACTION: [(FRACTIONS, "")]}[controller]
    return tuple(cell(queue, column, cap)[0] for column, cap in columns for queue in QUEUES)


def moved(lab: Laboratory) -> list[tuple[str, dict[str, Interval]]]:
    """The table of finished runs: a fraction for each variant and column."""
    table: dict[str, dict[str, Interval]] = {}
    for variant, column, name, _ in cells():
        if name in lab.results:
            table.setdefault(variant, {})[column] = interval(_part(lab, column, name))
    whole = len(table.get(AS_SHIPPED, {})) == len(COLUMNS) and len(table) > 1
    return list(table.items()) if whole else []


def _part(lab: Laboratory, column: str, name: str) -> Floats:
    if column in (EMPTY, FRACTIONS):
        return taken(lab, name) / (MOST * MBPS)
    return share(lab, name)


@dataclass(frozen=True)
class Drops:
    """Packets that queues dropped in a run with seed 1."""

    all: int
    within: int
    """Those within `SLOW_START_S` of the first one on their path."""
    measured: int
    """Those after the warm-up."""
    events: int
    """Recoveries after the warm-up: loss events of a path."""


SLOW_START_S = 1.0
"""Twenty round trips of the empty path."""


@cache
def drops(controller: str, queue: str) -> Drops:
    """Drops on sixteen empty paths, from a log of single events."""
    column = FRACTIONS if controller == FRACTION else EMPTY
    _, configuration = cell(queue, column)
    result = run(configuration.scenario, (1,), overrides=configuration.overrides, events=True)
    log = result.runs[0].events_log
    times, paths = np.asarray(log.t_s), np.asarray(log.path)
    kinds = np.asarray(log.kind)
    dropped, recovered = kinds == "drop", kinds == "recovery"
    first = {path: times[dropped & (paths == path)].min() for path in np.unique(paths[dropped])}
    since = np.array([t - first[p] for t, p in zip(times[dropped], paths[dropped], strict=True)])
    return Drops(
        all=int(dropped.sum()),
        within=int((since <= SLOW_START_S).sum()),
        measured=int((times[dropped] >= result.plan.warmup_s).sum()),
        events=int(recovered.sum()),
    )


def silent_paths(lab: Laboratory, controller: str) -> str:
    """Why TFRC with many paths is slow to fill empty links, by the drops and the queues."""
    column = FRACTIONS if controller == FRACTION else EMPTY
    red, tail = drops(controller, AS_SHIPPED), drops(controller, DROP_TAIL)
    uses = ", ".join(
        f"{queue}: {interval(_part(lab, column, cell(queue, column)[0]))}" for queue in QUEUES
    )
    scaled = ""
    if controller == BILEVEL:
        parts = ", ".join(
            f"{queue}: {interval(_part(lab, EMPTY, cell(queue, EMPTY, ', cap scaled')[0]))}"
            for queue in QUEUES
        )
        scaled = f" With the cap scaled (`{SCALED}`) they are {parts}."
    return (
        f"In a log of 300 s, RED drops {red.all} packets on the sixteen paths, {red.within} of them within "
        f"{SLOW_START_S:g} s of the first one on their path, which ends its slow start, and {red.measured} after the warm-up; "
        f"the paths have {red.events} loss events. Drop-tail drops {tail.all}, {tail.within} and {tail.measured}, with "
        f"{tail.events} events. Until the next loss a path's history is what its slow start left there. How far that, the "
        f"queue and the cap hold the ensemble back is in the parts of the capacity that it uses. By queue: {uses}.{scaled} "
        "The thesis names the averaging of its queue as little as the cap: none of these was chosen by what it gives."
    )


def sensitivity() -> Configurations:
    """Every cell of the table."""
    return {name: configuration for _, _, name, configuration in cells()}


def on_empty_paths() -> Configurations:
    """The cells that explain Figure 4-4."""
    return {
        name: configuration
        for _, column, name, configuration in cells()
        if column in (EMPTY, FRACTIONS)
    }
