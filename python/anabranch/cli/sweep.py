"""The commands of `anabranch sweep` and their options. What they do is in `sweeping`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .arguments import (
    Command,
    Commands,
    FormatOption,
    JsonOption,
    SetOption,
    TitleOption,
    WidthOption,
)
from .formats import TEXT
from .making import THREADS, OnOption

RUN = "run"


class SweepCommands(Commands):
    """The commands; what is none of them is a sweep to run: `anabranch sweep FILE.toml`."""

    usual = RUN

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Reads the words of the command line."""
        if args and args[0] not in (*self.commands, "--help", "-h"):
            args = [RUN, *args]
        return super().parse_args(ctx, args)


sweep_app = typer.Typer(
    cls=SweepCommands,
    help="Many runs: axes, controllers and seeds, on threads or a cluster, in a store that can be asked.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)

StoreArgument = Annotated[Path, typer.Argument(metavar="STORE", help="The folder of a sweep.")]
TableOption = Annotated[
    str, typer.Option("--table", help="A table of the store, such as classes, runs or links.")
]


@sweep_app.command(
    RUN,
    cls=Command,
    epilog="Example: anabranch sweep khalili/scenario-c --vary flow.multipath.count=5,10,20 --controllers lia,olia "
    "--seeds 5 --set duration=60s\n\nExample: anabranch sweep khalili/scenario-c --seeds 5 --on dask --workers 2 "
    "--set duration=40s --store dask.sweep",
)
def run(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SWEEP", help="A TOML file of a sweep, or what `run` takes: a scenario."
        ),
    ],
    vary: Annotated[
        list[str] | None,
        typer.Option(
            "--vary",
            help="Axis: KEY=V1,V2,… or KEY=FIRST..LAST:COUNT [log] UNIT, keys as in --set; with a semicolon, keys "
            "that change together; KEY=FIRST..LAST UNIT, a range that --sample draws from. Repeatable.",
        ),
    ] = None,
    sample: Annotated[
        str | None,
        typer.Option(
            "--sample",
            metavar="METHOD:COUNT",
            help="Points in all ranges without a count: random, lhs (Latin hypercube) or sobol.",
        ),
    ] = None,
    derive: Annotated[
        list[str] | None,
        typer.Option(
            "--derive",
            help='A value that follows from those of axes, such as "link.a.rate=flow.b.count * 1 Mb/s", or '
            "KEY=FILE.py:FUNCTION, which gets the values by key. Repeatable.",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            help='Points where this holds, such as "flow.multipath.count <= 20". Repeatable.',
        ),
    ] = None,
    controllers: Annotated[
        str | None,
        typer.Option(
            "--controllers", help="Controllers by commas, such as lia,my.law:beta={0.2,0.5}."
        ),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option("--seeds", min=1, help="Seeds of each, from 1 on.")
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            "--until",
            help='More seeds where 95 % intervals are wider, such as "throughput_bps ±2%".',
        ),
    ] = None,
    most_seeds: Annotated[
        int, typer.Option("--most-seeds", min=3, help="Seeds of each at most, with --until.")
    ] = 100,
    set_: SetOption = None,
    tables: Annotated[
        str | None,
        typer.Option(
            "--tables", help="Tables to keep beside runs and classes, such as links,paths."
        ),
    ] = None,
    store: Annotated[
        Path | None, typer.Option("--store", help="The folder. Default: NAME.sweep.")
    ] = None,
    on: OnOption = THREADS,
    workers: Annotated[
        int, typer.Option("--workers", min=0, help="How many here; 0 is one for each processor.")
    ] = 0,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what it would be, from probes.")
    ] = False,
) -> None:
    """Run what a store does not have yet; started again, a sweep goes on. Status 1 when a run
    fails."""
    from .sweeping import SweepOptions, run_command

    run_command(
        SweepOptions(
            source=source,
            vary=vary or [],
            sample=sample,
            derive=derive or [],
            only=only or [],
            until=until,
            most_seeds=most_seeds,
            controllers=controllers,
            seeds=seeds,
            overrides=set_ or [],
            tables=tables,
            store=store,
            on=on,
            workers=workers,
            dry_run=dry_run,
        )
    )


