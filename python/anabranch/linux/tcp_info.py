"""State of a connection from the kernel: TCP_INFO, and MPTCP_FULL_INFO for each subflow.

Offsets are those of `struct tcp_info` in linux/tcp.h and of `struct mptcp_full_info`, `struct
mptcp_subflow_info` and `struct mptcp_info` in linux/mptcp.h. Kernels only ever append to them:
fields that an older kernel does not write stay 0, and `size` is the number of bytes written.
"""

from __future__ import annotations

import ctypes
import os
import socket
import struct
from dataclasses import dataclass

IPPROTO_MPTCP = 262
SOL_MPTCP = 284
MPTCP_INFO = 1
MPTCP_FULL_INFO = 4

TCP_INFO_SIZE = 256
"""Bytes that are asked for; `struct tcp_info` had 248 in Linux 6.7."""

SUBFLOW_INFO_SIZE = 264
"""`struct mptcp_subflow_info`: u32 id, 4 bytes of padding, two `struct sockaddr_storage` of 128."""

MOST_SUBFLOWS = 16
"""Subflows that fit the buffers; the kernel's path manager allows 8 besides the first."""

TOTAL_RTO_END = 244
"""End of `tcpi_total_rto_recoveries`, which Linux 6.7 brought."""

INFINITE_SSTHRESH = 0x7FFF_FFFF

_FALLBACK = 1
_libc = ctypes.CDLL(None, use_errno=True)

# At 0: state, ca_state, retransmits, probes, backoff, options, two bytes of bits; rto at 8, ato,
# snd_mss, rcv_mss, unacked, sacked, lost at 32, retrans; pmtu at 60, rcv_ssthresh, rtt at 68,
# rttvar, snd_ssthresh, snd_cwnd at 80, advmss, reordering at 88; total_retrans at 100; bytes_acked
# at 120; notsent_bytes, min_rtt at 148, data_segs_in, data_segs_out at 156; busy_time at 168,
# rwnd_limited, sndbuf_limited; total_rto at 240, total_rto_recoveries.
_FIELDS = struct.Struct("<BBxxB3xI4xI4xIIII20xI4xIIII4xI8xI16xQ16xII4xI8xQQQ48xHH")


@dataclass(frozen=True, slots=True)
class TcpInfo:
    """The state of a TCP connection or of a subflow. Times in seconds, windows in segments."""

    state: int
    ca_state: int
    backoff: int
    """By how many doublings the timeout is backed off now."""
    rto_s: float
    mss_bytes: int
    unacked: int
    sacked: int
    lost: int
    resent: int
    """Segments sent again that are in flight."""
    pmtu_bytes: int
    srtt_s: float
    rttvar_s: float
    ssthresh_segments: float
    cwnd_segments: int
    reordering: int
    total_retransmits: int
    bytes_acked: int
    unsent_bytes: int
    min_rtt_s: float
    segments_out: int
    """Segments with data sent, retransmissions included."""
    busy_s: float
    receive_window_limited_s: float
    send_buffer_limited_s: float
    timeouts: float
    """NaN before Linux 6.7."""
    timeout_recoveries: float

    @property
    def in_flight(self) -> int:
        """Segments in the network, as the sender believes."""
        return self.unacked - self.sacked - self.lost + self.resent

    @property
    def starved(self) -> bool:
        """Whether the window has room but there is no data to send."""
        return self.unsent_bytes == 0 and self.in_flight < self.cwnd_segments


@dataclass(frozen=True, slots=True)
class Subflow:
    """A subflow of an MPTCP connection."""

    local: str
    remote: str
    tcp: TcpInfo


@dataclass(frozen=True, slots=True)
class MptcpInfo:
    """The state of an MPTCP connection."""

    fallback: bool
    """Whether the connection fell back to plain TCP."""
    unacked_bytes: int
    subflows: tuple[Subflow, ...]


def tcp_info(connection: socket.socket) -> TcpInfo:
    """The state of a plain TCP connection. Raises OSError."""
    return decode(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TCP_INFO_SIZE))


