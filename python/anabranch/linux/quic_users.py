"""Users over QUIC between the namespaces of their class: server, client, and their threads.

Both are those of `anabranch quic`: noq and tokio, on UDP sockets. The server stands in the
namespace of the senders and the client in that of the receivers. The client opens the paths, so it
names both ends of each.
"""

from __future__ import annotations

import json
import math
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..plan import Class, Plan
from .errors import LinuxError
from .wiring import FIRST_PORT, Network, receiver_address, sender_address

SERVER_PORT = 20_000
"""Port of user 0's server. The client has `FIRST_PORT`: the emulator knows users by the port of the
end that receives."""

ENDLESS = "endless"
ENDLESS_BYTES = 1 << 40
"""A file without blocks; no run transfers as much."""


@dataclass(frozen=True)
class Asked:
    """What the users of a class transfer over QUIC."""

    controller: str
    """A name that `anabranch quic serve --controller` takes."""
    file: Path | None = None
    """The file; None for data without end."""
    output: Path | None = None
    """Where the file goes; None for nowhere. Only for a class of one user."""


class QuicUser:
    """A user's server and client, and the threads in which they run."""

    def __init__(
        self,
        network: Network,
        place: tuple[int, int],
        planned: Class,
        asked: Asked,
        limits: tuple[float | None, float],
    ) -> None:
        """Binds the sockets. `place` is the numbers of class and user; `limits` are the seconds
        after which it ends, if it does, and those that are not measured. Raises OSError and
        ValueError.
        """
        assert asked.file is not None
        self.class_, self.user = class_, user = place
        self.planned, self.flow = planned, 0
        self.start_s = self.completed_s = math.nan
        port, paths = SERVER_PORT + user, range(len(planned.paths))
        with network.senders[class_].namespace.inside():
            listen = f"0.0.0.0:{port}"
            self.server = _core.QuicServer(asked.file, listen, controller=asked.controller)
        with network.receivers[class_].namespace.inside():
            self.fetch = _core.QuicFetch(
                f"{sender_address(class_, 0)}:{port}/{asked.file.name}",
                asked.output,
                fingerprint=self.server.fingerprint,
                via=[receiver_address(class_, path) for path in paths],
                to=[f"{sender_address(class_, path)}:{port}" for path in paths],
                port=FIRST_PORT + user,
                duration_s=limits[0],
                warm_up_s=limits[1],
            )
        self._report: dict[str, Any] | None = None
        self._error: BaseException | None = None
        self._serving = threading.Thread(target=self.server.run, name="serve", daemon=True)
        self._fetching = threading.Thread(target=self._fetch, name="fetch", daemon=True)

    def _fetch(self) -> None:
        try:
            self._report = json.loads(self.fetch.run())
        except (OSError, ValueError) as error:
            self._error = error

    def start(self) -> None:
        """Begins the transfer."""
        self._serving.start()
        self._fetching.start()

    @property
    def received(self) -> int:
        """Bytes that the application received, as of the last tenth of a second."""
        return self.fetch.progress()[0]

    @property
    def open_paths(self) -> int:
        """How many of its paths are open."""
        return self.fetch.progress()[2]

    @property
    def trouble(self) -> str:
        """Why the transfer failed; empty if it did not."""
        return str(self._error or "")

    @property
    def ended(self) -> bool:
        """Whether the transfer has begun and ended."""
        return self._fetching.ident is not None and not self._fetching.is_alive()

    def report(self) -> dict[str, Any]:
        """Waits for the end. Raises LinuxError that says why it failed."""
        self._fetching.join()
        if self._error is not None:
            raise LinuxError(f"the transfer over QUIC failed: {self._error}")
        assert self._report is not None
        return self._report

    def stop(self) -> None:
        """Has the client end, without waiting for it."""
        self.fetch.stop()

    def close(self) -> None:
        """Ends both."""
        self.stop()
        if self._fetching.ident is not None:
            self._fetching.join()
        self.server.stop()
        if self._serving.ident is not None:
            self._serving.join()


@contextmanager
def endless() -> Iterator[Path]:
    """A file that no run gets to the end of."""
    with tempfile.TemporaryDirectory(prefix="anabranch-") as folder:
        file = Path(folder) / ENDLESS
        with file.open("wb") as out:
            out.truncate(ENDLESS_BYTES)
        yield file


def over_quic(
    plan: Plan, network: Network, when: Sequence[NDArray[np.float64]], file: Path
) -> list[QuicUser]:
    """The users of the plan's classes over QUIC, not started. They fetch `file` without end, and
    start at the times of their class in `when`. Raises OSError and ValueError.
    """
    made: list[QuicUser] = []
    try:
        for class_, planned in enumerate(plan.classes):
            if planned.protocol != "quic":
                continue
            for user in range(planned.count):
                asked = Asked(planned.law or planned.controller, file)
                made.append(QuicUser(network, (class_, user), planned, asked, (None, 0.0)))
                made[-1].start_s = float(when[class_][user])
    except BaseException:
        for one in made:
            one.close()
        raise
    return made
