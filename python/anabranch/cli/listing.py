"""`anabranch list`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .terminal import console, table

if TYPE_CHECKING:
    from .. import _core


def controllers() -> None:
    """The controllers with their formulas, and the slow starts that laws take."""
    from .. import _core

    rows = []
    for law in _core.controllers():
        names = ", ".join([law["name"], *law["aliases"]])
        options = "; ".join(
            [f"{law['name']}:{value} {meaning}" for value, meaning in law["options"]]
            + [f"kernel:{law['name']} as the kernel runs it, in integers"] * law["kernel"]
        )
        rows.append([names, law["summary"], law["formula"], law["source"], options])
    console().print(
        table("Controllers", ["name", "what it is", "formula", "source", "options"], rows, left=5)
    )
    rows = [
        [f"LAW+{one['name']}", one["summary"], one["formula"], one["source"]]
        for one in _core.slow_starts()
    ]
    console().print(table("Slow starts", ["name", "what it is", "formula", "source"], rows, left=4))


def schedulers() -> None:
    """The packet schedulers of `transport.scheduler`."""
    from .. import _core

    kinds("Schedulers", _core.schedulers())


def queues() -> None:
    """The kinds of `queue`, of links and hosts."""
    from .. import _core

    kinds("Queues", _core.queues())


def media() -> None:
    """The shared media, by the key of their tables."""
    from .. import _core

    kinds("Media", _core.media())


def kinds(title: str, listed: list[_core.Kind]) -> None:
    """The kinds of one registry."""
    rows = [
        [", ".join([one["name"], *one["aliases"]]), one["summary"], one["source"]] for one in listed
    ]
    console().print(table(title, ["name", "what it is", "source"], rows, left=3))


def scenarios() -> None:
    """The shipped scenarios with their titles."""
    from ..scenario import load, shipped

    rows = [[name, load(name).plan().title] for name in shipped()]
    console().print(table("Scenarios", ["name", "title"], rows, left=2))


def papers() -> None:
    """The documents and how many claims each has."""
    from ..papers import PAPERS

    rows = [[paper.key, paper.title, str(len(paper.claims))] for paper in PAPERS.values()]
    console().print(table("Documents", ["key", "title", "claims"], rows, left=2))


def plots() -> None:
    """The kinds of plot."""
    from ..plot import KINDS

    rows = [[name, kind.summary, "yes" if kind.series else ""] for name, kind in KINDS.items()]
    console().print(table("Plots", ["kind", "what it shows", "needs --series"], rows, left=2))


def metrics() -> None:
    """The columns of a result."""
    from ..metrics import METRICS

    rows = [[m.table, m.name, m.unit, m.meaning] for m in METRICS]
    console().print(table("Metrics", ["table", "name", "unit", "meaning"], rows, left=4))


LISTS: dict[str, Callable[[], None]] = {
    "controllers": controllers,
    "schedulers": schedulers,
    "queues": queues,
    "media": media,
    "scenarios": scenarios,
    "papers": papers,
    "plots": plots,
    "metrics": metrics,
}


def list_command(what: str) -> None:
    """Prints one of the lists. Raises ValueError for another word."""
    if what not in LISTS:
        raise ValueError(f"there is no list of {what!r}; the lists are {', '.join(LISTS)}")
    LISTS[what]()
