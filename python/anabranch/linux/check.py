"""Checks what this kernel offers, what that allows, and how to get the missing features."""

from __future__ import annotations

import errno
import os
import platform
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from .controllers import LEAST_KERNEL, NOT_BUILT, attached, built, new_enough
from .errors import LinuxError
from .idle import SETTING, Restart, decays, restarts
from .namespace import Namespace, read_setting
from .rights import LOCKDOWN, TO_LOAD, TO_RUN, as_root, is_root, lacking, lockdown
from .tcp_info import IPPROTO_MPTCP

BTF = Path("/sys/kernel/btf/vmlinux")
TUN = Path("/dev/net/tun")

TWO_PATHS = """
name = "check"
duration = "1 s"
[[link]]
name = "link"
rate = "1 Mb/s"
delay = "1 ms"
queue = { droptail = { packets = "10 packets" } }
[[flow]]
name = "user"
controller = "uncoupled"
[[flow.path]]
links = ["link"]
[[flow.path]]
links = ["link"]
"""

ROOT = "root"
"""The row about the user, not about the kernel."""

NOT_TRIED = "not tried"
AS_ROOT = "see root"

State = Literal["yes", "no", "unknown"]


@dataclass(frozen=True)
class Fact:
    """One thing that a kernel has or lacks."""

    name: str
    state: State
    detail: str
    remedy: str = ""
    """How to get the feature if it is missing."""
    needed_for: tuple[str, ...] = ("load", "run")


def facts() -> list[Fact]:
    """All of them, in the order of a table. Nothing is left behind."""
    looks: tuple[Callable[[], Fact], ...] = (
        kernel,
        rights,
        capabilities,
        locked,
        build,
        mptcp,
        types,
        operations,
        connection,
        compiler,
        writable,
        idle_restart,
        pins,
        namespaces,
        tunnels,
        network,
    )
    return [look() for look in looks]


def allows(found: list[Fact], use: str) -> State:
    """Whether everything that `use` needs is present; "unknown" if a part is unknown."""
    states = [fact.state for fact in found if use in fact.needed_for]
    return "no" if "no" in states else "unknown" if "unknown" in states else "yes"


def kernel() -> Fact:
    """The kernel's version."""
    release = platform.release()
    least = ".".join(map(str, LEAST_KERNEL))
    enough = new_enough(release)
    return Fact("kernel", yes(enough), f"Linux {release}", f"needs Linux {least} or later")


def rights() -> Fact:
    """Root."""
    remedy = f"run it as root: {as_root('linux')}"
    return Fact(ROOT, yes(is_root()), f"user {os.geteuid()}", remedy)


def capabilities() -> Fact:
    """Rights that root may be without."""
    if not is_root():
        return Fact("capabilities", "unknown", "those of root", AS_ROOT, ("load",))
    if why := lacking():
        detail, _, remedy = why.partition("; ")
        return Fact("capabilities", "no", detail, remedy, ("load",))
    return Fact("capabilities", "yes", ", ".join(TO_LOAD), "", ("load",))


def locked() -> Fact:
    """Whether the kernel keeps its memory from root, and so from BPF."""
    level = lockdown()
    if not level:
        remedy = "mount -t securityfs securityfs /sys/kernel/security; see fields"
        return Fact("lockdown", "unknown", f"{LOCKDOWN} is not there", remedy, ())
    if level == "confidentiality":
        detail = f"{level}: BPF may not read the kernel's memory, as controllers do"
        remedy = "boot without lockdown=confidentiality; integrity does no harm"
        return Fact("lockdown", "no", detail, remedy)
    return Fact("lockdown", "yes", f"{level}: BPF may read the kernel's memory")


def hindered() -> str:
    """What to do before a controller can be tried; empty if nothing stands in the way."""
    if not is_root():
        return AS_ROOT
    return "see capabilities" if lacking() else ""


def build() -> Fact:
    """Whether this build contains the controllers."""
    detail = "compiled into this build" if built() else "not part of this build"
    return Fact("controllers", yes(built()), detail, NOT_BUILT)


