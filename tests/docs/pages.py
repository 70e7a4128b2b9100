"""Pages of the documentation and their examples: what is run, in what short form, and what is not run."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])

EXAMPLES = ("sh", "console", "python", "toml")
"""Languages of which every block is run, or marked as not run with a reason."""

FENCE = re.compile(
    r"(?:^<!-- not run: (?P<reason>.+?) -->\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$",
    flags=re.MULTILINE | re.DOTALL,
)

SHORT = {
    "run": ["--repeat", "2", "--set", "duration=12 s", "--set", "warmup=4 s"],
    "compare": [
        *("--repeat", "2", "--set", "duration=12 s", "--set", "warmup=4 s"),
        *("--tolerance", "9", "--worlds", "theory,simulation"),
    ],
    "reproduce": ["--quick", "--seeds", "2"],
}
"""What is added to a command, so that it takes seconds: the last of two words of a kind counts. A short
run need not agree with theory, none is measured in real time, and pictures want series."""

RECORDED = SHORT["run"][2:]
"""What is added to a run that is recorded: there is one replication."""

ONE_CLAIM = {"khalili": "khalili.table3.n10"}
"""A whole document takes minutes; one claim of it stands for all."""


@dataclass(frozen=True)
class Block:
    """A fenced block."""

    page: Path
    line: int
    language: str
    text: str
    reason: str | None
    """Why it is not run."""

    @property
    def place(self) -> str:
        """Where it stands, for messages."""
        return f"{name(self.page)}:{self.line}"

    @property
    def commands(self) -> list[list[str]]:
        """The command lines of a shell's block, each split into words."""
        lines = self.text.replace("\\\n", " ").splitlines()
        words = (shlex.split(line.removeprefix("$ "), comments=True) for line in lines)
        return [line for line in words if line]


def name(page: Path) -> str:
    """A page's path in the repository."""
    return str(page.relative_to(ROOT))


def read(page: Path) -> str:
    """The text of a page."""
    return page.read_text(encoding="utf-8")


def prose(text: str) -> str:
    """A page without its fenced blocks."""
    return FENCE.sub("", text)


def blocks(page: Path, *languages: str) -> list[Block]:
    """The fenced blocks of a page in these languages; without any, in all."""
    text = read(page)
    return [
        Block(
            page,
            text[: found.start("language")].count("\n") + 1,
            found["language"],
            found["text"],
            found["reason"],
        )
        for found in FENCE.finditer(text)
        if not languages or found["language"] in languages
    ]


def anchors(page: Path) -> set[str]:
    """Anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", prose(read(page)), flags=re.MULTILINE)
    words = (re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower()) for heading in headings)
    return {heading.strip().replace(" ", "-") for heading in words}


def of_the_program(words: list[str]) -> list[str] | None:
    """The words behind `anabranch`, by whatever path and rights it is called; None for another program."""
    rest = words[1:] if words[0] == "sudo" else words
    return rest[1:] if rest and rest[0].split("/")[-1] == "anabranch" else None


def shortened(words: list[str]) -> list[str]:
    """A command of the program in the form in which it is run here."""
    more = [] if "--from" in words else SHORT.get(words[0], [])
    more = RECORDED if {"--pcap", "--qlog"} & set(words) else more
    if words[0] == "reproduce":
        words = [ONE_CLAIM.get(word, word) for word in words]
    return [*words, *more]


def account() -> Iterator[str]:
    """What becomes of the examples, in lines for people."""
    examples = [block for page in PAGES for block in blocks(page, *EXAMPLES)]
    run = [block for block in examples if block.reason is None]
    words = [
        line for block in run if block.language in ("sh", "console") for line in block.commands
    ]
    commands = [line for line in map(of_the_program, words) if line]
    short = sum(shortened(line) != line for line in commands)
    kinds = Counter(block.language for block in run)
    listed = ", ".join(f"{number} {language}" for language, number in sorted(kinds.items()))
    yield f"{len(examples)} examples: {len(run)} run ({listed}), {len(examples) - len(run)} not run"
    yield f"{len(words)} commands run, {short} of them in a shorter form: {forms()}"
    for reason, number in Counter(block.reason for block in examples).most_common():
        if reason:
            yield f"{number} not run: {reason}"


def forms() -> str:
    """What shorter forms are."""
    added = "; ".join(f"{command} {shlex.join(words)}" for command, words in SHORT.items())
    replaced = ", ".join(f"{one} for {whole}" for whole, one in ONE_CLAIM.items())
    return f"{added}; {replaced}"