@sweep_app.command(cls=Command, epilog="Example: anabranch sweep status scenario-c.sweep")
def status(store: StoreArgument, json: JsonOption = None, format_: FormatOption = TEXT) -> None:
    """Show what a store has: runs, axes, versions, failures. Status 1 when a run of this version
    has failed."""
    from .sweepstore import status_command

    status_command(store, json)


@sweep_app.command(cls=Command, epilog="Example: anabranch sweep verify scenario-c.sweep")
def verify(
    store: StoreArgument,
    sample: Annotated[
        int, typer.Option("--sample", min=1, help="Runs to make again, drawn evenly.")
    ] = 20,
) -> None:
    """Read all files, make some of the runs again and compare their rows. Status 1 when one
    differs or a file is broken."""
    from .sweepstore import verify_command

    verify_command(store, sample)


@sweep_app.command(
    cls=Command, epilog="Example: anabranch sweep export scenario-c.sweep classes.csv"
)
def export(
    store: StoreArgument,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A .csv, .parquet or .feather file.")
    ],
    table: TableOption = "classes",
) -> None:
    """Write a table into one file, each run once."""
    from .sweepanswers import export_command

    export_command(store, file, table)


@sweep_app.command(cls=Command, epilog="Example: anabranch sweep compact scenario-c.sweep")
def compact(
    store: StoreArgument,
    drop_failures: Annotated[
        bool,
        typer.Option("--drop-failures", help="Forget all runs that failed; they stay to be made."),
    ] = False,
) -> None:
    """Merge parts into few large ones, each run once, and remove what killed drivers have left."""
    from .sweepstore import compact_command

    compact_command(store, drop_failures)


@sweep_app.command(
    cls=Command,
    epilog='Example: anabranch sweep query scenario-c.sweep "select controller, class, avg(throughput_bps)/1e6 as '
    'mbps from classes group by all"',
)
def query(
    store: StoreArgument,
    sql: Annotated[str, typer.Argument(metavar="SQL", help="A question in SQL, as DuckDB has it.")],
    format_: FormatOption = TEXT,
) -> None:
    """Ask a store in SQL; its tables are runs, classes, and those that were kept."""
    from .sweepanswers import query_command

    query_command(store, sql)


@sweep_app.command(
    cls=Command,
    epilog="Example: anabranch sweep plot scenario-c.sweep --x flow.multipath.count --y throughput_bps --output c.png"
    "\n\nExample: anabranch sweep plot scenario-c.sweep --x throughput_bps --y rtt_mean_s --output front.png",
)
def plot(
    store: StoreArgument,
    x: Annotated[
        str, typer.Option("--x", help="The axis along the figure, or a metric: then points.")
    ],
    y: Annotated[str, typer.Option("--y", help="The metric that is drawn.")] = "throughput_bps",
    by: Annotated[
        str, typer.Option("--by", help="A line, map or colour for each value of this column.")
    ] = "controller",
    panels: Annotated[
        str | None,
        typer.Option(
            "--panels",
            help="Columns by commas; a panel for each combination of their values. Default: class, or what else "
            "rows are about.",
        ),
    ] = None,
    down: Annotated[
        str | None, typer.Option("--down", help="A second axis: maps with contours over both.")
    ] = None,
    paired: Annotated[
        str | None,
        typer.Option(
            "--paired",
            metavar="VALUE",
            help="Draw differences to this value of --by, of runs with the same seed.",
        ),
    ] = None,
    better: Annotated[
        str | None,
        typer.Option(
            "--better",
            help="Which way metrics are better, such as throughput_bps:more,rtt_mean_s:less. Default: by their names.",
        ),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            "--where",
            help="COLUMN=VALUE that rows are to have, or COLUMN=VALUE,VALUE. Repeatable.",
        ),
    ] = None,
    table: TableOption = "classes",
    output: Annotated[
        Path, typer.Option("--output", "-o", help="A .png, .svg or .pdf file.")
    ] = Path("sweep.png"),
    width: WidthOption = None,
    title: TitleOption = None,
) -> None:
    """Draw a metric: lines over an axis, maps over two, or points against another metric."""
    from ..sweeps.answers import Question
    from .draw import Looks
    from .sweepanswers import plot_command

    asked = Question(
        x,
        y,
        by,
        table=table,
        panels=panels or "",
        down=down or "",
        paired=paired or "",
        better=better,
    )
    plot_command(store, asked, where or [], output, Looks(width, title))
