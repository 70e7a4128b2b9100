"""The commands of `anabranch law` and their options. What they do is in `lawcheck`."""

from __future__ import annotations

from typing import Annotated

import typer

from .arguments import Command, Commands, FormatOption, JsonOption
from .formats import TEXT

law_app = typer.Typer(
    cls=Commands,
    help="Laws written as text: your own controller from two formulas.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)

LawArgument = Annotated[
    str,
    typer.Argument(
        metavar="LAW",
        help="A file such as my.law, with parameters after a colon (my.law:beta=0.3), or a shipped law such as "
        "gentle.",
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
    """Check a law: its properties, with the smallest counterexample; its fixed point in three
    networks, and whether it is stable; and whether the kernel can run it. Status 1 if the law
    breaks a property of all shipped laws, or has no fixed point."""
    from .lawcheck import check_command

    check_command(law, json)


@law_app.command(cls=Command, epilog="Example: anabranch law show gentle > my.law")
def show(law: LawArgument) -> None:
    """Print the text of a law, as a start for your own."""
    from .lawcheck import show_command

    show_command(law)


@law_app.command("list", cls=Command, epilog="Example: anabranch law list")
def list_(format_: FormatOption = TEXT) -> None:
    """List the shipped laws that are written as text."""
    from .lawcheck import list_command

    list_command()


@law_app.command(cls=Command, epilog="Example: anabranch law c gentle > my_law.h")
def c(law: LawArgument) -> None:
    """Print a law as a C header for the kernel, in integer arithmetic, with its error bound."""
    from .lawcheck import c_command

    c_command(law)
