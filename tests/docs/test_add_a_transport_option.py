"""The page "add a transport option": its differences apply to a copy of the crate, and its test
holds there.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pages import ROOT, blocks
from test_worked_examples import Part, Worked, passes, workspace

PAGE = Worked(
    page="docs/how-to/add-a-transport-option.md",
    parts=[Part("transport", "options.rs", "options.rs")],
    test="no_more_than_the_clamp_is_in_flight",
)


def apply(difference: str, root: Path) -> None:
    """Applies a difference, which begins with its file, to the only place that it fits."""
    head, *lines = difference.splitlines()
    path = root / head.removeprefix("--- ")
    text = path.read_text(encoding="utf-8")
    before = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("+"))
    after = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("-"))
    assert text.count(before) == 1, f"{head}: its context is in the file {text.count(before)} times"
    path.write_text(text.replace(before, after), encoding="utf-8")


def test_the_worked_example_of_a_transport_option_compiles_and_its_test_holds() -> None:
    if not shutil.which("cargo"):
        pytest.skip("there is no cargo")
    root = workspace(PAGE)
    for block in blocks(ROOT / PAGE.page, "diff"):
        apply(block.text, root)
    for name in (PAGE.test, "options::"):
        output = passes(["--package", PAGE.parts[0].crate, "--lib", name], root)
        assert " 0 passed" not in output, output
