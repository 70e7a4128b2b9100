"""Axes of a sweep: keys of the scenario, as `--set` knows them, and the values that they take.

An axis is one key, or several that change together. Values are texts, as `--set` is given them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..axes import checked, read_axis
from ..written import several


@dataclass(frozen=True)
class Axis:
    """Keys that change together, and their values: each of `rows` has one for each of `keys`."""

    keys: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def __len__(self) -> int:
        """How many values it has."""
        return len(self.rows)


def axis(text: str) -> Axis:
    """An axis from `KEY=V1,V2,…`, `KEY=FIRST..LAST:COUNT UNIT` or `KEY=FIRST..LAST:COUNT log UNIT`;
    several such with a semicolon between them change together.

    Values of a controller may have braces, as in `my.law:beta={0.2,0.5}`. Raises ValueError, naming
    the text.

    >>> axis("link.ap1.rate=5..40:8 Mb/s").rows[1]
    ('10 Mb/s',)
    >>> axis("link.a.rate=1,2; link.b.rate=3,4").rows
    (('1', '3'), ('2', '4'))
    """
    return together([_one(part) for part in text.split(";")], text)


def from_values(key: str, values: object) -> Axis:
    """An axis from what a file or Python gives for a key: a list of values, or a text of them."""
    if isinstance(values, str):
        return _one(f"{key}={values}")
    if not isinstance(values, Iterable):
        raise ValueError(f"{key} is {values!r}; give a list of values, or a text such as 5..40:8")
    texts = [str(value).lower() if isinstance(value, bool) else str(value) for value in values]
    return _single(key, checked(texts, f"{key} = {texts}"))


def together(axes: Sequence[Axis], text: str = "") -> Axis:
    """One axis of several whose values change together. Raises ValueError for other lengths."""
    lengths = {len(one) for one in axes}
    keys = [key for one in axes for key in one.keys]
    if len(lengths) > 1:
        counts = ", ".join(f"{', '.join(one.keys)} has {len(one)}" for one in axes)
        raise ValueError(f"values that change together are equally many; {counts}")
    if len(set(keys)) < len(keys):
        raise ValueError(f"{text or keys}: a key is there twice")
    rows = zip(*(one.rows for one in axes), strict=True)
    return Axis(tuple(keys), tuple(tuple(itertools.chain(*row)) for row in rows))


def product(axes: Sequence[Axis]) -> Iterator[dict[str, str]]:
    """Every combination of the values of axes, the last axis fastest. Raises ValueError if a key is
    on two of them.
    """
    keys = [key for one in axes for key in one.keys]
    for key in keys:
        if keys.count(key) > 1:
            raise ValueError(f"the key {key!r} is on two axes; each axis has its own")
    for rows in itertools.product(*(one.rows for one in axes)):
        yield dict(zip(keys, itertools.chain(*rows), strict=True))


def _one(text: str) -> Axis:
    return _single(*read_axis(text, several if is_controller(text) else None))


def _single(key: str, values: Sequence[str]) -> Axis:
    return Axis((key,), tuple((value,) for value in values))


def is_controller(text: str) -> bool:
    """Whether the values of an axis are controllers, whose parameters may have commas."""
    return text.partition("=")[0].strip().lower().endswith("controller")
