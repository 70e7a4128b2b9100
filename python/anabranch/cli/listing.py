"""`anabranch list`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import TYPE_CHECKING

import typer

from .formats import TEXT
from .terminal import console, named, output, table

if TYPE_CHECKING:
    from .. import _core


def controllers(long: bool) -> None:
    """The controllers, and the slow starts that laws take; formulas, sources and options
    if `long`.
    """
    from .. import _core

    rows = []
    for law in _core.controllers():
        names = ", ".join([law["name"], *law["aliases"]])
        options = "; ".join(
            [f"{law['name']}:{value} {meaning}" for value, meaning in law["options"]]
            + [f"kernel:{law['name']} as the kernel runs it, in integers"] * law["kernel"]
        )
        rows.append([names, law["summary"], law["formula"], law["source"], options])
    show("Controllers", ["name", "what it is", "formula", "source", "options"], rows, long)
    rows = [
        [f"LAW+{one['name']}", one["summary"], one["formula"], one["source"]]
        for one in _core.slow_starts()
    ]
    show("Slow starts", ["name", "what it is", "formula", "source"], rows, long)
    rows = [["LAW+sbd", "The law couples only paths that share a bottleneck.", "", ""]]
    rows += [
        [f"LAW+sbd:{one['name']}", one["summary"], one["formula"], one["source"]]
        for one in _core.detectors()
    ]
    show("Detectors of shared bottlenecks", ["name", "what it is", "formula", "source"], rows, long)
    if not long:
        console().print(MORE, style="dim", highlight=False)


MORE = "--long shows formulas, sources and options"


def show(title: str, head: list[str], rows: list[list[str]], long: bool) -> None:
    """A table of texts; of the short form the first two columns."""
    shown = len(head) if long else 2
    console().print(table(title, head[:shown], [row[:shown] for row in rows], left=shown))


def detectors(long: bool) -> None:
    """The detectors of shared bottlenecks, of `shared` and of LAW+sbd."""
    from .. import _core

    kinds("Detectors of shared bottlenecks", _core.detectors(), long)


def schedulers(long: bool) -> None:
    """The packet schedulers of `transport.scheduler`."""
    from .. import _core

    kinds("Schedulers", _core.schedulers(), long)


def queues(long: bool) -> None:
    """The kinds of `queue`, of links and hosts."""
    from .. import _core

    kinds("Queues", _core.queues(), long)


def media(long: bool) -> None:
    """The shared media, by the key of their tables."""
    from .. import _core

    kinds("Media", _core.media(), long)


def kinds(title: str, listed: Sequence[_core.Kind], long: bool) -> None:
    """The kinds of one registry; sources if `long`."""
    rows = [
        [", ".join([one["name"], *one["aliases"]]), one["summary"], one["source"]] for one in listed
    ]
    show(title, ["name", "what it is", "source"], rows, long)


def scenarios(_long: bool) -> None:
    """The shipped scenarios with their titles."""
    from ..scenario import load, shipped

    rows = [[name, load(name).plan().title] for name in shipped()]
    console().print(table("Scenarios", ["name", "title"], rows, left=2))


def papers(_long: bool) -> None:
    """The documents and how many claims each has."""
    from ..papers import PAPERS

    rows = [[paper.key, paper.title, str(len(paper.claims))] for paper in PAPERS.values()]
    console().print(table("Documents", ["key", "title", "claims"], rows, left=2))


def cells(_long: bool) -> None:
    """Number of cells of each document, with one as an example."""
    from ..papers import PAPERS
    from ..papers.cells import cells

    rows = []
    for key in PAPERS:
        known = cells(key)
        rows.append([key, str(len(known)), f"{key}:{next(iter(known))}"])
    out = console()
    out.print(table("Cells of documents", ["document", "cells", "example"], rows, left=3))
    out.print(
        "anabranch list cells DOCUMENT shows all cells of a document", style="dim", highlight=False
    )


def cells_of(key: str, _long: bool) -> None:
    """The cells of a document. Raises KeyError for an unknown one."""
    from ..papers.cells import cells

    key = document(key)
    rows = [
        [f"{key}:{name}", one.scenario, one.controller or "the scenario's"]
        for name, one in cells(key).items()
    ]
    out = console()
    out.print(table(f"Cells of {key}", ["cell", "scenario", "controller"], rows, left=3))
    out.print(
        "anabranch show CELL prints a cell as a whole scenario, with its overrides",
        style="dim",
        highlight=False,
    )


def document(key: str) -> str:
    """The name of the document or folder that the user named. Raises KeyError for an unknown one."""
    from ..offers import lookup
    from ..papers import PAPERS
    from ..papers.registry import is_folder

    return key if is_folder(key) else lookup("document", key, PAPERS, "the documents are")


def claims(long: bool) -> None:
    """The claims of every document, a table for each."""
    from ..papers import PAPERS

    for key in PAPERS:
        _claims(key, long)
    _how(long)


SECTION = 18
"""Characters of a claim's section that the short list shows."""

