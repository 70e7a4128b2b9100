"""Schemes by experiments: violations of stringent fairness, and utilisation of the network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...fairness import Fairness, Spare
from ...statistics import interval
from ..findings import Finding, finding, holds, within
from ..laboratory import Laboratory
from ..ledger import Claim
from . import configurations, reasons
from .configurations import (
    BOTH,
    CONTESTED,
    FIRST,
    FRACTION,
    MOST,
    PATHS,
    SECOND_LOSS,
    SECOND_MBPS,
    SECOND_MS,
    USERS,
    on_two_paths,
)
from .matching import SINGLE_LINKS, against_links, against_twins, twin_names
from .paper import (
    BASE,
    CHAPTER_4,
    NAMES,
    PAPER,
    ROBUST,
    ROBUST_PATHS,
    ROBUST_QUEUES,
    independent_name,
    matrix,
    shared_name,
    shared_ways,
)
from .reading import READINGS, Floats, compared, links_of, taken, unused, used


@dataclass(frozen=True)
class Place:
    """One point of one experiment under one scheme."""

    experiment: str
    scheme: str
    configuration: str
    compare: tuple[str, object, object]
    """Reference: "links" and the number of contested ones, or a setting of two paths."""
    second: bool = False
    """Whether the base flow is on the second path."""

    def fairness(self, lab: Laboratory, spare: Spare = "unused") -> Fairness:
        """Both definitions, by a reading of spare capacity."""
        kind, what, value = self.compare
        if kind == "links":
            assert isinstance(what, int)
            return against_links(lab, self.configuration, what, spare)
        assert isinstance(what, str) and isinstance(value, int | float)
        return against_twins(lab, self.configuration, what, value, spare)

    def utilisation(self, lab: Laboratory) -> Floats:
        """Utilisation, by all flows, of the links that the ensemble's paths cross."""
        return used(lab, self.configuration, *dict.fromkeys(links_of(lab, self.configuration)))

    @property
    def needs(self) -> tuple[str, ...]:
        """Names of the configurations that it is judged by."""
        kind, what, value = self.compare
        if kind == "links":
            return (self.configuration, *SINGLE_LINKS)
        assert isinstance(what, str) and isinstance(value, int | float)
        return (self.configuration, *twin_names(what, value))


def places(schemes: tuple[str, ...]) -> Iterator[Place]:
    """Every point of Chapter 4 that a stringent bound is defined for."""
    for c in schemes:
        for n in PATHS:
            yield Place("4-2 shared", c, shared_name(c, n), ("links", 1, None))
            yield Place("4-4 empty", c, independent_name(c, n, 0), ("links", 0, None))
        for k in CONTESTED:
            name = independent_name(c, MOST, k)
            yield Place("4-5 contested", c, name, ("links", k, None))
        sweeps = (
            ("4-6 capacity", "capacity", SECOND_MBPS),
            ("4-7 delay", "delay", SECOND_MS),
            ("4-8 loss", "loss", SECOND_LOSS),
            ("4-11 users", "users", USERS[1:]),
        )
        for experiment, what, values in sweeps:
            for value in values:
                for base in BOTH:
                    name = on_two_paths(c, what, value, base)
                    if name in PAPER.experiments["tse-summary"]:
                        yield Place(experiment, c, name, ("two", what, value), base != FIRST)


@dataclass(frozen=True)
class Entry:
    """Outcome of a scheme in an experiment."""

    points: int
    violations: int
    lenient: int
    """Violations of the lenient definition."""
    worst: float
    """Largest excess over the bound of eq. 1.4."""
    elsewhere: int
    """Violations of the stringent definition where only capacity that flows leave because they are
    limited elsewhere is spare."""
    worst_elsewhere: float
    utilisation: Floats

    def __str__(self) -> str:
        return (
            f"{self.violations} / {self.elsewhere} of {self.points}, {interval(self.utilisation)}"
        )


def table(lab: Laboratory, schemes: tuple[str, ...]) -> dict[tuple[str, str], Entry]:
    """Experiments by schemes, for those whose configurations have all been run."""
    groups: dict[tuple[str, str], list[Place]] = {}
    for place in places(schemes):
        groups.setdefault((place.experiment, place.scheme), []).append(place)
    found = {}
    for key, group in groups.items():
        if any(name not in lab.results for place in group for name in place.needs):
            continue
        judged = [place.fairness(lab) for place in group]
        narrow = [place.fairness(lab, "elsewhere") for place in group]
        found[key] = Entry(
            len(group),
            sum(not f.stringent for f in judged),
            sum(not f.lenient for f in judged),
            max(f.excess for f in judged),
            sum(not f.stringent for f in narrow),
            max(f.excess for f in narrow),
            np.mean([place.utilisation(lab) for place in group], axis=0),
        )
    return found


def together(entries: list[Entry]) -> Entry:
    """All experiments of a scheme, each with equal weight in the utilisation."""
    return Entry(
        sum(e.points for e in entries),
        sum(e.violations for e in entries),
        sum(e.lenient for e in entries),
        max(e.worst for e in entries),
        sum(e.elsewhere for e in entries),
        max(e.worst_elsewhere for e in entries),
        np.mean([e.utilisation for e in entries], axis=0),
    )


