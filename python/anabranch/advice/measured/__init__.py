"""Links as they were measured: in a capture, a qlog, or a report of iperf3.

A format is a file here and a line in `READERS`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from . import iperf3, packets, qlog
from .paths import Measured

READERS: tuple[ModuleType, ...] = (packets, qlog, iperf3)
"""Each has `FORMAT`, its name; `knows(head)`, whether a file with these first bytes is one; and
`read(path)`, which returns `Measured` and raises OSError or ValueError.
"""

HEAD_BYTES = 4096

__all__ = ["READERS", "Measured", "join", "read"]


def read(text: str) -> Measured:
    """What a file shows; `NAME=FILE` names the link where the file is of one.

    Raises OSError, and ValueError if no reader knows the file, if it is broken or says too little
    of a link, or if it is of several links and was given a name.
    """
    name, _, file = text.rpartition("=")
    path = Path(file)
    with path.open("rb") as stream:
        head = stream.read(HEAD_BYTES)
    for reader in READERS:
        if reader.knows(head):
            found: Measured = reader.read(path)
            return found.named(name) if name else found
    known = ", ".join(reader.FORMAT for reader in READERS)
    raise ValueError(f"--measured {file}: no file of measurements; there are: {known}")


def join(found: Sequence[Measured]) -> Measured:
    """What several files show together. Whether links of different files share is not known."""
    if len(found) == 1:
        return found[0]
    fitted = [one for part in found for one in part.fitted]
    notes = [note for part in found for note in part.notes]
    return Measured(fitted, None, notes, [one for part in found for one in part.diseases])
