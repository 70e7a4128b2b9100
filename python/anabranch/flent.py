"""Data files of Flent, which plots and compares measurements of networks: https://flent.org.

The format is version 4, which Flent 1.9 to 2.3 read: JSON in gzip with `metadata`, `x_values`,
`results` and `raw_values`. A file is one of Flent's test `tcp_nup`, so that its plots draw it: a
path is a stream `TCP upload::N`, its rate IP bytes that arrived, in Mbit/s. `raw_values` have what
Flent takes from `ss`: `tcp_cwnd` in segments, `tcp_rtt` and `tcp_rto` in ms, `tcp_delivery_rate` in
Mbit/s. There is no series of pings, as a run has none.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .files import write_json
from .result import Result
from .statistics import jain

FORMAT = 4
"""Version of the format of Flent's files (flent/resultset.py, FILEFORMAT_VERSION)."""

START = "1970-01-01T00:00:00.000000Z"
"""Runs have no date: equal runs give equal files."""


def write(result: Result, path: str | Path) -> None:
    """Writes the first replication of a result with series. Raises OSError, and ValueError without
    series.
    """
    run = result.runs[0]
    if not run.has("series") or len(run.series.t_s) < 2:
        raise ValueError("Flent's files hold samples over time, and the result has none")
    write_json(path, content(result))


def content(result: Result) -> dict[str, Any]:
    """The file as plain data."""
    run = result.runs[0]
    series, paths = run.series, run.paths
    t_s = series.t_s
    names = [f"TCP upload::{number}" for number in range(1, len(paths.flow) + 1)]
    mbps = 8e-6 * np.diff(series.paths.arrived_bytes, axis=0) / np.diff(t_s)[:, None]
    columns: dict[str, Any] = {
        name: cells(mbps[:, number]) for number, name in enumerate(names)
    } | {
        "TCP upload avg": cells(mbps.mean(axis=1)),
        "TCP upload sum": cells(mbps.sum(axis=1)),
        "TCP upload fairness": cells(
            [float(jain(row)) if row.any() else float("nan") for row in mbps]
        ),
    }
    step_s = float(np.median(np.diff(t_s)))
    metadata = {
        "NAME": "tcp_nup",
        "TITLE": f"{result.scenario.name} in {result.world}, seed {run.seed}",
        "NOTE": f"written by anabranch {result.provenance['anabranch']}; not a test that Flent ran",
        "DATA_FILENAME": "anabranch.flent.gz",
        "TIME": START,
        "T0": START,
        "HOST": "receivers",
        "HOSTS": ["receivers"],
        "LOCAL_HOST": "senders",
        "LENGTH": result.plan.duration_s,
        "TOTAL_LENGTH": float(t_s[-1]),
        "STEP_SIZE": step_s,
        "TEST_PARAMETERS": {"upload_streams": str(len(names))},
        "FLENT_VERSION": "2.0.0",
        "IP_VERSION": 4,
        "SERIES_META": {
            name: {
                "UNITS": "Mbits/s",
                "CONG_CONTROL": controllers(result)[int(paths.flow[number])],
                "USER": label(result, number),
            }
            for number, name in enumerate(names)
        },
    }
    return {
        "version": FORMAT,
        "metadata": metadata,
        "x_values": t_s[1:].tolist(),
        "results": columns,
        "raw_values": {name: raw(result, mbps, number) for number, name in enumerate(names)},
    }


def controllers(result: Result) -> list[str]:
    """The controller of each connection."""
    known = {c.name: c.controller for c in result.plan.classes}
    return [known[name] for name in result.runs[0].flows.class_]


def label(result: Result, number: int) -> str:
    """The user and the path of a row of the table of paths."""
    run = result.runs[0]
    flow = int(run.paths.flow[number])
    return f"{run.flows.class_[flow]}.{run.flows.user[flow]}.path{run.paths.path[number]}"


def cells(values: Any) -> list[float | None]:
    """Numbers as Flent has them: null for none."""
    return [float(one) if np.isfinite(one) else None for one in values]


def raw(result: Result, mbps: Any, number: int) -> list[dict[str, float]]:
    """The samples of a path, each with the values that it has."""
    series = result.runs[0].series
    columns = {
        "val": mbps[:, number],
        "tcp_delivery_rate": mbps[:, number],
        "tcp_cwnd": series.paths.cwnd_segments[1:, number],
        "tcp_rtt": positive(1e3 * series.paths.srtt_s[1:, number]),
        "tcp_rto": positive(1e3 * series.paths.rto_s[1:, number]),
    }
    return [
        {"t": float(at_s)}
        | {key: float(column[row]) for key, column in columns.items() if np.isfinite(column[row])}
        for row, at_s in enumerate(series.t_s[1:])
    ]


def positive(values: Any) -> Any:
    """NaN in place of zero, which stands for no sample yet."""
    return np.where(values > 0, values, np.nan)
