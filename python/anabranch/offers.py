"""Names that people write, of plots, documents, metrics and so on; errors that offer known ones.

Case, hyphens, underscores and spaces do not matter. The rule itself is in `units::name` of Rust.
"""

from __future__ import annotations

from collections.abc import Iterable

from . import _core


class UnknownName(KeyError):
    """There is nothing of this name."""

    def __str__(self) -> str:
        """The message as it is; KeyError shows it as Python would write it."""
        return str(self.args[0]) if self.args else ""


def find(text: str, known: Iterable[str]) -> str | None:
    """The known name that `text` spells; None if it spells none of them, or several."""
    return _core.find_name(text, list(known))


def chosen(what: str, text: str, known: Iterable[str]) -> str:
    """The known name that `text` spells, where `what` is the option it was given for. Raises
    ValueError that offers the known ones if it spells none of them.
    """
    names = list(known)
    name = find(text, names)
    if name is None:
        raise ValueError(offering(f"{what} is {text!r}", text, names, "it is one of"))
    return name


def unknown(what: str, name: object, known: Iterable[str], those: str) -> UnknownName:
    """The error that there is no `what` of this name; `those` introduces the known ones.

    >>> unknown("class", "red", ["reds", "blue"], "the classes are")
    UnknownName("there is no class 'red'; did you mean `reds`? The classes are reds, blue")
    """
    return UnknownName(offering(f"there is no {what} {name!r}", name, known, those))


def offering(fault: str, name: object, known: Iterable[str], those: str) -> str:
    """`fault`, the nearest of the known names if any is near, and all of them."""
    names = list(known)
    all_ = f"{those} {', '.join(names) or 'none'}"
    near = offer(name, names)
    return f"{fault}{near} {all_[0].upper()}{all_[1:]}" if near else f"{fault}; {all_}"


def offer(name: object, known: Iterable[str]) -> str:
    """What follows an unknown name: "; did you mean `reds`?", or nothing if none is near."""
    return _core.offer(str(name), list(known))
