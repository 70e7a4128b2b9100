"""Pages "how to add one" whose kind is registered by a macro of its crate: the page's file and its
line of registration are built into a copy of the crate, and the page's test runs there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from pages import ROOT, blocks

TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


@dataclass(frozen=True)
class Worked:
    """A page whose first block in Rust is a file and whose second one is a line of the registry."""

    page: str
    crate: str
    file: str
    """Where the first block goes, below the crate's `src`."""
    registry: str
    """The file that has the line before the new one."""
    test: str
    """A part of the name of the page's tests."""


PAGES = [
    Worked(
        page="docs/how-to/add-a-scheduler.md",
        crate="transport",
        file="scheduler/emptiest.rs",
        registry="scheduler/mod.rs",
        test="emptiest",
    ),
    Worked(
        page="docs/how-to/add-a-queue.md",
        crate="network",
        file="queue/gentle.rs",
        registry="queue/mod.rs",
        test="gentle",
    ),
    Worked(
        page="docs/how-to/add-a-medium.md",
        crate="network",
        file="media/token.rs",
        registry="media/mod.rs",
        test="token",
    ),
]


def workspace(worked: Worked) -> Path:
    """The workspace with a copy of the page's crate; every other crate is a link. It has builds of
    its own, which stay: cargo would take those of a copy for those of the crate.
    """
    root = TARGET / "worked-examples" / Path(worked.page).stem
    shutil.rmtree(root / "crates", ignore_errors=True)
    (root / "crates").mkdir(parents=True)
    for name in ("Cargo.toml", "Cargo.lock"):
        shutil.copy2(ROOT / name, root / name)
    for crate in (ROOT / "crates").iterdir():
        if crate.name == worked.crate:
            shutil.copytree(crate, root / "crates" / crate.name)
        else:
            (root / "crates" / crate.name).symlink_to(crate)
    return root


def insert(worked: Worked, root: Path) -> None:
    """Puts the page's file and its line where they belong."""
    source = root / "crates" / worked.crate / "src"
    content, registration = (block.text for block in blocks(ROOT / worked.page, "rust")[:2])
    (source / worked.file).write_text(content, encoding="utf-8")
    before, added = registration.splitlines()[-3:-1]
    registry = (source / worked.registry).read_text(encoding="utf-8")
    assert registry.count(f"{before}\n") == 1, before
    registry = registry.replace(f"{before}\n", f"{before}\n{added}\n")
    (source / worked.registry).write_text(registry, encoding="utf-8")


@pytest.mark.parametrize("worked", PAGES, ids=lambda worked: Path(worked.page).stem)
def test_the_worked_example_of_a_page_compiles_and_its_tests_hold(worked: Worked) -> None:
    """The tests of the whole registry run too: they find the new kind by themselves."""
    if not shutil.which("cargo"):
        pytest.skip("there is no cargo")
    root = workspace(worked)
    insert(worked, root)
    folder = worked.registry.split("/")[0]
    command = ["cargo", "test", "--offline", "--package", worked.crate, "--lib", f"{folder}::"]
    environment = os.environ | {"CARGO_TARGET_DIR": str(root / "target")}
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr + done.stdout
    ran = [line for line in done.stdout.splitlines() if f"::{worked.test}::" in line]
    assert ran and all(line.endswith("ok") for line in ran), done.stdout
