"""The commands of `anabranch quic`: files over multipath QUIC on real sockets. What they do is in
`transferring`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .arguments import Command, Commands, FormatOption, JsonOption
from .formats import TEXT

quic_app = typer.Typer(
    cls=Commands,
    help="Files over several paths of QUIC, under coupled congestion control, on real sockets.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)

IdentityOption = Annotated[
    Path | None,
    typer.Option(
        "--identity",
        help="Directory of the server's certificate and key, made at its first start. Default: "
        "anabranch/quic in $XDG_STATE_HOME, or in ~/.local/state.",
    ),
]
QlogOption = Annotated[
    Path | None,
    typer.Option("--qlog", help="Directory for a qlog file of each connection, as noq writes it."),
]


@quic_app.command(
    cls=Command,
    epilog="Example: anabranch quic serve /srv/images --listen 0.0.0.0:4433 --controller balia\n\n"
    "Example: anabranch quic serve large.iso --controller noq:cubic --qlog traces",
)
def serve(
    root: Annotated[
        Path,
        typer.Argument(
            metavar="ROOT", help="A file, or a directory: then every file below it, and no other."
        ),
    ],
    listen: Annotated[
        str,
        typer.Option(
            "--listen",
            help="ADDRESS:PORT; port 0 lets the system choose. 0.0.0.0 is every address.",
        ),
    ] = "0.0.0.0:4433",
    controller: Annotated[
        str,
        typer.Option(
            "--controller",
            "-c",
            help="What controls the paths of a connection together: a name of `anabranch list controllers`. Or, "
            "on each path for itself, noq:newreno, noq:cubic or noq:bbr3.",
        ),
    ] = "lia",
    identity: IdentityOption = None,
    qlog: QlogOption = None,
) -> None:
    """Serve files over QUIC until interrupted. The server sends, so its controller is the one that
    counts.
    """
    from .transferring import serve_command

    serve_command(root, listen, controller, identity, qlog)


@quic_app.command(
    cls=Command,
    epilog="Example: anabranch quic fetch 192.0.2.7:4433/large.iso --fingerprint 3f0c --via 10.0.0.2 --via "
    "192.168.1.5\n\nExample: anabranch quic fetch 192.0.2.7:4433/large.iso --fingerprint 3f0c --discard "
    "--duration 30 --warm-up 5 --json paths.json",
)
def fetch(
    target: Annotated[str, typer.Argument(metavar="HOST:PORT/NAME", help="What to fetch.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Where the file goes. Default: its name, here."),
    ] = None,
    via: Annotated[
        list[str] | None,
        typer.Option(
            "--via",
            help="A local IP address; a path is opened from each, and again when it fails. Repeatable. "
            "Default: one path, as the system routes it.",
        ),
    ] = None,
    to: Annotated[
        list[str] | None,
        typer.Option(
            "--to",
            help="ADDRESS:PORT of the server for the path of the same place among --via, instead of "
            "HOST:PORT. Repeatable.",
        ),
    ] = None,
    port: Annotated[
        int,
        typer.Option(
            "--port",
            min=0,
            max=65535,
            help="Local UDP port of all paths; 0 lets the system choose.",
        ),
    ] = 0,
    fingerprint: Annotated[
        str | None,
        typer.Option("--fingerprint", help="The server's, as it prints it; no other is accepted."),
    ] = None,
    insecure: Annotated[
        bool,
        typer.Option(
            "--insecure",
            help="Accept any server: whoever is between can read and change what is transferred.",
        ),
    ] = False,
    continue_: Annotated[
        bool,
        typer.Option("--continue", help="Go on where OUTPUT.part of an earlier transfer ends."),
    ] = False,
    discard: Annotated[
        bool, typer.Option("--discard", help="Write no file: measure the transfer only.")
    ] = False,
    duration: Annotated[
        float | None, typer.Option("--duration", help="End after that many seconds.")
    ] = None,
    warm_up: Annotated[
        float, typer.Option("--warm-up", help="Seconds at the beginning that are not measured.")
    ] = 0.0,
    qlog: QlogOption = None,
    json: JsonOption = None,
    format_: FormatOption = TEXT,
) -> None:
    """Fetch a file over several paths of one QUIC connection. It is written beside its place,
    checked against the server's SHA-256, and moved there.
    """
    from .transferring import FetchOptions, fetch_command

    options = FetchOptions(
        output=output,
        via=via or [],
        to=to or [],
        port=port,
        fingerprint=fingerprint,
        insecure=insecure,
        resume=continue_,
        discard=discard,
        duration_s=duration,
        warm_up_s=warm_up,
        qlog=qlog,
        json=json,
    )
    fetch_command(target, options)


@quic_app.command(
    cls=Command, epilog="Example: anabranch quic fingerprint --identity /etc/anabranch/quic"
)
def fingerprint(identity: IdentityOption = None) -> None:
    """Print the fingerprint of this machine's server, for its clients."""
    from .transferring import fingerprint_command

    fingerprint_command(identity)
