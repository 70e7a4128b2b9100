"""Groups of paths that share a bottleneck, from samples of any origin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..capture import Capture, Delays
from ..qlog import read_file as read
from ..records import plain

DEFAULT = "correlation"
"""The detector that errs least: docs/explanation/shared-bottlenecks.md."""

FEWEST_SAMPLES = 100
"""Round trips that a subflow of a capture needs to take part."""

MOST_PATHS = 32
"""Subflows of a capture that take part: those with most round trips."""

SHARES, UNSURE = 0.8, 0.2
"""Confidences above and below which a pair is said to share, or not to."""

SMOOTHING = 1.0 / 8.0
"""Weight of a sample in the smoothed round trip (RFC 6298)."""


@dataclass(frozen=True)
class Samples:
    """What is known of a path, each array in the order of time."""

    sent_s: NDArray[np.float64]
    """When packets were sent."""
    delay_s: NDArray[np.float64]
    """How long they took, one way or there and back."""
    rtt_s: NDArray[np.float64]
    """The smoothed round trip at that time."""
    lost_s: NDArray[np.float64]
    """When loss events were found: several losses in one round trip are one event."""

    @classmethod
    def of(cls, delays: Delays) -> Samples:
        """The samples of a subflow in a capture."""
        trips_s = _smoothed(delays.rtt_s)
        return cls(delays.sent_s, delays.rtt_s, trips_s, _events(delays, trips_s))


def _smoothed(rtts: NDArray[np.float64]) -> NDArray[np.float64]:
    """The smoothed round trip at each sample, shape (samples,)."""
    found = np.empty(len(rtts))
    own = float(rtts[0]) if len(rtts) else 0.0
    for place, rtt in enumerate(rtts):
        own += SMOOTHING * (float(rtt) - own)
        found[place] = own
    return found


def _events(delays: Delays, trips_s: NDArray[np.float64]) -> NDArray[np.float64]:
    """Times of the first retransmission in each round trip."""
    trip = float(np.median(trips_s)) if len(trips_s) else 0.0
    events: list[float] = []
    for at in delays.repeated_s:
        if not events or at > events[-1] + trip:
            events.append(float(at))
    return np.array(events)


@dataclass(frozen=True)
class Found:
    """The answers of a detector."""

    detector: str
    times_s: NDArray[np.float64]
    """When groups changed, and the end."""
    groups: NDArray[np.int64]
    """For each time and path the first path of its group, shape (times, paths)."""
    confidence: NDArray[np.float64]
    """How sure it is that two paths share, 0 to 1, a half if nothing is known, shape (times, paths,
    paths)."""

    @property
    def last(self) -> list[list[int]]:
        """The groups at the end: the numbers of their paths."""
        of = self.groups[-1]
        return [np.flatnonzero(of == first).tolist() for first in sorted(set(of.tolist()))]

    def known(self, a: int, b: int) -> bool:
        """Whether the detector came to a conclusion about two paths."""
        return bool(self.confidence[-1, a, b] != UNKNOWN)


UNKNOWN = 0.5
"""Confidence while nothing is known."""


def find(samples: Sequence[Samples], detector: str = DEFAULT) -> Found:
    """Which of some paths share a bottleneck.

    Raises ValueError for an unknown detector, arrays of a path that differ in length, and times
    that are negative or not finite.
    """
    columns = ("sent_s", "delay_s", "rtt_s", "lost_s")
    arrays = [[np.ascontiguousarray(getattr(one, name)) for one in samples] for name in columns]
    times_s, groups, confidence = _core.detect(detector, *arrays)
    paths = len(samples)
    return Found(
        detector,
        times_s,
        groups.reshape(-1, paths).astype(np.int64),
        confidence.reshape(-1, paths, paths),
    )


@dataclass(frozen=True)
class FoundInCapture:
    """Which subflows of a capture share a bottleneck."""

    capture: Capture
    subflows: list[int]
    """Rows of the capture's subflows that took part, in its order."""
    found: Found

    def to_json(self) -> dict[str, Any]:
        """Subflows by name, groups, and confidences at the end."""
        names = [self.capture.label(row) for row in self.subflows]
        content = {
            "capture": self.capture.name,
            "detector": self.found.detector,
            "subflows": names,
            "groups": [[names[path] for path in group] for group in self.found.last],
            "confidence": self.found.confidence[-1],
            "changes": [
                {"t_s": at, "groups": row.tolist()}
                for at, row in zip(self.found.times_s, self.found.groups, strict=True)
            ],
        }
        return {key: plain(value) for key, value in content.items()}


def of_capture(
    path: str | Path, detector: str = DEFAULT, *, partial: bool = False
) -> FoundInCapture:
    """Which subflows of a capture share a bottleneck; the capture is from the sender's side.

    Raises OSError, and ValueError if the file is not a capture, the detector is unknown or fewer
    than two subflows have enough round trips.
    """
    capture = read(path, partial=partial, delays=True)
    many = [row for row in capture.order if len(capture.delays[row].sent_s) >= FEWEST_SAMPLES]
    if len(many) < 2:
        raise ValueError(
            f"{path}: {len(many) or 'no'} subflow{'' if len(many) == 1 else 's'} of "
            f"{len(capture.order)} with {FEWEST_SAMPLES} round trips; a comparison needs two"
        )
    most = sorted(many, key=lambda row: -len(capture.delays[row].sent_s))[:MOST_PATHS]
    rows = [row for row in many if row in most]
    return FoundInCapture(
        capture, rows, find([Samples.of(capture.delays[row]) for row in rows], detector)
    )
