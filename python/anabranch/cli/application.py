"""The commands and their options. What they do is in the modules beside this one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from typer.models import CommandInfo

from . import print_version
from .arguments import (
    AlphaOption,
    AxesOption,
    Command,
    Commands,
    ControllerOption,
    FlentOption,
    FluidOption,
    FormatOption,
    JsonOption,
    MapOption,
    MaxminOption,
    OfOption,
    OutOption,
    ParetoOption,
    PcapKeepOption,
    PcapOption,
    PortraitOption,
    QlogOption,
    QlogVersionOption,
    RecordingOption,
    RecordUntilOption,
    RepeatOption,
    ScenarioArgument,
    SeedOption,
    SetOption,
    TitleOption,
    WidthOption,
)
from .breakoptions import (
    BufferRangeOption,
    BurstRangeOption,
    JitterRangeOption,
    LinksRangeOption,
    LossRangeOption,
    OthersRangeOption,
    PathsRangeOption,
    QueuesRangeOption,
    RateRangeOption,
    ReorderRangeOption,
    ReplayedOption,
    ReplayWorldOption,
    RttRangeOption,
    UsersRangeOption,
)
from .formats import TEXT
from .listing import LISTS, listed
from .making import THREADS, KeptOption, Making, OnOption, WorkersOption
from .subcommands import add_subcommands

app = typer.Typer(
    cls=Commands,
    help="The laboratory and toolbox for multipath congestion control.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
add_subcommands(app)


@contextmanager
def only(words: list[str]) -> Iterator[None]:
    """Leaves `app` only the commands among `words`, if one is: to build the options of all takes
    longer than a short run.
    """
    all_commands, all_groups = app.registered_commands, app.registered_groups
    commands = [one for one in all_commands if called(one) in words]
    groups = [one for one in all_groups if one.name in words]
    if commands or groups:
        app.registered_commands, app.registered_groups = commands, groups
    try:
        yield
    finally:
        app.registered_commands, app.registered_groups = all_commands, all_groups


def called(command: CommandInfo) -> str:
    """The name of a command."""
    function = command.callback.__name__ if command.callback else ""
    return command.name or function.replace("_", "-")


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """The laboratory and toolbox for multipath congestion control."""
    if version:
        print_version()
        raise typer.Exit


@app.command(
    cls=Command,
    epilog="Example: anabranch run khalili/scenario-c --controller olia --repeat 5 --series --json c.json.gz\n\n"
    "Example: anabranch run khalili/scenario-c --pcap c.pcapng --qlog c.qlog --record-until 10s",
)
def run(
    scenario: ScenarioArgument,
    controller: ControllerOption = None,
    seed: SeedOption = 1,
    repeat: RepeatOption = 1,
    set_: SetOption = None,
    world: Annotated[
        str,
        typer.Option(
            "--world",
            help="simulation; quic: users of TCP speak QUIC, with a shipped stack at both ends; wire: our endpoints "
            "send real packets to the kernel's, in real time; needs root.",
        ),
    ] = "simulation",
    json: JsonOption = None,
    series: Annotated[
        bool, typer.Option("--series", help="Keep windows, RTTs and queues over time.")
    ] = False,
    events: Annotated[
        bool, typer.Option("--events", help="Keep every drop, loss, recovery and timeout.")
    ] = False,
    pcap: PcapOption = None,
    qlog: QlogOption = None,
    qlog_version: QlogVersionOption = None,
    flent: FlentOption = None,
    record_until: RecordUntilOption = None,
    pcap_keep: PcapKeepOption = None,
    threads: WorkersOption = 0,
    on: OnOption = THREADS,
    store: KeptOption = None,
    format_: FormatOption = TEXT,
) -> None:
    """Simulate a scenario packet by packet, or run it in another world, and print the rates of each
    class of users.
    """
    from .options import recording_from, seeds_from
    from .simulate import RunOptions
    from .worlds import run_in_world

    options = RunOptions(
        world=world,
        controller=controller,
        seeds=seeds_from(seed, repeat),
        overrides=set_ or [],
        json=json,
        series=series,
        events=events,
        recording=recording_from(pcap, qlog, record_until, pcap_keep, qlog_version),
        flent=flent,
        making=Making.of(on, store, threads),
    )
    run_in_world(scenario, options)


@app.command(
    cls=Command,
    epilog="Example: anabranch theory khalili/scenario-c --controller lia\n\n"
    "Example: anabranch theory khalili/scenario-c --fluid --portrait phase.png\n\n"
    "Example: anabranch theory khalili/scenario-c --alpha 4 --maxmin --pareto\n\n"
    'Example: anabranch theory khalili/scenario-c --map "link.ap1.rate=5..15:3 Mb/s" '
    "--map flow.multipath.count=5,10,30 --out map.png",
)
def theory(
    scenario: ScenarioArgument,
    controller: ControllerOption = None,
    set_: SetOption = None,
    rtt: Annotated[
        str,
        typer.Option(
            "--rtt", help='Round trips: base, queueing, or a time such as "150 ms" for all paths.'
        ),
    ] = "queueing",
    all_: Annotated[
        bool,
        typer.Option("--all", help="Show all steady states that were found, not only the first."),
    ] = False,
    utility: Annotated[
        str,
        typer.Option(
            "--utility",
            help="What the optimum maximises: log (proportional fairness) or tcp (TCP's own utility).",
        ),
    ] = "log",
    alpha: AlphaOption = None,
    maxmin: MaxminOption = False,
    pareto: ParetoOption = False,
    fluid: FluidOption = False,
    portrait: PortraitOption = None,
    axes: AxesOption = None,
    map_: MapOption = None,
    of: OfOption = "rate",
    out: OutOption = None,
    width: WidthOption = None,
    title: TitleOption = None,
    json: JsonOption = None,
    threads: WorkersOption = 0,
    on: OnOption = THREADS,
    store: KeptOption = None,
    format_: FormatOption = TEXT,
) -> None:
    """Compute the equilibrium of the laws, and the optimum without and with probing cost.

    The probing cost is one segment per round trip on every path, which keeps the path in use.
    """
    from .draw import Looks
    from .predict import TheoryOptions, theory_command

    options = TheoryOptions(
        controller=controller,
        overrides=set_ or [],
        rtt=rtt,
        all=all_,
        utility=utility,
        alpha=alpha,
        maxmin=maxmin,
        pareto=pareto,
        fluid=fluid,
        portrait=portrait,
        axes=axes,
        map=tuple(map_ or ()),
        of=of,
        out=out,
        looks=Looks(width, title),
        json=json,
        making=Making.of(on, store, threads),
    )
    theory_command(scenario, options)


@app.command(
    cls=Command,
    epilog="Example: anabranch compare khalili/scenario-c --controller lia --repeat 10\n\n"
    "Example: anabranch compare khalili/scenario-c --controllers lia,olia --json laws.json.gz",
)
def compare(
    scenario: ScenarioArgument,
    controller: ControllerOption = None,
    controllers: Annotated[
        str | None,
        typer.Option(
            "--controllers",
            help="Compare controllers instead of worlds, in simulation and seed by seed: two or more names, such as "
            "lia,olia.",
        ),
    ] = None,
    worlds: Annotated[
        str | None,
        typer.Option(
            "--worlds",
            help="Worlds to compare: two or more of theory, simulation, quic, linux and wire. linux and wire need root and "
            "run in real time. Default: theory,simulation.",
        ),
    ] = None,
    seed: SeedOption = 1,
    repeat: Annotated[
        int | None,
        typer.Option(
            "--repeat",
            "-n",
            min=1,
            help="Number of replications; seeds count up. Default: 10; 3 in the worlds quic, linux and wire.",
        ),
    ] = None,
    set_: SetOption = None,
    tolerance: Annotated[
        float | None,
        typer.Option(
            "--tolerance",
            min=0.0,
            help="Largest relative difference that counts as agreement. Default: 0.1.",
        ),
    ] = None,
    json: JsonOption = None,
    threads: WorkersOption = 0,
    on: OnOption = THREADS,
    store: KeptOption = None,
    format_: FormatOption = TEXT,
) -> None:
    """Compare theory, simulation, a QUIC stack and the real kernel, or controllers in simulation.
    Status 1 if a class differs between worlds.
    """
    from .compare import CompareOptions, compare_command

    options = CompareOptions(
        controller=controller,
        controllers=controllers,
        worlds=worlds,
        first_seed=seed,
        repeat=repeat,
        overrides=set_ or [],
        tolerance=tolerance,
        json=json,
        making=Making.of(on, store, threads),
    )
    compare_command(scenario, options)


@app.command(
    cls=Command,
    epilog="Example: anabranch reproduce khalili --quick --json out.json --report out/khalili",
)
def reproduce(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            help="Documents, folders with a ledger, or claims, such as khalili, ./my-paper or "
            "khalili.table3.n10. Default: all documents."
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Seeds 1 to 5 of every configuration, without the sensitivity table. On Linux: three replications of "
            "45 s, and for a whole document only a sample of its configurations.",
        ),
    ] = False,
    seeds: Annotated[
        int | None,
        typer.Option(
            "--seeds",
            min=1,
            help="Replications of each configuration. Default: 20, or 5 with --quick; on Linux 5, or 3 with --quick.",
        ),
    ] = None,
    world: Annotated[
        str, typer.Option("--world", help="Where claims are measured: simulation, linux or wire.")
    ] = "simulation",
    keep: Annotated[
        Path | None,
        typer.Option(
            "--keep",
            help="With --world linux or wire: store replications in this directory, and reuse those stored before. Default: "
            "out/measurements/DOCUMENT; wire has a folder of its own there.",
        ),
    ] = None,
    judged: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="With --world linux or wire: judge the replications stored here; measure nothing.",
        ),
    ] = None,
    json: Annotated[
        Path | None,
        typer.Option("--json", help="Write one object for each claim here; - is standard output."),
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", help="Write an HTML report into this directory.")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Status 1 unless every claim that ran is reproduced.")
    ] = False,
    threads: WorkersOption = 0,
    on: OnOption = THREADS,
    store: KeptOption = None,
    format_: FormatOption = TEXT,
) -> None:
    """Run a document's experiments and judge its claims against the published bands."""
    from .options import checked_replications
    from .reproduce import ReproduceOptions, Where, reproduce_command

    if seeds is not None:
        checked_replications("--seeds", seeds)
    options = ReproduceOptions(
        quick=quick,
        seeds=seeds,
        where=Where(world, keep, judged, Making.of(on, store, threads)),
        json=json,
        report=report,
        strict=strict,
    )
    reproduce_command(what or [], options)