def mptcp() -> Fact:
    """Multipath TCP."""
    enabled = read_setting("net.mptcp.enabled")
    if enabled is None:
        return Fact("MPTCP", "no", "the kernel has none", "a kernel with CONFIG_MPTCP=y")
    return Fact(
        "MPTCP",
        yes(enabled == "1"),
        f"net.mptcp.enabled = {enabled}",
        "sysctl -w net.mptcp.enabled=1",
    )


def types() -> Fact:
    """The kernel's own types, which a controller is fitted to when it is loaded."""
    remedy = "a kernel with CONFIG_DEBUG_INFO_BTF=y"
    return Fact("BTF", yes(BTF.exists()), str(BTF), remedy, ("load",))


def operations() -> Fact:
    """BPF programs in the place of a congestion control."""
    remedy = "a kernel with CONFIG_BPF_JIT=y and BPF struct_ops for tcp_congestion_ops"
    state = has_type(b"bpf_struct_ops_tcp_congestion_ops")
    return Fact("struct_ops", state, "of tcp_congestion_ops", remedy, ("load",))


def connection() -> Fact:
    """Kernel types that a subflow needs to find its siblings."""
    remedy = "a kernel with CONFIG_MPTCP=y built in, and its types in BTF"
    names = (b"mptcp_subflow_context", b"conn_list", b"bpf_rdonly_cast")
    states = [has_type(name) for name in names]
    state: State = "no" if "no" in states else states[0]
    return Fact("siblings", state, "the list of subflows can be walked", remedy, ("load",))


def compiler() -> Fact:
    """The kernel's compiler of BPF programs, which struct_ops need."""
    enabled = read_setting("net.core.bpf_jit_enable")
    if enabled is None and not is_root():
        return Fact("JIT", "unknown", "only root may look", AS_ROOT, ("load",))
    if enabled is None:  # only the first network namespace has it, and to load one needs it
        hidden = "not shown in this network namespace"
        return Fact("JIT", "unknown", hidden, "see fields", ())
    remedy = "sysctl -w net.core.bpf_jit_enable=1"
    detail = f"net.core.bpf_jit_enable = {enabled}"
    return Fact("JIT", yes(enabled in ("1", "2")), detail, remedy, ("load",))


def writable() -> Fact:
    """The fields that a controller writes: shown by loading one and taking it out again."""
    fields = "snd_cwnd, snd_ssthresh, sk_pacing_rate, icsk_ca_priv"
    remedy = "see what the kernel said; docs/reference/linux.md lists what is used"
    if not built():
        return Fact("fields", "unknown", fields, NOT_BUILT, ("load",))
    if why := hindered():
        return Fact("fields", "unknown", f"{fields}; {NOT_TRIED}", why, ("load",))
    try:
        with attached(["olia"]):
            return Fact("fields", "yes", fields, "", ("load",))
    except LinuxError as error:
        said = str(error).splitlines()
        return Fact("fields", "no", said[0], remedy, ("load",))


def idle_restart() -> Fact:
    """The effect of idle time on a window, tested by leaving connections idle, one of them under a
    controller that is loaded and then removed.
    """
    if why := hindered() if built() else NOT_BUILT:
        return Fact("idle restart", "unknown", NOT_TRIED, why, ("load",))
    try:
        with attached(["olia"]) as there:
            own, ours = restarts(["reno", there.kernel_name("olia")])
    except LinuxError:
        return Fact(
            "idle restart", "unknown", "no controller to try it with", "see fields", ("load",)
        )
    except OSError as error:
        remedy = "the loopback device must be up"
        return Fact("idle restart", "unknown", told(error), remedy, ("load",))
    return restarted(own, ours, decays())


