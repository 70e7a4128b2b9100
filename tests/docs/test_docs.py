"""The documentation: links resolve, examples run, commands parse, reference pages are complete."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
RUN = [page for page in PAGES if page.parent.name not in ("reference", "pictures")]
"""Pages whose Python is run, block after block in one namespace."""

QUICK = ("run", "theory", "compare", "plot", "list")
"""Commands that are run, with short durations; `reproduce` is only parsed."""

SHORT = ["--set", "duration=12 s", "--set", "warmup=4 s"]


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def prose(text: str) -> str:
    """A page without its fenced blocks."""
    return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)


def blocks(text: str, *languages: str) -> list[str]:
    """The fenced blocks in one of the languages."""
    found = re.findall(r"^```(\w+)\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    return [content for language, content in found if language in languages]


def anchors(page: Path) -> set[str]:
    """Anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", prose(page.read_text(encoding="utf-8")), flags=re.MULTILINE)
    words = (re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower()) for heading in headings)
    return {heading.strip().replace(" ", "-") for heading in words}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_internal_link_leads_somewhere(page: Path) -> None:
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        there = (page.parent / file).resolve() if file else page
        if not there.exists() or (anchor and anchor not in anchors(there)):
            broken.append(target)
    assert not broken


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_no_page_is_left_out_of_the_index(page: Path) -> None:
    if page.parent == ROOT or page == ROOT / "docs/README.md":
        return
    index = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    assert f"({page.relative_to(ROOT / 'docs')})" in index


WITH_PYTHON = [page for page in RUN if blocks(page.read_text(encoding="utf-8"), "python")]


@pytest.mark.parametrize("page", WITH_PYTHON, ids=name)
def test_python_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    scope: dict[str, object] = {"__name__": "example"}
    for block in blocks(page.read_text(encoding="utf-8"), "python"):
        exec(compile(block, name(page), "exec"), scope)


def commands(page: Path) -> list[list[str]]:
    """The `anabranch` lines of a page's `console` and `sh` blocks, split into words."""
    lines = "\n".join(blocks(page.read_text(encoding="utf-8"), "console", "sh")).splitlines()
    lines = [line.removeprefix("$ ").strip() for line in lines]
    return [shlex.split(line, comments=True) for line in lines if line.startswith("anabranch ")]


@pytest.mark.parametrize("page", [p for p in PAGES if commands(p)], ids=name)
def test_commands_parse_and_quick_ones_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from typer.main import get_command

    from anabranch.cli.application import app

    monkeypatch.chdir(tmp_path)
    for block in blocks(page.read_text(encoding="utf-8"), "toml"):
        found = re.match(r'name = "(.*)"', block)
        if found:
            Path(f"{found[1]}.toml").write_text(block, encoding="utf-8")
    lines = commands(page)
    if any("c.json.gz" in words for words in lines):
        make = ["run", "khalili/scenario-c", "--series", *SHORT, "--json", "c.json.gz"]
        app(make, standalone_mode=False)
    group = get_command(app)
    for words in lines:
        command = group.commands[words[1]]  # type: ignore[attr-defined]
        command.make_context(words[1], words[2:])  # raises for a word that it does not know
        if words[1] not in QUICK or "gentle" in words:
            continue  # the law of the worked example is not there
        short = SHORT if words[1] in ("run", "compare") else []
        repeat = ["--repeat", "2"] if short else []
        repeat += ["--series"] if words[1] == "run" else []
        # a short run need not agree, and none is measured in real time
        loose = ["--tolerance", "9", "--worlds", "theory,simulation"]
        loose = loose if words[1] == "compare" else []
        assert app([*words[1:], *repeat, *short, *loose], standalone_mode=False) in (None, 0), words
    capsys.readouterr()


def page_text(page: str) -> str:
    return (ROOT / "docs/reference" / page).read_text(encoding="utf-8")


def sections(page: str) -> dict[str, str]:
    """The text below each heading of the second level."""
    pattern = re.compile(r"^## ([\w.]+)\n(.*?)(?=^## |\Z)", flags=re.MULTILINE | re.DOTALL)
    return dict(pattern.findall(page_text(page)))


def test_every_metric_is_on_its_page() -> None:
    from anabranch.metrics import METRICS

    parts = sections("metrics.md")
    row = "| `{0.name}` | {0.unit} | {0.meaning} |"
    missing = [m for m in METRICS if row.format(m) not in parts.get(m.table, "")]
    assert not missing


def test_every_law_and_option_is_on_its_page() -> None:
    from anabranch import _core

    page = page_text("laws.md")
    for law in _core.controllers():
        assert all(f"`{word}`" in page for word in [law["name"], *law["aliases"]])
        assert law["formula"] in page and law["source"] in page
        assert all(meaning in page for _, meaning in law["options"])


def test_every_command_and_option_is_on_its_page() -> None:
    from typer.main import get_command

    from anabranch.cli.application import app

    parts = sections("command-line.md")
    for command, details in get_command(app).commands.items():  # type: ignore[attr-defined]
        for parameter in details.params:
            if parameter.param_type_name == "option" and parameter.name != "help":
                missing = [word for word in parameter.opts if f"`{word}`" not in parts[command]]
                assert not missing, command


def test_the_worked_example_of_a_law_has_what_a_law_must_have() -> None:
    """Whether it compiles is seen when somebody follows the page."""
    page = (ROOT / "docs/how-to/add-a-law.md").read_text(encoding="utf-8")
    shipped = (ROOT / "crates/control/src/laws/semicoupled.rs").read_text(encoding="utf-8")
    example = blocks(page, "rust")[0]
    for line in (
        "use super::{Described, Registered};",
        "use crate::{Law, PathView, usable};",
        "fn growth(&self, _me: usize, paths: &[PathView]) -> f64 {",
        "const DESCRIBED: Described = Described {",
        "fn with_option(option: Option<&str>) -> Option<Self> {",
    ):
        assert line in example and line in shipped
