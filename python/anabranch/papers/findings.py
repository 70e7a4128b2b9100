"""What came out for a claim: each expectation checked, and the verdict that follows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from numpy.typing import ArrayLike

from ..statistics import Interval, Verdict, interval, judge, worst
from .ledger import Claim

WORLDS = ("theory", "simulation", "structure")
"""Where a finding comes from; `structure` means that the program itself was inspected."""


@dataclass(frozen=True)
class Check:
    """One expectation of a claim: published, obtained, band, verdict."""

    name: str
    published: Any
    obtained: Interval | bool | str
    band: tuple[float | None, float | None] | None
    verdict: Verdict

    def to_json(self) -> dict[str, Any]:
        """The check as plain data."""
        obtained = self.obtained.to_json() if isinstance(self.obtained, Interval) else self.obtained
        band = None if self.band is None else {"min": self.band[0], "max": self.band[1]}
        return {
            "name": self.name,
            "published": self.published,
            "obtained": obtained,
            "band": band,
            "verdict": self.verdict,
        }


@dataclass(frozen=True)
class Finding:
    """What came out for a claim, in one world."""

    claim: Claim
    world: str
    checks: tuple[Check, ...]
    why: str = ""
    verdict: Verdict = field(default="not_run")

    def to_json(self) -> dict[str, Any]:
        """One object as `anabranch reproduce --json` writes it."""
        return {
            "id": self.claim.id,
            "kind": self.claim.kind,
            "world": self.world,
            "source": self.claim.source,
            "statement": self.claim.statement,
            "published": {check.name: check.published for check in self.checks},
            "obtained": {check.name: check.to_json()["obtained"] for check in self.checks},
            "band": {check.name: check.to_json()["band"] for check in self.checks},
            "checks": [check.to_json() for check in self.checks],
            "verdict": self.verdict,
            "why": self.why,
        }


def measured(claim: Claim, key: str, values: ArrayLike | Interval) -> Check:
    """A number, or one for each replication, against the band of the ledger's entry `key`."""
    value = values if isinstance(values, Interval) else interval(values)
    band = claim.band(key)
    entry = claim.expected[key]
    return Check(
        key,
        {k: entry[k] for k in ("value", "unit") if k in entry},
        value,
        band,
        judge(value, *band),
    )


def within(
    name: str, published: Any, values: ArrayLike | Interval, low: float | None, high: float | None
) -> Check:
    """As `measured`, for a bound that the claim states in words."""
    value = values if isinstance(values, Interval) else interval(values)
    return Check(name, published, value, (low, high), judge(value, low, high))


def holds(name: str, published: str, obtained: bool) -> Check:
    """A predicate that holds or does not."""
    return Check(
        name, published, bool(obtained), None, "reproduced" if obtained else "not_reproduced"
    )


def finding(
    claim: Claim, world: str, checks: list[Check], why: str = "", *, unless: str = ""
) -> Finding:
    """The finding that follows from all checks: it is reproduced when every one is.

    `why` has the evidence; `unless` explains, and is left out when the claim is reproduced.
    """
    verdict = worst([check.verdict for check in checks])
    parts = [why, "" if verdict == "reproduced" else unless]
    missed = [check.name for check in checks if check.verdict == verdict != "reproduced"]
    if missed and len(missed) < len(checks):
        parts.insert(0, f"{verdict.replace('_', ' ')}: {', '.join(missed)}.")
    return Finding(claim, world, tuple(checks), " ".join(part for part in parts if part), verdict)


def not_run(claim: Claim, why: str) -> Finding:
    """A claim that was not run, and the reason."""
    return Finding(claim, "none", (), why, "not_run")
