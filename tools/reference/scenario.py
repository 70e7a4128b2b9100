"""The scenario file: every table and key, from the schema in Rust."""

from __future__ import annotations

import json
import re
from typing import Any

from anabranch import _core

from .markdown import table, together

Schema = dict[str, Any]

QUANTITIES = ("Span", "Rate", "Bytes", "Packets")
"""Definitions that are written as text with a unit."""

KINDS = {
    "string": "text",
    "boolean": "true or false",
    "number": "number",
    "integer": "whole number",
}

NOTHING = ("null", "none", '""', "[]")
"""Defaults that say only that a key may be left out."""


def reference(schema: Schema) -> str | None:
    """The definition that a property refers to."""
    for place in [schema, schema.get("items", {}), *schema.get("anyOf", [])]:
        if "$ref" in place:
            return str(place["$ref"]).rsplit("/", 1)[-1]
    return None


def plain(schema: Schema) -> str:
    """The type of a property that refers to nothing."""
    kind = schema.get("items", schema).get("type")
    return str(kind[0] if isinstance(kind, list) else kind)


def noun(definition: Schema) -> str:
    """What a quantity is called: "a time with its unit, for example "40 ms"" is a time."""
    return str(definition["description"]).partition(" with its unit")[0].removeprefix("a ")


def written(schema: Schema, definitions: dict[str, Schema]) -> str:
    """What to write for a property."""
    many = "list of " if "items" in schema else ""
    if pair := schema.get("items", schema).get("prefixItems"):
        return f"{many}pair, each a {written(pair[0], definitions)}"
    if "const" in schema:
        return f'`"{schema["const"]}"`'
    given = [one for one in schema.get("anyOf", []) if one.get("type") != "null"]
    if len(given) > 1 or any("anyOf" in one for one in given):
        return " or ".join(written(one, definitions) for one in given)
    name = reference(schema)
    if name is None:
        return many + KINDS[plain(schema)]
    if name in QUANTITIES:
        return f"{many}[{noun(definitions[name])}](#quantities)"
    if options := definitions[name].get("anyOf"):
        return " or ".join(written(option, definitions) for option in options)
    alternatives = definitions[name].get("oneOf", [])
    words = [f'`"{one["const"]}"`' for one in alternatives if "const" in one]
    if len(words) < len(alternatives) or not words:
        return f"{many}[{name}](#{name.lower()})"
    return f"[one](#{name.lower()}) of {', '.join(words)}"


def in_range(schema: Schema, definitions: dict[str, Schema]) -> str:
    """The values that a property or every value of its definition may have, as errors say it."""
    kind = definitions.get(reference(schema) or "", {})
    declared = schema.get("range", kind.get("range", ""))
    return re.sub(r"^it (is|lies) |, such as .*", "", declared)


def row(key: str, schema: Schema, required: bool, definitions: dict[str, Schema]) -> list[str]:
    """A key of a table."""
    about = " ".join(str(schema.get("description", "")).split())
    shown = json.dumps(schema.get("default"))
    return [
        f"`{key}`",
        written(schema, definitions),
        "**required**" if required else "" if shown in NOTHING else f"`{shown}`",
        in_range(schema, definitions),
        about,
    ]


def keys(name: str, schema: Schema, definitions: dict[str, Schema]) -> str:
    """A table of the file."""
    rows = (
        row(key, value, key in schema.get("required", []), definitions)
        for key, value in schema["properties"].items()
    )
    head = ["key", "what to write", "default", "range", "meaning"]
    return together(f"## {name}", str(schema["description"]), table(head, rows))


def alternatives(name: str, schema: Schema) -> str:
    """Words and tables of which one is written."""

    def shown(one: Schema) -> str:
        if "const" in one:
            return f'`"{one["const"]}"`'
        ((key, content),) = one["properties"].items()
        inner = reference(content)
        return f"`{{ {key} = … }}` [{inner}](#{inner.lower()})" if inner else f"`{{ {key} = 1.5 }}`"

    rows = ([shown(one), str(one.get("description", ""))] for one in schema["oneOf"])
    return together(
        f"## {name}", str(schema["description"]), table(["what to write", "meaning"], rows)
    )


def quantities(definitions: dict[str, Schema]) -> str:
    """The kinds of quantities with their units."""
    rows = (
        [
            noun(definitions[name]),
            f'`"{definitions[name]["description"].split(chr(34))[1]}"`',
            ", ".join(definitions[name]["units"]),
        ]
        for name in QUANTITIES
    )
    return together("## Quantities", table(["quantity", "example", "units"], rows))


def in_order(whole: Schema) -> list[str]:
    """Definitions in the order in which a reader meets them."""
    found = [name for value in whole["properties"].values() if (name := reference(value))]
    for name in found:  # grows meanwhile
        inside = [whole["$defs"][name], *whole["$defs"][name].get("oneOf", [])]
        for one in inside:
            for value in one.get("properties", {}).values():
                options = whole["$defs"].get(reference(value) or "", {}).get("anyOf", [])
                for deeper in map(reference, [value, *options]):
                    if deeper and deeper not in found:
                        found.append(deeper)
    tables = ("properties", "oneOf")
    shown = (name for name in dict.fromkeys(found) if name not in QUANTITIES)
    return [name for name in shown if any(key in whole["$defs"][name] for key in tables)]


def parts() -> dict[str, str]:
    """The whole file, table by table."""
    whole = json.loads(_core.schema())
    definitions = whole["$defs"]
    inner = [
        (keys(name, definitions[name], definitions) if "properties" in definitions[name] else "")
        or alternatives(name, definitions[name])
        for name in in_order(whole)
    ]
    return {
        "scenario": together(keys("Scenario", whole, definitions), *inner),
        "quantities": quantities(definitions),
    }
