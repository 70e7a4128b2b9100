from __future__ import annotations

from pathlib import Path

import pytest

from circles import circles


def repository(root: Path, files: dict[str, str]) -> list[str]:
    """What the check says of a repository with these files."""
    for name, text in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    for manifest in {Path(name).parts[1] for name in files if name.startswith("crates/")}:
        (root / "crates" / manifest / "Cargo.toml").touch()
    return list(circles(root))


def crate(root: Path, **modules: str) -> list[str]:
    """The same for a crate of these modules; `__` stands for `/`."""
    names = {name.replace("__", "/"): text for name, text in modules.items()}
    return repository(root, {f"crates/c/src/{name}.rs": text for name, text in names.items()})


LIB = "mod a;\nmod b;\npub use a::A;\n"


@pytest.mark.parametrize(
    "code",
    [
        "use crate::a::A;",
        "use super::a::A;",
        "use crate::A;",
        "use crate::{b::Other, a::{self, A as Own}};",
        "use super::a;\nfn f() { a::A::new(); }",
        "fn f() -> crate::a::A {}",
        "use crate::a::*;",
    ],
)
def test_two_modules_that_take_names_of_each_other_are_a_circle(tmp_path: Path, code: str) -> None:
    a = "use crate::b::B;\npub struct A;\n"
    (found,) = crate(tmp_path, lib=LIB, a=a, b=f"{code}\npub struct B;\npub struct Other;\n")
    assert found.startswith("c: 2 files need each other: crates/c/src/a.rs takes `B` of")


@pytest.mark.parametrize(
    "code",
    [
        "// use crate::a::A;",
        'const TEXT: &str = "crate::a::A";',
        "#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}",
        "use other::a::A;",
        "use super::shared;",
    ],
)
def test_comments_strings_tests_and_other_crates_make_no_circle(tmp_path: Path, code: str) -> None:
    a = "use crate::b::B;\npub struct A;\n"
    assert crate(tmp_path, lib=LIB, a=a, b=f"{code}\npub struct B;\n") == []


def test_a_file_of_tests_makes_no_circle(tmp_path: Path) -> None:
    b = "#[cfg(test)]\nmod tests;\npub struct B;\n"
    a = "use crate::b::B;\npub struct A;\n"
    assert crate(tmp_path, lib=LIB, a=a, b=b, b__tests="use crate::a::A;\n") == []


def test_a_module_and_its_parts_are_one_house(tmp_path: Path) -> None:
    a = "mod part;\nuse part::Part;\npub struct A;\n"
    assert crate(tmp_path, lib="mod a;", a=a, a__part="use super::A;\nstruct Part;\n") == []


def test_a_circle_of_three_python_modules_is_found(tmp_path: Path) -> None:
    package = "python/anabranch"
    found = repository(
        tmp_path,
        {
            f"{package}/__init__.py": "",
            f"{package}/a.py": "from .b import f\n",
            f"{package}/b/__init__.py": "from .inner import f\n",
            f"{package}/b/inner.py": "def f():\n    from ..c import g\n",
            f"{package}/c.py": "import anabranch.a\n",
        },
    )
    assert found == [
        "python: 3 files need each other: python/anabranch/a.py takes `f` of "
        "python/anabranch/b/inner.py takes `g` of python/anabranch/c.py takes `a` of a.py"
    ]


def test_a_function_of_the_including_c_file_is_a_circle(tmp_path: Path) -> None:
    guard = "static int event(int);\nstatic int guard(void)\n{\n\treturn event(1);\n}\n"
    shell = '#include "guard.h"\nstatic int event(int x)\n{\n\treturn x;\n}\n'
    (found,) = repository(tmp_path, {"bpf/guard.h": guard, "bpf/shell.h": shell})
    assert found.startswith(
        "bpf: 2 files need each other: bpf/guard.h takes `event` of bpf/shell.h"
    )
