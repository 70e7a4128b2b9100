"""Observes loaded controllers: connections, their subflows, and the terms that couple them."""

from __future__ import annotations

import errno
import glob
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, fields
from itertools import chain
from typing import TypeVar

from .. import _core
from ..records import Record
from .controllers import names
from .errors import LinuxError
from .namespace import Namespace, read_setting, write_setting
from .rights import TO_LOOK, check_root, lacking
from .selection import EVERYTHING, Selection

T = TypeVar("T")

CA_STATES = ("open", "disorder", "cwr", "recovery", "loss")
CHOICE = "net.ipv4.tcp_congestion_control"
"""Congestion control of a namespace's sockets that do not choose one."""

ESTABLISHED = 1
CLOSE_WAIT = 8
LISTEN = 10

PLAUSIBLE = 2**24
"""Segments; a larger value means that no threshold is set."""

OPEN_NAMESPACE = re.compile(r"net:\[(\d+)\]")
"""Target of a link in /proc to a network namespace, with its number."""

UNSEEN = (
    "the sockets under the controllers cannot be read: {}\n"
    "help: `anabranch linux check` shows what is missing; `anabranch linux unload --force` does not need them"
)


@dataclass(frozen=True, kw_only=True)
class ControlledSocket(Record):
    """A socket under one of our controllers; published values are zero until the controller has
    begun.
    """

    namespace: int = 0
    """The number of its network namespace."""
    controller: str
    begun: bool
    backup: bool
    departed: bool = False
    """Whether its controller was removed from the kernel; another may have been loaded since."""
    local: str
    remote: str
    connection: int
    """The token of MPTCP; 0 for TCP."""
    state: int
    ca_state: int
    cwnd_segments: float
    ssthresh_segments: float
    srtt_s: float
    rate_bps: float = 0.0
    """Delivered at this rate by the kernel's last sample; zero without one."""
    growth: float
    """In segments per acknowledged segment."""
    since_loss: int
    """OLIA's l2: segments acknowledged since the last loss."""
    between_losses: int
    """OLIA's l1: segments acknowledged between the last two losses."""
    delivered: int
    losses: int
    missed: int
    """Callbacks that the kernel did not make."""
    repairs: int
    paths: int
    """Number of paths of the connection that the controller sees; with sbd, of its group."""
    group: int
    """Subflows of the connection with the same number share a bottleneck; 0: all are coupled."""

    @property
    def at_work(self) -> bool:
        """Whether the controller has started and the peer still accepts data."""
        return self.begun and self.state in (ESTABLISHED, CLOSE_WAIT)

    @property
    def takes_part(self) -> bool:
        """Whether the controllers count it among the paths of its connection; same rule as
        `ab_visit` in bpf/siblings.h."""
        return self.at_work and self.srtt_s > 0 and not self.backup

    @property
    def window(self) -> float:
        """Its window as its siblings see it, in whole segments: in recovery and cwr the one that
        they will end with."""
        ends = CA_STATES[self.ca_state] in ("cwr", "recovery")
        if ends and 0 < self.ssthresh_segments < PLAUSIBLE:
            return float(self.ssthresh_segments)
        return float(int(self.cwnd_segments))


@dataclass(frozen=True, kw_only=True)
class Coupling(Record):
    """The terms of the laws for a subflow, as far as it takes part."""

    alpha: float | None = None
    """LIA's alpha (RFC 6356 eq. 2)."""
    sets: str = ""
    """The sets M and B of OLIA (l/rtt² for the best paths)."""
    share: float | None = None
    """Its part of the total window."""
    of_reno: float | None = None
    """Its growth relative to that of one TCP."""


@dataclass(frozen=True, kw_only=True)
class SubflowStatus(Record):
    """The state of a subflow for display."""

    local: str
    remote: str
    backup: bool
    cwnd_segments: float
    ssthresh_segments: float
    srtt_s: float
    rate_bps: float
    growth: float
    since_loss: int
    between_losses: int
    delivered: int
    paths: int
    group: int
    losses: int
    missed: int
    repairs: int
    ca_state: str
    alpha: float | None
    sets: str
    share: float | None
    of_reno: float | None


@dataclass(frozen=True, kw_only=True)
class ConnectionStatus(Record):
    """A connection under a controller."""

    namespace: int
    controller: str
    departed: bool
    """Whether that controller was removed since; the connection keeps it until it closes."""
    protocol: str
    subflows: list[SubflowStatus]

    @property
    def ends(self) -> list[tuple[str, str]]:
        """The addresses and ports of both ends of each subflow."""
        return [(row.local, row.remote) for row in self.subflows]


@dataclass(frozen=True, kw_only=True)
class ControllerStatus(Record):
    """A controller that is loaded for good."""

    law: str
    name: str
    sockets: int
    listening: int
    earlier: int
    """Sockets of a controller of this name that was taken out; they keep that one until
    they close.
    """
    counters: dict[str, int]
    cgroups: list[str] = field(default_factory=list)
    """Directories of the control groups that it is assigned to."""


