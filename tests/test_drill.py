"""What tools/drill.py makes of packetdrill's words."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

TOOL = Path(__file__).parent.parent / "tools" / "drill.py"


@pytest.fixture(scope="module")
def drill() -> ModuleType:
    """The tool as a module."""
    made = importlib.util.spec_from_file_location("drill", TOOL)
    assert made and made.loader
    module = importlib.util.module_from_spec(made)
    sys.modules["drill"] = module
    made.loader.exec_module(module)
    return module


def test_a_script_passes_by_its_exit_status_alone(drill: ModuleType) -> None:
    outcome = drill.judged("mptcp", "a.pkt", 0, "a.pkt:3: a warning")
    assert (outcome.result, outcome.reason, outcome.line) == ("passed", "", None)


@pytest.mark.parametrize(
    ("said", "result", "reason"),
    [
        ("sh: 2: ethtool: not found", "not runnable", "ethtool"),
        (
            "a.pkt:9: runtime error in setsockopt call: got -1 with errno 92 (x)",
            "not runnable",
            "setso",
        ),
        ("a.pkt:9: runtime error in read call: Expected result 0 but got 5", "failed", "got 5"),
        ("a.pkt:9: error handling packet: timing error: expected outbound", "failed", "time: outb"),
        ("a.pkt:9: error handling packet: live packet field tcp_psh", "failed", "tcp_psh"),
        ("a.pkt:9: something else", "failed", "something else"),
        ("", "failed", "exit status 7"),
    ],
)
def test_the_first_reason_that_is_found_counts(
    drill: ModuleType, said: str, result: str, reason: str
) -> None:
    outcome = drill.judged("tcp", "a.pkt", 7, said)
    assert outcome.result == result
    assert reason in outcome.reason
    assert outcome.line == (9 if ":9:" in said else None)


def test_both_packets_are_kept_as_evidence_and_totals_count_each_suite(drill: ModuleType) -> None:
    said = "a.pkt:9: error handling packet: wrong\nscript packet: x\nactual packet: y\n"
    outcome = drill.judged("tcp", "a.pkt", 1, said)
    assert outcome.evidence == ("script packet: x", "actual packet: y")
    text = drill.shown([outcome, drill.judged("mptcp", "b.pkt", 0, "")])
    assert text.splitlines()[-2:] == [
        "mptcp: 1 scripts, 1 passed",
        "tcp: 1 scripts, 1 failed",
    ]
