"""Laws in text on the running kernel: compiled, loaded, measured, and taken out again."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from side_by_side import beside

import anabranch as ab
from anabranch.linux import LinuxError, controllers
from anabranch.linux.compile import in_terms_of
from anabranch.linux.controllers import Attached
from anabranch.linux.observe import status
from anabranch.linux.pinned import load_for_good, unload_for_good
from anabranch.written import shipped_laws

pytestmark = pytest.mark.usefixtures("kernel", "controllers")


def set_for_kernel(name: str) -> ab.Law:
    """A shipped law, with a power that the kernel has."""
    return ab.Law.load(name, **({"phi": 0.5} if name == "phi" else {}))


@pytest.mark.parametrize("name", shipped_laws())
def test_every_law_that_ships_as_text_is_compiled_and_loaded(name: str) -> None:
    controller = controllers.load(set_for_kernel(name), kernel_name="abt_written")
    assert controller.kernel_name == "abt_written"
    assert "abt_written" in controllers.available()
    controller.close()
    assert "abt_written" not in controllers.available()


NOTED = """law noted: growth by the queueing delay, with a count of its own
note mine = 0: segments since the last loss, counted again
on ack: mine = mine + acked
on loss: mine = 0
growth = min(rtt_min/rtt/w_tot, 1/w)
backoff = if mine + l > 0 then w/2 else w/2
"""


COMPARED = ("lia", "olia", "balia", "gentle")


@pytest.fixture(scope="module")
def recorded(controllers: None, once: None) -> dict[str, tuple[list[str], dict[str, int]]]:
    """The steps of each law on the kernel in one replication, and how many are wrong in what."""
    kept: dict[str, tuple[list[str], dict[str, int]]] = {}

    def record(loaded: Attached) -> None:
        for label, steps in loaded.steps().items():
            kept[label] = (steps, loaded.judge(label, steps))

    texts = [str(set_for_kernel(name)) for name in COMPARED]
    ab.linux.run(
        beside([*texts, NOTED], users=2),
        overrides=["duration=6 s", "warmup=1 s", "flow.single-path.count=2"],
        keep_invalid=True,
        record=record,
    )
    assert set(kept) == {*COMPARED, "noted"}
    return kept


@pytest.mark.parametrize("name", COMPARED)
def test_what_a_loaded_law_does_is_the_text_in_every_bit(
    name: str, recorded: dict[str, tuple[list[str], dict[str, int]]]
) -> None:
    steps, wrong = recorded[name]
    assert len(steps) > 100
    assert set(wrong.values()) == {0}, wrong


def note(word: str) -> float:
    """An `ab_signed` of `bpf/include/signed.h`."""
    bits = int(word) % 2**64
    return float((bits & 0xFFFFFFFF) * 2.0 ** ((bits >> 32 & 0x7FFFFFFF) - 4096)) if bits else 0.0


def test_notes_on_the_kernel_are_what_the_law_makes_of_acks_and_losses(
    recorded: dict[str, tuple[list[str], dict[str, int]]],
) -> None:
    steps, wrong = recorded["noted"]
    assert set(wrong.values()) == {0}, wrong
    after_losses = 0
    for step in steps:
        words = step.split()
        places = int(words[2])
        notes = [note(word) for word in words[-2 * places :]]
        for place in range(places):
            srtt, since_loss, between = (int(words[4 + 4 * place + k]) for k in range(3))
            mine, least = notes[2 * place : 2 * place + 2]
            assert mine == since_loss, step
            heard = since_loss + between > 0  # else the round trip is the handshake's
            assert not heard or 0.01 < least < srtt * 1e-6 * 2, step
            after_losses += between > 0
    assert after_losses > 100


def test_a_law_is_loaded_for_good_under_its_own_name_and_taken_out(tmp_path: Path) -> None:
    file = tmp_path / "mine.law"
    file.write_text("growth = 0.5/w_tot\nbackoff = w*0.75\n")
    assert load_for_good(str(file)) == "law_mine"
    with pytest.raises(LinuxError, match="law_mine is loaded already"):
        load_for_good(f"{file}")
    assert [one.name for one in status().controllers] == ["law_mine"]
    assert unload_for_good("law_mine") == 0
    assert status().controllers == []


def test_what_the_kernel_does_not_have_is_told_in_terms_of_the_text() -> None:
    with pytest.raises(ab.ScenarioError, match="line 1, character 10: the kernel has no exp"):
        controllers.load(ab.Law("growth = exp(-w)/w; backoff = w/2"))
    law = ab.Law("law mine\ngrowth = 1/w_tot\nbackoff = w/2")
    said = (
        "0: R1=ctx()\n; growth = 1/w_tot @ mine.law:2\n12: (85) call pc+3\n"
        "R1 invalid mem access 'scalar'\nprocessed 12 insns"
    )
    assert in_terms_of(law, said) == (
        "the verifier refuses line 2 of the law, `growth = 1/w_tot`: R1 invalid mem access 'scalar'"
    )
    assert "512 bytes" in in_terms_of(law, "combined stack size of 4 calls is 544. Too large")


PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "write-a-law-in-c.md"


def test_the_law_in_c_of_the_page_is_loaded_and_couples(tmp_path: Path) -> None:
    file = tmp_path / "gentle.h"
    file.write_text(PAGE.read_text().split("```c\n")[1].split("```")[0])
    assert load_for_good(str(file)) == "law_gentle"
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"law_gentle")
        with socket.create_connection(server.getsockname()), server.accept()[0]:
            assert any(one.controller == "law_gentle" for one in status().connections)
            with pytest.raises(LinuxError, match="law_gentle"):
                unload_for_good(str(file))
    with pytest.raises(LinuxError, match="law_gentle is loaded already"):
        load_for_good(str(file))
    assert unload_for_good(str(file)) == 0


def test_a_law_in_c_does_not_replace_a_header_of_the_shell(tmp_path: Path) -> None:
    (tmp_path / "notes.h").write_text("")
    with pytest.raises(LinuxError, match=r"notes\.h is a header of ours"):
        load_for_good(str(tmp_path / "notes.h"))


def test_a_mistake_in_a_law_in_c_is_told_at_its_line(tmp_path: Path) -> None:
    file = tmp_path / "wrong.h"
    file.write_text('#include "views.h"\nab_s64 nothing = here;\n')
    with pytest.raises(LinuxError, match=r"wrong\.h:2:18: error: use of undeclared identifier"):
        load_for_good(str(file))
    with pytest.raises(LinuxError, match=r"missing\.h cannot be read: No such file"):
        load_for_good(str(tmp_path / "missing.h"))
