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
    help="Parameter sweeps: runs over axes, controllers and seeds, on threads or a cluster, in a store for queries.",
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
            metavar="SWEEP", help="The TOML file of a sweep, or a scenario as for `run`."
        ),
    ],
    vary: Annotated[
        list[str] | None,
        typer.Option(
            "--vary",
            help="Axis: KEY=V1,V2,… or KEY=FIRST..LAST:COUNT [log] UNIT; keys as in --set. Semicolons join keys that "
            "change together. KEY=FIRST..LAST UNIT is a range for --sample. Repeatable.",
        ),
    ] = None,
    sample: Annotated[
        str | None,
        typer.Option(
            "--sample",
            metavar="METHOD:COUNT",
            help="Draw points from the ranges without a count: random, lhs (Latin hypercube) or sobol.",
        ),
    ] = None,
    derive: Annotated[
        list[str] | None,
        typer.Option(
            "--derive",
            help='Compute a key from the axes, such as "link.a.rate=flow.b.count * 1 Mb/s", or by '
            "KEY=FILE.py:FUNCTION, which gets a dictionary of the values. Repeatable.",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            help='Keep only points with this condition, such as "flow.multipath.count <= 20". Repeatable.',
        ),
    ] = None,
    controllers: Annotated[
        str | None,
        typer.Option(
            "--controllers",
            help="Controllers, separated by commas, such as lia,my.law:beta={0.2,0.5}.",
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            "--seeds", min=1, help="Number of seeds of each configuration; seeds count up from 1."
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            "--until",
            help='Add seeds until 95 % intervals are this narrow, such as "throughput_bps ±2%".',
        ),
    ] = None,
    most_seeds: Annotated[
        int,
        typer.Option("--most-seeds", min=3, help="With --until: most seeds of a configuration."),
    ] = 100,
    set_: SetOption = None,
    tables: Annotated[
        str | None,
        typer.Option(
            "--tables", help="Tables to keep in addition to runs and classes, such as links,paths."
        ),
    ] = None,
    store: Annotated[
        Path | None, typer.Option("--store", help="The folder of the store. Default: NAME.sweep.")
    ] = None,
    on: OnOption = THREADS,
    workers: Annotated[
        int,
        typer.Option(
            "--workers",
            min=0,
            help="Number of workers on this machine; 0 is one for each processor.",
        ),
    ] = 0,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Only estimate runs, time and size, from a few probes."),
    ] = False,
) -> None:
    """Make the runs that the store does not have yet; a repeated command continues an interrupted
    sweep. Status 1 if a run fails."""
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
    """Show the runs, axes, versions and failures of a store. Status 1 if a run of this version has
    failed."""
    from .sweepstore import status_command

    status_command(store, json)


@sweep_app.command(cls=Command, epilog="Example: anabranch sweep verify scenario-c.sweep")
def verify(
    store: StoreArgument,
    sample: Annotated[
        int, typer.Option("--sample", min=1, help="Number of runs to repeat, drawn evenly.")
    ] = 20,
) -> None:
    """Check a store: read all files, repeat some runs and compare their rows. Status 1 if a row
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
        typer.Option("--drop-failures", help="Also delete the records of failed runs."),
    ] = False,
) -> None:
    """Merge the parts of a store into few large ones, each run once, and remove leftovers of killed
    drivers."""
    from .sweepstore import compact_command

    compact_command(store, drop_failures)


@sweep_app.command(
    cls=Command,
    epilog='Example: anabranch sweep query scenario-c.sweep "select controller, class, avg(throughput_bps)/1e6 as '
    'mbps from classes group by all"',
)
def query(
    store: StoreArgument,
    sql: Annotated[str, typer.Argument(metavar="SQL", help="A query in DuckDB's SQL.")],
    format_: FormatOption = TEXT,
) -> None:
    """Query a store in SQL; its tables are runs, classes, and those of --tables."""
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
        str, typer.Option("--x", help="Horizontal axis; with a metric, the figure shows points.")
    ],
    y: Annotated[str, typer.Option("--y", help="The metric to draw.")] = "throughput_bps",
    by: Annotated[
        str, typer.Option("--by", help="Draw a line, map or colour for each value of this column.")
    ] = "controller",
    panels: Annotated[
        str | None,
        typer.Option(
            "--panels",
            help="Columns, separated by commas; each combination of their values has a panel. Default: class, link or "
            "station, as the table has them.",
        ),
    ] = None,
    down: Annotated[
        str | None,
        typer.Option("--down", help="Vertical axis: draw maps with contours over both axes."),
    ] = None,
    paired: Annotated[
        str | None,
        typer.Option(
            "--paired",
            metavar="VALUE",
            help="Draw differences to this value of --by, between runs with the same seed.",
        ),
    ] = None,
    better: Annotated[
        str | None,
        typer.Option(
            "--better",
            help="Whether more or less of a metric is better: throughput_bps:more,rtt_mean_s:less. Default: by its name.",
        ),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            "--where",
            help="Use only rows with COLUMN=VALUE, or one of COLUMN=VALUE,VALUE. Repeatable.",
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
