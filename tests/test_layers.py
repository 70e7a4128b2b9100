from __future__ import annotations

from pathlib import Path

import pytest

import layers

ROOT = Path(__file__).parent.parent


def plant(root: Path, name: str, text: str) -> list[str]:
    """What the check says of a repository with nothing but this file."""
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    for crate in ("units", "control"):
        manifest = root / "crates" / crate / "Cargo.toml"
        manifest.parent.mkdir(parents=True, exist_ok=True)
        if not manifest.exists():
            manifest.write_text("")
    (root / "python" / "anabranch").mkdir(parents=True, exist_ok=True)
    for part in ("result", "papers", "report", "scenario", "sources"):
        (root / "python" / "anabranch" / f"{part}.py").touch()
    return layers.violations(root)


def test_the_repository_keeps_its_layers() -> None:
    assert layers.violations(ROOT) == []


@pytest.mark.parametrize(
    ("crate", "manifest", "why"),
    [
        ("units", "[dependencies]\ncontrol.workspace = true\n", "must not depend on `control`"),
        ("units", "[dev-dependencies]\ncontrol = { path = '../c' }\n", "depend on `control`"),
        ("units", "[build-dependencies]\ncontrol = '1'\n", "must not depend on `control`"),
        ("units", "[target.'cfg(unix)'.dependencies]\ncontrol = '1'\n", "depend on `control`"),
        ("units", "[dependencies]\nc = { package = 'control' }\n", "must not depend on `control`"),
        ("units", "[dependencies]\npyo3 = '0.30'\n", "only `bindings` knows Python"),
        ("nowhere", "[dependencies]\n", "no place in the layers"),
    ],
)
def test_a_forbidden_edge_between_crates_is_found(
    tmp_path: Path, crate: str, manifest: str, why: str
) -> None:
    (found,) = plant(tmp_path, f"crates/{crate}/Cargo.toml", manifest)
    assert found.startswith(f"crates/{crate}/Cargo.toml: ") and why in found


@pytest.mark.parametrize(
    ("file", "code", "why"),
    [
        ("theory/fluid.py", "from anabranch.result import Result", "must not import `result`"),
        ("theory/fluid.py", "from ..result import Result", "must not import `result`"),
        ("theory/fluid.py", "from .. import result", "must not import `result`"),
        ("theory/fluid.py", "import anabranch.papers", "must not import `papers`"),
        ("theory/fluid.py", "from anabranch import run", "must not import `__init__`"),
        ("theory/fluid.py", "def f():\n    from .. import scenario", "not import `scenario`"),
        ("theory/deep/fluid.py", "from ...result import run", "must not import `result`"),
        ("linux/running.py", "from ..sources import named", "must not import `sources`"),
        ("theory/__init__.py", "from ..report import write", "must not import `report`"),
        ("plot/cdf.py", "from ..papers import PAPERS", "must not import `papers`"),
        ("papers/pages.py", "from ..cli import main", "nothing imports `cli`"),
        ("report/page.py", "from anabranch.cli.terminal import table", "nothing imports `cli`"),
        ("__init__.py", "from . import cli", "nothing imports `cli`"),
        ("x.py", "import importlib\nimportlib.import_module('anabranch.cli')", "imports `cli`"),
    ],
)
def test_a_forbidden_import_is_found(tmp_path: Path, file: str, code: str, why: str) -> None:
    (found,) = plant(tmp_path, f"python/anabranch/{file}", code)
    assert found.startswith(f"python/anabranch/{file}:") and why in found


@pytest.mark.parametrize(
    ("file", "code"),
    [
        ("theory/fluid.py", "from anabranch import _core\nfrom .network import Network"),
        ("theory/__init__.py", "from . import fluid\nimport numpy"),
        ("plot/cdf.py", "from ..result import Result\nfrom . import style"),
        ("cli/simulate.py", "from .terminal import table\nfrom ..result import run"),
        ("linux/__init__.py", "from ..sources import named"),
    ],
)
def test_an_allowed_import_is_left_alone(tmp_path: Path, file: str, code: str) -> None:
    assert plant(tmp_path, f"python/anabranch/{file}", code) == []


@pytest.mark.parametrize(
    "code", ["let t = Instant::now();", "use std::collections::HashMap;", "SystemTime::UNIX_EPOCH"]
)
def test_a_clock_or_a_random_order_is_found_in_rust(tmp_path: Path, code: str) -> None:
    (found,) = plant(tmp_path, "crates/units/src/lib.rs", f"// HashMap is fine here\n{code}\n")
    assert found.startswith("crates/units/src/lib.rs:2: ")
    plant(tmp_path, "crates/units/src/lib.rs", "")
    assert plant(tmp_path, "crates/bindings/src/lib.rs", code) == []


def test_a_file_of_more_than_800_lines_is_found(tmp_path: Path) -> None:
    assert plant(tmp_path, "tests/test_long.py", "\n" * 800) == []
    (found,) = plant(tmp_path, "tests/test_long.py", "\n" * 801)
    assert found == "tests/test_long.py: 801 lines, more than 800"


def test_a_law_of_more_than_300_lines_is_found(tmp_path: Path) -> None:
    (found,) = plant(tmp_path, "crates/control/src/laws/lia.rs", "\n" * 301)
    assert found == "crates/control/src/laws/lia.rs: 301 lines, more than 300"


def test_a_function_of_more_than_60_lines_of_code_is_found(tmp_path: Path) -> None:
    head = '"""Module."""\n\n\ndef f(\n    x,\n):\n    """Says."""\n\n    # why\n'
    assert plant(tmp_path, "tools/long.py", head + "    x += 1\n" * 60) == []
    (found,) = plant(tmp_path, "tools/long.py", head + "    x += 1\n" * 61)
    assert found == "tools/long.py:4: 61 lines, more than 60"


@pytest.mark.parametrize(
    ("file", "code"),
    [
        ("crates/units/src/lib.rs", "fn f() {}"),
        ("bpf/lia.h", "int w; \t"),
        ("Makefile", ""),
        ("tests/test_wide.py", "x = 1"),
    ],
)
def test_a_comment_of_more_than_100_columns_is_found(tmp_path: Path, file: str, code: str) -> None:
    mark, end = {"rs": ("// ", ""), "h": ("/* ", " */")}.get(file.split(".")[-1], ("# ", ""))
    code = f"{code} {mark}"
    room = 100 - len(f"{code}{end}".expandtabs(8))
    assert plant(tmp_path, file, f"{code}{'x' * room}{end}\n") == []
    (found,) = plant(tmp_path, file, f"{code}{'x' * (room + 1)}{end}\n")
    assert found == f"{file}:1: a line of 101 columns"


def test_a_line_of_c_of_more_than_100_columns_is_found(tmp_path: Path) -> None:
    (found,) = plant(tmp_path, "bpf/lia.h", f"\tint {'w' * 88};\n")
    assert found == "bpf/lia.h:1: a line of 101 columns"


def test_a_docstring_of_more_than_100_columns_is_found_and_a_string_is_not(tmp_path: Path) -> None:
    text = f'"""Module."""\n\nX = "{"x" * 120}"\n"""{"x" * 98}"""\n'
    (found,) = plant(tmp_path, "tools/wide.py", text)
    assert found == "tools/wide.py:4: a line of 101 columns"


def test_a_comment_that_names_a_file_that_is_gone_is_found(tmp_path: Path) -> None:
    (found,) = plant(tmp_path, "crates/units/src/lib.rs", "//! See `lib.rs` and `medium.rs`.\n")
    assert found == "crates/units/src/lib.rs:1: there is no `medium.rs`"
