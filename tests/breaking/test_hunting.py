"""Searches from beginning to end, on small networks."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from chance import SMALL

pytest.importorskip("optuna")

from anabranch.breaking import hunt
from anabranch.breaking.bench import Bench
from anabranch.breaking.finding import Told, write
from anabranch.breaking.hunting import Outcome
from anabranch.breaking.journal import FILE
from anabranch.breaking.own import goal
from anabranch.breaking.trial import Trial
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
    return hunt("reno", "more-than-tcp", ranges=SHARED, trials=60, threads=2)


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


def test_one_thread_finds_the_same(second_share: tuple[Bench, Outcome]) -> None:
    _, outcome = hunt("reno", "more-than-tcp", ranges=SHARED, trials=60, threads=1)
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
    assert "anabranch break reno" in plan.source
    content = json.loads((tmp_path / "found.json").read_text())
    assert content["found"] and content["trials"] == outcome.search.done
    assert content["replay"].endswith("--goal more-than-tcp")
    before = [file.read_bytes() for file in files]
    write(told, tmp_path)
    assert [file.read_bytes() for file in files] == before
