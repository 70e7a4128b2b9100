"""Samples of connections while they run, and the tables of a result made from them."""

from __future__ import annotations

import errno
import math
import socket
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..plan import Plan
from .senders import CourierUser, Senders, State
from .tcp_info import MptcpReader, Subflow, TcpInfo, tcp_info
from .traffic import FELL_BACK, Connection, Receiving, User
from .wiring import path_of, sender_address

Numbers = NDArray[np.float64]

SAMPLE_COST_S = 40e-6
"""Upper estimate of the time to query one path's state."""

MOST_LOAD = 0.1
"""The part of the time that sampling may take; beyond it samples are taken less often."""

FIELDS = (
    "cwnd_segments",
    "ssthresh_segments",
    "srtt_s",
    "rto_s",
    "retransmits",
    "timeouts",
    "timeout_recoveries",
    "busy_s",
    "receive_window_limited_s",
    "send_buffer_limited_s",
    "min_rtt_s",
    "pmtu_bytes",
    "reordering",
    "starved",
    "recoveries",
    "marks",
    "undone",
    "probes",
)
"""Fields kept for each path at each sample."""

COUNTERS = (*FIELDS[4:10], *FIELDS[14:])
"""Fields that only grow."""


def interval_s(plan: Plan) -> float:
    """Seconds between samples: the scenario's, or the multiple of it that the load allows."""
    paths = sum(planned.count * len(planned.paths) for planned in plan.classes)
    sample = float(plan.sample_s)
    return sample * float(max(1, math.ceil(paths * SAMPLE_COST_S / (MOST_LOAD * sample))))


def fields_of(info: TcpInfo) -> tuple[float, ...]:
    """The values of `FIELDS`; the timeout as if it were not backed off."""
    return (
        float(info.cwnd_segments),
        info.ssthresh_segments,
        info.srtt_s,
        info.rto_s / 2**info.backoff,
        float(info.total_retransmits),
        info.timeouts,
        info.timeout_recoveries,
        info.busy_s,
        info.receive_window_limited_s,
        info.send_buffer_limited_s,
        info.min_rtt_s,
        float(info.pmtu_bytes),
        float(info.reordering),
        float(info.starved),
        *[math.nan] * 4,  # the kernel does not count these per socket
    )


def fields_of_ours(state: State) -> tuple[float, ...]:
    """The values of `FIELDS` that our endpoints have; NaN for the others."""
    return tuple(float(getattr(state, name, math.nan)) for name in FIELDS)


class Sampler:
    """Keeps the state of every path of every connection at every sample."""

    def __init__(self, plan: Plan, users: Sequence[User], senders: Senders | None = None) -> None:
        """No sample yet; `senders` are ours, if there are any. Nobody is asked for users over QUIC:
        their paths are never open.
        """
        self.plan, self.users, self.senders = plan, users, senders
        self.connections = [user for user in users if isinstance(user, Connection)]
        self.sampled = [user for user in users if isinstance(user, Receiving | CourierUser)]
        self.interval_s = interval_s(plan)
        self.times_s: list[float] = []
        self.trouble: dict[int, str] = {}
        """Errors in a flow's subflows, by flow."""
        counts = [len(user.planned.paths) for user in users]
        self._first = np.concatenate([[0], np.cumsum(counts)]).astype(int)
        self._rows: list[Numbers] = []
        self._reader = MptcpReader()

    @property
    def paths(self) -> int:
        """Number of paths of all connections."""
        return int(self._first[-1])

    def sample(self, now_s: float) -> None:
        """Queries the state of all connections; paths that are not open are NaN."""
        row = np.full((self.paths, len(FIELDS)), np.nan)
        for connection in self.connections:
            if connection.established and not connection.ended and not connection.finished:
                self._ask(connection, row[self._first[connection.flow] :])
        if self.senders:
            self.senders.look()
            for user in self.senders.users:
                for path, state in user.states.items():
                    row[self._first[user.flow] + path] = fields_of_ours(state)
        self.times_s.append(now_s)
        self._rows.append(row)

    def _ask(self, connection: Connection, row: Numbers) -> None:
        try:
            if len(connection.planned.paths) == 1:
                row[0] = fields_of(tcp_info(connection.sender))
                return
            state = self._reader.read(connection.sender)
        except OSError as error:
            unknown = f"its state is unknown: {error.strerror}"
            fell_back = error.errno == errno.EOPNOTSUPP
            self.trouble.setdefault(connection.flow, FELL_BACK if fell_back else unknown)
            return
        if state.fallback:
            self.trouble.setdefault(connection.flow, FELL_BACK)
        for subflow in state.subflows:
            self._keep(connection, subflow, row)

    def _keep(self, connection: Connection, subflow: Subflow, row: Numbers) -> None:
        path = path_of(subflow.local)
        known = path < len(connection.planned.paths)
        if not known or subflow.local != sender_address(connection.class_, path):
            self.trouble.setdefault(connection.flow, f"a subflow of {subflow.local} is in no plan")
        elif not np.isnan(row[path, 0]):
            self.trouble.setdefault(connection.flow, f"path {path} has two subflows")
        else:
            row[path] = fields_of(subflow.tcp)

    def table(self) -> Numbers:
        """All samples, shape (samples, paths, fields)."""
        return np.stack(self._rows) if self._rows else np.empty((0, self.paths, len(FIELDS)))

    def missing(self, now_s: float, grace_s: float) -> list[str]:
        """Sentences on paths that should be open at the last sample, and are not."""
        found = []
        row = self._rows[-1][:, 0]
        for connection in self.sampled:
            name = f"{connection.planned.name} {connection.user}"
            for path, planned in enumerate(connection.planned.paths):
                begun = max(connection.start_s, planned.join_s) + grace_s <= now_s
                left = planned.leave_s is not None and planned.leave_s <= now_s
                absent = np.isnan(row[self._first[connection.flow] + path])
                if begun and not left and not connection.finished and absent:
                    found.append(f"path {path} of user {name} is not open at {now_s:.0f} s")
        return found


