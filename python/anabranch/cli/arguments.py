"""Commands, and the arguments and options that several of them share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from . import INTERRUPTED


class Command(TyperCommand):
    """A command whose help shows flags without a value, for they take none."""

    def get_params(self, ctx: Any) -> list[Any]:
        """All parameters."""
        return without_values(super().get_params(ctx))


class Commands(TyperGroup):
    """The commands together; an interrupt is said and has its status."""

    def get_params(self, ctx: Any) -> list[Any]:
        """All parameters."""
        return without_values(super().get_params(ctx))

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


def without_values(parameters: list[Any]) -> list[Any]:
    """The parameters, flags among them marked as taking no value."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
    return parameters


ScenarioArgument = Annotated[
    str, typer.Argument(help="A TOML file, or a shipped scenario such as khalili/scenario-c.")
]
ControllerOption = Annotated[
    str | None,
    typer.Option(
        "--controller",
        "-c",
        help="Controller of all flows with several paths (of all flows, if none has).",
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help='Override, such as link.ap1.rate="5 Mb/s" or flow.multipath.count=30. Repeatable.',
    ),
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="First seed.")]
RepeatOption = Annotated[
    int, typer.Option("--repeat", "-n", min=1, help="Number of replications; seeds count up.")
]
JsonOption = Annotated[
    Path | None,
    typer.Option("--json", help="Write the result here (compressed if it ends in .gz)."),
]
ThreadsOption = Annotated[
    int, typer.Option("--threads", min=0, help="Threads; 0 takes every core.")
]
