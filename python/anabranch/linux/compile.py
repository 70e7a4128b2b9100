"""A law that is written as text or in C, compiled to a controller for the kernel."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from pathlib import Path

from .. import _core
from .errors import LinuxError

CLANG_MISSING = (
    "clang compiles laws for the kernel, and {clang} cannot be run: {why}\n"
    "help: install it (`apt install clang`), or set CLANG to its path"
)

FLAGS = (
    *("-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wall", "-Werror"),
    "-Wno-tautological-compare",  # a law may compare a number with itself
)
"""As crates/kernel/build.rs compiles the controllers that ship."""

GLUE = '/* SPDX-License-Identifier: GPL-2.0-only */\n#include "law.h"\n#include "shell.h"\n\nAB_CONTROLLER("law");\n'


def file_name(law: str) -> str:
    """File name of a law during compilation, also in messages of the verifier."""
    return f"{_core.law(law)['name']}.law"


def compiled(law: str) -> bytes:
    """The object file of the controller for the text of a law.

    Raises ScenarioError with the place in the text, for features that the kernel lacks, and
    LinuxError if clang is missing or fails.
    """
    name = file_name(law)
    return compiled_c(_core.law_c(law, name)["c"], name, law)


def compiled_header(file: Path) -> bytes:
    """The object of the controller that a law in C is. Raises LinuxError as `compiled`, or where
    the file cannot be read.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise LinuxError(f"{file} cannot be read: {why}") from None
    ours = [Path(name).name for name, _ in _core.kernel_source_files()]
    if file.name in {*ours, "law.h"}:
        raise LinuxError(f"{file.name} is a header of ours, which yours would replace: rename it")
    return compiled_c(f'#line 1 "{file.name}"\n{text}', file.name, text)


def compiled_c(header: str, name: str, text: str) -> bytes:
    """The object of the controller that the header of a law is, which was made of `text` in the
    file `name`. Raises LinuxError where clang is missing or fails.
    """
    clang = os.environ.get("CLANG", "clang")
    with tempfile.TemporaryDirectory(prefix="anabranch-") as place:
        folder = Path(place)
        sources = {
            **dict(_core.kernel_source_files()),
            "law.h": header,
            name: text,
            "law.bpf.c": GLUE,
        }
        for file, text in sources.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(text, encoding="utf-8")
        command = [clang, *FLAGS, "-I", ".", "-I", "include", "-c", "law.bpf.c", "-o", "law.o"]
        try:
            done = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, check=False, timeout=60
            )
        except OSError as error:
            raise LinuxError(CLANG_MISSING.format(clang=clang, why=error.strerror)) from None
        except subprocess.TimeoutExpired:
            raise LinuxError(f"{clang} did not compile {name} in a minute") from None
        if done.returncode:
            raise LinuxError(f"{clang} could not compile {name}:\n{done.stderr.strip()}")
        return (folder / "law.o").read_bytes()


def in_terms_of(law: str, said: str) -> str:
    """The verifier's message on a controller in terms of the law: its last reason, and the line of
    the law that it refuses. The whole message if it names no line.
    """
    name = re.escape(file_name(law))
    lines = said.splitlines()
    places = [
        (k, m) for k, line in enumerate(lines) if (m := re.search(rf"; (.*) @ {name}:(\d+)", line))
    ]
    if "combined stack size" in said:
        return (
            "the verifier refuses the law: it keeps too many numbers at a time, and the kernel has 512 "
            "bytes for them; write it with fewer names and fewer reductions"
        )
    if not places:
        return said
    last, match = places[-1]
    reasons = [
        line for line in lines[last + 1 :] if line and not re.match(r"\d+: |processed |from ", line)
    ]
    reason = reasons[0] if reasons else lines[-1]
    lines = str(law).split("\n")
    # Lines after the text define `l` and `rtt_min`.
    text = lines[min(int(match[2]), len(lines)) - 1].strip() or "the symbols l and rtt_min"
    return f"the verifier refuses line {match[2]} of the law, `{text}`: {reason}"
