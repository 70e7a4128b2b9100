"""Debian's packages of kernels, of qemu and of busybox: which there are, and their files.

apt has directories of its own here, so that nothing of the host changes. Mirrors drop versions
after a while, so names are looked up, and what was fetched is kept and used again.
"""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import tarfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parents[2] / "target" / "kernels"
"""All that the command makes."""

SUITES = ("bookworm", "bookworm-backports", "trixie", "trixie-backports")
"""Where kernels are looked for; Debian's backports have new ones every few weeks."""

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
LISTS_AGE_S = 86_400.0
"""Lists that are older are fetched again."""

KERNEL = re.compile(r"linux-(image|binary|modules)-((\d+)\.(\d+)\S*?)-cloud-amd64", flags=re.ASCII)
ALL_IN_ONE_BEFORE = (6, 19)
"""From this version on linux-image only names linux-binary and linux-modules."""

WANTED = re.compile(r"/kernel/(drivers/)?net/.*\.ko(\.\w+)?$")
"""The modules that are taken out of a kernel's packages."""

QEMU = "qemu-system-x86"
BUSYBOX = "busybox-static"


class Unavailable(Exception):
    """Something cannot be had here; the text says what, and what would help."""


@dataclass(frozen=True, order=True)
class Kernel:
    """A kernel of Debian, the flavour for virtual machines, which is the smallest."""

    series: tuple[int, int]
    version: str
    """As in the names of its packages, such as "6.12.117+deb13"."""
    packages: tuple[str, ...]

    @property
    def name(self) -> str:
        """The series, as `--kernel` takes it."""
        return ".".join(map(str, self.series))

    @property
    def folder(self) -> Path:
        """Its image and its modules."""
        return ROOT / "linux" / self.version

    @property
    def image(self) -> Path:
        """The bootable image; there once the packages were unpacked."""
        return self.folder / "vmlinuz"


def kernels(names: Iterable[str]) -> list[Kernel]:
    """The newest kernel of each series among packages of these names; one with modules before one
    without, for Debian drops the modules of old versions first.
    """
    found: dict[str, dict[str, str]] = {}
    series: dict[str, tuple[int, int]] = {}
    for name in names:
        if match := KERNEL.fullmatch(name):
            kind, version, major, minor = match.groups()
            found.setdefault(version, {})[kind] = name
            series[version] = int(major), int(minor)
    best: dict[tuple[int, int], Kernel] = {}
    for version in sorted(found, key=lambda each: ("modules" in found[each], numbers(each))):
        parts = found[version]
        own = series[version]
        kinds = ("image",) if own < ALL_IN_ONE_BEFORE else ("binary", "modules")
        if kinds[0] in parts:
            packages = tuple(parts[kind] for kind in kinds if kind in parts)
            best[own] = Kernel(own, version, packages)
    return sorted(best.values())


def numbers(version: str) -> list[int]:
    """A version's numbers, for ordering."""
    return [int(each) for each in re.findall(r"\d+", version)]


def available() -> list[Kernel]:
    """The kernels that the mirror has or that were fetched before, oldest first. Raises
    Unavailable.
    """
    if (found := platform.machine()) != "x86_64":
        raise Unavailable(f"this machine is {found}: the kernels are booted on x86_64 alone")
    apt = Apt("kernels", SUITES)
    try:
        offered = apt.names("^linux-(image|binary|modules)-.*-cloud-amd64$")
    except Unavailable:
        offered = []
    kept = [path.name.split("_")[0] for path in apt.downloads.glob("linux-*.deb")]
    if not offered and not kept:
        raise Unavailable("no mirror of Debian answers, and no kernel was fetched before")
    return kernels([*offered, *kept])


def unpack(kernel: Kernel) -> None:
    """Fetches a kernel's packages and takes out its image and the modules of networks. Raises
    Unavailable.
    """
    if kernel.image.exists():
        return
    apt = Apt("kernels", SUITES)

    with fresh(kernel.folder) as folder:
        for package in kernel.packages:
            for file, content in members(apt.download(package)):
                base = Path(file).name
                # In /boot, from 7.2 on beside the modules.
                if base.startswith("vmlinuz"):
                    (folder / "vmlinuz").write_bytes(content.read())
                elif WANTED.search(file):
                    (folder / base).write_bytes(content.read())
        if not (folder / "vmlinuz").exists():
            raise Unavailable(f"{', '.join(kernel.packages)}: no kernel image in them")


def busybox() -> Path:
    """A shell and tools in one static program. Raises Unavailable."""
    folder = ROOT / "busybox"
    if not folder.exists():
        package = own_apt().download(BUSYBOX)
        with fresh(folder) as made:
            for file, content in members(package):
                if file.endswith("bin/busybox"):
                    (made / "busybox").write_bytes(content.read())
                    (made / "busybox").chmod(0o755)
    return folder / "busybox"


def qemu() -> Path:
    """The root of an unpacked qemu and of the libraries that this host lacks. Raises Unavailable.

    That of Debian 12 itself is too old: its emulation of cmpxchg16b is broken, and kernels crash at
    random. The one of its backports is right, and so is Debian 13's.
    """
    folder = ROOT / "qemu"
    if not folder.exists():
        debs = own_apt().with_missing_libraries(QEMU)
        with fresh(folder) as made:
            for deb in debs:
                subprocess.run(["dpkg-deb", "-x", deb, made], check=True)
    return folder


