"""What the command decides on this host; the guests themselves are `make test-kernels`."""

from __future__ import annotations

import io
import platform
from pathlib import Path
from typing import Any

import controllers
import image
import machine
import packages
import pytest
import run

NAMES = (
    "linux-image-cloud-amd64",
    "linux-image-6.1.0-47-cloud-amd64",
    "linux-image-6.1.0-50-cloud-amd64",
    "linux-image-6.12.9+deb13-cloud-amd64",
    "linux-image-6.12.107+deb13-cloud-amd64",
    "linux-image-7.2.12+deb13-cloud-amd64",
    "linux-binary-7.2.12+deb13-cloud-amd64",
    "linux-binary-7.2.9+deb13-cloud-amd64",
    "linux-modules-7.2.9+deb13-cloud-amd64",
    "linux-binary-7.1.13+deb13-cloud-amd64",
    "linux-binary-unsigned-7.3.4+deb13-cloud-amd64",
)


def test_the_newest_of_a_series_is_tried_and_one_with_modules_before_one_without() -> None:
    found = {kernel.name: kernel for kernel in packages.kernels(NAMES)}
    assert list(found) == ["6.1", "6.12", "7.1", "7.2"]
    assert found["6.1"].version == "6.1.0-50"
    assert found["6.12"].version == "6.12.107+deb13"
    assert found["7.1"].packages == ("linux-binary-7.1.13+deb13-cloud-amd64",)
    assert found["7.2"].version == "7.2.9+deb13" and len(found["7.2"].packages) == 2


def test_the_oldest_two_the_hosts_and_the_newest_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "release", lambda: "6.18.44-any")
    there = ["6.1", "6.12", "6.17", "7.3"]
    assert run.wanted(None, there) == ["6.1", "6.12", "6.18", "7.3"]
    assert run.wanted(["7.3", "6.1", "7.3"], there) == ["7.3", "6.1"]
    with pytest.raises(ValueError, match=r"--kernel is 6\.18; there are 6\.1, 6\.12, 6\.17, 7\.3"):
        run.wanted(["6.18"], there)


def test_a_kernel_that_cannot_be_had_is_named_and_fails_nothing() -> None:
    skipped = run.tried({}, ["6.18"], Path())["6.18"]
    found = {"6.18": skipped, "6.12": guest("passed", "absent")}
    assert "6.18: skipped: no package of Linux 6.18 is there" in run.remarks(found)
    assert run.verdict(found) == 0
    assert run.verdict({"6.18": skipped}) == 2


def test_preparing_makes_the_parts_of_each_kernel_that_can_be_had_and_boots_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel = packages.Kernel((6, 12), "6.12.9+deb13", ())
    made: list[packages.Kernel] = []
    monkeypatch.setattr(run, "unpack", lambda kernel: None)
    monkeypatch.setattr(image, "prepare", made.append)
    monkeypatch.setattr(machine, "boot", None)
    assert run.prepared({"6.12": kernel}, ["6.12", "6.18"]) == 0
    assert made == [kernel]
    assert "Linux 6.18: not prepared: no package of Linux 6.18 is there" in capsys.readouterr().err
    assert run.prepared({}, ["6.18"]) == 2


def test_a_failed_check_and_a_guest_that_ended_early_are_failures() -> None:
    assert run.verdict({"6.12": guest("passed", "failed")}) == 1
    early = guest("passed") | {"whole": False, "console": ["Kernel panic"]}
    assert run.verdict({"6.12": early}) == 1
    assert "Kernel panic" in run.remarks({"6.12": early})


def test_the_table_has_a_cell_for_each_check_that_any_kernel_had() -> None:
    found = {"6.1": guest("passed"), "6.12": guest("passed", "failed"), "6.18": {"skipped": "none"}}
    lines = run.table(found).splitlines()
    assert lines[0].split() == ["Linux", "boot", "check", "s", "CPU", "s"]
    assert lines[2].split() == ["any", "yes", "NO", "2", "1"]
    assert lines[3].split() == ["6.18"]


def test_a_guests_lines_are_checks_its_end_and_what_python_says() -> None:
    found, told = machine.Found(), list[dict[str, Any]]()
    for line in ('{"check": "boot", "state": "passed"}', "Traceback", "", "7", '{"end": true}'):
        machine.read(line, found, told.append)
    assert found.checks == told == [{"check": "boot", "state": "passed"}]
    assert found.other == ["Traceback", "7"] and found.whole


def test_modules_come_after_those_that_they_need(tmp_path: Path) -> None:
    stage = tmp_path / "stage"
    stage.mkdir()
    for name, needs in (("bridge", b"stp,llc"), ("stp", b"llc"), ("llc", b"")):
        (tmp_path / f"{name}.ko").write_bytes(b"\0depends=" + needs + b"\0")
    order: list[str] = []
    for name in ("bridge", "stp", "built_in"):
        image.add_module(name, tmp_path, stage, order)
    assert order == ["llc.ko", "stp.ko", "bridge.ko"]


def test_a_field_has_its_byte_its_bit_and_the_first_place_of_its_name() -> None:
    shown = """struct mptcp_subflow_context {
        struct list_head           node;                 /*     0    16 */
        u32                        backup:1;             /*    96:11  4 */
        bool                       fully_established;    /*   106     1 */
        struct sock *              conn;                 /*   224     8 */
        u32                        backup:1;             /*   300:12  4 */
    /* size: 272, cachelines: 5, members: 12 */"""
    found = controllers.fields(shown)
    assert found["node"] == ("0", "") and found["conn"] == ("224", "")
    assert found["backup"] == ("96", "11")


def test_a_module_has_a_header_of_its_own_for_each_that_is_of_bpf_alone() -> None:
    bpf, module = (controllers.SOURCES / folder for folder in ("bpf", "module"))
    own = {header.name for header in module.glob("*.h")}
    shared = [header for header in bpf.glob("*.h") if header.name not in own]
    assert len(shared) >= 6
    for header in shared:
        assert "<bpf/" not in header.read_text(), header.name
        assert "SEC(" not in header.read_text(), header.name


def test_an_archive_entry_is_padded_as_the_kernel_expects_it() -> None:
    file = io.BytesIO()
    image.write_entry(file, 1, "a/name", 0o100644, b"12345")
    written = file.getvalue()
    fields = [int(written[at : at + 8], 16) for at in range(6, 110, 8)]
    assert written[:6] == b"070701" and fields[1] == 0o100644
    assert fields[6] == 5 and fields[11] == len("a/name") + 1
    assert written[110:] == b"a/name\0" + bytes(3) + b"12345" + bytes(3)


def guest(*states: str) -> dict[str, Any]:
    """A row with a state for each of the first checks."""
    checks = [
        {"check": check, "state": state, "detail": "", "seconds": 1.0}
        for check, state in zip(run.CHECKS, states, strict=False)
    ]
    times = {"seconds": 2.0, "cpu_seconds": 1.0}
    return {"version": "any", "checks": checks, "other": [], "console": [], "whole": True, **times}
