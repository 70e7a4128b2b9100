"""Whether this machine can run a world in real time."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

TUN = Path("/dev/net/tun")


def check_machine(
    root: Callable[[], int] = os.geteuid,
    *,
    command: str = "compare",
    asked: str = "--worlds with linux",
) -> None:
    """Raises LinuxError where this machine cannot run the kernel's part: without root, a TUN
    device, the controllers or a right that root usually has. `asked` is the option of `command`
    that asks for the kernel.
    """
    from ..linux import LinuxError, controllers
    from ..linux.rights import TO_LOAD, TO_RUN, as_root, lacking
    from ..linux.testbed import checked_rights

    if root() != 0:
        raise LinuxError(f"{asked} needs root: {as_root(command)}")
    if not TUN.exists():
        raise LinuxError(f"{TUN} is missing; `anabranch linux check` shows what to do")
    if not controllers.built():
        raise LinuxError(controllers.NOT_BUILT)
    if why := lacking(tuple(dict.fromkeys((*TO_LOAD, *TO_RUN)))):
        raise LinuxError(why)
    checked_rights()