def restarted(own: Restart, ours: Restart, asked: bool) -> Fact:
    """The effect of idle time on a window under the kernel's Reno and under one of our controllers;
    `asked` says whether the setting asks for decay.
    """
    windows = ", ".join(
        f"{name} {row.before_segments} → {row.after_segments}"
        for name, row in (("reno", own), ("olia", ours))
    )
    detail = f"windows before and after: {windows}; {SETTING} = {int(asked)}"
    if not own.grown or not ours.grown:
        return Fact("idle restart", "unknown", detail, "too small to decay: try again", ("load",))
    remedy = "this kernel does not tell controllers of idle time: windows stay as they were"
    return Fact(
        "idle restart", yes(own.decayed == ours.decayed == asked), detail, remedy, ("load",)
    )


def pins() -> Fact:
    """The file system that keeps a controller when the command has ended."""
    known = "\tbpf\n" in Path("/proc/filesystems").read_text()
    remedy = "a kernel with CONFIG_BPF_SYSCALL=y"
    return Fact("bpffs", yes(known), "mounted at /sys/fs/bpf when needed", remedy, ("load",))


def namespaces() -> Fact:
    """Network namespaces."""
    remedy = "a kernel with CONFIG_NET_NS=y; sysctl user.max_net_namespaces above 0"
    if not Path("/proc/self/ns/net").exists():
        return Fact("namespaces", "no", "the kernel has none", remedy, ("run",))
    if not is_root():
        return Fact("namespaces", "unknown", NOT_TRIED, AS_ROOT, ("run",))
    if why := lacking(TO_RUN):
        detail, _, remedy = why.partition("; ")
        return Fact("namespaces", "no", detail, remedy, ("run",))
    try:
        Namespace().close()
    except OSError as error:
        return Fact("namespaces", "no", told(error), remedy, ("run",))
    return Fact("namespaces", "yes", "one was made and given back", "", ("run",))


def tunnels() -> Fact:
    """TUN devices."""
    remedy = "modprobe tun; in a container: --device /dev/net/tun"
    if not TUN.exists():
        return Fact("TUN", "no", f"{TUN} is missing", remedy, ("run",))
    if not is_root():
        return Fact("TUN", "unknown", f"{TUN} is there; {NOT_TRIED}", AS_ROOT, ("run",))
    try:
        os.close(os.open(TUN, os.O_RDWR))
    except OSError as error:
        return Fact("TUN", "no", f"{TUN}: {error.strerror}", remedy, ("run",))
    return Fact("TUN", "yes", str(TUN), "", ("run",))


def network() -> Fact:
    """The parts of a run's network, tested by building a small one and removing it."""
    parts = "devices, routes by the sender's address, an endpoint and a socket of MPTCP"
    remedy = "a kernel with CONFIG_TUN, CONFIG_IP_MULTIPLE_TABLES=y and CONFIG_MPTCP=y"
    if not is_root():
        return Fact("network", "unknown", f"{parts}; {NOT_TRIED}", AS_ROOT, ("run",))
    if lacking(TO_RUN):
        return Fact("network", "unknown", parts, "see namespaces", ("run",))
    from pyroute2 import NetlinkError

    from ..scenario import Scenario
    from .wiring import Side

    try:
        (users,) = Scenario.parse(TWO_PATHS, "check").plan().classes
        side = Side(0, users, sender=True)
        try:
            side.set_endpoint(1, True)
            with side.namespace.inside():
                socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP).close()
        finally:
            side.close()
    except (OSError, LinuxError, NetlinkError) as error:
        if isinstance(error, OSError) and error.errno in (errno.EPERM, errno.EACCES, errno.EROFS):
            remedy = "in a container: --privileged"
        return Fact("network", "no", told(error), remedy, ("run",))
    return Fact("network", "yes", parts, "", ("run",))


def told(error: Exception) -> str:
    """The kernel's answer in its own words, without its number."""
    return (isinstance(error, OSError) and error.strerror) or str(error)


def yes(holds: bool) -> State:
    """A fact that is known."""
    return "yes" if holds else "no"


def has_type(name: bytes) -> State:
    """Whether a name is among the kernel's own types; needs no privilege."""
    try:
        return yes(b"\0" + name + b"\0" in BTF.read_bytes())
    except FileNotFoundError:
        return "no"
    except OSError:
        return "unknown"
