"""Namespaces, devices, addresses, routes and MPTCP endpoints of a plan.

A class of users has one namespace for all its senders and one for all its receivers. Path p of
class c has a device in each, called `path<p>`: 10.<c+1>.<p>.1 at the sender, 10.<c+1>.<p>.2 at the
receiver. Servers listen at the receiver's address of path 0; a packet takes the path of its
sender's address.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from ..plan import Class, Plan
from . import settings
from .device import Device
from .errors import LinuxError
from .namespace import Namespace

FIRST_PORT = 10_000
"""Port of user 0's server; below the ephemeral ports."""

_FIRST_TABLE = 100
_SUBFLOW = 2  # MPTCP_PM_ADDR_FLAG_SUBFLOW


def sender_address(class_: int, path: int) -> str:
    """Address from which packets of a path are sent."""
    return f"10.{class_ + 1}.{path}.1"


def receiver_address(class_: int, path: int) -> str:
    """Address of a path at its other end."""
    return f"10.{class_ + 1}.{path}.2"


def path_of(address: str) -> int:
    """The path of a sender's address."""
    return int(address.split(".")[2])


def present(planned: Class) -> list[int]:
    """Paths besides the first that are up when the users of a class start.

    Their endpoints are set up before any socket: a socket remembers whether endpoints existed.
    """
    return [
        number
        for number, path in enumerate(planned.paths)
        if number > 0 and path.join_s <= planned.start_s
    ]


class Side:
    """The namespace of the senders or of the receivers of a class, with its devices."""

    def __init__(self, class_: int, planned: Class, sender: bool) -> None:
        """Builds the network. Raises OSError and LinuxError, and then removes the parts built so
        far.
        """
        from pyroute2 import NetlinkError

        self.class_, self.planned, self.sender = class_, planned, sender
        self.devices: list[Device] = []
        self.settings: dict[str, str] = {}
        self.namespace = Namespace()
        try:
            with self.namespace.inside():
                self._build()
        except NetlinkError as error:
            self.close()
            raise LinuxError(f"the kernel refused a part of the network: {error}") from None
        except BaseException:
            self.close()
            raise

    def _build(self) -> None:
        from pyroute2 import IPRoute

        self.settings = settings.apply(self.planned)
        with IPRoute() as route:
            for path in range(len(self.planned.paths)):
                device = Device(f"path{path}", self.planned.packet_bytes, route)
                self.devices.append(device)
                self._connect(route, path, device)
        if len(self.devices) > 1:
            self._limit_subflows()

    def _connect(self, route: Any, path: int, device: Device) -> None:
        """Addresses and routes of a path. Metrics that only one side needs do no harm at
        the other.
        """
        here, there = sender_address(self.class_, path), receiver_address(self.class_, path)
        if not self.sender:
            here, there = there, here
        metrics = {"initcwnd": int(self.planned.initial_window)}
        if self.planned.delayed_ack_s == 0:
            metrics["quickack"] = 1
        route.addr("add", index=device.index, address=here, prefixlen=32)
        if self.sender:
            table = _FIRST_TABLE + path
            route.route("add", dst="0.0.0.0/0", oif=device.index, table=table, metrics=metrics)
            route.rule("add", src=here, table=table, priority=table)
        else:
            route.route("add", dst=f"{there}/32", oif=device.index, metrics=metrics)

    def _limit_subflows(self) -> None:
        from pyroute2 import MPTCP

        with MPTCP() as paths:
            # Both at once are refused by the library.
            paths.limits("set", subflows=len(self.devices) - 1)

    def set_endpoint(self, path: int, present: bool) -> None:
        """Lets connections open a subflow on a path, or takes all of them away."""
        from pyroute2 import MPTCP

        with self.namespace.inside(), MPTCP() as paths:
            if present:
                address = sender_address(self.class_, path)
                paths.endpoint("add", addr=address, flags=_SUBFLOW, id=path)
            else:
                paths.endpoint("del", id=path)

    def dropped(self) -> int:
        """Packets lost between the kernel and the emulator; there should be none."""
        from pyroute2 import IPRoute

        with self.namespace.inside(), IPRoute() as route:
            return sum(device.dropped(route) for device in self.devices)

    def close(self) -> None:
        """Removes devices and lets go of the namespace."""
        for device in self.devices:
            device.close()
        self.namespace.close()


class Network:
    """All of a plan's namespaces; a context manager that leaves nothing behind."""

    def __init__(self, plan: Plan) -> None:
        """Builds them. Raises OSError and LinuxError."""
        self._stack = ExitStack()
        self.senders: list[Side] = []
        self.receivers: list[Side] = []
        with ExitStack() as undo:
            for class_, planned in enumerate(plan.classes):
                for sides, sender in ((self.senders, True), (self.receivers, False)):
                    sides.append(Side(class_, planned, sender))
                    undo.callback(sides[-1].close)
            self._stack = undo.pop_all()

    def __enter__(self) -> Network:
        return self

    def __exit__(self, *reason: object) -> None:
        self._stack.close()

    @property
    def sides(self) -> Sequence[Side]:
        """Senders and receivers of every class."""
        return [*self.senders, *self.receivers]

    def devices(
        self, instead: Mapping[tuple[int, int, bool], int]
    ) -> list[tuple[int, int, int, bool]]:
        """File, class, path and side (whether it is a sender's) of each device, for the
        emulator; `instead` has other files in place of some, by class, path and side.
        """
        return [
            (
                instead.get((side.class_, path, side.sender), fd),
                side.class_,
                path,
                side.sender,
            )
            for side in self.sides
            for path, fd in enumerate(device.fd for device in side.devices)
        ]

    def dropped(self) -> int:
        """Packets lost between the kernel and the emulator since the devices were made."""
        return sum(side.dropped() for side in self.sides)
