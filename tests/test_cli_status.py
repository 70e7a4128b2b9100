"""What `anabranch linux status` prints of connections: readable on 80 columns, however many."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Group

from anabranch import _core
from anabranch.cli import status as command
from anabranch.cli import terminal
from anabranch.cli.connections import MOST_CONNECTIONS, tables
from anabranch.cli.terminal import console
from anabranch.linux import observe
from anabranch.linux.observe import (
    ConnectionStatus,
    ControlledSocket,
    ControllerStatus,
    Status,
    connections,
)

SOCKET = ControlledSocket(
    controller="ab_olia",
    begun=True,
    backup=False,
    local="203.0.113.101:40001",
    remote="198.51.100.102:50001",
    connection=7,
    state=1,
    ca_state=0,
    cwnd_segments=12.5,
    ssthresh_segments=8,
    srtt_s=0.045,
    growth=0.02,
    since_loss=100,
    between_losses=50,
    delivered=1000,
    losses=4,
    missed=0,
    repairs=0,
    paths=2,
    group=0,
)
COUNTERS = dict.fromkeys(("acks", "coupled", "losses", "missed", "repairs", "crowded"), 0)


def of_two_subflows(number: int) -> ConnectionStatus:
    first = replace(SOCKET, connection=number)
    second = replace(first, local="203.0.113.202:40002", cwnd_segments=2.25, losses=7)
    (found,) = connections([first, second])
    return found


def controller(**changes: Any) -> ControllerStatus:
    plain = ControllerStatus(
        law="lia", name="ab_lia", sockets=0, listening=0, earlier=0, counters=COUNTERS
    )
    return replace(plain, **changes)


def printed(status: Status, wide: bool, monkeypatch: pytest.MonkeyPatch, columns: int = 80) -> str:
    monkeypatch.setenv("COLUMNS", str(columns))
    out = console()
    out.file = io.StringIO()
    out.print(tables(status, wide))
    return out.file.getvalue()


def test_eighty_columns_hold_a_line_for_each_connection_and_each_subflow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    status = Status(controllers=[], connections=[of_two_subflows(1), of_two_subflows(2)])
    lines = printed(status, False, monkeypatch).splitlines()
    assert max(map(len, lines)) <= 80
    first = [line for line in lines if "1 ab_olia" in line]
    assert len(first) == 1 and "2 subflows" in first[0]
    assert "14.75" in first[0] and " 11" in first[0], "the sums of windows and losses"
    rows = [line for line in lines if "198.51.100.102:50001" in line]
    assert len(rows) == 4
    assert all("45.0" in row and "0.24" in row for row in rows[::2])


def test_columns_that_say_the_same_of_all_are_named_below(monkeypatch: pytest.MonkeyPatch) -> None:
    status = Status(controllers=[], connections=[of_two_subflows(1)])
    shown = printed(status, True, monkeypatch, columns=160)
    said = "the same in every row: "
    (below,) = [line for line in shown.splitlines() if line.startswith(said)]
    assert "ssthresh 8" in below and "state open" in below and "missed 0" in below
    head = shown.split("1 ab_olia")[0]
    assert "sets" in head and "missed" not in head


def test_many_connections_are_summed_up_by_controller_and_namespace_unless_wide(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    many = [of_two_subflows(1 + number) for number in range(MOST_CONNECTIONS)]
    other = replace(of_two_subflows(99), controller="ab_lia", namespace=4026532222)
    few = printed(Status(controllers=[], connections=many), False, monkeypatch)
    assert few.count("ab_olia") == MOST_CONNECTIONS
    status = Status(controllers=[], connections=[*many, other])
    shown = printed(status, False, monkeypatch)
    assert max(map(len, shown.splitlines())) <= 80
    (row,) = [line for line in shown.splitlines() if "ab_olia" in line]
    assert row.replace("│", " ").split() == [
        *("ab_olia", "0", str(MOST_CONNECTIONS), str(2 * MOST_CONNECTIONS)),
        *("–", "0.04", "0.14", "0.24", str(11 * MOST_CONNECTIONS)),
    ]
    assert "4026532222" in shown and "missed 0" in shown and "backup % 0" in shown
    assert f"{MOST_CONNECTIONS + 1} connections; --wide and --json show each" in shown
    assert printed(status, True, monkeypatch, columns=160).count("ab_") == len(status.connections)


def test_a_watched_table_that_does_not_fit_the_terminal_is_summed_up() -> None:
    status = Status(controllers=[], connections=[of_two_subflows(1), of_two_subflows(2)])
    assert tables(status, False, room=6).renderables[1].title == "Connections"
    assert tables(status, False, room=5).renderables[1].title.startswith("Connections by ")


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("subflows", [1, 2, 9])
def test_every_subflow_has_a_line_with_whole_addresses_whatever_they_are(
    subflows: int, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_six = [f"2001:db8:1234:5678:9abc:def0:1234:{n:x}" for n in range(subflows + 1)]
    of_four = [f"203.0.113.{100 + n}" for n in range(subflows + 1)]
    for addresses in (of_six, of_four):
        ends = [f"[{one}]" if ":" in one else one for one in addresses]
        rows = [
            replace(SOCKET, local=f"{end}:{40000 + n}", remote=f"{ends[-1]}:50001", rate_bps=1e9)
            for n, end in enumerate(ends[:-1])
        ]
        status = Status(controllers=[], connections=list(connections(rows)))
        for wide in (False, True):
            shown = printed(status, wide, monkeypatch, columns)
            lines = shown.splitlines()
            assert max(map(len, lines)) <= columns
            for n, address in enumerate(addresses):
                assert address in shown
                assert sum(f":{40000 + n}" in line for line in lines) == (n < subflows)
            named = " ".join(lines).partition("addresses: ")[2].split(", ")
            if len(named) > 1:
                letters = dict(one.strip().partition("=")[::2] for one in named)
                (line,) = [line for line in lines if ":40000" in line]
                letter = line.partition(":40000")[0].strip("│ ")
                assert letters[letter].split()[0] == addresses[0]


def test_all_columns_that_80_have_no_room_for_are_named_and_no_row_becomes_a_card(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = replace(SOCKET, ca_state=3, ssthresh_segments=90, since_loss=7, missed=2, repairs=1)
    status = Status(controllers=[], connections=list(connections([SOCKET, other])))
    shown = printed(status, True, monkeypatch)
    assert max(map(len, shown.splitlines())) <= 80
    assert shown.count("ssthresh") == 1 and "cwnd" in shown
    assert "left out at 80 columns: repairs, missed, l, sets, state" in shown


def test_a_program_gets_every_subflow_in_a_row_of_the_same_columns_with_plain_numbers(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    many = [of_two_subflows(1 + number) for number in range(MOST_CONNECTIONS + 5)]
    loaded = controller(sockets=1234, earlier=2)
    seen = Status(controllers=[loaded], connections=many)
    monkeypatch.setattr(command, "observed", lambda only: seen)
    monkeypatch.setattr(terminal.output, "format", "csv")
    command.status_command(command.Asked(wide=True))
    first, second = capsys.readouterr().out.split("# Connections\n")
    (row,) = csv.DictReader(first.splitlines()[1:-1])
    assert (row["sockets"], row["earlier"], row["crowded"]) == ("1234", "2", "0")
    rows = list(csv.DictReader(second.splitlines()[:-1]))
    assert len(rows) == 2 * len(many)
    assert {
        key: rows[1][key] for key in ("connection", "taken out", "local", "losses", "state")
    } == {
        "connection": "1",
        "taken out": "no",
        "local": "203.0.113.202:40002",
        "losses": "7",
        "state": "open",
    }


def test_sockets_of_an_earlier_controller_are_explained_and_their_connection_is_marked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gone = replace(of_two_subflows(1), departed=True)
    shown = printed(
        Status(controllers=[controller(earlier=2)], connections=[gone]), False, monkeypatch
    )
    assert "1 ab_olia " in shown and "2 subflows, taken out" in shown
    head, _, notes = shown.partition("0 for all: ")
    assert "earlier" in head and "listening" not in head and "listening, missed" in notes
    assert "earlier: sockets whose controller of the same name was taken out" in notes


@pytest.mark.parametrize(("crowded", "said"), [(0, False), (3704, True)])
def test_connections_of_too_many_subflows_are_hinted_at(
    crowded: int, said: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = controller(sockets=9, counters=COUNTERS | {"crowded": crowded})
    shown = printed(Status(controllers=[loaded], connections=[]), False, monkeypatch)
    hint = f"3,704 ACKs came on connections with more than {_core.COUPLED_PATHS} subflows"
    assert (hint in " ".join(shown.split())) == said
    assert isinstance(tables(Status(controllers=[], connections=[]), False), Group)


def test_a_controller_that_is_taken_out_during_the_look_is_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def counters(law: str) -> dict[str, int]:
        if law == "lia":
            raise FileNotFoundError("lia is not loaded")
        return COUNTERS

    monkeypatch.setattr(observe, "check_root", lambda command: None)
    monkeypatch.setattr(observe, "sockets", lambda namespace: [SOCKET])
    monkeypatch.setattr(_core, "kernel_loaded", lambda: {"lia": 3, "olia": 4})
    monkeypatch.setattr(_core, "kernel_counters", counters)
    seen = observe.status()
    assert [(row.law, row.sockets) for row in seen.controllers] == [("olia", 1)]
    assert len(seen.connections) == 1
