"""Advice: links as text, the choice, and what is said of it."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from anabranch.advice import (
    CANDIDATES,
    Advice,
    Case,
    Link,
    Outcome,
    advise,
    commands,
    diseases,
    parse,
)
from anabranch.advice.candidates import Situation, Span
from anabranch.advice.links import distinct
from anabranch.advice.saying import of_settings, steps, unknown, verdict
from anabranch.advice.settings import Setting
from anabranch.cli.application import app
from anabranch.statistics import Interval


def test_a_link_is_read_in_any_order_and_with_what_is_known() -> None:
    whole = Link("dsl", 16_000_000, 2_400_000, 0.03, 400, 0.01, 2)
    assert parse("dsl: 16 Mb/s up 2.4, 30 ms, 400 packets, 1 %, 2 others") == whole
    assert parse("dsl: 2 others, 1 % loss, 400 packets, 30 ms, 16 Mb/s up 2400 kb/s") == whole
    assert parse("lte:20Mbit/s") == Link("lte", 20_000_000)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("16 Mb/s", "has no name"),
        ("dsl: 30 ms", "has no rate"),
        ("dsl: 16 Mb/s, 20 Mb/s", "says down_bps again"),
        ("dsl: 16 Mb/s, soon", "'soon' is no rate, round trip"),
        ("dsl: 16 Mb/s, 70 %", "below 50 %"),
        ("dsl: 16 Mb/s, 0 packets", "at least 1 packet"),
        ("dsl: 0 Mb/s", "zero"),
    ],
)
def test_a_wrong_link_is_named_with_what_would_be_right(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse(text)


@given(st.text(max_size=60))
def test_any_text_is_a_link_or_an_error(text: str) -> None:
    with suppress(ValueError):
        assert parse(text).down_bps > 0


def test_advice_is_for_links_with_names_of_their_own() -> None:
    with pytest.raises(ValueError, match="two links or more"):
        distinct([Link("a", 1_000_000)])
    with pytest.raises(ValueError, match="two links are called a"):
        distinct([Link("a", 1_000_000), Link("a", 2_000_000)])


GLUE = Path(__file__).parents[1] / "bpf"

LINKS = (
    Link("a", 10_000_000, None, 0.02, 100, None, 1),
    Link("b", 20_000_000, None, 0.03, 100, None, 1),
)


def outcome(controller: str, mbps: float, kept: float, joint: tuple[float, float]) -> Outcome:
    """Numbers of a candidate, without intervals."""
    candidate = next(one for one in CANDIDATES if one.controller == controller)
    return Outcome(candidate, case(mbps, kept), case(*joint))


def case(mbps: float, kept: float) -> Case:
    """Numbers without intervals."""
    rate_bps = mbps * 1e6
    return Case(Interval(rate_bps, 0.0, 4), (rate_bps, rate_bps), Interval(kept, 0.0, 4), 0.1)


OUTCOMES = (
    outcome("cubic", 25.0, 1.0, (14.0, 0.6)),
    outcome("lia", 15.0, 1.2, (8.0, 1.0)),
    outcome("lia+sbd", 24.0, 1.0, (8.0, 1.0)),
)


def advice(shared: bool | None) -> Advice:
    """Advice from these numbers."""
    return Advice(Situation(LINKS, False, 2**23), shared, OUTCOMES, Interval(12e6, 0.0, 4))


def test_the_fastest_harmless_candidate_is_advised_for_what_is_known() -> None:
    assert advice(False).best.candidate.controller == "cubic"
    assert advice(True).best.candidate.controller == "lia"
    assert advice(None).best.candidate.controller == "lia+sbd"


def test_the_verdict_says_both_cases_where_it_is_not_known_whether_links_share() -> None:
    assert verdict(advice(False)) == "Use cubic (25 Mb/s, 2.1 times one link)."
    said = verdict(advice(True))
    assert said.startswith(
        "Use lia (8 Mb/s, no more than one link; cubic is faster and leaves others 60 %)"
    )
    said = verdict(advice(None))
    assert "If the links share no bottleneck, use cubic" in said
    assert said.endswith("Not knowing, use lia+sbd, which harms nobody.")


def test_the_commands_load_and_unload_what_is_advised() -> None:
    do, undo = commands(advice(None))
    assert do[:3] == [
        "sudo anabranch linux load lia+sbd",
        "sudo anabranch linux couple lia+sbd &",
        "sudo sysctl -w net.ipv4.tcp_congestion_control=ab_lia",
    ]
    assert "sudo anabranch linux unload lia+sbd" in undo
    do, undo = commands(advice(False))
    assert do[0] == "sudo sysctl -w net.ipv4.tcp_congestion_control=cubic"
    assert not any("anabranch" in line for line in [*do, *undo])


def test_a_larger_buffer_is_for_the_host_that_receives() -> None:
    small = replace(advice(False), situation=Situation(LINKS, False, 2**18))
    do, undo = commands(small)
    assert not any("tcp_rmem" in line for line in [*do, *undo])
    said = dict(steps(small))
    assert "tcp_rmem" in said["On the host that receives"][0]
    assert "6291456" in said["To undo it on the host that receives"][0]
    assert "On the host that receives" not in dict(steps(advice(False)))


def test_the_commands_have_the_kernels_own_name_of_every_candidate() -> None:
    glue = "\n".join(file.read_text() for file in GLUE.glob("*.bpf.c"))
    table = re.findall(r'AB_CONTROLLER\("(\w+)"\)', glue)
    for candidate in CANDIDATES:
        if candidate.loaded:
            best = outcome(candidate.controller, 24.0, 1.0, (8.0, 1.0))
            do, _ = commands(replace(advice(False), outcomes=(best,)))
            chosen = [line.split("=")[1] for line in do if "congestion_control=" in line]
            assert chosen and chosen[0] in table, chosen


def test_diseases_of_links_are_named_with_their_remedies() -> None:
    slow = Link("slow", 2_000_000, None, 0.3, 400)
    said = "\n".join(diseases(Situation((LINKS[0], slow), False, 2**19)))
    assert "slow has a queue of 2.4 s: limit its rate" in said
    assert "the receive buffer is too small: 0.5 MiB" in said
    assert "a and slow are too unequal for the buffer" in said
    assert diseases(Situation(LINKS, False, 2**24)) == []


def test_what_was_assumed_is_said() -> None:
    bare = Situation((Link("x", 10**7), LINKS[0]), False, 2**23)
    found = unknown(Advice(bare, None, OUTCOMES, Interval(1e6, 0.0, 4)))
    assert [line for line in found if line.startswith("x: its round trip")]
    assert [line for line in found if line.startswith("whether the links share")]
    assert not [line for line in found if line.startswith("a:")]


def setting(scheduler: str, mib: int, mbps: float, half: float = 0.0) -> Setting:
    """Numbers of a setting."""
    return Setting(
        scheduler, mib * 2**20, Interval(1e6 * mbps, 1e6 * half, 4), Interval(1.0, 0.0, 4), 1e6
    )


@pytest.mark.parametrize(
    ("others", "said"),
    [
        ((setting("blest", 1, 10.4),), "No other scheduler or receive buffer gives 5 % more."),
        ((setting("blest", 1, 12.0, half=3.0),), "No other scheduler or receive buffer gives"),
        ((setting("blest", 1, 12.0),), "The scheduler blest would give 20 % more."),
        (
            (setting("blest", 1, 12.0), setting("linux", 4, 15.0)),
            "A receive buffer of 4 MiB would give 50 % more.",
        ),
    ],
)
def test_a_scheduler_or_buffer_is_named_where_it_certainly_gives_more(
    others: tuple[Setting, ...], said: str
) -> None:
    settings = (setting("linux", 1, 10.0), *others)
    assert of_settings(replace(advice(False), settings=settings)).startswith(said)


def test_a_small_receive_buffer_costs_what_a_larger_one_gives_back() -> None:
    far = (LINKS[0], Link("far", 20_000_000, None, 0.2, 300, None, 0))
    only = [one for one in CANDIDATES if one.controller == "reno"]
    found = advise(
        far, buffer_bytes=2**18, shared=False, seeds=4, span=Span(60.0, 20.0), candidates=only
    )
    first, *others = found.settings
    needed = found.situation.needed_bytes
    (larger,) = [one for one in others if one.buffer_bytes == needed]
    assert larger.goodput_bps.low > 1.5 * first.goodput_bps.high
    assert first.held_bytes <= 2**18 < larger.held_bytes <= needed
    redundant = next(one for one in others if one.scheduler == "redundant")
    assert redundant.goodput_bps.mean < 20e6  # one copy of each byte: at most the faster link
    assert {one.scheduler for one in found.settings} >= {"linux", "min-rtt", "blest", "ecf"}


def test_simulated_advice_obeys_the_physics() -> None:
    """No candidate is faster than its links, and uncoupled paths take more than coupled ones."""
    found = advise(LINKS, seeds=4, span=Span(90.0, 30.0))
    apart = {one.candidate.controller: one.case(False) for one in found.outcomes}
    joint = {one.candidate.controller: one.case(True) for one in found.outcomes}
    assert all(case.rate_bps.mean < 30e6 for case in apart.values())
    assert all(case.rate_bps.mean < 20e6 for case in joint.values())
    assert joint["cubic"].harms and not joint["lia"].harms and not joint["lia+sbd"].harms
    assert apart["lia+sbd"].rate_bps.mean > 1.05 * apart["lia"].rate_bps.mean
    for case in [*apart.values(), *joint.values()]:
        low, high = case.between_bps
        assert low < case.rate_bps.low < case.rate_bps.high < high


def test_the_command_prints_advice_and_writes_json(tmp_path: Path) -> None:
    words = ["advise", "--link", "a: 5 Mb/s, 20 ms", "--link", "b: 8 Mb/s, 30 ms", "--repeat", "2"]
    file = tmp_path / "a.json"
    done = CliRunner().invoke(app, [*words, "--shared", "no", "--json", str(file)])
    assert done.exit_code == 0, done.output
    written = json.loads(file.read_text())
    assert written["verdict"].split(" (")[0] == f"Use {written['advised']}"
    assert len(written["candidates"]) == len(CANDIDATES)
    assert "On the host that sends:" in done.output


def test_wrong_options_are_named() -> None:
    two = ["advise", "--link", "a: 5 Mb/s", "--link", "b: 8 Mb/s"]
    for words, said in [
        (two[:3], "two links or more"),
        ([*two, "--shared", "perhaps"], "perhaps"),
        ([*two, "--direction", "sideways"], "sideways"),
        ([*two, "--shared", "no", "--shared-rate", "5 Mb/s"], "rules out"),
        ([*two, "--shared-rate", "5"], "unit"),
    ]:
        done = CliRunner().invoke(app, words)
        assert done.exit_code != 0
        assert said in done.output + str(done.exception)
