"""The initial file system of a guest: busybox, Python with the packages that the checks need,
anabranch, the checks, and a kernel's modules.

It is four archives one after the other. The first, Python, changes seldom and is kept; the second
is anabranch as it is now; the other two belong to a kernel: its modules, and ours. Modules of
Python are there as bytecode alone: an emulated processor would take three times as long to compile
them.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import os
import py_compile
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from functools import cache
from pathlib import Path
from typing import IO

from controllers import controllers
from packages import ROOT, Kernel, Unavailable, busybox, fresh

TESTS = Path(__file__).parents[1]
MODULES = ("tun", "veth", "bridge", "sch_tbf", "sch_netem")
"""What the checks need of a kernel that is not always built in."""

NEEDED = """
import json, sys
import anabranch.cli.application, anabranch.linux, numpy, pyroute2, rich.table
import anabranch.linux.observe, anabranch.linux.coupling, anabranch.linux.check
from anabranch.linux.controllers import built
found = {}
for name, module in list(sys.modules.items()):
    top = name.partition(".")[0]
    file = getattr(sys.modules.get(top), "__file__", None)
    if file and top not in sys.stdlib_module_names:
        found[top] = file
print(json.dumps({"packages": found, "built": built()}))
"""
"""Imports what the checks import; the packages that are there then."""

LEFT_OUT = {
    "__pycache__",
    "test",
    "tests",
    "idlelib",
    "tkinter",
    "ensurepip",
    "lib2to3",
    "turtledemo",
}
LEFT_OUT |= {"site-packages", "dist-packages", "pydoc_data", "include"}
LARGEST_DATA = 1_000_000
"""Bytes; larger files that are no code are left out."""

PY = Path("py")
"""The home of Python in the guest."""
STDLIB = PY / sys.platlibdir / f"python{sysconfig.get_python_version()}"

INIT = f"""#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
mount -t tmpfs run /run
mkdir -p /dev/net /run/netns
ip link set lo up
for module in $(cat /modules/order); do insmod /modules/$module; done
cd /tmp
export HOME=/tmp PYTHONHOME=/{PY} PYTHONPATH=/{PY}/site:/tests/linux
export OPENBLAS_NUM_THREADS=1 COLUMNS=160
/{PY}/bin/python /tests/kernels/inside.py >/dev/ttyS1 2>&1 </dev/null
poweroff -f
"""


def initrd(kernel: Kernel) -> Path:
    """A file for qemu, for one guest alone. Raises Unavailable."""
    parts = [python(), anabranch(), modules(kernel), own_modules(kernel)]
    made = ROOT / f"initrd-{kernel.name}"
    with made.open("wb") as file:
        for part in parts:
            with part.open("rb") as content:
                shutil.copyfileobj(content, file)
    return made


def prepare(kernel: Kernel) -> None:
    """Makes the parts that are kept for later guests. Raises Unavailable."""
    python()
    modules(kernel)
    own_modules(kernel)


@cache
def needed() -> dict[str, Path]:
    """The packages of this environment that the checks import. Raises Unavailable."""
    done = subprocess.run([sys.executable, "-c", NEEDED], capture_output=True, text=True)
    if done.returncode:
        last = (done.stderr.splitlines() or ["no reason given"])[-1]
        raise Unavailable(f"anabranch cannot be imported by {sys.executable}: {last}; `make build`")
    told = json.loads(done.stdout)
    if not told["built"]:
        raise Unavailable("this build has no controllers for the kernel: `make build` says why")
    return {name: Path(file) for name, file in told["packages"].items()}


@cache
def python() -> Path:
    """The archive with busybox, Python and the packages, if need be a new one."""
    packages = {name: file for name, file in needed().items() if name != "anabranch"}
    stamps = [f"{name} {file} {file.stat().st_mtime_ns}" for name, file in sorted(packages.items())]
    key = "\n".join([sys.version, INIT, Path(__file__).read_text(), *stamps])
    folder = ROOT / "python" / hashlib.sha256(key.encode()).hexdigest()[:16]
    archive = folder / "python.cpio"
    if archive.exists():
        return archive
    shutil.rmtree(folder.parent, ignore_errors=True)
    with fresh(folder) as made, tempfile.TemporaryDirectory(dir=ROOT) as name:
        stage = Path(name)
        for each in (
            "bin",
            "proc",
            "sys",
            "dev",
            "tmp",
            "run",
            "modules",
            "tests",
            str(PY / "bin"),
        ):
            (stage / each).mkdir(parents=True)
        shutil.copy(busybox(), stage / "bin")
        (stage / "init").write_text(INIT)
        (stage / "init").chmod(0o755)
        shutil.copy(Path(sys.executable).resolve(), stage / PY / "bin/python")
        copy_compiled(Path(sysconfig.get_path("stdlib")), stage / STDLIB)
        for top, file in packages.items():
            copy_package(top, file, stage / PY / "site")
        add_libraries(stage)
        write_archive(stage, made / "python.cpio")
    return archive


@cache
def anabranch() -> Path:
    """The archive with the package and the checks, as they are now."""
    archive = ROOT / "anabranch.cpio"
    with tempfile.TemporaryDirectory(dir=ROOT) as name:
        stage = Path(name)
        copy_package("anabranch", needed()["anabranch"], stage / PY / "site")
        add_libraries(stage)
        for folder in ("linux", "kernels"):
            shutil.copytree(
                TESTS / folder,
                stage / "tests" / folder,
                ignore=shutil.ignore_patterns("__pycache__"),
            )
        write_archive(stage, archive)
    return archive


def modules(kernel: Kernel) -> Path:
    """The archive with the modules that a kernel's packages have, in the order in which they are to
    be loaded.
    """
    archive = kernel.folder / "modules.cpio"
    if archive.exists() and archive.stat().st_mtime > Path(__file__).stat().st_mtime:
        return archive
    with tempfile.TemporaryDirectory(dir=ROOT) as name:
        stage = Path(name) / "modules"
        stage.mkdir()
        order: list[str] = []
        for module in MODULES:
            add_module(module, kernel.folder, stage, order)
        (stage / "order").write_text("\n".join(order) + "\n")
        write_archive(stage.parent, archive)
    return archive


def own_modules(kernel: Kernel) -> Path:
    """The archive with the controllers as modules of a kernel; with the reason, if there are none."""
    with tempfile.TemporaryDirectory(dir=ROOT) as name:
        stage = Path(name) / "controllers"
        try:
            shutil.copytree(controllers(kernel), stage)
        except (Unavailable, RuntimeError) as error:
            stage.mkdir()
            state = "absent" if isinstance(error, Unavailable) else "failed"
            (stage / state).write_text(str(error))
        write_archive(stage.parent, archive := kernel.folder / "controllers.cpio")
    return archive


def add_module(name: str, folder: Path, stage: Path, order: list[str]) -> None:
    """Adds a module after those that it needs; one that is built in, or not there, is none."""
    file = f"{name}.ko"
    if file in order or not (found := list(folder.glob(f"{file}*"))):
        return
    content = found[0].read_bytes()
    if found[0].suffix == ".xz":
        content = lzma.decompress(content)
    if match := re.search(rb"\0depends=([^\0]+)\0", content):
        for other in match[1].decode().split(","):
            add_module(other, folder, stage, order)
    (stage / file).write_bytes(content)
    order.append(file)


def copy_package(top: str, file: Path, site: Path) -> None:
    """Copies a package or a module, and the libraries that wheels have beside a package."""
    if file.name != "__init__.py":
        copy_compiled_file(file, site / file.name)
        return
    copy_compiled(file.parent, site / top)
    if (libraries := file.parents[1] / f"{top}.libs").is_dir():
        # As they are: their pages stay aligned.
        shutil.copytree(libraries, site / libraries.name)


def copy_compiled(source: Path, target: Path) -> None:
    """Copies a folder; modules as bytecode, and no tests."""
    for folder, folders, files in os.walk(source):
        folders[:] = [each for each in folders if each not in LEFT_OUT and "config-" not in each]
        for name in files:
            file = Path(folder, name)
            copy_compiled_file(file, target / file.relative_to(source))


def copy_compiled_file(file: Path, target: Path) -> None:
    """Copies a file; a module as bytecode."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if file.suffix == ".py":
        unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
        compiled = str(target.with_suffix(".pyc"))
        py_compile.compile(str(file), compiled, invalidation_mode=unchecked)
    elif ".so" in file.suffixes or file.stat().st_size < LARGEST_DATA:
        shutil.copy(file, target)


