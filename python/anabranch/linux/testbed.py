"""One replication on the real kernel: build, run in real time, judge, tear down."""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..controller import ControllerLike, outside
from ..plan import Plan
from ..result import Recording
from ..runs import EmulatorReport, KernelReport, Run, TestbedReport
from ..scenario import Scenario
from . import check
from .controllers import Attached
from .coupling import coupling
from .emulation import Emulation
from .errors import LinuxError
from .fit import LINUX, Sender, World, sender, source_of
from .judge import (
    grown,
    host_counters,
    starving,
    wrong_connections,
    wrong_emulation,
    wrong_network,
    wrong_senders,
)
from .namespace import Namespace
from .quic_users import QuicUser, endless, over_quic
from .rights import TO_RUN, as_root, is_root, lacking
from .sample import FIELDS, Numbers, Sampler, congestion_control, on_grid
from .senders import Senders
from .sockets import connecting, listening, send_buffer
from .tables import tables
from .traffic import Connection, Traffic, User
from .wiring import FIRST_PORT, Network, present, receiver_address, sender_address

GRACE_S = 3.0
"""Time limit for a path to open: its first packet may be lost, and TCP then waits a second."""

TESTBED = 3
"""Raised by each change of the testbed that moves results; results of earlier ones are not used.
2: users of MPTCP write whole packets. 3: they write one segment until their server has accepted.
"""


@dataclass(frozen=True)
class Order:
    """A scenario to run, with its options."""

    scenario: Scenario
    plan: Plan
    controller: ControllerLike | None
    overrides: Sequence[str]
    series: bool
    recording: Recording = field(default_factory=Recording)
    unwritten: list[OSError] = field(default_factory=list)
    """Why the capture of the last replication was not written; empty if it was."""
    retransmits: list[Numbers] = field(default_factory=list)
    """Of the last replication the retransmissions of each path until each sample of the series."""
    world: World = LINUX

    def emulation(self, network: Network, seed: int) -> Emulation:
        """The emulator that looks at its links, not started."""
        return self._emulation(network, seed)

    @property
    def named(self) -> str | None:
        """The controller as the compiled module takes it; None for a class of Python."""
        own = outside(self.controller)
        return None if own or self.controller is None else str(self.controller)

    def sent_by(self, who: Sender) -> list[int]:
        """The numbers of the classes for which `who` sends."""
        classes = enumerate(self.plan.classes)
        return [number for number, planned in classes if sender(self.world, planned) == who]

    def observed(
        self, network: Network, seed: int, instead: Mapping[tuple[int, int, bool], int]
    ) -> Emulation:
        """The emulator for a replication, not yet started, and the tables to keep; `instead` has
        files in place of devices.
        """
        pcap = self.recording.pcap
        return self._emulation(
            network,
            seed,
            instead=instead,
            series=self.series,
            pcap=Path(pcap) if pcap else None,
            keep_bytes=self.recording.keep_bytes,
        )

    def _emulation(self, network: Network, seed: int, **kept: Any) -> Emulation:
        return Emulation(
            self.scenario,
            network,
            seed=seed,
            overrides=self.overrides,
            controller=self.named,
            **kept,
        )


def starts(plan: Plan, seed: int) -> list[Numbers]:
    """When the users of each class start: uniform within the class's spread, by seed and class."""
    return [
        planned.start_s
        + planned.spread_s * np.random.default_rng([seed, number]).random(planned.count)
        for number, planned in enumerate(plan.classes)
    ]


def connections(
    plan: Plan,
    network: Network,
    seed: int,
    controllers: Attached,
    without: Container[str] = (),
) -> list[Connection]:
    """Sockets of every user but those of the classes `without`, not connected yet. Raises OSError
    and LinuxError.
    """
    made: list[Connection] = []
    try:
        for class_, (planned, when) in enumerate(
            zip(plan.classes, starts(plan, seed), strict=True)
        ):
            if planned.name in without:
                continue
            name = controllers.kernel_name(source_of(planned))
            for path in present(planned):
                network.senders[class_].set_endpoint(path, True)
            buffer_bytes = send_buffer(plan, planned)
            for user in range(planned.count):
                server = receiver_address(class_, 0), FIRST_PORT + user
                with network.receivers[class_].namespace.inside():
                    listener = listening(server, planned)
                try:
                    with network.senders[class_].namespace.inside():
                        address = sender_address(class_, 0)
                        sender = connecting(address, planned, name, buffer_bytes)
                except BaseException:
                    listener.close()
                    raise
                start = float(when[user])
                made.append(
                    Connection(
                        class_=class_,
                        user=user,
                        planned=planned,
                        start_s=start,
                        sender=sender,
                        listener=listener,
                        server=server,
                    )
                )
    except BaseException:
        for connection in made:
            connection.close()
        raise
    return made


