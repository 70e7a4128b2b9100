"""What a controller does on a live connection, in the other forms of its law."""

from __future__ import annotations

import os

import pytest
from churn import SUBFLOW
from pairs import feed, pairs
from side_by_side import beside

from anabranch import _core
from anabranch.linux import run
from anabranch.linux.controllers import Attached
from anabranch.linux.tcp_info import IPPROTO_MPTCP

LAWS = ("lia", "olia")

SHORT = (
    "duration=8 s",
    "warmup=1 s",
    "flow.single-path.count=2",
    "link.ap1.rate=4 Mb/s",
    "link.ap2.rate=4 Mb/s",
)

SOUND = dict.fromkeys(("bytecode", "native", "readable", "misread", "broken"), 0)


@pytest.fixture(scope="module")
def judged(controllers: None, once: None) -> dict[str, tuple[int, dict[str, int]]]:
    """The number of steps of each law in one replication, and how many of them are wrong."""
    found: dict[str, tuple[int, dict[str, int]]] = {}

    def replay(there: Attached) -> None:
        for law, steps in there.steps().items():
            found[law] = (len(steps), there.judge(law, steps))

    run(beside(LAWS, users=2), [1], overrides=SHORT, record=replay, keep_invalid=True)
    return found


@pytest.mark.parametrize("law", LAWS)
def test_what_an_attached_controller_did_comes_out_the_same_in_every_form_of_its_law(
    law: str, judged: dict[str, tuple[int, dict[str, int]]]
) -> None:
    steps, wrong = judged[law]
    assert steps > 50
    assert wrong == SOUND


@pytest.mark.usefixtures("controllers")
@pytest.mark.parametrize(
    ("fault", "seen"),
    [("remainder-dropped", "native"), ("trips-swapped", "misread"), ("credit-reset", "broken")],
)
def test_a_fault_planted_in_an_attached_controller_is_found(fault: str, seen: str) -> None:
    controller = _core.KernelController(
        "lia", kernel_name=f"ab{os.getpid()}_fault", record=True, fault=fault
    )
    try:
        both = IPPROTO_MPTCP, IPPROTO_MPTCP
        with pairs(controller.kernel_name, both) as (stage, made):
            feed(made, 0.3)  # paths join once data was acknowledged
            stage.set_endpoint(1, SUBFLOW)
            feed(made, 3)
        steps = controller.steps()
        judged = controller.judge(steps)
    finally:
        controller.close()
    assert len(steps) > 100
    assert judged[seen] > 0.2 * len(steps)
    sound = {"native", "readable", "misread"} - {seen, "readable" if seen == "native" else ""}
    assert not any(judged[name] for name in sound)
