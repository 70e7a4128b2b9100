"""Libraries that only sweeps need."""

from __future__ import annotations

import importlib
from typing import Any

EXTRAS = {
    "pyarrow": "sweeps",
    "pandas": "sweeps",
    "duckdb": "cluster",
    "dask": "cluster",
    "distributed": "cluster",
    "dask_jobqueue": "cluster",
    "yaml": "cluster",
}
"""The optional part of the package that brings each."""


class MissingLibrary(ModuleNotFoundError, ValueError):
    """A library is not installed; the text says how to install it."""


def library(name: str) -> Any:
    """A library. Raises MissingLibrary."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        root = name.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != root:
            raise
        raise MissingLibrary(
            f"this needs {root}, which is not installed: pip install 'anabranch[{EXTRAS[root]}]'",
            name=root,
        ) from None