def schedule(traffic: Traffic, network: Network, plan: Plan) -> None:
    """Has the kernel's paths join and leave, and its users with one path leave."""
    for class_ in sorted({connection.class_ for connection in traffic.connections}):
        planned, side = plan.classes[class_], network.senders[class_]
        for number, path in enumerate(planned.paths[1:], 1):
            if number not in present(planned):
                traffic.at(path.join_s, partial(side.set_endpoint, number, True))
            if path.leave_s is not None:
                traffic.at(path.leave_s, partial(side.set_endpoint, number, False))
        leave_s = planned.paths[0].leave_s
        for connection in traffic.connections:
            if connection.class_ == class_ and leave_s is not None:
                traffic.at(leave_s, partial(traffic.end, connection))


def replicate(
    order: Order,
    network: Network,
    seed: int,
    controllers: Attached,
    tell: Callable[[float], object],
) -> Run:
    """Runs a scenario once in a new network. Returns the run's tables and whether it is valid.

    `tell` is called with the elapsed seconds of the run. Raises LinuxError and OSError.
    """
    with ExitStack() as stack:
        users = Users(order, network, seed, controllers, stack)
        instead = users.ours.devices if users.ours else {}
        emulation = order.observed(network, seed, instead)
        return _measured(order, network, seed, controllers, users, emulation, tell)


class Users:
    """The users of a run, not connected yet, by who sends for them."""

    def __init__(
        self, order: Order, network: Network, seed: int, controllers: Attached, stack: ExitStack
    ) -> None:
        """Binds their sockets; the end of `stack` closes them. Raises OSError and LinuxError."""
        plan, when = order.plan, starts(order.plan, seed)
        kernels, own = order.sent_by("kernel"), order.sent_by("ours")
        carried = order.sent_by("courier")
        others = [c.name for number, c in enumerate(plan.classes) if number not in kernels]
        self.kernel = connections(plan, network, seed, controllers, without=others)
        for connection in self.kernel:
            stack.callback(connection.close)
        self.quic: list[QuicUser] = []
        if order.sent_by("quic"):
            file = stack.enter_context(endless())
            self.quic = over_quic(plan, network, when, file)
            stack.callback(self._end)
        self.ours: Senders | None = None
        if own or carried:
            python = outside(order.controller)
            self.ours = Senders(
                order.scenario,
                plan,
                network,
                own,
                carried,
                seed=seed,
                starts=[[float(start) for start in of_class] for of_class in when],
                overrides=order.overrides,
                controller=order.named,
                outside=(python.name, python.make) if python else None,
            )
            stack.callback(self.ours.close)
        wire = self.ours.users if self.ours else []
        self.all: list[User] = [*self.kernel, *self.quic, *wire]
        self.all.sort(key=lambda user: (user.class_, user.user))
        for number, user in enumerate(self.all):
            user.flow = number

    def _end(self) -> None:
        """Ends those over QUIC, all at once."""
        for user in self.quic:
            user.stop()
        for user in self.quic:
            user.close()


def _measured(
    order: Order,
    network: Network,
    seed: int,
    controllers: Attached,
    users: Users,
    emulation: Emulation,
    tell: Callable[[float], object],
) -> Run:
    """Runs the users on their links."""
    ours = users.ours
    traffic = Traffic(users.kernel, emulation.clock, ours.receiving if ours else [])
    for user in users.quic:
        traffic.at(user.start_s, user.start)
    try:
        watch = Watch(order.plan, users, traffic, emulation, tell)
        schedule(traffic, network, order.plan)
        before, counted = host_counters(network), controllers.counters()
        busy_s = time.thread_time()
        try:
            emulation.start()
            if ours:
                ours.start(emulation.clock())
            with coupling(controllers):
                traffic.run(order.plan.duration_s)
        except BaseException:
            emulation.stop()
            raise
        finally:
            if ours:
                ours.stop()
        report = emulation.report()
        order.unwritten[:] = [error] if (error := emulation.unwritten()) else []
        busy_s = time.thread_time() - busy_s
        host = grown(before, host_counters(network))
        kernel = KernelReport(
            congestion_controls=watch.congestion_controls(),
            controllers={
                law: {
                    name: count - counted.get(law, {}).get(name, 0) for name, count in row.items()
                }
                for law, row in controllers.counters().items()
            },
            counters=host,
            groups=dict(controllers.groups),
        )
        reasons = [*watch.reasons(report.emulator), *wrong_network(network, host)]
        if ours:
            reasons += wrong_senders(order.plan, ours.report())
    finally:
        traffic.close()
    sampler = watch.sampler
    run = tables(order.plan, users.all, sampler, report, watch.goodput_bytes(), seed)
    if run.has("series"):
        counts = sampler.table()[:, :, FIELDS.index("retransmits")]
        order.retransmits[:] = [on_grid(counts, np.array(sampler.times_s), run.series.t_s)]
    run.emulator = report.emulator
    run.emulator.real_time, run.emulator.awake = emulation.real_time, emulation.awake
    run.kernel = kernel
    if ours:
        run.senders = ours.report()
    run.testbed = TestbedReport(
        traffic_cpu_fraction=busy_s / order.plan.duration_s,
        sample_interval_s=sampler.interval_s,
    )
    run.invalid_because = [*reasons, *starving(order.plan, run)]
    run.valid = not run.invalid_because
    return run


