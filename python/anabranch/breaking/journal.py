"""The file in which a search keeps what it scored, so that it can go on after an interrupt.

One line of JSON for each scored network, in the order in which they were scored; the first line
says what is searched. A search goes on by doing again all that it did, with scores from the file:
its end is the same as without the interrupt.
"""

from __future__ import annotations

import fcntl
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np

from .kind import Aspects, Part
from .network import Network

FILE = "trials.jsonl"

KIND = "anabranch break"

FOREIGN = "is no journal of a search, and is left as it is; name another --out"


@dataclass
class Journal:
    """What was scored. Without a file it remembers for the process alone."""

    known: dict[str, Aspects] = field(default_factory=dict)
    file: IO[bytes] | None = None

    @classmethod
    def open(cls, path: Path, about: Mapping[str, Any], *, fresh: bool) -> Journal:
        """The journal in a file, which is made if it is not there; `fresh` begins it anew.

        Raises ValueError if another process has it open, and if the file is of another search or is
        no journal, which is left as it is. A last line that an interrupt cut is dropped.
        """
        head = json.dumps({"kind": KIND, **about}, sort_keys=True).encode()
        file = path.open("a+b")
        try:
            _lock(path, file)
            file.seek(0)
            *whole, cut = file.read().split(b"\n")
            journal = cls(file=file)
            if not whole and not head.startswith(cut):
                raise ValueError(f"{path} {FOREIGN}")
            old = _head(path, whole[0]) if whole else {}
            if fresh:
                whole = []
            if whole:
                _check(path, old, json.loads(head))
                journal._read(path, whole[1:])
            file.truncate(sum(len(line) + 1 for line in whole))
            if not whole:
                file.write(head + b"\n")
                file.flush()
        except BaseException:
            file.close()
            raise
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
            self.file.write(json.dumps(line).encode() + b"\n")
            self.file.flush()

    def close(self) -> None:
        """Closes the file."""
        if self.file:
            self.file.close()
            self.file = None

    def _read(self, path: Path, lines: Sequence[bytes]) -> None:
        for number, line in enumerate(lines, start=2):
            try:
                content = json.loads(line)
                aspects = {
                    name: [Part(_values(part["values"]), _limit(part["limit"])) for part in parts]
                    for name, parts in content["aspects"].items()
                }
                self.known[_key(content["network"], content["seeds"])] = aspects
                Network.of_json(content["network"])
            except (ValueError, KeyError, TypeError, AttributeError):
                raise ValueError(
                    f"{path}, line {number}, is no line of a search; --fresh begins anew"
                ) from None


def _lock(path: Path, file: IO[bytes]) -> None:
    """Keeps other processes off until the file is closed. Raises ValueError if one has it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ValueError(
            f"{path} is in use by another search; wait for it, or name another --out"
        ) from None


def _head(path: Path, line: bytes) -> dict[str, Any]:
    """What a file says that is searched. Raises ValueError if it is no journal."""
    try:
        found = json.loads(line)
    except ValueError:  # also where it is not UTF-8
        found = None
    if not isinstance(found, dict) or found.get("kind") != KIND:
        raise ValueError(f"{path} {FOREIGN}")
    return found


def _check(path: Path, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """Raises ValueError if the heads of a file and of a search differ."""
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
    """Values as they were written. Raises TypeError for a text."""
    return np.array([np.nan if value is None else _number(value) for value in values])


def _limit(value: float | None) -> float | None:
    return None if value is None else _number(value)


def _number(value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError
    return float(value)
