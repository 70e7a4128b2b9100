"""Unknown names: errors that offer the known ones."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

NEAR = 0.6
"""Least similarity of a name that is offered (difflib's ratio)."""

MOST_OFFERED = 3


class UnknownName(KeyError):
    """There is nothing of this name."""

    def __str__(self) -> str:
        """The message as it is; KeyError shows it as Python would write it."""
        return str(self.args[0]) if self.args else ""


def unknown(what: str, name: object, known: Iterable[str], those: str) -> UnknownName:
    """The error that there is no `what` of this name; `those` introduces the known ones.

    >>> unknown("class", "red", ["reds", "blue"], "the classes are")
    UnknownName("there is no class 'red'; did you mean reds? The classes are reds, blue")
    """
    return UnknownName(offering(f"there is no {what} {name!r}", name, known, those))


def offering(fault: str, name: object, known: Iterable[str], those: str) -> str:
    """`fault`, the nearest of the known names if any is near, and all of them."""
    names = list(known)
    near = nearest(name, names)
    all_ = f"{those} {', '.join(names) or 'none'}"
    if not near:
        return f"{fault}; {all_}"
    return f"{fault}; did you mean {' or '.join(near)}? {all_[0].upper()}{all_[1:]}"


def nearest(name: object, known: Iterable[str]) -> list[str]:
    """The names that continue `name` after an underscore, and those that are spelled alike."""
    names, text = list(known), str(name)
    near = [one for one in names if text and one.startswith(f"{text}_")]
    alike = difflib.get_close_matches(text, names, MOST_OFFERED, NEAR)
    return [*near, *(one for one in alike if one not in near)][:MOST_OFFERED]
