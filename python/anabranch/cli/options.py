"""Rules for words that several commands take; errors name the option, the value and the range."""

from __future__ import annotations

import os
from pathlib import Path

from .._core import ScenarioError
from ..result import LAST_SEED
from ..scenario import Scenario, load

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
    """The value of an option that counts replications. Raises ValueError when it is out of range."""
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
