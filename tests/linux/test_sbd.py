"""Laws with `+sbd` in the kernel: coupled where paths share a bottleneck, uncoupled where not, and
coupled again without the process that decides.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator

import pytest
from test_pins import COMMAND, Machine, clean, machine

import anabranch as ab
from anabranch import _core, linux
from anabranch.linux.controllers import load, names
from anabranch.sharing import closed_loop

pytestmark = pytest.mark.usefixtures("kernel", "controllers", "clean")

__all__ = ["clean"]

# Long enough that a false verdict, which may last for twenty seconds, does not decide.
SHORT = ("duration=70 s", "warmup=15 s")


@pytest.fixture(scope="module")
def coupled(once: None) -> dict[str, float]:
    """The part of the ACKs at which a law saw several paths, by law: under LIA two subflows are on
    disjoint links, and under OLIA on one link, in one replication.
    """
    apart, joint = closed_loop.disjoint(2), closed_loop.shared(2)
    apart["flow"][0] |= {"name": "apart", "controller": "lia+sbd"}
    joint["flow"][0] |= {"name": "joint", "controller": "olia+sbd"}
    for flow in joint["flow"]:
        flow.pop("subject", None)
    for link in joint["link"]:  # both have links of these names
        link["name"] = f"joint-{link['name']}"
    for flow in joint["flow"]:
        for path in flow["path"]:
            path["links"] = [f"joint-{name}" for name in path["links"]]
    both = {name: apart[name] + joint[name] for name in ("link", "flow")}
    scenario = ab.Scenario.written(apart | both)
    result = linux.run(scenario, (1,), overrides=SHORT, keep_invalid=True)
    rows = result.runs[0].kernel.controllers
    return {law: row["coupled"] / row["acks"] for law, row in rows.items()}


def test_disjoint_paths_are_coupled_for_the_first_seconds_alone(coupled: dict[str, float]) -> None:
    assert coupled["lia+sbd"] < 0.5


def test_paths_over_one_bottleneck_stay_coupled(coupled: dict[str, float]) -> None:
    assert coupled["olia+sbd"] > 0.7


def test_every_law_loads_with_sbd_and_exchanges_groups() -> None:
    for law in names():
        controller = load(f"{law}+sbd", kernel_name=f"abt_{law[:10].replace('-', '')}")
        assert controller.couple() == []
        controller.close()


def test_a_controller_without_sbd_says_that_it_couples_all() -> None:
    controller = load("lia", kernel_name="abt_all")
    with pytest.raises(OSError, match="it was loaded without sbd"):
        controller.couple()
    controller.close()


@pytest.fixture
def there() -> Iterator[Machine]:
    """A machine of its own."""
    with machine("mount -t bpf -o mode=0700 bpf /sys/fs/bpf", alone=True) as made:
        yield made


def test_couple_ends_with_the_controller_and_says_what_is_missing(there: Machine) -> None:
    status, said = there.linux("couple", "lia+sbd")
    assert status == 2 and "ab_lia is not loaded" in said, said
    assert there.linux("load", "lia")[0] == 0
    status, said = there.linux("couple", "lia+sbd")
    assert status == 2 and "unload lia`, then `anabranch linux load lia+sbd`" in said, said
    assert there.linux("unload", "lia")[0] == 0
    assert there.linux("load", "lia+sbd")[0] == 0
    process = there.begin(*COMMAND, "couple", "lia+sbd")
    assert process.stdout is not None
    assert "ab_lia" in process.stdout.readline()
    time.sleep(1.0)
    assert process.poll() is None
    assert there.linux("unload", "lia+sbd")[0] == 0
    assert process.wait(20) == 0, process.communicate()


def test_couple_that_is_killed_leaves_nothing_beside_the_controller(there: Machine) -> None:
    assert there.linux("load", "lia+sbd")[0] == 0
    process = there.begin(*COMMAND, "couple", "lia+sbd")
    assert process.stdout is not None
    assert "ab_lia" in process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert there.linux("unload", "lia+sbd")[0] == 0
    assert "lia" not in _core.kernel_loaded()
