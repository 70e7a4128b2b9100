"""Rules for words that several commands take; errors name the option, the value and the range."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from .. import _core
from .._core import ScenarioError
from ..files import check_writable, is_standard_output
from ..result import QLOG_VERSIONS, Recording
from ..scenario import Scenario
from ..seeds import LAST_SEED
from ..sources import load

MOST_THREADS = 1024
MOST_REPLICATIONS = 1_000_000


def seeds_from(seed: int, repeat: int) -> range:
    """The seeds of `--seed` and `--repeat`. Raises ValueError when one is out of range."""
    if not 0 <= seed <= LAST_SEED:
        raise ValueError(f"--seed is {seed}; it is from 0 to {LAST_SEED}")
    repeat = checked_replications("--repeat", repeat)
    if seed + repeat - 1 > LAST_SEED:
        raise ValueError(
            f"--seed is {seed} and --repeat {repeat}; seeds count up and end at {LAST_SEED}"
        )
    return range(seed, seed + repeat)


def checked_replications(option: str, number: int) -> int:
    """The value of an option that counts replications. Raises ValueError when it is out of
    range.
    """
    if not 1 <= number <= MOST_REPLICATIONS:
        raise ValueError(f"{option} is {number}; it is from 1 to {MOST_REPLICATIONS}")
    return number


def scenario_from(source: str) -> Scenario:
    """The scenario that SCENARIO means. Raises ScenarioError, also for a directory."""
    try:
        return load(source)
    except ScenarioError:
        if not Path(source).is_dir():
            raise
    raise ScenarioError(
        f"{source} is a directory; name a TOML file in it, or a shipped scenario\n"
        "help: `anabranch list scenarios` shows those that are shipped"
    )


def checked_threads(threads: int) -> int:
    """The value of `--threads`. Raises ValueError when it is out of range."""
    if not 0 <= threads <= MOST_THREADS:
        raise ValueError(
            f"--threads is {threads}; it is from 0, which takes every core, to {MOST_THREADS}, "
            f"and this machine has {os.cpu_count()} cores"
        )
    return threads


def time_from(option: str, text: str, hint: str = 'a time such as "150 ms"') -> float:
    """Seconds of a time with its unit. Raises ValueError that names the option."""
    try:
        return _core.seconds(text)
    except ValueError as error:
        raise ValueError(f"{option} is {text!r}; write {hint} ({error})") from None


def recording_from(
    pcap: Path | None,
    qlog: Path | None,
    until: str | None,
    keep_bytes: int | None,
    version: str | None = None,
) -> Recording:
    """Recordings that `run` writes. Raises ValueError for options that do not go together."""
    if until is not None and not (pcap or qlog):
        raise ValueError(f"--record-until is {until!r}; say what to record with --pcap or --qlog")
    if keep_bytes is not None and not pcap:
        raise ValueError(f"--pcap-keep is {keep_bytes}; say where to with --pcap")
    if version is not None and version not in QLOG_VERSIONS:
        raise ValueError(f"--qlog-version is {version!r}; write {' or '.join(QLOG_VERSIONS)}")
    if version is not None and not qlog:
        raise ValueError(f"--qlog-version is {version}; say where to with --qlog")
    for option, file in (("--pcap", pcap), ("--qlog", qlog)):
        if file is not None and is_standard_output(file):
            raise ValueError(f"{option} is -, standard output, which takes JSON alone; name a file")
    if pcap and qlog and os.path.realpath(pcap) == os.path.realpath(qlog):
        raise ValueError(f"--pcap and --qlog are both {pcap}; name two files")
    until_s = time_from("--record-until", until) if until is not None else None
    return Recording(pcap, qlog, until_s, keep_bytes, version)


def flent_from(flent: Path | None, seeds: Sequence[int]) -> None:
    """Checks the place of a data file of Flent. Raises ValueError, and OSError if it cannot be
    written.
    """
    if flent is None:
        return
    if is_standard_output(flent):
        raise ValueError("--flent is -, standard output, which takes JSON alone; name a file")
    if not flent.name.endswith(".flent.gz"):
        raise ValueError(f"--flent is {flent}; Flent opens files whose names end in .flent.gz")
    if len(seeds) > 1:
        raise ValueError(f"{flent} would be of one run, and there are {len(seeds)} seeds; give one")
    check_writable(flent)
