"""Captures, of this laboratory or of any other place, judged by the measures of a result.

Tables and columns have the names that they have in a result, where they mean the same:
docs/reference/capture.md.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from .files import write_json
from .records import Record, plain
from .statistics import jain, significant
from .tables import CapturedBins, CapturedFlows, CapturedPaths

NaturalKey = tuple[tuple[str, tuple[int, str]], ...]


@dataclass(frozen=True, kw_only=True)
class CaptureFacts(Record):
    """Packet counts and time span of a capture."""

    packets: int
    other_packets: int
    """Packets that are not TCP."""
    malformed_packets: int
    """Segments with malformed options."""
    first_s: float
    """Time of the first packet since the file's epoch."""
    duration_s: float


@dataclass(eq=False, repr=False, kw_only=True)
class CapturedSeries(CapturedBins):
    """Bins over time, one column for each subflow."""

    bin_s: float
    """Length of a bin."""


@dataclass(frozen=True)
class Delays:
    """Round trips and retransmissions of a subflow, in seconds since the first packet."""

    sent_s: NDArray[np.float64]
    """When segments were sent that were sent once."""
    rtt_s: NDArray[np.float64]
    """Their round trips at the point of capture."""
    repeated_s: NDArray[np.float64]
    """When segments were sent again."""


@dataclass(frozen=True, eq=False, kw_only=True)
class LoggedWindows(Record):
    """What a log has beside packets: the metrics of each path, one row for each bin, NaN before the
    first value. A value stands until the next one.
    """

    t_s: NDArray[np.float64]
    """Starts of the bins."""
    cwnd_bytes: NDArray[np.float64]
    ssthresh_bytes: NDArray[np.float64]
    srtt_s: NDArray[np.float64]
    lost_packets: NDArray[np.float64]
    """Packets declared lost in the bin."""
    mean_cwnd_bytes: NDArray[np.float64]
    """Mean over the time of the span for each path."""


@dataclass(frozen=True)
class Capture:
    """The content of a capture: `flows` has one row for each connection, `paths` one for each
    subflow.

    `series` has IP bytes of data packets in bins of `bin_s`, shape (bins, subflows). `flows` and
    `paths` cover `span_s`, in seconds since the first packet; the series covers the whole capture.
    `names` maps addresses to the names in the file.
    """

    name: str
    facts: CaptureFacts
    flows: CapturedFlows
    paths: CapturedPaths
    series: CapturedSeries
    span_s: tuple[float, float]
    warnings: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    delays: list[Delays] = field(default_factory=list)
    """Of each subflow, if they were asked for."""
    labels: list[str] = field(default_factory=list)
    """Names of the paths of a log; empty for packets, whose subflows have addresses."""
    windows: LoggedWindows | None = None
    """Of a log; packets do not have them."""

    def label(self, number: int) -> str:
        """The sender and the receiver of most of a subflow's payload: names where the file has
        them, else addresses with ports. The name of a path of a log.
        """
        if self.labels:
            return self.labels[number]
        return " → ".join(self.names.get(address(end), end) for end in self._ends(number))

    def _ends(self, number: int) -> tuple[str, str]:
        """The sender and the receiver of most of a subflow's payload, addresses with ports."""
        initiator, responder = self.paths.initiator[number], self.paths.responder[number]
        return (initiator, responder) if self.paths.upward[number] else (responder, initiator)

    @property
    def order(self) -> list[int]:
        """Numbers of all subflows in the order of tables and pictures. Subflows of one connection
        stand together. Named ones come first, in natural order (`a.2` before `a.10`); subflows
        without names follow in order of appearance.
        """
        flows = self.paths.flow.tolist()
        keys = [self._place(number) for number in range(len(flows))]
        firsts: dict[int, tuple[bool, NaturalKey]] = {}
        for flow, key in zip(flows, keys, strict=True):
            firsts[flow] = min(key, firsts.get(flow, key))
        return sorted(range(len(flows)), key=lambda n: (firsts[flows[n]], flows[n], keys[n], n))

    def _place(self, number: int) -> tuple[bool, NaturalKey]:
        """Sort key of a subflow: subflows without a name come last, the others in natural order."""
        if self.labels:
            return False, natural(self.labels[number])
        named = [self.names.get(address(end), "") for end in self._ends(number)]
        return not any(named), natural(" → ".join(named))

    @property
    def shares(self) -> NDArray[np.float64]:
        """Each subflow's part of its connection's throughput, shape (subflows,); NaN of nothing."""
        rates, flows = self.paths.throughput_bps, self.paths.flow
        totals = np.bincount(flows, weights=rates, minlength=len(self.flows.token))[flows]
        with np.errstate(invalid="ignore"):
            return np.asarray(rates / totals, dtype=float)

    @property
    def jain(self) -> float:
        """Jain's index of throughput over the connections that sent data; NaN if none did."""
        rates = self.flows.throughput_bps
        return float(jain(rates[rates > 0])) if (rates > 0).any() else float("nan")

    def to_json(self) -> dict[str, Any]:
        """All of it as plain data."""
        content = {
            "format": 1,
            "kind": "anabranch capture",
            "name": self.name,
            **self.facts.to_json(),
            "span_s": list(self.span_s),
            "jain": self.jain,
            "flows": self.flows,
            "paths": self.paths.to_json() | {"share": self.shares},
            "series": self.series,
            "names": self.names,
            "warnings": self.warnings,
        }
        if self.windows is not None:
            content |= {"labels": self.labels, "windows": self.windows}
        return {key: plain(value) for key, value in content.items()}

    def save(self, path: str | Path) -> None:
        """Writes JSON, compressed when the name ends in .gz; never leaves half a file."""
        write_json(path, self.to_json())


