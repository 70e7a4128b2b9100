"""Pages "add an option": their differences apply to copies of the crates, and tests hold there."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from pages import ROOT, blocks
from test_worked_examples import passes, workspace


@dataclass(frozen=True)
class Option:
    """A page whose differences add an option."""

    page: str
    crates: set[str]
    """The crates of the files that it changes."""
    runs: list[list[str]]
    """Arguments of `cargo test`: the page's own test, and those of all options."""


PAGES = [
    Option(
        page="docs/how-to/add-a-transport-option.md",
        crates={"transport"},
        runs=[
            ["--package", "transport", "--lib", "no_more_than_the_clamp_is_in_flight"],
            ["--package", "transport", "--lib", "options::"],
        ],
    ),
    Option(
        page="docs/how-to/add-a-medium-option.md",
        crates={"network", "scenario"},
        runs=[
            ["--package", "network", "--lib", "a_station_alone_waits_no_slots"],
            ["--package", "network", "--lib", "media::"],
            ["--package", "scenario", "--test", "ranges"],
        ],
    ),
]


def apply(difference: str, root: Path) -> None:
    """Applies a difference, which begins with its file; each part of it fits in one place only."""
    head, _, parts = difference.partition("\n")
    path = root / head.removeprefix("--- ")
    text = path.read_text(encoding="utf-8")
    for part in parts.split("@@\n"):
        lines = part.splitlines()
        before = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("+"))
        after = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("-"))
        assert text.count(before) == 1, f"{head} has {text.count(before)} times: {before}"
        text = text.replace(before, after)
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("option", PAGES, ids=lambda option: Path(option.page).stem)
def test_the_option_of_a_page_compiles_and_its_tests_hold(option: Option) -> None:
    if not shutil.which("cargo"):
        pytest.skip("there is no cargo")
    root = workspace(option.crates)
    for block in blocks(ROOT / option.page, "diff"):
        apply(block.text, root)
    for arguments in option.runs:
        output = passes(arguments, root)
        assert " 0 passed" not in output, output
