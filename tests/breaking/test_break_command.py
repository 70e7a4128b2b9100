"""`anabranch break` as a user runs it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer
from chance import SMALL as SMALL_RANGES

pytest.importorskip("optuna")

from anabranch.breaking import hunt
from anabranch.breaking.searching import Tell
from anabranch.cli import breaking
from anabranch.cli.making import Making

COMMAND = [sys.executable, "-c", "from anabranch.cli import main; main()"]

SMALL = [
    *("--rate", "1..5Mb/s", "--rtt", "50..100 ms", "--buffer", "0.5..2", "--links", "1"),
    *("--users", "2", "--queues", "droptail", "--others", "reno"),
]
"""Ranges whose networks take a hundredth of a second."""

SECOND_SHARE = ["break", "reno", "--goal", "more-than-tcp", "--paths", "2", *SMALL]


def anabranch(*words: object) -> subprocess.CompletedProcess[str]:
    """Runs the command as a user does."""
    command = [*COMMAND, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_a_broken_goal_has_status_1_and_a_scenario_that_replays(tmp_path: Path) -> None:
    done = anabranch(*SECOND_SHARE, "--out", tmp_path, "--json", tmp_path / "all.json")
    assert done.returncode == 1, done.stderr
    assert "broken" in done.stdout and "less than beside one TCP in its place" in done.stdout
    scenario = tmp_path / "found.toml"
    assert f"anabranch break reno --replay {scenario} --goal more-than-tcp" in done.stdout
    (content,) = json.loads((tmp_path / "all.json").read_text())
    assert content["found"] is True and content["goal"] == "more-than-tcp"
    replayed = anabranch("break", "reno", "--replay", scenario, "--goal", "more-than-tcp")
    assert replayed.returncode == 1 and "broken: beside reno" in replayed.stdout
    fair = anabranch("break", "lia", "--replay", scenario, "--goal", "starves")
    assert fair.returncode == 0 and "not broken" in fair.stdout
    plain = anabranch("run", scenario, "-c", "reno", "--repeat", "2")
    assert plain.returncode == 0 and "subject" in plain.stdout


def test_what_is_not_found_has_status_0_and_is_not_called_proved(tmp_path: Path) -> None:
    words = ["break", "reno", "--goal", "more-than-tcp", "--paths", "1", *SMALL, "--trials", "16"]
    done = anabranch(*words, "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "not found in 16 trials: this is no proof" in done.stdout
    assert "1 link of 1 to 5 Mb/s" in done.stdout
    assert not (tmp_path / "found.toml").exists()


def test_an_interrupted_search_says_what_it_kept_and_goes_on(tmp_path: Path) -> None:
    words = ["break", "lia", "--goal", "starves", "--trials", "100000", "--out", str(tmp_path)]
    running = subprocess.Popen(
        [*COMMAND, *words, *SMALL], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    journal = tmp_path / "trials.jsonl"
    until = time.monotonic() + 60
    while time.monotonic() < until and not (journal.exists() and journal.stat().st_size > 3000):
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 130, err
    assert f"what was scored is in {journal}" in out
    kept = journal.read_text()
    some = kept.count('"search"')
    more = anabranch(*words[:4], "--trials", str(some + 2), "--out", tmp_path, *SMALL)
    assert more.returncode in (0, 1), more.stderr
    assert journal.read_text().startswith(kept[: kept.rindex("\n") + 1])


def test_an_interrupt_of_the_shrinking_writes_what_is_not_confirmed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(*words: Any, tell: Tell, **options: Any) -> object:
        def stop(done: float, total: float, what: str) -> None:
            if "shrinking" in what and not what.endswith(" 1 tried"):
                raise KeyboardInterrupt

        return hunt(*words, tell=stop, **options)

    monkeypatch.setattr(breaking, "hunt", stopped)
    ranges = replace(SMALL_RANGES, links=(1, 1), queues=("droptail",), paths=(2, 2))
    options = breaking.BreakOptions(
        goal="more-than-tcp",
        limit=None,
        ranges=ranges,
        trials=60,
        seconds=None,
        seed=1,
        out=tmp_path,
        fresh=True,
        json=tmp_path / "all.json",
        making=Making(workers=2),
    )
    (tmp_path / "found.html").write_text("of another search")
    with pytest.raises(typer.Exit) as ended:
        breaking.break_command("reno", options)
    assert ended.value.exit_code == 130
    assert "which is not confirmed" in " ".join(capsys.readouterr().out.split())
    assert 'title = "Not confirmed: beside reno' in (tmp_path / "found.toml").read_text()
    assert not (tmp_path / "found.html").exists()
    assert json.loads((tmp_path / "all.json").read_text()) == []


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["break", "lia", "--goal", "everbody-loses"], "did you mean `everybody-loses`?"),
        (["break", "lea", "--goal", "starves"], "did you mean `lia`"),
        (["break", "lia", "--goal", "starves", "--rate", "fast"], "--rate is 'fast'"),
        (["break", "lia", "--goal", "starves", "--users", "1"], "it needs other users"),
        (["break", "lia", "--goal", "everybody-loses", "--paths", "1"], "it needs 2 paths"),
        (["break", "cubic", "--goal", "unstable"], "cubic has none"),
        (["break", "lia", "--limit", "2"], "a limit is of one goal"),
        (["break", "lia", "--replay", "khalili/scenario-c"], "--replay needs --goal"),
        (
            ["break", "lia", "--replay", "khalili/scenario-c", "--goal", "starves"],
            "no flow of one user is called 'subject'",
        ),
        (["break", "lia", "--goal", "none.py:mine"], "there is no file none.py"),
        (["break", "lia", "--goal", "starves", "--time", "soon"], "--time is 'soon'"),
    ],
)
def test_bad_input_has_status_2_and_says_what_would_be_right(
    words: list[str], what: str, tmp_path: Path
) -> None:
    done = anabranch(*words, "--out", tmp_path)
    assert done.returncode == 2 and what in done.stderr, done.stderr
    assert "Traceback" not in done.stderr


def test_a_users_own_goal_replays_by_its_command_and_one_that_fails_has_status_2(
    tmp_path: Path,
) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "import anabranch as ab\n"
        "@ab.breaking.goal(limit=1e5)\n"
        "def fast(trial):\n"
        "    return trial.rate('subject')\n"
        "def fails(trial):\n"
        "    return 1 / 0\n"
    )
    words = ["break", "reno", "--goal", f"{file}:fast", *SMALL, "--trials", "8"]
    done = anabranch(*words, "--out", tmp_path / "fast")
    assert done.returncode == 1, done.stderr
    scenario = tmp_path / "fast" / "found.toml"
    content = json.loads((tmp_path / "fast" / "found.json").read_text())
    command = content["replay"].split()
    assert command[:4] == ["anabranch", "break", "reno", "--replay"]
    assert (
        command[-2:] == ["--goal", f"{file}:fast"] and f"--goal {file}:fast" in scenario.read_text()
    )
    replayed = anabranch(*command[1:], "--json", tmp_path / "replay.json")
    assert replayed.returncode == 1 and "broken: reno" in replayed.stdout, replayed.stderr
    assert "5 % longer or shorter in every replication" in " ".join(replayed.stdout.split())
    kept = json.loads((tmp_path / "replay.json").read_text())
    assert kept["controller"] == "reno" and kept["broken"] is True
    assert kept["seeds"] == list(range(1, 21)) and kept["kind"] == "anabranch break --replay"
    failed = anabranch("break", "reno", "--replay", scenario, "--goal", f"{file}:fails")
    assert failed.returncode == 2
    assert f"the goal {file}:fails fails: ZeroDivisionError" in failed.stderr
    searched = anabranch(*words[:3], f"{file}:fails", *SMALL, "--out", tmp_path / "fails")
    assert searched.returncode == 2 and "Traceback" not in searched.stderr


def test_without_a_goal_every_goal_is_tried(tmp_path: Path) -> None:
    words = ["break", "cubic", "--trials", "14", "--out", tmp_path, *SMALL]
    (tmp_path / "starves").mkdir()
    foreign = tmp_path / "starves" / "trials.jsonl"
    foreign.write_text("notes of mine\n")
    failed = anabranch(*words, "--json", tmp_path / "all.json")
    assert failed.returncode in (1, 2) and "error: starves: " in failed.stderr
    assert "is no journal of a search" in failed.stderr and "oscillates" in failed.stdout
    assert foreign.read_text() == "notes of mine\n"
    names = [one["goal"] for one in json.loads((tmp_path / "all.json").read_text())]
    assert "starves" not in names and {"loses", "oscillates"} <= set(names)
    foreign.unlink()
    done = anabranch(*words)
    assert done.returncode in (0, 1), done.stderr
    for name in ("starves", "no-recovery", "oscillates"):
        assert name in done.stdout and (tmp_path / name / "trials.jsonl").exists()
    assert "not applicable" in done.stdout and "cubic has none" in done.stdout


def test_goals_are_listed() -> None:
    done = anabranch("list", "goals")
    assert done.returncode == 0 and "everybody-loses" in done.stdout