@app.command(
    cls=Command,
    epilog="Example: anabranch audit\n\n"
    "Example: anabranch audit olia multi-priority:trial --repeat 20 --json audit.json --report out/audit",
)
def audit(
    controllers: Annotated[
        list[str] | None,
        typer.Argument(help="Controllers, such as olia or phi:0.5. Default: all."),
    ] = None,
    seed: SeedOption = 1,
    repeat: RepeatOption = 10,
    json: Annotated[
        Path | None,
        typer.Option(
            "--json",
            help="Write one object for each controller in each network here; - is standard output.",
        ),
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", help="Write an HTML report into this directory.")
    ] = None,
    threads: WorkersOption = 0,
    on: OnOption = THREADS,
    store: KeptOption = None,
    format_: FormatOption = TEXT,
) -> None:
    """Judge controllers by two definitions of TCP-fairness, each in the same small networks."""
    from .audit import audit_command
    from .options import seeds_from

    making = Making.of(on, store, threads)
    audit_command(controllers or [], seeds_from(seed, repeat), json, report, making)


@app.command(
    cls=Command,
    epilog="Example: anabranch evaluate lia\n\n"
    "Example: anabranch evaluate olia my.law --only 7.10 --only standing-queue --json found.json\n\n"
    "Example: anabranch evaluate reno cubic lia olia balia bbr --report out/dossiers --store out/runs\n\n"
    "Example: anabranch evaluate my.py:Mine --quick --json after.json\n\n"
    "Example: anabranch evaluate lia --only cellular,cellular-delay --recording lte.down\n\n"
    "Example: anabranch evaluate --compare before.json after.json",
)
def evaluate(
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="CONTROLLER...",
            help="Controllers: names such as lia, laws or their files, FILE.py:CLASS. With --compare two files.",
        ),
    ],
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            help="Criteria of anabranch list criteria, or sections of RFC 9743 with all below them: 5.1,starvation. "
            "Repeatable. Default: all.",
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Seeds 1 to 3, and of the criteria only those of level MUST. For CI."
        ),
    ] = False,
    compare: Annotated[
        bool,
        typer.Option(
            "--compare",
            help="Compare two files of --json, before and after a change. Status 1 if a case of level MUST got worse.",
        ),
    ] = False,
    recording: RecordingOption = None,
    world: Annotated[
        str,
        typer.Option(
            "--world",
            help="simulation, or linux: run the cases that the real kernel can run there too, in real time.",
        ),
    ] = "simulation",
    seed: SeedOption = 1,
    repeat: Annotated[
        int | None,
        typer.Option(
            "--repeat",
            "-n",
            min=1,
            help="Number of replications; seeds count up. Default: 5, or 3 with --quick.",
        ),
    ] = None,
    json: Annotated[
        Path | None,
        typer.Option("--json", help="Write all values here; - is standard output."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option("--report", help="Write a dossier of each controller into this directory."),
    ] = None,
    threads: WorkersOption = 0,
    on: OnOption = THREADS,
    store: KeptOption = None,
    format_: FormatOption = TEXT,
) -> None:
    """Evaluate controllers by the criteria of RFC 9743, each beside Reno, CUBIC, LIA, OLIA and
    BALIA. Status 1 if one misses a goal of level MUST.
    """
    from .evaluate import EvaluateOptions, compare_command, evaluate_command

    options = EvaluateOptions(
        seed=seed,
        repeat=repeat,
        only=only or (),
        quick=quick,
        recordings=recording or (),
        world=world,
        json=json,
        report=report,
        making=Making.of(on, store, threads),
    )
    if compare:
        compare_command(what, json, options)
    else:
        evaluate_command(what, options)


