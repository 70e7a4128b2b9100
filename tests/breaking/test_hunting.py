"""Searches from beginning to end, on small networks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from chance import SMALL

pytest.importorskip("optuna")

from anabranch.breaking import hunt
from anabranch.breaking.bench import Bench
from anabranch.breaking.finding import Told, write, write_provisional
from anabranch.breaking.hunting import Hunt, Interrupted, Outcome
from anabranch.breaking.journal import FILE
from anabranch.breaking.kind import Aspects
from anabranch.breaking.network import Network
from anabranch.breaking.own import goal
from anabranch.breaking.searching import Search
from anabranch.breaking.trial import Trial
from anabranch.makers import Core
from anabranch.scenario import load

SHARED = replace(SMALL, links=(1, 1), queues=("droptail",), paths=(2, 2))


def found(outcome: Outcome) -> dict[str, object]:
    """What a finding is made of, to compare."""
    finding = outcome.finding
    assert finding
    return {
        "network": finding.network,
        "value": finding.judged.value,
        "trial": finding.trial,
        "steps": finding.steps,
        "done": outcome.search.done,
    }


@pytest.fixture(scope="module")
def second_share() -> tuple[Bench, Outcome]:
    """The search for the share that uncoupled Reno's second subflow takes."""
    return hunt("reno", "more-than-tcp", ranges=SHARED, trials=60, maker=Core(2))


def test_unguided_it_finds_the_second_share_of_uncoupled_subflows(
    second_share: tuple[Bench, Outcome],
) -> None:
    bench, outcome = second_share
    finding = outcome.finding
    assert finding and finding.judged.value.low > 0.1 and finding.judged.value.n == 20
    assert len(finding.network.links) == 1 and len(finding.network.users) == 2
    assert finding.longer and finding.longer.broken
    assert finding.network.size <= finding.start.size
    assert "less than beside one TCP" in Told(bench, outcome, finding).sentence()


