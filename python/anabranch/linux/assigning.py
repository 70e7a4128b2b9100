"""Controllers for the processes of a control group, or of a service, instead of a namespace."""

from __future__ import annotations

from pathlib import Path

from .. import _core
from .controllers import names_of
from .errors import LinuxError
from .pinned import in_kernel
from .rights import check_root


def assign(name: str, cgroup: Path | None, service: str | None) -> tuple[str, Path]:
    """Has new connections of a control group's processes get a loaded controller. Returns its name
    in the kernel and the directory of the group.

    Raises LinuxError for a group that is not there or that has a controller, for a controller that
    is not loaded, and without root. Raises ValueError unless one of group and service is given.
    """
    kernel_name = _checked("assign", name, cgroup, service)
    try:
        return kernel_name, _core.kernel_assign(kernel_name, cgroup=cgroup, service=service)
    except OSError as error:
        raise LinuxError(str(error)) from None


def unassign(name: str, cgroup: Path | None, service: str | None) -> tuple[str, Path]:
    """Ends an assignment; open connections keep their controller. Returns as `assign` does.

    Raises LinuxError if the group is not there or has not this controller, and without root. Raises
    ValueError unless one of group and service is given.
    """
    kernel_name = _checked("unassign", name, cgroup, service)
    try:
        return kernel_name, _core.kernel_unassign(kernel_name, cgroup=cgroup, service=service)
    except OSError as error:
        raise LinuxError(str(error)) from None


def _checked(command: str, name: str, cgroup: Path | None, service: str | None) -> str:
    """The name of a controller in the kernel, after a look at options and rights."""
    if (cgroup is None) == (service is None):
        given = "neither is" if cgroup is None else "both are"
        raise ValueError(f"`{command}` takes --cgroup or --service, and {given} given")
    kernel_name = name if in_kernel(name) else names_of(name)
    check_root(command)
    return kernel_name
