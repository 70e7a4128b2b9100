"""What loaded controllers do: connections, their subflows, and the terms that couple them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from .. import _core
from .controllers import NEEDS_ROOT, names
from .errors import LinuxError
from .namespace import Namespace, read_setting, write_setting

T = TypeVar("T")

CA_STATES = ("open", "disorder", "cwr", "recovery", "loss")
CHOICE = "net.ipv4.tcp_congestion_control"
"""What the sockets of a namespace get that choose nothing."""

ESTABLISHED = 1
CLOSE_WAIT = 8


def status() -> dict[str, Any]:
    """Controllers that are loaded for good with their counters, and every connection under them or
    under another one of ours, in all network namespaces that processes are in.

    Raises LinuxError where no controller was built, and without root.
    """
    if os.geteuid() != 0:
        raise LinuxError(NEEDS_ROOT.format("status"))
    loaded = [
        {"law": law, "name": name, "counters": _core.kernel_counters(law)}
        for law, name in names().items()
        if _core.kernel_pinned(law)
    ]
    return {"controllers": loaded, "connections": list(connections(subflows()))}


def subflows() -> list[dict[str, Any]]:
    """Every socket under one of our controllers, with its namespace's number.

    Raises PermissionError without root.
    """
    found = [
        row | {"namespace": number}
        for number, rows in everywhere(_core.kernel_subflows)
        for row in rows
    ]
    return [row for row in found if row["state"] in (ESTABLISHED, CLOSE_WAIT)]


def everywhere(look: Callable[[], T]) -> Iterator[tuple[int, T]]:
    """What is found in each network namespace that can be found, with its number."""
    for number, path in namespaces().items():
        try:
            namespace = Namespace.at(path)
        except FileNotFoundError:  # its last process has just ended
            continue
        try:
            with namespace.inside():
                found = look()
        finally:
            namespace.close()
        yield number, found


def chosen_in(kernel_name: str, replace: bool) -> int:
    """In how many namespaces new connections get a controller; there they get Reno if `replace`."""

    def look() -> bool:
        chosen = read_setting(CHOICE) == kernel_name
        if chosen and replace:
            write_setting(CHOICE, "reno")
        return chosen

    return sum(chosen for _, chosen in everywhere(look))


def namespaces() -> dict[int, str]:
    """For each network namespace that a thread is in, by its number, a file that stands for it."""
    found = {os.stat("/proc/self/ns/net").st_ino: "/proc/self/ns/net"}
    for path in Path("/proc").glob("[0-9]*/task/*/ns/net"):
        with suppress(OSError):  # threads end, and some hide
            found.setdefault(path.stat().st_ino, str(path))
    for path in Path("/run/netns").glob("*"):
        with suppress(OSError):
            found.setdefault(path.stat().st_ino, str(path))
    return found


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


def coupling(members: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The terms of the laws for each subflow: LIA's alpha (RFC 6356 eq. 2), the sets M and B of OLIA
    (l/rtt² for the best paths), the share of the total window, and growth beside that of one TCP."""
    w = np.array([row["cwnd_segments"] for row in members], dtype=float)
    rtt = np.array([row["srtt_s"] for row in members], dtype=float)
    l_ = np.array([max(row["since_loss"], row["between_losses"]) for row in members], dtype=float)
    if len(members) < 2 or not (rtt > 0).all() or not w.sum():
        return [{"alpha": None, "sets": "", "share": 1.0, "of_reno": None} for _ in members]
    alpha = w.sum() * (w / rtt**2).max() / (w / rtt).sum() ** 2
    whole, quality = np.floor(w), l_ / rtt**2
    largest, best = whole == whole.max(), quality >= quality.max() * (1 - 1e-6)
    return [
        {
            "alpha": float(alpha),
            "sets": "M" * bool(largest[i]) + "B" * bool(best[i]),
            "share": float(w[i] / w.sum()),
            "of_reno": row["growth"] * float(whole[i]),
        }
        for i, row in enumerate(members)
    ]


def using(kernel_name: str) -> int:
    """Sockets that use a controller now."""
    return sum(row["controller"] == kernel_name for row in subflows())