def counted(table: Numbers, times_s: Numbers, since_s: float) -> dict[str, Numbers]:
    """How much each counter of each path grew after `since_s`; a closed path keeps its
    last value.
    """
    columns = {}
    for name in COUNTERS:
        values = table[:, :, FIELDS.index(name)]
        grown = np.fmax.accumulate(np.vstack([np.zeros(values.shape[1]), values]))
        before = int(np.searchsorted(times_s, since_s + 1e-9))
        columns[name] = grown[-1] - grown[before]
    return columns


def means(table: Numbers, times_s: Numbers, since_s: float) -> dict[str, Numbers]:
    """Means over the samples from `since_s` on, NaN for a path that was never open."""
    warm = table[times_s >= since_s - 1e-9]
    warm = np.where((warm[:, :, FIELDS.index("srtt_s")] > 0)[:, :, None], warm, np.nan)
    count = np.sum(~np.isnan(warm), axis=0)
    sums = np.nansum(warm, axis=0)
    mean = np.divide(sums, count, out=np.full_like(sums, np.nan), where=count > 0)
    return {name: mean[:, index] for index, name in enumerate(FIELDS)}


def of_classes(
    plan: Plan, classes: Numbers, table: Numbers, times_s: Numbers
) -> dict[str, Numbers]:
    """Columns of the table `classes`: round trips and windows over samples and users after the
    warm-up.

    `classes` has the class of each path. Round trips are the kernel's smoothed ones, so their
    percentiles lie closer together than those of single samples, which the kernel does not report.
    """
    warm = table[times_s >= plan.warmup_s - 1e-9]
    columns: dict[str, list[float]] = {}
    for class_ in range(len(plan.classes)):
        of_class = warm[:, classes == class_]
        rtt = of_class[:, :, FIELDS.index("srtt_s")].ravel()
        cwnd = of_class[:, :, FIELDS.index("cwnd_segments")].ravel()
        rtt, cwnd = rtt[rtt > 0], cwnd[~np.isnan(cwnd)]
        add(columns, "rtt_mean_s", float(rtt.mean()) if rtt.size else math.nan)
        for percent in (50, 95, 99):
            add(columns, f"rtt_p{percent}_s", quantile(rtt, percent))
        for percent in (5, 50, 95):
            add(columns, f"cwnd_p{percent:02}_segments", quantile(cwnd, percent))
    return {name: np.array(values) for name, values in columns.items()}


def add(columns: dict[str, list[float]], name: str, value: float) -> None:
    """One more value of a column."""
    columns.setdefault(name, []).append(value)


def quantile(values: Numbers, percent: float) -> float:
    """A percentile, NaN of nothing."""
    return float(np.percentile(values, percent)) if values.size else math.nan


def on_grid(values: Numbers, times_s: Numbers, grid_s: Numbers) -> Numbers:
    """Samples at other times: for each time of `grid_s` the one nearest to it."""
    if not len(times_s):
        return np.full((len(grid_s), values.shape[1]), np.nan)
    after = np.searchsorted(times_s, grid_s).clip(1, max(len(times_s) - 1, 1))
    before = after - 1
    after = np.minimum(after, len(times_s) - 1)
    nearer = np.abs(times_s[after] - grid_s) < np.abs(times_s[before] - grid_s)
    return values[np.where(nearer, after, before)]


def congestion_control(connection: socket.socket) -> str:
    """The name of the congestion control of a connection. Raises OSError."""
    name = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
    return name.split(b"\0")[0].decode()
