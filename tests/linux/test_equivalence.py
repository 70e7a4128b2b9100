"""What a controller does on a live connection, in the other forms of its law."""

from __future__ import annotations

import pytest

from anabranch.linux import run
from anabranch.linux.controllers import Attached

SHORT = (
    "duration=8 s",
    "warmup=1 s",
    "flow.multipath.count=2",
    "flow.single-path.count=2",
    "link.ap1.rate=2 Mb/s",
    "link.ap2.rate=2 Mb/s",
)


@pytest.mark.usefixtures("controllers")
@pytest.mark.parametrize("law", ["lia", "olia"])
def test_what_an_attached_controller_did_comes_out_the_same_in_every_form_of_its_law(
    law: str,
) -> None:
    seen: list[tuple[int, tuple[int, int, int]]] = []

    def replay(controllers: Attached) -> None:
        steps = controllers.steps()[law]
        seen.append((len(steps), controllers.disagreements(law, steps)))

    run(
        "khalili/scenario-c", [1], controller=law, overrides=SHORT, record=replay, keep_invalid=True
    )
    ((steps, disagreements),) = seen
    assert steps > 50
    assert disagreements == (0, 0, 0)