def add_libraries(stage: Path) -> None:
    """Adds the shared libraries of what is staged, at the paths at which they are here."""
    files = [str(each) for each in stage.rglob("*") if each.is_file() and ".so" in each.suffixes]
    if (python := stage / PY / "bin/python").exists():
        files.append(str(Path(sys.executable).resolve()))
        assert python.is_file()
    said = subprocess.run(["ldd", *files], capture_output=True, text=True).stdout
    for library in set(re.findall(r"(?:=> |^\s+)(/\S+) \(0x", said, flags=re.MULTILINE)):
        if not library.startswith(str(stage)) and not (stage / library[1:]).exists():
            (stage / library[1:]).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(library, stage / library[1:])


def write_archive(stage: Path, archive: Path) -> None:
    """Writes a folder as the kernel takes it: the "newc" form of cpio, described in the kernel's
    Documentation/driver-api/early-userspace/buffer-format.rst.
    """
    with archive.open("wb") as file:
        for number, path in enumerate(sorted(stage.rglob("*")), start=1):
            mode = path.stat().st_mode
            content = path.read_bytes() if path.is_file() else b""
            write_entry(file, number, str(path.relative_to(stage)), mode, content)
        write_entry(file, 0, "TRAILER!!!", 0, b"")
        file.write(bytes(-file.tell() % 512))


def write_entry(file: IO[bytes], number: int, name: str, mode: int, content: bytes) -> None:
    """A file or a folder, root's own."""
    fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0)
    header = b"070701" + b"".join(b"%08X" % each for each in fields) + name.encode() + b"\0"
    for part in (header, content):
        file.write(part + bytes(-len(part) % 4))
