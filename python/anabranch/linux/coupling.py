"""Deciding which subflows are coupled, for laws with `+sbd`: beside a run, and for good."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from .. import _core
from .controllers import SBD, Attached, available, names_of
from .errors import LinuxError
from .pinned import in_status
from .rights import check_root

PASS_S = 0.25
"""Time between two passes; subflows keep their round trips of the last 1.28 s."""


BELIEVED_S = 5.0
"""How long a subflow believes what it was told: `AB_BELIEVED` in bpf/sense.h."""


def couple_for_good(name: str) -> None:
    """Decides for a loaded controller until it is unloaded.

    Raises LinuxError for an unknown name, without root, and if no controller is loaded under this
    name, or one that couples all subflows.
    """
    kernel_name = names_of(name)
    check_root("couple")
    try:
        coupler = _core.KernelCoupler(in_status(kernel_name))
    except FileNotFoundError:
        is_there = kernel_name in available()
        what = "couples all subflows" if is_there else "is not loaded"
        first = f"`anabranch linux unload {name.removesuffix(SBD)}`, then " if is_there else ""
        law = name if name.endswith(SBD) else f"{name}{SBD}"
        raise LinuxError(
            f"{kernel_name} {what}\nhelp: {first}`anabranch linux load {law}`"
        ) from None
    while kernel_name in available():
        coupler.couple()
        time.sleep(PASS_S)


@contextmanager
def coupling(controllers: Attached) -> Iterator[None]:
    """Tells subflows their groups as long as the block lasts. Raises OSError at its end if the
    kernel refused to.
    """
    if not any(law.endswith(SBD) for law in controllers.loaded):
        yield
        return
    ended, refused = Event(), list[OSError]()

    def work() -> None:
        try:
            while not ended.wait(PASS_S):
                controllers.couple()
        except OSError as error:
            refused.append(error)

    thread = Thread(target=work, name="coupling", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
    for error in refused:
        raise error
