"""What `anabranch linux status` prints of connections: readable on 80 columns, however many."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Group

from anabranch import _core
from anabranch.cli import operate, terminal
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


def test_of_many_connections_the_first_are_shown_and_the_rest_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    many = [of_two_subflows(1 + number) for number in range(MOST_CONNECTIONS + 5)]
    status = Status(controllers=[], connections=many)
    shown = printed(status, False, monkeypatch)
    assert shown.count("ab_olia") == MOST_CONNECTIONS
    assert "5 more connections; --wide and --json show all" in shown
    assert printed(status, True, monkeypatch, columns=160).count("ab_olia") == len(many)


def test_all_columns_that_80_have_no_room_for_are_named_and_no_row_becomes_a_card(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = replace(SOCKET, ca_state=3, ssthresh_segments=90, since_loss=7, missed=2, repairs=1)
    status = Status(controllers=[], connections=list(connections([SOCKET, other])))
    shown = printed(status, True, monkeypatch)
    assert max(map(len, shown.splitlines())) <= 80
    assert shown.count("ssthresh") == 1 and "cwnd" in shown
    assert "left out at 80 columns: repairs, missed, l, sets, state\n" in shown


def test_a_program_gets_every_subflow_in_a_row_of_the_same_columns_with_plain_numbers(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    many = [of_two_subflows(1 + number) for number in range(MOST_CONNECTIONS + 5)]
    loaded = controller(sockets=1234, earlier=2)
    monkeypatch.setattr(operate, "observed", lambda: Status(controllers=[loaded], connections=many))
    monkeypatch.setattr(terminal.output, "format", "csv")
    operate.status_command(None, None, wide=True)
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
    assert "1 ab_olia, taken " in shown and "2 subflows " in shown
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
    monkeypatch.setattr(observe, "sockets", lambda: [SOCKET])
    monkeypatch.setattr(_core, "kernel_loaded", lambda: {"lia": 3, "olia": 4})
    monkeypatch.setattr(_core, "kernel_counters", counters)
    seen = observe.status()
    assert [(row.law, row.sockets) for row in seen.controllers] == [("olia", 1)]
    assert len(seen.connections) == 1
