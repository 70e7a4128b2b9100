"""The circle check: no files of one room that need each other.

A room is a crate, the Python package, or `bpf`. An arrow leads from a file to the file that defines
a name which the first one uses; re-exports are followed. No arrow leads from a module to the
modules that contain it: a module and its parts are one house. Tests are left out. The check reads
text: names that a macro makes are not seen.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

Arrows = dict[Path, dict[Path, str]]
"""For each file the files that it needs, each with one of the names taken from there."""

NAME = r"[A-Za-z_]\w*"
USE = re.compile(r"\buse\s+([^;]+);")
DEFINED = re.compile(rf"\b(?:fn|struct|enum|trait|type|const|static|union|macro_rules!)\s+({NAME})")
PATH = re.compile(rf"(?<![\w:.]){NAME}(?:::{NAME})+")
TEST = re.compile(r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*")
IGNORED = re.compile(
    r"//[^\n]*|/\*.*?\*/|'(?:\\.[^']*|[^'\\\n])'|r#\"[\s\S]*?\"#|\"(?:\\.|[^\"\\])*\"", re.DOTALL
)
"""Comments and literals of Rust and C."""


def circles(root: Path) -> Iterator[str]:
    """One line for each circle of the repository at `root`."""
    for manifest in sorted(root.glob("crates/*/Cargo.toml")):
        crate = manifest.parent
        yield from found(root, crate.name, rust_arrows(crate / "src"))
    yield from found(root, "python", python_arrows(root / "python"))
    yield from found(root, "bpf", c_arrows(root / "bpf"))


def found(root: Path, room: str, arrows: Arrows) -> Iterator[str]:
    for knot in knots(arrows):
        first = min(knot)
        way = shortest(arrows, first, knot)
        steps = [
            f"{file.relative_to(root)} takes `{arrows[file][after]}` of"
            for file, after in pairwise(way)
        ]
        yield f"{room}: {len(knot)} files need each other: {' '.join(steps)} {way[-1].name}"


def knots(arrows: Arrows) -> list[set[Path]]:
    """Files that reach each other, as one set for each knot."""
    reached = {file: reach(arrows, file) for file in arrows}
    left, knotted = set(arrows), []
    while left:
        file = left.pop()
        knot = {other for other in reached[file] if file in reached.get(other, ())} - {file}
        if knot:
            knotted.append(knot | {file})
            left -= knot
    return sorted(knotted, key=min)


def reach(arrows: Arrows, file: Path) -> set[Path]:
    seen, stack = set(), [file]
    while stack:
        for after in arrows.get(stack.pop(), {}):
            if after not in seen:
                seen.add(after)
                stack.append(after)
    return seen


def shortest(arrows: Arrows, first: Path, knot: set[Path]) -> list[Path]:
    """The shortest way from `first` back to it."""
    ways = [[first]]
    for way in ways:
        for after in sorted(set(arrows[way[-1]]) & knot):
            if after == first:
                return [*way, after]
            if all(after not in other for other in ways):
                ways.append([*way, after])
    return [first, first]


# Rust.


class Module:
    """A file of a crate: its place in the tree, its code without tests, and what it imports."""

    def __init__(self, file: Path, place: tuple[str, ...]) -> None:
        """Reads the file."""
        self.file, self.place = file, place
        self.code, self.tests = without_tests(IGNORED.sub(" ", file.read_text()))
        self.names: dict[str, list[str]] = {}
        self.globs: list[list[str]] = []
        for match in USE.finditer(self.code):
            for path, name in leaves(match[1]):
                if name == "*":
                    self.globs.append(path)
                else:
                    self.names[name] = path
        self.defined = set(DEFINED.findall(self.code))


def without_tests(code: str) -> tuple[str, set[str]]:
    """The code without its test modules, and the names of test modules that are files."""
    files = set()
    while match := TEST.search(code):
        end = match.end()
        if code[end : end + 1] == "{":
            end = closing(code, end)
        else:
            files.add(match[1])
        code = code[: match.start()] + code[end + 1 :]
    return code, files


def closing(code: str, start: int) -> int:
    depth = 0
    for place in range(start, len(code)):
        depth += {"{": 1, "}": -1}.get(code[place], 0)
        if depth == 0:
            return place
    return len(code)


def leaves(tree: str) -> Iterator[tuple[list[str], str]]:
    """Each path of a `use`, and the name that it gets here."""
    tree = tree.strip()
    head, brace, inner = tree.partition("{")
    if brace:
        for part in split(inner[: inner.rindex("}")]):
            yield from leaves(head + part) if part != "self" else leaves(head.removesuffix("::"))
        return
    path, _, alias = tree.partition(" as ")
    steps = [step.strip() for step in path.split("::")]
    if steps[-1] == "*":
        yield steps[:-1], "*"
    elif steps[-1]:
        yield steps, alias.strip() or steps[-1]


def split(parts: str) -> list[str]:
    """The parts between commas outside braces."""
    found, depth = [""], 0
    for letter in parts:
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return [part.strip() for part in found if part.strip()]


class Crate:
    """The modules of a crate, and which of them defines a name."""

    def __init__(self, source: Path) -> None:
        """Reads every file below `source` but those of tests."""
        modules = [Module(file, place_of(file, source)) for file in sorted(source.rglob("*.rs"))]
        tests = {(*module.place, name) for module in modules for name in module.tests}
        self.modules = {
            module.place: module
            for module in modules
            if not any(module.place[: len(test)] == test for test in tests)
        }

    def owner(self, module: Module, path: list[str], depth: int = 0) -> Module | None:
        """The module that defines the item `path` of `module`; none for modules and other crates."""
        if depth > 20 or not path:
            return None
        first, *rest = path
        if first == "*":
            return module
        if first == "crate":
            return self.owner(self.modules[()], rest, depth + 1)
        if first == "self":
            return self.owner(module, rest, depth + 1)
        if first == "super":
            return self.owner(self.modules[module.place[:-1]], rest, depth + 1)
        if child := self.modules.get((*module.place, first)):
            return self.owner(child, rest, depth + 1)
        if first in module.defined:
            return module
        if first in module.names and module.names[first] != path:
            return self.owner(module, [*module.names[first], *rest], depth + 1)
        owners = (self.owner(module, [*glob, *path], depth + 1) for glob in module.globs)
        return next((owner for owner in owners if owner), None)

    def arrows(self) -> Arrows:
        """The files that each file needs."""
        arrows: Arrows = {}
        for module in self.modules.values():
            paths = [*module.names.values(), *([*glob, "*"] for glob in module.globs)]
            paths += [match.split("::") for match in PATH.findall(USE.sub(" ", module.code))]
            arrows[module.file] = {
                owner.file: path[-1]
                for path in paths
                if (owner := self.owner(module, path))
                and owner.place != module.place[: len(owner.place)]
            }
        return arrows


def rust_arrows(source: Path) -> Arrows:
    """The arrows between the modules of a crate."""
    return Crate(source).arrows() if (source / "lib.rs").exists() else {}


def place_of(file: Path, source: Path) -> tuple[str, ...]:
    """Where a file stands in the tree of modules."""
    steps = file.relative_to(source).with_suffix("").parts
    return steps[:-1] if steps[-1] in ("lib", "mod") else steps


# Python.


def python_arrows(source: Path) -> Arrows:
    """The arrows between the modules of the packages in `source`."""
    trees = {file: ast.parse(file.read_text()) for file in sorted(source.rglob("*.py"))}
    modules = {module_of(file, source): file for file in trees}
    return {
        file: {
            owner: name
            for base, name in python_imports(file, source, tree)
            if (owner := python_owner(modules, trees, base, name))
            and owner != file
            and not (owner.name == "__init__.py" and owner.parent in file.parents)
        }
        for file, tree in trees.items()
    }


def module_of(file: Path, source: Path) -> str:
    steps = file.relative_to(source).with_suffix("").parts
    return ".".join(steps[:-1] if steps[-1] == "__init__" else steps)


def python_imports(file: Path, source: Path, tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Module and name of each import, wherever in the file it stands."""
    here = list(file.relative_to(source).parent.parts)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                base, _, name = alias.name.rpartition(".")
                yield base, name
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level + 1] if node.level else []
            base = base + (node.module.split(".") if node.module else [])
            yield from ((".".join(base), alias.name) for alias in node.names)


