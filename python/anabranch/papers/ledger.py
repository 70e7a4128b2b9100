"""The claims ledgers: every result of a document as data, with acceptance bands."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any


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

    def band(self, key: str) -> tuple[float | None, float | None]:
        """Lower and upper end of an expectation's band; None where it is open."""
        entry = self.expected[key]
        return entry.get("min"), entry.get("max")


@cache
def _content(paper: str) -> dict[str, Any]:
    file = resources.files("anabranch.papers") / "ledgers" / f"{paper}.toml"
    if not file.is_file():
        raise KeyError(f"there is no ledger {paper!r}")
    return tomllib.loads(file.read_text(encoding="utf-8"))


@cache
def claims(paper: str) -> dict[str, Claim]:
    """The claims of a document by id, in the ledger's order.

    Raises KeyError when there is no ledger of that name.
    """
    rows = [
        Claim(
            id=row["id"],
            kind=row["kind"],
            source=row["source"],
            statement=row["statement"],
            expected=row["expected"],
            tolerance=row["tolerance"],
            notes=row["notes"],
            experiments=tuple(
                part.strip() for part in row.get("experiment", "").split(",") if part
            ),
        )
        for row in _content(paper)["claim"]
    ]
    return {claim.id: claim for claim in rows}


def experiments(paper: str) -> list[str]:
    """Ids of the experiments that the ledger lists. Raises KeyError as `claims` does."""
    return [row["id"] for row in _content(paper)["experiment"]]
