"""Every example in the documentation runs, or says why it does not."""

from __future__ import annotations

import importlib.util
import linecache
import re
import shlex
import subprocess
import sys
import tomllib
from contextlib import nullcontext, redirect_stdout
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pages import (
    ADVICE_S,
    CI,
    ELSEWHERE,
    EXAMPLES,
    LINUX,
    MARK,
    PAGES,
    ROOT,
    Block,
    blocks,
    name,
    of_the_program,
    prose,
    read,
    redirected,
    script,
    shortened,
)

WITH_EXAMPLES = [page for page in PAGES if any(b.is_run_here for b in blocks(page, *EXAMPLES))]


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=name)
def test_the_examples_of_a_page_run_one_after_the_other(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from anabranch import advice
    from anabranch.advice.candidates import Span

    monkeypatch.setattr(advice, "advise", partial(advice.advise, span=Span(*ADVICE_S)))
    monkeypatch.chdir(tmp_path)
    Path("measurements").symlink_to(ROOT / "measurements")
    Path("out").mkdir()
    Path("out/measurements").symlink_to(ROOT / "measurements")
    scope: dict[str, Any] = {"__name__": "example"}
    for block in blocks(page, *EXAMPLES):
        if not block.is_run_here:
            continue
        if file := of_folder(block):
            file.write_text(block.text, encoding="utf-8")
        elif block.language == "toml":
            save_scenario(block)
        elif block.language == "law":
            save_law(block)
        elif block.language == "python":
            # As in a notebook: what asks for the source of a function finds it.
            lines = block.text.splitlines(keepends=True)
            linecache.cache[block.place] = (len(block.text), None, lines, block.place)
            exec(compile(block.text, block.place, "exec"), scope)
        else:
            run_commands(block)
    capsys.readouterr()


def of_folder(block: Block) -> Path | None:
    """The file of a folder that the block's first line names in a comment."""
    match = re.match(r"# ([\w-]+/[\w-]+\.(?:toml|py))\n", block.text)
    return Path(match[1]) if match else None


def save_scenario(block: Block) -> None:
    """A scenario is checked, and lies there for the commands that follow under its own name."""
    import anabranch as ab

    file = Path(f"{tomllib.loads(block.text)['name']}.toml")
    file.write_text(block.text, encoding="utf-8")
    assert ab.load(file).plan().classes


def save_law(block: Block) -> None:
    """A law is checked, and lies there for the commands that follow under its own name."""
    import anabranch as ab

    law = ab.Law(block.text)
    Path(f"{law.name}.law").write_text(block.text, encoding="utf-8")


def run_commands(block: Block) -> None:
    """The program's commands in this process, which saves its start; others as they are."""
    from anabranch.cli.application import app

    for command in block.commands:
        words, file = redirected(command)
        ours = of_the_program(words)
        assert words[0] != "sudo", f"{block.place}: what needs root is run by {LINUX}"
        if ours is None:
            theirs = (
                [sys.executable, ROOT / named[0], *named[1:]] if (named := script(words)) else words
            )
            subprocess.run(theirs, check=True, capture_output=True)
        else:
            with (
                Path(file).open("w") if file else nullcontext(sys.stdout) as out,
                redirect_stdout(out),
            ):
                status = app(shortened(ours), standalone_mode=False)
            assert status in (None, 0), f"{block.place}: {words} ended with {status}"


SHELL = [block for page in PAGES for block in blocks(page, "sh", "console")]
ELSEWHERE_RUN = [block for page in PAGES for block in blocks(page, *EXAMPLES) if block.elsewhere]


@pytest.mark.parametrize("block", SHELL, ids=lambda block: block.place)
def test_what_a_command_names_is_there_whether_it_is_run_or_not(block: Block) -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    for words in block.commands:
        words = words[1:] if words[0] == "sudo" else words
        if of_the_program(words) is not None:
            parse(of_the_program(redirected(words)[0]) or [])
        elif words[0] == "make":
            assert set(words[1:]) <= set(targets), block.place
        elif words[:1] == [".venv/bin/python"] and not words[1].startswith("-"):
            assert (ROOT / words[1]).exists(), block.place
        elif words[0] == "cargo" and "-p" in words:
            name = f'name = "{words[words.index("-p") + 1]}"'
            crates = (ROOT / "crates").glob("*/Cargo.toml")
            assert any(name in read(crate).splitlines() for crate in crates), block.place


def parse(words: list[str]) -> None:
    """Raises for a word that the program does not know."""
    from typer.main import get_command

    from anabranch.cli.application import app

    words = words[: words.index("&&")] if "&&" in words else words
    command: Any = get_command(app)
    while words and words[0] in getattr(command, "commands", {}):
        command, words = command.commands[words[0]], words[1:]
    if usual := getattr(command, "usual", None):
        command = command.commands[usual]
    assert not getattr(command, "commands", {}), f"there is no command {words[0]}"
    command.make_context("example", list(words))


def test_no_block_escapes_being_an_example() -> None:
    """A fence that is indented, or has no language, would be neither run nor marked."""
    for page in PAGES:
        fences = re.findall(r"^\s*(?:```|~~~)", read(page), flags=re.MULTILINE)
        assert len(fences) == 2 * len(blocks(page)), name(page)
        alone = re.search(MARK, prose(read(page)))
        assert alone is None, f"{name(page)}: a mark without a block: {alone}"


@pytest.mark.parametrize("block", ELSEWHERE_RUN, ids=lambda block: block.place)
def test_what_runs_a_block_that_is_not_run_here_is_known(block: Block) -> None:
    """By its mark tests/linux/test_documented.py finds what it runs; of .ci/run it is looked up."""
    assert block.elsewhere in ELSEWHERE and (ROOT / block.elsewhere).is_file()
    assert block.need == ELSEWHERE[block.elsewhere]
    assert block.language in ("sh", "console")
    if block.elsewhere == LINUX:
        assert "pages.LINUX" in read(ROOT / LINUX)
        assert any(words[0] == "sudo" or "sudo" in words for words in block.commands)
        return
    for words in block.commands:
        assert shlex.join(words) in run_by_ci() or words == ["make", "demo"]  # the next test's


def run_by_ci() -> list[str]:
    """The commands of .ci/run, also those that it runs beside one another; without what a last
    variable sets.
    """
    lines = [re.sub(r" [A-Z]+=\".*\"$", "", line) for line in read(ROOT / CI).splitlines()]
    pairs = [part for line in lines if line.startswith("both ") for part in shlex.split(line)[1:]]
    return lines + [one.strip() for part in pairs for one in part.split("&&")]


def recipe(target: str) -> list[list[str]]:
    """The commands of a target of the Makefile, but for those of what it depends on."""
    found = re.search(
        rf"^{re.escape(target)}:.*\n((?:\t.*\n)+)", read(ROOT / "Makefile"), flags=re.MULTILINE
    )
    assert found, target
    return [shlex.split(line.replace("$(VENV)", ".venv")) for line in found[1].splitlines()]


def test_ci_builds_by_pip_and_the_demo_is_one_command_on_what_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The demo is run here in its short form."""
    from anabranch.cli.application import app

    assert "make build" in run_by_ci()
    assert [".venv/bin/pip", "install", "--quiet", "--editable", ".[test]"] in recipe("$(BUILT)")
    (demo,) = recipe("demo")
    monkeypatch.chdir(tmp_path)
    assert app(shortened(of_the_program(demo) or []), standalone_mode=False) in (None, 0)
    capsys.readouterr()
    assert list((tmp_path / "out/demo").glob("*.html"))


def test_examples_in_docstrings_are_python() -> None:
    for page in PAGES:
        for block in blocks(page, "pycon"):
            lines = [line for line in block.text.splitlines() if line.startswith((">>> ", "... "))]
            compile("\n".join(line[4:] for line in lines), block.place, "exec")


def test_the_unit_on_the_page_is_the_one_that_ships() -> None:
    page = ROOT / "docs/how-to/coupled-congestion-control-on-linux.md"
    shipped = read(ROOT / "packaging/anabranch-controller@.service")
    shipped = re.sub(r"^#.*\n", "", shipped, flags=re.MULTILINE)
    assert shipped in [block.text for block in blocks(page, "ini")]


def test_what_is_generated_is_fresh() -> None:
    """Of the pages whatever the program has: laws, metrics, commands, the scenario's keys, Python."""
    for tool in ("generate_schema.py", "generate_reference.py"):
        done = subprocess.run(
            [sys.executable, f"tools/{tool}", "--check"], cwd=ROOT, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_bands_on_the_page_are_those_of_the_test() -> None:
    spec = importlib.util.spec_from_file_location("worlds", ROOT / "tests/test_worlds.py")
    assert spec and spec.loader
    worlds = sys.modules.setdefault("worlds", importlib.util.module_from_spec(spec))
    spec.loader.exec_module(worlds)  # its dataclasses are looked up by the module's name
    page = read(ROOT / "docs/explanation/bands.md")
    called = {"DISUSED": "in disuse"}
    for constant, reason in vars(worlds).items():
        if isinstance(reason, worlds.Reason):
            low, high = round(100 * reason.low), round(100 * reason.high)
            band = f"±{high} %" if low == -high else f"{low} to {high} %".replace("-", "−")
            assert f"| {called.get(constant, constant.lower())} | {band} |" in page


def test_names_in_the_kernel_are_on_the_page() -> None:
    from anabranch.linux.controllers import built, names

    page = read(ROOT / "docs/reference/linux.md")
    if built():
        assert all(f"`{law}`" in page and f"`{there}`" in page for law, there in names().items())