def test_an_engine_of_sweeps_scores_the_same_and_keeps_the_runs(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    from anabranch.sweeps import maker

    few = replace(SHARED, packets=6_000)
    _, threads = hunt("lia", "more-than-tcp", ranges=few, trials=8, maker=Core(2))
    with maker("threads", tmp_path / "runs", 2) as kept:
        _, outcome = hunt("lia", "more-than-tcp", ranges=few, trials=8, maker=kept)
    assert outcome.search.done == 8 and outcome.search.best == threads.search.best
    assert outcome.search.best_network == threads.search.best_network
    assert list((tmp_path / "runs").rglob("*.parquet"))


def test_one_thread_finds_the_same(second_share: tuple[Bench, Outcome]) -> None:
    _, outcome = hunt("reno", "more-than-tcp", ranges=SHARED, trials=60, maker=Core(1))
    assert found(outcome) == found(second_share[1])


def test_an_interrupted_search_goes_on_to_the_same_end(
    second_share: tuple[Bench, Outcome], tmp_path: Path
) -> None:
    class Enough(Exception):
        """Stands for an interrupt."""

    def stop(done: float, total: float, what: str) -> None:
        if done >= 8:
            raise Enough

    with pytest.raises(Enough):
        hunt("reno", "more-than-tcp", ranges=SHARED, trials=60, out=tmp_path, tell=stop)
    journal = tmp_path / FILE
    kept = journal.read_text()
    assert kept.count('"search"') == 8
    journal.write_text(kept + '{"stage": "sea')  # as a killed process leaves it
    _, outcome = hunt("reno", "more-than-tcp", ranges=SHARED, trials=60, out=tmp_path)
    assert found(outcome) == found(second_share[1])
    whole = journal.read_text()
    assert whole.startswith(kept)
    _, again = hunt("reno", "more-than-tcp", ranges=SHARED, trials=60, out=tmp_path)
    assert found(again) == found(outcome) and journal.read_text() == whole


GARBAGE = {
    "null aspects": (b'{"stage": "search", "network": {}, "seeds": [1], "aspects": null}', 2),
    "a text for a value": (
        b'{"network": {}, "seeds": [1], "aspects": {"a": [{"values": ["much"], "limit": null}]}}',
        2,
    ),
    "no UTF-8": (b"\xff\xfe\x00", 2),
    "a list": (b"[1, 2]", 2),
}


@pytest.mark.parametrize("what", GARBAGE)
def test_a_corrupt_line_is_named_and_left_as_it_is(what: str, tmp_path: Path) -> None:
    text, number = GARBAGE[what]
    hunt("reno", "more-than-tcp", ranges=SHARED, trials=1, out=tmp_path)
    journal = tmp_path / FILE
    head, *_ = journal.read_bytes().split(b"\n")
    journal.write_bytes(head + b"\n" + text + b"\n")
    with pytest.raises(ValueError, match=f"{FILE}, line {number}, is no line of a search"):
        hunt("reno", "more-than-tcp", ranges=SHARED, trials=1, out=tmp_path)
    assert journal.read_bytes() == head + b"\n" + text + b"\n"


@pytest.mark.parametrize("text", [b"mine", b'{"kind": "notes"}\n', b"\xff\xfe\n", b"[]\nmore\n"])
def test_a_file_of_somebody_else_is_never_overwritten(text: bytes, tmp_path: Path) -> None:
    journal = tmp_path / FILE
    journal.write_bytes(text)
    for fresh in (False, True):
        with pytest.raises(ValueError, match=f"{FILE} is no journal of a search"):
            hunt("reno", "more-than-tcp", ranges=SHARED, trials=1, out=tmp_path, fresh=fresh)
        assert journal.read_bytes() == text


def test_a_folder_is_of_one_search_at_a_time(tmp_path: Path) -> None:
    def second(done: float, total: float, what: str) -> None:
        with pytest.raises(ValueError, match="is in use by another search"):
            hunt("reno", "more-than-tcp", ranges=SHARED, trials=1, out=tmp_path, fresh=True)

    hunt("reno", "more-than-tcp", ranges=SHARED, trials=1, out=tmp_path, tell=second)
    assert '"optuna"' in (tmp_path / FILE).read_text()


def test_an_interrupt_of_the_shrinking_has_the_smallest_network_so_far(tmp_path: Path) -> None:
    def stop(done: float, total: float, what: str) -> None:
        if "shrinking" in what and not what.endswith(" 1 tried"):
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as interrupt:
        hunt("reno", "more-than-tcp", ranges=SHARED, trials=60, tell=stop)
    bench, outcome = interrupt.value.bench, interrupt.value.outcome
    assert outcome.finding is None and outcome.provisional
    write_provisional(bench, outcome, outcome.provisional, tmp_path)
    plan = load(tmp_path / "found.toml").plan()
    assert plan.title.startswith("Not confirmed: beside reno")


def test_time_that_is_up_leaves_a_finding_that_fresh_seeds_confirm(
    second_share: tuple[Bench, Outcome],
) -> None:
    """Time is up as soon as something is found: the network is confirmed without any shrinking."""
    bench, _ = second_share
    search = Search(bench, SHARED, 0.1, 60)
    search.passed = lambda: float(search.unshrunk > 0)
    with bench.working():
        outcome = Hunt(search).run()
    assert outcome.finding and outcome.finding.steps == 0
    assert outcome.finding.network == outcome.finding.start


def test_no_seed_is_used_twice_for_confirmation(second_share: tuple[Bench, Outcome]) -> None:
    bench, outcome = second_share
    assert outcome.finding
    seen: list[int] = []
    hunt_again = Hunt(outcome.search)
    score = bench.score

    def noted(network: Network, seeds: Sequence[int], stage: str) -> Aspects:
        assert stage == "confirm"
        seen.extend(seeds)
        return score(network, seeds, stage)

    bench.score = noted  # type: ignore[method-assign]
    with bench.working():
        assert hunt_again._confirmed(outcome.finding.network)
        looks = hunt_again.looks
        assert hunt_again._confirmed(outcome.finding.network)
    bench.score = score  # type: ignore[method-assign]
    assert len(seen) == len(set(seen)) and hunt_again.looks > looks >= 1


def test_a_folder_with_another_search_is_refused(tmp_path: Path) -> None:
    hunt("reno", "more-than-tcp", ranges=SHARED, trials=2, out=tmp_path)
    with pytest.raises(ValueError, match=r"another controller: 'reno', not 'lia'.*--fresh"):
        hunt("lia", "more-than-tcp", ranges=SHARED, trials=2, out=tmp_path)
    hunt("lia", "more-than-tcp", ranges=SHARED, trials=2, out=tmp_path, fresh=True)


def test_what_cannot_be_broken_is_not_found_in_all_trials() -> None:
    single = replace(SMALL, links=(1, 1), paths=(1, 1))
    _, outcome = hunt("reno", "more-than-tcp", ranges=single, trials=24)
    assert outcome.finding is None and outcome.search.done == 24
    assert outcome.search.best == pytest.approx(-0.1)


def test_noise_is_not_a_finding() -> None:
    """A score without a cause is beyond the limit in some trials, and fresh seeds refute it."""

    @goal(limit=0.0)
    def noise(trial: Trial) -> object:
        return np.array([np.sin(1e4 * seed * len(trial.plan.links)) for seed in trial.seeds])

    _, outcome = hunt("reno", noise, ranges=SMALL, trials=40)
    assert outcome.finding is None


def test_a_finding_is_written_with_all_that_repeats_it(
    second_share: tuple[Bench, Outcome], tmp_path: Path
) -> None:
    bench, outcome = second_share
    assert outcome.finding
    told = Told(bench, outcome, outcome.finding)
    files = write(told, tmp_path)
    assert all(file.stat().st_size > 500 for file in files)
    plan = load(tmp_path / "found.toml").plan()
    assert "less than beside one TCP" in plan.title and plan.classes[0].name == "subject"
    assert (
        f"anabranch break reno --goal more-than-tcp --limit 0.1 --seed 1 --trials {outcome.search.done} "
        in plan.source
    )
    content = json.loads((tmp_path / "found.json").read_text())
    assert content["found"] and content["trials"] == outcome.search.done
    assert content["replay"].endswith("--goal more-than-tcp")
    before = [file.read_bytes() for file in files]
    write(told, tmp_path)
    assert [file.read_bytes() for file in files] == before
