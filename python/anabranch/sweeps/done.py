"""Which runs a store has, in little memory."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from typing import TYPE_CHECKING

import numpy as np

from .parts import coded

if TYPE_CHECKING:
    import pyarrow


class Done:
    """Runs, by configuration and seed: `(key, seed) in done`, and `len(done)`.

    A run takes 8 bytes, and a configuration about 150 more.
    """

    def __init__(self, runs: pyarrow.Table) -> None:
        """The runs of a table with the columns `configuration` and `seed`; one may be there twice."""
        keys, code = coded(runs.column("configuration"))
        seed = runs.column("seed").to_numpy()
        order = np.lexsort((seed, code))
        code, seed = code[order], seed[order]
        first = np.ones(len(seed), bool)
        first[1:] = (np.diff(code) != 0) | (np.diff(seed) != 0)
        code, seed = code[first], seed[first]
        self._seeds = array("Q", seed.astype(np.uint64).tobytes())
        self._starts = array("Q", np.searchsorted(code, np.arange(len(keys) + 1)).tobytes())
        self._place = {key: place for place, key in enumerate(keys.to_pylist())}

    def __contains__(self, run: tuple[str, int]) -> bool:
        """Whether a run is among them."""
        key, seed = run
        place = self._place.get(key)
        if place is None:
            return False
        end = self._starts[place + 1]
        at = bisect_left(self._seeds, seed, self._starts[place], end)
        return at < end and self._seeds[at] == seed

    def __len__(self) -> int:
        """How many they are."""
        return len(self._seeds)