LINES = 3
"""Lines of a claim's statement that the short list shows."""


def claims_of(key: str, long: bool) -> None:
    """The claims of a document. Raises KeyError for an unknown one."""
    _claims(document(key), long)
    _how(long)


def _claims(key: str, long: bool) -> None:
    """The claims of a document; statements whole if `long`, or if a program is to read them."""
    from ..papers import opened

    known, out = opened(key).claims.values(), console()
    whole = long or output.format != TEXT
    room = max(20, out.width - max(len(claim.id) for claim in known) - SECTION - BORDERS)
    rows = []
    for claim in known:
        section, statement = claim.source, claim.statement
        if not whole:
            section = shorten(section, SECTION, placeholder=" …")
            statement = shorten(statement, LINES * room, placeholder=" …")
        rows.append([claim.id, named(section), named(statement)])
    out.print(table(f"Claims of {key}", ["claim", "section", "statement"], rows, left=3))


def _how(long: bool) -> None:
    """Hint on how to see more of claims."""
    more = "" if long else "--long shows full statements; "
    text = f"{more}anabranch reproduce CLAIM judges one claim"
    console().print(text, style="dim", highlight=False)


BORDERS = 10
"""Characters of a line between and around three columns."""


def criteria(long: bool) -> None:
    """The criteria of `evaluate`; if `long`, each with its question, method, cases, and the reason
    of its goal: as paragraphs for people, as columns for programs.
    """
    from ..evaluation.card import goal_of
    from ..evaluation.criteria import criteria as known

    out = console()
    if long and output.format == TEXT:
        for one in known().values():
            cases = "; ".join(case.name for case in one.cases)
            goal = goal_of(one)
            out.print(
                f"[bold]{named(one.name)}[/]: {named(one.title)} (section {one.section}, {one.level})",
                *map(named, (one.question, one.method, f"Goal: {goal}. {one.why}")),
                f"Cases: {named(cases)}.\n",
                sep="\n",
                highlight=False,
            )
    else:
        rows = [
            [
                one.section,
                named(one.name),
                one.level,
                named(one.title),
                named(goal_of(one)),
                *([named(one.question), named(one.method), named(one.why)] if long else []),
            ]
            for one in known().values()
        ]
        head = ["§", "criterion", "level", "title", "goal"]
        head += ["question", "method", "reason for the goal"] if long else []
        out.print(table("Criteria of RFC 9743", head, rows, left=len(head)))
    more = "" if long else "--long shows methods, cases and reasons; "
    text = f"{more}anabranch evaluate CONTROLLER --only CRITERION evaluates by one"
    out.print(text, style="dim", highlight=False)


