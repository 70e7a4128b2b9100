"""Idle time is tried, and not believed: a controller that is not told of it would be found."""

from __future__ import annotations

import pytest
from pyroute2 import IPRoute

from anabranch import _core
from anabranch.linux.check import idle_restart, restarted
from anabranch.linux.controllers import attached
from anabranch.linux.idle import LARGE_SEGMENTS, SETTING, Restart, connection, grow, restarts
from anabranch.linux.namespace import Namespace, read_setting, write_setting

KEPT, DECAYED = Restart("any", 80, 80), Restart("any", 80, 10)
SMALL = Restart("any", LARGE_SEGMENTS - 1, 10)


@pytest.mark.parametrize(
    ("own", "ours", "asked", "state"),
    [
        (DECAYED, DECAYED, True, "yes"),
        (KEPT, KEPT, False, "yes"),
        (DECAYED, KEPT, True, "no"),
        (KEPT, DECAYED, False, "no"),
        (DECAYED, SMALL, True, "unknown"),
        (SMALL, KEPT, True, "unknown"),
    ],
)
def test_windows_are_to_do_under_a_controller_what_the_setting_says(
    own: Restart, ours: Restart, asked: bool, state: str
) -> None:
    fact = restarted(own, ours, asked)
    assert fact.state == state and "load" in fact.needed_for
    assert f"reno {own.before_segments} → {own.after_segments}" in fact.detail
    assert f"olia {ours.before_segments} → {ours.after_segments}" in fact.detail
    assert f"{SETTING} = {int(asked)}" in fact.detail


@pytest.mark.usefixtures("controllers")
def test_a_controller_that_is_not_told_of_idle_time_is_found() -> None:
    faulty = _core.KernelController("olia", kernel_name="abt_olia", fault="idle-ignored")
    try:
        own, ours = restarts(["reno", "abt_olia"])
    finally:
        faulty.close()
    if read_setting(SETTING) == "1":
        assert own.decayed and own.grown
    assert not ours.decayed and ours.grown
    assert restarted(own, ours, True).state == "no"


@pytest.mark.usefixtures("controllers")
@pytest.mark.parametrize("setting", ["0", "1"])
def test_every_controller_does_in_idle_time_what_the_setting_says(setting: str) -> None:
    laws = [f"kernel:{law}" for law, _ in _core.kernel_programs()]
    namespace = Namespace()
    try:
        with attached(laws) as there, namespace.inside():
            with IPRoute() as route:
                route.link("set", ifname="lo", state="up")
            write_setting(SETTING, setting)
            names = [there.kernel_name(law) for law in laws]
            for row in restarts(["reno", *names]):
                assert row.grown and row.decayed == (setting == "1"), row
    finally:
        namespace.close()


@pytest.mark.usefixtures("controllers")
def test_check_looks_at_it_without_leaving_a_controller() -> None:
    assert idle_restart().state == "yes"
    assert _core.kernel_loaded() == {}


def test_a_window_grows_large_before_it_is_left_idle() -> None:
    with connection("reno") as (sender, receiver):
        assert grow(sender, receiver) >= LARGE_SEGMENTS
