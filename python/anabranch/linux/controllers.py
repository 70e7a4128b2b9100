"""Controllers in the running kernel, loaded for the lifetime of this process.

A run loads its own controllers under names with its process number. So parallel runs, and
controllers that an operator has loaded, do not collide. The kernel removes them when the process
ends, even if it is killed.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from .. import _core
from ..offers import find, offer
from .compile import compiled, compiled_header, in_terms_of
from .errors import LinuxError
from .fit import kernels_own
from .namespace import read_setting
from .rights import LOCKED, check_root, locked

NOT_BUILT = (
    "this build has no controllers for the kernel: install clang, libelf-dev and zlib1g-dev, "
    "then run `make build` again"
)

LEAST_KERNEL = (6, 10)
"""The first kernel whose cong_control has the signature that the controllers are written for."""

LONGEST_NAME = 15

WRITTEN = "law_"
"""Prefix of kernel names for a user's laws, in text or C."""

SBD = "+sbd"
"""Suffix of laws that couple only paths that share a bottleneck."""


def built() -> bool:
    """Whether this build contains the controllers."""
    return hasattr(_core, "KernelController")


def names() -> dict[str, str]:
    """For each law that the kernel can run its name there. Raises LinuxError where none
    was built.
    """
    if not built():
        raise LinuxError(NOT_BUILT)
    return dict(_core.kernel_programs())


def known_name(name: str) -> str:
    """The law with the given name, which is its own or the kernel's. Raises LinuxError for an
    unknown name; the message suggests near names and lists all.
    """
    known = names()
    if law := find(name, known):
        return law
    if own := find(name, known.values()):
        return next(law for law, kernel_name in known.items() if kernel_name == own)
    try:
        meant = _core.controller(name)
    except _core.ScenarioError:
        meant = None
    if meant and meant["ported"] and meant["kind"] in known:
        return meant["kind"]
    raise LinuxError(
        f"there is no controller `{name}` for the kernel{offer(name, known)}\n"
        f"help: those that it can run are {', '.join(known)}, and laws that are written as text"
    )


def sources() -> str:
    """Digest of the sources of the controllers in this build; nothing where none was built."""
    return _core.kernel_sources() if built() else ""


class Attached:
    """Controllers that are in the kernel now, by the name of their law."""

    def __init__(self) -> None:
        """None yet."""
        self.loaded: dict[str, _core.KernelController] = {}
        self.groups: dict[str, list[list[int]]] = {}
        """What the last call of `couple` found."""

    def kernel_name(self, controller: str) -> str:
        """The name under which the kernel knows a controller; some are the kernel's own.

        Raises LinuxError for one that was not loaded.
        """
        if own := kernels_own(controller):
            return own
        law = law_of(controller)
        if law in self.loaded:
            return self.loaded[law].kernel_name
        raise LinuxError(f"the controller {controller} is not loaded")

    def counters(self) -> dict[str, dict[str, int]]:
        """The counters of each controller."""
        return {law: controller.counters() for law, controller in self.loaded.items()}

    def steps(self) -> dict[str, list[str]]:
        """Inputs and outputs of each law at every ACK since the last call, if they are recorded."""
        return {law: controller.steps() for law, controller in self.loaded.items()}

    def judge(self, law: str, steps: list[str]) -> dict[str, int]:
        """Numbers of wrong steps by kind; see `KernelController.judge`."""
        return self.loaded[law].judge(steps)

    def couple(self) -> None:
        """Tells the subflows of laws with `+sbd` which of them share a bottleneck."""
        for law, controller in self.loaded.items():
            if law.endswith(SBD):
                self.groups[law] = controller.couple()

    def cost(self) -> dict[str, dict[str, tuple[int, int]]]:
        """Calls and nanoseconds of the callbacks of each; zero unless the kernel keeps
        statistics.
        """
        return {law: controller.cost() for law, controller in self.loaded.items()}


def law_of(controller: str) -> str:
    """The law that a controller of a scenario means: `kernel:olia` is `olia` here. A law that is
    written as text is its label.
    """
    named = _core.controller(controller)
    law = named["kind"] or named["text"].removeprefix("kernel:").removesuffix(SBD)
    return f"{law}{SBD}" if named["detector"] else law