def goals(long: bool) -> None:
    """The goals of `break`; the reasons of their limits if `long`."""
    from ..breaking.goals import GOALS

    rows = [
        [one.name, one.shown(one.limit), named(one.meaning), *([named(one.why)] if long else [])]
        for one in GOALS.values()
    ]
    head = ["goal", "limit", "when it is broken", *(["reason for the limit"] if long else [])]
    out = console()
    out.print(table("Goals", head, rows, left=len(head)))
    more = "" if long else "--long shows reasons; "
    text = f"{more}anabranch break CONTROLLER --goal GOAL searches for a network that breaks it"
    out.print(text, style="dim", highlight=False)


def plots(_long: bool) -> None:
    """The kinds of plot."""
    from ..plot import KINDS

    rows = [[name, kind.summary, "yes" if kind.series else ""] for name, kind in KINDS.items()]
    console().print(table("Plots", ["kind", "what it shows", "needs --series"], rows, left=2))


def metrics(long: bool) -> None:
    """The columns of a result: each with its meaning if `long`, else the names in each table."""
    from ..metrics import METRICS

    if long:
        rows = [[m.table, m.name, m.unit, m.meaning] for m in METRICS]
        console().print(table("Metrics", ["table", "name", "unit", "meaning"], rows, left=4))
        return
    names: dict[str, list[str]] = {}
    for metric in METRICS:
        names.setdefault(metric.table, []).append(metric.name)
    rows = [[name, ", ".join(columns)] for name, columns in names.items()]
    console().print(table("Metrics", ["table", "columns"], rows, left=2))
    console().print("--long shows units and meanings", style="dim", highlight=False)


@dataclass(frozen=True)
class Listing:
    """A list: the function that prints it, whether --long shows more, and a function for a part."""

    show: Callable[[bool], None]
    has_long: bool
    of: Callable[[str, bool], None] | None = None
    """Prints the part of one document, if a document can be named."""


LISTS = {
    "controllers": Listing(controllers, has_long=True),
    "detectors": Listing(detectors, has_long=True),
    "schedulers": Listing(schedulers, has_long=True),
    "queues": Listing(queues, has_long=True),
    "media": Listing(media, has_long=True),
    "scenarios": Listing(scenarios, has_long=False),
    "papers": Listing(papers, has_long=False),
    "cells": Listing(cells, has_long=False, of=cells_of),
    "claims": Listing(claims, has_long=True, of=claims_of),
    "criteria": Listing(criteria, has_long=True),
    "goals": Listing(goals, has_long=True),
    "plots": Listing(plots, has_long=False),
    "metrics": Listing(metrics, has_long=True),
}


def listed(names: Iterable[str], word: str) -> str:
    """Names with commas, and `word` before the last: "queues, media or metrics"."""
    *most, last = names
    return f"{', '.join(most)} {word} {last}"


def list_command(what: str, of: str | None = None, long: bool = False) -> None:
    """Prints one of the lists; of cells and claims those of the document `of`. Raises ValueError
    for another word, and for `long` where the list has no long form.
    """
    from ..offers import lookup

    name = lookup("list", what, LISTS, "the lists are")
    listing = LISTS[name]
    if of is not None and listing.of is None:
        having = listed((name for name, one in LISTS.items() if one.of), "and")
        raise ValueError(
            f"`list {name}` takes no further word; it was given {of!r}. "
            f"Only {having} take a document"
        )
    if long and not listing.has_long:
        having = listed((name for name, one in LISTS.items() if one.has_long), "and")
        raise ValueError(f"`list {name}` has no long form; leave --long out: {having} have one")
    if of is None or listing.of is None:
        listing.show(long)
        return
    try:
        listing.of(of, long)
    except KeyError as error:
        raise ValueError(str(error)) from None


def show_command(source: str, controller: str | None, overrides: list[str]) -> None:
    """Prints the text of a scenario, unchanged or with a controller and overrides written
    into it.
    """
    from .options import scenario_from

    scenario = scenario_from(source)
    if controller or overrides:
        scenario = scenario.changed(controller=controller, overrides=overrides)
    text = scenario.text if scenario.text.endswith("\n") else f"{scenario.text}\n"
    typer.echo(text.encode(), nl=False)  # TOML is UTF-8, independent of the terminal's encoding
