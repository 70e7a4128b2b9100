"""What the tests of the real kernel need of a machine."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import NoReturn

import pytest

from anabranch.linux.device import TUN
from anabranch.linux.errors import LinuxError
from anabranch.linux.tcp_info import IPPROTO_MPTCP
from anabranch.linux.testbed import checked_rights


def lacking() -> str:
    """What the tests need and this machine has not; nothing if it has all of it."""
    try:
        checked_rights()
    except (LinuxError, OSError) as error:
        return str(error)
    if not os.access(TUN, os.R_OK | os.W_OK) or not Path(TUN).is_char_device():
        return f"{TUN} cannot be opened"
    try:
        socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP).close()
    except OSError as error:
        return f"the kernel has no MPTCP: {error}"
    return ""


def unavailable(reason: str) -> NoReturn:
    """Skips a test, with the reason; a failure where ANABRANCH_LINUX=required says that all is
    there.
    """
    if os.environ.get("ANABRANCH_LINUX") == "required":
        pytest.fail(f"the kernel's tests are required, and {reason}")
    pytest.skip(reason)