class Watch:
    """Looks at the connections while they run: samples, counts, and paths that are not open."""

    def __init__(
        self,
        plan: Plan,
        users: Users,
        traffic: Traffic,
        emulation: Emulation,
        tell: Callable[[float], object],
    ) -> None:
        """Adds the times of all observations to the timeline of `traffic`."""
        self.plan, self.users, self.emulation, self.tell = plan, users.all, emulation, tell
        self.sampler = Sampler(plan, users.all, users.ours)
        self._received: list[Numbers] = []
        self._missing: list[str] = []
        self._held_up: list[str] = []
        duration_s, interval_s = plan.duration_s, self.sampler.interval_s
        for number in range(int(duration_s / interval_s + 1e-9) + 1):
            traffic.at(number * interval_s, partial(self._sample, number * interval_s))
        for at_s in (plan.warmup_s, duration_s):
            traffic.at(at_s, partial(self._count, at_s))

    def _sample(self, at_s: float) -> None:
        if not self.emulation.running and at_s < self.plan.duration_s - 0.1:
            self.emulation.report()  # raises its error if it ended too early
            self._held_up = [f"it was held up: its links ended before the sample of {at_s:.1f} s"]
        self.sampler.sample(at_s)
        self.tell(at_s)

    def _count(self, at_s: float) -> None:
        self._received.append(np.array([user.received for user in self.users], dtype=float))
        self._missing += self.sampler.missing(at_s, GRACE_S)
        for user in self.users:
            if isinstance(user, QuicUser) and user.start_s + GRACE_S <= at_s:
                there, all_ = user.open_paths, len(user.planned.paths)
                if there < all_:
                    name = f"{user.planned.name} {user.user}"
                    self._missing.append(
                        f"{there} of {all_} paths of user {name} are open at {at_s:.0f} s"
                    )

    def goodput_bytes(self) -> Numbers:
        """Bytes that each application received after the warm-up."""
        first, last = self._received
        return last - first

    def congestion_controls(self) -> list[str]:
        """Kernel names of the congestion controls of the open connections."""
        there = [c for c in self.sampler.connections if not c.ended]
        return sorted({congestion_control(c.sender) for c in there})

    def reasons(self, emulated: EmulatorReport) -> list[str]:
        """Why the run is not valid; nothing if it is."""
        return [
            *wrong_emulation(self.plan, emulated),
            *wrong_connections(self.users, self.sampler),
            *self._missing,
            *self._held_up,
        ]


def checked_kernel(plan: Plan) -> None:
    """Raises LinuxError that names the features that the plan needs and this kernel lacks, and the
    remedy.
    """
    checked_rights()
    facts = [check.tunnels()]
    if any(len(planned.paths) > 1 and planned.protocol == "tcp" for planned in plan.classes):
        new = Namespace()  # in its own namespace, independent of the host's settings
        try:
            with new.inside():
                facts.append(check.mptcp())
        finally:
            new.close()
    for fact in facts:
        if fact.state == "no":
            raise LinuxError(f"{fact.name}: {fact.detail}\nhelp: {fact.remedy}")


def checked_rights() -> None:
    """Raises LinuxError where no namespace can be made."""
    try:
        Namespace().close()
    except PermissionError:
        why = lacking(TO_RUN) if is_root() else ""
        needs = f"network namespaces need root: run the same command with sudo, as {as_root('')}"
        raise LinuxError(why or needs) from None
