"""The file in which a search keeps what it scored, so that it can go on after an interrupt.

One line of JSON for each scored network, in the order in which they were scored; the first line
says what is searched. A search goes on by doing again all that it did, with scores from the file:
its end is the same as without the interrupt.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from ..files import atomic_write
from .kind import Aspects, Part
from .network import Network

FILE = "trials.jsonl"

KIND = "anabranch break"


@dataclass
class Journal:
    """What was scored. Without a file it remembers for the process alone."""

    known: dict[str, Aspects] = field(default_factory=dict)
    file: TextIO | None = None

    @classmethod
    def open(cls, path: Path, about: Mapping[str, Any], *, fresh: bool) -> Journal:
        """The journal in a file, which is made if it is not there; `fresh` begins it anew.

        Raises ValueError if the file is of another search, or is no journal. A last line that an
        interrupt cut is dropped.
        """
        head = json.dumps({"kind": KIND, **about}, sort_keys=True)
        lines = [] if fresh or not path.exists() else path.read_text("utf-8").split("\n")
        whole = lines[:-1]  # behind the last line break there is nothing, or a line that was cut
        journal = cls()
        if whole:
            _check(path, whole[0], head)
            journal._read(path, whole[1:])
        if not whole or lines[-1]:
            atomic_write(path, "".join(f"{line}\n" for line in (whole or [head])))
        journal.file = path.open("a", encoding="utf-8")
        return journal

    def find(self, network: Network, seeds: Sequence[int]) -> Aspects | None:
        """The score of a network with these seeds; None if it was not scored."""
        return self.known.get(_key(network.to_json(), seeds))

    def add(self, network: Network, seeds: Sequence[int], aspects: Aspects, stage: str) -> None:
        """Remembers a score, in the file at once."""
        content = network.to_json()
        self.known[_key(content, seeds)] = aspects
        if self.file:
            line = {
                "stage": stage,
                "network": content,
                "seeds": list(seeds),
                "aspects": {
                    name: [{"values": _plain(part.values), "limit": part.limit} for part in parts]
                    for name, parts in aspects.items()
                },
            }
            self.file.write(json.dumps(line) + "\n")
            self.file.flush()

    def close(self) -> None:
        """Closes the file."""
        if self.file:
            self.file.close()
            self.file = None

    def _read(self, path: Path, lines: Sequence[str]) -> None:
        for number, line in enumerate(lines, start=2):
            try:
                content = json.loads(line)
                aspects = {
                    name: [Part(_values(part["values"]), part["limit"]) for part in parts]
                    for name, parts in content["aspects"].items()
                }
                self.known[_key(content["network"], content["seeds"])] = aspects
            except (ValueError, KeyError, TypeError):
                raise ValueError(
                    f"{path}, line {number}, is no line of a search; --fresh begins anew"
                ) from None


def _check(path: Path, found: str, wanted: str) -> None:
    """Raises ValueError if the heads of a file and of a search differ."""
    try:
        old, new = json.loads(found), json.loads(wanted)
    except ValueError:
        old, new = {}, json.loads(wanted)
    if not isinstance(old, dict) or old.get("kind") != KIND:
        raise ValueError(f"{path} is no journal of a search; name another --out, or give --fresh")
    differ = sorted(key for key in new.keys() | old.keys() if old.get(key) != new.get(key))
    if differ:
        key = differ[0]
        raise ValueError(
            f"{path} is of a search with another {key}: {old.get(key)!r}, not {new.get(key)!r}; "
            "name another --out, or begin anew with --fresh"
        )


def _key(network: Mapping[str, Any], seeds: Sequence[int]) -> str:
    return json.dumps([network, list(seeds)], sort_keys=True)


def _plain(values: np.ndarray) -> list[float | None]:
    return [float(value) if math.isfinite(value) else None for value in values]


def _values(values: Sequence[float | None]) -> np.ndarray:
    return np.array([np.nan if value is None else value for value in values])
