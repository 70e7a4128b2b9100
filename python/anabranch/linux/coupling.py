"""The thread beside a run that decides which subflows are coupled, for laws with `+sbd`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from .controllers import SBD, Attached

PASS_S = 0.25
"""Time between two passes; subflows keep their round trips of the last 1.28 s."""


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
