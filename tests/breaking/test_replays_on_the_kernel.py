"""Replays on the real kernel, with something that stands for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path as File
from typing import Any

import pytest
from typer.testing import CliRunner

import anabranch as ab
from anabranch import Result, Scenario
from anabranch.breaking import on_linux
from anabranch.breaking.network import SAME, Link, Network, Path, User
from anabranch.breaking.rendering import document
from anabranch.cli import breaking
from anabranch.cli.application import app

OF_TWO = (User(SAME, (Path((0,), 0.05),) * 2), User("reno", (Path((0,), 0.05),)))
SHARED = Network((Link(5e6, "red"),), OF_TWO, 40.0)


class Standing:
    """Stands for the kernel: the simulator, without the seeds that are not valid."""

    def __init__(self, invalid: Callable[[Scenario, int], bool]) -> None:
        self.invalid = invalid
        self.runs = 0

    def __call__(self, scenario: Scenario, seeds: tuple[int], **options: Any) -> Result:
        self.runs += 1
        options.pop("progress")(20.0, 40.0)
        made = ab.run(scenario, seeds, **options)
        if self.invalid(scenario, seeds[0]):
            made.runs.clear()
        return made


def replayed(
    monkeypatch: pytest.MonkeyPatch,
    folder: File,
    *words: str,
    invalid: Callable[[Scenario, int], bool] = lambda scenario, seed: False,
) -> tuple[Any, Standing]:
    """What the command answers where something stands for the kernel."""
    file = folder / "found.toml"
    file.write_text(Scenario.written(document(SHARED, title="Shared")).text)
    standing = Standing(invalid)
    monkeypatch.setattr(on_linux, "run_in_real_time", standing)
    monkeypatch.setattr(breaking, "check_machine", lambda **asked: None)
    given = ["break", "reno", "--replay", str(file), "--world", "linux", *words]
    return CliRunner().invoke(app, given), standing


def test_a_replay_on_the_kernel_runs_the_scenario_and_its_twins(
    monkeypatch: pytest.MonkeyPatch, tmp_path: File
) -> None:
    answer, standing = replayed(monkeypatch, tmp_path, "--goal", "more-than-tcp")
    assert answer.exit_code == 1, answer.output
    assert standing.runs == 6  # a TCP on path 1 and one on path 2 are the same scenario
    assert "3 replications on the real kernel" in " ".join(answer.output.split())
    assert "broken: beside reno, the user tcp has" in " ".join(answer.output.split())


def test_a_seed_counts_only_if_every_variant_was_valid(
    monkeypatch: pytest.MonkeyPatch, tmp_path: File
) -> None:
    def second_with_two_paths(scenario: Scenario, seed: int) -> bool:
        return seed == 2 and len(scenario.plan().classes[0].paths) == 2

    given = ("--goal", "more-than-tcp", "--repeat", "4", "--json", str(tmp_path / "score.json"))
    answer, _ = replayed(monkeypatch, tmp_path, *given, invalid=second_with_two_paths)
    assert answer.exit_code == 1, answer.output
    content = (tmp_path / "score.json").read_text()
    assert '"world":"linux"' in content and '"repetitions":3' in content
    few, _ = replayed(monkeypatch, tmp_path, *given, invalid=lambda scenario, seed: seed != 3)
    assert "1 of 4 replications were valid with every variant" in str(few.exception)


def test_a_score_without_values_is_no_verdict(tmp_path: File) -> None:
    goal = tmp_path / "mine.py"
    goal.write_text("def mine(trial):\n    return trial.rate('subject') * float('nan')\n")
    file = tmp_path / "found.toml"
    file.write_text(Scenario.written(document(SHARED, title="Shared")).text)
    given = ["break", "reno", "--replay", str(file), "--goal", f"{goal}:mine", "--repeat", "2"]
    answer = CliRunner().invoke(app, given)
    assert answer.exit_code == 0 and breaking.NO_VALUE in " ".join(answer.output.split())


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["--world", "linux"], "--world is linux; a search simulates, and --replay runs there"),
        (["--repeat", "4"], "--repeat is 4; it is of --replay, which is not given"),
        (["--world", "moon"], "moon"),
    ],
)
def test_an_option_of_replays_is_not_left_unheard_in_a_search(words: list[str], what: str) -> None:
    answer = CliRunner().invoke(app, ["break", "reno", "--goal", "wastes", *words])
    assert what in str(answer.exception)


def test_a_world_is_known_in_any_spelling_and_has_no_engine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: File
) -> None:
    given = ("--goal", "more-than-tcp", "--world", "Linux", "--json", str(tmp_path / "s.json"))
    answer, standing = replayed(monkeypatch, tmp_path, *given)
    assert standing.runs == 6 and "on the real kernel" in " ".join(answer.output.split())
    assert '"world":"linux"' in (tmp_path / "s.json").read_text()
    refused, _ = replayed(monkeypatch, tmp_path, "--goal", "more-than-tcp", "--on", "dask")
    assert "--on, --store and --threads are of simulations" in str(refused.exception)


def test_a_goal_of_theory_is_not_replayed_on_the_kernel(
    monkeypatch: pytest.MonkeyPatch, tmp_path: File
) -> None:
    answer, standing = replayed(monkeypatch, tmp_path, "--goal", "several-fixed-points")
    assert "several-fixed-points is a goal of theory, and runs nothing" in str(answer.exception)
    assert standing.runs == 0
