"""The files of a paper's folder: tables with their places, checked against the schema."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any

from .lines import line_of

LEDGER = "ledger.toml"


class LedgerError(ValueError):
    """A ledger is wrong: the text names the file, the line and the remedy."""


@dataclass(frozen=True)
class Place:
    """An entry of a ledger's file."""

    file: Path
    text: str = field(repr=False, compare=False)
    path: tuple[str | int, ...] = ()

    def inner(self, *keys: str | int) -> Place:
        """The place of an entry inside."""
        return replace(self, path=(*self.path, *keys))

    def error(self, why: object, *keys: str | int) -> LedgerError:
        """An error here."""
        line = line_of(self.text, (*self.path, *keys))
        return LedgerError(f"{self.file}:{line}: {why}")


@dataclass(frozen=True)
class Part:
    """An entry with its place."""

    table: Mapping[str, Any]
    place: Place


@dataclass
class Content:
    """What the files of a folder have together."""

    parts: dict[str, list[Part]] = field(default_factory=dict)
    files: set[Path] = field(default_factory=set)
    """Those that have been included."""

    def each(self, key: str) -> list[Part]:
        """The entries of an array of tables, or the one table, in every file."""
        return self.parts.get(key, [])

    def merged(self, key: str) -> dict[str, Any]:
        """A table that several files may have a part of."""
        found: dict[str, Any] = {}
        for part in self.each(key):
            found |= part.table
        return found


def read(ledger: Path) -> Content:
    """The content of a ledger and of the files that it includes. Raises LedgerError."""
    content = Content()
    _read(ledger, content, [])
    if not content.each("document"):
        raise LedgerError(f"{ledger}:1: there is no [document]; it has the paper's key and title")
    return content


def _read(file: Path, content: Content, within: list[Path]) -> None:
    text = _text(file)
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = next((w for w in str(error).split() if w.rstrip(",").isdigit()), "1").rstrip(",")
        raise LedgerError(f"{file}:{line}: {error}") from None
    place = Place(file, text)
    for path, why in wrong(tables):
        raise place.error(why, *path)
    for number, name in enumerate(tables.pop("include", [])):
        inner = (file.parent / name).resolve()
        if inner in (*within, file.resolve()):
            raise place.error(
                f"{name} includes this file again; take one of the two out", "include"
            )
        if not inner.is_file():
            raise place.error(f"there is no file {name} to include", "include", number)
        if inner in content.files:
            raise place.error(f"{name} is included twice; take one of the two out", "include")
        content.files.add(inner)
        _read(file.parent / name, content, [*within, file.resolve()])
    for key, value in tables.items():
        rows = value if isinstance(value, list) else [value]
        for number, row in enumerate(rows):
            at = (key, number) if isinstance(value, list) else (key,)
            content.parts.setdefault(key, []).append(Part(row, place.inner(*at)))


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise LedgerError(
            f"{file.parent} has no {file.name}; `anabranch paper new NAME` writes one to begin with"
        ) from None
    except UnicodeDecodeError:
        raise LedgerError(f"{file} is no UTF-8 text") from None
    except NotADirectoryError:
        raise LedgerError(f"{file.parent} is a file; give the folder that has {LEDGER}") from None
    except OSError as error:
        raise LedgerError(f"{file} cannot be read: {error.strerror}") from None


def schema() -> dict[str, Any]:
    """The JSON schema of a ledger's file."""
    file = resources.files("anabranch.papers") / "ledger.schema.json"
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def wrong(tables: Mapping[str, Any]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """What the schema says against the tables of a file: the place, and what is wrong."""
    import jsonschema_rs

    for error in jsonschema_rs.validator_for(schema()).iter_errors(tables):
        yield tuple(error.instance_path), error.message
