"""`anabranch sweep` and its commands, as a user types them."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from anabranch.sweeps import Store

pytest.importorskip("pyarrow")

PROGRAM = [sys.executable, "-c", "from anabranch.cli import main; main()"]

QUICK = [
    *("--set", "duration=2 s", "--set", "warmup=0 s"),
    *("--set", "flow.multipath.count=1", "--set", "flow.single-path.count=1"),
    *("--set", "flow.multipath.spread=0 s", "--set", "flow.single-path.spread=0 s"),
]


EIGHT = [
    *("khalili/scenario-c", "--vary", "link.ap1.rate=1 Mb/s,2 Mb/s", "--controllers", "lia,olia"),
    *("--seeds", "2", "--store", "c.sweep", *QUICK),
]
"""A sweep of eight runs."""


def anabranch(*words: str | Path, at: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [*PROGRAM, "sweep", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=at)


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store."""
    folder = tmp_path_factory.mktemp("sweep")
    done = anabranch(
        *EIGHT,
        at=folder,
    )
    assert done.returncode == 0, done.stderr
    assert "8 runs made, 0 were there before: c.sweep has 8 of 8" in done.stdout
    return folder


def test_the_same_command_finds_nothing_to_do(there: Path) -> None:
    done = anabranch(
        *EIGHT,
        at=there,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "nothing to do, 8 were there before: c.sweep has 8 of 8" in done.stdout


def test_a_dry_run_says_how_many_and_how_long_and_makes_nothing(there: Path) -> None:
    done = anabranch(
        *("khalili/scenario-c", "--vary", "link.ap1.rate=1..4:4 Mb/s", "--controllers", "lia,olia"),
        *("--seeds", "10", "--store", "c.sweep", "--dry-run", *QUICK),
        at=there,
    )
    assert done.returncode == 0, done.stderr
    assert "8 configurations, 80 runs, 8 of them in c.sweep" in done.stdout
    assert "of processor time" in done.stdout
    done = anabranch("khalili/scenario-c", "--dry-run", *QUICK, at=there)
    assert "1 runs" in done.stdout and not (there / "scenario-c.sweep").exists()


def test_a_file_is_a_sweep_and_options_add_to_it(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(
        'scenario = "khalili/scenario-c"\ncontrollers = ["lia"]\n[vary]\n"link.ap1.rate" = ["1 Mb/s", "2 Mb/s"]\n'
    )
    done = anabranch("mine.toml", "--seeds", "2", *QUICK, at=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "mine.sweep has 4 of 4" in done.stdout


def test_status_shows_runs_axes_and_versions(there: Path) -> None:
    done = anabranch("status", "c.sweep", at=there)
    assert done.returncode == 0
    for words in ("runs", "8", "link.ap1.rate", "1 Mb/s, 2 Mb/s", "lia, olia"):
        assert words in done.stdout


def test_verify_makes_runs_again(there: Path) -> None:
    done = anabranch("verify", "c.sweep", "--sample", "3", at=there)
    assert done.returncode == 0, done.stderr
    assert "3 of 8 runs repeated: digests and rows are the same" in done.stdout


def test_a_table_is_exported_queried_drawn_and_compacted(there: Path) -> None:
    done = anabranch("export", "c.sweep", "classes.csv", at=there)
    assert done.returncode == 0
    text = (there / "classes.csv").read_text().splitlines()
    assert len(text) == 17 and '"link.ap1.rate"' in text[0]
    done = anabranch("query", "c.sweep", "select count(*) as many from runs", at=there)
    assert done.returncode == 0 and "many" in done.stdout and "8" in done.stdout
    words = ("--x", "link.ap1.rate", "--y", "goodput_bps", "--output", "c.png")
    done = anabranch("plot", "c.sweep", *words, at=there)
    assert done.returncode == 0 and (there / "c.png").stat().st_size > 10_000, done.stderr
    done = anabranch("compact", "c.sweep", at=there)
    assert done.returncode == 0 and "became 1" in done.stdout


def test_an_interrupt_ends_a_sweep_in_order_and_it_goes_on(tmp_path: Path) -> None:
    words = [
        "khalili/scenario-c",
        "--seeds",
        "40",
        "--store",
        str(tmp_path / "s"),
        "--set",
        "duration=40 s",
    ]
    command = [*PROGRAM, "sweep", *words]
    driver = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not list(tmp_path.glob("s/parts/*/runs.parquet")):
        time.sleep(0.02)
    driver.send_signal(signal.SIGINT)
    out, err = driver.communicate(timeout=60)
    assert driver.returncode == 130, (out, err)
    assert "the same command continues" in out and "Traceback" not in err
    made = Store(tmp_path / "s").read().num_rows
    assert 0 < made < 40
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert f"{made} were there" in done.stdout and "has 40 of 40" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["khalili/scenario-x"], "there is no file or shipped scenario"),
        (["khalili/scenario-c", "--vary", "link.ap1.rate"], "write KEY=V1,V2"),
        (["khalili/scenario-c", "--vary", "link.apx.rate=1,2"], "apx"),
        (["khalili/scenario-c", "--vary", "link.ap1.rate=1,2"], "unit"),
        (["khalili/scenario-c", "--controllers", "lai"], "did you mean"),
        (["khalili/scenario-c", "--tables", "linkz"], "did you mean `links`"),
        (["khalili/scenario-c", "--on", "nowhere"], "--on is 'nowhere'"),
        (["khalili/scenario-c", "--on", "nowhere.py:f"], "there is no file nowhere.py"),
        (["status", "nowhere.sweep"], "is no store"),
        (["plot", "c.sweep", "--x", "link.ap1.rat"], "did you mean `link.ap1.rate`"),
        (["plot", "c.sweep", "--x", "link.ap1.rate", "--where", "x"], "write COLUMN=VALUE"),
        (["plot", "c.sweep", "--x", "link.ap1.rate", "--y", "digest"], "no column"),
        (["export", "c.sweep", "x.txt"], "write .csv, .parquet or .feather"),
        (["query", "c.sweep", "select nothing"], "the tables are runs, classes"),
    ],
)
def test_wrong_input_gets_a_clear_error_and_status_2(
    there: Path, words: list[str], said: str
) -> None:
    done = anabranch(*words, at=there)
    assert done.returncode == 2, done.stdout
    assert said in done.stderr and "Traceback" not in done.stderr, done.stderr
    assert not list(there.glob("scenario-c.sweep/parts/*"))