@app.command(
    "break",
    cls=Command,
    epilog="Example: anabranch break lia --goal everybody-loses\n\n"
    "Example: anabranch break bbr --goal loses --buffer 0.1..1 --links 1 --paths 1\n\n"
    "Example: anabranch break my.law --trials 3400 --out out/mine\n\n"
    "Example: anabranch break lia --goal mine.py:second_path_idle --time 10min\n\n"
    "Example: anabranch break lia --goal everybody-loses --replay out/break/lia-everybody-loses/found.toml\n\n"
    "Example: sudo .venv/bin/anabranch break lia --goal everybody-loses --replay found.toml --world linux",
)
def break_(
    controller: Annotated[
        str,
        typer.Argument(help="A name such as lia, a law or its file, or FILE.py:CLASS."),
    ],
    goal: Annotated[
        str | None,
        typer.Option(
            "--goal",
            "-g",
            help="What to break: a name of `anabranch list goals`, or FILE.py:FUNCTION. Default: each in turn.",
        ),
    ] = None,
    limit: Annotated[
        float | None,
        typer.Option("--limit", help="The goal is broken above it. Default: the goal's own."),
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option(
            "--trials",
            min=1,
            help="Networks to try, of all goals together. Default: 1000, or 200 for each of all goals.",
        ),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(
            "--time",
            help="End the search after this time, such as 10min. What is found then depends on the machine.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=1, help="Seed of the search.")] = 1,
    rate: RateRangeOption = None,
    rtt: RttRangeOption = None,
    buffer: BufferRangeOption = None,
    loss: LossRangeOption = None,
    burst: BurstRangeOption = None,
    jitter: JitterRangeOption = None,
    reorder: ReorderRangeOption = None,
    links: LinksRangeOption = None,
    users: UsersRangeOption = None,
    paths: PathsRangeOption = None,
    queues: QueuesRangeOption = None,
    others: OthersRangeOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Write findings here, and keep what was tried: the same command goes on from there. Default: "
            "out/break/CONTROLLER-GOAL.",
        ),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Begin anew in --out.")] = False,
    replay: Annotated[
        Path | None,
        typer.Option(
            "--replay", help="Search nothing: score this scenario by the goal, on seeds from 1 on."
        ),
    ] = None,
    world: ReplayWorldOption = "simulation",
    repeat: ReplayedOption = None,
    json: JsonOption = None,
    threads: WorkersOption = 0,
    on: OnOption = THREADS,
    store: KeptOption = None,
    format_: FormatOption = TEXT,
) -> None:
    """Search for the smallest network on which a controller breaks a goal. Status 1 if there is
    one; 0 if none is found, which proves nothing.
    """
    from ..breaking.ranges import Ranges
    from .breaking import BreakOptions, break_command, replay_command
    from .options import time_from

    options = BreakOptions(
        goal=goal,
        world=world,
        repeat=repeat,
        limit=limit,
        ranges=Ranges().given(
            rate_bps=rate,
            rtt_s=rtt,
            buffer=buffer,
            loss=loss,
            burst=burst,
            jitter_s=jitter,
            reorder=reorder,
            links=links,
            users=users,
            paths=paths,
            queues=queues,
            others=others,
        ),
        trials=trials,
        seconds=time_from("--time", time, 'a time such as "10min"') if time else None,
        seed=seed,
        out=out,
        fresh=fresh,
        json=json,
        making=Making.of(on, store, threads),
    )
    if replay:
        replay_command(controller, replay, options)
    else:
        break_command(controller, options)


@app.command(
    cls=Command,
    epilog="Example: anabranch plot c.json.gz --kind windows --output windows.png\n\n"
    "Example: anabranch plot c.json.gz --kind shares --name OLIA --width 3.5in --output shares.pdf\n\n"
    "Example: anabranch plot laws.json.gz --output laws.png\n\n"
    "Example: anabranch plot air.json.gz --kind topology --at 10s",
)
def plot(
    results: Annotated[
        list[Path],
        typer.Argument(
            help="Files written by `run --json`, `theory --json` or `compare --json`; `compare` files have several results."
        ),
    ],
    kind: Annotated[
        str,
        typer.Option("--kind", "-k", help="What to draw; `anabranch list plots` shows all kinds."),
    ] = "shares",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Picture: .png, .svg or .pdf. Default: KIND.png."),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(
            "--at",
            help="With --kind topology: draw the network at this time. Default: the end of the run if there are nodes or "
            "media, else means over the run.",
        ),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(
            "--name",
            help="Label of a result in the figure; once for each result. Default: the controller, and as needed the "
            "scenario, overrides, world or file name.",
        ),
    ] = None,
    width: WidthOption = None,
    title: TitleOption = None,
) -> None:
    """Draw results."""
    from .draw import Looks, PlotOptions, plot_command
    from .options import time_from

    at_s = time_from("--at", at) if at is not None else None
    plot_command(results, PlotOptions(kind, output, name or (), at_s, Looks(width, title)))