def python_owner(
    modules: dict[str, Path], trees: dict[Path, ast.Module], base: str, name: str
) -> Path | None:
    """The file that defines `name` of the module `base`; a package hands names on."""
    if inner := modules.get(f"{base}.{name}"):
        return inner
    file = modules.get(base)
    if file is None or file.name != "__init__.py":
        return file
    handed = {
        alias.asname or alias.name: f"{base}.{node.module}"
        for node in trees[file].body
        if isinstance(node, ast.ImportFrom) and node.level == 1
        for alias in node.names
    }
    return python_owner(modules, trees, handed[name], name) if name in handed else file


# C.

C_DEFINED = re.compile(
    rf"^#define ({NAME})|^(?:[A-Za-z_][^;{{}}=#]*?\b)?({NAME})\([^;{{}}]*\)\n\{{", re.MULTILINE
)
C_USED = re.compile(rf"\b{NAME}(?=\()|\b[A-Z][A-Z0-9_]+\b")
"""Calls, and names of macros."""

INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def c_arrows(source: Path) -> Arrows:
    """Includes between the files of `source`, and uses of what one file alone defines."""
    texts = {file: file.read_text() for file in sorted(source.rglob("*.[ch]"))}
    owners: dict[str, set[Path]] = {}
    for file, text in texts.items():
        for match in C_DEFINED.finditer(IGNORED.sub(" ", text)):
            owners.setdefault(match[1] or match[2], set()).add(file)
    alone = {name: min(files) for name, files in owners.items() if len(files) == 1}
    arrows: Arrows = {}
    for file, text in texts.items():
        used = {match[0] for match in C_USED.finditer(IGNORED.sub(" ", text))}
        arrows[file] = {alone[name]: name for name in sorted(used & set(alone))}
        arrows[file] |= {(file.parent / name).resolve(): name for name in INCLUDE.findall(text)}
        arrows[file].pop(file, None)
    return arrows
