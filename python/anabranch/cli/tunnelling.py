"""`anabranch tunnel`: runs a side of a tunnel in a thread, and says what happens."""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from .. import _core
from .terminal import console
from .transferring import POLL_S, InThread

CODING = {"redundancy": 1.05, "up_to": 1.5, "window": 6}
"""Options of the coding, and their defaults."""


def carried(
    *,
    over: str,
    uncoded: bool,
    coding: Mapping[str, float | None],
    spare: Sequence[int] | None,
    **options: Any,
) -> dict[str, Any]:
    """The options of both sides, as the extension module takes them. Raises ValueError for an
    option of the coding beside a transport that has none.
    """
    given = {name: value for name, value in coding.items() if value is not None}
    if over != "udp":
        for name, value in {**given, **({"uncoded": True} if uncoded else {})}.items():
            option = name.replace("_", "-")
            raise ValueError(f"{option} = {value}: --over {over} codes nothing; leave it out")
        uncoded = True
    chosen: dict[str, float | None] = {**CODING, **given}
    if uncoded:
        chosen["redundancy"] = None
    return {"over": over, "spare": list(spare or []), **chosen, **options}


def listen_command(
    key: Path,
    peers: Path,
    listen: Sequence[str],
    both: dict[str, Any],
    *,
    allow: Sequence[str],
    metrics: str | None,
) -> None:
    """Listens until an interrupt or SIGTERM."""
    made = core("TunnelListen")(key, peers, list(listen), both, allow=list(allow), metrics=metrics)
    run(made, f"listening at {', '.join(made.addresses)}; the key is {made.public_key}")


def connect_command(
    key: Path, peer: str, paths: Sequence[str], both: dict[str, Any], offers: dict[str, Any]
) -> None:
    """Connects until an interrupt or SIGTERM."""
    made = core("TunnelConnect")(key, peer, list(paths), both, **offers)
    run(made, f"taking connections at {', '.join(made.addresses)}")


def run(side: Any, first: str) -> None:
    """Runs a side; a line for each thing that happens. It ends as an interrupt ends it."""
    out = console()

    def say(text: str) -> None:
        out.print(text, markup=False, highlight=False, soft_wrap=True)
        out.file.flush()  # a program may wait for the line

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    say(first)
    running = InThread(lambda: side.run() or True)
    try:
        while not running.ended(POLL_S):
            for line in side.log():
                say(line)
    except KeyboardInterrupt:
        side.stop()
        running.answer()
        for line in side.log():
            say(line)
        raise
    running.answer()


def key_command(file: Path, *, show: bool) -> None:
    """Makes or reads a key, and prints the public one."""
    print(core("tunnel_key")(file, not show))


def core(name: str) -> Any:
    """A class or function of the extension module. Raises OSError where there is none."""
    found = getattr(_core, name, None)
    if found is None:
        raise OSError("tunnels need Linux: this system's build has no sockets for them")
    return found
