"""Controllers in the running kernel: for the length of a run, or for good.

A run loads controllers of its own, under names with its process number, so that runs beside each other
and controllers that an operator has loaded do not meet; they are gone when the process is, however it ends.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from .. import _core
from .errors import LinuxError
from .fit import KERNEL_RENO
from .namespace import read_setting

NOT_BUILT = (
    "this build has no controllers for the kernel: install clang, libelf-dev and zlib1g-dev, "
    "then run `make build` again"
)

NEEDS_ROOT = "that needs root: sudo .venv/bin/anabranch linux {} …"

LONGEST_NAME = 15


def built() -> bool:
    """Whether the controllers are part of this build."""
    return hasattr(_core, "KernelController")


def names() -> dict[str, str]:
    """For each law that the kernel can run its name there. Raises LinuxError where none was built."""
    if not built():
        raise LinuxError(NOT_BUILT)
    return dict(_core.kernel_programs())


def sources() -> str:
    """Digest of the sources of the controllers in this build; nothing where none was built."""
    return str(_core.kernel_sources()) if built() else ""


class Attached:
    """Controllers that are in the kernel now, by the name of their law."""

    def __init__(self) -> None:
        """None yet."""
        self.loaded: dict[str, Any] = {}

    def kernel_name(self, controller: str) -> str:
        """The name under which the kernel knows a controller; plain Reno is the kernel's own.

        Raises LinuxError for one that was not loaded.
        """
        if controller in KERNEL_RENO:
            return "reno"
        law = plain(controller)
        if law in self.loaded:
            return str(self.loaded[law].kernel_name)
        raise LinuxError(f"the controller {controller} is not loaded")

    def counters(self) -> dict[str, dict[str, int]]:
        """What each has counted."""
        return {law: controller.counters() for law, controller in self.loaded.items()}

    def steps(self) -> dict[str, list[str]]:
        """What the law of each saw and said at every ACK since the last call, if that is kept."""
        return {law: controller.steps() for law, controller in self.loaded.items()}

    def judge(self, law: str, steps: list[str]) -> dict[str, int]:
        """How many steps are wrong, and in what: see `KernelController.judge`."""
        return dict(self.loaded[law].judge(steps))

    def cost(self) -> dict[str, dict[str, tuple[int, int]]]:
        """Calls and nanoseconds of the callbacks of each; zero unless the kernel keeps statistics."""
        return {law: controller.cost() for law, controller in self.loaded.items()}


def plain(controller: str) -> str:
    """The law that a controller of a scenario means: `kernel:olia` is `olia` here."""
    return controller.removeprefix("kernel:")


@contextmanager
def attached(
    controllers: Iterable[str],
    *,
    min_ssthresh: int = 1,
    skips_per_million: int = 0,
    record: bool = False,
) -> Iterator[Attached]:
    """Controllers in the kernel as long as the block lasts. `kernel:reno` is Reno in our shell.

    `min_ssthresh` is the smallest threshold of coupled paths in segments, `record` keeps the steps of
    the laws. Raises LinuxError when
    one cannot be loaded.
    """
    found = Attached()
    with ExitStack() as stack:
        for name in dict.fromkeys(controllers):
            if name in KERNEL_RENO:
                continue
            law = plain(name)
            # Letters, digits, `_` and `.` are all that the kernel takes.
            own = f"ab{os.getpid()}_{law.replace('-', '')}"[:LONGEST_NAME]
            controller = load(
                law,
                kernel_name=own,
                min_ssthresh=min_ssthresh,
                skips=skips_per_million * 1e-6,
                record=record,
            )
            stack.callback(controller.close)
            found.loaded[law] = controller
        yield found


def load(law: str, **settings: Any) -> Any:
    """A controller in the kernel. Raises LinuxError saying what to do about what went wrong."""
    known = names()
    if law not in known:
        raise LinuxError(
            f"the kernel has no controller `{law}`; there are {', '.join(sorted(known))}"
        )
    try:
        return _core.KernelController(law, **settings)
    except FileExistsError:
        name = settings.get("kernel_name", known[law])
        raise LinuxError(f"the kernel has a controller {name} already") from None
    except PermissionError:
        raise LinuxError(NEEDS_ROOT.format("load")) from None
    except OSError as error:
        raise LinuxError(
            f"this kernel cannot run the controller {law}: {error}\n"
            "help: `anabranch linux check` shows what is missing; Linux 6.10 with BTF is the least"
        ) from None


def known_name(name: str) -> str:
    """The law that is meant by its own name or the kernel's. Raises LinuxError with the nearest names."""
    known = names()
    for law, kernel_name in known.items():
        if name in (law, kernel_name):
            return law
    nearest = difflib.get_close_matches(name, known, n=3, cutoff=0.0)
    raise LinuxError(
        f"there is no controller `{name}` for the kernel; the nearest are {', '.join(nearest)}"
    )


def load_for_good(name: str, min_ssthresh: int = 1) -> str:
    """Loads a controller that stays when this process has ended; its name in the kernel.

    Raises LinuxError for an unknown name, a controller that is loaded already, a kernel that cannot
    run it, and without root; nothing is left behind then.
    """
    law = known_name(name)
    kernel_name = names()[law]
    if not os.geteuid() == 0:
        raise LinuxError(NEEDS_ROOT.format("load"))
    if kernel_name in available():
        raise LinuxError(f"{kernel_name} is loaded already; `anabranch linux status` shows it")
    controller = load(law, min_ssthresh=min_ssthresh)
    try:
        controller.pin()
    except OSError as error:
        raise LinuxError(f"{kernel_name} could not be kept: {error}") from None
    return kernel_name


def unload_for_good(name: str, force: bool = False) -> int | None:
    """Takes a loaded controller out; how many sockets keep it until they close, None where that cannot
    be known. Where it is what new connections get it stays so: `observe.choose_reno` changes that.

    Raises LinuxError for an unknown name, a controller that is not loaded, without root, and, unless
    `force` is set, while sockets have it or it is what new ones get, or if that cannot be known.
    """
    law = known_name(name)
    kernel_name = names()[law]
    if not os.geteuid() == 0:
        raise LinuxError(NEEDS_ROOT.format("unload"))
    if not _core.kernel_pinned(law):
        loaded = [known for known_law, known in names().items() if _core.kernel_pinned(known_law)]
        rest = f"loaded are {', '.join(loaded)}" if loaded else "none is loaded"
        raise LinuxError(f"{kernel_name} is not loaded; {rest}")
    count = kept(kernel_name, force)
    _core.kernel_unload(law)
    return count


def kept(kernel_name: str, force: bool) -> int | None:
    """How many sockets have a controller; None where that cannot be known and `force` is set.

    Raises LinuxError unless it is set or nobody has the controller or would get it, and OSError.
    """
    from .observe import chosen_in, using

    try:
        use = using(kernel_name)
    except LinuxError:
        if force:
            return None
        raise
    if force:
        return use.sockets
    if use.sockets:
        raise LinuxError(
            f"{kernel_name} is in use, sockets: {use.sockets}, of which listen: {use.listening}; "
            "close them, or take it out with --force: they keep it until they close, and one that "
            "listens may hand it on to what it accepts"
        )
    if count := chosen_in(kernel_name):
        raise LinuxError(
            f"{kernel_name} is what new connections get, in namespaces: {count}; first choose another "
            "there: sysctl -w net.ipv4.tcp_congestion_control=reno"
        )
    return 0


def available() -> list[str]:
    """The congestion controls that the kernel has now."""
    return (read_setting("net.ipv4.tcp_available_congestion_control") or "").split()
