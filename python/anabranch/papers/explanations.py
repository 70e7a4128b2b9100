"""Why claims were not reproduced: a reason that several claims share is given once."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .findings import Finding

SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
"""Between two sentences. "et al. 2016" is inside one."""


def explanations(findings: Iterable[Finding]) -> list[tuple[list[str], str]]:
    """The reasons of claims that are not reproduced or undecided, each sentence once.

    Each entry has the ids of the claims that it explains, and neighbouring sentences that explain
    the same claims; entries are in the order in which the claims first need them.
    """
    reasons = {
        finding.claim.id: SENTENCE.split(finding.why)
        for finding in findings
        if finding.verdict in ("not_reproduced", "undecided") and finding.why
    }
    explained: dict[str, list[str]] = {}
    for claim, sentences in reasons.items():
        for sentence in dict.fromkeys(sentences):
            explained.setdefault(sentence, []).append(claim)
    entries: list[tuple[list[str], str]] = []
    said: set[str] = set()
    for sentences in reasons.values():
        together: list[str] | None = None
        for sentence in sentences:
            claims = explained[sentence]
            if sentence in said:
                together = None
                continue
            said.add(sentence)
            if claims == together:
                ids, text = entries.pop()
                entries.append((ids, f"{text} {sentence}"))
            else:
                entries.append((claims, sentence))
            together = claims
    return entries
