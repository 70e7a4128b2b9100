"""Files of Flent hold what the result has, in the form of version 4."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import anabranch as ab
from anabranch.cli.application import app
from anabranch.flent import write

SHORT = ["duration=12 s", "warmup=4 s", "flow.multipath.count=2", "flow.single-path.count=1"]
WORDS = [word for one in SHORT for word in ("--set", one)]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[ab.Result, dict[str, Any]]:
    """A result, and its file."""
    result = ab.run("khalili/scenario-c", overrides=SHORT, series=True)
    file = tmp_path_factory.mktemp("flent") / "c.flent.gz"
    write(result, file)
    return result, json.loads(gzip.decompress(file.read_bytes()))


def test_a_file_has_what_flent_asks_of_one(written: tuple[ab.Result, dict[str, Any]]) -> None:
    """As flent/resultset.py of Flent 2.3.0 reads it."""
    _, content = written
    assert content["version"] == 4
    metadata = content["metadata"]
    assert {"NAME", "TITLE", "TIME", "T0", "TOTAL_LENGTH", "STEP_SIZE"} <= metadata.keys()
    assert metadata["NAME"] == "tcp_nup"
    assert metadata["TEST_PARAMETERS"] == {"upload_streams": "5"}
    lengths = {len(column) for column in content["results"].values()}
    assert lengths == {len(content["x_values"])}
    assert set(content["raw_values"]) == {f"TCP upload::{n}" for n in range(1, 6)}
    for samples in content["raw_values"].values():
        assert [one["t"] for one in samples] == content["x_values"]


def test_rates_and_windows_are_those_of_the_series(
    written: tuple[ab.Result, dict[str, Any]],
) -> None:
    result, content = written
    run = result.runs[0]
    arrived = run.series.paths.arrived_bytes
    steps = np.diff(run.series.t_s)
    for number in range(len(run.paths.flow)):
        name = f"TCP upload::{number + 1}"
        carried = 1e6 / 8 * np.array(content["results"][name]) * steps
        assert carried.sum() == pytest.approx(arrived[-1, number] - arrived[0, number])
        samples = content["raw_values"][name]
        row = len(samples) // 2
        assert samples[row]["tcp_cwnd"] == run.series.paths.cwnd_segments[row + 1, number]
        assert samples[row]["tcp_rtt"] == pytest.approx(
            1e3 * run.series.paths.srtt_s[row + 1, number]
        )
    total = np.sum([content["results"][f"TCP upload::{n}"] for n in range(1, 6)], axis=0)
    assert content["results"]["TCP upload sum"] == pytest.approx(total)


def test_equal_runs_are_equal_files(tmp_path: Path) -> None:
    files = [tmp_path / "a.flent.gz", tmp_path / "b.flent.gz"]
    for file in files:
        done = CliRunner().invoke(app, ["run", "khalili/scenario-c", *WORDS, "--flent", str(file)])
        assert done.exit_code == 0, done.output
        assert f"written to {file}" in done.output.replace("\n", "")
    assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--flent", "-"], "--flent is -, standard output"),
        (["--flent", "c.json"], "Flent opens files whose names end in .flent.gz"),
        (["--flent", "c.flent.gz", "-n", "2"], "would be of one run, and there are 2 seeds"),
        (["--flent", "/missing/c.flent.gz"], "/missing does not exist"),
    ],
)
def test_a_place_that_cannot_be_is_refused_before_the_run(words: list[str], said: str) -> None:
    done = CliRunner().invoke(app, ["run", "khalili/scenario-c", *WORDS, *words])
    assert done.exit_code != 0
    assert said in str(done.exception) + done.output