def read(
    path: str | Path,
    *,
    bin_s: float = 0.1,
    start_s: float = 0.0,
    end_s: float | None = None,
    partial: bool = False,
    delays: bool = False,
) -> Capture:
    """Reads pcapng or pcap. Tables count from `start_s` to `end_s`, to whole bins of `bin_s`. With
    `delays` every round trip and retransmission is kept.

    Raises OSError, and ValueError if the file is not a capture, has no TCP, or is truncated. With
    `partial` a truncated capture is read up to the point where it breaks off.
    """
    check_bins(bin_s)
    if Path(path).is_dir():
        raise IsADirectoryError(f"{path} is a directory; name a file")
    try:
        from_s, to_s = whole_bins(bin_s, start_s), whole_bins(bin_s, end_s)
        raw = _core.read_capture(path, bin_s, from_s or 0.0, to_s, delays)
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else error
        raise OSError(f"{path} cannot be read: {why}") from None
    except ValueError as error:
        raise ValueError(f"{path} is not a capture: {error}") from None
    warnings = []
    if raw["broken"]:
        if not partial:
            raise ValueError(f"{path} is broken: {raw['broken']}; `--partial` takes what was read")
        warnings.append(f"broken: {raw['broken']}")
    facts, series = CaptureFacts.from_json(raw), CapturedSeries.from_json(raw["series"])
    flows, paths = CapturedFlows.from_json(raw["flows"]), CapturedPaths.from_json(raw["paths"])
    if not len(paths.flow):
        raise ValueError(f"{path} has no TCP among its {facts.packets} packets")
    if facts.malformed_packets:
        warnings.append(f"packets with malformed TCP options: {facts.malformed_packets}")
    span_s = bounds(bin_s, facts.duration_s, start_s, end_s)
    lasted = span_s[1] - span_s[0] or np.nan
    paths.throughput_bps = 8.0 * paths.data_ip_bytes / lasted
    flows.throughput_bps = np.bincount(
        paths.flow, weights=paths.throughput_bps, minlength=len(flows.token)
    ).astype(float)
    flows.goodput_bps = 8.0 * flows.acked_bytes / lasted
    warnings += early(flows, lasted)
    kept = [Delays(**row) for row in raw.get("delays", ())]
    return Capture(str(path), facts, flows, paths, series, span_s, warnings, raw["names"], kept)


def check_bins(bin_s: float) -> None:
    """Raises ValueError for bins that are too short or too long."""
    if not LEAST_BIN_S * (1 - 1e-9) <= bin_s <= LONGEST_BIN_S:
        raise ValueError(
            f"bins of {bin_s:g} s; they have from {LEAST_BIN_S:g} s to {LONGEST_BIN_S:g} s"
        )


LEAST_BIN_S = 1e-4
"""Shorter bins would have less than a packet each."""

LONGEST_BIN_S = 86_400
"""A day."""


def whole_bins(bin_s: float, time_s: float | None) -> float | None:
    """A time at the nearest edge of a bin; None where it is not in any capture."""
    if time_s is None or not 0 <= time_s < LONGEST_S:
        return None
    return round(time_s / bin_s) * bin_s


LONGEST_S = 1e9
"""Longer than any capture."""


def bounds(bin_s: float, lasted: float, start_s: float, end_s: float | None) -> tuple[float, float]:
    """The span in whole bins. Raises ValueError if there is nothing in it."""
    last_s = lasted if end_s is None or end_s >= lasted else round(end_s / bin_s) * bin_s
    first_s = round(start_s / bin_s) * bin_s if 0 <= start_s <= lasted else np.inf
    if first_s > last_s or (first_s == last_s and lasted > 0):
        raise ValueError(
            f"there is nothing from {start_s:g} s to {lasted if end_s is None else end_s:g} s in bins of "
            f"{bin_s:g} s; the capture lasts {lasted:g} s"
        )
    return first_s, last_s


def address(end: str) -> str:
    """The address of an address with a port."""
    return end.rpartition(":")[0].strip("[]")


def natural(text: str) -> NaturalKey:
    """A key that orders texts with the numbers in them as numbers: `a.2` before `a.10`."""
    parts = re.split("([0-9]+)", text)  # texts and numbers in turn
    numbers = [part.lstrip("0") for part in parts[1::2]]
    # A longer number is the larger one; int() refuses thousands of digits, which a name may have.
    return tuple(zip(parts[::2], [(len(one), one) for one in numbers] + [(0, "")], strict=True))


def early(flows: CapturedFlows, lasted: float) -> list[str]:
    """A sentence on each connection with more goodput than throughput: why that can be."""
    more = flows.goodput_bps > flows.throughput_bps
    return [
        f"connection {number}: goodput is above throughput, as {significant(missing / 1e6)} MB more were acknowledged than "
        "were sent in the span: data from before it, or segments that were not captured"
        for number, missing in enumerate((flows.goodput_bps - flows.throughput_bps) * lasted / 8)
        if more[number]
    ]
