"""The physical ranges that the search draws from."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .. import _core
from ..offers import lookup
from .queues import QUEUES

TCPS = ("reno", "cubic", "bbr")
"""The controllers that other users may have, beside the one under test."""

SPAN = re.compile(r"^\s*([0-9.eE+-]+?)\s*(?:\.\.\s*([0-9.eE+-]+?)\s*)?([a-zA-Z/]*)\s*$")
"""`1..100 Mb/s`, or `10 Mb/s` for no choice."""

BITS = {"": 1e6, "b/s": 1.0, "kb/s": 1e3, "mb/s": 1e6, "gb/s": 1e9}
"""Bit/s of the units of rates, in small letters; a number alone means Mb/s."""


@dataclass(frozen=True)
class Ranges:
    """Least and largest values; both belong to the range."""

    rate_bps: tuple[float, float] = (1e6, 100e6)
    """Of a link."""
    rtt_s: tuple[float, float] = (0.010, 0.300)
    """Round trip of a path without queues."""
    buffer: tuple[float, float] = (0.1, 8.0)
    """Size of a queue in bandwidth-delay products."""
    loss: tuple[float, float] = (1e-4, 0.02)
    """Of a link that loses packets at random, a probability; most links do not."""
    burst: tuple[float, float] = (2.0, 20.0)
    """Packets of a burst of random losses; most losses are independent."""
    jitter_s: tuple[float, float] = (0.001, 0.050)
    """Largest extra delay on a link with jitter; most networks have none."""
    reorder: tuple[float, float] = (1e-3, 0.1)
    """Of a link that holds packets back, a probability; most networks have none."""
    links: tuple[int, int] = (1, 4)
    users: tuple[int, int] = (1, 6)
    """The subject among them."""
    paths: tuple[int, int] = (1, 3)
    """Of the subject."""
    outage_s: tuple[float, float] = (0.5, 10.0)
    step: tuple[float, float] = (0.1, 10.0)
    """The rate of a link after a step, over the rate before it."""
    window: float = 8.0
    """Least window of a Reno on each link, in segments and with an empty queue: below a few
    segments every TCP lives on timeouts."""
    packets: float = 50_000
    """Most packets of a run. Networks that need more for a measurement get slower links."""
    queues: tuple[str, ...] = tuple(QUEUES)
    others: tuple[str, ...] = TCPS

    def __post_init__(self) -> None:
        """Raises ValueError, naming the range, for one that is empty or cannot be."""
        for name, (least, most, what) in LIMITS.items():
            low, high = getattr(self, name)
            if not least <= low <= high <= most:
                raise ValueError(
                    f"the range of {what} is {low:g}..{high:g}; it lies in {least:g}..{most:g}, and "
                    "its first number is the smaller one"
                )

    def text(self) -> str:
        """The ranges in words, for tables and findings."""
        rate, rtt, loss, burst = self.rate_bps, self.rtt_s, self.loss, self.burst
        jitter, reorder = self.jitter_s, self.reorder
        return (
            f"{_counted(self.links, 'link')} of {rate[0] / 1e6:g} to {rate[1] / 1e6:g} Mb/s with "
            f"{', '.join(self.queues)} queues of {self.buffer[0]:g} to {self.buffer[1]:g} BDP and "
            f"random losses of 0 or {loss[0]:g} to {loss[1]:g}, some in bursts of {burst[0]:g} to "
            f"{burst[1]:g} packets; at most one link with jitter of {jitter[0] * 1e3:g} to "
            f"{jitter[1] * 1e3:g} ms or with {100 * reorder[0]:g} to {100 * reorder[1]:g} % of the "
            f"packets held back; {_counted(self.users, 'user')}, the "
            f"subject with {_counted(self.paths, 'path')}; round trips of {rtt[0] * 1e3:g} to "
            f"{rtt[1] * 1e3:g} ms; windows of {self.window:g} segments or more; at most "
            f"{self.packets:g} packets a run"
        )

    def options(self) -> list[str]:
        """The words of the command line for what differs from the ranges without options."""
        plain, words = Ranges(), []
        for name, one in OPTIONS.items():
            if (value := getattr(self, name)) != getattr(plain, name):
                words += [one.option, one.written(value)]
        return words

    def given(self, **texts: str | None) -> Ranges:
        """The ranges with some of them as texts such as "1..100 Mb/s"; None leaves one as it is.

        Raises ValueError that names the option, the text and what would be right.
        """
        read = {
            name: OPTIONS[name].read(OPTIONS[name].option, text)
            for name, text in texts.items()
            if text is not None
        }
        return replace(self, **read)


LIMITS = {
    "rate_bps": (1e4, 1e10, "rates (bit/s)"),
    "rtt_s": (1e-3, 2.0, "round trips (s)"),
    "buffer": (0.01, 100.0, "buffers (BDP)"),
    "loss": (1e-6, 0.3, "random losses"),
    "burst": (1.0, 1000.0, "bursts of losses (packets)"),
    "jitter_s": (1e-4, 1.0, "jitter (s)"),
    "reorder": (1e-6, 0.5, "reordering"),
    "links": (1, 4, "links"),
    "users": (1, 6, "users"),
    "paths": (1, 3, "paths"),
    "outage_s": (0.1, 60.0, "outages (s)"),
    "step": (0.01, 100.0, "steps of rates"),
}
"""Least and largest value that a range may have, and its name in errors."""


def _counted(span: tuple[int, int], noun: str) -> str:
    low, high = span
    if low == high:
        return f"{low} {noun}{'s' * (low != 1)}"
    return f"{low} to {high} {noun}s"


def _split(option: str, text: str, example: str) -> tuple[str, str, str]:
    """First and last number, and the unit. Raises ValueError."""
    match = SPAN.match(text)
    if not match:
        raise ValueError(f"{option} is {text!r}; write a range such as {example}, or one value")
    first, last, unit = match.groups()
    return first, last or first, unit


def _rates(option: str, text: str) -> tuple[float, float]:
    first, last, unit = _split(option, text, "1..100Mb/s")
    bits = BITS.get(unit.lower())
    if bits is None:
        raise ValueError(f"{option} is {text!r}; its unit is kb/s, Mb/s or Gb/s")
    low, high = _pair(option, text, first, last)
    return low * bits, high * bits


def _times(option: str, text: str) -> tuple[float, float]:
    first, last, unit = _split(option, text, '"10..300 ms"')
    try:
        return _core.seconds(f"{first} {unit}"), _core.seconds(f"{last} {unit}")
    except ValueError as error:
        raise ValueError(f'{option} is {text!r}; write a range such as "10..300 ms"') from error


def _numbers(option: str, text: str) -> tuple[float, float]:
    first, last, unit = _split(option, text, "0.1..8")
    if unit:
        raise ValueError(f"{option} is {text!r}; it has no unit")
    return _pair(option, text, first, last)


def _pair(option: str, text: str, first: str, last: str) -> tuple[float, float]:
    try:
        return float(first), float(last)
    except ValueError:
        raise ValueError(f"{option} is {text!r}; {first!r} or {last!r} is no number") from None


def _counts(option: str, text: str) -> tuple[int, int]:
    low, high = _numbers(option, text)
    if not (low.is_integer() and high.is_integer()):
        raise ValueError(f"{option} is {text!r}; these are whole numbers, such as 1..4")
    return int(low), int(high)


def _listed(known: Sequence[str]) -> Callable[[str, str], tuple[str, ...]]:
    def read(option: str, text: str) -> tuple[str, ...]:
        what = f"{option.removeprefix('--')} entry"
        words = (lookup(what, word.strip(), known, "the entries are") for word in text.split(","))
        return tuple(dict.fromkeys(words))

    return read


def _spanned(unit: str = "", of_unit: float = 1.0) -> Callable[[tuple[float, float]], str]:
    return lambda span: "..".join(f"{value / of_unit:g}" for value in dict.fromkeys(span)) + unit


@dataclass(frozen=True)
class Option:
    """An option of the command line for a range."""

    option: str
    read: Callable[[str, str], Any]
    """The range from the option and its text. Raises ValueError that names both."""
    written: Callable[[Any], str]
    """The text of a range, which `read` reads."""


OPTIONS = {
    "rate_bps": Option("--rate", _rates, _spanned("Mb/s", 1e6)),
    "rtt_s": Option("--rtt", _times, _spanned("ms", 1e-3)),
    "buffer": Option("--buffer", _numbers, _spanned()),
    "loss": Option("--loss", _numbers, _spanned()),
    "burst": Option("--burst", _numbers, _spanned()),
    "jitter_s": Option("--jitter", _times, _spanned("ms", 1e-3)),
    "reorder": Option("--reorder", _numbers, _spanned()),
    "links": Option("--links", _counts, _spanned()),
    "users": Option("--users", _counts, _spanned()),
    "paths": Option("--paths", _counts, _spanned()),
    "queues": Option("--queues", _listed(tuple(QUEUES)), ",".join),
    "others": Option("--others", _listed(TCPS), ",".join),
}
"""The options by the names of the ranges; others can be set from Python alone."""
