"""Seeds: which replications a caller wants."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Sequence
from typing import TypeAlias

LAST_SEED = 2**64 - 1
"""Seeds are 64 bits wide."""

Seeds: TypeAlias = int | Iterable[int]
"""Distinct seeds, or how many: 20 stands for 1 to 20."""


def checked_seeds(seeds: Seeds) -> list[int]:
    """The seeds that `seeds` denotes, in its order.

    Raises ValueError if `seeds` is empty, or if a seed is not a whole number, out of range, or
    repeated: equal seeds give the same run, and an interval over them would be too narrow.
    """
    if isinstance(seeds, str | bytes | bool):
        raise ValueError(f"seeds is {seeds!r}; give how many, such as 20, or a list such as [1, 2]")
    try:
        many = operator.index(seeds)  # type: ignore[arg-type]
    except TypeError:
        return _distinct(seeds)
    if not 1 <= many <= LAST_SEED:
        raise ValueError(f"seeds is {many}; a number says how many replications, 1 or more")
    return list(range(1, many + 1))


def consecutive(seeds: Sequence[int]) -> bool:
    """Whether the seeds are consecutive, as the command line counts them."""
    return all(after == seed + 1 for seed, after in itertools.pairwise(seeds))


def _distinct(seeds: object) -> list[int]:
    if not isinstance(seeds, Iterable):
        raise ValueError(f"seeds is {seeds!r}; give how many, such as 20, or a list such as [1, 2]")
    chosen = [_whole(seed) for seed in seeds]
    if not chosen:
        raise ValueError("seeds is empty; at least one seed is needed")
    met: set[int] = set()
    for seed in chosen:
        if not 0 <= seed <= LAST_SEED:
            raise ValueError(f"the seed {seed} is not from 0 to {LAST_SEED}")
        if seed in met:
            raise ValueError(
                f"the seed {seed} is there twice; equal seeds are the same run, not a replication"
            )
        met.add(seed)
    return chosen


def _whole(seed: object) -> int:
    """A seed as an integer; numpy's integers are integers, truth values and fractions are not."""
    if not isinstance(seed, bool):
        try:
            return operator.index(seed)  # type: ignore[arg-type]
        except TypeError:
            pass
    raise ValueError(f"the seed {seed!r} is not a whole number; seeds are integers such as 1")
