"""Runs that do not fit into the memory that there is are refused with figures; those that are
allowed fit, with their files.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import anabranch as ab
from anabranch import _core
from anabranch.result import NotRecorded

SCENARIO = """
name = "crowd"
duration = "{duration}"
sample = "{sample}"
[[link]]
name = "one"
rate = "1 Gb/s"
delay = "10 ms"
[[link]]
name = "two"
rate = "1 Gb/s"
delay = "10 ms"
per_user = true
[[flow]]
name = "users"
count = {count}
controller = "lia"
spread = "900 ms"
transfer = "{transfer}"
[[flow.path]]
links = ["one"]
[[flow.path]]
links = ["two"]
"""

RUN = """
import resource, sys
limit = int(sys.argv[1])
import anabranch as ab
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
scenario = ab.Scenario.parse(sys.stdin.read())
try:
    observed = {} if sys.argv[2] == "plain" else {sys.argv[2]: True}
    result = ab.run(scenario, threads=1, **observed)
    result.save(sys.argv[3])
    print(len(result.runs))
except ab.ScenarioError as error:
    sys.exit(f"refused: {error}")
"""


def run(
    limit: int, kind: str, file: Path = Path("/dev/null"), **fields: object
) -> subprocess.CompletedProcess[str]:
    """A run, and its JSON in `file`, by a process that may take `limit` bytes of address space."""
    usual = {"duration": "1 s", "sample": "100 ms", "count": 1, "transfer": "1500 B"}
    text = SCENARIO.format(**(usual | fields))
    command = [sys.executable, "-c", RUN, str(limit), kind, str(file)]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("kind", "fields", "said"),
    [
        ("plain", {"count": 4_900_000}, "use fewer users"),
        ("series", {"duration": "1000 s", "sample": "1 us"}, "lengthen `sample`"),
        (
            "events",
            {"duration": "1000000 s", "sample": "1000 s", "transfer": "1000000 GB"},
            "leave `--events` out",
        ),
    ],
)
def test_a_run_that_does_not_fit_is_refused_with_what_it_needs(
    kind: str, fields: dict[str, object], said: str
) -> None:
    done = run(4 << 30, kind, **fields)
    assert done.returncode == 1 and "refused: crowd needs about" in done.stderr, done.stderr
    assert "ulimit -v" in done.stderr and said in done.stderr
    figure = r"[\d.]+ [GM]B"
    figures = f"tables {figure}, series {figure}, events {figure}, the program itself {figure}\\); "
    figures += f"{figure} are available"
    assert re.search(figures, done.stderr), done.stderr


@pytest.mark.parametrize(
    ("kind", "fields", "least"),
    [
        ("plain", {"count": 60_000}, 400 << 20),
        ("series", {"count": 2_000, "sample": "10 ms"}, 400 << 20),
    ],
)
def test_a_run_that_is_allowed_does_not_abort(
    kind: str, fields: dict[str, object], least: int, tmp_path: Path
) -> None:
    """The first limit under which a run is allowed is enough for it, and for its JSON."""
    for limit in range(least, 8 << 30, 64 << 20):
        done = run(limit, kind, tmp_path / "run.json.gz", **fields)
        if "refused:" not in done.stderr:
            assert done.returncode == 0 and done.stdout == "1\n", done.stderr
            return
    pytest.fail("no limit was enough")


LOSSY = """
name = "lossy"
duration = "400 s"
[[link]]
name = "one"
rate = "100 Mb/s"
delay = "1 ms"
queue = { drop-tail = { packets = "5 packets" } }
[[flow]]
name = "users"
count = 400
transport.rto_min = "1 ms"
transport.rto_initial = "10 ms"
[[flow.path]]
links = ["one"]
"""
"""A third of the packets is dropped, far more than is expected: two million entries."""

COMMAND = "import sys; from anabranch.cli import main; sys.argv[0] = 'anabranch'; main()"


def test_a_command_without_memory_ends_with_an_error_and_no_traceback(tmp_path: Path) -> None:
    """What reads a result is not estimated before."""
    file = tmp_path / "long.json"
    file.write_text(f"[{'[1.5],' * 6_000_000}1]")
    words = [sys.executable, "-c", COMMAND, "plot", file, "-o", tmp_path / "x.png"]
    limited = ["sh", "-c", 'ulimit -v 600000; exec "$@"', "sh", *words]
    done = subprocess.run(limited, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("error: out of memory"), done.stderr


FULL = """
name = "full"
duration = "600 s"
[[link]]
name = "one"
rate = "{rate}"
delay = "{delay}"
queue = {{ drop-tail = {{ packets = "100000000 packets" }} }}
[[flow]]
name = "users"
count = 20
protocol = "udp"
app_rate = "5 Gb/s"
[[flow.path]]
links = ["one"]
"""


@pytest.mark.parametrize(
    ("rate", "delay"),
    [("10 Mb/s", "1 ms"), ("200 Gb/s", "400 s")],
    ids=["in a queue", "in flight"],
)
def test_packets_that_outgrow_memory_end_the_run_with_figures(
    rate: str, delay: str, tmp_path: Path
) -> None:
    scenario = tmp_path / "full.toml"
    scenario.write_text(FULL.format(rate=rate, delay=delay))
    words = [sys.executable, "-c", COMMAND, "run", scenario]
    limited = ["sh", "-c", 'ulimit -v 900000; exec "$@"', "sh", *words]
    done = subprocess.run(limited, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    said = r"error: out of memory: \d+ MB are left \(the limit of address space, ulimit -v\), and "
    assert re.match(said + r"runs have taken \d+ MB more", done.stderr), done.stderr
    assert "help: lower rates" in done.stderr and "Traceback" not in done.stderr


def test_replications_that_had_finished_when_memory_ended_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    simulate = _core.simulate

    def ended(text: str, seeds: list[int], **options: object) -> None:
        raise _core.MemoryEnded("1 MB are left", simulate(text, seeds[:1], **options))

    monkeypatch.setattr(_core, "simulate", ended)
    with pytest.raises(NotRecorded, match="1 MB are left") as raised:
        ab.run("links/varying", seeds=3)
    assert raised.value.result.seeds == [1] and not raised.value.result.provenance["complete"]


def test_a_log_of_events_that_outgrows_its_memory_ends_and_the_run_goes_on(tmp_path: Path) -> None:
    scenario, file = tmp_path / "lossy.toml", tmp_path / "run.json"
    scenario.write_text(LOSSY)
    words = [sys.executable, "-c", COMMAND, "run", scenario, "--events", "--json", file]
    limited = ["sh", "-c", 'ulimit -v 380000; exec "$@"', "sh", *words]
    done = subprocess.run(limited, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "users" in done.stdout, done.stderr
    said = (
        r"error: the log of events of seed 1 ends at ([\d.]+) s: there is no memory for more than"
    )
    found = re.match(said, done.stderr)
    assert found, done.stderr
    one, whole = ab.Result.load(file).runs[0], ab.run(ab.Scenario.parse(LOSSY)).runs[0]
    assert one.digest == whole.digest and np.array_equal(one.flows.start_s, whole.flows.start_s)
    assert one.events_log_until_s == pytest.approx(float(found[1]), rel=1e-5)
    assert 0 < one.events_log_until_s < 400
    times_s = one.events_log.t_s
    assert len(times_s) > 100_000 and times_s[-1] <= one.events_log_until_s
    assert len(one.events_log.kind) == len(times_s)
