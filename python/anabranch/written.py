"""Laws that are written as text, or as plain Python functions.

A `Law` is a string, its own text, and is accepted wherever a controller is.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _core
from .offers import offer

if TYPE_CHECKING:
    from .translation import Note, Param


class Law(str):
    """A congestion-control law: the text of one, checked.

    >>> gentle = Law(
    ...     "param beta = 0.5; growth = 2*beta/(n^2*w_tot); backoff = w*(1 - beta/n); law gentle"
    ... )
    >>> gentle.name, gentle(beta=0.3).name
    ('gentle', 'gentle:beta=0.3')
    """

    def __new__(cls, text: str) -> Law:
        """Raises ScenarioError, with the place in the text, if the text is not a law."""
        return super().__new__(cls, _core.law(text)["text"])

    @classmethod
    def load(cls, file: str | Path, **parameters: float) -> Law:
        """The law of a file, or of one that ships by its name, with parameters.

        Raises ScenarioError if there is no such file or its text is not a law.
        """
        path = Path(file)
        if not path.is_file():
            path = shipped_law(str(file))
        if path.suffix == ".law":
            return cls(_core.controller(str(path))["source"])(**parameters)
        return cls(path.read_text(encoding="utf-8"))(**parameters)

    def __call__(self, **parameters: float) -> Law:
        """The same law with other parameters. Raises ScenarioError for a parameter that it does
        not have, or for a value out of range."""
        given = "".join(f"\nwith {name} = {number(value)}" for name, value in parameters.items())
        return Law(str(self) + given) if given else self

    @property
    def name(self) -> str:
        """As results call it: with the parameters that differ from their defaults."""
        return _core.controller_name(str(self))

    @property
    def parameters(self) -> dict[str, float]:
        """The value of each parameter."""
        return {name: value for name, value, *_ in _core.law(str(self))["parameters"]}

    def __repr__(self) -> str:
        """Name and formulas in one line."""
        return f"<Law {self.name}: {_core.controller(str(self))['formula']}>"


def number(value: float) -> str:
    """A number in the notation of laws, from any numeric type of Python."""
    value = float(value)
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def shipped_law(name: str) -> Path:
    """The file of a law that comes with the package as text. Raises ScenarioError with suggestions
    for an unknown name.
    """
    known = shipped_laws()
    if name not in known:
        hint = offer(name, known) or f"; those that ship are {', '.join(known)}"
        raise _core.ScenarioError(f"there is no file or shipped law {name!r}{hint}")
    return known[name]


def shipped_laws() -> dict[str, Path]:
    """The laws that come with the package as text: name and file."""
    root = Path(str(resources.files("anabranch") / "laws"))
    return {file.stem: file for file in sorted(root.glob("*.law"))}


def law(**parameters: float | Param | Note) -> Callable[[Callable[..., Any]], Law]:
    """Makes a law of a plain function of the own path, all paths and the parameters.

    The function is not called: its syntax tree is translated into the language of laws. A path has
    `w`, `rtt`, `x`, `l` and `rtt_min`, and the notes that the law declares (see `anabranch.Note`);
    the function returns growth and backoff.

    >>> import anabranch as ab
    >>> @ab.law(beta=0.5)
    ... def gentle(r, paths, beta):
    ...     n = len(paths)
    ...     w_tot = sum(s.w for s in paths)
    ...     return 2 * beta / (n**2 * w_tot), r.w * (1 - beta / n)

    Raises LawError, with the line of the function, for constructs that the language lacks.
    """
    from .translation import LawError, Note, Param, translated

    declared = {
        name: one if isinstance(one, Param | Note) else Param(float(one))
        for name, one in parameters.items()
    }

    def made(function: Callable[..., Any]) -> Law:
        text, places = translated(function, declared)
        try:
            return Law(text)
        except _core.ScenarioError as wrong:
            raise LawError(places.of(str(wrong))) from None

    return made


def several(text: str) -> list[str]:
    """The controllers that a text lists: by commas, and by braces for values of a parameter.

    >>> several("lia,my.law:beta={0.2,0.5},gamma=2")
    ['lia', 'my.law:beta=0.2,gamma=2', 'my.law:beta=0.5,gamma=2']
    """
    if "\n" in text or ";" in text:
        return [text]  # the text of a law
    pieces: list[str] = []
    for piece in re.split(r",(?![^{]*})", text):
        more = "=" in piece and ":" not in piece and pieces and ":" in pieces[-1]
        if more:
            pieces[-1] += f",{piece.strip()}"
        else:
            pieces.append(piece.strip())
    return [one for piece in pieces for one in _spread(piece)]


def _spread(piece: str) -> list[str]:
    """A text for each choice of the values in its braces."""
    parts = re.split(r"{([^{}]*)}", piece)
    choices = [part.split(",") if k % 2 else [part] for k, part in enumerate(parts)]
    return ["".join(words).strip() for words in itertools.product(*choices)]
