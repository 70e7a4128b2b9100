"""`anabranch linux check`, `load`, `assign`, `couple` and `unload`: controllers for an operator."""

from __future__ import annotations

import json as text
from dataclasses import asdict
from pathlib import Path

import typer
from rich.console import Console

from ..files import atomic_write
from ..linux.assigning import assign, unassign
from ..linux.check import ROOT, Fact, State, allows, facts
from ..linux.controllers import names, names_of
from ..linux.coupling import BELIEVED_S, couple_for_good
from ..linux.errors import LinuxError
from ..linux.observe import assigned, choose_reno, choose_reno_here, loaded_now
from ..linux.pinned import Replaced, in_kernel, load_for_good, replace_for_good, unload_for_good
from .terminal import console, named, table

STYLES = {"yes": "green", "no": "red", "unknown": "yellow"}

USES = {"load": "controllers in the kernel", "run": "scenarios on the kernel"}


def check_command(json: Path | None) -> None:
    """Prints what there is, or writes it into a file; the status is 1 when something is missing."""
    found = facts()
    if json is None:
        _print_facts(found)
    else:
        content = {
            "facts": [asdict(fact) for fact in found],
            **{use: allows(found, use) for use in USES},
            "loaded": _in_kernel(),
            "assigned": _assigned(),
        }
        atomic_write(json, text.dumps(content, indent=1) + "\n")
    if any(allows(found, use) == "no" for use in USES):
        raise typer.Exit(1)


def _print_facts(found: list[Fact]) -> None:
    def state(there: State) -> str:
        return f"[{STYLES[there]}]{there}[/]"

    rows = [
        [
            fact.name,
            state(fact.state),
            named(fact.detail),
            "" if fact.state == "yes" else named(fact.remedy),
        ]
        for fact in found
    ]
    out = console()
    out.print(table("This kernel", ["part", "there", "detail", "remedy"], rows, left=4))
    for use, what in USES.items():
        out.print(f"linux {use} ({what}): {_answer(found, use)}", highlight=False)
    for name, command in _in_kernel().items():
        out.print(f"{name} is in the kernel; `{command}` takes it out", highlight=False)
    for command, cgroup in _assigned().items():
        out.print(
            f"{named(cgroup)} has a controller; `{named(command)}` ends that", highlight=False
        )


def _in_kernel() -> dict[str, str]:
    """Controllers in the kernel, each with the command that takes it out: what any of our processes
    leaves when it is killed. Nothing where the kernel does not tell.
    """
    try:
        laws = loaded_now()
    except LinuxError:
        return {}
    names_ = {law: names().get(law, law) for law in laws}
    return {name: f"sudo anabranch linux unload {law}" for law, name in names_.items()}


def _assigned() -> dict[str, str]:
    """For each control group that has a controller the command that ends that."""
    found = assigned()
    laws = {name: law for law, name in names().items()} if found else {}
    return {
        f"sudo anabranch linux unassign {laws.get(name, name)} --cgroup {cgroup}": cgroup
        for name, cgroups in found.items()
        for cgroup in cgroups
    }


def _answer(found: list[Fact], use: str) -> str:
    """Whether the kernel allows it, as far as this user can check."""
    there = allows(found, use)
    others = allows([fact for fact in found if fact.name != ROOT], use)
    if there == "no" and others != "no":
        return (
            "[yellow]not as this user[/]: run it as root; "
            "every part that can be checked without root is there"
        )
    return f"[{STYLES[there]}]{there}[/]"


def load_command(name: str, min_ssthresh: int | None, replace: bool = False) -> None:
    """Loads a controller for good and says how it is selected, or puts it into the place of another
    one.
    """
    if replace and (done := replace_for_good(name, min_ssthresh)):
        console().print(_told(done), highlight=False)
        return
    kernel_name = load_for_good(name, min_ssthresh)
    console().print(
        f"loaded as {kernel_name}; select it with sysctl -w "
        f"net.ipv4.tcp_congestion_control={kernel_name}, or by TCP_CONGESTION on a socket",
        highlight=False,
    )


def _told(done: Replaced) -> str:
    """What a replacement did."""
    text = f"replaced {done.kernel_name}"
    if done.earlier is None:
        text += "; the number of sockets that keep the earlier one is unknown"
    elif done.earlier == 1:
        text += "; 1 socket keeps the earlier one until it closes"
    elif done.earlier:
        text += f"; {done.earlier} sockets keep the earlier one until they close"
    if done.defaults:
        s = "s" * (done.defaults != 1)
        text += f"\nit is the default of {done.defaults} network namespace{s}, as before"
    if not done.whole:
        text += (
            "\nother network namespaces were not looked at, and those whose default it is still give "
            "the earlier one to new connections: that needs CAP_SYS_ADMIN and CAP_SYS_PTRACE"
        )
    return text


def assign_command(name: str, cgroup: Path | None, service: str | None) -> None:
    """Assigns a loaded controller to a control group and says so."""
    kernel_name, path = assign(name, cgroup, service)
    console().print(
        f"new connections of {named(str(path))} get {kernel_name}; open ones keep theirs",
        highlight=False,
    )


def unassign_command(name: str, cgroup: Path | None, service: str | None) -> None:
    """Ends an assignment and says so."""
    kernel_name, path = unassign(name, cgroup, service)
    console().print(f"{named(str(path))} is no longer assigned {kernel_name}", highlight=False)


def couple_command(name: str) -> None:
    """Decides for a loaded controller until it is unloaded, and says so at the beginning."""
    kernel_name = names_of(name)
    console().print(
        f"deciding which subflows of {kernel_name} share a bottleneck; Ctrl-C ends it, and after "
        f"{BELIEVED_S:g} s all are coupled",
        highlight=False,
    )
    couple_for_good(name)
    console().print(f"{kernel_name} was unloaded", highlight=False)


def unload_command(name: str, force: bool) -> None:
    """Removes a controller and says which sockets keep it; by force, new connections then get Reno.

    Raises LinuxError when it is refused, and OSError when a default cannot be changed afterwards.
    """
    out = console()
    kernel_name = name if in_kernel(name) else names_of(name)
    cgroups = assigned().get(kernel_name, [])
    count = unload_for_good(name, force)
    out.print(f"unloaded{_left(count)}", highlight=False)
    for cgroup in cgroups:
        out.print(f"{named(cgroup)} is no longer assigned {kernel_name}", highlight=False)
    if force:
        _choose_reno(kernel_name, out)


def _left(count: int | None) -> str:
    """Note on sockets that keep a controller; None if their number is unknown."""
    if count == 0:
        return ""
    if count is None:
        what = "the number of sockets that keep it until they close is unknown"
    elif count == 1:
        what = "1 socket keeps it until it closes"
    else:
        what = f"{count} sockets keep it until they close"
    return f"; {what}\nA listening socket may pass it on to connections that it accepts."


def _choose_reno(kernel_name: str, out: Console) -> None:
    """Changes the defaults that name a controller, and says where."""
    whole = True
    try:
        changed = choose_reno(kernel_name)
    except PermissionError:
        changed, whole = int(choose_reno_here(kernel_name)), False
    if changed:
        out.print(
            f"changed the default from {kernel_name} to reno in "
            f"{changed} network namespace{'s' * (changed != 1)}",
            highlight=False,
        )
    if not whole:
        out.print(
            "other network namespaces were not checked: that needs CAP_SYS_ADMIN and "
            "CAP_SYS_PTRACE",
            highlight=False,
        )
