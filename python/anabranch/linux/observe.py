"""What loaded controllers do: connections, their subflows, and the terms that couple them."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from .. import _core
from .controllers import NEEDS_ROOT, names
from .errors import LinuxError
from .fit import MOST_PATHS
from .namespace import Namespace, read_setting, write_setting

T = TypeVar("T")

CA_STATES = ("open", "disorder", "cwr", "recovery", "loss")
CHOICE = "net.ipv4.tcp_congestion_control"
"""What the sockets of a namespace get that choose nothing."""

ESTABLISHED = 1
CLOSE_WAIT = 8
LISTEN = 10

PLAUSIBLE = 2**24
"""Segments; above this a threshold is none."""

UNSEEN = (
    "the sockets under the controllers cannot be read: {}\n"
    "help: `anabranch linux check` shows what is missing; `anabranch linux unload --force` does without"
)


@dataclass(frozen=True)
class Use:
    """How many sockets have a controller, in whatever state of TCP."""

    sockets: int
    listening: int
    """Of those. If one chose the controller itself, and not its namespace, what it accepts has it
    too.
    """


def status() -> dict[str, Any]:
    """Controllers that are loaded for good with their sockets and counters, and every connection
    under them or under another one of ours, in all network namespaces that can be found.

    Raises LinuxError where no controller was built, where sockets cannot be read, and without root.
    """
    if os.geteuid() != 0:
        raise LinuxError(NEEDS_ROOT.format("status"))
    rows = sockets()
    loaded = []
    for law, name in names().items():
        if _core.kernel_pinned(law):
            use = used(rows, name)
            row = {"law": law, "name": name, "sockets": use.sockets, "listening": use.listening}
            loaded.append(row | {"counters": _core.kernel_counters(law)})
    return {"controllers": loaded, "connections": list(connections(filter(at_work, rows)))}


def sockets() -> list[dict[str, Any]]:
    """Every TCP socket under one of our controllers, in whatever state, with its namespace's
    number.

    Raises LinuxError where they cannot be read, and without root.
    """
    try:
        return [
            row | {"namespace": number}
            for number, rows in everywhere(_core.kernel_subflows)
            for row in rows
        ]
    except OSError as error:
        raise LinuxError(UNSEEN.format(error)) from None


def subflows() -> list[dict[str, Any]]:
    """The sockets that send under one of our controllers. Raises LinuxError as `sockets` does."""
    return list(filter(at_work, sockets()))


def at_work(row: dict[str, Any]) -> bool:
    """Whether the controller of a socket has begun, and its peer still takes data."""
    return bool(row["begun"]) and row["state"] in (ESTABLISHED, CLOSE_WAIT)


def using(kernel_name: str) -> Use:
    """The sockets that have a controller now. Raises LinuxError as `sockets` does."""
    return used(sockets(), kernel_name)


def used(rows: Iterable[dict[str, Any]], kernel_name: str) -> Use:
    """Those of `rows` that have a controller."""
    states = [row["state"] for row in rows if row["controller"] == kernel_name]
    return Use(len(states), states.count(LISTEN))


def chosen_in(kernel_name: str) -> int:
    """In how many namespaces new connections get a controller. Raises OSError."""
    return sum(chosen for _, chosen in everywhere(lambda: read_setting(CHOICE) == kernel_name))


def choose_reno(kernel_name: str) -> int:
    """Has new connections get Reno where they get a controller; in how many namespaces. Raises
    OSError.
    """

    def replaced() -> bool:
        chosen = read_setting(CHOICE) == kernel_name
        if chosen:
            write_setting(CHOICE, "reno")
        return chosen

    return sum(chosen for _, chosen in everywhere(replaced))


def everywhere(look: Callable[[], T]) -> Iterator[tuple[int, T]]:
    """What is found in each network namespace that can be found, with its number.

    Raises OSError without the right to enter one.
    """
    for namespace in namespaces():
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
    """Each network namespace that a thread is in or that has a name, open until the next is asked
    for.
    """
    seen = set()
    own = Path("/proc/thread-self/ns/net")
    tasks = Path("/proc").glob("[0-9]*/task/*/ns/net")
    for path in chain([own], tasks, Path("/run/netns").glob("*")):
        try:
            namespace = Namespace.at(str(path))
        except OSError:  # threads end, and some hide; another file may stand for the same one
            continue
        try:
            if namespace.number not in seen:
                seen.add(namespace.number)
                yield namespace
        finally:
            namespace.close()


def connections(rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Subflows gathered by connection, each with its coupling terms."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        alone = (row["local"], row["remote"]) if row["connection"] == 0 else ()
        key = (row["namespace"], row["controller"], row["connection"], *alone)
        groups.setdefault(key, []).append(row)
    for (namespace, controller, connection, *_), members in sorted(groups.items()):
        yield {
            "namespace": namespace,
            "controller": controller,
            "protocol": "MPTCP" if connection else "TCP",
            "subflows": [
                shown(row) | terms for row, terms in zip(members, coupling(members), strict=True)
            ],
        }


def shown(row: dict[str, Any]) -> dict[str, Any]:
    """What of a socket is of use to people."""
    kept = (
        "local",
        "remote",
        "backup",
        "cwnd_segments",
        "ssthresh_segments",
        "srtt_s",
        "growth",
        "since_loss",
        "between_losses",
        "delivered",
        "paths",
        "losses",
        "missed",
        "repairs",
    )
    return {name: row[name] for name in kept} | {"ca_state": CA_STATES[row["ca_state"]]}


def takes_part(row: dict[str, Any]) -> bool:
    """Whether the controllers count a subflow among the paths of its connection; `ab_visit` in
    bpf/siblings.h has the same."""
    return at_work(row) and row["srtt_s"] > 0 and not row["backup"]


def window(row: dict[str, Any]) -> float:
    """The window of a subflow as its siblings see it, in whole segments: in recovery and cwr the
    one that they will end with."""
    ssthresh = row["ssthresh_segments"]
    if CA_STATES[row["ca_state"]] in ("cwr", "recovery") and 0 < ssthresh < PLAUSIBLE:
        return float(ssthresh)
    return float(np.floor(row["cwnd_segments"]))


def coupling(members: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The terms of the laws for each subflow, as far as it takes part: LIA's alpha (RFC 6356 eq.
    2), the sets M and B of OLIA (l/rtt² for the best paths), the share of the total window, and
    growth beside that of one TCP."""
    there = [i for i, row in enumerate(members) if takes_part(row)]
    terms: list[dict[str, Any]] = [
        {"alpha": None, "sets": "", "share": 1.0 if [i] == there else None, "of_reno": None}
        for i in range(len(members))
    ]
    if not 2 <= len(there) <= MOST_PATHS:
        return terms
    rows = [members[i] for i in there]
    w = np.array([window(row) for row in rows])
    rtt = np.array([row["srtt_s"] for row in rows], dtype=float)
    l_ = np.array([max(row["since_loss"], row["between_losses"]) for row in rows], dtype=float)
    alpha = w.sum() * (w / rtt**2).max() / (w / rtt).sum() ** 2
    quality = l_ / rtt**2
    largest, best = w == w.max(), quality >= quality.max() * (1 - 1e-6)
    for k, i in enumerate(there):
        terms[i] = {
            "alpha": float(alpha),
            "sets": "M" * bool(largest[k]) + "B" * bool(best[k]),
            "share": float(w[k] / w.sum()),
            "of_reno": rows[k]["growth"] * float(w[k]),
        }
    return terms
