"""Replacement in place: names, defaults and connections go on, and nothing is left."""

from __future__ import annotations

import hashlib
import json
import random
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import left
import pytest
from churn import SUBFLOW, Stage
from pairs import Pair
from test_operator import clean, connection, controller, done, passes, refused

from anabranch import _core
from anabranch.linux.namespace import Namespace, read_setting, write_setting
from anabranch.linux.observe import CHOICE
from anabranch.linux.tcp_info import IPPROTO_MPTCP

pytestmark = pytest.mark.usefixtures("kernel", "clean")

__all__ = ["clean"]

AVAILABLE = "net.ipv4.tcp_available_congestion_control"
MPTCP = IPPROTO_MPTCP, IPPROTO_MPTCP
BLOCK = random.Random(1).randbytes(1 << 16)


class Transfer:
    """Bytes from one socket to another, in threads, until it is ended."""

    def __init__(self, sender: socket.socket, receiver: socket.socket) -> None:
        self._ended, self.received = threading.Event(), 0
        self._sent, self._got = hashlib.sha256(), hashlib.sha256()
        self._ends = sender, receiver
        for end in self._ends:
            end.setblocking(True)
        self._threads = [threading.Thread(target=each) for each in (self._send, self._receive)]
        for thread in self._threads:
            thread.start()

    def _send(self) -> None:
        while not self._ended.is_set():
            self._ends[0].sendall(BLOCK)
            self._sent.update(BLOCK)
        self._ends[0].shutdown(socket.SHUT_WR)

    def _receive(self) -> None:
        while data := self._ends[1].recv(1 << 20):
            self._got.update(data)
            self.received += len(data)

    def whole(self) -> bool:
        """Ends it; whether every byte arrived as it was sent."""
        self._ended.set()
        for thread in self._threads:
            thread.join(30)
        return self.received > 0 and self._sent.digest() == self._got.digest()


@contextmanager
def watched(namespace: Namespace) -> Iterator[list[tuple[str, str]]]:
    """The default and the names that are available in a namespace, again and again meanwhile."""
    seen: list[tuple[str, str]] = []
    ended = threading.Event()

    def look() -> None:
        with namespace.inside():
            while not ended.is_set():
                seen.append((read_setting(CHOICE) or "", read_setting(AVAILABLE) or ""))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield seen
    finally:
        ended.set()
        thread.join()


def connections(stage: Stage) -> list[dict[str, Any]]:
    """Those that `status` shows at the sender's side."""
    words = ["status", "--json", "--namespace", str(stage.sender.number)]
    found: list[dict[str, Any]] = json.loads(done(*words))["connections"]
    return found


def objects() -> set[tuple[str, int]]:
    """Maps and programs that no other process holds, and that this one does not hold either."""
    return {each for each in left.unheld() if each[0] != "link_id"}


def test_a_connection_its_default_and_the_name_go_on_while_another_controller_takes_over() -> None:
    before = objects()
    stage = Stage(2e7, paths=2)
    try:
        with controller("lia") as name:
            first, link = objects() - before, _core.kernel_loaded()["lia"]
            with stage.sender.inside():
                write_setting(CHOICE, name)
            old = Pair(stage, 9000, None, MPTCP)
            transfer = Transfer(old.sender, old.receiver)
            assert left.eventually(lambda: transfer.received > 1 << 16)
            stage.set_endpoint(1, SUBFLOW)  # a path joins once the peer has acknowledged data
            assert left.eventually(lambda: [len(c["subflows"]) for c in connections(stage)] == [2])
            with watched(stage.sender) as seen:
                said = done("load", "--replace", "lia", "--min-ssthresh", "3")
            assert "sockets keep the earlier one" in said
            assert "it is the default of 1 network namespace, as before" in said
            assert len(seen) > 100 and {choice for choice, _ in seen} == {name}
            assert all(name in names.split() for _, names in seen)
            assert _core.kernel_loaded()["lia"] == link, "the pin and its link are the same"
            second = objects() - before - first
            assert second and first <= objects(), "the old connection has the old one"

            new = Pair(stage, 9001, None, MPTCP)
            other = Transfer(new.sender, new.receiver)
            assert left.eventually(lambda: other.received > 1 << 20)
            departed = {row["departed"]: row for row in connections(stage)}
            assert set(departed) == {False, True}
            assert all(row["controller"] == name for row in departed.values())
            assert len(departed[True]["subflows"]) == 2
            assert transfer.whole() and other.whole()
            for pair in (old, new):
                pair.close()
            assert left.eventually(lambda: not first & objects()), "the last socket held it"
            assert second <= objects()
            with stage.sender.inside():
                write_setting(CHOICE, "reno")
            assert done("unload", "lia") == "unloaded\n"
    finally:
        stage.close()
    assert left.eventually(lambda: not objects() - before)


def test_a_subflow_that_joins_later_is_coupled_with_those_under_the_earlier_controller() -> None:
    stage = Stage(2e7, paths=2)
    try:
        with controller("lia") as name:
            pair = Pair(stage, 9000, name, MPTCP)
            transfer = Transfer(pair.sender, pair.receiver)
            done("load", "--replace", "lia")
            assert left.eventually(lambda: transfer.received > 1 << 16)
            stage.set_endpoint(1, SUBFLOW)  # a path joins once the peer has acknowledged data
            assert left.eventually(lambda: len(connections(stage)) == 2)

            def paths() -> list[int]:
                return [row["paths"] for one in connections(stage) for row in one["subflows"]]

            assert left.eventually(lambda: paths() == [2, 2]), connections(stage)
            assert transfer.whole()
            pair.close()
    finally:
        stage.close()


def test_without_a_loaded_one_replace_loads_and_a_second_load_names_it() -> None:
    assert done("load", "--replace", "olia").startswith("loaded as ab_olia; ")
    try:
        said = refused("load", "olia")
        assert "help: `anabranch linux load --replace olia` puts this one into its place" in said
        assert done("load", "--replace", "olia") == "replaced ab_olia\n"
    finally:
        assert done("unload", "olia") == "unloaded\n"


def test_a_law_that_cannot_be_loaded_leaves_the_earlier_one_in_place() -> None:
    with controller("lia"), connection("ab_lia") as ends:
        assert "no controller `lai`" in refused("load", "--replace", "lai")
        with pytest.raises(OSError, match="No such file"):
            _core.KernelController.replace("lia", kernel_name="ab_of_nobody")
        assert "lia" in _core.kernel_loaded() and passes(*ends)
        ends[0].setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
