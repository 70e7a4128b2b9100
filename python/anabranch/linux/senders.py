"""Our endpoints as the senders of users, on the wall clock, and the kernel as their receiver.

In the world `wire` they send for each class whose controller is not the kernel's. Their packets go
to the emulator through a pair of sockets for each path, in place of the device of the class's
senders; the devices of the receivers are those of the world `linux`. What the kernel's receivers
cannot take, coded paths and TFRC, a courier carries: then the receivers are ours too, and have
pairs of sockets as well.
"""

from __future__ import annotations

import math
import os
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from .. import _core
from ..plan import Class, Plan
from ..runs import SendersReport
from ..scenario import Scenario
from .errors import LinuxError
from .sockets import listening, send_buffer
from .traffic import Receiving
from .wiring import FIRST_PORT, Network, receiver_address, sender_address

REAL_TIME_PRIORITY = 5
"""Below the emulator's."""

_SOCKET_BUFFER = 8 * 2**20
"""Bytes: the emulator reads its devices every millisecond or so, and nothing may be lost here."""

_SO_SNDBUFFORCE = 32


@dataclass(frozen=True)
class State:
    """The state of a path's sender."""

    cwnd_segments: float
    ssthresh_segments: float
    srtt_s: float
    rto_s: float
    retransmits: int
    timeouts: int
    recoveries: int
    marks: int
    undone: int
    probes: int
    starved: bool
    """Whether it had room but no data."""


Told = tuple[int, float, float, float, float, list[int], bool]
"""A path as the compiled module tells of it."""


def state(told: Told) -> State:
    """The state of a path."""
    _, cwnd, ssthresh, srtt_s, rto_s, counts, starved = told
    retransmits, timeouts, recoveries, marks, undone, probes = counts
    return State(
        cwnd_segments=cwnd,
        ssthresh_segments=ssthresh,
        srtt_s=srtt_s,
        rto_s=rto_s,
        retransmits=retransmits,
        timeouts=timeouts,
        recoveries=recoveries,
        marks=marks,
        undone=undone,
        probes=probes,
        starved=starved,
    )


@dataclass(kw_only=True)
class WireUser(Receiving):
    """A user for whom an endpoint of ours sends, and whose receiver is the kernel's."""

    states: Mapping[int, State] = field(default_factory=dict)
    """Of its open paths, at the last look."""


@dataclass(kw_only=True)
class CourierUser:
    """A user whose data a courier carries: both ends are ours."""

    flow: int = 0
    class_: int
    user: int
    planned: Class
    start_s: float
    received: int = 0
    completed_s: float = math.nan
    trouble: str = ""
    states: Mapping[int, State] = field(default_factory=dict)
    """Of its open paths, at the last look."""

    @property
    def finished(self) -> bool:
        """Whether the whole transfer was acknowledged."""
        return not math.isnan(self.completed_s)


