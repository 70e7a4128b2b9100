"""Pages of the documentation and their examples: what is run, in what short form, and what is not
run.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])

EXAMPLES = ("sh", "console", "python", "toml", "law")
"""Languages of which every block is run, or marked as not run with a reason."""

MARK = r"<!-- (?:not run: (?P<reason>.+?)|(?P<need>[^:\n]+?): run by (?P<elsewhere>\S+)) -->"
"""Why a block is not run, or what it needs and which file of the repository runs it."""
FENCE = re.compile(
    rf"(?:^{MARK}\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$",
    flags=re.MULTILINE | re.DOTALL,
)

LINUX = "tests/linux/test_documented.py"
CI = ".ci/run"
ELSEWHERE = {LINUX: "needs root", CI: "builds the whole program"}
"""What runs the blocks that `tests/docs` does not, and why it is left to it."""

SHORT = {
    "run": ["--repeat", "2", "--set", "duration=12 s", "--set", "warmup=4 s"],
    "compare": [
        *("--repeat", "2", "--set", "duration=12 s", "--set", "warmup=4 s"),
        *("--tolerance", "9", "--worlds", "theory,simulation"),
    ],
    "reproduce": ["--quick", "--seeds", "2"],
    "audit": ["--repeat", "1"],
    "advise": ["--repeat", "2"],
    "shared": ["--networks", "20"],
}
"""What is added to a command, so that it takes seconds: the last of two words of a kind counts. A
short run need not agree with theory, none is measured in real time, and pictures want series."""

RECORDED = SHORT["run"][2:]
"""What is added to a run that is recorded: there is one replication."""

ADVICE_S = (48.0, 8.0)
"""How long `advise` simulates links here, and what of it is the warm-up: no option says that."""

SCRIPTS = {
    "tools/compare_with_literature.py": ["--quick", "--out", "."],
    "docs/pictures/beside-the-literature.py": ["--out", "."],
}
"""What is added to a script of the repository: it takes seconds, and writes nothing that is
committed.
"""

REAL_TIME = [
    *("--repeat", "1", "--set", "duration=4 s", "--set", "warmup=2 s"),
    *("--set", "flow.multipath.spread=1 s", "--set", "flow.single-path.spread=1 s"),
]
ON_LINUX = {
    "linux run": [*REAL_TIME, "--keep-invalid"],
    "compare": [*REAL_TIME, "--tolerance", "9"],
}
"""What is added to a command that measures in real time: scenario C, whose users start within a
second.
"""

FOR_A_MOMENT = ("--watch", "reproduce", "tcpdump", "couple")
"""Words of what would go on for ever, or for hours: it is ended by Ctrl-C a few seconds after it
began.
"""

INSTEAD = {
    "tcp_congestion_control=cubic": "tcp_congestion_control=reno",
    "--from 30s": "--from 2s",
    "--shared 30": "--shared 5",
    "/var/lib/prometheus/node-exporter/": "",
}
"""What a network namespace that stands for the machine may not have, and what it gets; and times
that are shorter: the end of a warm-up, and of a look."""

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
    """Why it is not run at all."""
    elsewhere: str | None
    """What runs it, if it is not `tests/docs`."""
    need: str | None
    """Why it is run there."""

    @property
    def place(self) -> str:
        """Where it stands, for messages."""
        return f"{name(self.page)}:{self.line}"

    @property
    def is_run_here(self) -> bool:
        """Whether `tests/docs` runs it."""
        return self.reason is None and self.elsewhere is None

    @property
    def lines(self) -> list[str]:
        """The command lines of a shell's block, without prompts, comments and what is empty."""
        lines = self.text.replace("\\\n", " ").splitlines()
        plain = (re.sub(r"(^|\s)#\s.*", "", line.removeprefix("$ ")).strip() for line in lines)
        return [line for line in plain if line]

    @property
    def commands(self) -> list[list[str]]:
        """The command lines, each split into words."""
        return [shlex.split(line, comments=True) for line in self.lines]


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
            found["elsewhere"],
            found["need"],
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
    """The words behind `anabranch`, by whatever path and rights it is called; None for another
    program.
    """
    rest = words[1:] if words[0] == "sudo" else words
    return rest[1:] if rest and rest[0].split("/")[-1] == "anabranch" else None


