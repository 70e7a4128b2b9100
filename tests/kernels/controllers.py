"""The controllers as modules of a kernel, built against Debian's packages of its headers.

The compiler and the tools of the headers are Debian's of the kernel's own release, and run in a
root of their own, made of unpacked packages: those of the host may be older. Needs no root where
users may have namespaces.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

from packages import ROOT, SUITES, Apt, Kernel, Unavailable, changed, fresh

SOURCES = Path(__file__).parents[2]
PARTS = ("bpf", "module", "python/anabranch/laws", "packaging/modules.sh")
"""Sources on which the modules depend."""

RELEASE = "trixie"
"""Whose compiler builds them: that of the kernels, and of their backports."""
TOOLS = ("base-files", "bash", "coreutils", "dash", "findutils", "gcc-14", "grep", "make", "mawk")
TOOLS += ("pahole", "sed", "libssl3t64")

UNKNOWN = "-DAB_MOST_CONTEXT=16"
"""Of a context only so many bytes are looked at: as if this kernel had another one."""

INSIDE = """
set -e
mount --rbind /dev "$1/dev"
mount --rbind /proc "$1/proc"
exec chroot "$1" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/ sh -c "$2"
"""

FIELD = re.compile(r"(\w+)(?::1)?;\s*/\*\s*(\d+)(?::\s*(\d+))?\s")
"""A field as pahole shows it: its name, its byte, and the bit in the word there."""


def controllers(kernel: Kernel) -> Path:
    """A folder with a module for each law, `unknown/ab_lia.ko` that finds no layout, and the
    offsets of BTF in `layout.json`. Raises Unavailable.
    """
    folder = kernel.folder / "controllers"
    if folder.exists() and changed(folder) > newest():
        return folder
    root, headers = tools(), with_headers(kernel)
    write_sources(root / "build")
    with fresh(folder) as made:
        for flags, goal, target in ("", "modules", made), (UNKNOWN, "ab_lia.ko", made / "unknown"):
            target.mkdir(exist_ok=True)
            inside(root, f"make -C {headers} M=/build clean")
            said = inside(root, f"make -C {headers} M=/build CFLAGS_MODULE={flags} {goal}")
            if wrong := [line for line in said.splitlines() if "warning:" in line]:
                raise RuntimeError(f"the compiler warns: {wrong}")
            inside(root, "strip --strip-debug /build/*.ko")
            for file in (root / "build").glob("ab_*.ko"):
                shutil.copy(file, target)
        (made / "layout.json").write_text(json.dumps(layout(root, f"{headers}/vmlinux")))
    folder.touch()
    return folder


def newest() -> float:
    """When the sources last changed."""
    files = [file for part in PARTS for file in [SOURCES / part, *(SOURCES / part).rglob("*")]]
    return max(map(changed, [*files, Path(__file__)]))


def apt() -> Apt:
    """apt for a root in which nothing is installed. Of two suites it prefers the last."""
    suites = [suite for suite in SUITES if suite.startswith(RELEASE)]
    return Apt("tools", tuple(sorted(suites, reverse=True)), alone=True)


def tools() -> Path:
    """A root with a compiler. Raises Unavailable."""
    root = ROOT / "tools"
    if not root.exists():
        debs = apt().with_missing_libraries(*TOOLS)
        with fresh(root) as made:
            # First the links of /bin and others into /usr.
            for deb in sorted(debs, key=lambda deb: not deb.name.startswith("base-files")):
                subprocess.run(["dpkg-deb", "-x", deb, made], check=True)
            (made / "usr/bin/awk").symlink_to("mawk")
    return root


def with_headers(kernel: Kernel) -> str:
    """Where the headers of a kernel are in the root of the tools. Raises Unavailable."""
    name = f"{kernel.version}-cloud-amd64"
    place = Path("usr/src", f"linux-headers-{name}")
    if not (ROOT / "tools" / place / "Makefile").exists():
        found = apt()
        wanted = (f"headers-{kernel.version}-common", f"kbuild-{kernel.version}", f"headers-{name}")
        for deb in [found.download(f"linux-{each}") for each in wanted]:
            subprocess.run(["dpkg-deb", "-x", deb, ROOT / "tools"], check=True)
    return f"/{place}"


def write_sources(folder: Path) -> None:
    """Writes the sources as the package for DKMS has them."""
    shutil.rmtree(folder, ignore_errors=True)
    program = Path(sysconfig.get_path("scripts"), "anabranch")
    script = SOURCES / "packaging/modules.sh"
    subprocess.run(["sh", script, folder, program], check=True)


def inside(root: Path, command: str) -> str:
    """What a command says in a root. Raises Unavailable where there is no way into it, and
    RuntimeError if the command fails.
    """
    enter = ["unshare", "--map-root-user", "--mount"]
    if subprocess.run([*enter, "true"], capture_output=True).returncode:
        raise Unavailable("this user may not make namespaces: the compiler runs in one")
    done = subprocess.run(
        [*enter, "sh", "-c", INSIDE, "sh", root, command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stdout[-2000:]}")
    return done.stdout


def layout(root: Path, image: str) -> dict[str, str]:
    """Offsets of the fields that the modules measure, as BTF has them, in the words of the file
    `layout` in debugfs.
    """
    context = fields(inside(root, f"pahole -C mptcp_subflow_context {image} 2>/dev/null"))
    connection = fields(inside(root, f"pahole -C mptcp_sock {image} 2>/dev/null"))
    found = {name: context[name][0] for name in ("node", "tcp_sock", "conn")}
    backup, bit = context["backup"]
    return found | {"conn_list": connection["conn_list"][0], "backup": f"{backup} bit {bit}"}


def fields(shown: str) -> dict[str, tuple[str, str]]:
    """Byte and bit of each field of a structure; of names that occur twice the first."""
    found: dict[str, tuple[str, str]] = {}
    for name, byte, bit in FIELD.findall(shown):
        found.setdefault(name, (byte, bit))
    return found
