"""The command line: exit statuses, errors, files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SHORT = ["--set", "duration=20 s", "--set", "warmup=5 s"]


def anabranch(*words: str) -> subprocess.CompletedProcess[str]:
    """Runs the command as a user does."""
    command = [sys.executable, "-c", "from anabranch.cli import main; main()", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("command", ["run", "theory", "compare", "reproduce", "plot", "list"])
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
    rates = json.loads(file.read_text())["equilibrium"]["class_rates_bps"]
    assert rates["multipath"] == pytest.approx(1.2956e6, rel=1e-3)
    done = anabranch("theory", "khalili/scenario-c", "--utility", "tcp", "--json", str(file))
    assert done.returncode == 0, done.stderr
    assert json.loads(file.read_text())["optimum"]["utility"] == "tcp"
    assert (
        anabranch(
            "compare", "khalili/scenario-c", "-n", "3", *SHORT, "--tolerance", "0.2"
        ).returncode
        == 0
    )
    # OLIA's windows of one to three segments are not the fluid's: a difference beyond the interval
    assert (
        anabranch(
            "compare", "khalili/scenario-c", "-c", "olia", "-n", "3", *SHORT, "--tolerance", "0.02"
        ).returncode
        == 1
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "nothing.toml"], "nothing.toml"),
        (["run", "khalili/scenario-d"], "did you mean"),
        (["run", "khalili/scenario-c", "-c", "oila"], "olia"),
        (["run", "khalili/scenario-c", "--set", "link.ap9.rate=1 Mb/s"], "`ap1`"),
        (["run", "khalili/scenario-c", "--set", "link.ap1.rate=10"], "unit"),
        (["run", "khalili/scenario-c", "--set", "nonsense"], "key=value"),
        (["run", "khalili/scenario-c", "--set", "warmup=200 s"], "warmup"),
        (["run", "khalili/scenario-c", "--json", "/no/such/place/x.json"], "/no/such/place"),
        (["run", "khalili/scenario-c", "--repeat", "0"], "repeat"),
        (["theory", "khalili/scenario-c", "--rtt", "10"], "150 ms"),
        (["theory", "khalili/scenario-c", "--utility", "max"], "log, tcp"),
        (["compare", "khalili/scenario-c", "--worlds", "theory,moon"], "moon"),
        (["reproduce", "khalili.table9"], "near"),
        (["reproduce", "khalili", "--world", "moon"], "moon"),
        (["plot", "README.md"], "not a result"),
        (["list", "wishes"], "controllers"),
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
