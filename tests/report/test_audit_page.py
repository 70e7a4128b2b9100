"""The page of an audit: its commands run when they are pasted."""

import re
import shlex
import subprocess
import sys
from html import unescape

import pytest

from anabranch.cli.audit import page
from anabranch.fairness import Audit
from anabranch.fairness.audit import NETWORKS
from anabranch.report import render

CALL = [sys.executable, "-c", "from anabranch.cli import main; main()"]
SHORT = "--set duration=8s --set warmup=6s"


@pytest.fixture(scope="module")
def commands():
    """The commands that stand on the page, as a reader copies them."""
    html = render(page(Audit(["lia"], [3, 4])))
    return [unescape(text) for text in re.findall(r"<pre><code>(.*?)</code></pre>", html)]


@pytest.mark.parametrize("number", range(len(NETWORKS)))
def test_the_command_of_each_network_runs_in_a_shell(number, commands, tmp_path):
    assert commands[number].startswith("anabranch run ")
    pasted = commands[number].removeprefix("anabranch")
    line = f"{shlex.join(CALL)}{pasted} {SHORT} --json out.json"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out.json").stat().st_size > 0


def test_the_commands_have_the_seeds_of_the_audit(commands):
    assert len(commands) == len(NETWORKS)
    assert all("--seed 3 --repeat 2" in command for command in commands)
