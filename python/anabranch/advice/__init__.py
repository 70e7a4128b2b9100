"""Which controller for these links: they are simulated under each candidate, beside others."""

from __future__ import annotations

from .candidates import CANDIDATES, Candidate
from .judging import Advice, Case, Outcome, advise
from .links import Link, parse
from .saying import commands, diseases, unknown, verdict

__all__ = [
    "CANDIDATES",
    "Advice",
    "Candidate",
    "Case",
    "Link",
    "Outcome",
    "advise",
    "commands",
    "diseases",
    "parse",
    "unknown",
    "verdict",
]
