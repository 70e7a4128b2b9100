"""The command line: exit statuses, errors, files."""

from __future__ import annotations

import json
import math
import os
import re
import signal
import stat
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer

import anabranch as ab
from anabranch import makers
from anabranch.cli import fair, paired, realtime, simulate
from anabranch.cli.compare import (
    CompareOptions,
    agreement,
    between,
    checked_worlds,
    compare_command,
)
from anabranch.cli.reproduce import Where
from anabranch.cli.terminal import writing
from anabranch.files import atomic_write
from anabranch.papers import PAPERS, Laboratory
from anabranch.papers.laboratory import Simulation
from anabranch.papers.registry import _judged
from anabranch.plot.labels import replications
from anabranch.statistics import Interval

SHORT = ["--set", "duration=20 s", "--set", "warmup=5 s"]

PAIR = ["--worlds", "theory,simulation"]
"""The worlds that need no root, also where there is."""


UNFAIR = ["run", "tse/two-paths", "--set", "flow.ensemble.fair.margin=0.05"]
"""A run of which the ensemble is to be stringently TCP-fair."""

MANY = 40_000
"""Replications that no machine finishes before it is interrupted."""

COMMAND = [sys.executable, "-c", "from anabranch.cli import main; main()"]


def anabranch(*words: str) -> subprocess.CompletedProcess[str]:
    """Runs the command as a user does."""
    return subprocess.run([*COMMAND, *words], capture_output=True, text=True, timeout=120)


def interrupted(after_s: float, *words: str) -> tuple[int, str]:
    """Status and output of a command that the user stops with Ctrl-C."""
    with subprocess.Popen([*COMMAND, *words], stdout=subprocess.PIPE, text=True) as process:
        time.sleep(after_s)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=120)
    return process.returncode, out


@pytest.mark.parametrize(
    "command",
    [
        "run",
        "theory",
        "compare",
        "reproduce",
        "audit",
        "evaluate",
        "break",
        "plot",
        "animate",
        "list",
    ],
)
def test_every_command_has_help_with_an_example(command: str) -> None:
    done = anabranch(command, "--help")
    assert done.returncode == 0
    assert "Example: anabranch" in done.stdout


