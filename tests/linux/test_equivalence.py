"""What a controller does on a live connection, in the other forms of its law."""

from __future__ import annotations

import os

import pytest
from churn import SUBFLOW
from pairs import feed, pairs

from anabranch import _core
from anabranch.linux import run
from anabranch.linux.controllers import Attached
from anabranch.linux.tcp_info import IPPROTO_MPTCP

SHORT = (
    "duration=8 s",
    "warmup=1 s",
    "flow.multipath.count=2",
    "flow.single-path.count=2",
    "link.ap1.rate=2 Mb/s",
    "link.ap2.rate=2 Mb/s",
)

SOUND = dict.fromkeys(("bytecode", "native", "readable", "misread", "broken"), 0)


@pytest.mark.usefixtures("controllers")
@pytest.mark.parametrize("law", ["lia", "olia"])
def test_what_an_attached_controller_did_comes_out_the_same_in_every_form_of_its_law(
    law: str,
) -> None:
    seen: list[tuple[int, dict[str, int]]] = []

    def replay(controllers: Attached) -> None:
        steps = controllers.steps()[law]
        seen.append((len(steps), controllers.judge(law, steps)))

    run(
        "khalili/scenario-c", [1], controller=law, overrides=SHORT, record=replay, keep_invalid=True
    )
    ((steps, judged),) = seen
    assert steps > 50
    assert judged == SOUND


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
