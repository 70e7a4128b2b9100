"""Commands, and the arguments and options that several of them share."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from ..files import STANDARD_OUTPUT, is_standard_output
from . import INTERRUPTED, terminal
from .formats import FORMATS, TEXT, checked_format
from .streams import writable


class Command(TyperCommand):
    """A command. Its help shows flags without a value, for they take none. Where an option that
    names a file is `-`, standard output takes that file alone.
    """

    def get_params(self, ctx: Any) -> list[Any]:
        """All parameters."""
        return readable(super().get_params(ctx))

    def invoke(self, ctx: Any) -> Any:
        """Runs the command."""
        terminal.output.format = checked_format(ctx.params.get(FORMAT, TEXT))
        terminal.output.reserved = any(
            parameter.param_type_name == "option"
            and is_standard_output(ctx.params.get(parameter.name))
            for parameter in self.get_params(ctx)
        )
        return super().invoke(ctx)


ALONE = {"--json": STANDARD_OUTPUT, "--metrics": STANDARD_OUTPUT, "--shared": "20"}
"""What options mean whose value was left out."""


class AloneCommand(Command):
    """A command without arguments, some of whose options may stand without a value: `ALONE`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Reads the words of the command line."""
        words: list[str] = []
        for word, following in zip(args, [*args, "--"][1:], strict=True):
            alone = word in ALONE and following.startswith("-") and following != STANDARD_OUTPUT
            words += [word, ALONE[word]] if alone else [word]
        return super().parse_args(ctx, words)


class Commands(TyperGroup):
    """The commands together; an interrupt is said and has its status."""

    def get_params(self, ctx: Any) -> list[Any]:
        """All parameters."""
        return readable(super().get_params(ctx))

    def make_context(self, *words: Any, **options: Any) -> Any:
        """Reads the command line."""
        with interruptible():
            return super().make_context(*words, **options)

    def invoke(self, ctx: Any) -> Any:
        """Runs the command that was named."""
        with interruptible():
            return super().invoke(ctx)


@contextmanager
def interruptible() -> Iterator[None]:
    """Says that an interrupt ended the command; typer would be silent."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo("interrupted", err=True)
        raise typer.Exit(INTERRUPTED) from None


def readable(parameters: list[Any]) -> list[Any]:
    """The parameters as help shows them: flags take no value, and their texts have only letters
    that standard output has.
    """
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
        if getattr(parameter, "help", None):
            parameter.help = writable(parameter.help, sys.stdout)
    return parameters


ScenarioArgument = Annotated[
    str,
    typer.Argument(
        help="A TOML file, a shipped scenario such as khalili/scenario-c, or a cell of a document such as "
        "khalili:c-lia-30.",
    ),
]
ControllerOption = Annotated[
    str | None,
    typer.Option(
        "--controller",
        "-c",
        help="Controller of the flows with `subject`; if none has it, of those with several paths, or else of all.",
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help='Override, such as link.ap1.rate="5 Mb/s" or duration="60 s". Repeatable.',
    ),
]
RecordingOption = Annotated[
    list[str] | None,
    typer.Option(
        "--recording",
        help="A file of delivery opportunities of a cellular link, as mahimahi has them: a case more for cellular and "
        "cellular-delay. Repeatable.",
    ),
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="First seed.")]
RepeatOption = Annotated[
    int, typer.Option("--repeat", "-n", min=1, help="Number of replications; seeds count up.")
]
JsonOption = Annotated[
    Path | None,
    typer.Option(
        "--json",
        help="Write the result to this file, compressed if its name ends in .gz; - is standard output.",
    ),
]
FORMAT = "format_"
"""Parameter of commands that print tables; `Command` reads it for all of them."""
FormatOption = Annotated[
    str,
    typer.Option("--format", help=f"Format of the tables: {', '.join((TEXT, *FORMATS))}."),
]

# For every command that draws a figure.
WidthOption = Annotated[
    str | None,
    typer.Option(
        "--width",
        help="Width of the figure, such as 3.5in, 7.16in, 88mm or 252pt; text scales with it. Default: 8in.",
    ),
]
TitleOption = Annotated[
    str | None, typer.Option("--title", help="Title of the figure. Default: no title.")
]

# For `run`: captures and logs written during the run.
PcapOption = Annotated[
    Path | None,
    typer.Option("--pcap", help="Capture packets at the senders, as pcapng; for one seed only."),
]
QlogOption = Annotated[
    Path | None,
    typer.Option(
        "--qlog",
        help="Log every path as qlog, for one seed only: a name that ends in .sqlog is written as the current drafts "
        "define it (JSON-SEQ), every other as 0.3, for qvis.",
    ),
]
QlogVersionOption = Annotated[
    str | None,
    typer.Option(
        "--qlog-version", help="0.3, or draft for the current drafts. Default: by the name's end."
    ),
]
KernelQlogOption = Annotated[
    Path | None,
    typer.Option(
        "--qlog",
        help="Log the samples of every path as the current drafts of qlog define it, for one seed only: as JSON-SEQ if "
        "the name ends in .sqlog, else as JSON.",
    ),
]
FlentOption = Annotated[
    Path | None,
    typer.Option(
        "--flent",
        help="Write the samples as a data file of Flent, FILE.flent.gz; for one seed only, implies --series.",
    ),
]
RecordUntilOption = Annotated[
    str | None, typer.Option("--record-until", help="Capture and log up to this time, such as 10s.")
]
PcapKeepOption = Annotated[
    int | None,
    typer.Option(
        "--pcap-keep", help="Keep this many bytes of each packet, at least 80. Default: all."
    ),
]

# For `theory`: allocations to compare with the equilibrium.
AlphaOption = Annotated[
    float | None,
    typer.Option("--alpha", help="Also show the α-fair allocation; α is from 0 to 32."),
]
MaxminOption = Annotated[
    bool, typer.Option("--maxmin", help="Also show the max-min fair allocation.")
]
ParetoOption = Annotated[
    bool,
    typer.Option(
        "--pareto",
        help="Say whether the equilibrium is Pareto-optimal; if not, show a better allocation.",
    ),
]
FluidOption = Annotated[
    bool,
    typer.Option("--fluid", help="Show stability and settling times of the fluid model."),
]
PortraitOption = Annotated[
    Path | None,
    typer.Option(
        "--portrait", help="Draw trajectories of the fluid model here: .png, .svg or .pdf."
    ),
]
AxesOption = Annotated[
    str | None,
    typer.Option(
        "--axes",
        help="The two axes of the portrait, each CLASS.PATH or queue:LINK. Default: two windows.",
    ),
]
MapOption = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        help="Axis of a grid of equilibria: KEY=V1,V2,… or KEY=FIRST..LAST:COUNT UNIT; keys as in --set. Once or twice.",
    ),
]
OfOption = Annotated[
    str,
    typer.Option(
        "--of", help="Quantity on the map: rate (of each class), total or jain (Jain's index)."
    ),
]
OutOption = Annotated[
    Path | None, typer.Option("--out", help="Draw the map here: .png, .svg or .pdf.")
]
