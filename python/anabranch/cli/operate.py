"""`anabranch linux check`, `load`, `unload` and `status`: controllers for an operator."""

from __future__ import annotations

import json as text
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .application import Command
from .linux import linux_app as linux_app

if TYPE_CHECKING:
    from rich.console import Group

NameArgument = Annotated[
    str, typer.Argument(help="A law: lia, olia, balia, ewtcp, semicoupled, fully-coupled or reno.")
]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]

STYLES = {"yes": "green", "no": "red", "unknown": "yellow"}


@linux_app.command(cls=Command, epilog="Example: sudo .venv/bin/anabranch linux check")
def check(json: JsonFlag = False) -> None:
    """Show what this kernel offers and what that allows; status 1 when something is missing."""
    from dataclasses import asdict

    from ..linux.check import allows, facts

    found = facts()
    uses = {"load": "controllers in the kernel", "run": "scenarios on the kernel"}
    if json:
        content = {"facts": [asdict(fact) for fact in found]} | {u: allows(found, u) for u in uses}
        typer.echo(text.dumps(content, indent=1))
    else:
        _print_facts(found, {f"linux {u} ({what})": allows(found, u) for u, what in uses.items()})
    if any(allows(found, use) == "no" for use in uses):
        raise typer.Exit(1)


def _print_facts(found: list[Any], uses: dict[str, Any]) -> None:
    from .terminal import console, named, table

    out = console()
    rows = [
        [
            fact.name,
            f"[{STYLES[fact.state]}]{fact.state}[/]",
            named(fact.detail),
            "" if fact.state == "yes" else named(fact.remedy),
        ]
        for fact in found
    ]
    out.print(table("This kernel", ["part", "there", "what", "what to do"], rows, left=4))
    for use, state in uses.items():
        out.print(f"{use}: [{STYLES[state]}]{state}[/]", highlight=False)


@linux_app.command(
    cls=Command,
    epilog="Example: sudo .venv/bin/anabranch linux load olia && "
    "sudo sysctl -w net.ipv4.tcp_congestion_control=ab_olia",
)
def load(
    name: NameArgument,
    min_ssthresh: Annotated[
        int,
        typer.Option("--min-ssthresh", min=1, help="Least threshold of coupled paths, segments."),
    ] = 1,
) -> None:
    """Load a controller for good: connections that select it by its name are coupled."""
    from ..linux.controllers import load_for_good
    from .terminal import console

    kernel_name = load_for_good(name, min_ssthresh)
    console().print(
        f"loaded as {kernel_name}; select it with sysctl -w "
        f"net.ipv4.tcp_congestion_control={kernel_name}, or by TCP_CONGESTION on a socket",
        highlight=False,
    )


@linux_app.command(cls=Command, epilog="Example: sudo .venv/bin/anabranch linux unload olia")
def unload(
    name: NameArgument,
    force: Annotated[
        bool,
        typer.Option("--force", help="Also while connections use it: they keep it to their end."),
    ] = False,
) -> None:
    """Take a loaded controller out of the kernel."""
    from ..linux.controllers import unload_for_good
    from .terminal import console

    kept = unload_for_good(name, force)
    rest = f"; sockets that keep it until they close: {kept}" if kept else ""
    console().print(f"unloaded{rest}", highlight=False)


@linux_app.command(cls=Command, epilog="Example: sudo .venv/bin/anabranch linux status --watch")
def status(
    json: JsonFlag = False,
    watch: Annotated[
        float | None,
        typer.Option("--watch", "-w", min=0.1, help="Refresh every so many seconds."),
    ] = None,
) -> None:
    """Show loaded controllers, the connections under them, and what couples their subflows."""
    from ..linux.observe import status as observed

    if json:
        typer.echo(text.dumps(_finite(observed()), indent=1))
        return
    from .terminal import console

    if watch is None:
        console().print(_tables(observed()))
        return
    from rich.live import Live

    with Live(_tables(observed()), console=console(), auto_refresh=False) as live:
        while True:
            time.sleep(watch)
            live.update(_tables(observed()), refresh=True)


def _finite(value: Any) -> Any:
    """Plain data for JSON, which has no infinity: such a threshold is null."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if value == float("inf") else value


def _tables(content: dict[str, Any]) -> Group:
    """The status as tables."""
    from rich.console import Group

    from .terminal import table

    controllers = [
        [row["name"], row["law"], *(f"{row['counters'][key]:,}" for key in COUNTERS)]
        for row in content["controllers"]
    ]
    parts: list[Any] = [table("Controllers", ["name", "law", *COUNTERS], controllers, left=2)]
    if not controllers:
        parts = ["no controller is loaded for good"]
    rows = [
        _row(number, connection, subflow)
        for number, connection in enumerate(content["connections"], 1)
        for subflow in connection["subflows"]
    ]
    if rows:
        parts.append(table("Subflows", HEAD, rows, left=4))
    else:
        parts.append("no connection is under a controller of ours")
    return Group(*parts)


COUNTERS = ("acks", "coupled", "losses", "missed", "repairs")

HEAD = [
    "connection",
    "controller",
    "local",
    "remote",
    "cwnd",
    "ssthresh",
    "srtt ms",
    "state",
    "growth of Reno's",
    "alpha",
    "sets",
    "l",
    "losses",
    "missed",
    "repairs",
]


def _row(number: int, connection: dict[str, Any], subflow: dict[str, Any]) -> list[str]:
    def shown(value: float | None, digits: str = ".2f") -> str:
        return "–" if value is None else "∞" if value == float("inf") else f"{value:{digits}}"

    return [
        f"{number} {connection['protocol']}",
        connection["controller"],
        subflow["local"],
        subflow["remote"],
        shown(subflow["cwnd_segments"]),
        shown(subflow["ssthresh_segments"], ".0f"),
        shown(1e3 * subflow["srtt_s"], ".1f"),
        subflow["ca_state"],
        shown(subflow["of_reno"]),
        shown(subflow["alpha"]),
        subflow["sets"],
        str(max(subflow["since_loss"], subflow["between_losses"])),
        str(subflow["losses"]),
        str(subflow["missed"]),
        str(subflow["repairs"]),
    ]