@app.command(cls=Command, epilog="Example: anabranch animate air.json.gz --output air.html")
def animate(
    result: Annotated[Path, typer.Argument(help="A file written by `run --series --json`.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The page to write. Default: animation.html."),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, help="Seed of the replication to play. Default: the first."),
    ] = None,
) -> None:
    """Write a page that plays a run: links with their queues, nodes, flows, windows and drops."""
    from .animate import animate_command

    animate_command(result, output, seed)


@app.command(
    cls=Command,
    epilog="Example: anabranch explore khalili/scenario-c\n\n"
    "Example: anabranch explore khalili:c-lia-30\n\n"
    "Example: anabranch explore c.json.gz --port 8000 --no-browser",
)
def explore(
    scenario: Annotated[
        str | None,
        typer.Argument(
            help="What to show first: a TOML file, a shipped scenario, a cell of a document such as khalili:c-lia-30, or "
            "a result written by `run --json` (.json or .json.gz). Default: scenario C."
        ),
    ] = None,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port on loopback. Default: a free one.")
    ] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Only print the address of the page.")
    ] = False,
) -> None:
    """Open a page that runs scenarios while their sliders are moved, and shows who pays."""
    from .explore import explore_command

    explore_command(scenario, port, not no_browser)


@app.command(
    cls=Command,
    epilog="Example: anabranch show khalili/scenario-c > mine.toml\n\n"
    'Example: anabranch show khalili:c-lia-30 --set "duration=60 s" > mine.toml',
)
def show(
    scenario: ScenarioArgument,
    controller: ControllerOption = None,
    set_: SetOption = None,
) -> None:
    """Print the text of a scenario, as a start for your own."""
    from .listing import show_command

    show_command(scenario, controller, set_ or [])


@app.command(
    "list",
    cls=Command,
    epilog="Example: anabranch list controllers\n\nExample: anabranch list cells khalili\n\n"
    "Example: anabranch list claims khalili",
)
def list_(
    what: Annotated[
        str,
        typer.Argument(help=f"{listed(LISTS, 'or')}."),
    ],
    of: Annotated[
        str | None, typer.Argument(help="With cells or claims: the document, such as khalili.")
    ] = None,
    long: Annotated[
        bool,
        typer.Option(
            "--long", help="Also show formulas, sources, options, full statements or units."
        ),
    ] = False,
    format_: FormatOption = TEXT,
) -> None:
    """List the names that commands and scenarios accept, with descriptions."""
    from .listing import list_command

    list_command(what, of, long)
