"""Configurations measured on the kernel: kept one by one, taken up again, judged. A short
simulation stands in for the kernel, so that no root is needed.
"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anabranch as ab
from anabranch.cli import compare, machine
from anabranch.cli.compare import agreement, checked_worlds, explained
from anabranch.cli.reproduce import SEEDS, ReproduceOptions, Where, reproduce_command
from anabranch.linux import LinuxError, NotValid
from anabranch.linux.controllers import sources
from anabranch.linux.rights import as_root
from anabranch.linux.testbed import TESTBED
from anabranch.papers import PAPERS, Configuration, Finding, Laboratory, evaluate
from anabranch.papers.beside import conditions, together
from anabranch.papers.laboratory import NoResult
from anabranch.papers.measurements import OVERHEAD_S, Measurements, rounded, spoken, unlike
from anabranch.papers.pages import write_report
from anabranch.papers.registry import _wanted
from anabranch.papers.row import BEYOND, head
from anabranch.runs import EmulatorReport, KernelReport
from anabranch.statistics import Interval, apart, difference, interval

CONFIGURATION = Configuration("khalili/scenario-c", "lia", ("duration=8 s", "warmup=6 s"))
SHORT = ("duration=30 s", "warmup=10 s")


class Kernel:
    """Simulates, and says that it measured; `spoilt` seeds never come out valid."""

    def __init__(self, stop_at: int = 0, spoilt: Sequence[int] = (), factor: float = 1.0) -> None:
        self.stop_at, self.spoilt, self.factor = stop_at, spoilt, factor
        self.seeds: list[int] = []
        self.error: Exception | None = None

    def __call__(
        self,
        scenario: ab.Scenario,
        seeds: Sequence[int],
        *,
        progress: Callable[[float, float], object] | None = None,
        world: str = "linux",
        **options: Any,
    ) -> ab.Result:
        assert world == "linux"
        (seed,) = seeds
        if seed == self.stop_at:
            raise KeyboardInterrupt
        if self.error:
            raise self.error
        self.seeds.append(seed)
        if seed in self.spoilt:
            raise NotValid("no replication was valid; the last because: too late")
        result = ab.run(scenario, seeds, **options)
        (run,) = result.runs
        seen = {"lateness_p99_s": 5e-5, "cpu_fraction": 0.1}
        run.emulator = EmulatorReport.from_json(seen)
        counted = {"lia": {"acks": 100, "missed": 1}}
        run.kernel = KernelReport(congestion_controls=[], controllers=counted, counters={})
        run.valid, run.invalid_because = True, []
        run.flows.throughput_bps = self.factor * run.flows.throughput_bps
        origin = {
            "kernel": platform.release(),
            "controllers": sources(),
            "testbed": TESTBED,
            "rejected": [],
            "failed": [],
            "differences": ["a handshake"],
        }
        return replace(result, world="linux", provenance=result.provenance | origin)


def tell(done: float, total: float, what: str = "") -> None:
    assert 0 <= done <= total


def store(directory: Path, kernel: Kernel | None, said: list[str] | None = None) -> Measurements:
    return Measurements(directory, kernel, (said if said is not None else []).append)


def test_a_measurement_that_was_stopped_goes_on_where_it_stopped(tmp_path: Path) -> None:
    stopped = Kernel(stop_at=3)
    part = store(tmp_path, stopped).run("c-lia-10", CONFIGURATION, 4, tell)
    assert stopped.seeds == [1, 2] and part.seeds == [1, 2]
    assert not part.provenance["complete"]
    kernel = Kernel()
    world = store(tmp_path, kernel)
    assert world.work("c-lia-10", CONFIGURATION, 4) == 2 * (8 + OVERHEAD_S)
    result = world.run("c-lia-10", CONFIGURATION, 4, tell)
    assert kernel.seeds == [3, 4] and result.seeds == [1, 2, 3, 4]
    assert result.provenance["complete"] and result.world == "linux"
    assert world.work("c-lia-10", CONFIGURATION, 4) == 0
    names = sorted(str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*.gz"))
    assert names == [f"c-lia-10/{seed}.json.gz" for seed in (1, 2, 3, 4)]


def test_a_replication_of_a_cell_that_was_run_by_its_name_counts() -> None:
    cell = "c-lia-10-1mib"
    short = ("duration=8 s", "warmup=6 s")
    configuration = PAPERS["khalili"].configurations_of("linux", quick=False)[cell]
    configuration = replace(configuration, overrides=(*configuration.overrides, *short))
    result = Kernel()(ab.load(f"khalili:{cell}"), [1], overrides=list(short))
    assert result.provenance["controller"] is None
    assert unlike(result, configuration, 1) == ""


def test_an_interrupt_before_any_replication_leaves_no_result(tmp_path: Path) -> None:
    lab = Laboratory({"c-lia-10": CONFIGURATION}, 2, world=store(tmp_path, Kernel(stop_at=1)))
    lab.run(["c-lia-10"])
    assert lab.interrupted and not lab.results and not list(tmp_path.rglob("*.gz"))


def test_what_is_kept_is_what_was_measured_to_six_digits(tmp_path: Path) -> None:
    world = store(tmp_path, Kernel())
    world.run("c-lia-10", CONFIGURATION, 1, tell)
    kept = ab.Result.load(world.file("c-lia-10", 1))
    once = ab.run(CONFIGURATION.scenario, [1], controller="lia", overrides=CONFIGURATION.overrides)
    np.testing.assert_allclose(kept.users("multipath"), once.users("multipath"), rtol=1e-6)
    assert kept.plan == once.plan
    assert rounded({"a": [1.23456789, 1234567, None]}) == {"a": [1.23457, 1234567, None]}


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (
            replace(CONFIGURATION, controller="olia"),
            "its classes.multipath.controller is lia, not olia",
        ),
        (
            replace(CONFIGURATION, overrides=("duration=9 s", "warmup=6 s")),
            "its duration_s is 8.0, not 9.0",
        ),
        (replace(CONFIGURATION, scenario="khalili/scenario-a"), "its links.ap1.name is ap1, not "),
        (
            replace(
                CONFIGURATION, overrides=(*CONFIGURATION.overrides, "transport.min_ssthresh=1")
            ),
            "its classes.multipath.min_ssthresh is 2.0, not 1.0",
        ),
    ],
)
def test_a_replication_of_another_configuration_is_measured_anew_and_why_is_said(
    other: Configuration, why: str, tmp_path: Path
) -> None:
    store(tmp_path, Kernel()).run("named", CONFIGURATION, 1, tell)
    said: list[str] = []
    kernel = Kernel()
    store(tmp_path, kernel, said).run("named", other, 1, tell)
    assert kernel.seeds == [1]
    assert len(said) == 1 and why in said[0] and "1.json.gz does not count" in said[0]
    assert "measured anew" in said[0]


def test_a_replication_counts_by_its_seed_and_world_and_not_by_comments(tmp_path: Path) -> None:
    world = store(tmp_path, Kernel())
    result = world.run("named", CONFIGURATION, 1, tell)
    assert unlike(result, CONFIGURATION, 2) == "its seed is [1], not [2]"
    assert unlike(replace(result, world="simulation"), CONFIGURATION, 1).startswith("its world")
    text = f"# a comment\n{result.scenario.text}"
    assert not unlike(replace(result, scenario=ab.Scenario.parse(text)), CONFIGURATION, 1)
    own = (*CONFIGURATION.overrides, "transport.min_ssthresh=2")  # LIA's own floor
    assert not unlike(result, replace(CONFIGURATION, overrides=own), 1)


@pytest.mark.parametrize("content", [b"", b"{}", b'{"kind": "anabranch result"}', b"\x1f\x8bhalf"])
def test_a_damaged_file_is_named_and_left_alone(content: bytes, tmp_path: Path) -> None:
    world = store(tmp_path, Kernel())
    file = world.file("c-lia-10", 1)
    file.parent.mkdir()
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"c-lia-10/1\.json\.gz is damaged"):
        world.run("c-lia-10", CONFIGURATION, 2, tell)
    assert file.read_bytes() == content


def test_a_replication_that_is_not_valid_is_left_out_and_said(tmp_path: Path) -> None:
    said: list[str] = []
    result = store(tmp_path, Kernel(spoilt=[2]), said).run("c-lia-10", CONFIGURATION, 3, tell)
    assert result.seeds == [1, 3] and result.provenance["failed"] == [2]
    assert result.provenance["complete"]
    assert said == [
        "c-lia-10, seed 2 is left out: no replication was valid; the last because: too late"
    ]
    assert not (tmp_path / "c-lia-10/2.json.gz").exists()


def test_the_right_to_measure_is_asked_for_before_a_duration_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse() -> None:
        raise LinuxError("needs root")

    monkeypatch.setattr("anabranch.linux.testbed.checked_rights", refuse)
    told: list[str] = []
    world = Measurements(tmp_path, say=told.append)
    with pytest.raises(LinuxError, match="needs root"):
        world.begin({}, 0, 120.0)
    assert told == []


def test_a_kernel_that_cannot_run_ends_a_measurement_but_not_one_that_has_run(
    tmp_path: Path,
) -> None:
    kernel = Kernel()
    kernel.error = LinuxError("needs root")
    world = store(tmp_path, kernel)
    with pytest.raises(LinuxError, match="needs root"):
        world.run("c-lia-10", CONFIGURATION, 2, tell)
    kernel.error = None
    world.run("c-lia-10", CONFIGURATION, 2, tell)
    kernel.error = NotValid("the calibration is off")
    assert world.run("c-lia-10", CONFIGURATION, 4, tell).seeds == [1, 2]  # two failures in a row
    with pytest.raises(LinuxError):
        world.run("c-lia-10", CONFIGURATION, 5, tell)  # and a third


def test_what_other_controllers_or_another_kernel_gave_is_measured_anew(tmp_path: Path) -> None:
    kernel = Kernel()
    store(tmp_path, kernel).run("c-lia-10", CONFIGURATION, 2, tell)
    file = tmp_path / "c-lia-10" / "2.json.gz"
    for change, why in (
        ({"controllers": "0"}, "compiled from other sources"),
        ({"testbed": 1}, "it is of testbed 1"),
        ({"kernel": "5.4"}, "it is of kernel 5.4"),
    ):
        result = ab.Result.load(file)
        replace(result, provenance=result.provenance | change).save(file)
        said: list[str] = []
        store(tmp_path, kernel, said).run("c-lia-10", CONFIGURATION, 2, tell)
        assert why in said[0] and kernel.seeds[-1] == 2
        assert store(tmp_path, kernel).work("c-lia-10", CONFIGURATION, 2) == 0


def test_without_measuring_what_lies_there_is_taken_with_all_its_seeds(tmp_path: Path) -> None:
    store(tmp_path, Kernel()).run("c-lia-10", CONFIGURATION, 3, tell)
    world = store(tmp_path, None)
    assert world.work("c-lia-10", CONFIGURATION, 20) == 0
    assert world.run("c-lia-10", CONFIGURATION, 20, tell).seeds == [1, 2, 3]
    with pytest.raises(NoResult, match="nothing measured lies there"):
        world.run("c-olia-10", CONFIGURATION, 20, tell)


def test_lengths_of_time_are_in_hours_and_minutes() -> None:
    assert [spoken(s) for s in (20, 600, 3600, 12_240)] == [
        "1 min",
        "10 min",
        "1 h 0 min",
        "3 h 24 min",
    ]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Finding], Laboratory]:
    """Three claims; the kernel gives a tenth less than the simulation."""
    ids = [f"khalili.{id}" for id in ("table3.n10", "topology.c", "alg.olia_responsive")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PAPERS["khalili"], "shortened", SHORT)
        world = store(tmp_path_factory.mktemp("kept"), Kernel(factor=0.9))
        return evaluate("khalili", ids, seeds=3, world=world, quick=True)


def test_a_claim_has_a_verdict_of_the_world_that_measured_it(
    measured: tuple[list[Finding], Laboratory],
) -> None:
    (table, topology, responsive), lab = measured
    assert list(lab.results) == ["c-lia-10"]
    written = table.to_json()
    assert written["world"] == "linux" and written["verdict"] != "not_run"
    obtained = written["obtained"]["multipath"]
    assert obtained["repetitions"] == 3 and len(obtained["interval95"]) == 2
    assert topology.verdict == responsive.verdict == "not_run"
    assert "no measured configuration decides it" in topology.why
    assert (
        responsive.why == "it needs configurations that are only simulated: freed-olia, freed-lia"
    )


def test_the_simulation_of_the_same_configurations_stands_beside_and_differences_are_marked(
    measured: tuple[list[Finding], Laboratory], tmp_path: Path
) -> None:
    (table, *_), lab = measured
    paper = PAPERS["khalili"]
    assert lab.beside is not None and len(lab.beside["c-lia-10"].runs) == 5
    assert lab.beside["c-lia-10"].plan.duration_s == 30
    rows = paper.side_by_side(lab)
    assert [row.users for row in rows] == ["multipath", "single-path"]
    assert list(rows[0].rates) == ["simulation", "linux"]
    assert {"simulated", "on Linux", "difference"} <= set(head(rows))
    multipath = rows[0]
    assert multipath.differs and any(text.endswith(BEYOND) for text in multipath.texts())
    if table.verdict != "reproduced":
        assert "c-lia-10 multipath" in table.why
    page = write_report(paper, [table], lab, tmp_path / "page.html").read_text()
    assert "How it was measured" in page and "on Linux" in page and "Over time" not in page
    (configuration,) = conditions(lab)
    assert configuration.counted["acks"] == 300 and configuration.counted["missed"] == 3
    assert platform.release() in together([configuration])


def test_quick_measures_a_sample_of_the_document_and_all_that_a_named_claim_needs() -> None:
    paper = PAPERS["khalili"]
    world = store(Path("nowhere"), Kernel())
    lab = Laboratory(paper.configurations_of("linux", quick=True), 2, world=world)
    whole, one = list(paper.claims), ["khalili.table6.olia"]
    assert _wanted(paper, whole, lab, quick=True) == list(paper.sampled)
    assert _wanted(paper, whole, lab, quick=False) == list(paper.measured)
    assert _wanted(paper, one, lab, quick=True) == [
        "c-lia-10", "c-olia-10", "c-lia-30", "c-olia-30"
    ]  # fmt: skip
    assert set(paper.sampled) <= set(paper.measured)
    seconds = sum(
        world.work(configuration, lab.configurations[configuration], SEEDS["linux"][1])
        for configuration in paper.sampled
    )
    assert seconds < 12 * 60


def test_every_measured_configuration_fits_the_kernel() -> None:
    from anabranch.linux import fit

    for configuration in PAPERS["khalili"].configurations_of("linux").values():
        plan = ab.load(configuration.scenario).plan(
            controller=configuration.controller, overrides=list(configuration.overrides)
        )
        assert fit.refusals(plan) == []


@pytest.mark.parametrize(
    ("where", "said"),
    [
        (("moon",), "moon"),
        (("simulation", Path("x")), "--keep is for measurements"),
        (("linux", Path("x"), Path(".")), "give one of them"),
        (("linux", None, Path("no/such/place")), "no/such/place"),
    ],
)
def test_options_that_do_not_go_together_are_refused(where: tuple[Any, ...], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Where(*where)


def test_reproduce_judges_what_lies_in_a_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paper = PAPERS["khalili"]
    monkeypatch.setattr(paper, "shortened", SHORT)
    configuration = paper.configurations_of("linux", quick=True)["c-lia-10"]
    out = tmp_path / "out.json"
    there = Where("linux", None, tmp_path)
    ids = ["khalili.table3.n10", "khalili.table3.n30"]
    options = ReproduceOptions(where=there, quick=True, json=out)
    with pytest.raises(ValueError, match="nothing measured lies there"):
        reproduce_command(ids, options)
    store(tmp_path / "quick", Kernel()).run("c-lia-10", configuration, 2, tell)
    reproduce_command(ids, options)
    ten, thirty = json.loads(out.read_text())
    assert ten["world"] == "linux" and ten["obtained"]["multipath"]["repetitions"] == 2
    assert thirty["verdict"] == "not_run" and "nothing measured lies there" in thirty["why"]


def test_the_interval_of_a_difference_is_no_narrower_than_welchs() -> None:
    from scipy.stats import ttest_ind

    a, b = np.array([1.0, 1.2, 0.9, 1.1]), np.array([1.4, 1.5, 1.3, 1.9, 1.6])
    by = difference(interval(a), interval(b))
    low, high = ttest_ind(a, b, equal_var=False).confidence_interval(0.95)
    assert by.mean == pytest.approx((low + high) / 2)
    assert by.low < low and high < by.high
    assert apart(interval(a), interval(b))
    assert not apart(interval(a), interval(a[:1]))  # one replication has no interval
    assert apart(Interval(1.0, 0.0, 1), Interval(2.0, 0.0, 1))


def test_worlds_are_compared_in_order_and_at_least_two() -> None:
    assert checked_worlds("linux, theory") == ["theory", "linux"]
    for wrong in ("linux", "theory,theory", "theory,moon"):
        with pytest.raises(ValueError, match="--worlds"):
            checked_worlds(wrong)


def test_two_measured_worlds_differ_when_their_intervals_do_not_explain_it() -> None:
    a = Interval(1.0, 0.01, 10)
    assert explained(Interval(1.03, 0.01, 3), a, 0.1) == "differs"  # though within the tolerance
    assert explained(Interval(1.005, 0.01, 3), a, 0.1) == "agrees"
    assert explained(Interval(1.2, 0.5, 3), a, 0.1) == "undecided"
    assert agreement(a, 1.03, 0.1) == "agrees"


def test_the_kernel_is_compared_with_only_where_it_is_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr(compare, "measured", lambda *words, **options: pytest.fail("was run"))
    options = compare.CompareOptions(repeat=2, overrides=SHORT, tolerance=9)
    compare.compare_command("khalili/scenario-c", options)
    out = capsys.readouterr().out
    assert "theory" in out and "simulation" in out and "linux" not in out


def test_a_machine_that_cannot_run_the_kernels_part_says_so_before_anything_is_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ValueError, match="needs root"):
        machine.check_machine(lambda: 1000)
    monkeypatch.setattr(machine, "TUN", tmp_path / "tun")
    with pytest.raises(ValueError, match="tun is missing"):
        machine.check_machine(lambda: 0)
    monkeypatch.setattr(compare, "of_world", lambda *words: pytest.fail("was run"))
    options = compare.CompareOptions(worlds="theory,simulation,linux", overrides=SHORT)
    with pytest.raises(ValueError, match=r"needs root|is missing"):
        compare.compare_command("khalili/scenario-c", options)
    assert "real time" not in capsys.readouterr().out


def test_a_root_without_the_rights_of_one_is_told_before_anything_is_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(machine, "TUN", tmp_path)
    monkeypatch.setattr("anabranch.linux.controllers.built", lambda: True)
    monkeypatch.setattr("anabranch.linux.rights.missing", lambda wanted: ["CAP_SYS_ADMIN"])
    monkeypatch.setattr("anabranch.linux.rights.in_user_namespace", lambda: False)
    with pytest.raises(LinuxError, match=r"without CAP_SYS_ADMIN; in a container: --cap-add"):
        machine.check_machine(lambda: 0)


@pytest.mark.parametrize("worlds", ["theory,simulation,linux", "theory,linux"])
def test_a_kernel_that_gives_nothing_valid_costs_no_other_world_its_result(
    worlds: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    def too_late(*words: Any, **options: Any) -> ab.Result:
        raise NotValid("no replication was valid; the last because: too late")

    monkeypatch.setattr("anabranch.linux.run", too_late)
    monkeypatch.setattr(compare, "check_machine", lambda **asked: None)
    file = tmp_path / "x.json"
    options = compare.CompareOptions(
        worlds=worlds, repeat=2, overrides=SHORT, tolerance=9, json=file
    )
    with pytest.raises(compare.typer.Exit) as ended:
        compare.compare_command("khalili/scenario-c", options)
    assert ended.value.exit_code == 2
    out = capsys.readouterr().out
    assert "linux has no answer: no replication was valid; the last because: too late" in out
    assert "theory Mb/s" in out.replace("┃", " ")
    assert list(json.loads(file.read_text())["worlds"]) == worlds.removesuffix(",linux").split(",")


@pytest.mark.parametrize(
    ("words", "options", "said", "left"),
    [
        (
            "khalili/scenario-c",
            {"worlds": "theory,linux", "controller": "phi:0.5"},
            "linux",
            "theory",
        ),
        ("wifi/up", {}, "theory", "simulation"),
    ],
)
def test_a_world_without_an_answer_is_named_and_the_others_are_shown(
    words: str,
    options: dict[str, str],
    said: str,
    left: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    file = tmp_path / "x.json"
    short = ["duration=8 s", "warmup=2 s"]
    wanted = compare.CompareOptions(repeat=2, overrides=short, json=file, **options)
    compare.compare_command(words, wanted)
    out = capsys.readouterr().out
    assert f"{said} has no answer: " in out
    assert list(json.loads(file.read_text())["worlds"]) == [left]


def test_compare_sets_three_worlds_side_by_side(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def on_linux(scenario: ab.Scenario, seeds: Sequence[int], **options: Any) -> ab.Result:
        parts = [Kernel(factor=0.8)(scenario, [seed], **options) for seed in seeds]
        return replace(parts[0], runs=[part.runs[0] for part in parts])

    monkeypatch.setattr(compare, "measured", on_linux)
    monkeypatch.setattr(compare, "check_machine", lambda **asked: None)
    file = tmp_path / "x.json"
    words = ["duration=40 s", "warmup=5 s"]
    options = compare.CompareOptions(
        controller="lia", worlds="theory,simulation,linux", overrides=words, json=file
    )
    with pytest.raises(compare.typer.Exit) as ended:
        compare.compare_command("khalili/scenario-c", options)
    assert ended.value.exit_code == 1
    out = capsys.readouterr().out
    assert "3 replications of 40 s, about 2 min" in out
    assert "by intervals" in " ".join(out.replace("┃", " ").split())
    content = json.loads(file.read_text())
    assert list(content["worlds"]) == ["theory", "simulation", "linux"]
    assert [len(content["worlds"][w]["runs"]) for w in content["worlds"]] == [1, 10, 3]
    assert content["classes"]["multipath"] == "differs"
    pairs = {(d["class"], *d["worlds"]): d for d in content["differences"]}
    assert len(pairs) == 6
    found = pairs["multipath", "simulation", "linux"]
    assert found["word"] == "differs" and found["relative"] == pytest.approx(-0.2, abs=0.03)


def test_an_interrupt_on_the_kernel_keeps_the_worlds_that_had_finished(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def stopped(*words: Any, **options: Any) -> None:
        raise compare.stopped(0, 3)

    monkeypatch.setattr(compare, "measured", stopped)
    monkeypatch.setattr(compare, "check_machine", lambda **asked: None)
    file = tmp_path / "x.json"
    options = compare.CompareOptions(
        worlds="simulation,theory,linux", repeat=2, overrides=SHORT, tolerance=9, json=file
    )
    with pytest.raises(compare.typer.Exit) as ended:
        compare.compare_command("khalili/scenario-c", options)
    assert ended.value.exit_code == 130
    assert list(json.loads(file.read_text())["worlds"]) == ["theory", "simulation"]


@pytest.mark.parametrize(
    ("program", "named"),
    [
        ("/opt/my tools/anabranch", "sudo '/opt/my tools/anabranch' linux load …"),
        (".venv/bin/anabranch", "sudo .venv/bin/anabranch linux load …"),
        ("ipykernel_launcher.py", "sudo .venv/bin/anabranch linux load …"),
    ],
)
def test_a_command_for_root_names_the_program_that_was_run(
    monkeypatch: pytest.MonkeyPatch, program: str, named: str
) -> None:
    monkeypatch.setattr(sys, "argv", [program])
    assert as_root("linux load") == named
