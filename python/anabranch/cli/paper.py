"""The commands of `anabranch paper` and their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .arguments import Command, Commands, FormatOption, JsonOption
from .formats import TEXT

paper_app = typer.Typer(
    cls=Commands,
    help="Papers as folders of data: your own claims, cells and measures.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)


@paper_app.command(
    cls=Command,
    epilog="Example: anabranch paper new my-paper\n\nExample: anabranch reproduce ./my-paper --quick",
)
def new(
    name: Annotated[str, typer.Argument(help="Key of the paper, such as wischik-2011.")],
    into: Annotated[
        Path | None, typer.Option("--in", help="Make the folder in here. Default: this directory.")
    ] = None,
) -> None:
    """Write a small paper to begin with: a ledger with two claims, cells, a scenario and a measure.
    It runs as it is."""
    from .papers import new_command

    new_command(name, into or Path())


@paper_app.command(cls=Command, epilog="Example: anabranch paper check ./my-paper")
def check(
    paper: Annotated[str, typer.Argument(help="A folder with a ledger, or a document's key.")],
    json: JsonOption = None,
    format_: FormatOption = TEXT,
) -> None:
    """Check a paper without running anything, and show for each claim what is measured in which
    cells."""
    from .papers import check_command

    check_command(paper, json)


@paper_app.command(cls=Command, epilog="Example: anabranch paper schema > ledger.schema.json")
def schema() -> None:
    """Print the JSON schema of a ledger's files, for editors."""
    from .papers import schema_command

    schema_command()