@dataclass(frozen=True, kw_only=True)
class Status(Record):
    """The state of loaded controllers and their connections."""

    controllers: list[ControllerStatus]
    connections: list[ConnectionStatus]


@dataclass(frozen=True)
class Use:
    """Number of sockets under the loaded controller, in any TCP state."""

    sockets: int
    listening: int
    """How many of those listen. If a listening socket chose the controller itself, connections that
    it accepts inherit it.
    """
    earlier: int
    """Sockets that have a controller of the same name that was taken out; not among the others."""


def status(only: Selection = EVERYTHING) -> Status:
    """Controllers that are loaded for good with their sockets and counters, and every connection
    under them or under another one of ours, in all network namespaces that can be found, as far as
    they are selected.

    Raises LinuxError where no controller was built, where controllers or sockets cannot be looked
    at, and without root.
    """
    check_root("status")
    # Sockets of a controller are counted whatever connections are selected, but in a namespace.
    rows = sockets(only.namespace)
    loaded, cgroups = [], assigned()
    for law in loaded_now():
        name = names().get(law, law)  # a law in text goes by its name in the kernel
        if not only.has_controller(name):
            continue
        try:
            counters = _core.kernel_counters(law)
        except FileNotFoundError:
            continue  # taken out since it was listed
        use = used(rows, name)
        loaded.append(
            ControllerStatus(
                law=law,
                name=name,
                sockets=use.sockets,
                listening=use.listening,
                earlier=use.earlier,
                counters=counters,
                cgroups=cgroups.get(name, []),
            )
        )
    working = [row for row in rows if row.at_work]
    found = [one for one in connections(working) if only.takes(one.controller, one.ends)]
    return Status(controllers=loaded, connections=found)


def loaded_now() -> dict[str, int]:
    """Laws whose controllers are in the kernel, each with the number of its BPF link.

    Raises LinuxError if the kernel does not tell.
    """
    try:
        return _core.kernel_loaded()
    except OSError as error:
        raise LinuxError(f"which controllers are loaded cannot be known: {error}") from None


def assigned() -> dict[str, list[str]]:
    """The control groups that controllers are assigned to, by their name in the kernel. None where
    others than root can write to the directory of pins; `load` and `unload` name it.
    """
    found: dict[str, list[str]] = {}
    with suppress(OSError):
        for kernel_name, cgroup in _core.kernel_assigned():
            found.setdefault(kernel_name, []).append(cgroup)
    return found


def sockets(namespace: int | None = None) -> list[ControlledSocket]:
    """Every TCP socket under one of our controllers, in any state, with the number of its
    namespace; of one namespace alone if its number is given.

    Raises LinuxError where no controller was built, where they cannot be read, and without root.
    """
    names()  # raises where no controller was built
    try:
        reader = _core.KernelReader()
        return [
            ControlledSocket(namespace=number, **row)
            for number, rows in everywhere(reader.read, namespace)
            for row in rows
        ]
    except OSError as error:
        needs = "; that needs CAP_SYS_ADMIN and CAP_SYS_PTRACE" if lacking(TO_LOOK) else ""
        raise LinuxError(UNSEEN.format(f"{error}{needs}")) from None


def subflows() -> list[ControlledSocket]:
    """The sockets that send under one of our controllers. Raises LinuxError as `sockets` does."""
    return [row for row in sockets() if row.at_work]


def using(kernel_name: str) -> Use:
    """The sockets that have a controller now. Raises LinuxError as `sockets` does."""
    return used(sockets(), kernel_name)


def used(rows: Iterable[ControlledSocket], kernel_name: str) -> Use:
    """Counts the sockets in `rows` under a controller."""
    own = [row for row in rows if row.controller == kernel_name]
    states = [row.state for row in own if not row.departed]
    return Use(len(states), states.count(LISTEN), len(own) - len(states))


def chosen_in(kernel_name: str) -> int:
    """In how many namespaces new connections get a controller. Raises OSError."""
    return sum(chosen for _, chosen in everywhere(lambda: read_setting(CHOICE) == kernel_name))


def choose_reno(kernel_name: str) -> int:
    """Has new connections get Reno where they get a controller; in how many namespaces. Raises
    OSError.
    """
    return sum(chosen for _, chosen in everywhere(lambda: choose_reno_here(kernel_name)))


def choose_reno_here(kernel_name: str) -> bool:
    """Has new connections get Reno in the namespace of the calling thread; whether they got a
    controller there. Raises OSError.
    """
    chosen = read_setting(CHOICE) == kernel_name
    if chosen:
        write_setting(CHOICE, "reno")
    return chosen


def choose_again(kernel_name: str) -> int:
    """Sets the default again where it has this name, as it is then the controller that has the name
    now; in how many namespaces. Raises OSError.
    """
    for _ in everywhere(lambda: choose_again_here(kernel_name)):
        pass
    # Once more: a namespace made meanwhile may have copied the host's default before that was set.
    return sum(chosen for _, chosen in everywhere(lambda: choose_again_here(kernel_name)))


