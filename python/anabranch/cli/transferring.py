"""`anabranch quic`: runs the server and the client in a thread, and shows what they do."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import typer

from .. import _core
from ..files import check_writable, write_json
from ..statistics import DELAY, PERCENT, RATE, column
from . import INTERRUPTED
from .keeping import show_and_write
from .terminal import columns, console, named, progress

POLL_S = 0.1
"""Interval at which a running transfer is looked at."""

Answer = TypeVar("Answer")


@dataclass(frozen=True, kw_only=True)
class FetchOptions:
    """The options of `anabranch quic fetch`."""

    output: Path | None = None
    via: Sequence[str] = ()
    to: Sequence[str] = ()
    port: int = 0
    fingerprint: str | None = None
    insecure: bool = False
    resume: bool = False
    discard: bool = False
    duration_s: float | None = None
    warm_up_s: float = 0.0
    qlog: Path | None = None
    json: Path | None = None

    def place(self, target: str) -> Path | None:
        """Where the file goes; None for nowhere. Raises ValueError for options that disagree."""
        if self.discard:
            for option, value in (("--output", self.output), ("--continue", self.resume)):
                if value:
                    raise ValueError(f"--discard writes no file; leave {option} out")
            return None
        if self.output:
            return self.output
        return Path(target.rpartition("/")[2]) if "/" in target else None

    def trusted(self) -> str | None:
        """The fingerprint; None for any server. Raises ValueError if the command says neither."""
        if self.insecure and self.fingerprint:
            raise ValueError("--insecure accepts any server, --fingerprint one; give one of them")
        if not self.insecure and not self.fingerprint:
            raise ValueError(
                "--fingerprint is missing: the server prints it, and so does `anabranch quic "
                "fingerprint` there\nhelp: --insecure accepts any server"
            )
        return self.fingerprint


class InThread(Generic[Answer]):
    """A call in a thread of its own, so that this one can take interrupts."""

    def __init__(self, work: Callable[[], Answer]) -> None:
        """Starts it."""
        self._answer: Answer | None = None
        self._error: BaseException | None = None
        # Not Thread.join: in Python 3.11, one that was interrupted takes the thread for ended.
        self._done = threading.Event()
        threading.Thread(target=self._work, args=(work,), daemon=True).start()

    def _work(self, work: Callable[[], Answer]) -> None:
        try:
            self._answer = work()
        except BaseException as error:
            self._error = error
        finally:
            self._done.set()

    def ended(self, within_s: float | None = None) -> bool:
        """Waits for its end, at most so long; whether it has come."""
        return self._done.wait(within_s)

    def answer(self) -> Answer:
        """What it returned; waits for that. Raises what it raised."""
        self._done.wait()
        if self._error is not None:
            raise self._error
        assert self._answer is not None
        return self._answer


def fetch_command(target: str, options: FetchOptions) -> None:
    """Fetches a file, prints its paths and writes the report if asked."""
    place, trusted = options.place(target), options.trusted()
    if options.json:
        check_writable(options.json)
    fetch = core("QuicFetch")(
        target,
        place,
        fingerprint=trusted,
        via=list(options.via),
        to=list(options.to),
        port=options.port,
        resume=options.resume,
        duration_s=options.duration_s,
        warm_up_s=options.warm_up_s,
        qlog=options.qlog,
    )
    report, interrupted = fetched(fetch, target)
    show_and_write(
        lambda: show(report, place, insecure=options.insecure),
        (options.json, lambda file: write_json(file, report)),
    )
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def fetched(fetch: Any, label: str) -> tuple[dict[str, Any], bool]:
    """Runs a fetch with a bar; its report, and whether an interrupt ended it."""
    interrupted = False
    with progress(named(f"fetching {label}")) as tell:
        running = InThread(fetch.run)
        while not running.ended(POLL_S):
            try:
                received, size, paths = fetch.progress()
                if size:
                    tell(received, size, named(f"fetching {label} over {count(paths, 'path')}"))
            except KeyboardInterrupt:
                interrupted = True
                fetch.stop()
    return json.loads(running.answer()), interrupted


def show(report: dict[str, Any], place: Path | None, *, insecure: bool) -> None:
    """The paths as a table, and what became of the file."""
    out, lanes = console(), report["lanes"]
    seconds = report["measured_s"]
    rates = [8 * lane["measured_bytes"] / seconds if seconds > 0 else None for lane in lanes]
    sent = [max(1, lane["sent_packets"]) for lane in lanes]
    lost = [lane["lost_packets"] / packets for lane, packets in zip(lanes, sent, strict=True)]
    cells = {
        "via": [lane["local"] or "any" for lane in lanes],
        "to": [lane["remote"] for lane in lanes],
        "Mb/s": column(rates, RATE),
        "share %": column([lane["share"] for lane in lanes], PERCENT),
        "lost %": column(lost, PERCENT),
        "congestion events": [str(lane["congestion_events"]) for lane in lanes],
        "RTT ms": column([lane["srtt_s"] for lane in lanes], DELAY),
        "opened": [str(lane["opened"]) for lane in lanes],
        "failed": [str(lane["failures"]) for lane in lanes],
    }
    title = (
        f"{report['measured_bytes']} bytes in {seconds:.3f} s, {report['goodput_bps'] / 1e6:.3f} Mb/s of "
        f"the file, under {report['controller'] or 'an unknown controller'}"
    )
    out.print(columns(title, cells, left=2, spare=("opened", "failed")))
    for lane in lanes:
        if lane["trouble"]:
            out.print(named(f"{lane['local'] or 'any'}: {lane['trouble']}"), style="yellow")
    if insecure:
        out.print(
            f"the server was not checked; its fingerprint is {report['fingerprint']}",
            style="yellow",
        )
    out.print(named(outcome(report, place)), style="dim")


def outcome(report: dict[str, Any], place: Path | None) -> str:
    """What became of the file, in a sentence."""
    if report["complete"]:
        where = f"written to {place}" if place else "complete"
        return f"{where}: {report['size_bytes']} bytes, SHA-256 {report['sha256']}"
    have = report["resumed_at_bytes"] + report["received_bytes"]
    part = f"; --continue goes on from {place}.part" if place and have else ""
    return f"ended at {have} of {report['size_bytes']} bytes{part}"


def serve_command(
    root: Path, listen: str, controller: str, identity: Path | None, qlog: Path | None
) -> None:
    """Serves until an interrupt; a line for each transfer."""
    made = core("QuicServer")(
        root, listen, controller=controller, identity=kept(identity), qlog=qlog
    )
    out = console()

    def say(text: str) -> None:
        out.print(text, markup=False, highlight=False, soft_wrap=True)
        out.file.flush()  # a program may wait for the line

    say(f"serving {root} at {made.address} under {controller}")
    say(f"fingerprint {made.fingerprint}")
    running = InThread(lambda: made.run() or True)
    try:
        while not running.ended(POLL_S):
            for served in json.loads(made.served()):
                say(told(served))
    except KeyboardInterrupt:
        made.stop()
        running.answer()
        for served in json.loads(made.served()):
            say(told(served))
        raise
    running.answer()


def told(served: dict[str, Any]) -> str:
    """A transfer in a line."""
    who = f"{served['peer']} {served['name']!r}"
    if served["refused"]:
        return f"{who}: refused, {served['refused']}"
    seconds, sent = served["duration_s"], served["sent_bytes"]
    rate = 8e-6 * sent / seconds if seconds > 0 else 0.0
    how = "complete" if served["complete"] else "left unfinished"
    over = count(len(served["paths"]), "path")
    return f"{who}: {how}, {sent} bytes in {seconds:.3f} s, {rate:.3f} Mb/s over {over}"


def fingerprint_command(identity: Path | None) -> None:
    """Prints the fingerprint of the identity, made if there is none."""
    print(core("quic_fingerprint")(kept(identity)))


def kept(identity: Path | None) -> Path:
    """The directory of the identity."""
    if identity is not None:
        return identity
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "anabranch" / "quic"


def core(name: str) -> Any:
    """A class or function of the extension module. Raises OSError where there is none."""
    found = getattr(_core, name, None)
    if found is None:
        raise OSError("files over QUIC need Linux: this system's build has no sockets for them")
    return found


def count(number: int, what: str) -> str:
    """A number of things."""
    return f"{number} {what}{'' if number == 1 else 's'}"
