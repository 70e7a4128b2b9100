"""`anabranch audit`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from .. import _core
from ..fairness import Audit, Entry, Fairness
from ..fairness.audit import Network, registered, strictest
from ..files import check_writable, write_json
from ..plot import verdicts
from ..records import plain
from ..report import Cell, Figure, Report, Section, Table, write
from ..statistics import RATE, column
from ..written import several
from . import INTERRUPTED
from .keeping import show_and_write
from .making import Making
from .terminal import console, named, progress, table

STRICTEST = "stringent"
STYLES = {STRICTEST: "green", "lenient": "yellow", "neither": "red"}
PAGE = "audit.html"

DEFINITIONS = (
    "lenient: on each bottleneck the controller takes at most one TCP's share; stringent: it is lenient, and its total is at "
    "most one TCP's share on its best path plus the spare capacity of its other paths. Spare capacity has two readings. Before "
    "the slash it is all capacity that is unused without the controller. After the slash it is only the capacity that flows "
    "leave because they are limited elsewhere; a link that drops, marks or loses packets without the controller has none."
)
MEANING = (
    "Each cell: the controller's total over the stringent bound, and the strictest definition of TCP-fairness that it meets. "
    + DEFINITIONS
)
USED = "used %"


def audit_command(
    controllers: Sequence[str],
    seeds: Sequence[int],
    json: Path | None,
    report: Path | None,
    making: Making,
) -> None:
    """Judges controllers in the standard networks, prints one table, and writes the requested
    files.
    """
    chosen = [one for text in controllers for one in several(text)] or registered()
    audit = Audit(chosen, list(seeds))
    if json:
        check_writable(json)
    if report:
        report.mkdir(parents=True, exist_ok=True)
        check_writable(report / PAGE)
    with progress("preparing") as tell, making.maker() as maker:
        audit.maker = maker
        audit.run(tell)
    show_and_write(
        lambda: show(audit),
        (json, lambda file: write_json(file, plain(audit.to_json()))),
        (report / PAGE if report else None, lambda file: write(page(audit), file)),
    )
    if audit.interrupted:
        console().print("interrupted: the missing networks were not run", style="bold")
        raise typer.Exit(INTERRUPTED)


def show(audit: Audit) -> None:
    """A row for each controller, and descriptions of the networks."""
    rows = []
    for controller in audit.controllers:
        found = audit.of(controller)
        cells = [
            f"{_styled(one.fairness)} / {_styled(one.elsewhere)}" if one else "–"
            for one in in_order(audit, found)
        ]
        rows.append([named(controller), *cells, utilisation(found, 100, 1)])
    out = console()
    names = [network.name for network in audit.networks]
    head = ["controller", *names, USED]
    left = len(head) - 1
    out.print(table("TCP-fairness by definition", head, rows, left=left, spare=[USED]))
    out.print(
        "Each cell: the controller's total over the stringent bound, and the strictest definition of TCP-fairness that "
        f"it meets; no word means stringent. {DEFINITIONS}",
        style="dim",
        highlight=False,
    )
    for network in audit.networks:
        out.print(f"{network.name}: {network.meaning}", style="dim", highlight=False, markup=False)
    count = len(audit.seed_list)
    out.print(
        f"{count} replication{'s' * (count > 1)}; {USED}: used part of the links' capacity, mean over networks",
        style="dim",
        highlight=False,
    )


def _styled(fairness: Fairness) -> str:
    """The total over the bound, with the strictest definition that holds unless that is
    stringent.
    """
    word = strictest(fairness)
    return f"[{STYLES[word]}]{_marked(fairness)}[/]"


def _marked(fairness: Fairness) -> str:
    word = strictest(fairness)
    return f"{1 + fairness.excess:.2f}{'' if word == STRICTEST else f' {word}'}"


def in_order(audit: Audit, found: dict[str, Entry]) -> list[Entry | None]:
    """The entries of a controller in the order of the networks, None where an interrupt left one
    out.
    """
    return [found.get(network.name) for network in audit.networks]


def utilisation(found: dict[str, Entry], whole: float = 1, digits: int = 3) -> str:
    """The part of the capacity of the ensemble's links that all flows use, in the mean over
    networks; `whole` is all of it.
    """
    used = [one.utilisation.mean for one in found.values()]
    return f"{whole * sum(used) / len(used):.{digits}f}" if used else "–"


def page(audit: Audit) -> Report:
    """The audit as a page: the table, the picture, and each network with its figures."""
    names = [network.name for network in audit.networks]
    rows: list[list[str | Cell]] = [
        [
            controller,
            *(
                Cell(f"{one.of_bound:.2f} / {_marked(one.elsewhere)}", note=one.word)
                if one
                else Cell("–")
                for one in in_order(audit, audit.of(controller))
            ),
            utilisation(audit.of(controller)),
        ]
        for controller in audit.controllers
    ]
    matrix = Table(
        "The total over the stringent bound, and the strictest definition that holds",
        ["controller", *names, "utilisation"],
        rows,
    )
    figures = (
        [
            Figure(
                "Each controller in each network; the grey area is fair, margin included",
                verdicts(audit),
            )
        ]
        if audit.entries
        else []
    )
    sections = [Section("Verdicts", MEANING, [matrix], figures)]
    return Report(
        "TCP-fairness by definition" + " – interrupted" * audit.interrupted,
        f"{len(audit.controllers)} controllers in {len(names)} networks, with {len(audit.seed_list)} seeds.",
        [*sections, *(network_section(audit, name) for name in names)],
        {"version": _core.__version__, "seeds": ", ".join(map(str, audit.seed_list))},
    )


def network_section(audit: Audit, name: str) -> Section:
    """Rates of each controller in a network, and the links where it takes too much."""
    (network,) = (one for one in audit.networks if one.name == name)
    head = [
        "controller",
        "verdict",
        "takes Mb/s",
        "bound Mb/s",
        "limited elsewhere: verdict",
        "its bound Mb/s",
        "violates on",
        "utilisation",
    ]
    own = [one for one in audit.entries if one.network == name]
    rows: list[list[str | Cell]] = [
        [
            one.controller,
            one.word,
            total,
            f"{one.fairness.bound_bps / 1e6:.3f}",
            strictest(one.elsewhere),
            f"{one.elsewhere.bound_bps / 1e6:.3f}",
            ", ".join(one.fairness.violated) or "–",
            str(one.utilisation),
        ]
        for one, total in zip(own, column([one.total_bps for one in own], RATE), strict=True)
    ]
    first = audit.controllers[0]
    text = f"{network.meaning}.\n\nThis command repeats the runs of {first}; -c takes another controller."
    return Section(
        name,
        text[0].upper() + text[1:],
        [Table("Means over replications", head, rows)],
        command=run_command(audit, network, first),
    )


def run_command(audit: Audit, network: Network, controller: str) -> list[str]:
    """The words of the command that runs a controller in a network, with the seeds of the audit."""
    words = ["anabranch", "run", network.source, "-c", audit.given[controller]]
    words += ["--seed", str(audit.seed_list[0]), "--repeat", str(len(audit.seed_list))]
    return words + [word for override in network.overrides for word in ("--set", override)]
