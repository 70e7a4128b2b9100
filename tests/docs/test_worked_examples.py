"""Pages "how to add one" whose kind is registered by a macro of its crate: the pages' files and
their lines of registration are built into copies of the crates, and each page's tests run there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pages import ROOT, blocks

TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


QUICKLY = {
    "CARGO_PROFILE_DEV_OPT_LEVEL": "0",
    "CARGO_PROFILE_DEV_DEBUG": "0",
    "CARGO_INCREMENTAL": "0",
    "PROPTEST_CASES": "32",
}
"""These tests compile for minutes and run for seconds. `make test-rust` tries more cases, of all
kinds but the new one.
"""


@dataclass(frozen=True)
class Part:
    """A block of a page in Rust that is a file of a crate, and the block behind it: a line of the
    crate's registry.
    """

    crate: str
    file: str
    """Where the file goes, below the crate's `src`. It has tests."""
    registry: str
    """The file that has the line before the new one."""


@dataclass(frozen=True)
class Worked:
    """A page whose blocks in Rust are two for each part, in this order."""

    page: str
    parts: list[Part]
    further: list[list[str]] = field(default_factory=list)
    """Arguments of `cargo test` for tests in other files that iterate over the registry."""


TRANSFERS = ["--package", "transport", "--test", "files", "every_controller"]

PAGES = [
    Worked(
        page="docs/how-to/add-a-law.md",
        parts=[Part("control", "laws/gentle.rs", "laws/mod.rs")],
        further=[
            ["--package", "anabranch-control", "--test", "properties", "--test", "operations"]
        ],
    ),
    Worked(
        page="docs/how-to/add-a-controller.md",
        parts=[
            Part("control", "schemes/fixed.rs", "schemes/mod.rs"),
            Part("control", "schemes/one_window.rs", "schemes/mod.rs"),
        ],
        further=[TRANSFERS],
    ),
    Worked(
        page="docs/how-to/add-a-slow-start.md",
        parts=[Part("control", "slow_start/early.rs", "slow_start/mod.rs")],
        further=[TRANSFERS],
    ),
    Worked(
        page="docs/how-to/add-a-scheduler.md",
        parts=[Part("transport", "scheduler/emptiest.rs", "scheduler/mod.rs")],
    ),
    Worked(
        page="docs/how-to/add-a-queue.md",
        parts=[Part("network", "queue/gentle.rs", "queue/mod.rs")],
    ),
    Worked(
        page="docs/how-to/add-a-medium.md",
        parts=[
            Part("network", "media/token.rs", "media/mod.rs"),
            Part("scenario", "media/token.rs", "media/mod.rs"),
        ],
    ),
]


@pytest.fixture(scope="module")
def workspace() -> Path:
    """The workspace with copies of the crates that pages change, and in them what all pages add:
    one build serves all of them. Every other crate is a link. The builds stay, in a folder of
    their own: cargo would take those of a copy for those of the crate.
    """
    if not shutil.which("cargo"):
        pytest.skip("there is no cargo")
    root = TARGET / "worked-examples"
    shutil.rmtree(root / "crates", ignore_errors=True)
    (root / "crates").mkdir(parents=True)
    for name in ("Cargo.toml", "Cargo.lock"):
        shutil.copy2(ROOT / name, root / name)
    changed = {part.crate for worked in PAGES for part in worked.parts}
    changed = changed.union(*(option.crates for option in OPTIONS))
    for crate in (ROOT / "crates").iterdir():
        if crate.name in changed:
            shutil.copytree(crate, root / "crates" / crate.name)
        else:
            (root / "crates" / crate.name).symlink_to(crate)
    for worked in PAGES:
        texts = [block.text for block in blocks(ROOT / worked.page, "rust")]
        for part, content, registration in zip(worked.parts, texts[::2], texts[1::2], strict=True):
            insert(part, content, registration, root)
    for option in OPTIONS:
        for block in blocks(ROOT / option.page, "diff"):
            apply(block.text, root)
    return root


def package(crate: str) -> str:
    """The name under which cargo knows the crate in a folder."""
    manifest = tomllib.loads((ROOT / "crates" / crate / "Cargo.toml").read_text())
    name: str = manifest["package"]["name"]
    return name


def insert(part: Part, content: str, registration: str, root: Path) -> None:
    """Puts a file of a page and its line where they belong."""
    source = root / "crates" / part.crate / "src"
    (source / part.file).write_text(content, encoding="utf-8")
    before, added = registration.splitlines()[-3:-1]
    registry = (source / part.registry).read_text(encoding="utf-8")
    assert registry.count(f"{before}\n") == 1, before
    registry = registry.replace(f"{before}\n", f"{before}\n{added}\n")
    (source / part.registry).write_text(registry, encoding="utf-8")


@pytest.mark.parametrize("worked", PAGES, ids=lambda worked: Path(worked.page).stem)
def test_the_worked_example_of_a_page_compiles_and_its_tests_hold(
    worked: Worked, workspace: Path
) -> None:
    """The tests of the whole registry run too: they find the new kind by themselves."""
    outputs: dict[tuple[str, str], str] = {}
    for part in worked.parts:
        folder = part.registry.split("/")[0]
        if (part.crate, folder) not in outputs:
            arguments = ["--package", package(part.crate), "--lib", f"{folder}::"]
            outputs[part.crate, folder] = passes(arguments, workspace)
        output = outputs[part.crate, folder]
        own = f"::{Path(part.file).stem}::"
        ran = [line for line in output.splitlines() if own in line]
        assert ran and all(line.endswith("ok") for line in ran), output
    for arguments in worked.further:
        assert " 0 passed" not in passes(arguments, workspace)


def passes(arguments: list[str], root: Path) -> str:
    """The output of `cargo test` in a workspace of a page, whose tests must hold."""
    done = subprocess.run(
        ["cargo", "test", "--offline", *arguments],
        cwd=root,
        capture_output=True,
        text=True,
        env=os.environ | {"CARGO_TARGET_DIR": str(root / "target"), **QUICKLY},
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


# Pages "add an option": their differences apply to copies of the crates, and tests hold there.


@dataclass(frozen=True)
class Option:
    """A page whose differences add an option."""

    page: str
    crates: set[str]
    """The crates of the files that it changes."""
    runs: list[list[str]]
    """Arguments of `cargo test`: the page's own test, and those of all options."""


OPTIONS = [
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


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: Path(option.page).stem)
def test_the_option_of_a_page_compiles_and_its_tests_hold(option: Option, workspace: Path) -> None:
    for arguments in option.runs:
        output = passes(arguments, workspace)
        assert " 0 passed" not in output, output
