"""Compares results of another world with the simulation, and reports how they were measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..result import Result
from ..statistics import Interval, apart
from .laboratory import Laboratory

COUNTED = ("acks", "missed", "mismatches", "repairs")
"""Counters of the controllers in the kernel: acknowledgements seen, callbacks that were skipped,
states found wrong, windows put right."""


def mbps(result: Result, users: str, metric: str = "throughput_bps") -> Interval:
    """Mean rate per user of a class."""
    value = result.mean(users, metric)
    return Interval(value.mean / 1e6, value.half / 1e6, value.n, value.confidence)


def differing(
    lab: Laboratory, configurations: Iterable[str]
) -> Iterator[tuple[str, Interval, Interval]]:
    """Configuration and class, measured rate and simulated rate where these differ beyond their
    intervals.
    """
    if lab.beside is None:
        return
    for configuration in configurations:
        if configuration not in lab.results or configuration not in lab.beside.results:
            continue
        for users in lab[configuration].classes:
            pair = mbps(lab[configuration], users), mbps(lab.beside[configuration], users)
            if apart(*pair):
                yield f"{configuration} {users}", *pair


def explained(lab: Laboratory, configurations: Iterable[str]) -> str:
    """A sentence on whether the simulation of the configurations gives the same rates; empty
    without one.
    """
    if lab.beside is None:
        return ""
    found = [
        f"{where} {real} against {simulated}"
        for where, real, simulated in differing(lab, configurations)
    ]
    if not found:
        return (
            "The simulation of the same configurations gives the same rates within the intervals."
        )
    return f"Measured against simulated rates in Mb/s beyond their intervals: {'; '.join(found)}."


@dataclass(frozen=True)
class Conditions:
    """Conditions under which the replications of a configuration were measured."""

    configuration: str
    kernel: str
    replications: int
    rejected: int
    """Attempts that were not valid."""
    late_s: float
    """The largest 99th percentile of the emulator's lateness."""
    busy: float
    """The largest share of a processor that the emulator took."""
    counted: dict[str, int]
    """Sums of `COUNTED` over controllers and replications."""
    sources: str
    """Digests of the sources of the controllers; empty for a configuration under the kernel's own
    Reno.
    """


def conditions(lab: Laboratory) -> list[Conditions]:
    """Conditions of each measured configuration; empty for the simulation."""
    if lab.beside is None:
        return []
    return [_conditions(configuration, result) for configuration, result in lab.results.items()]


def _conditions(configuration: str, result: Result) -> Conditions:
    counters = [c for run in result.runs for c in run.kernel.controllers.values()]
    return Conditions(
        configuration,
        result.provenance["kernel"],
        len(result.runs),
        len(result.provenance["rejected"]),
        max(run.emulator.lateness_p99_s for run in result.runs),
        max(run.emulator.cpu_fraction for run in result.runs),
        {name: sum(counter.get(name, 0) for counter in counters) for name in COUNTED},
        result.provenance.get("controllers", "unknown") if counters else "",
    )


def together(rows: list[Conditions]) -> str:
    """The conditions of all configurations in a line."""
    sources = dict.fromkeys(text for row in rows for text in row.sources.split(", ") if text)
    sums = {name: sum(row.counted[name] for row in rows) for name in COUNTED}
    return (
        f"kernel {', '.join(dict.fromkeys(row.kernel for row in rows))}; configurations: {len(rows)}, "
        f"replications: {sum(row.replications for row in rows)}, attempts that were not valid: "
        f"{sum(row.rejected for row in rows)}; emulator: 99 % of the packets within "
        f"{max(row.late_s for row in rows) * 1e3:.2f} ms, at most {max(row.busy for row in rows):.0%} of a "
        f"processor; controllers: {sums['acks']:,} acknowledgements, {sums['missed']} callbacks missed, "
        f"{sums['mismatches']} states found wrong, {sums['repairs']} repairs; their sources: "
        f"{', '.join(sources) or 'none'}"
    )
