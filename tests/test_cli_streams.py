"""The command line's standard output: files that go there, pipes, encodings, narrow terminals."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import anabranch as ab
from anabranch.cli.application import app
from anabranch.cli.listing import LISTS
from anabranch.cli.streams import ERRORS

COMMAND = [sys.executable, "-c", "from anabranch.cli import main; main()"]
SHORT = ["--set", "duration=12 s", "--set", "warmup=4 s"]
RUN = ["run", "khalili/scenario-c", *SHORT]
WORDS = {
    "run": [*RUN, "-n", "2"],
    "theory": ["theory", "khalili/scenario-c"],
    "compare": [
        *("compare", "khalili/scenario-c", *SHORT, "-n", "2", "--tolerance", "9"),
        *("--worlds", "theory,simulation"),
    ],
    "reproduce": ["reproduce", "khalili.table3.n10", "--seeds", "2", "--quick"],
    "audit": ["audit", "lia", "-n", "1"],
    "evaluate": ["evaluate", "lia", "-n", "1", "--only", "timeout-backoff"],
    "break": ["break", "lia", "--replay", "shared.toml", "--goal", "starves", "-n", "2"],
    "capture": ["capture", "c.pcapng"],
    "shared": ["shared", "c.pcapng"],
    "advise": ["advise", "-l", "a: 2 Mb/s", "-l", "b: 3 Mb/s", "--repeat", "2"],
    "law check": ["law", "check", "gentle"],
    "law prove": ["law", "prove", "gentle"],
    "sweep status": ["sweep", "status", "c.sweep"],
    "paper check": ["paper", "check", "wifi"],
}
"""A short form of each command that takes `--json FILE` and needs no root."""

SHARED = """
name = "shared"
duration = "20 s"
link = [{ name = "bottleneck", rate = "5 Mb/s", delay = "20 ms" }]
flow = [
  { name = "subject", subject = true, controller = "lia", path = [{ links = ["bottleneck"] }] },
  { name = "tcp", controller = "reno", path = [{ links = ["bottleneck"] }] },
]
"""
"""A scenario that `break` can score."""

ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def commands(group: Any = None, *before: str) -> Iterator[tuple[list[str], Any]]:
    """Every command of the registry: the words that name it, and itself."""
    group = group or typer.main.get_command(app)
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, *before, name)
        else:
            yield [*before, name], command


EVERY = dict((" ".join(words), command) for words, command in commands())


def writing_json() -> set[str]:
    """The commands that have `--json`, without those that only root can use, and without those
    whose tables have measured times: tests/test_quic_command.py has these.
    """
    return {
        name
        for name, command in EVERY.items()
        if any("--json" in parameter.opts for parameter in command.params)
        and not name.startswith(("linux", "quic"))
    }


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a capture, the store of a sweep, and a scenario with a subject."""
    folder = tmp_path_factory.mktemp("streams")
    recording = ab.Recording(folder / "c.pcapng")
    ab.run("khalili/scenario-c", overrides=["duration=8 s", "warmup=6 s"], recording=recording)
    ab.sweep("khalili/scenario-c", overrides=SHORT[1::2], store=folder / "c.sweep")
    (folder / "shared.toml").write_text(SHARED)
    return folder


def anabranch(
    *words: str, place: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """Runs the command as a user does, in a directory."""
    environment = {**os.environ, **environment}
    return subprocess.run(
        [*COMMAND, *words], capture_output=True, timeout=120, cwd=place, env=environment
    )


def test_every_command_with_a_file_of_json_is_tried_here() -> None:
    assert writing_json() == set(WORDS)


@pytest.mark.parametrize("command", WORDS)
def test_json_to_standard_output_stands_there_alone(command: str, place: Path) -> None:
    before = sorted(place.iterdir())
    done = anabranch(*WORDS[command], "--json", "-", place=place)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)
    assert done.stdout.count(b"\n") == 1
    assert b"written to" not in done.stderr
    assert len(done.stderr.splitlines()) > 3, "the tables are on standard error"
    assert sorted(place.iterdir()) == before


def test_json_alone_of_the_operators_commands_is_standard_output(tmp_path: Path) -> None:
    file = tmp_path / "facts.json"
    alone, named, dash = (
        anabranch("linux", "check", "--json", *more) for more in ([], [str(file)], ["-"])
    )
    content = json.loads(file.read_text())
    assert {fact["name"] for fact in content["facts"]}
    assert json.loads(alone.stdout).keys() == json.loads(dash.stdout).keys() == content.keys()
    assert named.stdout == b""


