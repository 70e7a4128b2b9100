"""The claims of the documents: what was published, the band around it, and why the band is as wide."""

from __future__ import annotations

import re
from typing import Any

from anabranch.papers import PAPERS, Claim

from .markdown import table, together


def parts() -> dict[str, str]:
    """A part for each document."""
    return {
        f"claims of {name}": together(*(described(claim) for claim in paper.claims.values()))
        for name, paper in PAPERS.items()
    }


def described(claim: Claim) -> str:
    """A claim: statement, what is expected, why the band is so, and what the source leaves open."""
    rows = [expected(name, value) for name, value in claim.expected.items()]
    head = ["expected", "published", "band", "unit", "a bound of ours, because"]
    if not any(row[-1] for row in rows):
        head, rows = head[:-1], [row[:-1] for row in rows]
    return together(
        f"### {claim.id}",
        f"{plain(claim.statement)} *({plain(claim.source)})*",
        table(head, rows),
        f"**Band:** {plain(claim.tolerance)}",
        f"**Note:** {plain(claim.notes)}" if claim.notes else "",
    )


def expected(name: str, value: Any) -> list[str]:
    """A row: a value with its band, or words for an ordering or a predicate."""
    if not isinstance(value, dict):
        words = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        return [f"`{name}`", plain(words), "", "", ""]
    low, high = value.get("min"), value.get("max")
    band = {
        (True, True): f"{low} to {high}",
        (True, False): f"at least {low}",
        (False, True): f"at most {high}",
        (False, False): "",
    }[low is not None, high is not None]
    about = f" about `{value['about']}`" if "about" in value else ""
    published, unit = plain(str(value.get("value", ""))), str(value.get("unit", ""))
    return [f"`{name}`", published, band + about, unit, plain(value.get("ours", ""))]


def plain(text: str) -> str:
    """A text in which Markdown has nothing to mark up."""
    return re.sub(r"([*<\[\]`])", r"\\\1", text)
