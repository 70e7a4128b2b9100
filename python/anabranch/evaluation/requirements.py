"""The requirements of RFC 9743, and what answers each: criteria, or a reason why no run can."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

FILE = "requirements.toml"

KEY_WORDS = ("MUST", "REQUIRED", "SHOULD", "MAY")
"""Levels of requirements that have a key word of BCP 14; others are "advice"."""


@dataclass(frozen=True)
class Requirement:
    """A sentence of the RFC with a key word, or advice that a section gives without one."""

    section: str
    level: str
    """MUST, REQUIRED, SHOULD, MAY, or "advice"."""
    text: str
    """In other words, or a short quotation."""
    criteria: Sequence[str] = ()
    """Names of the criteria that answer it."""
    not_evaluated: str = ""
    """Reason why no run can; "because" begins it."""


@dataclass(frozen=True)
class Requirements:
    """The list, section by section."""

    sections: Mapping[str, str]
    """Titles of the sections by number."""
    requirements: Sequence[Requirement]
    additions: Mapping[str, str]
    """Criteria that no text of the RFC asks for, with the reason why they are here."""

    def under(self, section: str) -> list[Requirement]:
        """The requirements of a section itself."""
        return [one for one in self.requirements if one.section == section]

    def unanswered(self, section: str) -> list[str]:
        """The reasons why no run answers a section or those below it, each once."""
        below = f"{section}."
        own = [
            one
            for one in self.requirements
            if one.section == section or one.section.startswith(below)
        ]
        return list(dict.fromkeys(one.not_evaluated for one in own if one.not_evaluated))

    def heading(self, section: str) -> str:
        """Number and title of a section."""
        return f"{section} {self.sections[section]}" if section in self.sections else section


@cache
def requirements() -> Requirements:
    """The list that ships with the criteria."""
    text = (resources.files(__package__) / FILE).read_text(encoding="utf-8")
    content = tomllib.loads(text)
    return Requirements(
        content["sections"],
        [Requirement(**one) for one in content["requirement"]],
        {one["criterion"]: one["why"] for one in content.get("addition", ())},
    )
