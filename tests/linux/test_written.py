"""Laws in text on the running kernel: compiled, loaded, measured, and taken out again."""

from __future__ import annotations

from pathlib import Path

import pytest

import anabranch as ab
from anabranch.linux import LinuxError, controllers
from anabranch.linux.compile import in_terms_of
from anabranch.linux.pinned import load_for_good, unload_for_good
from anabranch.written import shipped_laws

pytestmark = pytest.mark.usefixtures("kernel", "controllers")


def set_for_kernel(name: str) -> ab.Law:
    """A shipped law, with a power that the kernel has."""
    return ab.Law.load(name, **({"phi": 0.5} if name == "phi" else {}))


@pytest.mark.parametrize("name", shipped_laws())
def test_every_law_that_ships_as_text_is_compiled_and_loaded(name: str) -> None:
    controller = controllers.load(set_for_kernel(name), kernel_name="abt_written")
    assert controller.kernel_name == "abt_written"
    assert "abt_written" in controllers.available()
    controller.close()
    assert "abt_written" not in controllers.available()


@pytest.mark.parametrize("name", ["lia", "olia", "balia", "gentle"])
def test_what_a_loaded_law_does_is_the_text_in_every_bit(name: str) -> None:
    law = set_for_kernel(name)
    kept: dict[str, list[str]] = {}
    wrong: dict[str, dict[str, int]] = {}

    def record(loaded: controllers.Attached) -> None:
        for label, steps in loaded.steps().items():
            kept[label] = steps
            wrong[label] = loaded.judge(label, steps)

    ab.linux.run(
        "khalili/scenario-c",
        controller=law,
        overrides=[
            *("duration=5 s", "warmup=1 s", "flow.multipath.count=2"),
            *("flow.multipath.spread=1 s", "flow.single-path.spread=1 s"),
        ],
        keep_invalid=True,
        record=record,
    )
    (label,) = kept
    assert label == law.name and len(kept[label]) > 100
    assert set(wrong[label].values()) == {0}, wrong


def test_a_law_is_loaded_for_good_under_its_own_name_and_taken_out(tmp_path: Path) -> None:
    file = tmp_path / "mine.law"
    file.write_text("growth = 0.5/w_tot\nbackoff = w*0.75\n")
    assert load_for_good(str(file)) == "law_mine"
    with pytest.raises(LinuxError, match="law_mine is loaded already"):
        load_for_good(f"{file}")
    from anabranch.linux.observe import status

    assert [one.name for one in status().controllers] == ["law_mine"]
    assert unload_for_good("law_mine") == 0
    assert status().controllers == []


def test_what_the_kernel_does_not_have_is_told_in_terms_of_the_text() -> None:
    with pytest.raises(ab.ScenarioError, match="line 1, character 10: the kernel has no exp"):
        controllers.load(ab.Law("growth = exp(-w)/w; backoff = w/2"))
    law = ab.Law("law mine\ngrowth = 1/w_tot\nbackoff = w/2")
    said = (
        "0: R1=ctx()\n; growth = 1/w_tot @ mine.law:2\n12: (85) call pc+3\n"
        "R1 invalid mem access 'scalar'\nprocessed 12 insns"
    )
    assert in_terms_of(law, said) == (
        "the verifier refuses line 2 of the law, `growth = 1/w_tot`: R1 invalid mem access 'scalar'"
    )
    assert "512 bytes" in in_terms_of(law, "combined stack size of 4 calls is 544. Too large")
