"""What was measured on the real kernel and is committed: all of it there, valid, and within its
bands.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anabranch as ab
from anabranch.advice import CANDIDATES
from anabranch.papers import PAPERS
from anabranch.papers.judging import explained
from anabranch.papers.laboratory import Laboratory
from anabranch.papers.measurements import Measurements
from anabranch.result import Result
from anabranch.statistics import Interval, apart, interval

MEASUREMENTS = Path(__file__).resolve().parents[1] / "measurements"
TABLES = (
    *(f"{key}-uncoupled-{n1}-each" for key in "ac" for n1 in (10, 30)),
    *(f"{key}-olia-{n1}-each" for key in "ac" for n1 in (10, 30)),
    *(f"{key}-lia-{n1}-each-floor1" for key in "ac" for n1 in (10, 30)),
    *(f"a-before-{n1}-each" for n1 in (10, 30)),
    *(f"b-{when}-uncoupled-each" for when in ("before", "after")),
    *(f"b-{when}-olia-each" for when in ("before", "after")),
    *(f"b-{when}-lia-each-floor1" for when in ("before", "after")),
    *(f"b-{when}-{law}" for when in ("before", "after") for law in ("lia", "olia")),
    *(
        f"{key}-{law}-{n1}{end}"
        for key in "ac"
        for law in ("lia", "olia")
        for n1 in (10, 30)
        for end in ("", "-1mib")
    ),
)
"""Configurations of Tables 1 to 6, and the same under uncoupled control, with an ACK for each
packet and a floor of ssthresh of one segment; then A, B and C as the draft's hosts were, A and C
with a receive buffer of 1 MiB too.
"""
SCENARIOS = (("a", "type1", "type2"), ("c", "multipath", "single-path"))
"""Key of a scenario, its users with two paths, and those that they harm."""

MOVING = ("moving", "uncoupled")
"""Networks whose bottleneck moves, under `lia+sbd` and under Reno."""
LINKS = ("first", "second")
"""Of the pairs for which advice was given."""

FILES = sorted(MEASUREMENTS.glob("**/*.json.gz"))


def read(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((MEASUREMENTS / name).read_text(encoding="utf-8"))
    return content


@pytest.mark.parametrize("configuration", TABLES)
def test_every_configuration_of_the_tables_is_measured_five_times(configuration: str) -> None:
    assert configuration in PAPERS["khalili"].measured
    there = {file.name for file in (MEASUREMENTS / "khalili" / configuration).glob("*.json.gz")}
    assert there >= {f"{seed}.json.gz" for seed in range(1, 6)}


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(MEASUREMENTS)))
def test_every_measurement_is_valid_and_tells_where_it_is_from(file: Path) -> None:
    result = Result.load(file)
    assert result.world == "linux" and result.provenance["kernel"]
    assert result.provenance["settings"] and result.provenance["calibration"]["rates"]
    for run in result.runs:
        assert run.valid and run.emulator.lateness_p99_s < 2.5e-3
        for link, capacity in zip(result.plan.links, run.links.throughput_bps, strict=True):
            if link.rate_bps:  # a packet at either end of the time may belong to it
                assert capacity < 1.002 * link.rate_bps


def test_replications_of_a_scenario_are_of_one_kernel_one_testbed_and_the_same_controllers() -> (
    None
):
    origins: dict[tuple[str, str], set[tuple[str, ...]]] = {}
    for file in FILES:
        if file.is_relative_to(MEASUREMENTS / "khalili"):
            provenance = Result.load(file).provenance
            kinds = [end for end in ("-each", "-1mib") if end in file.parent.name]
            kind = (file.parent.name[0], kinds[0] if kinds else "rule")
            origin = tuple(provenance[key] for key in ("kernel", "testbed", "controllers"))
            origins.setdefault(kind, set()).add(origin)
    assert all(len(found) == 1 for found in origins.values()), origins


@pytest.fixture(scope="module")
def kernel() -> Laboratory:
    """What was measured of scenarios A and C."""
    world = Measurements(MEASUREMENTS / "khalili", measure=None)
    return Laboratory(PAPERS["khalili"].configurations_of("linux", quick=False), 5, world=world)


def test_lone_segments_do_not_wait_while_the_window_grows_and_reasons_say_so(
    kernel: Laboratory,
) -> None:
    ends = ("lia-{}-each-floor1", "lia-{}-each", "lia-{}", "olia-{}-each", "olia-{}")
    configurations = [f"c-{end.format(n1)}" for end in ends for n1 in (10, 30)]
    kernel.run([*configurations, "c-olia-30-1mib"], None)
    replications = {len(kernel[name].rate("single-path")) for name in kernel.results}
    assert len(replications) > 1, "reasons compare what differs in its number of replications"
    paper = PAPERS["khalili"]
    text = explained(paper.judged["khalili.table6.olia"], paper, kernel)
    assert "do not wait for the timer here" in text and "while the window grows" in text
    for n1 in (10, 30):
        each, rule = (
            interval(kernel[f"c-olia-{n1}{end}"].rate("single-path")) for end in ("-each", "")
        )
        assert not apart(each, rule)


@pytest.mark.parametrize(("scenario", "users", "harmed"), SCENARIOS)
@pytest.mark.parametrize("n1", [10, 30])
def test_where_the_window_has_grown_lone_segments_wait_and_olia_leaves_their_path_alone(
    kernel: Laboratory, scenario: str, users: str, harmed: str, n1: int
) -> None:
    names = [f"{scenario}-olia-{n1}{end}" for end in ("", "-1mib")]
    kernel.run(names, None)
    growing, grown = (interval(kernel[name].rate(harmed)) for name in names)
    assert grown.mean > growing.mean
    # In C with N1 = 10 lone segments are rare: 4.6 % of the time at cwnd 1.
    assert apart(growing, grown) or names[0] == "c-olia-10"
    waits = [kernel[name].path(users, 1, "srtt_s").mean() for name in names]
    assert waits[1] - waits[0] > 0.03


@pytest.mark.parametrize(("scenario", "users", "harmed"), SCENARIOS)
@pytest.mark.parametrize("n1", [10, 30])
def test_under_lia_a_window_that_has_grown_moves_the_others_by_less_than_20_kb_per_second(
    kernel: Laboratory, scenario: str, users: str, harmed: str, n1: int
) -> None:
    names = [f"{scenario}-lia-{n1}{end}" for end in ("", "-1mib")]
    kernel.run(names, None)
    growing, grown = (kernel[name].rate(harmed).mean() for name in names)
    assert abs(grown - growing) < 0.02e6


def share_of_two(result: Result) -> Interval:
    """What the user with two paths has of both."""
    multipath, single = result.rate("multipath"), result.rate("single-path")
    return interval(multipath / (multipath + single))


def measured(name: str) -> Result:
    """A committed result."""
    return Result.load(MEASUREMENTS / f"{name}.json.gz")


@pytest.mark.parametrize("controller", ["uncoupled", "kernel:reno", "lia", "olia"])
def test_beside_one_tcp_two_subflows_take_two_shares_uncoupled_and_one_coupled(
    controller: str,
) -> None:
    on_linux = share_of_two(measured(f"shared-red/{controller.replace(':', '-')}"))
    assert on_linux.n == 5 and on_linux.half < 0.03
    if controller in ("lia", "olia"):
        assert on_linux.low > 0.45 and on_linux.high < 0.57
    else:
        assert on_linux.low < 2 / 3 < on_linux.high
    simulated = share_of_two(ab.run("linux/shared-red", range(1, 11), controller=controller))
    assert not apart(on_linux, simulated), (on_linux, simulated)


def test_without_delay_two_subflows_take_two_shares_as_well() -> None:
    result = measured("zero-delay/uncoupled")
    assert {planned.controller for planned in result.plan.classes} == {"uncoupled", "reno"}
    assert abs(share_of_two(result).mean - 2 / 3) < 0.03 and len(result.runs) == 3


def test_nothing_was_wrong_in_the_long_tests_of_robustness() -> None:
    soak = read("soak.json")
    assert soak.keys() == {"churn", "open", "skips", "trial"}
    assert not [text for part in soak.values() for text in part["wrong"]]
    assert soak["open"]["told"]["joined"] > 19_900
    counts = soak["churn"]["counts"]
    assert counts["most connections at once"] >= 150
    assert counts["kernel warnings excused"] <= 1


def test_a_controller_costs_microseconds_and_its_cost_in_cpu_is_known_to_a_few_percent() -> None:
    cost = read("kernel-cost.json")
    for law, row in cost["per_ack"].items():
        assert 100 < row["ns_per_ack"] < 3000, law
        assert row["coupled"] > 0.9 or law == "reno"
    for law, row in cost["ratios"].items():
        low, high = row["interval95"]
        assert row["repetitions"] >= 9 and high - low < 0.2, law


def test_what_advice_says_of_processors_was_measured() -> None:
    laws, own = read("kernel-cost.json")["per_ack"], read("kernel-cost-own.json")
    later = read("kernel-cost-coupled-cubic.json")["per_ack"]
    ratio = later["coupled-cubic"]["ns_per_ack"] / later["lia"]["ns_per_ack"]
    laws["coupled-cubic"] = {"ns_per_ack": ratio * laws["lia"]["ns_per_ack"]}
    built_in = {name: row["ns_per_ack"] for name, row in own["built_in"].items()}
    pairs = [
        (own["per_ack"][law], own["per_ack"][f"{law}+sbd"]) for law in ("lia", "olia", "balia")
    ]
    sensing = [
        after - before
        for plain, detecting in pairs
        for before, after in zip(plain["each_ns"], detecting["each_ns"], strict=True)
    ]
    assert interval(sensing).low > 0
    for candidate in CANDIDATES:
        law, _, detects = candidate.controller.partition("+")
        measured = built_in[law] - built_in["reno"] if law in built_in else laws[law]["ns_per_ack"]
        measured += sum(sensing) / len(sensing) if detects else 0.0
        assert candidate.ns_per_ack == pytest.approx(measured, abs=1), law
        deciding = own["deciding"]["part"] if detects else 0.0
        assert candidate.deciding == pytest.approx(deciding, abs=1e-4), law


def test_bbr_costs_more_than_cubic_and_less_than_a_controller_in_the_shell() -> None:
    """Of one session, in which all were measured under the same load."""
    own = read("kernel-cost-own.json")
    intervals = {name: row["interval95"] for name, row in own["built_in"].items()}
    assert intervals["reno"][1] < intervals["cubic"][0]
    assert intervals["cubic"][1] < intervals["bbr"][0]
    assert intervals["bbr"][1] < min(row["ns_per_ack"] for row in own["per_ack"].values())
    assert all(row["looks"] > 100 for row in own["built_in"].values())


def test_where_paths_share_coupling_takes_at_most_1_1_tcps_and_else_what_uncoupled_takes() -> None:
    """The same 30 s after the bottleneck moved; on the real kernel."""
    found = read("coupling-on-linux.json")
    assert not [
        row for form in ("still", "moving") for row in found[form] if row["invalid_because"]
    ]

    def of(name: str, span: str = "") -> np.ndarray[Any, np.dtype[np.float64]]:
        rows = found["moving" if span else "still"]
        rates = [row["rate_bps"][span] if span else row["rate_bps"] for row in rows]
        return np.array([one[name] for one in rates], float)

    for subflows in (1, 2, 4, 8):
        taken = of(f"shared{subflows}-subject") / of(f"shared{subflows}-tcp")
        assert interval(taken).high <= 1.1, subflows
    assert np.mean(of("apart-subject") / of("uncoupled-subject")) >= 0.95
    for subflows in (2, 4, 8):
        mine, uncoupled = (of(f"{name}{subflows}-subject", "apart") for name in MOVING)
        assert mine.mean() >= 0.95 * uncoupled.mean(), subflows
        tcps = [of(f"moving{subflows}-tcp-{place}", "again").mean() for place in range(subflows)]
        assert of(f"moving{subflows}-subject", "again").mean() <= 1.1 * max(tcps), subflows


def test_what_is_advised_has_nearly_the_best_rate_on_the_kernel_and_what_was_foreseen() -> None:
    """On eighteen of the twenty pairs, and in four of five runs."""
    near, inside = [], []
    for pair in read("advice-on-linux.json")["pairs"].values():
        runs, advice = pair["runs"], pair["advice"]
        assert len(runs) >= 3 and not [run for run in runs if run["invalid_because"]]

        def mean(network: str, name: str, runs: list[Any] = runs) -> float:
            return float(np.mean([run["rate_bps"][network][name] for run in runs]))

        rates = {}
        for name in advice["between_bps"]:
            others = [other for other in runs[0]["rate_bps"][name] if other != "mine"]
            least = [min(mean(f"cubic on {link}", one) for link in LINKS) for one in others]
            if all(mean(name, one) >= 0.9 * kept for one, kept in zip(others, least, strict=True)):
                rates[name] = mean(name, "mine")
        near.append(mean(advice["chosen"], "mine") >= 0.95 * max(rates.values()))
        for name, (low, high) in advice["between_bps"].items():
            inside += [low <= run["rate_bps"][name]["mine"] <= high for run in runs]
    assert len(near) == 20 and sum(near) >= 18
    assert np.mean(inside) >= 0.8