def decode(data: bytes) -> TcpInfo:
    """`struct tcp_info`; a shorter one, of an older kernel, is filled up with zeros."""
    (
        state,
        ca_state,
        backoff,
        rto,
        mss,
        unacked,
        sacked,
        lost,
        resent,
        pmtu,
        rtt,
        rttvar,
        ssthresh,
        cwnd,
        reordering,
        retransmits,
        acked,
        unsent,
        min_rtt,
        segments_out,
        busy,
        window_limited,
        buffer_limited,
        timeouts,
        recoveries,
    ) = _FIELDS.unpack_from(data.ljust(_FIELDS.size, b"\0"))
    known = len(data) >= TOTAL_RTO_END
    return TcpInfo(
        state,
        ca_state,
        backoff,
        rto * 1e-6,
        mss,
        unacked,
        sacked,
        lost,
        resent,
        pmtu,
        rtt * 1e-6,
        rttvar * 1e-6,
        float("inf") if ssthresh >= INFINITE_SSTHRESH else float(ssthresh),
        cwnd,
        reordering,
        retransmits,
        acked,
        unsent,
        min_rtt * 1e-6,
        segments_out,
        busy * 1e-6,
        window_limited * 1e-6,
        buffer_limited * 1e-6,
        float(timeouts) if known else float("nan"),
        float(recoveries) if known else float("nan"),
    )


class _FullInfo(ctypes.Structure):
    """`struct mptcp_full_info` with `struct mptcp_info` at its end."""

    _fields_ = (
        ("size_tcpinfo_kernel", ctypes.c_uint32),
        ("size_tcpinfo_user", ctypes.c_uint32),
        ("size_sfinfo_kernel", ctypes.c_uint32),
        ("size_sfinfo_user", ctypes.c_uint32),
        ("num_subflows", ctypes.c_uint32),
        ("size_arrays_user", ctypes.c_uint32),
        ("subflow_info", ctypes.c_uint64),
        ("tcp_info", ctypes.c_uint64),
        ("mptcp_info", ctypes.c_uint8 * 96),
    )


class MptcpReader:
    """Queries the state of MPTCP connections, reusing one set of buffers."""

    def __init__(self) -> None:
        """Buffers for one answer."""
        self._tcp = ctypes.create_string_buffer(MOST_SUBFLOWS * TCP_INFO_SIZE)
        self._addresses = ctypes.create_string_buffer(MOST_SUBFLOWS * SUBFLOW_INFO_SIZE)
        self._full = _FullInfo()

    def read(self, connection: socket.socket) -> MptcpInfo:
        """The state of a connection. Raises OSError, also for a socket that is not MPTCP."""
        full = self._full
        full.size_tcpinfo_kernel = full.size_sfinfo_kernel = full.num_subflows = 0
        full.size_tcpinfo_user, full.size_sfinfo_user = TCP_INFO_SIZE, SUBFLOW_INFO_SIZE
        full.size_arrays_user = MOST_SUBFLOWS
        full.subflow_info = ctypes.addressof(self._addresses)
        full.tcp_info = ctypes.addressof(self._tcp)
        length = ctypes.c_uint32(ctypes.sizeof(full))
        status = _libc.getsockopt(
            connection.fileno(),
            SOL_MPTCP,
            MPTCP_FULL_INFO,
            ctypes.byref(full),
            ctypes.byref(length),
        )
        if status != 0:
            number = ctypes.get_errno()
            raise OSError(number, f"MPTCP_FULL_INFO: {os.strerror(number)}")
        # struct mptcp_info: eight bytes with flags at 8 behind two of padding, token at 12, then
        # write_seq at 16 and snd_una at 24.
        flags, write_seq, snd_una = struct.unpack_from("<8xI4xQQ", bytes(full.mptcp_info))
        count = min(full.num_subflows, MOST_SUBFLOWS)
        size = min(full.size_tcpinfo_kernel, TCP_INFO_SIZE)
        return MptcpInfo(
            bool(flags & _FALLBACK),
            write_seq - snd_una,
            tuple(self._subflow(i, size) for i in range(count)),
        )

    def _subflow(self, index: int, size: int) -> Subflow:
        at = index * SUBFLOW_INFO_SIZE + 8
        # struct sockaddr_in: family and port, then the address at 4.
        addresses, states = memoryview(self._addresses), memoryview(self._tcp)
        local, remote = (
            socket.inet_ntoa(addresses[start + 4 : start + 8]) for start in (at, at + 128)
        )
        at = index * TCP_INFO_SIZE
        return Subflow(local, remote, decode(bytes(states[at : at + size])))
