"""Findings on claims: each expectation is checked, and a verdict follows."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

from ..statistics import Interval, Verdict, worst
from .ledger import Claim

WORLDS = ("theory", "simulation", "structure")
"""Origin of a finding; `structure` means an inspection of the program itself."""


@dataclass(frozen=True)
class Check:
    """One expectation of a claim: published, obtained, band, verdict."""

    name: str
    published: Any
    obtained: Interval | bool | str
    band: tuple[float | None, float | None] | None
    verdict: Verdict
    goodput_mbps: Interval | None = None
    """Goodput of the application, where wire bytes are judged."""

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
    """The outcome of a claim in one world."""

    claim: Claim
    world: str
    checks: tuple[Check, ...]
    evidence: str = ""
    verdict: Verdict = field(default="not_run")

    @property
    def why(self) -> str:
        """The evidence, after the checks that decide where not all of them do."""
        wrong = [c for c in self.checks if c.verdict == self.verdict != "reproduced"]
        missed = [self.claim.spelling.words(c.name) for c in wrong]
        if not missed or len(missed) == len(self.checks):
            return self.evidence
        return f"{self.verdict.replace('_', ' ')}: {', '.join(missed)}. {self.evidence}".strip()

    def to_json(self) -> dict[str, Any]:
        """One object as `anabranch reproduce --json` writes it."""
        beside = {
            c.name: {"goodput_mbps": c.goodput_mbps.to_json()}
            for c in self.checks
            if c.goodput_mbps
        }
        return {
            "id": self.claim.id,
            "kind": self.claim.kind,
            "experiments": list(self.claim.experiments),
            "world": self.world,
            "source": self.claim.source,
            "statement": self.claim.statement,
            "published": {check.name: check.published for check in self.checks},
            "obtained": {check.name: check.to_json()["obtained"] for check in self.checks},
            "band": {check.name: check.to_json()["band"] for check in self.checks},
            "beside": beside,
            "checks": [check.to_json() for check in self.checks],
            "verdict": self.verdict,
            "why": self.why,
        }


def difference_or_none(check: Check, none: float, published: float) -> Check:
    """The check of a published difference whose band begins or ends at `none`, no difference.

    If nothing differs, no number of seeds can decide against the edge of such a band. So an
    interval that contains `none` and lies nearer to it than to the published value is
    `not_reproduced`: it shows that a difference of that size does not exist. Any other check is
    returned as it is.
    """
    value = check.obtained
    if not isinstance(value, Interval) or check.band is None or none not in check.band:
        return check
    reach = abs(published - none) / 2
    near = all(abs(end - none) < reach for end in (value.low, value.high))
    if value.low <= none <= value.high and near:
        return replace(check, verdict="not_reproduced")
    return check


def finding(
    claim: Claim, world: str, checks: list[Check], why: str = "", *, unless: str = ""
) -> Finding:
    """The finding that follows from all checks: it is reproduced when every one is.

    `why` has the evidence; `unless` explains, and is left out when the claim is reproduced.
    """
    verdict = worst([check.verdict for check in checks])
    parts = [why, "" if verdict == "reproduced" else unless]
    return Finding(claim, world, tuple(checks), " ".join(part for part in parts if part), verdict)


def not_run(claim: Claim, why: str) -> Finding:
    """A claim that was not run, and the reason."""
    return Finding(claim, "none", (), why, "not_run")


def prose(text: str) -> str:
    """A text of the ledger in the signs and units of every page."""
    for written, sign in (("Mbps", "Mb/s"), ("<=", "≤"), (">=", "≥")):
        text = text.replace(written, sign)
    return re.sub(r"(?<=[a-z0-9]{2})_(?=[a-z])", " ", text)  # a symbol such as w_r stays
