"""A path manager in user space: it may open more subflows than the kernel's own."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager

from pyroute2.netlink import NLM_F_ACK, NLM_F_REQUEST, genlmsg
from pyroute2.netlink.generic import GenericNetlinkSocket
from pyroute2.netlink.generic.mptcp import MPTCP_GENL_NAME, mptcp_msg

from anabranch.linux.namespace import write_setting
from anabranch.linux.tcp_info import MPTCP_INFO, SOL_MPTCP

EVENTS = "mptcp_pm_events"
SUBFLOW_CREATE = 10  # MPTCP_PM_CMD_SUBFLOW_CREATE
USER_SPACE = {"net.mptcp.pm_type": "1"}
"""Of both ends: an end whose manager is the kernel's own refuses what is more than its limit."""


class Command(genlmsg):  # type: ignore[misc]
    """A command of the family `mptcp_pm` on a connection."""

    prefix = "MPTCP_PM_ATTR_"
    nla_map = (
        ("MPTCP_PM_ATTR_UNSPEC", "none"),
        ("MPTCP_PM_ATTR_ADDR", "pm_addr"),
        ("MPTCP_PM_ATTR_RCV_ADD_ADDRS", "uint32"),
        ("MPTCP_PM_ATTR_SUBFLOWS", "uint32"),
        ("MPTCP_PM_ATTR_TOKEN", "uint32"),
        ("MPTCP_PM_ATTR_LOC_ID", "uint8"),
        ("MPTCP_PM_ATTR_ADDR_REMOTE", "pm_addr"),
    )
    pm_addr = mptcp_msg.pm_addr


def choose_user_space() -> None:
    """Leaves the subflows of new connections in the calling thread's namespace to user space."""
    for name, value in USER_SPACE.items():
        write_setting(name, value)


@contextmanager
def listening_manager() -> Iterator[None]:
    """Subflows of others are accepted in the calling thread's namespace as long as the block lasts:
    the kernel asks for no more than that somebody hears its events."""
    with GenericNetlinkSocket() as manager:
        manager.bind(MPTCP_GENL_NAME, Command)
        manager.add_membership(EVENTS)
        yield


def token(connection: socket.socket) -> int:
    """The token of a connection, at 12 of `struct mptcp_info`."""
    info = connection.getsockopt(SOL_MPTCP, MPTCP_INFO, 96)
    return int(struct.unpack_from("<I", info, 12)[0])


def open_subflow(
    connection: socket.socket, local: tuple[str, int], remote: tuple[str, int]
) -> None:
    """Has a connection of the calling thread's namespace open a subflow from `local`, an address
    and its number, to `remote`, an address and a port."""
    ends = {
        "MPTCP_PM_ATTR_ADDR": [
            ("MPTCP_PM_ADDR_ATTR_FAMILY", socket.AF_INET),
            ("MPTCP_PM_ADDR_ATTR_ID", local[1]),
            ("MPTCP_PM_ADDR_ATTR_ADDR4", local[0]),
        ],
        "MPTCP_PM_ATTR_ADDR_REMOTE": [
            ("MPTCP_PM_ADDR_ATTR_FAMILY", socket.AF_INET),
            ("MPTCP_PM_ADDR_ATTR_ADDR4", remote[0]),
            ("MPTCP_PM_ADDR_ATTR_PORT", remote[1]),
        ],
    }
    message = Command()
    message["cmd"], message["version"] = SUBFLOW_CREATE, 1
    message["attrs"] = [("MPTCP_PM_ATTR_TOKEN", token(connection))]
    message["attrs"] += [(name, {"attrs": parts}, 0x8000) for name, parts in ends.items()]
    with GenericNetlinkSocket() as manager:
        manager.bind(MPTCP_GENL_NAME, Command)
        flags = NLM_F_REQUEST | NLM_F_ACK
        manager.nlm_request(message, msg_type=manager.prid, msg_flags=flags)
