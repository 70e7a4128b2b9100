"""What the published crates offer, as text: one line for each public item, in `crates/*/api.txt`.

`python tools/public_api.py --check` compares what the code offers with the text, and says which
lines went and which came. A line that went or changed breaks users: it asks for a new minor
version before 1.0. Without `--check` it writes the texts.

It reads rustdoc's JSON, which the stable compiler writes when it is told to be nightly.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
CRATES = ("units", "formula", "sharing", "control", "adapter", "noq", "quinn")
KNOWS_FORMAT = 57
"""The version of rustdoc's JSON that this was written for."""


Node = Any


def documented(crate: str) -> Node:
    """Rustdoc's JSON of a crate."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    command = ["cargo", "rustdoc", "--quiet", "--package", f"anabranch-{crate}", "--lib", "--"]
    command += ["-Z", "unstable-options", "--output-format", "json"]
    subprocess.run(command, cwd=ROOT, check=True, env={**os.environ, "RUSTC_BOOTSTRAP": "1"})
    found = json.loads((target / "doc" / f"anabranch_{crate}.json").read_text())
    if found["format_version"] != KNOWS_FORMAT:
        version = found["format_version"]
        sys.exit(f"rustdoc's JSON has version {version}; this tool reads {KNOWS_FORMAT}")
    return found


def rendered(node: Node) -> str:
    """A type, or arguments of one, as Rust writes it."""
    if not isinstance(node, dict):
        return "_" if node in ("infer", None) else str(node)
    (kind, inner), *_ = node.items()
    match kind:
        case "primitive" | "generic" | "lifetime":
            return str(inner)
        case "resolved_path":
            return str(inner["path"]).split("::")[-1] + arguments(inner["args"])
        case "borrowed_ref":
            mutable = "mut " if inner["is_mutable"] else ""
            return f"&{mutable}{rendered(inner['type'])}"
        case "raw_pointer":
            return f"*{'mut' if inner['is_mutable'] else 'const'} {rendered(inner['type'])}"
        case "tuple":
            return f"({', '.join(map(rendered, inner))})"
        case "slice":
            return f"[{rendered(inner)}]"
        case "array":
            return f"[{rendered(inner['type'])}; {inner['len']}]"
        case "dyn_trait":
            return "dyn " + " + ".join(bound(one) for one in inner["traits"])
        case "impl_trait":
            return "impl " + " + ".join(map(bound, inner))
        case "qualified_path":
            return f"{rendered(inner['self_type'])}::{inner['name']}"
        case "type":
            return rendered(inner)
        case "const":
            return str(inner.get("expr", "_"))
        case "function_pointer":
            return f"fn{signature(inner['sig'])}"
        case _:
            return json.dumps(node, sort_keys=True)


def arguments(node: Node) -> str:
    """Generic arguments behind a path."""
    if not node:
        return ""
    if "parenthesized" in node:
        inner = node["parenthesized"]
        inputs = ", ".join(map(rendered, inner["inputs"]))
        return f"({inputs}) -> {rendered(inner['output'])}" if inner["output"] else f"({inputs})"
    inner = node["angle_bracketed"]
    every = [*map(rendered, inner["args"])]
    for own in inner["constraints"]:
        value = own.get("binding", {}).get("equality")
        every.append(f"{own['name']} = {rendered(value) if value else '_'}")
    return f"<{', '.join(every)}>" if every else ""


def bound(node: Node) -> str:
    """A bound of a generic or of a trait object."""
    trait = node.get("trait_bound", node) if isinstance(node, dict) else node
    if isinstance(trait, dict) and "trait" in trait:
        return str(trait["trait"]["path"].split("::")[-1]) + arguments(trait["trait"].get("args"))
    return str(node.get("outlives", node)) if isinstance(node, dict) else str(node)


def generics(node: Node) -> str:
    """The parameters that an item declares."""

    def parameter(one: Node) -> str | None:
        kind = one["kind"]
        if "type" in kind and not kind["type"]["is_synthetic"]:
            bounds = " + ".join(map(bound, kind["type"]["bounds"]))
            return f"{one['name']}: {bounds}" if bounds else str(one["name"])
        return f"const {one['name']}" if "const" in kind else None

    every = [text for one in node["params"] if (text := parameter(one))]
    return f"<{', '.join(every)}>" if every else ""


def signature(sig: Node) -> str:
    """Inputs and output of a function."""
    inputs = ", ".join(f"{name}: {rendered(own)}" for name, own in sig["inputs"])
    return f"({inputs})" + (f" -> {rendered(sig['output'])}" if sig["output"] else "")


class Crate:
    """The items that users of a crate can name."""

    def __init__(self, name: str) -> None:
        """Has rustdoc read the crate."""
        found = documented(name)
        self.index: dict[str, Node] = found["index"]
        self.root: int = found["root"]
        self.seen: set[tuple[str, int]] = set()

    def item(self, number: int) -> Node | None:
        """An item of this crate; rustdoc leaves out what is hidden."""
        return self.index.get(str(number))

    def lines(self) -> Iterator[str]:
        """One line for each item, as it is found."""
        root = self.item(self.root)
        assert root is not None
        yield from self.module(root, "")

    def module(self, module: Node, path: str) -> Iterator[str]:
        """The items of a module."""
        for number in module["inner"]["module"]["items"]:
            if (own := self.item(number)) is not None:
                yield from self.public(own, path)

    def public(self, own: Node, path: str) -> Iterator[str]:
        """An item of a module, or what it names from elsewhere."""
        (kind, inner), *_ = own["inner"].items()
        if kind == "use":
            target = self.item(inner["id"]) if inner["id"] is not None else None
            if target is None:
                yield f"use {path}{inner['name']} = {inner['source']}"
            elif inner["is_glob"]:
                yield from self.module(target, path)
            else:
                yield from self.named(target, f"{path}{inner['name']}")
        elif own["name"]:
            yield from self.named(own, f"{path}{own['name']}")

    def named(self, own: Node, path: str) -> Iterator[str]:
        """An item under the path by which users name it."""
        if (path, own["id"]) in self.seen:
            return
        self.seen.add((path, own["id"]))
        (kind, inner), *_ = own["inner"].items()
        match kind:
            case "module":
                yield from self.module(own, f"{path}::")
            case "function":
                yield f"fn {path}{generics(inner['generics'])}{signature(inner['sig'])}"
            case "struct" | "enum" | "union":
                yield f"{kind} {path}{generics(inner['generics'])}"
                yield from self.parts(kind, inner, path)
                yield from self.impls(inner["impls"], path)
            case "trait":
                yield f"trait {path}{generics(inner['generics'])}"
                yield from self.members(inner["items"], path)
            case "constant":
                yield f"const {path}: {rendered(inner['type'])}"
            case "type_alias":
                yield f"type {path} = {rendered(inner['type'])}"
            case _:
                yield f"{kind} {path}"

    def parts(self, kind: str, inner: Node, path: str) -> Iterator[str]:
        """Fields of a structure, variants of an enumeration."""
        if kind == "enum":
            for number in inner["variants"]:
                if (own := self.item(number)) is not None:
                    shape = own["inner"]["variant"]["kind"]
                    yield f"variant {path}::{own['name']}{self.fields(shape)}"
        else:
            yield f"fields {path}{self.fields(inner['kind'])}" if kind == "struct" else path

    def fields(self, shape: Node) -> str:
        """The fields that users see."""
        if not isinstance(shape, dict):
            return ""
        (kind, inner), *_ = shape.items()
        numbers = inner if kind == "tuple" else inner["fields"]
        every = [self.item(number) if number is not None else None for number in numbers]
        known = [own for own in every if own is not None]
        types = [f"{own['name']}: {rendered(own['inner']['struct_field'])}" for own in known]
        hidden = kind != "tuple" and (inner.get("has_stripped_fields"))
        hidden = hidden or len(known) < len(every)
        return f" {{ {', '.join([*types, *(['..'] if hidden else [])])} }}"

    def impls(self, numbers: list[int], path: str) -> Iterator[str]:
        """Methods of a type, and its traits."""
        for number in numbers:
            own = self.item(number)
            if own is None:
                continue
            inner = own["inner"]["impl"]
            if inner["is_synthetic"] or inner["blanket_impl"]:
                continue
            if inner["trait"] is None:
                yield from self.members(inner["items"], path)
            else:
                trait = inner["trait"]["path"].split("::")[-1]
                if trait not in ("StructuralPartialEq",):
                    yield f"impl {trait}{arguments(inner['trait']['args'])} for {path}"

    def members(self, numbers: list[int], path: str) -> Iterator[str]:
        """What a trait or a block of methods has."""
        for number in numbers:
            own = self.item(number)
            if own is None:
                continue
            (kind, inner), *_ = own["inner"].items()
            name = f"{path}::{own['name']}"
            if kind == "function":
                yield f"fn {name}{generics(inner['generics'])}{signature(inner['sig'])}"
            elif kind in ("assoc_const", "constant"):
                yield f"const {name}: {rendered(inner['type'])}"
            elif kind == "assoc_type":
                yield f"type {name}"


def main() -> None:
    """Writes the texts, or compares them."""
    check = "--check" in sys.argv[1:]
    differs = False
    for crate in CRATES:
        file = ROOT / "crates" / crate / "api.txt"
        now = sorted(set(Crate(crate).lines()))
        before = file.read_text().splitlines() if file.exists() else []
        if not check:
            file.write_text("\n".join(now) + "\n")
            continue
        for line in sorted(set(before) - set(now)):
            print(f"anabranch-{crate}: gone: {line}")
        for line in sorted(set(now) - set(before)):
            print(f"anabranch-{crate}: new: {line}")
        differs |= before != now
    if differs:
        sys.exit("what is offered has changed: python tools/public_api.py writes the texts")


if __name__ == "__main__":
    main()
