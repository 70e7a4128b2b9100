"""Writes the Python dataclasses that follow from the scenario schema in Rust.

Run it after a change of a table of the scenario file; `--check` only says whether that was
forgotten.
"""

from __future__ import annotations

import json
import keyword
import sys
from pathlib import Path
from typing import Any

from anabranch import _core

ROOT = Path(__file__).resolve().parent.parent
DATACLASSES = ROOT / "python/anabranch/schema.py"

QUANTITIES = {"Bytes", "Packets", "Rate", "Span"}
"""Definitions that are written as text with a unit."""

NOTHING = ("null", '""', "[]")
"""Defaults that say only that a field may be left out."""

WIDTH = 92
"""Columns of a docstring."""


def reference(schema: dict[str, Any]) -> str | None:
    """The definition that a property refers to."""
    for place in [schema, schema.get("items", {}), *schema.get("anyOf", [])]:
        if "$ref" in place:
            return str(place["$ref"]).rsplit("/", 1)[-1]
    return None


def variants(definition: dict[str, Any]) -> list[dict[str, Any]]:
    """The alternatives of an enumeration."""
    return list(definition.get("oneOf", []))


def python_type(schema: dict[str, Any], definitions: dict[str, Any]) -> str:
    """The annotation of a property, without "or None"."""
    name = reference(schema)
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    inner = {"string": "str", "boolean": "bool", "number": "float", "integer": "int"}
    if "prefixItems" in schema:
        parts = (python_type(item, definitions) for item in schema["prefixItems"])
        return f"tuple[{', '.join(parts)}]"
    if kind == "array" or (name is None and "items" in schema):
        item = python_type(schema["items"], definitions) if "items" in schema else "Any"
        return f"Sequence[{item}]"
    if name in QUANTITIES or "const" in schema:
        return "str"
    if name is None and "anyOf" in schema:
        given = (one for one in schema["anyOf"] if one.get("type") != "null")
        return " | ".join(python_type(one, definitions) for one in given)
    if name and "anyOf" in definitions[name]:
        options = definitions[name]["anyOf"]
        return " | ".join(python_type(option, definitions) for option in options)
    if name and variants(definitions[name]):
        options = variants(definitions[name])
        words = [f'"{o["const"]}"' for o in options if "const" in o]
        tables = [f"{tagged(o, definitions)}" for o in options if "const" not in o]
        contents = [table.removeprefix("dict[str, ").removesuffix("]") for table in tables]
        table = [f"dict[str, {' | '.join(dict.fromkeys(contents))}]"] if contents else []
        return " | ".join([f"Literal[{', '.join(words)}]"] * bool(words) + table)
    return name or inner[str(kind)]


def tagged(option: dict[str, Any], definitions: dict[str, Any]) -> str:
    """A variant with content is a dictionary of its tag and its content."""
    (content,) = option["properties"].values()
    return f"dict[str, {python_type(content, definitions)}]"


def field_line(
    name: str, schema: dict[str, Any], required: bool, definitions: dict[str, Any]
) -> list[str]:
    """A dataclass field and the text below it."""
    name = f"{name}_" if keyword.iskeyword(name) else name
    annotation = python_type(schema, definitions)
    line = f"    {name}: {annotation}" if required else f"    {name}: {annotation} | None = None"
    if len(line) > WIDTH:
        alternatives = annotation.replace("] | dict[", "]\n        | dict[")
        line = f"    {name}: (\n        {alternatives}\n    ){'' if required else ' | None = None'}"
    about = str(schema.get("description", ""))
    shown = json.dumps(schema.get("default"), ensure_ascii=False)
    if shown not in NOTHING:
        told = f"Default {shown}."
        room = len(about.splitlines()[-1]) + len(told) < WIDTH
        about += f"{' ' if room else chr(10)}{told}"
    return [line, f'    """{about}"""']


def dataclass_of(name: str, schema: dict[str, Any], definitions: dict[str, Any]) -> list[str]:
    """A frozen dataclass; what is required comes first, as it must."""
    required = set(schema.get("required", []))
    properties = sorted(schema["properties"].items(), key=lambda item: item[0] not in required)
    lines = [
        "",
        "",
        "@dataclass(frozen=True)",
        f"class {name}:",
        f'    """{schema["description"]}"""',
        "",
    ]
    for key, value in properties:
        lines += field_line(key, value, key in required, definitions)
    return lines


def in_order(schema: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Tables, those first on which others depend."""
    tables = {k: v for k, v in schema["$defs"].items() if "properties" in v}
    return [
        *sorted(tables.items(), key=lambda item: (depth(item[1], schema["$defs"]), item[0])),
        ("Scenario", schema),
    ]


def depth(table: dict[str, Any], definitions: dict[str, Any]) -> int:
    """How many tables deep a table nests."""
    inside = [reference(p) for p in table.get("properties", {}).values()]
    inside += [
        reference(c)
        for name in inside
        if name
        for o in variants(definitions[name])
        for c in o.get("properties", {}).values()
    ]
    return 1 + max((depth(definitions[n], definitions) for n in inside if n), default=0)


def dataclasses_module(schema: dict[str, Any]) -> str:
    """The text of `anabranch.schema`."""
    lines = [
        '"""What may stand in a scenario: one dataclass for each table of the file.',
        "",
        "Generated by tools/generate_schema.py from the schema in Rust, which also checks the values;",
        "what is None is left out and takes the default there. A field that is a Python keyword has an",
        'underscore behind it. Quantities are text with a unit, such as "10 Mb/s".',
        '"""',
        "",
        "from __future__ import annotations",
        "",
        "from collections.abc import Sequence",
        "from dataclasses import dataclass",
        "from typing import Literal",
    ]
    for name, table in in_order(schema):
        lines += dataclass_of(name, table, schema["$defs"])
    return "\n".join(lines) + "\n"


def main() -> int:
    """Writes or checks the module."""
    wanted = dataclasses_module(json.loads(_core.schema()))
    if DATACLASSES.exists() and DATACLASSES.read_text() == wanted:
        return 0
    if "--check" in sys.argv:
        print(f"{DATACLASSES.relative_to(ROOT)} is stale: run tools/generate_schema.py")
        return 1
    DATACLASSES.write_text(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