def redirected(words: list[str]) -> tuple[list[str], str | None]:
    """A command without its redirection, and the file that its output goes to."""
    if ">" not in words:
        return words, None
    place = words.index(">")
    (file,) = words[place + 1 :]
    return words[:place], file


def shortened(words: list[str]) -> list[str]:
    """A command of the program in the form in which it is run here."""
    more = [] if "--from" in words else SHORT.get(words[0], [])
    if words[0] == "shared" and "--networks" not in words:  # a capture
        more = []
    if (
        words[0] == "compare" and "--controllers" in words
    ):  # in simulation alone, without a tolerance
        more = SHORT["run"]
    more = RECORDED if {"--pcap", "--qlog", "--flent"} & set(words) else more
    if words[:2] == ["linux", "run"]:
        more = ["--set", "duration=6 s", "--set", "warmup=2 s", "--keep-invalid"]
    if words[0] == "reproduce":
        words = [ONE_CLAIM.get(word, word) for word in words]
    return [*words, *more]


def script(words: list[str]) -> list[str] | None:
    """A script of the repository with its words, in the form in which it is run here; None for
    another command."""
    if words[0] != ".venv/bin/python" or words[1].startswith("-"):
        return None
    return [*words[1:], *SCRIPTS.get(words[1], [])]


def on_linux(line: str) -> str:
    """A line that needs root, in the form in which root runs it."""
    line = re.sub(r"(?<!\S)sudo ", "", line)
    for there, here in INSTEAD.items():
        line = line.replace(there, here)
    words = of_the_program(line.split()) or []
    more = ON_LINUX.get(" ".join(words[:2]), ON_LINUX.get(words[0], []) if words else [])
    return " ".join([line, shlex.join(more)]) if more else line


def for_a_moment(line: str) -> bool:
    """Whether a line is ended by Ctrl-C."""
    return bool(set(FOR_A_MOMENT) & set(line.split()))


def account() -> Iterator[str]:
    """What becomes of the examples, in lines for people."""
    examples = [block for page in PAGES for block in blocks(page, *EXAMPLES)]
    run = [block for block in examples if block.is_run_here]
    words = [
        line for block in run if block.language in ("sh", "console") for line in block.commands
    ]
    commands = [line for line in map(of_the_program, words) if line]
    short = sum(shortened(line) != line for line in commands)
    short += sum(line[1] in SCRIPTS for line in words if script(line))
    kinds = Counter(block.language for block in run)
    listed = ", ".join(f"{number} {language}" for language, number in sorted(kinds.items()))
    never = Counter(block.reason for block in examples if block.reason)
    yield f"{len(examples)} examples: {len(run)} run here ({listed}), {never.total()} run nowhere"
    yield f"{len(words)} commands run here, {short} of them in a shorter form: {forms()}"
    yield f"advise simulates {ADVICE_S[0]:g} s, of which {ADVICE_S[1]:g} s are the warm-up"
    for (where, need), number in Counter((b.elsewhere, b.need) for b in examples).items():
        if where:
            yield f"{number} run by {where}: {need}"
    more = "; ".join(f"{command} {shlex.join(words)}" for command, words in ON_LINUX.items())
    yield f"shorter forms there: {more}; ended by Ctrl-C: {', '.join(FOR_A_MOMENT)}"
    for reason, number in never.most_common():
        yield f"{number} run nowhere: {reason}"


def forms() -> str:
    """What shorter forms are."""
    added = "; ".join(
        f"{command} {shlex.join(words)}" for command, words in {**SHORT, **SCRIPTS}.items()
    )
    replaced = ", ".join(f"{one} for {whole}" for whole, one in ONE_CLAIM.items())
    return f"{added}; {replaced}"
