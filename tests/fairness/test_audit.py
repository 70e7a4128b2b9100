"""The audit: every controller in the same networks, by both definitions."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import ClassVar

import pytest

import anabranch as ab
from anabranch import fairness
from anabranch.fairness import NETWORKS, Audit
from anabranch.fairness.audit import registered
from anabranch.makers import Core
from anabranch.plot import verdicts

SHORT = tuple(
    replace(network, overrides=(*network.overrides, "duration=60 s", "warmup=20 s"))
    for network in NETWORKS
)


@pytest.fixture(scope="module")
def audited() -> Audit:
    audit = Audit(["reno", "multi-priority"], [1, 2, 3], SHORT)
    audit.run()
    return audit


def test_tcps_are_unfair_where_paths_share_and_multi_priority_is_fair(audited: Audit) -> None:
    reno, fair = audited.of("reno"), audited.of("multi-priority")
    assert [*reno] == [network.name for network in NETWORKS]
    assert reno["one path"].word == "stringent"
    assert reno["one path"].of_bound == pytest.approx(1.0)  # it is its own reference
    assert reno["shared"].word == "neither" and reno["two paths"].word == "lenient"
    assert reno["empty"].word == "stringent" and reno["empty"].utilisation.mean > 0.8
    assert all(one.of_bound <= 1.1 for one in fair.values())


def test_the_audit_says_the_same_as_a_judgement(audited: Audit) -> None:
    (network,) = (one for one in SHORT if one.name == "unequal")
    overrides = [*network.overrides, "flow.ensemble.fair.definition=stringent"]
    (alone,) = fairness.judge(network.source, [1, 2, 3], controller="reno", overrides=overrides)
    assert alone.fairness == audited.of("reno")["unequal"].fairness


def test_references_are_made_once_and_progress_ends_with_all_runs() -> None:
    told: list[tuple[float, float, str]] = []
    audit = Audit(["reno", "olia"], [1], SHORT[1:3])
    audit.run(lambda done, whole, what: told.append((done, whole, what)))
    # Four paths that are alike are one TCP; each network is run without the ensemble, and by each
    # controller.
    assert {whole for _, whole, _ in told} == {8}
    assert told[-1] == (8, 8, "drop-tail: olia")
    assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)


def test_every_controller_is_registered_and_one_that_is_not_is_refused() -> None:
    names = registered()
    assert [name.split(":")[0] for name in names] == [law["name"] for law in ab._core.controllers()]
    assert Audit().controllers == names
    with pytest.raises(
        ab.ScenarioError, match="there is no controller `oila`; did you mean `olia`"
    ):
        Audit(["olia", "oila"])


class Stopped(Core):
    """Is interrupted in its fourth run."""

    seen: ClassVar[list[object]] = []

    def run(self, *words, **options):
        self.seen.append(words)
        result = super().run(*words, **options)
        result.provenance["complete"] = len(self.seen) < 4
        return result


def test_an_interrupt_keeps_what_had_finished() -> None:
    audit = Audit(["reno", "olia"], [1], SHORT[:2], Stopped())
    audit.run()
    assert audit.interrupted and [one.controller for one in audit.entries] == ["reno"]
    assert not audit.to_json()["complete"]


def test_an_audit_is_data_and_a_picture(audited: Audit) -> None:
    content = json.loads(json.dumps(audited.to_json()))
    assert content["kind"] == "anabranch audit" and content["complete"]
    assert len(content["entries"]) == 2 * len(NETWORKS) == 2 * len(content["networks"])
    (axes,) = verdicts(audited).axes
    assert [text.get_text() for text in axes.get_yticklabels()] == ["reno", "multi-priority"]
    with pytest.raises(ValueError, match="nothing to draw"):
        verdicts(Audit(["reno"], [1]))
