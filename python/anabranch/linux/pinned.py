"""Controllers in the running kernel for good: loaded under their own name until they are
taken out.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from .. import _core
from .controllers import (
    WRITTEN,
    available,
    couples_when_shared,
    header_file,
    law_file,
    load,
    names,
    names_of,
    program_of,
)
from .errors import LinuxError
from .observe import choose_again, choose_again_here, chosen_in, loaded_now, using
from .rights import check_root

MOST_WAIT_S = 10.0
"""Time limit for the kernel to release a controller's name: it waits for readers of the list."""


def load_for_good(name: str, min_ssthresh: int | None = None) -> str:
    """Loads a controller that stays after this process ends. Returns its name in the kernel.

    Raises LinuxError for an unknown name, a controller that is loaded already, a kernel that cannot
    run it or does not say what is loaded, and without root; nothing is left behind then.
    """
    kernel_name = names_of(name)
    check_root("load")
    if in_status(kernel_name) in loaded_now():
        raise LinuxError(
            f"{kernel_name} is loaded already; `anabranch linux status` shows it\n"
            f"help: `anabranch linux load --replace {name}` puts this one into its place"
        )
    controller = load(name, min_ssthresh=min_ssthresh)
    try:
        controller.pin()
    except OSError as error:
        raise LinuxError(f"{kernel_name} could not be kept: {error}") from None
    return kernel_name


@dataclass(frozen=True)
class Replaced:
    """A controller that has replaced another one of its name."""

    kernel_name: str
    earlier: int | None
    """Sockets that keep an earlier controller of this name until they close; None if unknown."""
    defaults: int
    """Network namespaces whose default was set again."""
    whole: bool
    """Whether all namespaces were looked at, instead of the caller's alone."""


def replace_for_good(name: str, min_ssthresh: int | None = None) -> Replaced | None:
    """Puts a controller into the place of the one that is loaded under its name, with settings of
    its own. Connections keep the earlier one until they close; new ones get this one, also where
    its name is their default. None if none is loaded under this name.

    Raises LinuxError for an unknown name, a controller that is not pinned, a kernel that cannot run
    this one, and without root; the earlier one stays in place then.
    """
    kernel_name = names_of(name)
    check_root("load")
    loaded = loaded_now()
    if (law := in_status(kernel_name)) not in loaded:
        return None
    shipped_or_text, program = program_of(name)
    try:
        _core.KernelController.replace(
            shipped_or_text,
            kernel_name=kernel_name,
            min_ssthresh=min_ssthresh,
            sbd=couples_when_shared(name),
            object=program,
        )
    except FileNotFoundError:
        raise elsewhere(kernel_name, loaded[law]) from None
    except OSError as error:
        raise LinuxError(
            f"{kernel_name} could not be replaced; the earlier one stays in place: {error}\n"
            "help: `anabranch linux check` shows what is missing"
        ) from None
    try:
        defaults, whole = choose_again(kernel_name), True
    except PermissionError:
        defaults, whole = int(choose_again_here(kernel_name)), False
    try:
        earlier = using(kernel_name).earlier
    except LinuxError:
        earlier = None
    return Replaced(kernel_name, earlier, defaults, whole)


def elsewhere(kernel_name: str, link: int) -> LinuxError:
    """That a loaded controller has no pin of ours."""
    return LinuxError(
        f"{kernel_name} is in the kernel as BPF link {link}, which is not pinned in "
        f"/sys/fs/bpf/anabranch: another process may hold it\n"
        f"help: sudo bpftool link detach id {link}"
    )


def unload_for_good(name: str, force: bool = False) -> int | None:
    """Removes a loaded controller. Returns how many sockets keep it until they close, or None if
    that is unknown. Sockets that keep an earlier controller of the same name are not counted. If
    new connections get this controller by default, that setting stays: `observe.choose_reno`
    changes it.

    Raises LinuxError for an unknown name, a controller that is not loaded, without root, and,
    unless `force` is set, while sockets use it, while it is the default of new connections, or if
    either is unknown. Also raises LinuxError if the kernel does not list the loaded controllers.
    """
    kernel_name = name if in_kernel(name) else names_of(name)
    law = in_status(kernel_name)
    check_root("unload")
    loaded = loaded_now()
    if law not in loaded:
        there = [names().get(other, other) for other in loaded]
        rest = f"these are: {', '.join(there)}" if there else "no controller is"
        raise LinuxError(f"{kernel_name} is not loaded; {rest}")
    count = kept(kernel_name, force)
    try:
        _core.kernel_unload(law)
    except FileNotFoundError:
        raise elsewhere(kernel_name, loaded[law]) from None
    except OSError as error:
        raise LinuxError(f"{kernel_name} could not be taken out: {error}") from None
    wait_until_gone(kernel_name)
    return count


def in_kernel(name: str) -> bool:
    """Whether a name is the kernel's name of a law in text or C, rather than its file."""
    return name.startswith(WRITTEN) and not law_file(name) and not header_file(name)


def in_status(kernel_name: str) -> str:
    """Name of a controller in the status: its law, or the kernel's name of a law in text."""
    return next((law for law, own in names().items() if own == kernel_name), kernel_name)


def wait_until_gone(kernel_name: str) -> None:
    """Waits until the kernel has no control of this name. Raises LinuxError if it keeps one."""
    limit_s = time.monotonic() + MOST_WAIT_S
    while kernel_name in available():
        if time.monotonic() > limit_s:
            raise LinuxError(
                f"{kernel_name} was unpinned, and is still in the kernel after {MOST_WAIT_S:g} s: "
                "another process holds it\nhelp: `sudo bpftool link` shows which"
            )
        time.sleep(0.005)


def kept(kernel_name: str, force: bool) -> int | None:
    """How many sockets have a controller; None if that is unknown and `force` is set.

    Without `force`, raises LinuxError if a socket has the controller or would get it. Raises
    OSError.
    """
    try:
        use = using(kernel_name)
    except LinuxError:
        if force:
            return None
        raise
    if force:
        return use.sockets
    if use.sockets:
        raise LinuxError(
            f"{kernel_name} is in use by {use.sockets} socket{'s' * (use.sockets != 1)} "
            f"({use.listening} listening)\n"
            "help: close them, or unload it with --force: then they keep it until they close, and one "
            "that listens may hand it on to what it accepts"
        )
    if count := chosen_in(kernel_name):
        raise LinuxError(
            f"{kernel_name} is the default of new connections in {count} network "
            f"namespace{'s' * (count != 1)}\n"
            "help: choose another one there first: sysctl -w net.ipv4.tcp_congestion_control=reno; "
            "--force does both"
        )
    return 0
