"""Logs of QUIC, from the side that sent the data: qlog, and the event log of xquic."""

from __future__ import annotations

from pathlib import Path

from ...qlog import knows
from ...qlog import read as read_log
from .packets import of
from .paths import Measured

FORMAT = "a log of QUIC (qlog, xquic)"

__all__ = ["FORMAT", "knows", "read"]


def read(path: Path) -> Measured:
    """The paths of the connection with most data among those that have several. Raises OSError and
    ValueError.
    """
    return of(read_log(path, delays=True))
