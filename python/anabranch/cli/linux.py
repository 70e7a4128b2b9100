"""The commands of `anabranch linux` and their options. What they do is in the modules beside this
one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .._core import controllers
from .arguments import (
    AloneCommand,
    Command,
    Commands,
    ControllerOption,
    FlentOption,
    FormatOption,
    JsonOption,
    KernelQlogOption,
    PcapKeepOption,
    PcapOption,
    RepeatOption,
    ScenarioArgument,
    SeedOption,
    SetOption,
)
from .formats import TEXT

linux_app = typer.Typer(
    cls=Commands,
    help="The real kernel: coupled congestion control, and scenarios over emulated links.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)

PORTED = [law["name"] for law in controllers() if law["kernel"]]
NameArgument = Annotated[
    str,
    typer.Argument(
        help=f"A law: {', '.join(PORTED)}; or a file in text (my.law) or C (my.h). A law takes +sbd, as in "
        "lia+sbd: it then couples only subflows that share a bottleneck."
    ),
]
JsonAloneOption = Annotated[
    Path | None,
    typer.Option(
        "--json", help="Write JSON to this file; --json without a file, or -, is standard output."
    ),
]


@linux_app.command(
    cls=Command,
    epilog="Example: sudo .venv/bin/anabranch linux run khalili/scenario-c -c olia --json c.json.gz",
)
def run(
    scenario: ScenarioArgument,
    controller: ControllerOption = None,
    seed: SeedOption = 1,
    repeat: RepeatOption = 1,
    set_: SetOption = None,
    json: JsonOption = None,
    series: Annotated[
        bool, typer.Option("--series", help="Keep windows, RTTs and queues over time.")
    ] = False,
    keep_invalid: Annotated[
        bool,
        typer.Option("--keep-invalid", help="Keep invalid replications, marked as invalid."),
    ] = False,
    pcap: PcapOption = None,
    pcap_keep: PcapKeepOption = None,
    qlog: KernelQlogOption = None,
    flent: FlentOption = None,
    format_: FormatOption = TEXT,
) -> None:
    """Run a scenario on the real kernel, in real time, and print the rates of each class."""
    from .options import recording_from, seeds_from
    from .realtime import KernelRunOptions, run_command

    options = KernelRunOptions(
        controller=controller,
        seeds=seeds_from(seed, repeat),
        overrides=set_ or [],
        json=json,
        series=series,
        keep_invalid=keep_invalid,
        recording=recording_from(pcap, qlog, None, pcap_keep, "draft" if qlog else None),
        flent=flent,
    )
    run_command(scenario, options)


@linux_app.command(cls=AloneCommand, epilog="Example: sudo .venv/bin/anabranch linux check")
def check(json: JsonAloneOption = None, format_: FormatOption = TEXT) -> None:
    """Show the kernel features that commands need. Status 1 if one is missing."""
    from .operate import check_command

    check_command(json)


@linux_app.command(
    cls=Command,
    epilog="Example: sudo .venv/bin/anabranch linux load olia && "
    "sudo sysctl -w net.ipv4.tcp_congestion_control=ab_olia\n\n"
    "Example: sudo .venv/bin/anabranch linux load lia+sbd\n\n"
    "Example: sudo .venv/bin/anabranch linux load --replace olia",
)
def load(
    name: NameArgument,
    min_ssthresh: Annotated[
        int | None,
        typer.Option(
            "--min-ssthresh",
            min=1,
            max=2**20,
            help="Lower limit of ssthresh on coupled subflows, in segments, instead of the law's own "
            "(1 for OLIA and BALIA, 2 for others).",
        ),
    ] = None,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace",
            help="If one is loaded under this name, put this one into its place: connections keep the "
            "earlier one until they close, new ones get this one, and defaults stay.",
        ),
    ] = False,
) -> None:
    """Load a controller until `unload` or reboot: connections that select its name are coupled."""
    from .operate import load_command

    load_command(name, min_ssthresh, replace)


@linux_app.command(
    cls=Command,
    epilog="Example: sudo .venv/bin/anabranch linux unload olia\n\n"
    "Example: sudo .venv/bin/anabranch linux unload lia+sbd",
)
def unload(
    name: NameArgument,
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            help="Unload it even if sockets use it; they keep it until they close. Defaults become reno.",
        ),
    ] = False,
) -> None:
    """Unload a controller from the kernel."""
    from .operate import unload_command

    unload_command(name, force)


CgroupOption = Annotated[
    Path | None,
    typer.Option(
        "--cgroup",
        help="A control group of version 2: its directory, or its path as /proc/PID/cgroup has it.",
    ),
]
ServiceOption = Annotated[
    str | None,
    typer.Option("--service", help="A unit of systemd that runs, such as nginx or nginx.service."),
]


@linux_app.command(
    cls=Command, epilog="Example: sudo .venv/bin/anabranch linux assign lia --service nginx"
)
def assign(name: NameArgument, cgroup: CgroupOption = None, service: ServiceOption = None) -> None:
    """Have the processes of a control group or of a service get a loaded controller, until
    `unassign` or `unload`, or until the group is gone. Open connections keep theirs.
    """
    from .operate import assign_command

    assign_command(name, cgroup, service)


@linux_app.command(
    cls=Command, epilog="Example: sudo .venv/bin/anabranch linux unassign lia --service nginx"
)
def unassign(
    name: NameArgument, cgroup: CgroupOption = None, service: ServiceOption = None
) -> None:
    """End an assignment. Open connections keep their controller."""
    from .operate import unassign_command

    unassign_command(name, cgroup, service)


@linux_app.command(cls=Command, epilog="Example: sudo .venv/bin/anabranch linux couple lia+sbd")
def couple(name: NameArgument) -> None:
    """Decide which subflows of a loaded controller with +sbd share a bottleneck, until it is
    unloaded or Ctrl-C. Without this command all subflows of a connection are coupled.
    """
    from .operate import couple_command

    couple_command(name)


@linux_app.command(
    cls=AloneCommand,
    epilog="Example: sudo .venv/bin/anabranch linux status --watch 1\n\n"
    "Example: sudo .venv/bin/anabranch linux status --controller olia --address 10.0.0.0/8\n\n"
    "Example: sudo .venv/bin/anabranch linux status --metrics anabranch.prom\n\n"
    "Example: sudo .venv/bin/anabranch linux status --shared 30",
)
def status(
    json: JsonAloneOption = None,
    metrics: Annotated[
        Path | None,
        typer.Option(
            "--metrics",
            help="Write metrics of each controller for Prometheus (OpenMetrics) to this file; --metrics without "
            "a file, or -, is standard output.",
        ),
    ] = None,
    shared: Annotated[
        float | None,
        typer.Option(
            "--shared",
            help="Read round trips for so many seconds, 20 without a number, from 5 to 600, and say which "
            "subflows of each connection share a bottleneck. Status 1 if nothing is known of any pair.",
        ),
    ] = None,
    watch: Annotated[
        float | None,
        typer.Option(
            "--watch", "-w", help="Refresh at this interval in seconds, from 0.1 to 3600."
        ),
    ] = None,
    wide: Annotated[
        bool, typer.Option("--wide", help="Show every connection, and all columns.")
    ] = False,
    controller: Annotated[
        list[str] | None,
        typer.Option(
            "--controller",
            "-c",
            help="Only this controller: a law, or a name in the kernel such as ab_olia. Repeatable.",
        ),
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(
            "--address",
            help="Only connections with an end there: an address or a network, such as 10.0.0.0/8.",
        ),
    ] = None,
    port: Annotated[
        int | None, typer.Option("--port", help="Only connections with an end at this port.")
    ] = None,
    namespace: Annotated[
        str | None,
        typer.Option(
            "--namespace",
            help="Only connections in this network namespace: a name of `ip netns`, or a number.",
        ),
    ] = None,
    format_: FormatOption = TEXT,
) -> None:
    """Show loaded controllers, their connections, and the windows and growth of each subflow.
    More than 20 connections are summed up.
    """
    from .status import Asked, status_command

    asked = Asked(
        json=json,
        metrics=metrics,
        shared=shared,
        watch=watch,
        wide=wide,
        controllers=controller or [],
        address=address,
        port=port,
        namespace=namespace,
    )
    status_command(asked)
