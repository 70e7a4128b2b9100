"""The command line: every command with its arguments, options and examples."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from types import UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin

import typer
from typer.models import ArgumentInfo, CommandInfo, OptionInfo, ParamMeta
from typer.utils import get_params_from_function

from anabranch.cli.application import app

from .markdown import block, table, together

TAKES = {bool: "", int: "whole number", float: "number", str: "text", Path: "path"}

HOLDS_FOR_ROOT = "<!-- needs root: run by tests/linux/test_documented.py -->"
NOT_RUN = {
    "explore": "serves until Ctrl-C; tests/explorer runs it",
    "evaluate": "minutes, and files of the reader's; tests/test_cli_evaluate.py runs short forms",
    "break": "minutes, and files of the reader's; tests/breaking runs short forms",
    "linux assign": "needs a service that runs; tests/linux/test_assign.py has control groups",
    "linux unassign": "needs a service that runs; tests/linux/test_assign.py has control groups",
    "quic serve": "serves until it is interrupted; tests/test_quic_command.py runs it",
    "quic fetch": "needs a server; tests/test_quic_command.py has one",
    "quic fingerprint": "prints what is of one machine; tests/test_quic_command.py runs it",
    "tunnel listen": "runs until it is interrupted; tests/test_tunnel_command.py runs it",
    "tunnel connect": "runs until it is interrupted; tests/test_tunnel_command.py runs it",
    "tunnel key": "makes a secret; tests/test_tunnel_command.py runs it",
}
"""Commands whose examples tests do not run, and why."""


class Word(NamedTuple):
    """An argument or an option."""

    info: ArgumentInfo | OptionInfo
    name: str
    takes: type
    many: bool
    default: Any

    @property
    def is_option(self) -> bool:
        """Whether it begins with dashes."""
        return isinstance(self.info, OptionInfo)

    @property
    def required(self) -> bool:
        """Whether the command cannot do without it."""
        return self.default is ...

    @property
    def spelt(self) -> str:
        """How it is written."""
        if not self.is_option:
            return self.name.upper()
        return ", ".join(f"`{word}`" for word in self.info.param_decls or [f"--{self.name}"])

    @property
    def allowed(self) -> str:
        """What it takes, with the range."""
        low, high = self.info.min, self.info.max
        span = {
            (False, False): "",
            (True, False): f", from {low}",
            (False, True): f", to {high}",
            (True, True): f", {low} to {high}",
        }[low is not None, high is not None]
        return (
            TAKES[self.takes] + span + (", several times" if self.many and self.is_option else "")
        )


def words(callback: Callable[..., Any]) -> list[Word]:
    """The words that a command takes, in its order."""
    return [word(parameter) for parameter in get_params_from_function(callback).values()]


def word(parameter: ParamMeta) -> Word:
    """A parameter of a command's function; its type may be a list, or nothing as well."""
    kind, info = parameter.annotation, parameter.default
    if get_origin(kind) in (Union, UnionType):
        (kind,) = (one for one in get_args(kind) if one is not type(None))
    many = get_origin(kind) is list
    return Word(info, parameter.name, get_args(kind)[0] if many else kind, many, info.default)


def every(group: typer.Typer, prefix: str = "") -> Iterator[tuple[str, CommandInfo]]:
    """The commands of a group and of the groups in it, by their full names."""
    for command in group.registered_commands:
        yield prefix + (command.name or command.callback.__name__), command
    for inner in group.registered_groups:
        yield from every(inner.typer_instance, f"{prefix}{inner.name} ")


def usage(name: str, taken: list[Word]) -> str:
    """The line that says which words come where."""
    shown = [
        one.spelt + " …" * one.many if one.required else f"[{one.spelt}{' …' * one.many}]"
        for one in taken
        if not one.is_option
    ]
    options = ["[OPTIONS]"] if any(one.is_option for one in taken) else []
    return " ".join(["anabranch", name, *options, *shown])


def options(taken: list[Word]) -> str:
    """A table of arguments and options."""

    def default(one: Word) -> str:
        if one.required:
            return "required"
        return "" if one.default in (None, False) else f"`{one.default}`"

    rows = ([one.spelt, one.allowed, default(one), one.info.help or ""] for one in taken)
    return table(["word", "takes", "default", "meaning"], rows)


def examples(command: CommandInfo) -> str:
    """The examples below a command's help; what needs root, and what does not end, is marked so for
    the tests.
    """
    found = [line.partition("Example: ")[2] for line in (command.epilog or "").split("\n\n")]
    shown = block("sh", "\n".join(found))
    typed = found[0].partition("anabranch ")[2] + " "
    for name, why in NOT_RUN.items():
        if typed.startswith(f"{name} "):
            return f"<!-- not run: {why} -->\n{shown}"
    return f"{HOLDS_FOR_ROOT}\n{shown}" if found[0].startswith("sudo ") else shown


def parts() -> dict[str, str]:
    """Every command, and the list of those of each group."""
    found = {}
    for name, command in every(app):
        taken = words(command.callback)
        found[f"command {name}"] = together(
            inspect.getdoc(command.callback) or "",
            block("text", usage(name, taken)),
            options(taken),
            examples(command),
        )
    for inner in app.registered_groups:
        rows = (
            [f"`{inner.name} {name}`", inspect.getdoc(command.callback) or ""]
            for name, command in every(inner.typer_instance)
        )
        listed = table(["command", "what it does"], rows)
        found[f"commands of {inner.name}"] = together(inner.typer_instance.info.help, listed)
    root = words(app.registered_callback.callback)
    found["options of all"] = options(root)
    return found
