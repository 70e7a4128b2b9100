"""`anabranch quic`: a file comes whole over two addresses of loopback, and what is wrong is said."""

from __future__ import annotations

import hashlib
import json
import random
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from anabranch import _core
from test_cli_streams import COMMAND

pytestmark = pytest.mark.skipif(
    not hasattr(_core, "QuicServer"), reason="files over QUIC need Linux"
)

BYTES = 3_000_000
TWO = ["--via", "127.0.0.2", "--via", "127.0.0.3"]
ANY = "00" * 32


def quic(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A command of `anabranch quic`."""
    return subprocess.run(
        [*COMMAND, "quic", *words], cwd=cwd, capture_output=True, text=True, timeout=60
    )


@dataclass
class Serving:
    """A server that runs."""

    process: subprocess.Popen[str]
    address: str
    fingerprint: str
    content: bytes

    def ended(self) -> str:
        """Interrupts it; what it printed after its first two lines."""
        self.process.send_signal(signal.SIGINT)
        printed, _ = self.process.communicate(timeout=30)
        assert self.process.returncode == 130
        return printed


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Serving]:
    """A server on loopback with one file."""
    content = random.Random(1).randbytes(BYTES)
    (tmp_path / "shelf").mkdir()
    (tmp_path / "shelf" / "a").write_bytes(content)
    words = ["serve", "shelf", "--listen", "127.0.0.1:0", "--identity", "identity"]
    process = subprocess.Popen(
        [*COMMAND, "quic", *words], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        first, second = process.stdout.readline(), process.stdout.readline()
        address = first.removeprefix("serving shelf at ").removesuffix(" under lia\n")
        yield Serving(process, address, second.removeprefix("fingerprint ").strip(), content)
    finally:
        process.kill()
        process.wait()


def test_a_file_comes_whole_and_both_sides_say_so(serving: Serving, tmp_path: Path) -> None:
    known = quic("fingerprint", "--identity", "identity", cwd=tmp_path)
    assert known.stdout.strip() == serving.fingerprint
    words = [f"{serving.address}/a", "--fingerprint", serving.fingerprint, *TWO]
    done = quic("fetch", *words, "--json", "report.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "a").read_bytes() == serving.content
    assert hashlib.sha256(serving.content).hexdigest() in done.stdout
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["complete"] and report["controller"] == "lia"
    assert [lane["local"] for lane in report["lanes"]] == ["127.0.0.2", "127.0.0.3"]
    refused = quic("fetch", f"{serving.address}/../identity/key.der", *words[1:], cwd=tmp_path)
    assert refused.returncode == 2 and "there is no file" in refused.stderr
    wrong = quic("fetch", f"{serving.address}/a", "--fingerprint", ANY, "-o", "b", cwd=tmp_path)
    assert wrong.returncode == 2 and serving.fingerprint in wrong.stderr
    assert not list(tmp_path.glob("*.part")) and not (tmp_path / "b").exists()
    lines = serving.ended().splitlines()
    assert "complete, 3000000 bytes" in lines[0]
    assert "refused" in lines[1] and len(lines) == 2


def test_standard_output_has_the_report_alone(serving: Serving, tmp_path: Path) -> None:
    words = [f"{serving.address}/a", "--insecure", "--discard", "--json", "-"]
    done = quic("fetch", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["complete"]
    assert "not checked" in done.stderr and not (tmp_path / "a").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_report_that_cannot_be_written_is_kept_elsewhere(
    serving: Serving, tmp_path: Path
) -> None:
    words = [f"{serving.address}/a", "--insecure", "--discard", "--json", "/dev/full"]
    done = quic("fetch", *words, cwd=tmp_path)
    assert done.returncode == 2
    said, _, rest = done.stderr.partition("\n")
    assert said == "error: /dev/full cannot be written: No space left on device"
    place = Path(rest.removeprefix("help: it was written to ").removesuffix(" instead\n"))
    assert json.loads(place.read_text())["complete"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["serve", "nowhere"], "root: nowhere cannot be served"),
        (["serve", ".", "--listen", "4433"], 'listen: "4433" is no address with a port'),
        (
            ["serve", ".", "--listen", "203.0.113.9:4433"],
            "listen: 203.0.113.9:4433 cannot be bound",
        ),
        (["serve", ".", "--controller", "liar"], "controller: "),
        (["serve", ".", "--controller", "noq:vegas"], "controller: "),
        (["fetch", "127.0.0.1:1/a"], "--fingerprint is missing"),
        (["fetch", "127.0.0.1:1/a", "--fingerprint", "f0"], 'fingerprint: "f0" is none'),
        (["fetch", "127.0.0.1:1/a", "--fingerprint", ANY, "--insecure"], "--insecure accepts any"),
        (["fetch", "127.0.0.1:1", "--insecure"], 'target: "127.0.0.1:1" names no file'),
        (
            ["fetch", "127.0.0.1:1/a", "--insecure", "--via", "wlan0"],
            'via: "wlan0" is no IP address',
        ),
        (
            ["fetch", "127.0.0.1:1/a", "--insecure", "--via", "203.0.113.9"],
            "via: 203.0.113.9:0 cannot",
        ),
        (
            ["fetch", "127.0.0.1:1/a", "--insecure", *TWO, "--to", "127.0.0.1:1"],
            "to: 1 addresses for 2",
        ),
        (["fetch", "127.0.0.1:1/a", "--insecure", "--duration", "0"], "duration: it is 0 s"),
        (["fetch", "127.0.0.1:1/a", "--insecure", "--warm-up", "-1"], "warm-up: it is -1 s"),
        (
            ["fetch", "127.0.0.1:1/a", "--insecure", "--discard", "--continue"],
            "--discard writes no",
        ),
        (["fetch", "127.0.0.1:1/a", "--insecure", "-o", "."], "output: . is a directory"),
    ],
)
def test_what_is_wrong_is_named(words: list[str], said: str, tmp_path: Path) -> None:
    environment = ["--identity", "identity"] if words[0] == "serve" else []
    done = quic(*words, *environment, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {said}"), done.stderr
    assert not list(tmp_path.glob("*.part"))


def test_a_part_of_another_transfer_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "a.part").write_text("kept")
    done = quic("fetch", "127.0.0.1:1/a", "--insecure", cwd=tmp_path)
    assert done.returncode == 2 and "--continue" in done.stderr
    assert (tmp_path / "a.part").read_text() == "kept"