@contextmanager
def attached(
    controllers: Iterable[str],
    *,
    min_ssthresh: int | None = None,
    skips_per_million: int = 0,
    record: bool = False,
) -> Iterator[Attached]:
    """Controllers in the kernel as long as the block lasts. `kernel:reno` is Reno in our shell.

    `min_ssthresh` is the smallest threshold of coupled paths in segments, the law's own without it;
    `record` keeps the steps of the laws. Raises LinuxError when one cannot be loaded.
    """
    found = Attached()
    with ExitStack() as stack:
        for name in dict.fromkeys(controllers):
            if own := kernels_own(name):
                check_built(own)
                continue
            law = law_of(name)
            if law in found.loaded:
                raise LinuxError(f"two controllers are called {law}: give one of them another name")
            # Letters, digits, `_` and `.` are all that the kernel takes.
            words = re.sub(r"[^a-z0-9_]", "", law.lower())
            own = f"ab{os.getpid()}_{words}"[:LONGEST_NAME]
            if own in (other.kernel_name for other in found.loaded.values()):
                own = f"ab{os.getpid()}_{len(found.loaded)}{words}"[:LONGEST_NAME]
            controller = load(
                name,
                kernel_name=own,
                min_ssthresh=min_ssthresh,
                skips=skips_per_million * 1e-6,
                record=record,
            )
            stack.callback(controller.close)
            found.loaded[law] = controller
        yield found


def check_built(kernel_name: str) -> None:
    """Raises LinuxError if the running kernel has no such congestion control."""
    if kernel_name not in available():
        raise LinuxError(
            f"this kernel has no congestion control {kernel_name}; it has {', '.join(available())}\n"
            f"help: sudo modprobe tcp_{kernel_name}, if the module is there"
        )


def load(
    law: str,
    *,
    kernel_name: str | None = None,
    min_ssthresh: int | None = None,
    skips: float = 0.0,
    record: bool = False,
) -> _core.KernelController:
    """A controller in the kernel: see `KernelController`. Raises LinuxError that names the
    remedy.
    """
    usual = names_of(law)
    name, program = program_of(law)
    try:
        return _core.KernelController(
            name,
            kernel_name=kernel_name or usual,
            min_ssthresh=min_ssthresh,
            skips=skips,
            record=record,
            sbd=couples_when_shared(law),
            object=program,
        )
    except FileExistsError:
        raise LinuxError(f"the kernel has a controller {kernel_name or usual} already") from None
    except OSError as error:
        text = written(law)
        if isinstance(error, PermissionError):
            check_root("load")  # else the kernel refused the program, and says why
        if locked():
            raise LinuxError(f"this kernel cannot run the controller {law}: {LOCKED}") from None
        said = in_terms_of(text, str(error)) if text else str(error)
        if not new_enough(platform.release()):
            least = ".".join(map(str, LEAST_KERNEL))
            said = f"it is Linux {platform.release()}, and controllers need {least} or later"
        raise LinuxError(
            f"this kernel cannot run the controller {law if header_file(law) else law_of(law)}: {said}\n"
            "help: `anabranch linux check` shows what is missing"
        ) from None


def program_of(law: str) -> tuple[str | None, bytes | None]:
    """What `KernelController` takes for a law: its name or text, and its compiled C unless it
    ships. Raises LinuxError.
    """
    if header_file(law):
        return None, compiled_header(Path(law))
    if text := written(law):
        return text, compiled(text)
    return known_name(law), None


def new_enough(release: str) -> bool:
    """Whether a kernel's release, as "6.12.9-amd64", is that of one that can run them."""
    numbers = re.match(r"(\d+)\.(\d+)", release)
    return numbers is not None and tuple(map(int, numbers.groups())) >= LEAST_KERNEL


def written(controller: str) -> str:
    """The text of a controller that is a law in text; empty for any other, and for no
    controller.
    """
    if header_file(controller):
        return ""
    try:
        named = _core.controller(controller)
    except _core.ScenarioError:
        if law_file(controller):
            raise
        return ""
    return named["source"] if named["written"] else ""


def couples_when_shared(controller: str) -> bool:
    """Whether a controller couples only paths that share a bottleneck."""
    return not header_file(controller) and _core.controller(controller)["detector"] is not None


def header_file(controller: str) -> bool:
    """Whether a controller is the file name of a law in C."""
    return controller.endswith(".h") and "\n" not in controller


def law_file(controller: str) -> bool:
    """Whether a controller is the file name or the text of a law."""
    return ".law" in controller or "\n" in controller


def names_of(controller: str) -> str:
    """The usual name in the kernel of a law that ships, or of one in text or C. Raises
    LinuxError.
    """
    text = written(controller)
    if not text and not header_file(controller):
        return names()[known_name(controller)]
    if not built():
        raise LinuxError(NOT_BUILT)
    name = _core.law(text)["name"] if text else Path(controller).stem.lower()
    words = re.sub(r"[^a-z0-9_]", "_", name)
    return f"{WRITTEN}{words}"[:LONGEST_NAME]


def available() -> list[str]:
    """The congestion controls that the kernel has now."""
    return (read_setting("net.ipv4.tcp_available_congestion_control") or "").split()
