"""A claim: a result of a paper as data, with acceptance bands."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

ABBREVIATIONS = frozenset({"ack", "lia", "mss", "olia", "rtt", "tcp"})
"""Words of identifiers that people write in capitals."""


@dataclass(frozen=True)
class Spelling:
    """How people read the identifiers of a paper."""

    capitals: frozenset[str] = ABBREVIATIONS
    size: str = "N"
    """The number that identifiers give as `n30`."""

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> Spelling:
        """The spelling of a ledger's table [words]."""
        return cls(ABBREVIATIONS | set(table.get("capitals", ())), table.get("size", "N"))

    def words(self, name: str) -> str:
        """An identifier as people read it: `p2_over_p1_n30` is "p2 over p1 at N = 30".

        A name with spaces is made of words already.
        """
        return name if " " in name else " ".join(self._word(part) for part in name.split("_"))

    def _word(self, part: str) -> str:
        """A part of an identifier; numbers stand apart from words and units: "type 2", "1500 B"."""
        if part in self.capitals:
            return part.upper()
        part = re.sub(r"^n(?=\d+$)", f"at {self.size} = ", part)
        part = re.sub(r"^ge$", "≥", part)
        return re.sub(r"(?<=[a-z]{3})(?=\d)|(?<=\d)(?=(?:B|ms)$)", " ", part)


@dataclass(frozen=True)
class Claim:
    """One result of a document. `expected` maps a name to its band, ordering or predicate."""

    id: str
    kind: str
    source: str
    statement: str
    expected: dict[str, Any]
    tolerance: str
    notes: str
    experiments: tuple[str, ...]
    spelling: Spelling = Spelling()

    @classmethod
    def of(cls, table: Mapping[str, Any], spelling: Spelling) -> Claim:
        """A claim of a ledger's table."""
        return cls(
            id=table["id"],
            kind=table["kind"],
            source=table["source"],
            statement=table["statement"],
            expected=table["expected"],
            tolerance=table.get("tolerance", ""),
            notes=table.get("notes", ""),
            experiments=tuple(
                part.strip() for part in table.get("experiment", "").split(",") if part
            ),
            spelling=spelling,
        )

    @property
    def measured(self) -> bool:
        """Whether an expectation has a measure."""
        entries = self.expected.values()
        return any(isinstance(entry, Mapping) and "measure" in entry for entry in entries)

    def band(self, key: str) -> tuple[float | None, float | None]:
        """Lower and upper end of an expectation's band; None where it is open."""
        entry = self.expected[key]
        return entry.get("min"), entry.get("max")
