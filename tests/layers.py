"""The layer check: who may know whom, no circles, the size of files and lines, and
files that comments name.

Run it as a script, `python tests/layers.py`: it prints one line for each violation and exits
with 1 if there is any. It needs nothing but the standard library.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path

from circles import circles

RUST = {
    "units": set(),
    "coding": set(),
    "formula": {"units"},
    "sharing": {"units"},
    "control": {"formula", "sharing", "units"},
    # What adapters to QUIC stacks share, and their fronts.
    "adapter": {"control"},
    "noq": {"adapter"},
    "quinn": {"adapter"},
    "proof": {"formula"},
    # The parameters of a kind stand with the kind; a scenario file is composed of them.
    "scenario": {"control", "network", "transport", "units"},
    "wire": {"units"},
    "network": {"units"},
    "transport": {"control", "coding", "wire", "units"},
    "quic": {"control", "noq", "transport", "wire", "units"},
    # The endpoints in packets, between real hosts.
    "host": {"control", "transport", "wire", "units"},
    "topology": {"scenario", "network", "units"},
    "ports": {"control", "formula"},
    "simulator": {
        "topology",
        "quic",
        "ports",
        "scenario",
        "control",
        "transport",
        "network",
        "wire",
        "units",
    },
    "emulator": {"topology", "scenario", "network", "units", "wire"},
    # Our endpoints on the wall clock, with the clock of the emulator.
    "driver": {"control", "courier", "emulator", "host", "scenario", "transport", "wire", "units"},
    "kernel": {"control", "ports", "sharing", "units"},
    # The program for routers; `wire` for captures.
    "loader": {"kernel", "sharing", "units", "wire"},
    # `wire` for captures that are read; `emulator` for its tables, on Linux.
    "tables": {"scenario", "simulator", "topology", "emulator", "wire", "units"},
    # What programs on real sockets share.
    "service": set(),
    # Files over real sockets, under our controllers or noq's own.
    "transfer": {"noq", "service"},
    # A transport over UDP without I/O, and the proxy over it on real sockets.
    "courier": {"coding", "control", "transport", "units", "wire"},
    "tunnel": {"control", "courier", "host", "service", "transport", "units", "wire"},
    # The endpoints as a library that packetdrill tests.
    "drill": {"host", "units", "wire"},
    # Over numbers from any world.
    "fairness": set(),
    # What a page asks; its tests count the kinds of `network` and `transport`.
    "page": {"control", "fairness", "network", "scenario", "simulator", "tables", "transport"},
    "wasm": {"page"},
    # `network` for the curve of RED, which theory needs as the simulator has it; `wire` for
    # captures that are read.
    "bindings": {
        "control",
        "driver",
        "fairness",
        "formula",
        "host",
        "page",
        "tables",
        "wire",
        "network",
        "scenario",
        "sharing",
        "simulator",
        "transport",
        "emulator",
        "kernel",
        "units",
        "ports",
        "proof",
        "transfer",
        "tunnel",
    },
}
"""For each crate the crates of this workspace that it may depend on, for its tests too."""

PYTHON_ONLY_IN = "bindings"
"""The only crate that may know Python."""

OUTSIDE_RUNS = {"bindings", "emulator", "transfer", "tunnel"}
"""Crates that may read a clock: the caller of runs, the world on the wall clock, and programs over
real sockets."""

OUTSIDE_THE_LIBRARY = (
    "crates/coding/tests/",
    "crates/coding/benches/",
    "crates/noq/tests/",
    "crates/noq/benches/",
    "crates/quic/src/clock.rs",
    "crates/quinn/tests/",
)
"""What no run contains, and needs a clock: real sockets, a measurement of speed, and tests in
virtual time, whose instants need a first one; and one reading that is only a zero."""

PACKAGE = "anabranch"

TYPES = {"records", "plan", "planned_network", "tables", "runs"}
"""Parts of the Python package that are types alone."""

PYTHON = {
    # Types alone: what a plan and a run have, and how JSON becomes it.
    "records": {"records", "offers"},
    "planned_network": {"records"},
    "plan": {"records", "planned_network"},
    "tables": {"records"},
    "runs": {"records", "tables"},
    # An oracle must not know what it judges: laws and plans, never results.
    "theory": {"theory", "plan", "planned_network", "written", "_core", "offers", "axes"},
    # Whose controller a command replaces.
    "subjects": {"plan"},
    # How axes are written.
    "axes": set(),
    "arithmetic": set(),
    "scenario": {
        "scenario",
        "subjects",
        "plan",
        "schema",
        "_core",
        "controller",
        "statistics",
        "files",
        "markup",
        "offers",
    },
    "quic": {"scenario", "controller"},
    "result": {
        "result",
        "explorer",
        "scenario",
        "quic",
        "subjects",
        "frames",
        *TYPES,
        "_core",
        "controller",
        "statistics",
        "files",
        "markup",
        "offers",
        "remarks",
        "seeds",
    },
    # A result shows the page, so the page knows no results.
    "explorer": {
        "explorer",
        "scenario",
        "plan",
        "theory",
        "controller",
        "_core",
        "files",
    },
    "remarks": {*TYPES, "controller"},
    "frames": {*TYPES, "offers"},
    "capture": {"capture", "records", "tables", "_core", "statistics", "files"},
    # Logs become captures; samples of a world become logs.
    "qlog": {"qlog", "capture", *TYPES},
    "unused": {"capture"},
    "flent": {"result", "files", "statistics"},
    "report": {"report", "plot", "files", "offers"},
    "plot": {
        "plot",
        "offers",
        "capture",
        "result",
        "subjects",
        *TYPES,
        "fairness",
        "statistics",
        "metrics",
        "files",
        "seeds",
    },
    # Definitions are over numbers; what they compare with is simulated.
    "fairness": {
        "fairness",
        "controller",
        "offers",
        "makers",
        "result",
        "scenario",
        "plan",
        "runs",
        "_core",
        "statistics",
        "seeds",
    },
    # Theory's answers in the shape of results.
    "prediction": {"theory", "scenario", "result", *TYPES},
    # Criteria are over results of any world, and over theory.
    "evaluation": {
        "evaluation",
        "fairness",
        "linux",
        "prediction",
        "theory",
        "plot",
        "report",
        "controller",
        "offers",
        "makers",
        "result",
        "scenario",
        *TYPES,
        "_core",
        "statistics",
        "files",
        "seeds",
    },
    # Goals are over results of any world, and over theory; a goal of a user's own is found as
    # derived values of sweeps are.
    "breaking": {
        "breaking",
        "fairness",
        "linux",
        "makers",
        "theory",
        "sweeps",
        "plot",
        "report",
        "controller",
        "offers",
        "result",
        "scenario",
        *TYPES,
        "_core",
        "statistics",
        "files",
    },
    # What makes results: this process, or an engine of sweeps.
    "makers": {"result", "scenario", "controller", "seeds"},
    "linux": {
        "linux",
        "controller",
        "offers",
        "qlog",
        "result",
        *TYPES,
        "scenario",
        "_core",
        "statistics",
        "files",
        "seeds",
    },
    # Plans of runs and their store; figures of it.
    "sweeps": {
        "sweeps",
        "arithmetic",
        "plot",
        "theory",
        "axes",
        "makers",
        "telling",
        "markup",
        "scenario",
        "sources",
        "result",
        "frames",
        "controller",
        "written",
        *TYPES,
        "_core",
        "statistics",
        "files",
        "offers",
        "seeds",
    },
    "controller": {"_core"},
    # Texts of laws, from files and functions.
    "written": {"translation", "_core", "offers"},
    "translation": {"_core"},
    "statistics": set(),
    "seeds": set(),
    "offers": {"_core"},
    "markup": set(),
    "telling": set(),
    "metrics": {"records", "tables"},
    "files": {"records"},
    "schema": set(),
}
"""For these parts of the Python package all that they may import of it."""

FRONTS = {"linux": {"sources"}}
"""What the `__init__` of a part may import besides, because it is for users alone: nothing that
`sources` needs may take a name that it defines.
"""

NOBODY_IMPORTS = "cli"

DISORDER = re.compile(r"\b(Instant::now|SystemTime|HashMap|HashSet)\b")
"""Clocks and random iteration order; only crates outside a run may have them."""

MOST_LINES = 800
SOURCES = {".rs", ".py", ".pyi", ".c", ".h", ".jinja"}

MOST_LAW_LINES = 300
"""Of the file of a law with its tests."""

MOST_FUNCTION_LINES = 60
"""Of code in a function; clippy holds Rust to it."""

MOST_COLUMNS = 100
"""For comments, and code in C; other code is held to it by its formatters, and strings are not."""

SCRIPTS = (
    "Makefile",
    ".ci/run",
    ".ci/papers",
    "fuzz/run",
    "tools/install.sh",
    "explorer/engine.sh",
    "packaging/deb.sh",
    "packaging/dkms.sh",
    "packaging/modules.sh",
    "packaging/router.sh",
    "packaging/wheel.sh",
)
"""Scripts that have comments."""


def dependencies(manifest: Path) -> Iterator[str]:
    """Names of all dependencies in a Cargo.toml, of whatever kind and for whatever target."""
    tables = [tomllib.loads(manifest.read_text())]
    tables += tables[0].get("target", {}).values()
    for table in tables:
        for kind in ("dependencies", "dev-dependencies", "build-dependencies"):
            for name, entry in table.get(kind, {}).items():
                package = entry.get("package", name) if isinstance(entry, dict) else name
                # Published packages have the prefix; their folders do not.
                yield package.removeprefix(f"{PACKAGE}-")


def crate_violations(root: Path) -> Iterator[str]:
    manifests = sorted(root.glob("crates/*/Cargo.toml"))
    crates = {manifest.parent.name for manifest in manifests}
    for manifest in manifests:
        crate, where = manifest.parent.name, manifest.relative_to(root)
        if crate not in RUST:
            yield f"{where}: crate `{crate}` has no place in the layers; give it one in {__file__}"
            continue
        for name in dependencies(manifest):
            if name in crates and name not in RUST[crate]:
                yield f"{where}: `{crate}` must not depend on `{name}`"
            if name in ("pyo3", "numpy") and crate != PYTHON_ONLY_IN:
                yield f"{where}: only `{PYTHON_ONLY_IN}` knows Python, not `{crate}` (`{name}`)"


def rust_source_violations(root: Path) -> Iterator[str]:
    for source in sorted(root.glob("crates/**/*.rs")):
        where = source.relative_to(root)
        crate = where.parts[1]
        for number, line in enumerate(source.read_text().splitlines(), 1):
            code = line.split("//")[0]
            run = crate not in OUTSIDE_RUNS and not where.as_posix().startswith(OUTSIDE_THE_LIBRARY)
            if run and (found := DISORDER.search(code)):
                yield f"{where}:{number}: `{found[0]}` gives another run each time"
            if crate != PYTHON_ONLY_IN and re.search(r"\b(pyo3|numpy)::", code):
                yield f"{where}:{number}: only `{PYTHON_ONLY_IN}` knows Python"


def imported(
    module: str, is_package: bool, tree: ast.AST, parts: set[str]
) -> Iterator[tuple[int, str]]:
    """Line and part of the package of each import in `module`, wherever in the file it stands.

    A name that is imported from the package itself and is not a part counts as `__init__`.
    """

    def part(dotted: str) -> str | None:
        steps = dotted.split(".")
        if steps[0] != PACKAGE:
            return None
        return steps[1] if len(steps) > 1 and steps[1] in parts else "__init__"

    here = module.split(".") if is_package else module.split(".")[:-1]
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level + 1] if node.level else []
            base = base + (node.module.split(".") if node.module else [])
            names = [".".join([*base, alias.name]) for alias in node.names]
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "import_module":
            names = [arg.value for arg in node.args[:1] if isinstance(arg, ast.Constant)]
        yield from ((node.lineno, found) for name in names if (found := part(str(name))))


def python_violations(root: Path) -> Iterator[str]:
    package = root / "python" / PACKAGE
    parts = {path.stem.split(".")[0] for path in package.iterdir()} if package.is_dir() else set()
    parts |= {"_core", NOBODY_IMPORTS} | set(PYTHON)
    parts -= {"__init__", "__pycache__", "py"}
    for source in sorted(package.rglob("*.py")):
        where = source.relative_to(root)
        inner = source.relative_to(package).with_suffix("").parts
        own = inner[0]
        is_package = inner[-1] == "__init__"
        module = ".".join([PACKAGE, *(inner[:-1] if is_package else inner)])
        fronts = FRONTS.get(own, set()) if inner[1:] == ("__init__",) else set()
        for line, part in imported(module, is_package, ast.parse(source.read_text()), parts):
            if part == NOBODY_IMPORTS and own != NOBODY_IMPORTS:
                yield f"{where}:{line}: nothing imports `{NOBODY_IMPORTS}`"
            elif own in PYTHON and part not in PYTHON[own] | fronts:
                yield f"{where}:{line}: `{own}` must not import `{part}`"


def length_violations(root: Path) -> Iterator[str]:
    for folder in ("crates", "python", "tests"):
        for source in sorted((root / folder).rglob("*")):
            if source.suffix in SOURCES and source.is_file():
                where = source.relative_to(root)
                is_law = where.as_posix().startswith("crates/control/src/laws/")
                most = MOST_LAW_LINES if is_law and source.name != "mod.rs" else MOST_LINES
                lines = len(source.read_text().splitlines())
                if lines > most:
                    yield f"{where}: {lines} lines, more than {most}"


def function_violations(root: Path) -> Iterator[str]:
    for folder in ("python", "tests", "tools", "benches"):
        for source in sorted((root / folder).rglob("*.py")):
            text = source.read_text()
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.FunctionDef):
                    lines = code_lines(node, text.splitlines())
                    if lines > MOST_FUNCTION_LINES:
                        where = f"{source.relative_to(root)}:{node.lineno}"
                        yield f"{where}: {lines} lines, more than {MOST_FUNCTION_LINES}"


def code_lines(function: ast.FunctionDef, lines: list[str]) -> int:
    """The lines of the body without docstring, comments and blank lines."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    if not body:
        return 0
    code = lines[body[0].lineno - 1 : function.end_lineno]
    return sum(bool(line.strip()) and not line.strip().startswith("#") for line in code)


