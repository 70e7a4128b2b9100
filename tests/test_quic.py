"""The world `quic`: a scenario's users of TCP speak QUIC, with a shipped stack at both ends."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import anabranch as ab
from anabranch import quic
from anabranch.linux import fit

SHORT = ["--set", "duration=7 s", "--set", "warmup=1 s", "--set", "flow.multipath.count=2"]

COMMAND = [sys.executable, "-c", "from anabranch.cli import main; main()"]


def anabranch(*words: str) -> subprocess.CompletedProcess[str]:
    """Runs the command as a user does."""
    return subprocess.run([*COMMAND, *words], capture_output=True, text=True, timeout=120)


def test_a_run_in_the_world_quic_is_repeated_by_the_command_that_it_names(tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    words = ["run", "khalili/scenario-c", "--world", "quic", *SHORT, "--json", str(file)]
    done = anabranch(*words)
    assert done.returncode == 0, done.stderr
    result = ab.Result.load(file)
    assert result.world == "quic"
    assert {one.protocol for one in result.plan.classes} == {"quic"}
    assert 0.2e6 < result.rate("multipath") < 10e6
    assert all(run.paths.cwnd_segments.min() >= 2 for run in result.runs), "QUIC's least window"
    command = result.command()
    assert command[:5] == ["anabranch", "run", "khalili/scenario-c", "--world", "quic"]
    assert not any("protocol" in word for word in command)
    again = anabranch(*command[1:], "--json", str(file))
    assert again.returncode == 0, again.stderr
    assert ab.Result.load(file).runs[0].digest == result.runs[0].digest


def test_compare_has_theory_simulation_and_quic_in_one_table(tmp_path: Path) -> None:
    file = tmp_path / "all.json"
    done = anabranch(
        *("compare", "khalili/scenario-c", "--worlds", "quic,theory,simulation", "-n", "2"),
        *(*SHORT, "--json", str(file)),
    )
    assert done.returncode in (0, 1), done.stderr
    worlds = list(json.loads(file.read_text())["worlds"])
    assert worlds == ["theory", "simulation", "quic"]


def test_what_the_stack_cannot_do_is_named_and_the_other_worlds_answer() -> None:
    scheduler = ["--set", "transport.scheduler=round-robin", *SHORT]
    done = anabranch("run", "khalili/scenario-c", "--world", "quic", *scheduler)
    assert done.returncode == 2
    assert "transport.scheduler" in done.stderr and "first path with room" in done.stderr
    worlds = ["--worlds", "theory,simulation,quic", "-n", "1"]
    done = anabranch("compare", "khalili/scenario-c", *worlds, *scheduler)
    assert "quic has no answer" in done.stdout and "simulation" in done.stdout


@pytest.mark.parametrize("controller", ["noq:cubic", "olia"])
def test_a_controller_of_the_stack_takes_the_place_of_the_subjects(controller: str) -> None:
    scenario = ab.load("khalili/scenario-c")
    overrides = quic.overrides_for(scenario, controller=controller)
    plan = scenario.plan(controller=controller, overrides=overrides)
    assert [one.controller for one in plan.classes] == [controller, "reno"]


def test_the_kernels_world_takes_quic_without_end_and_names_what_it_has_not() -> None:
    scenario = ab.load("khalili/scenario-c")

    def refused(*words: str) -> list[str]:
        plan = scenario.plan(overrides=quic.overrides_for(scenario, overrides=words))
        return fit.refusals(plan)

    assert refused() == []
    for word, part in (
        ("flow.multipath.transfer=1 MB", "`multipath`: its users send a file or at a rate"),
        ("flow.multipath.path.1.leave=9 s", "`multipath`: its paths join or leave"),
        ("transport.packet=1540 B", "`packet` is 1540 B; the stack finds its own size"),
        ("transport.initial_window=4", "`initial_window` is 4.0; `anabranch quic serve`"),
        ("transport.min_window=3", "`min_window` is 3 segments; QUIC's is 2"),
    ):
        assert any(part in why for why in refused(word)), (word, refused(word))


def test_tcp_refuses_the_stacks_controllers() -> None:
    scenario = ab.load("khalili/scenario-c")
    with pytest.raises(ab.ScenarioError, match=r"noq:bbr3.*QUIC stack's own"):
        scenario.plan(controller="noq:bbr3")


def test_a_class_of_python_is_refused_for_quic() -> None:
    class Mine(ab.Controller):
        """Grows and shrinks as it was made to."""

    scenario = ab.load("khalili/scenario-c")
    with pytest.raises(ab.ScenarioError, match="QUIC"):
        ab.run(scenario, 1, controller=Mine, overrides=quic.overrides_for(scenario))
