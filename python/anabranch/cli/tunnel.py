"""The commands of `anabranch tunnel`: ordinary TCP connections over several paths between two
hosts. What they do is in `tunnelling`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .arguments import Command, Commands

tunnel_app = typer.Typer(
    cls=Commands,
    help="Ordinary TCP connections over several paths between two hosts, encrypted, under any "
    "controller of the laboratory.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)

KeyOption = Annotated[
    Path,
    typer.Option("--key", help="File with this host's secret key: see `anabranch tunnel key`."),
]
OverOption = Annotated[
    str,
    typer.Option(
        "--over",
        help="What is under the streams, the same on both sides: udp, a transport of its own with "
        "coded paths, or mptcp, Multipath TCP in packets of its own, which needs CAP_NET_RAW.",
    ),
]
ControllerOption = Annotated[
    str,
    typer.Option(
        "--controller",
        "-c",
        help="What controls the paths of what this side sends: a name of `anabranch list "
        "controllers`, or the text of a law.",
    ),
]
RedundancyOption = Annotated[
    float | None,
    typer.Option(
        "--redundancy",
        help="R: combinations that this side sends for each segment, at first; then it follows the "
        "loss of the path. Default: 1.05.",
    ),
]
PlainOption = Annotated[
    bool, typer.Option("--uncoded", help="Segments leave as they are, without network coding.")
]
UpToOption = Annotated[
    float | None, typer.Option("--up-to", help="Largest redundancy. Default: 1.5.")
]
WindowOption = Annotated[
    int | None,
    typer.Option(
        "--window", min=1, max=255, help="W: segments that a combination covers. Default: 6."
    ),
]
RateOption = Annotated[
    str | None,
    typer.Option("--rate", help="Most that this side sends, such as '20 Mb/s'. Default: no limit."),
]
TimeoutOption = Annotated[
    float,
    typer.Option(
        "--timeout",
        help="Seconds of silence on all paths after which the connection and its streams end.",
    ),
]
DatagramOption = Annotated[
    int,
    typer.Option(
        "--datagram",
        help="Bytes of a full packet without the 28 of IPv4 and UDP; over mptcp packets are as long.",
    ),
]
StreamsOption = Annotated[
    int, typer.Option("--streams", help="Most TCP connections through the tunnel at a time.")
]
SpareOption = Annotated[
    list[int] | None,
    typer.Option(
        "--spare",
        help="Number of a path, from 0, on which this side sends only while no other works; over "
        "mptcp the connecting side says it, for both sides. Repeatable.",
    ),
]
MetricsOption = Annotated[
    str | None,
    typer.Option(
        "--metrics", help="ADDRESS:PORT of this host alone where Prometheus finds the metrics."
    ),
]


@tunnel_app.command(
    cls=Command,
    epilog="Example: anabranch tunnel listen --key server.key --peers peers --listen 198.51.100.1:4500 "
    "--listen 203.0.113.1:4500\n\nExample: anabranch tunnel listen --key server.key --peers peers "
    "--listen 198.51.100.1:4500 --allow 10.1.0.0/16,443 --rate '50 Mb/s'",
)
def listen(
    key: KeyOption,
    peers: Annotated[
        Path,
        typer.Option(
            "--peers",
            help="File with the public keys of the hosts that may connect, one a line; # begins a "
            "comment.",
        ),
    ],
    listen_: Annotated[
        list[str],
        typer.Option("--listen", help="ADDRESS:PORT of this host for the other side. Repeatable."),
    ],
    allow: Annotated[
        list[str] | None,
        typer.Option(
            "--allow",
            help="Targets that may be connected: public, ADDRESS or ADDRESS/PREFIX, with ,PORT or "
            ",FIRST-LAST after it. Repeatable. Default: public addresses.",
        ),
    ] = None,
    over: OverOption = "udp",
    controller: ControllerOption = "couple+",
    redundancy: RedundancyOption = None,
    uncoded: PlainOption = False,
    up_to: UpToOption = None,
    window: WindowOption = None,
    rate: RateOption = None,
    timeout: TimeoutOption = 15.0,
    datagram: DatagramOption = 1400,
    streams: StreamsOption = 256,
    spare: SpareOption = None,
    metrics: MetricsOption = None,
) -> None:
    """Open the TCP connections that hosts with a known key ask for, until interrupted."""
    from .tunnelling import carried, listen_command

    both = carried(
        over=over,
        controller=controller,
        uncoded=uncoded,
        coding={"redundancy": redundancy, "up_to": up_to, "window": window},
        rate=rate,
        timeout_s=timeout,
        datagram=datagram,
        streams=streams,
        spare=spare,
    )
    listen_command(key, peers, listen_, both, allow=allow or [], metrics=metrics)


@tunnel_app.command(
    cls=Command,
    epilog="Example: anabranch tunnel connect --key laptop.key --peer 3f0c9b --path "
    "192.0.2.7=198.51.100.1:4500 --path wwan0=203.0.113.1:4500 --socks 127.0.0.1:1080\n\n"
    "Example: anabranch tunnel connect --key laptop.key --peer 3f0c9b --path 198.51.100.1:4500 "
    "--forward 127.0.0.1:8080=10.1.0.5:80 --controller multi-priority --uncoded",
)
def connect(
    key: KeyOption,
    peer: Annotated[
        str,
        typer.Option("--peer", help="Public key of the listening side, as that prints it."),
    ],
    path: Annotated[
        list[str],
        typer.Option(
            "--path",
            help="HOST:PORT of the listening side, or ADDRESS=HOST:PORT or INTERFACE=HOST:PORT with "
            "the local end. Repeatable, at most 8.",
        ),
    ],
    socks: Annotated[
        str | None,
        typer.Option("--socks", help="ADDRESS:PORT where SOCKS5 is offered, without a password."),
    ] = None,
    forward: Annotated[
        list[str] | None,
        typer.Option(
            "--forward",
            help="ADDRESS:PORT=HOST:PORT: connections to the first go to the second. Repeatable.",
        ),
    ] = None,
    transparent: Annotated[
        list[str] | None,
        typer.Option(
            "--transparent",
            help="ADDRESS:PORT to which nftables or iptables redirects TCP connections: they go to "
            "where they were going. Repeatable.",
        ),
    ] = None,
    over: OverOption = "udp",
    controller: ControllerOption = "couple+",
    redundancy: RedundancyOption = None,
    uncoded: PlainOption = False,
    up_to: UpToOption = None,
    window: WindowOption = None,
    rate: RateOption = None,
    timeout: TimeoutOption = 15.0,
    datagram: DatagramOption = 1400,
    streams: StreamsOption = 256,
    spare: SpareOption = None,
    metrics: MetricsOption = None,
) -> None:
    """Carry TCP connections of this host to the listening side, until interrupted. It connects
    again whenever the other side is back.
    """
    from .tunnelling import carried, connect_command

    both = carried(
        over=over,
        controller=controller,
        uncoded=uncoded,
        coding={"redundancy": redundancy, "up_to": up_to, "window": window},
        rate=rate,
        timeout_s=timeout,
        datagram=datagram,
        streams=streams,
        spare=spare,
    )
    offers = {"socks": socks, "forwards": forward or [], "transparent": transparent or []}
    connect_command(key, peer, path, both, {**offers, "metrics": metrics})


@tunnel_app.command(
    "key",
    cls=Command,
    epilog="Example: anabranch tunnel key laptop.key\n\nExample: anabranch tunnel key --show laptop.key",
)
def key_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File of the secret key.")],
    show: Annotated[
        bool, typer.Option("--show", help="Make none: print the public key of the one in FILE.")
    ] = False,
) -> None:
    """Make a secret key in a new file, and print the public key for the other side."""
    from .tunnelling import key_command

    key_command(file, show=show)
