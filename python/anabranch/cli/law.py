"""The commands of `anabranch law` and their options. What they do is in `lawcheck`."""

from __future__ import annotations

from typing import Annotated

import typer

from .arguments import Command, Commands, FormatOption, JsonOption
from .formats import TEXT

law_app = typer.Typer(
    cls=Commands,
    help="Laws that are written as text: your own controller from two formulas.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)

LawArgument = Annotated[
    str,
    typer.Argument(
        metavar="LAW",
        help="A file such as my.law, with parameters behind a colon (my.law:beta=0.3), or a law that ships, "
        "such as gentle.",
    ),
]


@law_app.command(
    cls=Command,
    epilog='Example: anabranch law check gentle\n\nExample: anabranch law check "phi:phi=0.5"',
)
def check(
    law: LawArgument,
    json: JsonOption = None,
    format_: FormatOption = TEXT,
) -> None:
    """Show what a law promises and what it breaks, each with the smallest example; whether it has a
    fixed point in three networks and comes back to it; and whether the kernel can run it. Status 1
    when it breaks what every shipped law keeps, or has no fixed point."""
    from .lawcheck import check_command

    check_command(law, json)


@law_app.command(cls=Command, epilog="Example: anabranch law show gentle > my.law")
def show(law: LawArgument) -> None:
    """Print the text of a law, to begin one of your own with."""
    from .lawcheck import show_command

    show_command(law)


@law_app.command("list", cls=Command, epilog="Example: anabranch law list")
def list_(format_: FormatOption = TEXT) -> None:
    """List the laws that ship as text."""
    from .lawcheck import list_command

    list_command()


@law_app.command(cls=Command, epilog="Example: anabranch law c gentle > my_law.h")
def c(law: LawArgument) -> None:
    """Print the law as a header in C, as the kernel runs it: whole numbers, with the bound on its
    error."""
    from .lawcheck import c_command

    c_command(law)
