"""Controllers that are Python classes, for algorithms that a law cannot express.

    class Halve(ab.Controller):
        def on_ack(self, path):
            path.window += path.acked / path.window

    ab.run("khalili/scenario-c", controller=Halve)

On the command line `--controller FILE.py:CLASS`, with arguments behind another colon:
`my.py:Halve:gain=0.5`.
"""

from __future__ import annotations

import functools
import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

from . import _core
from ._core import PathView, ScenarioError

ControllerLike = str | type["Controller"] | Callable[..., "Controller"]
"""Controllers that `run` accepts: a name, the text or file of a law, a class, a function that makes
a controller, or FILE.py:CLASS.
"""


class Controller:
    """Base class of controllers: one object controls one connection. The simulator calls a method
    for each event, and the method sets windows.

    A run makes an object for each connection, with `CLASS(paths, random)`; keyword arguments are
    those of `functools.partial`. Methods may set `window`, `ssthresh` and `pacing_rate` of any
    path. Random numbers come from `random` alone, so that a seed gives the same run. An exception
    ends the run with its traceback; so does a window that is NaN or below the floor.
    """

    timer: float | None = None
    """Simulated seconds at which to call `on_timer`; None again when that time has come."""

    def __init__(self, paths: Sequence[PathView], random: Random) -> None:
        """`paths` are the views of all paths, in the order of the scenario."""
        self.paths = paths
        self.random = random

    def on_ack(self, path: PathView) -> None:
        """New data of `path` was acknowledged: `path.acked` segments. Default: slow start below
        ssthresh, above it one segment per window."""
        if path.in_recovery or path.app_limited:
            return
        # An ACK that ends recovery covers many segments; RFC 3465 counts at most two of them.
        acked = min(path.acked, 1.0 if path.after_timeout else 2.0)
        if path.window < path.ssthresh:
            path.window = min(path.window + acked, path.ssthresh)
        else:
            path.window += acked / path.window

    def on_loss(self, path: PathView) -> None:
        """A congestion event began on `path`: a loss or an ECN mark. Default: halve the window."""
        path.ssthresh = max(path.window / 2.0, 2.0, path.floor)
        path.window = path.ssthresh

    def on_timeout(self, path: PathView) -> None:
        """A segment of `path` timed out, for the first time. Default: set the smallest window, and
        slow start to half of the old one. On repeated timeouts the simulator sets the smallest
        window itself.
        """
        path.ssthresh = max(path.window / 2.0, 2.0, path.floor)
        path.window = path.floor

    def on_timer(self, now: float) -> None:
        """`timer` has come; `now` is in simulated seconds."""


@dataclass(frozen=True)
class Outside:
    """A controller that is a Python class."""

    name: str
    """Name in results: "py:Halve", with its arguments."""
    make: Callable[..., Any]
    """Called with paths and random numbers."""
    given: str
    """Text for the command line that selects this controller again; empty if there is none."""


FILE = re.compile(r"^(?P<file>.+\.py)(?::(?P<name>[A-Za-z_]\w*)(?::(?P<arguments>.*))?)?$")


def outside(controller: object) -> Outside | None:
    """The Python class behind `controller`; None for names and laws.

    Raises ScenarioError where FILE.py:CLASS names no class, and TypeError for an object that is not
    a controller.
    """
    if controller is None:
        return None
    if isinstance(controller, str):
        match = FILE.match(controller) if "\n" not in controller else None
        return _fitting(_from_file(controller, match)) if match else None
    if not callable(controller):
        raise TypeError(f"the controller is {controller!r}; it is a name, a law, or a class")
    arguments = ""
    if isinstance(controller, functools.partial):
        arguments = "".join(f",{key}={value}" for key, value in controller.keywords.items())
        name = getattr(controller.func, "__name__", "controller")
    else:
        name = getattr(controller, "__name__", type(controller).__name__)
    return _fitting(Outside(f"py:{name}{arguments.replace(',', ':', 1)}", controller, ""))


def _fitting(found: Outside) -> Outside:
    """The controller, if it can be called with paths and random numbers. Raises ScenarioError."""
    try:
        inspect.signature(found.make).bind([], None)
    except (TypeError, ValueError) as why:
        if isinstance(why, ValueError) and not isinstance(found.make, functools.partial):
            return found  # a callable without a signature
        raise ScenarioError(
            f"{found.name} is made of paths, random numbers and its own arguments: {why}\n"
            "help: derive the class from ab.Controller, and call its __init__(paths, random)"
        ) from None
    return found


def _from_file(given: str, match: re.Match[str]) -> Outside:
    """The class of FILE.py:CLASS:ARGUMENTS."""
    file, name = Path(match["file"]), match["name"]
    if not file.is_file():
        raise ScenarioError(f"{given!r}: there is no file {file}")
    module = _module(file, file.stat().st_mtime_ns)
    made = getattr(module, name, None) if name else None
    if not callable(made):
        known = [key for key, value in vars(module).items() if isinstance(value, type)]
        there = f"it has {', '.join(known) or 'none'}"
        if name is None:
            raise ScenarioError(f"{given!r}: name a class of {file}, as in {given}:CLASS; {there}")
        raise ScenarioError(f"{given!r}: {file} has no class {name}; {there}")
    arguments = {}
    if "{" in given:
        raise ScenarioError(
            f"{given!r}: one controller belongs here, and braces list several: "
            "`compare --controllers` and `audit` take those"
        )
    for pair in filter(None, (match["arguments"] or "").split(",")):
        key, _, value = pair.partition("=")
        try:
            arguments[key.strip()] = float(value)
        except ValueError:
            raise ScenarioError(f"{given!r}: {pair!r} is no argument such as gain=0.5") from None
    words = match["arguments"]
    label = f"py:{name}:{words}" if words else f"py:{name}"
    return Outside(label, functools.partial(made, **arguments) if arguments else made, given)


@functools.lru_cache(maxsize=16)
def _module(file: Path, written_ns: int) -> ModuleType:
    """The module of a file as it was written then: it is run once, however often it is named."""
    name = f"anabranch_controller_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ScenarioError(f"{file} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def label(controller: ControllerLike) -> str:
    """The name of a controller in results. Raises ScenarioError for an unknown one."""
    own = outside(controller)
    return own.name if own else _core.controller_name(str(controller))


def given_name(controller: ControllerLike) -> str:
    """Text for the command line that selects a controller again: its name, or a law or class as it
    was given.
    """
    if own := outside(controller):
        return own.given or own.name
    named = _core.controller(str(controller))
    return str(controller) if named["written"] else named["text"]


def facts(class_: Any) -> dict[str, Any] | None:
    """Facts about the controller of a class of a plan; None for a Python class and for a name that
    this version does not know.
    """
    try:
        return dict(_core.controller(class_.law or class_.controller))
    except ScenarioError:
        return None
