"""Which connections are wanted: by controller, address, port and network namespace."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from pathlib import Path

from ..offers import offering
from .controllers import SBD, names

NAMED = Path("/run/netns")
"""Where network namespaces have names (ip-netns(8))."""

OWN_NAME = re.compile(r"(ab|law_)[a-z0-9_.]*")
"""Names of our controllers in the kernel, those of a running scenario among them."""

LARGEST_PORT = 65535


@dataclass(frozen=True)
class Selection:
    """A connection is taken if its controller is, and if one of its subflows has the address at
    one end, and the port at the same or the other end.
    """

    controllers: frozenset[str] = frozenset()
    """Names in the kernel, and laws; all controllers if empty."""
    network: IPv4Network | IPv6Network | None = None
    port: int | None = None
    namespace: int | None = None
    """The number of a network namespace."""

    def has_controller(self, kernel_name: str) -> bool:
        """Whether a controller is wanted, by its name in the kernel."""
        return not self.controllers or not self.controllers.isdisjoint(spelled(kernel_name))

    def takes(self, controller: str, ends: Iterable[tuple[str, str]]) -> bool:
        """Whether a connection with these subflows is wanted: local and remote ends, written as
        address and port.
        """
        if not self.has_controller(controller):
            return False
        if self.network is None and self.port is None:
            return True
        return any(self._has(both) for both in ends)

    def _has(self, ends: tuple[str, str]) -> bool:
        parts = [end.rpartition(":") for end in ends]
        if self.port is not None and all(int(port) != self.port for *_, port in parts):
            return False
        network = self.network
        return network is None or any(parsed(address) in network for address, *_ in parts)


EVERYTHING = Selection()


def selection(
    controllers: Sequence[str] = (),
    address: str | None = None,
    port: int | None = None,
    namespace: str | None = None,
) -> Selection:
    """What the options of a command say. Raises ValueError that names the option."""
    return Selection(
        frozenset(map(known_controller, controllers)),
        None if address is None else network_of(address),
        None if port is None else checked_port(port),
        None if namespace is None else number_of(namespace),
    )


def known_controller(name: str) -> str:
    """A law, or a name in the kernel. Raises ValueError for what can be neither."""
    law = name.removesuffix(SBD).replace("_", "-")
    if law in names():
        return law
    if OWN_NAME.fullmatch(name):
        return name
    known = [*names(), *names().values()]
    raise ValueError(
        offering(f"--controller is {name!r}", name, known, "it is a name of `status`, or one of")
    )


@lru_cache(maxsize=256)
def spelled(kernel_name: str) -> frozenset[str]:
    """All that a controller goes by: its name in the kernel, and its law. In a running scenario the
    name is that of the law behind the number of a process, as far as the kernel has room.
    """
    found = {kernel_name}
    of_run = re.fullmatch(r"ab\d+_(.+)", kernel_name)
    for law, usual in names().items():
        short = re.sub(r"[^a-z0-9_]", "", law)
        if kernel_name == usual or (of_run and f"{short}sbd".startswith(of_run[1])):
            found.add(law)
    return frozenset(found)


def network_of(text: str) -> IPv4Network | IPv6Network:
    """A network, or a single address. Raises ValueError."""
    try:
        return ip_network(text.strip("[]"), strict=False)
    except ValueError:
        raise ValueError(
            f"--address is {text!r}; it is an address or a network, such as 10.0.0.7, 10.0.0.0/8 "
            "or 2001:db8::/32"
        ) from None


def checked_port(port: int) -> int:
    """A port. Raises ValueError out of range."""
    if not 1 <= port <= LARGEST_PORT:
        raise ValueError(f"--port is {port}; it is from 1 to {LARGEST_PORT}")
    return port


def number_of(namespace: str) -> int:
    """The number of a namespace that is given by it, or by its name. Raises ValueError."""
    if namespace.isdecimal():
        return int(namespace)
    try:
        if namespace in (".", "..") or "/" in namespace:
            raise FileNotFoundError
        return os.stat(NAMED / namespace).st_ino
    except OSError:
        known = ", ".join(sorted(named_namespaces().values())) or "none"
        raise ValueError(
            f"--namespace is {namespace!r}; it is a name of `ip netns` (there are: {known}), or a "
            "number as `status --json` has it"
        ) from None


def named_namespaces() -> dict[int, str]:
    """The namespaces that have a name, by number."""
    try:
        return {os.stat(entry).st_ino: entry.name for entry in NAMED.iterdir()}
    except OSError:
        return {}


@lru_cache(maxsize=4096)
def parsed(address: str) -> IPv4Address | IPv6Address:
    """An address as the kernel's part writes it, IPv6 in brackets."""
    return ip_address(address.strip("[]"))
