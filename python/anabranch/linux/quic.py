"""Users of a scenario as QUIC connections between the namespaces of their class, in real time.

Other classes of the same scenario have the kernel's TCP and MPTCP.
"""

from __future__ import annotations

import socket
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ..plan import Plan
from ..scenario import Scenario, load
from .controllers import Attached
from .emulation import Emulation
from .errors import LinuxError
from .judge import wrong_emulation
from .quic_users import Asked, QuicUser, endless
from .running import loaded
from .sockets import room_for_files
from .testbed import checked_kernel, connections, schedule, starts
from .traffic import Connection, Traffic
from .wiring import Network

__all__ = ["Asked", "Measured", "Outcome", "run"]

AFTER_S = 4.0
"""Seconds after the end of the plan in which servers tell their counts and connections close."""

LOOK_S = 0.5
"""Interval at which transfers of whole files are looked at."""

_SO_MAX_PACING_RATE = 47  # asm-generic/socket.h
_NO_LIMIT = 1 << 30
"""Bytes/s, more than any link here: a socket with a limit paces, at its own rate if that is lower."""


@dataclass
class Measured:
    """What a user received after the warm-up."""

    rate_bps: float
    report: dict[str, Any] | None = None
    """The report of the transfer; None for the kernel's."""


@dataclass
class Outcome:
    """What a run measured."""

    users: dict[str, list[Measured]]
    """By the name of the class."""
    invalid_because: list[str]
    """Why the links were not what the scenario says; empty if they were."""


def run(
    scenario: Scenario | str,
    asked: Mapping[str, Asked],
    *,
    paced: Collection[str] = (),
    seed: int = 1,
    overrides: Sequence[str] = (),
) -> Outcome:
    """Runs a scenario once, in real time, its classes in `asked` over QUIC: what each user of each
    class received.

    TCP of the classes in `paced`, of one path each, is paced by the kernel, at 1.2 windows per
    round trip. A run with transfers of whole files ends when they have ended, or with the scenario.
    Raises LinuxError, ScenarioError, and ValueError for a class that is not there.
    """
    if isinstance(scenario, str):
        scenario = load(scenario)
    plan = scenario.plan(overrides=list(overrides))
    names = [planned.name for planned in plan.classes]
    if unknown := [name for name in (*asked, *paced) if name not in names]:
        raise ValueError(f"{scenario.name} has no class {unknown[0]!r}; it has {', '.join(names)}")
    for planned in plan.classes:
        if planned.name in asked and any(p.join_s or p.leave_s is not None for p in planned.paths):
            raise LinuxError(
                f"{planned.name}: paths of QUIC do not join or leave by the clock; change a link to "
                "`up = false` instead"
            )
    checked_kernel(plan)
    kernels = replace(plan, classes=[c for c in plan.classes if c.name not in asked])
    with (
        room_for_files(plan),
        endless() as file,
        loaded(kernels, 0, False) as controllers,
        Network(plan) as network,
    ):
        given = {name: one if one.file else replace(one, file=file) for name, one in asked.items()}
        emulation = Emulation(scenario, network, seed=seed, overrides=overrides, controller=None)
        session = _Session(plan, network, seed, controllers, given)
        session.pace(paced)
        return session.run(emulation)


class _Session:
    """One run: its users of both kinds, on one clock."""

    def __init__(
        self,
        plan: Plan,
        network: Network,
        seed: int,
        controllers: Attached,
        asked: Mapping[str, Asked],
    ) -> None:
        self.plan, self.network, self.asked = plan, network, asked
        kernel = connections(plan, network, seed, controllers, without=asked)
        self.traffic = Traffic(kernel, self._clock)
        self._emulation: Emulation | None = None
        self._counts: list[list[int]] = []
        self.quic: dict[str, list[QuicUser]] = {}
        self._stack = ExitStack()
        self._stack.callback(self.traffic.close)
        try:
            for class_, when in enumerate(starts(plan, seed)):
                self._users(class_, [float(start) for start in when])
        except BaseException:
            self._stack.close()
            raise

    def pace(self, classes: Collection[str]) -> None:
        """Has the kernel pace the TCP of these classes. Raises OSError."""
        for connection in self.traffic.connections:
            if connection.planned.name in classes:
                sender = connection.sender
                sender.setsockopt(socket.SOL_SOCKET, _SO_MAX_PACING_RATE, _NO_LIMIT)

    def _clock(self) -> float:
        assert self._emulation is not None
        return self._emulation.clock()

    def _users(self, class_: int, when: Sequence[float]) -> None:
        planned = self.plan.classes[class_]
        if planned.name not in self.asked:
            return
        asked = self.asked[planned.name]
        whole = asked.output is not None
        users = self.quic.setdefault(planned.name, [])
        for user, start_s in enumerate(when):
            end_s = None if whole else self.plan.duration_s - start_s
            warm_up_s = 0.0 if whole else max(0.0, self.plan.warmup_s - start_s)
            made = QuicUser(self.network, (class_, user), planned, asked, (end_s, warm_up_s))
            self._stack.callback(made.close)
            self.traffic.at(start_s, made.start)
            users.append(made)

    def run(self, emulation: Emulation) -> Outcome:
        self._emulation = emulation
        kernel = self.traffic.connections
        schedule(self.traffic, self.network, self.plan)
        for at_s in (self.plan.warmup_s, self.plan.duration_s):
            self.traffic.at(at_s, partial(self._count, kernel))
        with self._stack:
            try:
                emulation.start(self.plan.duration_s + AFTER_S)
                self._until_end()
                reports = {name: [u.report() for u in users] for name, users in self.quic.items()}
            finally:
                emulation.stop()
            why = wrong_emulation(self.plan, emulation.report().emulator)
            if dropped := self.network.dropped():
                why.append(f"{dropped} packets were lost outside of the links")
            return Outcome(self._measured(kernel, reports), why)

    def _count(self, kernel: Sequence[Connection]) -> None:
        self._counts.append([connection.received for connection in kernel])

    def _until_end(self) -> None:
        """Until the end of the plan, or of the last transfer if all are of whole files."""
        files = [
            user for name, users in self.quic.items() if self.asked[name].output for user in users
        ]
        end_s, now_s = self.plan.duration_s, 0.0
        while now_s < end_s and not (files and all(user.ended for user in files)):
            now_s = min(end_s, now_s + LOOK_S)
            self.traffic.run(now_s)
        for user in files:
            user.fetch.stop()

    def _measured(
        self, kernel: Sequence[Connection], reports: Mapping[str, list[dict[str, Any]]]
    ) -> dict[str, list[Measured]]:
        found = {
            name: [Measured(report["goodput_bps"], report) for report in users]
            for name, users in reports.items()
        }
        if len(self._counts) == 2:
            seconds = self.plan.duration_s - self.plan.warmup_s
            for connection, first, last in zip(kernel, *self._counts, strict=True):
                if connection.trouble:
                    raise LinuxError(f"{connection.planned.name}: {connection.trouble}")
                rate = 8 * (last - first) / seconds
                found.setdefault(connection.planned.name, []).append(Measured(rate))
        return found
