"""Records: dataclasses that share one constructor."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import pytest

from anabranch import fairness
from anabranch.cli.application import app, called, only
from anabranch.planned_network import DropTail
from anabranch.runs import Conservation


def test_a_field_that_is_missing_or_unknown_is_named() -> None:
    with pytest.raises(TypeError, match=r"DropTail\(\) lacks 'limit_bytes'"):
        DropTail(limit_packets=5)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"DropTail\(\) has no 'limits'"):
        DropTail(limit_packets=5, limit_bytes=None, limits=1)  # type: ignore[call-arg]


def test_records_are_dataclasses_to_all_that_take_them() -> None:
    queue = DropTail(limit_packets=5, limit_bytes=None)
    assert queue.kind == "droptail"
    assert repr(queue) == "DropTail(kind='droptail', limit_packets=5, limit_bytes=None)"
    longer = dataclasses.replace(queue, limit_packets=6)
    assert longer != queue and longer == DropTail(limit_packets=6, limit_bytes=None)
    assert dataclasses.asdict(longer)["limit_packets"] == 6
    for same in (copy.deepcopy(queue), pickle.loads(pickle.dumps(queue))):
        assert same == queue and hash(same) == hash(queue)


def test_a_frozen_record_does_not_change_and_another_has_no_hash() -> None:
    queue = DropTail(limit_packets=5, limit_bytes=None)
    with pytest.raises(dataclasses.FrozenInstanceError):
        queue.limit_packets = 6  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        del queue.limit_packets
    counts = Conservation(sent=1, copied=0, delivered=1, dropped=0, in_flight=0)
    counts.sent = 2
    with pytest.raises(TypeError, match="unhashable"):
        hash(counts)


def test_every_part_of_fairness_is_found() -> None:
    assert set(fairness._HOMES) == set(fairness.__all__)
    assert all(getattr(fairness, name) is not None for name in fairness.__all__)
    assert fairness.audit.NETWORKS is fairness.NETWORKS


def test_all_commands_are_there_again_after_one_was_run() -> None:
    names = [called(one) for one in app.registered_commands]
    with only(["run"]):
        assert [called(one) for one in app.registered_commands] == ["run"]
    with only(["linux"]):
        assert not app.registered_commands
    with only(["nonsense"]):
        assert [called(one) for one in app.registered_commands] == names
    assert [called(one) for one in app.registered_commands] == names
