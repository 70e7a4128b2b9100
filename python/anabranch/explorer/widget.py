"""The page in a notebook: a widget whose requests this process answers."""

from __future__ import annotations

import importlib
from importlib import resources
from typing import Any

from .. import _core
from .data import Opened, data
from .prediction import theory


def explorer(first: Opened) -> Any:
    """The page as an anywidget, which Jupyter and marimo show. Raises ModuleNotFoundError if
    anywidget is not installed.
    """
    widgets, traits = (_library(name) for name in ("anywidget", "traitlets"))
    widget = widgets.AnyWidget(
        _esm=(resources.files("anabranch") / "explorer" / "widget.js").read_text("utf-8")
    )
    widget.add_traits(data=traits.Dict(data(first=first)).tag(sync=True))
    widget.on_msg(answer)
    return widget


def answer(widget: Any, message: Any, _buffers: Any = None) -> None:
    """Answers a message of the page: {id, request} with {id} and the engine's bytes, {id, theory}
    with {id, theory}, and what cannot be answered with {id, error}.
    """
    id_ = message.get("id") if isinstance(message, dict) else None
    try:
        match message:
            case {"request": str(request)}:
                widget.send({"id": id_}, [_core.page(request)])
            case {"theory": str(request)}:
                widget.send({"id": id_, "theory": theory(request)})
            case _:
                raise ValueError(f"{message!r:.80} is not a message of the page")
    except ValueError as error:
        widget.send({"id": id_, "error": str(error)})


def _library(name: str) -> Any:
    """A library that only the widget needs."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise ModuleNotFoundError(
            f"this needs {name}, which is not installed: pip install 'anabranch[notebook]'",
            name=name,
        ) from None
