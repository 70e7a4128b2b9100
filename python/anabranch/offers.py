"""Looks up names that users write (plots, documents, metrics); errors suggest known names.

Case, hyphens, underscores and spaces do not matter. The rule itself is in `units::name` of Rust.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from . import _core

Value = TypeVar("Value")

MOST_LISTED = 40
"""Known names that a message has in full."""


class UnknownName(KeyError, ValueError):
    """There is nothing of this name."""

    def __str__(self) -> str:
        """The message without quotes, which KeyError would add."""
        return str(self.args[0]) if self.args else ""


def find(text: object, known: Iterable[str]) -> str | None:
    """The known name that `text` spells; None if it spells none of them, or several."""
    return _core.find_name(text, list(known)) if isinstance(text, str) else None


def chosen(what: str, text: object, known: Iterable[str]) -> str:
    """The known name that `text` spells, where `what` is the option it was given for. Raises
    UnknownName that offers the known ones if it spells none of them.

    >>> chosen("--utility", "LOG", ["log", "tcp"])
    'log'
    """
    names = list(known)
    name = find(text, names)
    if name is None:
        raise UnknownName(offering(f"{what} is {text!r}", text, names, "it is one of"))
    return name


def lookup(what: str, text: object, known: Iterable[str], those: str) -> str:
    """The known name that `text` spells. Raises UnknownName as `unknown` says it."""
    names = list(known)
    name = find(text, names)
    if name is None:
        raise unknown(what, text, names, those)
    return name


def keyed(
    what: str, given: Mapping[str, Value], known: Iterable[str], those: str
) -> dict[str, Value]:
    """Entries given by name, keyed by the known names. Raises UnknownName as `lookup` does, and
    ValueError if two spellings denote the same name.
    """
    names = list(known)
    found: dict[str, Value] = {}
    for text, value in given.items():
        name = lookup(what, text, names, those)
        if name in found:
            raise ValueError(f"the {what} {name!r} is there twice, once as {text!r}")
        found[name] = value
    return found


def unknown(what: str, name: object, known: Iterable[str], those: str) -> UnknownName:
    """The error that there is no `what` of this name; `those` introduces the known ones.

    >>> unknown("class", "red", ["reds", "blue"], "the classes are")
    UnknownName("there is no class 'red'; did you mean `reds`? The classes are reds, blue")
    """
    return UnknownName(offering(f"there is no {what} {name!r}", name, known, those))


def offering(fault: str, name: object, known: Iterable[str], those: str) -> str:
    """`fault`, the nearest of the known names if any is near, and all of them."""
    names = list(known)
    more = len(names) - MOST_LISTED
    listed = [*names[:MOST_LISTED], *([f"and {more} more"] if more > 0 else [])]
    all_ = f"{those} {', '.join(listed) or 'none'}"
    near = offer(name, names)
    return f"{fault}{near} {all_[0].upper()}{all_[1:]}" if near else f"{fault}; {all_}"


def offer(name: object, known: Iterable[str]) -> str:
    """Text after an unknown name: "; did you mean `reds`?", or empty if no name is near."""
    return _core.offer(str(name), list(known))
