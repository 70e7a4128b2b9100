"""Logs of QUIC: qlog of the current drafts and of earlier ones, and the event log of xquic.

`read` gives a `Capture`, with the tables of packets that were captured and the windows that only a
log has; `read_file` takes captures too. A format is a file here and a place in `FORMATS`.
"""

from __future__ import annotations

from .reading import FORMATS, knows, read, read_file

__all__ = ["FORMATS", "knows", "read", "read_file"]