@pytest.mark.parametrize("option", ["--pcap", "--qlog", "--flent"])
def test_what_is_no_json_does_not_go_to_standard_output(option: str, tmp_path: Path) -> None:
    done = anabranch(*RUN, option, "-", place=tmp_path)
    assert done.returncode == 2
    assert f"{option} is -".encode() in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_closed_pipe_ends_the_output_and_nothing_else(unbuffered: str, tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    read, write = os.pipe()
    os.close(read)
    words = [*COMMAND, *RUN, "--json", str(file)]
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    done = subprocess.run(words, stdout=write, stderr=subprocess.PIPE, env=environment)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")
    assert ab.Result.load(file).seeds == [1]


@pytest.mark.parametrize("words", [["--help"], ["list", "metrics"], ["--version"]])
def test_output_that_does_not_fit_on_the_disk_is_an_error(words: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*COMMAND, *words], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 2
    assert done.stderr.endswith(b"No space left on device\n")
    assert b"Traceback" not in done.stderr and done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("name", EVERY)
def test_the_help_of_every_command_fits_80_columns_without_unicode(name: str) -> None:
    done = anabranch(*name.split(), "--help", COLUMNS="80", **ASCII)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\x1b" not in done.stdout
    lines = done.stdout.decode("ascii").splitlines()
    assert max(map(len, lines)) <= 80
    assert any(line.strip("| ").startswith("Example: ") for line in lines)


@pytest.mark.parametrize(
    "words",
    [*(["list", what] for what in LISTS), *WORDS.values(), ["linux", "check"]],
    ids=lambda words: " ".join(words[:2]),
)
def test_every_table_fits_80_columns_without_unicode(words: list[str], place: Path) -> None:
    done = anabranch(*words, place=place, COLUMNS="80", NO_COLOR="1", **ASCII)
    assert done.returncode in (0, 1) and done.stderr == b""
    assert b"\x1b" not in done.stdout
    lines = done.stdout.decode("ascii").splitlines()
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    ("text", "spelled"),
    [("1 ± 2", "1 +- 2"), ("φ²", "phi^2"), ("Müller", "Muller"), ("a → b", "a -> b")],
)
def test_characters_that_an_encoding_lacks_are_spelled(text: str, spelled: str) -> None:
    assert text.encode("ascii", ERRORS).decode() == spelled


def test_every_command_that_prints_tables_has_their_formats() -> None:
    having = {
        name
        for name, command in EVERY.items()
        if any("--format" in parameter.opts for parameter in command.params)
    }
    assert set(WORDS) | {"list", "linux run", "linux check", "linux status"} <= having


def test_tables_for_a_program_stand_on_standard_output_alone(place: Path) -> None:
    done = anabranch(*WORDS["run"], "--format", "latex", place=place)
    assert done.returncode == 0
    text = done.stdout.decode()
    assert text.count(r"\begin{tabular}") == text.count("\n\n") == 2
    assert b"2 replications" in done.stderr and "replications" not in text


def test_the_rows_of_a_document_stay_a_table_on_80_columns_with_their_settings() -> None:
    claims = ["khalili.table3.n10", "khalili.table3.n30"]
    done = anabranch("reproduce", *claims, "--seeds", "2", COLUMNS="80")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.decode().splitlines()
    assert any("scenario" in line and "simulated" in line for line in lines)
    assert all(any(f"N1 = {size}" in line for line in lines) for size in (10, 30))
    assert any("left out at 80 columns: goodput" in line for line in lines)


def test_an_audit_is_a_table_of_a_row_for_each_controller_at_80_columns() -> None:
    done = anabranch(
        "audit", "reno", "multi-priority:trial", "fully-coupled", "-n", "1", COLUMNS="80"
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.decode().splitlines()
    assert max(map(len, lines)) <= 80
    head = next(n for n, line in enumerate(lines) if "controller" in line)
    assert sum("one path" in line or "drop-tail" in line for line in lines[head - 1 : head + 2])
    names = [line.strip(" │").partition("│")[0].strip() for line in lines]
    for controller in ("reno", "multi-priority:trial", "fully-coupled"):
        assert controller in names
