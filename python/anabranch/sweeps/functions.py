"""Functions of Python in the place of expressions, and how one in a file is found."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any

IN_FILE = re.compile(r"^\s*(?P<file>.+\.py):(?P<name>[A-Za-z_]\w*)\s*$")
"""`FILE.py:FUNCTION`."""


def function(text: str, what: str) -> Callable[..., Any]:
    """The function that `FILE.py:FUNCTION` names. Raises ValueError that begins with `what`."""
    match = IN_FILE.match(text)
    if not match:
        raise ValueError(f"{what} is {text!r}; write FILE.py:FUNCTION")
    file, name = Path(match["file"]), match["name"]
    if not file.is_file():
        raise ValueError(f"{what} is {text!r}; there is no file {file}")
    spec = importlib.util.spec_from_file_location(f"anabranch_function_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise ValueError(f"{what} is {text!r}; {file} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look there
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise ValueError(
            f"{what} is {text!r}; {file} fails: {type(error).__name__}: {error}"
        ) from error
    found = getattr(module, name, None)
    if not callable(found):
        raise ValueError(f"{what} is {text!r}; {file} has no function {name}")
    return found  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Derived:
    """A value that a function derives from those of axes, which it is given as a dictionary of
    texts by key. It returns a number, or a text as `--set` takes it.
    """

    text: str
    call: Callable[[dict[str, str]], object]

    @property
    def keys(self) -> dict[str, str]:
        """The keys that it takes as numbers: a function takes texts."""
        return {}

    def written(self, values: Mapping[str, str]) -> str:
        """The value as `--set` takes it. Raises ValueError where the function raises, or gives
        another kind.
        """
        try:
            found = self.call(dict(values))
        except Exception as error:
            at = ", ".join(f"{key} = {value}" for key, value in values.items())
            raise ValueError(
                f"{self.text} failed at {at}: {type(error).__name__}: {error}"
            ) from error
        if isinstance(found, bool) or not isinstance(found, str | Real):
            raise ValueError(f"{self.text} returned {found!r}; return a number or a text")
        return f"{found:.12g}" if isinstance(found, float) else str(found)
