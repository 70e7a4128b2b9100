"""Which scenarios the kernel can run; no root needed."""

from __future__ import annotations

import resource

import pytest

from anabranch import ScenarioError
from anabranch import run as simulate
from anabranch.linux import LinuxError, fit, run, settings
from anabranch.linux.controllers import check_built
from anabranch.linux.sockets import room_for_files
from anabranch.plan import Plan
from anabranch.scenario import Scenario, load, shipped


def plan(text: str = "", flow: str = "", path: str = "") -> Plan:
    return Scenario.parse(
        f"""
name = "one"
duration = "10 s"
{text}
[[link]]
name = "wire"
rate = "10 Mb/s"
[[link]]
name = "free"
delay = "1 ms"
[[flow]]
name = "user"
{flow}
[[flow.path]]
links = ["wire"]
{path}
"""
    ).plan()


def test_every_scenario_of_khalili_runs_with_a_controller_of_the_kernel() -> None:
    for name in shipped():
        if name.startswith("khalili/"):
            assert fit.refusals(load(name).plan(controller="olia")) == [], name


@pytest.mark.parametrize(
    ("key", "sentence"),
    [
        ("limited_transmit = false", "`limited_transmit` is off; "),
        ('delayed_ack = "100 ms"', "`delayed_ack` is 100 ms; the kernel has 0 ms, 40 ms"),
        ("initial_ssthresh = 20", "`initial_ssthresh` is 20 segments; "),
        ("min_window = 2", "`min_window` is 2 segments; the kernel's is 1"),
        ("slow_start_carry_over = false", "`slow_start_carry_over` is off; "),
        ('rto_floor = "total"', '`rto_floor` is "total"; '),
        ('rto_initial = "3 s"', "`rto_initial` is 3 s; the kernel's is 1 s"),
        (
            'payload = "1000 B"',
            "`payload` is 1000 B; with 52 B of headers a packet of 1500 B has 1448 B",
        ),
        ("initial_window = 2.5", "`initial_window` is 2.5 segments; the kernel has whole ones"),
        ('idle = "restart"', '`idle` is "restart"; '),
        ("autotune = true", "`autotune` is on; "),
        ("opportunistic = true", "`opportunistic` is on; "),
        ("suspend = true", "`suspend` is on; "),
    ],
)
def test_each_option_that_linux_has_not_is_named_with_its_value_and_what_linux_has(
    key: str, sentence: str
) -> None:
    (found,) = fit.refusals(plan(f"[transport]\n{key}"))
    assert found.startswith("flow `user`: ") and sentence in found


@pytest.mark.parametrize(
    ("flow", "path", "sentence"),
    [
        ('app_rate = "1 Mb/s"\nprotocol = "udp"', "", "it sends UDP; here users send TCP or QUIC"),
        ('app_rate = "1 Mb/s"\npauses = { on = "1 s", off = "1 s" }', "", "its users pause; "),
        ('transfer = "1 MB"\nsizes = "exponential"', "", "have random sizes; "),
        ("", "backup = true", "path 0 is a backup; "),
    ],
)
def test_each_kind_of_traffic_that_the_testbed_has_not_is_named(
    flow: str, path: str, sentence: str
) -> None:
    (found,) = fit.refusals(plan(flow=flow, path=path))
    assert sentence in found


def test_ecn_probes_and_decay_after_idling_are_settings_of_the_kernel() -> None:
    options = '[transport]\necn = true\ntlp = true\nidle = "decay"'
    (planned,) = plan(options).classes
    chosen = settings.wanted(planned)
    assert chosen["net.ipv4.tcp_ecn"] == "1"
    assert chosen["net.ipv4.tcp_early_retrans"] == "3"
    assert chosen["net.ipv4.tcp_slow_start_after_idle"] == "1"
    assert settings.wanted(plan().classes[0])["net.ipv4.tcp_ecn"] == "0"


def test_a_path_that_nothing_slows_down_is_refused() -> None:
    (found,) = fit.refusals(plan(path='[[flow.path]]\nlinks = ["free"]'))
    assert "path 1 has neither a rate nor loss" in found


def test_too_many_paths_and_users_are_refused() -> None:
    more = '[[flow.path]]\nlinks = ["wire"]\n' * fit.MOST_PATHS
    assert any("10 paths" in text for text in fit.refusals(plan(path=more)))
    assert any("2000 users" in text for text in fit.refusals(plan(flow="count = 2000")))


def test_the_first_path_neither_joins_late_nor_leaves() -> None:
    (found,) = fit.refusals(plan(path='leave = "5 s"\n[[flow.path]]\nlinks = ["wire"]'))
    assert "path 0 opens the connection" in found
    assert fit.refusals(plan(path='leave = "5 s"')) == []


def test_a_controller_that_is_not_made_for_the_kernel_is_refused_with_those_that_are() -> None:
    with pytest.raises(LinuxError, match=r"no controller phi:1 for the kernel; there are: .*olia"):
        run("khalili/two-lossy-paths")
    for name in ("lia:uncapped", "reno+hystart", "cubic:hystart", "lia+sbd:dwc", "nice"):
        (found,) = fit.refusals(plan(flow=f'controller = "{name}"'))
        assert found.startswith(f"flow `user`: there is no controller {name} for the kernel")
    for name in ("kernel:lia", "lia+sbd", "cubic", "bbr", "linux:westwood"):
        assert fit.refusals(plan(flow=f'controller = "{name}"')) == []


def test_a_congestion_control_that_this_kernel_was_built_without_is_named() -> None:
    with pytest.raises(LinuxError, match=r"no congestion control none; it has .*reno"):
        check_built("none")


def test_a_controller_that_only_the_kernel_has_is_not_simulated() -> None:
    assert fit.kernels_own("linux:westwood") == "westwood"
    with pytest.raises(
        ScenarioError, match="linux:westwood is the running kernel's own, and is not"
    ):
        simulate("khalili/two-lossy-paths", controller="linux:westwood")


def test_a_scheduler_that_linux_has_not_is_refused_where_there_is_a_choice() -> None:
    text = '[transport]\nscheduler = "round-robin"'
    assert fit.refusals(plan(text)) == []
    (found,) = fit.refusals(plan(text, path='[[flow.path]]\nlinks = ["wire"]'))
    assert "round-robin" in found


def test_a_threshold_that_the_guard_would_take_for_garbage_is_refused_under_loaded_controllers() -> (
    None
):
    def refused(segments: int, controller: str) -> list[str]:
        text = f"[transport]\nmin_ssthresh = {segments}"
        return fit.refusals(plan(text, f'controller = "{controller}"'))

    assert refused(2**20, "olia") == refused(2**24, "reno") == []
    (found,) = refused(2**20 + 1, "kernel:olia")
    assert "is 1048577 segments; a loaded controller has 1048576 at most" in found


def test_a_run_of_many_users_may_open_as_many_files_as_it_needs() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    with room_for_files(plan()):
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (before[1], before[1])
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == before


def test_too_few_open_files_are_said_before_anything_is_built(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, 2048))
    with pytest.raises(LinuxError, match=r"1000 users need 3\d+ open files, .* is 2048\nhelp"):
        room_for_files(plan(flow="count = 1000")).__enter__()
