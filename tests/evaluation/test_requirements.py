"""The list of the RFC's requirements: complete, and each one answered."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from anabranch.evaluation import criteria as folder
from anabranch.evaluation.criteria import criteria
from anabranch.evaluation.requirements import KEY_WORDS, Requirement, requirements

COUNTS = {
    "3.1": {"SHOULD": 1},
    "3.2": {"MUST": 1, "SHOULD": 2, "MAY": 1, "REQUIRED": 2},
    "5": {"MUST": 2, "SHOULD": 1},
    "5.1.5": {"MUST": 1},
    "5.2": {"MUST": 1},
    "5.2.1": {"MUST": 1},
    "5.2.2": {"SHOULD": 1},
    "5.2.3": {"MUST": 1},
    "5.3.1": {"MUST": 1},
    "5.3.2": {"MUST": 1, "SHOULD": 2},
    "6": {"MUST": 1, "SHOULD": 1},
    "6.1": {"MUST": 1},
    "6.2": {"MUST": 1},
    "7": {"MAY": 1},
    "7.1": {"SHOULD": 1},
    "7.3": {"SHOULD": 1},
    "7.6": {"SHOULD": 1},
    "7.8": {"SHOULD": 1},
    "7.9": {"MUST": 1},
    "7.10": {"MUST": 2, "SHOULD": 1},
    "7.11": {"SHOULD": 1},
    "8": {"MUST": 1},
}
"""Key words of BCP 14 by section, counted in the text of RFC 9743; SHOULD NOT counts as SHOULD.
Section 2 defines the words."""

WITHOUT_KEY_WORDS = (
    *("4", "5.1.1", "5.1.2", "5.1.3", "5.1.4"),
    *("6.3", "6.4", "7.2", "7.4", "7.5", "7.7"),
)
"""Sections that advise without a key word."""


def test_every_key_word_of_the_rfc_has_its_entry() -> None:
    found: dict[str, Counter[str]] = {}
    for one in requirements().requirements:
        if one.level in KEY_WORDS:
            found.setdefault(one.section, Counter())[one.level] += 1
    assert found == COUNTS
    assert sum(sum(words.values()) for words in COUNTS.values()) == 34


def test_every_section_has_an_entry() -> None:
    listed = {one.section for one in requirements().requirements}
    assert listed == set(COUNTS) | set(WITHOUT_KEY_WORDS)
    assert listed <= set(requirements().sections)


def test_the_sections_are_in_their_order() -> None:
    def place(number: str) -> list[int]:
        return [int(part) for part in number.split(".")]

    for order in (
        list(requirements().sections),
        [one.section for one in requirements().requirements],
    ):
        assert order == sorted(order, key=place)


@pytest.mark.parametrize("one", requirements().requirements, ids=lambda one: one.text[:40])
def test_a_requirement_has_criteria_or_a_reason(one: Requirement) -> None:
    known = criteria()
    assert one.level in (*KEY_WORDS, "advice")
    assert bool(one.criteria) != bool(one.not_evaluated)
    assert one.text.endswith(".")
    if one.not_evaluated:
        assert one.not_evaluated.startswith("because ")
    unknown = [name for name in one.criteria if name not in known]
    assert not unknown, f"there is no criterion {unknown}"


def test_every_criterion_answers_a_requirement_or_is_an_addition() -> None:
    named = {name for one in requirements().requirements for name in one.criteria}
    added = set(requirements().additions)
    twice, missing = named & added, set(criteria()) - named - added
    assert not twice, f"in requirements.toml both a requirement and an addition have {twice}"
    assert not missing, f"requirements.toml has neither a requirement nor an addition for {missing}"
    assert added <= set(criteria())


def test_every_file_of_a_criterion_has_its_line() -> None:
    files = {file.stem for file in Path(str(folder.__file__)).parent.glob("*.py")} - {"__init__"}
    missing, lost = files - set(folder.NAMES), set(folder.NAMES) - files
    assert not missing, f"NAMES of criteria/__init__.py lacks {missing}"
    assert not lost, f"NAMES of criteria/__init__.py has {lost}, and there is no such file"


def test_criteria_stand_in_sections_of_the_rfc() -> None:
    for one in criteria().values():
        assert one.section in requirements().sections, one.name
