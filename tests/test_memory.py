"""Runs that do not fit into the memory that there is are refused with figures; those that are
allowed fit.
"""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

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
    print(len(ab.run(scenario, threads=1, **observed).runs))
except ab.ScenarioError as error:
    sys.exit(f"refused: {error}")
"""


def run(limit: int, kind: str, **fields: object) -> subprocess.CompletedProcess[str]:
    """A run in a process that may take `limit` bytes of address space."""
    usual = {"duration": "1 s", "sample": "100 ms", "count": 1, "transfer": "1500 B"}
    text = SCENARIO.format(**(usual | fields))
    command = [sys.executable, "-c", RUN, str(limit), kind]
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
    figures = r"tables [\d.]+ GB, series [\d.]+ GB, events [\d.]+ GB\); [\d.]+ GB are available"
    assert re.search(figures, done.stderr), done.stderr


@pytest.mark.parametrize(
    ("kind", "fields", "least"),
    [
        ("plain", {"count": 60_000}, 400 << 20),
        ("series", {"count": 2_000, "sample": "10 ms"}, 400 << 20),
    ],
)
def test_a_run_that_is_allowed_does_not_abort(
    kind: str, fields: dict[str, object], least: int
) -> None:
    """The first limit under which a run is allowed is enough for it."""
    for limit in range(least, 8 << 30, 64 << 20):
        done = run(limit, kind, **fields)
        if "refused:" not in done.stderr:
            assert done.returncode == 0 and done.stdout == "1\n", done.stderr
            return
    pytest.fail("no limit was enough")