def own_apt() -> Apt:
    """apt for programs that run on this host: of its own release and its backports."""
    text = Path("/etc/os-release").read_text()
    match = re.search(r"^VERSION_CODENAME=(\w+)$", text, flags=re.MULTILINE)
    if not match or not re.search(r"^ID=debian$", text, flags=re.MULTILINE):
        raise Unavailable("this host is not a Debian: qemu is unpacked from its packages")
    return Apt("host", (match[1], f"{match[1]}-backports"))


class Apt:
    """apt with directories and sources of its own."""

    def __init__(self, name: str, suites: tuple[str, ...], *, alone: bool = False) -> None:
        """Nothing is fetched yet. `alone`: as if nothing were installed here. Raises Unavailable
        without apt.
        """
        if not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
            raise Unavailable("apt-get and dpkg-deb are missing: kernels come as Debian's packages")
        self.folder, self.suites = ROOT / "apt" / name, suites
        self.downloads, self._alone = self.folder / "archives", alone
        for made in ("lists/partial", "archives/partial", "parts"):
            (self.folder / made).mkdir(parents=True, exist_ok=True)

    def names(self, pattern: str) -> list[str]:
        """The packages whose names match. Raises Unavailable without lists."""
        self.update()
        text = self.run("apt-cache", "search", "--names-only", pattern)
        return [line.split()[0] for line in text.splitlines()]

    def download(self, package: str) -> Path:
        """The file of a package, perhaps one that was fetched before. Raises Unavailable."""
        if kept := sorted(self.downloads.glob(f"{package}_*.deb"), key=changed):
            return kept[-1]
        self.update()
        self.run("apt-get", "download", package, folder=self.downloads)
        (made,) = self.downloads.glob(f"{package}_*.deb")
        return made

    def with_missing_libraries(self, *packages: str) -> list[Path]:
        """The files of packages, of the newest suite, and of all that they need and that is not
        installed. Raises Unavailable.
        """
        self.update()
        options = ["--download-only", "--no-install-recommends", "--reinstall", "--yes"]
        self.run("apt-get", *options, "--target-release", self.suites[-1], "install", *packages)
        return sorted(self.downloads.glob("*.deb"))

    def update(self) -> None:
        """Fetches lists, unless those there are new. Raises Unavailable."""
        stamp = self.folder / "updated"
        if stamp.exists() and time.time() - changed(stamp) < LISTS_AGE_S:
            return
        mirror = self.mirror()
        lines = [f"deb [signed-by={KEYRING}] {mirror} {suite} main\n" for suite in self.suites]
        (self.folder / "sources.list").write_text("".join(lines))
        try:
            self.run("apt-get", "update")
        except Unavailable:  # a suite that is gone does not take the others with it
            if not list((self.folder / "lists").glob("*_Packages*")):
                raise
        stamp.touch()

    def mirror(self) -> str:
        """The mirror of Debian that this host uses."""
        layout = "$(REPO_URI) $(ORIGIN) $(LABEL)"
        command = ["apt-get", "indextargets", "--format", layout, "Created-By: Packages"]
        rows = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
        for row in rows:
            uri, *labels = row.split()
            if labels == ["Debian", "Debian"]:
                return uri
        raise Unavailable("no mirror of Debian is among the sources of apt: see sources.list(5)")

    def run(self, program: str, *arguments: str, folder: Path | None = None) -> str:
        """The output of a program of apt. Raises Unavailable with what it says."""
        own = {
            "Dir::Etc::sourcelist": self.folder / "sources.list",
            "Dir::Etc::sourceparts": self.folder / "parts",
            "Dir::State::lists": self.folder / "lists",
            "Dir::Cache": self.folder,
            "Debug::NoLocking": 1,  # only these directories are written
            "APT::Sandbox::User": "root",  # the user of apt may not write here
        }
        options = [part for key, value in own.items() for part in ("-o", f"{key}={value}")]
        if self._alone:
            (self.folder / "status").touch()
            options += ["-o", f"Dir::State::status={self.folder / 'status'}"]
        command = [program, *options, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
        if done.returncode:
            said = [line for line in done.stderr.splitlines() if line.startswith("E:")]
            raise Unavailable(f"{program} {arguments[0]}: {'; '.join(said) or done.stderr[-300:]}")
        return done.stdout


def members(package: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """The regular files of a package."""
    command = ["dpkg-deb", "--fsys-tarfile", str(package)]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE) as process,
        tarfile.open(fileobj=process.stdout, mode="r|") as archive,
    ):
        for member in archive:
            content = archive.extractfile(member) if member.isreg() else None
            if content:
                yield member.name, content
    if process.returncode:
        raise Unavailable(f"{package.name} is damaged: remove it, and it is fetched again")


@contextmanager
def fresh(folder: Path) -> Iterator[Path]:
    """A folder that is there afterwards only if the block came to its end."""
    made = folder.with_name(folder.name + ".part")
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True)
    yield made
    shutil.rmtree(folder, ignore_errors=True)
    made.rename(folder)


def changed(path: Path) -> float:
    """When a file was written."""
    return path.stat().st_mtime