def comments(source: Path) -> Iterator[tuple[int, str]]:
    """Number and text of each line that a comment or a docstring may be on, without its strings."""
    text = source.read_text()
    lines = text.splitlines()
    if source.suffix != ".py":
        mark = COMMENTS.get(source.suffix, r"^\s*#")
        for number, line in enumerate(lines, 1):
            if re.search(mark, line):
                yield number, STRING.sub('""', line).expandtabs(8)
        return
    if "Generated by tools/" in text[:200]:
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], lines[token.start[0] - 1]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            for number in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                yield number, lines[number - 1].removesuffix('"""')  # as the formatter counts


COMMENTS = {".rs": r"//|/\*|^\s*\*", ".c": "", ".h": ""}
"""What marks a line that is held to the width, by the file's suffix; of C every line is."""

STRING = re.compile(r'"(?:\\.|[^"\\])*"')


def width_violations(root: Path) -> Iterator[str]:
    folders = ("bpf", "crates", "fuzz", "python", "tests", "tools", "benches", "docs")
    found = (source for folder in folders for source in sorted((root / folder).rglob("*")))
    sources = [source for source in found if "target" not in source.relative_to(root).parts]
    sources = [source for source in sources if source.suffix in {".rs", ".c", ".h", ".py"}]
    sources += [root / script for script in SCRIPTS if (root / script).exists()]
    for source in sources:
        where = source.relative_to(root)
        for number, line in comments(source):
            if len(line) > MOST_COLUMNS and "://" not in line:
                yield f"{where}:{number}: a line of {len(line)} columns"


NAMED_FILE = re.compile(r"`([\w/.-]+\.rs)`")


def named_file_violations(root: Path) -> Iterator[str]:
    """Files that a comment names, and that neither its crate has nor the repository by that path."""
    for crate in sorted((root / "crates").glob("*")):
        sources = sorted(crate.rglob("*.rs"))
        paths = [path.as_posix() for path in sources]
        for source in sources:
            for number, line in comments(source):
                for name in NAMED_FILE.findall(line):
                    bases = (root, root / "crates")
                    there = any(path.endswith(f"/{name}") for path in paths)
                    if not there and not any((base / name).is_file() for base in bases):
                        yield f"{source.relative_to(root)}:{number}: there is no `{name}`"


def violations(root: Path) -> list[str]:
    """All that is wrong in the repository at `root`, one line each."""
    checks = (
        crate_violations,
        rust_source_violations,
        python_violations,
        length_violations,
        function_violations,
        width_violations,
        named_file_violations,
        circles,
    )
    return [line for check in checks for line in check(root)]


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent
    found = violations(root)
    print("\n".join(found) if found else "layers: nothing forbidden")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