_NEEDED = tuple(dict.fromkeys(name for place in places(CHAPTER_4) for name in place.needs))


@PAPER.claim("summary.ranking", *_NEEDED)
def ranking(claim: Claim, lab: Laboratory) -> Finding:
    """Stringent violations and utilisation over all of Chapter 4."""
    found = table(lab, CHAPTER_4)
    totals = {
        c: together([e for (_, scheme), e in found.items() if scheme == c]) for c in CHAPTER_4
    }
    base, level, reduced = (totals[c] for c in CHAPTER_4)
    wrong = [
        place.fairness(lab, spare)
        for place in places((BASE,))
        if place.second
        for spare in READINGS
    ]
    checks = [
        holds(
            "ordering, where all that is unused is spare",
            claim.expected["ordering"],
            base.violations <= level.violations <= reduced.violations,
        ),
        holds(
            "ordering, where only what flows leave that are limited elsewhere is spare",
            claim.expected["ordering"],
            base.elsewhere <= level.elsewhere <= reduced.elsewhere,
        ),
        within(
            "mean utilisation, Multi-Priority less Bilevel",
            ">= 0",
            base.utilisation - level.utilisation,
            0.0,
            None,
        ),
        holds(
            "Multi-Priority with its base on the other path is stringent too, by both readings",
            "costs utilisation, not fairness",
            all(f.stringent for f in wrong),
        ),
    ]
    rows = "; ".join(
        f"{NAMES[c]}: {e.violations} of {e.points} points violate stringent fairness where all that is unused is spare (worst "
        f"{e.worst:+.0%} over eq. 1.4), {e.elsewhere} where only what flows leave that are limited elsewhere is (worst "
        f"{e.worst_elsewhere:+.0%}), utilisation {interval(e.utilisation)}"
        for c, e in totals.items()
    )
    why = (
        f"{rows}. Bilevel's third of two equal paths is 1.33 times a quarter, which the thesis calls an approximation by a "
        "constant."
    )
    return finding(
        claim,
        lab.world.name,
        checks,
        why,
        unless=reasons.ranking(lab, _violated(lab, BASE), level.violations, level.elsewhere),
    )


def _violated(lab: Laboratory, scheme: str) -> str:
    """The configurations in which a scheme violates stringent fairness, with the excess over eq.
    1.4.
    """
    found = {place.configuration: place.fairness(lab) for place in places((scheme,))}
    return ", ".join(f"{name} ({f.excess:+.1%})" for name, f in found.items() if not f.stringent)


def robust(lab: Laboratory) -> dict[tuple[str, int, float, str], tuple[Fairness, Floats]]:
    """Queue, paths, sharing and controller: both definitions, and the use of the network."""
    found = {}
    for queue, n, sharing, controller, name, _ in matrix():
        twins = f"robust-{queue}-tcp", f"robust-{queue}-{configurations.WITHOUT}"
        if any(configuration not in lab.results for configuration in (name, *twins)):
            continue
        links = tuple(dict.fromkeys(shared_ways(n, sharing)))
        tcp, spare = taken(lab, twins[0]), unused(lab, twins[1], "bottleneck")
        fairness = compared(lab, name, dict.fromkeys(links, tcp), dict.fromkeys(links, spare))
        found[queue, n, sharing, controller] = fairness, used(lab, name, *links)
    return found


@PAPER.claim(
    "wish.robustness",
    *(name for *_, name, _ in matrix()),
    *(
        f"robust-{queue}-{kind}"
        for queue in ROBUST_QUEUES
        for kind in ("tcp", configurations.WITHOUT)
    ),
)
def robustness(claim: Claim, lab: Laboratory) -> Finding:
    """Both predicates and the utilisation in every cell of the matrix."""
    found = robust(lab)
    rows = {}
    for controller in ROBUST:
        own = [v for key, v in found.items() if key[3] == controller]
        stringent, lenient = (sum(getattr(f, d) for f, _ in own) for d in ("stringent", "lenient"))
        use = float(np.mean([u.mean() for _, u in own]))
        rows[controller] = stringent, lenient, len(own), use
    whole = len(matrix()) // len(ROBUST)
    perfect = [c for c, (stringent, _, total, _) in rows.items() if stringent == total]
    checks = [
        holds(
            "output",
            claim.expected["output"],
            all(total == whole for _, _, total, _ in rows.values()),
        ),
        holds(
            "no scheme of the thesis is stringent in every cell",
            "none is perfectly robust",
            not set(perfect) & {*CHAPTER_4, FRACTION, "mtcp"},
        ),
    ]
    text = "; ".join(
        f"{NAMES.get(c, c)}: stringent in {s} and lenient in {m} of {t}, utilisation {u:.3f}"
        for c, (s, m, t, u) in rows.items()
    )
    whole_names = ", ".join(NAMES.get(c, c) for c in perfect) or "none"
    why = (
        f"Queues {', '.join(ROBUST_QUEUES)}; {', '.join(map(str, ROBUST_PATHS))} paths; none, half (of more than 2) and all "
        f"over one link; a TCP on each link; 180 s. {text}. Stringent everywhere: {whole_names}. "
        "The cells are in the matrix of the report; all that is unused counts as spare."
    )
    return finding(claim, lab.world.name, checks, why)