class Senders:
    """The senders of some classes of a run, and the thread in which they run; not started yet."""

    def __init__(
        self,
        scenario: Scenario,
        plan: Plan,
        network: Network,
        classes: Sequence[int],
        couriers: Sequence[int],
        *,
        seed: int,
        starts: Sequence[Sequence[float]],
        overrides: Sequence[str],
        controller: str | None,
        outside: tuple[str, Any] | None = None,
    ) -> None:
        """Binds the servers' sockets. `classes` and `couriers` are the numbers of the classes that
        send to the kernel and to receivers of ours, `starts` the seconds at which the users of each
        class of the plan start; `outside` is a controller in Python, by name and class. Raises
        OSError, ScenarioError, and ValueError for what an endpoint cannot have.
        """
        self.users: list[WireUser | CourierUser] = []
        self.devices: dict[tuple[int, int, bool], int] = {}
        """For each class, path and end, whether the sender's, the file that the emulator has in
        place of a device."""
        self._sockets: list[socket.socket] = []
        try:
            given = [
                self._class(plan, network, class_, starts[class_], class_ in couriers)
                for class_ in sorted([*classes, *couriers])
            ]
            self._senders = _core.WireSenders(
                scenario.text,
                given,
                first_port=FIRST_PORT,
                seed=seed,
                name=scenario.name,
                overrides=list(overrides),
                controller=controller,
                outside=outside,
            )
        except BaseException:
            self.close()
            raise
        self._by_number = {(user.class_, user.user): user for user in self.users}
        self._report: SendersReport | None = None
        self._error: BaseException | None = None
        self._elapsed_s = 0.0
        self._thread = threading.Thread(target=self._work, name="senders", daemon=True)

    def _class(
        self, plan: Plan, network: Network, class_: int, starts: Sequence[float], carried: bool
    ) -> tuple[int, list[int], list[int] | None, list[str], str, list[float], int]:
        planned = plan.classes[class_]
        for user, start_s in enumerate(starts):
            common: Any = {
                "class_": class_,
                "user": user,
                "planned": planned,
                "start_s": float(start_s),
            }
            self.users.append(CourierUser(**common) if carried else _wire_user(network, common))
        senders = self._files(class_, planned, sender=True)
        receivers = self._files(class_, planned, sender=False) if carried else None
        addresses = [sender_address(class_, path) for path in range(len(planned.paths))]
        server, room = receiver_address(class_, 0), send_buffer(plan, planned)
        when = [float(start_s) for start_s in starts]
        return class_, senders, receivers, addresses, server, when, room

    def _files(self, class_: int, planned: Class, *, sender: bool) -> list[int]:
        """New sockets for an end of each path; the emulator has the others."""
        own = []
        for path in range(len(planned.paths)):
            ours, emulated = _pair()
            self._sockets += [ours, emulated]
            own.append(ours.fileno())
            self.devices[class_, path, sender] = emulated.fileno()
        return own

    @property
    def receiving(self) -> list[WireUser]:
        """The users whose receiver is the kernel's."""
        return [user for user in self.users if isinstance(user, WireUser)]

    def start(self, elapsed_s: float) -> None:
        """Begins; the clock shows `elapsed_s` now."""
        self._elapsed_s = elapsed_s
        self._thread.start()

    def _work(self) -> None:
        """Runs with a real-time priority where that is allowed: a late packet is a wrong one."""
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(REAL_TIME_PRIORITY))
        try:
            self._report = SendersReport.from_json(self._senders.run(self._elapsed_s))
        except BaseException as error:
            self._error = error

    def look(self) -> None:
        """Takes the state of all users. Raises the error of a controller in Python, and LinuxError
        where the senders have ended.
        """
        for class_, number, paths, received, completed_s, trouble in self._senders.states():
            user = self._by_number[class_, number]
            if isinstance(user, CourierUser):
                user.received = received or 0
            user.states = {path[0]: state(path) for path in paths}
            user.trouble = user.trouble or trouble
            user.completed_s = math.nan if completed_s is None else completed_s
        if self._error is not None:
            raise LinuxError(f"our endpoints ended: {self._error}")

    def stop(self) -> None:
        """Ends them."""
        self._senders.stop()
        if self._thread.ident is not None:
            self._thread.join()

    def report(self) -> SendersReport:
        """Their own error and cost, after `stop`. Raises LinuxError if they failed."""
        if self._report is None:
            raise LinuxError(f"our endpoints ended: {self._error}")
        return self._report

    def close(self) -> None:
        """Closes their sockets and those of their servers."""
        for user in self.receiving:
            user.close()
        for one in self._sockets:
            one.close()


def _wire_user(network: Network, common: Any) -> WireUser:
    server = receiver_address(common["class_"], 0), FIRST_PORT + common["user"]
    with network.receivers[common["class_"]].namespace.inside():
        listener = listening(server, common["planned"])
    return WireUser(listener=listener, server=server, **common)


def _pair() -> Iterator[socket.socket]:
    """Two sockets; a packet that is written to one is read from the other, whole."""
    ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for end in ends:
        end.setblocking(False)
        end.setsockopt(socket.SOL_SOCKET, _SO_SNDBUFFORCE, _SOCKET_BUFFER)
    return iter(ends)
