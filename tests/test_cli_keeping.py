"""A disk that is full costs a command neither what it prints nor what it would have written."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from anabranch.files import PROBE_BYTES, check_writable
from test_cli_streams import COMMAND, RUN, SHARED, WORDS, anabranch

FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")

ON_A_SMALL_DISK = """
mount -t tmpfs -o size=$1 tmpfs "$2" || exit 77
shift 2
exec "$@"
"""


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    """A directory for temporary files."""
    made = tmp_path / "temporary"
    made.mkdir()
    return made


@needs_full
@pytest.mark.parametrize("name", WORDS)
def test_a_file_that_cannot_be_written_is_said_below_the_tables_and_kept_elsewhere(
    name: str, temporary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if name in ("capture", "shared"):
        assert anabranch(*RUN, "--pcap", "c.pcapng").returncode == 0
    if name == "sweep status":
        assert anabranch("sweep", *RUN[1:], "--store", "c.sweep").returncode == 0
    if name == "break":
        Path("shared.toml").write_text(SHARED)
    shown = anabranch(*WORDS[name])
    done = anabranch(*WORDS[name], "--json", str(FULL), TMPDIR=str(temporary))
    assert done.returncode == 2
    assert done.stdout == shown.stdout
    said, _, rest = done.stderr.decode().partition("\n")
    assert said == f"error: {FULL} cannot be written: No space left on device"
    place = re.fullmatch(r"help: it was written to (.*) instead\n", rest)
    assert place and Path(place[1]).is_relative_to(temporary)
    assert json.loads(Path(place[1]).read_text())


@needs_full
def test_what_can_be_written_nowhere_leaves_nothing(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    words = [*RUN, "--json", str(FULL)]
    code = f"import tempfile; tempfile.tempdir = {str(missing)!r}; from anabranch.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True)
    assert done.returncode == 2 and "single-path" in done.stdout
    assert done.stderr == f"error: {FULL} cannot be written: No space left on device\n"


def on_a_small_disk(size: int, disk: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command with a disk of `size` bytes of its own at `disk`."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount")
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", ON_A_SMALL_DISK, "sh", str(size), str(disk), *words],
        capture_output=True,
        text=True,
    )
    if done.returncode == 77:
        pytest.skip("this root may not mount")
    return done


def test_a_disk_that_is_full_is_said_before_the_run(tmp_path: Path) -> None:
    words = [*COMMAND, *RUN, "--json", str(tmp_path / "c.json")]
    done = on_a_small_disk(PROBE_BYTES // 2, tmp_path, *words)
    assert done.returncode == 2 and done.stdout == ""
    assert (
        done.stderr == f"error: {tmp_path / 'c.json'} cannot be written: No space left on device\n"
    )


def test_a_disk_that_the_result_fills_costs_only_the_place_of_the_file(
    temporary: Path, tmp_path: Path
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    words = [*COMMAND, *RUN, "--series", "--json", str(disk / "c.json")]
    done = on_a_small_disk(2 * PROBE_BYTES, disk, "env", f"TMPDIR={temporary}", *words)
    assert done.returncode == 2 and "single-path" in done.stdout
    assert "c.json cannot be written: No space left on device" in done.stderr
    (kept,) = temporary.glob("anabranch-*/c.json")
    assert json.loads(kept.read_text())["runs"]


def test_a_check_of_a_file_leaves_nothing(tmp_path: Path) -> None:
    check_writable(tmp_path / "c.json")
    assert list(tmp_path.iterdir()) == []


@needs_full
@pytest.mark.parametrize("option", ["--pcap", "--qlog"])
def test_a_recording_that_cannot_be_written_costs_neither_tables_nor_result(
    option: str, tmp_path: Path
) -> None:
    shown = anabranch(*RUN)
    done = anabranch(*RUN, option, str(FULL), "--json", str(tmp_path / "c.json"))
    assert done.returncode == 2
    assert done.stderr.decode() == f"error: {FULL} cannot be written: No space left on device\n"
    assert done.stdout.startswith(shown.stdout)
    assert json.loads((tmp_path / "c.json").read_text())["runs"]


def test_a_recording_that_fills_the_disk_is_not_left_in_part(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    words = [*COMMAND, *RUN, "--pcap", str(disk / "c.pcapng")]
    done = on_a_small_disk(2 * PROBE_BYTES, disk, "sh", "-c", '"$@"; ls -A "$0"', str(disk), *words)
    assert "c.pcapng cannot be written: No space left on device" in done.stderr
    assert "single-path" in done.stdout and "written to" not in done.stdout
    assert done.stdout.splitlines()[-1].startswith("digests"), "the disk is empty"


@needs_full
@pytest.mark.parametrize(("failing", "whole"), [("pcap", "qlog"), ("qlog", "pcap")])
def test_a_recording_that_fails_leaves_the_other_one_whole(
    failing: str, whole: str, tmp_path: Path
) -> None:
    alone, beside = tmp_path / "alone", tmp_path / "beside"
    until = ("--record-until", "2s")
    assert anabranch(*RUN, *until, f"--{whole}", str(alone)).returncode == 0
    done = anabranch(*RUN, *until, f"--{failing}", str(FULL), f"--{whole}", str(beside))
    assert done.returncode == 2
    assert done.stderr.decode() == f"error: {FULL} cannot be written: No space left on device\n"
    assert f"written to {beside}" in done.stdout.decode()
    assert f"written to {FULL}" not in done.stdout.decode()
    assert beside.read_bytes() == alone.read_bytes()


def test_every_recording_that_fails_is_named_and_none_is_left_in_part(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    words = [*COMMAND, *RUN, "--pcap", str(disk / "c.pcapng"), "--qlog", str(disk / "c.qlog")]
    done = on_a_small_disk(2 * PROBE_BYTES, disk, "sh", "-c", '"$@"; ls -A "$0"', str(disk), *words)
    for name in ("c.pcapng", "c.qlog"):
        assert f"{disk / name} cannot be written: No space left on device" in done.stderr
    assert done.stdout.splitlines()[-1].startswith("digests"), "the disk is empty"


@needs_full
def test_every_file_that_cannot_be_written_is_named_with_its_place(
    temporary: Path, tmp_path: Path
) -> None:
    words = ["theory", "khalili/scenario-c", "--map", "flow.multipath.count=5,10"]
    files = ("--json", str(FULL), "--portrait", str(tmp_path / "p.pdf"))
    pipe = tmp_path / "gone.pdf"
    pipe.symlink_to(FULL)
    done = anabranch(*words, *files, "--out", str(pipe), TMPDIR=str(temporary))
    assert done.returncode == 2
    first, help_, second, other = done.stderr.decode().splitlines()
    assert first == f"error: {FULL} cannot be written: No space left on device"
    assert second == f"error: {pipe} cannot be written: No space left on device"
    places = [line.split()[5] for line in (help_, other)]
    assert [Path(place).name for place in places] == ["full", "gone.pdf"]
    assert all(Path(place).stat().st_size for place in places)
    assert (tmp_path / "p.pdf").read_bytes().startswith(b"%PDF")


@needs_full
def test_a_recording_and_a_result_that_fail_are_both_named(temporary: Path) -> None:
    done = anabranch(*RUN, "--pcap", str(FULL), "--json", str(FULL), TMPDIR=str(temporary))
    assert done.returncode == 2
    said = f"error: {FULL} cannot be written: No space left on device"
    recording, result, place = done.stderr.decode().splitlines()
    assert recording == result == said
    assert place.startswith("help: it was written to ")
