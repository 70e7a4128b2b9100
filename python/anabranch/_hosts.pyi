"""What of the Rust extension module speaks with other hosts; its other names are in `_core.pyi`."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any

class Host:
    """A host of TCP and Multipath TCP (RFC 8684) in packets, without I/O and clock.

    Times are seconds since any moment, the same for all calls. Addresses are text such as
    `10.0.0.1:80`; IPv4 alone is spoken. Connections are named by numbers. After each call, call
    `poll` until it returns None, and then ask for the next deadline. A host stays in its thread.
    """

    def __init__(
        self,
        controller: str,
        random: Callable[[], int],
        *,
        multipath: bool = True,
        checksums: bool = False,
        subflows: int = 8,
        mtu: int = 1500,
        receive_buffer: int = 6_291_456,
        send_buffer: int = 4_194_304,
        user_timeout_s: float = 180.0,
        keep_alive_s: float | None = None,
        time_wait_s: float = 60.0,
    ) -> None:
        """`random` gives whole numbers below 2**64 that nobody else can guess; buffers and the MTU
        are in bytes. Raises ValueError for a setting out of range, ScenarioError for a controller
        that is not known.
        """
    def listen(self, port: int) -> None:
        """Accepts connections to `port`, on every address that packets arrive for."""
    def accept(self) -> int | None:
        """The next connection that a peer has opened."""
    def connect(self, now_s: float, local: str, remote: str) -> int:
        """Opens a connection. Raises OSError where the addresses are in use."""
    def join(
        self,
        now_s: float,
        connection: int,
        local: str,
        remote: str,
        ids: Sequence[int],
        backup: bool = False,
    ) -> int:
        """Asks for a further subflow, whose addresses have these two identifiers, and returns its
        slot. Raises OSError where the connection takes none now.
        """
    def write(self, now_s: float, connection: int, data: bytes) -> int:
        """Takes as many bytes as there is room for, and returns how many."""
    def read(self, now_s: float, connection: int) -> bytes | None:
        """What has arrived in order, at most 64 KiB; None if nothing has, and no bytes at the end.

        Raises ConnectionError with the reason where the connection has failed.
        """
    def close(self, now_s: float, connection: int) -> None:
        """Ends this host's direction of a connection."""
    def abort(self, now_s: float, connection: int) -> None:
        """Drops a connection; the peer is told."""
    def state(self, connection: int) -> str:
        """`opening`, `multipath` or `plain` (a connection of TCP), `failed`, `over`."""
    def unacknowledged(self, connection: int) -> int:
        """Bytes written that the peer's connection has not acknowledged."""
    def subflows(
        self, connection: int
    ) -> list[tuple[int, str, str, float, float, float, int, int, int]]:
        """Of each open subflow: slot, its two addresses, cwnd and ssthresh in segments, srtt in
        seconds, segments sent again, timeouts, and bytes received.
        """
    def on_packet(self, now_s: float, packet: bytes) -> None:
        """An IP packet arrived; what is not intact TCP over IPv4 changes nothing."""
    def poll(self, now_s: float) -> bytes | None:
        """The next packet to send."""
    def next_deadline_s(self) -> float:
        """When to call `on_deadline`."""
    def on_deadline(self, now_s: float) -> None:
        """The time of `next_deadline_s` has come."""
    def __len__(self) -> int:
        """Number of connections, in any state."""

def tunnel_key(file: str | PathLike[str], make: bool) -> str:
    """The public key of the secret key in a file, which `make` makes. Raises ValueError."""

class _TunnelSide:
    @property
    def addresses(self) -> list[str]:
        """Where it listens: for datagrams, or for applications, SOCKS5 first."""
    def run(self) -> None:
        """Runs in the calling thread until `stop`. Raises OSError at a second call."""
    def stop(self) -> None:
        """Ends `run`; may be called from any thread."""
    def status(self) -> str:
        """The state as JSON, at most a second old."""
    def log(self) -> list[str]:
        """Lines since the last call."""

class WireSenders:
    """Our endpoints as the senders of a plan's users, on the wall clock; runs once. Linux only.

    `classes` has for each class: its index, a socket for the sender's end of each path and, where
    a courier carries the class, one for the receiver's, the IPv4 address of each path, the address
    of its servers, when each user starts in seconds, and the bytes of a send buffer. A socket
    carries IP packets one by one and does not block. User `u` has the server's port
    `first_port + u`. `outside` is a controller in Python, by name and class.

    Raises ScenarioError, OSError, and ValueError for what an endpoint cannot have.
    """

    def __init__(
        self,
        text: str,
        classes: Sequence[
            tuple[int, list[int], list[int] | None, list[str], str, list[float], int]
        ],
        *,
        first_port: int,
        seed: int = ...,
        name: str = ...,
        overrides: Sequence[str] = ...,
        controller: str | None = ...,
        outside: tuple[str, Any] | None = ...,
    ) -> None: ...
    def run(self, elapsed_s: float) -> dict[str, Any]:
        """Sends and receives in the calling thread until `stop`; the clock shows `elapsed_s` now.
        Returns its own error and cost. Raises OSError if a socket fails.
        """
    def stop(self) -> None:
        """Ends `run` within 50 ms."""
    def states(
        self,
    ) -> list[
        tuple[
            int,
            int,
            list[tuple[int, float, float, float, float, list[int], bool]],
            int | None,
            float | None,
            str,
        ]
    ]:
        """For each user: class, number, open paths, bytes that its application received if that is
        here, when the transfer was complete, and what went wrong.

        For each path: index, cwnd and ssthresh in segments, srtt and RTO in seconds, counts of
        retransmissions, timeouts, recoveries, marks, undone reductions and probes, and whether it
        has room but no data. Raises the error of a controller in Python.
        """

class TunnelListen(_TunnelSide):
    """The listening side of a tunnel; runs once. Linux only.

    Sockets are bound at once, in the network namespace of the calling thread. `peers` is a file of
    public keys, `allow` the sets of targets. Raises ValueError that names the option.
    """

    def __init__(
        self,
        key: str | PathLike[str],
        peers: str | PathLike[str],
        listen: Sequence[str],
        carried: Mapping[str, Any],
        *,
        allow: Sequence[str] = ...,
        metrics: str | None = ...,
    ) -> None: ...
    @property
    def public_key(self) -> str:
        """Its public key."""

class TunnelConnect(_TunnelSide):
    """The connecting side of a tunnel; runs once. Linux only.

    Sockets are bound at once, in the network namespace of the calling thread. Raises ValueError
    that names the option.
    """

    def __init__(
        self,
        key: str | PathLike[str],
        peer: str,
        paths: Sequence[str],
        carried: Mapping[str, Any],
        *,
        socks: str | None = ...,
        forwards: Sequence[str] = ...,
        transparent: Sequence[str] = ...,
        metrics: str | None = ...,
    ) -> None: ...