def choose_again_here(kernel_name: str) -> bool:
    """Sets the default again in the namespace of the calling thread; whether it had this name.
    Raises OSError.
    """
    chosen = read_setting(CHOICE) == kernel_name
    if chosen:
        write_setting(CHOICE, kernel_name)
    return chosen


def everywhere(look: Callable[[], T], only: int | None = None) -> Iterator[tuple[int, T]]:
    """The result of `look` in each network namespace that is found, with its number, or in the one
    with the number `only`.

    Raises OSError without the right to enter one.
    """
    for namespace in namespaces():
        if only not in (None, namespace.number):
            continue
        with ExitStack() as stack:
            try:
                stack.enter_context(namespace.inside())
            except OSError as error:
                if error.errno != errno.EINVAL:  # a name of something else
                    raise
                continue
            found = look()
        yield namespace.number, found


def namespaces() -> Iterator[Namespace]:
    """Each network namespace that a thread is in, that a process has open, as one that runs a
    scenario has, or that has a name; open until the next is asked for.
    """
    seen: set[int] = set()
    for path in chain(
        ["/proc/thread-self/ns/net"],
        glob.iglob("/proc/[0-9]*/task/*/ns/net"),
        glob.iglob("/proc/[0-9]*/fd/*"),
        glob.iglob("/run/netns/*"),
    ):
        try:
            if path.startswith("/proc/"):
                found = OPEN_NAMESPACE.fullmatch(os.readlink(path))
                if not found or int(found[1]) in seen:
                    continue
            namespace = Namespace.at(path)
        except OSError:  # threads end, and some hide; another file may stand for the same one
            continue
        try:
            if namespace.number not in seen:
                seen.add(namespace.number)
                yield namespace
        finally:
            namespace.close()


def connections(rows: Iterable[ControlledSocket]) -> Iterator[ConnectionStatus]:
    """Subflows gathered by connection, each with its coupling terms."""
    groups: dict[tuple[int, str, bool, int, str, str], list[ControlledSocket]] = {}
    for row in rows:
        alone = (row.local, row.remote) if row.connection == 0 else ("", "")
        key = (row.namespace, row.controller, row.departed, row.connection, *alone)
        groups.setdefault(key, []).append(row)
    for (namespace, controller, departed, connection, *_), members in sorted(groups.items()):
        terms = zip(members, coupling(members), strict=True)
        yield ConnectionStatus(
            namespace=namespace,
            controller=controller,
            departed=departed,
            protocol="MPTCP" if connection else "TCP",
            subflows=[shown(row, coupled) for row, coupled in terms],
        )


def shown(row: ControlledSocket, coupled: Coupling) -> SubflowStatus:
    """A socket with its coupling terms, and the state by its name."""
    values = vars(row) | vars(coupled) | {"ca_state": CA_STATES[row.ca_state]}
    return SubflowStatus(**{name: values[name] for name in SHOWN})


SHOWN = [one.name for one in fields(SubflowStatus)]


def coupling(members: list[ControlledSocket]) -> list[Coupling]:
    """The terms of the laws for each subflow, among those that are coupled with it."""
    numbers = {row.group for row in members}
    if len(numbers) == 1:
        return coupled(members)
    terms = [Coupling()] * len(members)
    for group in numbers:
        places = [i for i, row in enumerate(members) if row.group == group]
        for i, found in zip(places, coupled([members[i] for i in places]), strict=True):
            terms[i] = found
    return terms


def coupled(members: list[ControlledSocket]) -> list[Coupling]:
    """The terms of the laws for each subflow of a group."""
    there = [i for i, row in enumerate(members) if row.takes_part]
    terms = [ALONE if [i] == there else UNCOUPLED for i in range(len(members))]
    if not 2 <= len(there) <= _core.COUPLED_PATHS:
        return terms
    rows = [members[i] for i in there]
    w, rtt = [row.window for row in rows], [row.srtt_s for row in rows]
    most = max(wr / rr**2 for wr, rr in zip(w, rtt, strict=True))
    total = sum(w)
    alpha = total * most / sum(wr / rr for wr, rr in zip(w, rtt, strict=True)) ** 2
    quality = [
        max(row.since_loss, row.between_losses) / rr**2 for row, rr in zip(rows, rtt, strict=True)
    ]
    largest, best = max(w), max(quality) * (1 - 1e-6)
    for k, i in enumerate(there):
        terms[i] = Coupling(
            alpha=alpha,
            sets="M" * (w[k] == largest) + "B" * (quality[k] >= best),
            share=w[k] / total,
            of_reno=rows[k].growth * w[k],
        )
    return terms


UNCOUPLED, ALONE = Coupling(), Coupling(share=1.0)
"""The terms of a subflow that does not take part, and of the only one that does."""
