"""What `anabranch linux status` selects, exposes as metrics, and finds of shared bottlenecks."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer

from anabranch.cli import status as command
from anabranch.cli.application import app
from anabranch.cli.terminal import console
from anabranch.linux import exposition as metrics
from anabranch.linux import selection as selecting
from anabranch.linux.observe import ConnectionStatus, Status, connections
from anabranch.linux.sampling import SampledConnection, SampledSubflow
from anabranch.linux.selection import Selection, selection
from anabranch.linux.summary import deciles
from anabranch.sharing.live import Watched, judged
from test_cli_status import COUNTERS, SOCKET, controller, of_two_subflows

OF_IPV6 = replace(SOCKET, local="[2001:db8::7]:443", remote="[2001:db8:1::1]:50001", connection=0)


def taken(*words: str) -> list[str]:
    """The controllers of the connections that options select: two of IPv4 and one of IPv6."""
    rows = [SOCKET, replace(OF_IPV6, controller="ab_lia"), replace(OF_IPV6, controller="ab77_oli")]
    chosen = selected(*words)
    found = list(connections(rows))
    return sorted(one.controller for one in found if chosen.takes(one.controller, one.ends))


def selected(*words: str) -> Selection:
    """The selection of the words of a command line."""
    given: dict[str, Any] = {"controllers": []}
    for option, value in zip(words[::2], words[1::2], strict=True):
        if option == "--controller":
            given["controllers"].append(value)
        else:
            given[option[2:]] = int(value) if option == "--port" else value
    return selection(**given)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("", ["ab77_oli", "ab_lia", "ab_olia"]),
        ("--controller olia", ["ab77_oli", "ab_olia"]),
        ("--controller ab_olia --controller lia", ["ab_lia", "ab_olia"]),
        ("--controller lia+sbd", ["ab_lia"]),
        ("--controller law_gentle", []),
        ("--address 203.0.113.0/24", ["ab_olia"]),
        ("--address 198.51.100.102", ["ab_olia"]),
        ("--address 2001:db8::/48", ["ab77_oli", "ab_lia"]),
        ("--port 443", ["ab77_oli", "ab_lia"]),
        ("--port 50001 --address 2001:db8:1::1 --controller lia", ["ab_lia"]),
        ("--port 443 --address 2001:db8:1::1 --controller lia", ["ab_lia"]),
        ("--port 443 --address 203.0.113.0/24", []),
    ],
)
def test_connections_are_selected_by_controller_and_by_either_end(
    words: str, found: list[str]
) -> None:
    assert taken(*words.split()) == found


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--controller oliva", "--controller is 'oliva'; did you mean `olia`?"),
        ("--address 10.0.0.300", "--address is '10.0.0.300'; it is an address or a network"),
        ("--port 70000", "--port is 70000; it is from 1 to 65535"),
        ("--namespace nowhere", "--namespace is 'nowhere'; it is a name of `ip netns`"),
        ("--namespace ../mnt", "--namespace is '../mnt'; it is a name of `ip netns`"),
    ],
)
def test_a_wrong_option_is_named_with_its_value_and_what_would_be_right(
    words: str, said: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        selected(*words.split())


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"watch": 0.01}, "--watch is 0.01; it is from 0.1 to 3600 seconds"),
        ({"shared": 4.0}, "--shared is 4; it is from 5 to 600 seconds"),
        ({"shared": float("nan")}, "--shared is nan"),
        ({"shared": 20.0, "watch": 1.0}, "leave --watch out"),
        ({"shared": 20.0, "metrics": Path("-")}, "leave --metrics out"),
        ({"metrics": Path("-"), "json": Path("-")}, "two forms of the output"),
    ],
)
def test_options_that_exclude_each_other_are_refused(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        command.Asked(**asked).check()


@pytest.mark.parametrize(
    ("words", "given"),
    [
        (["--shared"], ("20", None)),
        (["--shared", "--wide"], ("20", None)),
        (["--shared", "30"], ("30", None)),
        (["--metrics"], (None, "-")),
        (["--metrics", "a.prom", "--watch", "5"], (None, "a.prom")),
    ],
)
def test_an_option_alone_stands_for_its_usual_value(
    words: list[str], given: tuple[str | None, str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[command.Asked] = []
    monkeypatch.setattr(command, "status_command", asked.append)
    linux = typer.main.get_command(app).commands["linux"]  # type: ignore[attr-defined]
    linux.commands["status"].main(words, standalone_mode=False)
    (one,) = asked
    shared = None if given[0] is None else float(given[0])
    assert (one.shared, one.metrics) == (shared, given[1] and Path(given[1]))


def test_a_namespace_goes_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "blue").touch()
    monkeypatch.setattr(selecting, "NAMED", tmp_path)
    number = (tmp_path / "blue").stat().st_ino
    assert selection(namespace="blue").namespace == number
    assert selection(namespace="4026531840").namespace == 4026531840
    assert selecting.named_namespaces() == {number: "blue"}


def test_deciles_are_between_the_least_and_the_largest_value() -> None:
    assert deciles([]) is None and deciles([0.5]) == (0.5, 0.5, 0.5)
    assert deciles([float(n) for n in range(11)]) == (1.0, 5.0, 9.0)


def test_json_has_a_line_for_each_connection_and_no_infinity() -> None:
    rows = [replace(SOCKET, ssthresh_segments=float("inf"), connection=n) for n in (1, 2)]
    status = Status(controllers=[controller()], connections=list(connections(rows)))
    text = command.document(status, on_one_line=False)
    content = json.loads(text, parse_constant=pytest.fail)
    assert len(text.splitlines()) == 5 and set(content) == {"controllers", "connections"}
    (subflow,) = content["connections"][0]["subflows"]
    assert subflow["ssthresh_segments"] is None and subflow["cwnd_segments"] == 12.5
    assert content["controllers"][0]["counters"] == COUNTERS
    on_one_line = command.document(status, on_one_line=True)
    assert on_one_line.count("\n") == 1 and json.loads(on_one_line) == content


def parsed(text: str) -> dict[str, tuple[str, dict[tuple[tuple[str, str], ...], float]]]:
    """The families of a text in OpenMetrics, each with its type and its samples: strictly what
    the standard (OpenMetrics 1.0, ABNF) allows of what we write."""
    name, label = r"[a-zA-Z_:][a-zA-Z0-9_:]*", r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
    sample = re.compile(rf"({name})(?:\{{({label}(?:,{label})*)?\}})? (\+Inf|-?[0-9.e+-]+)")
    assert text.endswith("# EOF\n")
    families: dict[str, Any] = {}
    current, helped = "", ""
    for line in text.removesuffix("# EOF\n").splitlines():
        if line.startswith("# HELP "):
            helped = line.split(" ")[2]
            assert helped not in families, "a family stands together"
            continue
        if line.startswith("# TYPE "):
            _, _, current, kind = line.split(" ")
            assert current == helped and kind in ("gauge", "counter")
            families[current] = (kind, {})
            continue
        match = sample.fullmatch(line)
        assert match, line
        kind, samples = families[current]
        assert match[1] == current + "_total" * (kind == "counter")
        labels = tuple(re.findall(r'([a-zA-Z_]+)="((?:[^"\\]|\\.)*)"', match[2] or ""))
        assert labels not in samples and len(dict(labels)) == len(labels)
        samples[labels] = float(match[3])
        assert kind == "gauge" or samples[labels] >= 0
    return families


def many(count: int, name: str = "ab_olia") -> list[ConnectionStatus]:
    return [replace(of_two_subflows(number), controller=name) for number in range(1, count + 1)]


def test_metrics_are_openmetrics_with_series_for_each_controller_and_none_for_a_connection() -> (
    None
):
    counters = COUNTERS | {"acks": 12, "missed": 3}
    loaded = controller(name="ab_olia", sockets=9, listening=2, counters=counters)
    sizes = []
    for count in (1, 300):
        found = [*many(count), *many(2, "ab123_lia"), replace(many(1)[0], departed=True)]
        families = parsed(metrics.exposition(Status(controllers=[loaded], connections=found)))
        sizes.append(sum(len(samples) for _, samples in families.values()))
    assert sizes[0] == sizes[1]
    values = {name: samples for name, (_, samples) in families.items()}
    own, other = ("controller", "ab_olia"), ("controller", "other")
    assert families["anabranch_acks"] == ("counter", {(own,): 12})
    assert values["anabranch_missed_acks"] == {(own,): 3}
    assert values["anabranch_connections"][own, ("protocol", "mptcp")] == 300
    assert values["anabranch_connections"][other, ("protocol", "mptcp")] == 3
    assert values["anabranch_subflows"] == {(own,): 600, (other,): 6}
    assert values["anabranch_cwnd_segments"][own,] == pytest.approx(300 * 14.75)
    assert values["anabranch_controllers"] == {(): 1}
    growth = values["anabranch_subflows_growth"]
    ends = [dict(labels)["le"] for labels in growth if own in labels]
    assert ends == sorted(ends, key=float) and ends[-1] == "+Inf"
    rising = [growth[own, ("le", end)] for end in ends]
    assert rising == sorted(rising) and rising[-1] == 600


def test_metrics_of_nothing_say_that_no_controller_is_loaded_and_labels_are_escaped() -> None:
    families = parsed(metrics.exposition(Status(controllers=[], connections=[])))
    assert families == {"anabranch_controllers": ("gauge", {(): 0.0})}
    assert metrics.escaped('a"b\\c\nd') == 'a\\"b\\\\c\\nd'


def queue(seconds: float, seed: int) -> np.ndarray[Any, Any]:
    """The delay in a queue every 10 ms: noise that lasts some 50 ms."""
    steps = np.random.default_rng(seed).normal(size=int(seconds * 100) + 5)
    return 0.01 + 0.002 * np.convolve(steps, np.ones(5), "valid")[: int(seconds * 100)]


def subflow(delay: np.ndarray[Any, Any], number: int = 1, every: int = 1) -> SampledSubflow:
    """A subflow whose packets waited so long, of which every so many were read."""
    sent = np.arange(len(delay))[::every] * 0.01
    own = 0.03 * number + np.abs(delay[::every])
    socket = replace(SOCKET, local=f"203.0.113.{number}:40001", group=0)
    return SampledSubflow(socket, sent, own, np.full(len(sent), 0.05), np.array([]))


def test_subflows_of_one_queue_share_others_do_not_and_few_samples_say_nothing() -> None:
    one, other = queue(20, 1), queue(20, 2)
    rows = [subflow(one, 1), subflow(one, 2), subflow(other, 3), subflow(one[:90], 4)]
    verdict = judged(SampledConnection("ab_lia", 1, rows))
    assert verdict.bottlenecks == [1, 1, 2, None] and verdict.said == "2 bottlenecks"
    sure = {(a, b): confidence for a, b, confidence in verdict.pairs if confidence is not None}
    assert sure[0, 1] > 0.9 and sure[0, 2] < 0.1 and (0, 3) not in sure
    words = [pair["said"] for pair in verdict.to_json()["pairs"]]
    assert words == ["share", "do not share", *["not known", "do not share"], *["not known"] * 2]
    short = judged(SampledConnection("ab_lia", 1, [subflow(one[:90]), subflow(one)]))
    assert short.said == "not known" and short.bottlenecks == [None, None]
    two = judged(SampledConnection("ab_lia", 1, [subflow(one, 1, 2), subflow(one, 2, 2)]))
    assert two.said == "share", "every second round trip is enough"


@pytest.mark.parametrize("columns", [80, 120])
def test_what_is_found_of_nine_subflows_of_ipv6_fits_its_lines(
    columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    one = queue(20, 1)
    rows = [subflow(one, number) for number in range(1, 10)]
    rows = [
        replace(row, socket=replace(row.socket, local=f"[2001:db8:{n}::5678:9abc:def0]:40001"))
        for n, row in enumerate(rows)
    ]
    verdict = judged(SampledConnection("ab_fullycoupled", 1, rows))
    out = io.StringIO()
    monkeypatch.setattr(command, "console", lambda: console_to(out))
    command.show_shared(Watched("correlation", 20.0, 1990, [verdict]))
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= columns and "1 bottleneck" in out.getvalue()
    assert sum(":40001" in line for line in lines) == 9
    assert "9 subflows" in out.getvalue() and ("2,000" in out.getvalue() or columns == 80)


def test_connections_of_one_subflow_are_counted_and_not_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = io.StringIO()
    monkeypatch.setattr(command, "console", lambda: console_to(out))
    one = queue(20, 1)
    alone = judged(SampledConnection("ab_lia", 1, [subflow(one, 9)]))
    command.show_shared(Watched("correlation", 20.0, 1990, [alone]))
    assert out.getvalue().startswith("no connection of MPTCP with two subflows")
    two = judged(SampledConnection("ab_lia", 1, [subflow(one, 1), subflow(one, 2)]))
    command.show_shared(Watched("correlation", 20.0, 1990, [alone, two]))
    assert "203.0.113.9" not in out.getvalue() and "203.0.113.1" in out.getvalue()
    assert "1 connection of one subflow is not compared" in out.getvalue()


def console_to(out: io.StringIO) -> Any:
    """The command's console on another stream."""
    made = console()
    made.file = out
    return made