def test_run_prints_classes_and_writes_a_result_that_plot_draws(tmp_path: Path) -> None:
    file, picture = tmp_path / "c.json.gz", tmp_path / "c.png"
    done = anabranch(
        "run", "khalili/scenario-c", "-c", "olia", "-n", "2", *SHORT, "--json", str(file)
    )
    assert done.returncode == 0, done.stderr
    assert "multipath" in done.stdout and "olia" in done.stdout
    assert done.stderr == ""  # no progress bar when the output is not a terminal
    done = anabranch("plot", str(file), "--kind", "shares", "-o", str(picture))
    assert done.returncode == 0, done.stderr
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_theory_and_compare_agree_on_scenario_c(tmp_path: Path) -> None:
    file = tmp_path / "t.json"
    assert (
        anabranch("theory", "khalili/scenario-c", "--rtt", "150 ms", "--json", str(file)).returncode
        == 0
    )
    assert ab.Result.load(file).rate("multipath") == pytest.approx(1.2956e6, rel=1e-3)
    done = anabranch("theory", "khalili/scenario-c", "--utility", "tcp", "--json", str(file))
    assert done.returncode == 0, done.stderr
    assert json.loads(file.read_text())["theory"]["optimum"]["utility"] == "tcp"
    assert (
        anabranch(
            "compare", "khalili/scenario-c", *PAIR, "-n", "3", *SHORT, "--tolerance", "0.2"
        ).returncode
        == 0
    )
    # OLIA's windows of one to three segments are not the fluid's: a difference beyond the interval
    assert (
        anabranch(
            "compare",
            "khalili/scenario-c",
            *PAIR,
            *("-c", "olia", "-n", "3", *SHORT, "--tolerance", "0.02"),
        ).returncode
        == 1
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "nothing.toml"], "nothing.toml"),
        (["run", "khalili/scenario-d"], "did you mean"),
        (["run", "."], "is a directory"),
        (["run", "khalili/scenario-c", "-c", "oila"], "olia"),
        (["run", "khalili/scenario-c", "--set", "link.ap9.rate=1 Mb/s"], "`ap1`"),
        (["run", "khalili/scenario-c", "--set", "link.ap1.rate=10"], "unit"),
        (["run", "khalili/scenario-c", "--set", "nonsense"], "key=value"),
        (["run", "khalili/scenario-c", "--set", "warmup=200 s"], "warmup"),
        (["run", "khalili/scenario-c", "--json", "/no/such/place/x.json"], "/no/such/place"),
        (["run", "khalili/scenario-c", "--repeat", "0"], "repeat"),
        (
            ["run", "khalili/scenario-c", "--seed", str(2**64)],
            f"--seed is {2**64}; it is from 0 to",
        ),
        (["run", "khalili/scenario-c", "--seed", str(2**64 - 1), "-n", "2"], "--repeat 2"),
        (["compare", "khalili/scenario-c", "--seed", str(2**64)], str(2**64 - 1)),
        (["run", "khalili/scenario-c", "--threads", "9999"], f"{os.cpu_count()} cores"),
        (["run", "khalili/scenario-c", "--json", "/proc/x.json"], "/proc/x.json cannot be written"),
        (["theory", "khalili/scenario-c", "--rtt", "10"], "150 ms"),
        (["theory", "khalili/scenario-c", "--utility", "max"], "log, tcp"),
        (["theory", "khalili/scenario-c", "--utility", "lgo"], "did you mean `log`?"),
        (["theory", "khalili/scenario-c", "--of", "jian"], "did you mean `jain`?"),
        (["list", "controllers", "--format", "markdwon"], "did you mean `markdown`?"),
        (["compare", "khalili/scenario-c", "--worlds", "theory,moon"], "moon"),
        (["compare", "khalili/scenario-c", "--worlds", "theory,linus"], "did you mean `linux`?"),
        (["reproduce", "khalili", "--world", "linus"], "did you mean `linux`?"),
        (["reproduce", "khalili.table9"], "the claims of khalili are"),
        (["reproduce", "khalili", "--world", "moon"], "moon"),
        (["reproduce", "khalili", "--keep", "out"], "--keep is for measurements"),
        (["reproduce", "khalili", "--world", "linux", "--from", "no/such"], "no/such"),
        (["compare", "khalili/scenario-c", "--controllers", "lia"], "two or more names"),
        (["compare", "khalili/scenario-c", "--controllers", "lia,oila"], "olia"),
        (["compare", "khalili/scenario-c", "--controllers", "lia,LIA"], "lia more than once"),
        (["compare", "khalili/scenario-c", "--controllers", "tcp,reno"], "reno more than once"),
        (["compare", "khalili/scenario-c", "--controllers", "lia,olia", "-c", "lia"], "leave"),
        (["compare", "khalili/scenario-c", "--controllers", "lia,olia", *PAIR], "leave --worlds"),
        (
            ["compare", "khalili/scenario-c", "--controllers", "lia,olia", "--tolerance", "0.1"],
            "leave --tolerance out",
        ),
        (["capture", "x.pcapng", "--width", "3.5in"], "--plot"),
        (["capture", "x.pcapng", "--title", "Mine"], "--plot"),
        (["reproduce", "khalili", "--seeds", "1000001"], "--seeds is 1000001; it is from 1 to"),
        (["plot", "README.md"], "not a result"),
        (["list", "wishes"], "controllers"),
        (["audit", "oila"], "there is no controller `oila`; did you mean `olia`?"),
        (["audit", "olia", "phi"], "`phi` is not complete"),
        (["audit", "olia", "--seed", str(2**64)], "--seed is"),
        (["audit", "olia", "--json", "/no/such/place/x.json"], "/no/such/place"),
        (["audit", "olia", "--report", "README.md"], "README.md"),
        (
            [*UNFAIR, "--set", "flow.ensemble.count=2"],
            "`fair` is set, but the flow is not a single user",
        ),
        ([*UNFAIR, "--set", "flow.ensemble.fair.margin=2"], "from 0 to 1"),
    ],
)
def test_wrong_input_gets_a_clear_error_and_status_2(words: list[str], said: str) -> None:
    done = anabranch(*words)
    assert done.returncode == 2, done.stdout + done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "content", [b"", b"\x00\x01\xff\xfe", b"name = 'x'\nduration = '1 s'\nwhat = 1\n"]
)
def test_an_empty_a_binary_and_a_misspelt_file_are_refused(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    file.write_bytes(content)
    done = anabranch("run", str(file))
    assert done.returncode == 2 and "x.toml" in done.stderr and "Traceback" not in done.stderr


def test_reproduce_writes_an_object_for_each_claim(tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    done = anabranch(
        "reproduce", "khalili.table3.n10", "khalili.topology.c", "--seeds", "2", "--json", str(file)
    )
    assert done.returncode == 0, done.stderr
    claims = json.loads(file.read_text())
    assert [c["id"] for c in claims] == ["khalili.table3.n10", "khalili.topology.c"]
    for claim in claims:
        assert {"id", "kind", "world", "published", "obtained", "band", "verdict", "why"} <= set(
            claim
        )
    assert claims[0]["obtained"]["multipath"]["repetitions"] == 2


def judged(*words: str) -> subprocess.CompletedProcess[str]:
    """A short run of which the ensemble is to be TCP-fair."""
    short = ("--set", "duration=60 s", "--set", "warmup=20 s")
    return anabranch(*UNFAIR, *short, *words)


def test_a_flow_that_is_not_as_fair_as_the_scenario_wants_it_is_a_check_that_does_not_hold(
    tmp_path: Path,
) -> None:
    file = tmp_path / "x.json"
    done = judged("-c", "reno", "--repeat", "2", "--json", str(file))
    assert done.returncode == 1, done.stderr
    assert "all paths" in done.stdout
    assert "ensemble violates the stringent definition of TCP-fairness\n" in done.stdout
    (found,) = ab.Result.load(file).fairness
    assert found.flow == "ensemble" and not found.met and found.excess > 0.2
    done = judged("-c", "multi-priority")
    assert done.returncode == 0, done.stderr
    assert "ensemble meets the stringent definition" in done.stdout
    together = '[{ links = ["second"] }, { links = ["second"] }]'
    done = judged("-c", "reno", "--set", f"flow.ensemble.path={together}")
    assert done.returncode == 1
    assert "violates the stringent definition of TCP-fairness on second\n" in done.stdout


def test_worlds_without_a_reference_say_that_they_do_not_judge(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    short = SHORT[1::2]
    for done in (
        anabranch("theory", *UNFAIR[1:], "-c", "lia"),
        anabranch("compare", *UNFAIR[1:], "-c", "lia", *PAIR, "-n", "2", *SHORT),
    ):
        assert "to be TCP-fair by the stringent definition: not judged" in done.stdout, done.stderr
    result = ab.run("tse/two-paths", overrides=[*short, "flow.ensemble.fair.margin=0.1"])
    monkeypatch.setattr(realtime, "measured", lambda *words, **options: result)
    monkeypatch.setattr(realtime, "show_error", lambda result: None)
    realtime.run_command("tse/two-paths", realtime.KernelRunOptions())
    assert "not judged, because the kernel has no reference TCP" in capsys.readouterr().out


def test_an_interrupt_of_the_references_keeps_the_result_and_says_that_it_is_not_judged(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(fair, "judgements", interrupt)
    file = tmp_path / "x.json"
    words = [*SHORT[1::2], "flow.ensemble.fair.margin=0.05"]
    with pytest.raises(typer.Exit) as ended:
        simulate.run_command("tse/two-paths", simulate.RunOptions(overrides=words, json=file))
    assert ended.value.exit_code == 130
    assert "not judged, because the command was interrupted" in capsys.readouterr().out
    assert ab.Result.load(file).seeds == [1] and not ab.Result.load(file).fairness


def test_an_audit_prints_one_table_and_writes_what_is_asked(tmp_path: Path) -> None:
    file, report = tmp_path / "a.json", tmp_path / "report"
    words = ("lia", "multi-priority:trial", "-n", "1", "--json", str(file), "--report", str(report))
    done = anabranch("audit", *words)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    (row,) = (
        line for line in done.stdout.splitlines() if line.startswith("│ multi-priority:trial")
    )
    assert "stringent" not in row and "neither" not in row
    content = json.loads(file.read_text())
    assert {one["controller"] for one in content["entries"]} == {"lia", "multi-priority:trial"}
    page = (report / "audit.html").read_text()
    assert "multi-priority:trial" in page and "data:image/svg+xml" in page
    assert "reproduced" not in page.partition("</style>")[2]


def test_the_last_seed_runs() -> None:
    done = anabranch("run", "khalili/scenario-c", "--seed", str(2**64 - 1), *SHORT)
    assert done.returncode == 0, done.stderr
    assert str(2**64 - 1) in done.stdout


def test_a_pipe_is_written_to_and_a_link_is_followed_neither_is_replaced(tmp_path: Path) -> None:
    pipe, link, file = tmp_path / "pipe", tmp_path / "link", tmp_path / "file"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE, text=True) as reader:
        atomic_write(pipe, "text")
        assert reader.communicate(timeout=60)[0] == "text"
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    link.symlink_to(file)
    atomic_write(link, "text")
    assert link.is_symlink() and file.read_text() == "text"


@pytest.mark.parametrize(
    ("mean", "half", "word"),
    [
        (1.02, 0.05, "agrees"),  # holds theory's value
        (1.05, 0.02, "agrees"),  # does not, but lies in the band
        (
            1.08,
            0.09,
            "agrees",
        ),  # reaches beyond the band, holds theory's value and is narrow enough
        (1.02, 0.2, "undecided"),  # holds theory's value because it is wide
        (1.02, math.inf, "undecided"),  # one replication has no interval
        (1.09, 0.03, "undecided"),  # straddles the band's edge without theory's value
        (1.5, 0.2, "differs"),
        (0.8, 0.05, "differs"),
    ],
)
def test_theory_and_simulation_agree_differ_or_are_undecided(
    mean: float, half: float, word: str
) -> None:
    assert agreement(Interval(mean * 1e6, half * 1e6, 5), 1e6, 0.1) == word


def test_controllers_are_compared_seed_by_seed(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    words = ("--controllers", "lia,olia", "-n", "3", *SHORT, "--json", str(file))
    done = anabranch("compare", "khalili/scenario-c", *words)
    assert done.returncode == 0, done.stderr
    assert "olia: too short to judge: fewer than 10 congestion events" in done.stdout
    content = json.loads(file.read_text())
    assert list(content["controllers"]) == ["lia", "olia"]
    lia, olia = (
        np.array([np.mean(run["flows"]["throughput_bps"][:10]) for run in one["runs"]])
        for one in content["controllers"].values()
    )
    (own,) = (one for one in content["differences"] if one["class"] == "multipath")
    assert own["controller"] == "olia"
    assert own["difference_bps"]["mean"] == pytest.approx(np.mean(olia - lia))
    assert own["difference_bps"]["repetitions"] == 3
    low, high = own["difference_bps"]["interval95"]
    assert own["word"] == ("less" if high < 0 else "more" if low > 0 else "undecided")


def test_a_class_that_gets_nothing_under_the_first_controller_has_no_relative_difference(
    tmp_path: Path,
) -> None:
    file = tmp_path / "x.json"
    sets = (
        "duration=2 s",
        "warmup=0 s",
        "flow.multipath.start=1.999 s",
        "flow.multipath.spread=0 s",
        "flow.single-path.spread=0 s",
    )
    late = [word for one in sets for word in ("--set", one)]
    words = ("--controllers", "lia,olia", "-n", "2", *late, "--json", str(file))
    done = anabranch("compare", "khalili/scenario-c", *words)
    assert done.returncode == 0, done.stderr
    shown = next(line for line in done.stdout.splitlines() if "olia" in line)
    assert "–" in shown
    by_class = {one["class"]: one for one in json.loads(file.read_text())["differences"]}
    assert by_class["multipath"]["relative"] is None
    assert by_class["single-path"]["relative"] is not None


def test_a_class_that_gets_nothing_in_the_first_world_has_no_relative_difference() -> None:
    nothing, something = Interval(0.0, 0.0, 3), Interval(1e6, 1e4, 3)
    worlds = ("simulation", "linux")
    found = between("users", worlds, (nothing, something), 0.1)
    assert found.to_json()["relative"] is None and found.word == "differs"
    assert between("users", worlds, (nothing, nothing), 0.1).word == "agrees"


def test_one_replication_decides_nothing() -> None:
    done = anabranch("compare", "khalili/scenario-c", *PAIR, "-c", "olia", "-n", "1", *SHORT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("undecided") == 2


def test_results_of_theory_and_simulation_have_one_shape(tmp_path: Path) -> None:
    file = tmp_path / "both.json"
    words = ("khalili/scenario-c", *PAIR, "-n", "2", *SHORT, "--json", str(file))
    done = anabranch("compare", *words)
    assert done.returncode in (0, 1), done.stderr
    content = json.loads(file.read_text())
    assert content["kind"] == "anabranch comparison"
    assert set(content["classes"].values()) <= {"agrees", "differs", "undecided"}
    theory, simulation = (content["worlds"][world] for world in ("theory", "simulation"))
    assert set(theory) == set(simulation) - {"too_short"} | {"theory"}  # theory has no events
    assert set(simulation["provenance"]) <= set(theory["provenance"])
    for key in ("format", "kind", "scenario", "plan"):
        assert theory[key] == simulation[key]
    for name, columns in theory["runs"][0].items():
        assert set(columns) <= set(simulation["runs"][0][name])
        for column, values in columns.items():
            assert len(values) == len(simulation["runs"][0][name][column])
    done = anabranch("animate", str(file), "-o", str(tmp_path / "both.html"))
    assert done.returncode == 2
    assert "a comparison of theory and simulation" in done.stderr
    assert "made by `anabranch compare`" in done.stderr and "`anabranch run --json`" in done.stderr


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A comparison of worlds, and one of controllers with values of a parameter."""
    folder = tmp_path_factory.mktemp("compared")
    law, worlds, controllers = (folder / name for name in ("mine.law", "w.json", "c.json.gz"))
    law.write_text(
        "param beta = 0.5; growth = 2*beta/(n^2*w_tot); backoff = w*(1 - beta/n)\nlaw mine"
    )
    words = ["compare", "khalili/scenario-c", "-n", "2", *SHORT]
    for how, file in (
        (PAIR, worlds),
        (["--controllers", f"lia,{law}:beta={{0.2,0.5}}"], controllers),
    ):
        done = anabranch(*words, *how, "--json", str(file))
        assert done.returncode in (0, 1), done.stderr
    return worlds, controllers


def test_plot_draws_a_comparison_side_by_side(tmp_path: Path, compared: tuple[Path, Path]) -> None:
    expected = (
        ["theory", "simulation", "World", "scenario-c · lia ·"],
        ["lia", "mine:beta=0.2", "mine", "Controller", "2 replications"],
    )
    for file, texts in zip(compared, expected, strict=True):
        picture = tmp_path / "drawn.svg"
        done = anabranch("plot", str(file), "-o", str(picture))
        assert done.returncode == 0, done.stderr
        drawn = picture.read_text()
        assert all(text in drawn for text in [*texts, "multipath", "95 % intervals"])
    done = anabranch("plot", *map(str, compared), "-k", "cdf", "-o", str(tmp_path / "cdf.png"))
    assert done.returncode == 0, done.stderr


def test_what_plot_draws_of_a_comparison_is_what_its_results_are(
    tmp_path: Path, compared: tuple[Path, Path]
) -> None:
    apart = []
    for k, result in enumerate(ab.Result.load_all(compared[1])):
        apart.append(tmp_path / f"{k}.json")
        result.save(apart[-1])
    one, other = tmp_path / "one.svg", tmp_path / "other.svg"
    assert anabranch("plot", str(compared[1]), "-o", str(one)).returncode == 0
    assert anabranch("plot", *map(str, apart), "-o", str(other)).returncode == 0
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-k", "windows"], "which keeps no samples over time, and the plot windows shows those"),
        (["-k", "throughput"], "draw cdf or shares, or what `anabranch run khalili/scenario-c"),
        (["-k", "topology"], "and the plot topology shows one result; draw cdf or shares"),
        (["-k", "shraes"], "did you mean `shares`"),
        (["--name", "mine"], "there are 1 --name for "),
    ],
)
def test_what_plot_cannot_draw_of_a_comparison_is_refused_with_what_it_can(
    tmp_path: Path, compared: tuple[Path, Path], words: list[str], said: str
) -> None:
    for file in compared:
        picture = tmp_path / "refused.png"
        done = anabranch("plot", str(file), *words, "-o", str(picture))
        assert done.returncode == 2 and said in done.stderr, done.stderr
        assert not picture.exists()


def test_names_of_plot_are_those_of_the_results_of_a_comparison(
    tmp_path: Path, compared: tuple[Path, Path]
) -> None:
    picture = tmp_path / "named.svg"
    names = [word for name in ("model", "packets") for word in ("--name", name)]
    done = anabranch("plot", str(compared[0]), *names, "-o", str(picture))
    assert done.returncode == 0, done.stderr
    assert "model" in picture.read_text() and "packets" in picture.read_text()


def test_a_result_of_theory_has_both_optima_and_loads_like_any_other(tmp_path: Path) -> None:
    file = tmp_path / "t.json.gz"
    assert anabranch("theory", "khalili/scenario-c", "--json", str(file)).returncode == 0
    result = ab.Result.load(file)
    assert result.world == "theory" and result.seeds == []
    assert replications([result]) == "theory"
    assert "multipath" in result.table()
    for key in ("optimum", "optimum_with_probing"):
        assert set(result.theory[key]["link_prices"]) >= {"ap1", "ap2"}
        split = result.theory[key]["path_throughput_bps"]["multipath"]
        assert split.sum() == pytest.approx(result.theory[key]["throughput_bps"]["multipath"])
    result.save(tmp_path / "again.json.gz")
    assert (tmp_path / "again.json.gz").read_bytes() == file.read_bytes()


def test_plot_draws_the_shares_of_theory_and_refuses_what_needs_time(tmp_path: Path) -> None:
    file, picture = tmp_path / "t.json", tmp_path / "t.png"
    assert anabranch("theory", "khalili/scenario-c", "--json", str(file)).returncode == 0
    done = anabranch("plot", str(file), "-o", str(picture))
    assert done.returncode == 0, done.stderr
    done = anabranch("plot", str(file), "-k", "windows", "-o", str(tmp_path / "w.png"))
    assert done.returncode == 2 and "steady states only" in done.stderr
    assert sorted(tmp_path.iterdir()) == [file, picture]


def test_the_links_table_has_the_prices_of_both_optima() -> None:
    done = anabranch("theory", "khalili/scenario-c", "--utility", "tcp")
    (head,) = (line for line in done.stdout.splitlines() if "price at the optimum" in line)
    assert "with probing cost" in head


def test_prices_in_the_links_table_are_in_seconds_for_a_megabit() -> None:
    out = anabranch("theory", "khalili/scenario-c").stdout
    (row,) = (line for line in out.splitlines() if "ap2" in line)
    assert "s/Mbit" in out and 1.0 < float(row.split()[-2]) < 1.2


@pytest.mark.parametrize(
    ("command", "after_s"),
    [("run", 3), ("compare", 8)],  # compare solves theory first
)
def test_an_interrupt_keeps_the_finished_replications_and_ends_with_130(
    command: str, after_s: float, tmp_path: Path
) -> None:
    file = tmp_path / "x.json"
    words = ("khalili/scenario-c", "--repeat", str(MANY), "--json", str(file))
    status, out = interrupted(after_s, command, *words, *(PAIR if command == "compare" else ()))
    assert status == 130
    assert f"of {MANY} replications had finished" in out
    assert list(tmp_path.iterdir()) == [file]
    content = json.loads(file.read_text())
    result = content["worlds"]["simulation"] if command == "compare" else content
    assert not result["provenance"]["complete"]
    assert 0 < len(result["runs"]) < MANY


def test_an_interrupt_of_reproduce_writes_every_claim_and_ends_with_130(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    # so many seeds that no machine is done in three seconds
    words = ("reproduce", "khalili", "--quick", "--seeds", "200", "--json", str(file))
    status, _ = interrupted(3, *words)
    assert status == 130
    assert list(tmp_path.iterdir()) == [file]
    claims = json.loads(file.read_text())
    assert [claim["id"] for claim in claims] == list(PAPERS["khalili"].claims)
    assert len(claims) == 41
    assert any("interrupted" in c["why"] for c in claims if c["verdict"] == "not_run")


class Stopped:
    """Interrupts a cell when some of its replications must have finished."""

    def __init__(self, at: str, share: float) -> None:
        self.at, self.share, self.before = at, share, 0.0

    def __call__(self, name: str, done: float, total: float) -> None:
        if name == self.at and done / total > self.share:
            raise KeyboardInterrupt


def test_an_interrupted_configuration_keeps_replications_and_is_compared_where_seeds_are_shared() -> (
    None
):
    paper = PAPERS["khalili"]
    lab = Laboratory(dict(paper.configurations), seeds=20, world=Simulation(makers.Core(threads=1)))
    lab.run(["c-lia-10", "c-olia-10"], Stopped("c-olia-10", 0.75))
    assert lab.interrupted
    assert len(lab["c-lia-10"].runs) == 20
    assert 2 <= len(lab["c-olia-10"].runs) < 20
    for name in paper.evaluators["khalili.table6.olia"][1]:
        lab.results.setdefault(name, lab["c-lia-10"])
    unequal = _judged(paper, "khalili.table6.olia", lab)
    assert unequal.verdict != "not_run"
    rates = [check.obtained for check in unequal.checks]
    assert {rate.n for rate in rates if isinstance(rate, Interval)} == {len(lab["c-olia-10"].runs)}
    one, other = lab["c-lia-10"].runs[:2], lab["c-lia-10"].runs[2:]
    apart = replace(lab, results={**lab.results, "c-lia-10": replace(lab["c-lia-10"], runs=one)})
    apart.results["c-olia-10"] = replace(lab["c-lia-10"], runs=other)
    assert "no two seeds in common" in _judged(paper, "khalili.table6.olia", apart).why
    lab.results["c-lia-10"] = lab["c-olia-10"]  # a claim of one cell takes what there is
    alone = _judged(paper, "khalili.table3.n10", lab)
    assert alone.verdict != "not_run"


def interrupt(*words: Any, **options: Any) -> None:
    raise KeyboardInterrupt


def test_what_was_simulated_is_written_before_it_is_shown(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(simulate, "show", interrupt)
    file = tmp_path / "x.json"
    options = simulate.RunOptions(seeds=range(1, 3), overrides=SHORT[1::2], json=file)
    with pytest.raises(KeyboardInterrupt):
        simulate.run_command("khalili/scenario-c", options)
    assert ab.Result.load(file).seeds == [1, 2]


def test_an_interrupt_does_not_stop_the_writing_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    before = signal.getsignal(signal.SIGINT)
    with writing(file):
        os.kill(os.getpid(), signal.SIGINT)
        file.write_text("whole")
    assert signal.getsignal(signal.SIGINT) is before


def test_an_interrupt_before_any_replication_finished_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(makers, "run", interrupt)
    options = simulate.RunOptions(seeds=range(1, 4), json=tmp_path / "x.json")
    with pytest.raises(typer.Exit) as ended:
        simulate.run_command("khalili/scenario-c", options)
    assert ended.value.exit_code == 130
    assert "interrupted: 0 of 3 replications" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


INTERRUPTED_AT = """
import sys
class Interrupt:
    def find_spec(self, name, *words):
        if name == {!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupt())
from anabranch.cli import main
main()
"""


@pytest.mark.parametrize("module", ["typer", "rich", "numpy", "anabranch.cli.simulate"])
def test_an_interrupt_while_modules_are_imported_is_said_without_a_traceback(module: str) -> None:
    code = INTERRUPTED_AT.format(module)
    words = [sys.executable, "-c", code, "run", "khalili/scenario-c", *SHORT]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


@pytest.mark.parametrize("columns", [30, 60, 80, 100])
@pytest.mark.parametrize(
    "words",
    [
        ["run", "khalili/scenario-c", "-n", "2", *SHORT],
        ["theory", "khalili/scenario-c"],
        ["list", "controllers"],
    ],
    ids=lambda words: words[0],
)
def test_tables_break_between_words_only(
    words: list[str], columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    whole = re.findall(r"[^\s\u2500-\u257f]+", anabranch(*words).stdout)  # without the lines
    monkeypatch.setenv("COLUMNS", str(columns))
    out = anabranch(*words).stdout
    assert max(map(len, out.splitlines())) <= columns
    assert columns < 80 or all(word in out for word in whole)


PRIVATE = """
name = "private"
duration = "10 s"
link = [{ name = "wire", rate = "10 Mb/s", delay = "20 ms", per_user = true }]
flow = [{ name = "a", path = [{ links = ["wire"] }] }, { name = "b", path = [{ links = ["wire"] }] }]
"""


def test_a_name_with_brackets_is_shown_as_it_stands(tmp_path: Path) -> None:
    file = tmp_path / "private.toml"
    file.write_text(PRIVATE)
    done = anabranch("theory", str(file))
    assert "wire[a]" in done.stdout and "wire[b]" in done.stdout, done.stderr


@pytest.mark.parametrize("finished", [0, 1, 2])
def test_an_interrupt_keeps_the_controllers_that_are_whole(
    finished: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    done: list[str] = []

    def simulated(scenario: ab.Scenario, seeds: range, maker: object, **options: Any) -> ab.Result:
        if len(done) == finished:
            raise paired.stopped(0, len(seeds))
        done.append(options["controller"])
        return ab.run(scenario, seeds, **options)

    monkeypatch.setattr(paired, "simulated", simulated)
    file = tmp_path / "x.json"
    options = CompareOptions(
        controllers="lia,olia,balia",
        repeat=2,
        overrides=["duration=8 s", "warmup=2 s"],
        json=file,
    )
    with pytest.raises(typer.Exit) as ended:
        compare_command("khalili/scenario-c", options)
    assert ended.value.exit_code == 130
    assert file.exists() == (finished == 2)
    if finished == 2:
        assert list(json.loads(file.read_text())["controllers"]) == ["lia", "olia"]


def test_a_controller_that_an_interrupt_left_in_part_is_not_compared(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def simulated(scenario: ab.Scenario, seeds: range, maker: object, **options: Any) -> ab.Result:
        result = ab.run(scenario, seeds, **options)
        if options["controller"] == "balia":
            result.provenance["complete"] = False
        return result

    monkeypatch.setattr(paired, "simulated", simulated)
    file = tmp_path / "x.json"
    sets = ["duration=8 s", "warmup=2 s"]
    options = CompareOptions(controllers="lia,olia,balia", repeat=2, overrides=sets, json=file)
    with pytest.raises(typer.Exit) as ended:
        compare_command("khalili/scenario-c", options)
    assert ended.value.exit_code == 130
    assert list(json.loads(file.read_text())["controllers"]) == ["lia", "olia"]


def test_words_of_options_are_taken_in_any_case() -> None:
    assert checked_worlds("Theory, SIMULATION") == ["theory", "simulation"]
    assert Where("Simulation").world == "simulation"
    words = ("theory", "khalili/scenario-c", "--map", "flow.multipath.count=5,10")
    usual = anabranch(*words, "--utility", "tcp", "--of", "jain", "--format", "csv")
    other = anabranch(*words, "--utility", "TCP", "--of", "Jain", "--format", "CSV")
    assert usual.returncode == other.returncode == 0, other.stderr
    assert usual.stdout == other.stdout
