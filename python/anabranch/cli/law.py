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


@law_app.command(
    cls=Command,
    epilog="Example: anabranch law prove lia --claim tcp-share --within 0.01\n\n"
    "Example: anabranch law prove reno --paths 3 --within 2.1\n\n"
    "Example: anabranch law prove lia --claim do-no-harm --harm 0.05 --others 1\n\n"
    "Example: anabranch law prove balia --claim best-path --within 0.06\n\n"
    'Example: anabranch law prove gentle --claim do-no-harm --loss 0.1%..5% --rtt "20..200 ms" --json proof.json',
)
def prove(
    law: LawArgument,
    *,
    claim: Annotated[
        str,
        typer.Option(
            "--claim",
            help="tcp-share: through one bottleneck all paths together send at most as much as one TCP; do-no-harm: "
            "no path sends more than a TCP in its place; best-path: all paths together send at least as much as a TCP "
            "on the best one.",
        ),
    ] = "tcp-share",
    within: Annotated[
        float | None,
        typer.Option(
            "--within",
            help="The part of TCP's rate by which the claim may be missed. Default: 0.1.",
        ),
    ] = None,
    harm: Annotated[
        float | None,
        typer.Option(
            "--harm",
            help="Instead of --within: the largest part of its rate that each of --others TCPs on a link may lose, "
            "beside what it has with a TCP in the connection's place.",
        ),
    ] = None,
    others: Annotated[int, typer.Option("--others", help="With --harm: TCPs on the link.")] = 1,
    paths: Annotated[int, typer.Option("--paths", help="Number of paths, from 1 to 8.")] = 2,
    loss: Annotated[
        str, typer.Option("--loss", help="Loss probabilities, LEAST..MOST or one value.")
    ] = "1e-4..0.05",
    rtt: Annotated[
        str, typer.Option("--rtt", help="Round trips, LEAST..MOST or one value.")
    ] = "10 ms..300 ms",
    floor: Annotated[float, typer.Option("--floor", help="The least window in segments.")] = 1.0,
    boxes: Annotated[
        int, typer.Option("--boxes", min=1, help="Most boxes to look at before the rest is open.")
    ] = 200_000,
    json: JsonOption = None,
    format_: FormatOption = TEXT,
) -> None:
    """Prove a claim about all fixed points of a law over ranges of losses and round trips, by
    interval arithmetic, or give a fixed point that breaks it. Status 0 proved, 1 disproved, 3 open."""
    from .lawproof import prove_command

    prove_command(
        law,
        claim=claim,
        within=within,
        paths=paths,
        loss=loss,
        rtt=rtt,
        floor=floor,
        boxes=boxes,
        harm=harm,
        others=others,
        json=json,
    )
