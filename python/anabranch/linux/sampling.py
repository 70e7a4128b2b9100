"""Round trips of live subflows: read from the kernel again and again for some seconds."""

from __future__ import annotations

import errno
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .controllers import names
from .errors import LinuxError
from .namespace import Namespace
from .observe import UNSEEN, ControlledSocket, namespaces
from .rights import check_root
from .selection import EVERYTHING, Selection

INTERVAL_S = 0.010
"""Time between two readings: the detectors' bins are as wide."""

MOST_WORK = 0.2
"""The part of the time that reading may take; with very many sockets it is done less often."""


@dataclass(frozen=True)
class SampledSubflow:
    """What was read of a subflow; times are in seconds since the first reading."""

    socket: ControlledSocket
    """As it was read last."""
    sent_s: NDArray[np.float64]
    """When packets were sent."""
    delay_s: NDArray[np.float64]
    """Their round trips."""
    rtt_s: NDArray[np.float64]
    """The smoothed round trip at that time."""
    lost_s: NDArray[np.float64]
    """When congestion events were found."""


@dataclass(frozen=True)
class SampledConnection:
    """The subflows of a connection of MPTCP."""

    controller: str
    namespace: int
    subflows: list[SampledSubflow]


@dataclass(frozen=True)
class Sampling:
    """What was read in some seconds."""

    seconds: float
    readings: int
    connections: list[SampledConnection]


def sample(
    seconds: float,
    only: Selection = EVERYTHING,
    progress: Callable[[float, float], object] | None = None,
) -> Sampling:
    """The connections of MPTCP under our controllers that exist when it begins to read, and their
    subflows.

    Raises LinuxError where no controller was built, where sockets cannot be read, and without root.
    """
    check_root("status")
    names()  # raises where no controller was built
    with ExitStack() as stack:
        try:
            sampler = _core.KernelSampler()
            places = inhabited(sampler, only, stack)
            begun = now = time.monotonic()
            readings = 1
            while places and (left := begun + seconds - now) > 0:
                rest = max(INTERVAL_S, (time.monotonic() - now) * (1 / MOST_WORK - 1))
                time.sleep(min(rest, left))
                now = time.monotonic()
                for place in places:
                    with place.inside():
                        sampler.look(place.number)
                readings += 1
                if progress:
                    progress(min(now - begun, seconds), seconds)
        except OSError as error:
            raise LinuxError(UNSEEN.format(error)) from None
    return Sampling(now - begun, readings, gathered(sampler, only, begun))


def inhabited(sampler: _core.KernelSampler, only: Selection, stack: ExitStack) -> list[Namespace]:
    """The namespaces with subflows of ours, open until the stack is closed. Raises OSError."""
    found = []
    for passing in namespaces():
        if only.namespace not in (None, passing.number):
            continue
        place = passing.kept()
        try:
            with place.inside():
                there = sampler.look(place.number)
        except OSError as error:
            place.close()
            if error.errno != errno.EINVAL:  # a name of something else
                raise
            continue
        if there:
            stack.callback(place.close)
            found.append(place)
        else:
            place.close()
    return found


def gathered(
    sampler: _core.KernelSampler, only: Selection, begun: float
) -> list[SampledConnection]:
    """The subflows by connection."""
    groups: dict[tuple[int, str, int], list[SampledSubflow]] = {}
    for row in sampler.sampled():
        socket = ControlledSocket(namespace=row["namespace"], **row["socket"])
        if not socket.connection:
            continue
        # A packet may have been sent before the first reading: times are not negative.
        sent, delay, rtt = (row[name] for name in ("sent_s", "delay_s", "rtt_s"))
        kept = sent >= begun
        lost = row["lost_s"] - begun
        subflow = SampledSubflow(
            socket, sent[kept] - begun, delay[kept], rtt[kept], lost[lost >= 0]
        )
        key = (socket.namespace, socket.controller, socket.connection)
        groups.setdefault(key, []).append(subflow)
    return [
        SampledConnection(controller, namespace, subflows)
        for (namespace, controller, _), subflows in sorted(groups.items(), key=lambda one: one[0])
        if only.takes(controller, [(one.socket.local, one.socket.remote) for one in subflows])
    ]
