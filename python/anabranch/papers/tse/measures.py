"""What the thesis' ledger measures beyond the basic measures."""

from __future__ import annotations

from . import comparing, drops, laws, reading, steps, transfers  # noqa: F401
