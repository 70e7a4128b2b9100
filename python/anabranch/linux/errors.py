"""The error for scenarios that this world cannot run."""

from __future__ import annotations


class LinuxError(ValueError):
    """The kernel, the rights or the scenario do not allow a run; the text names the remedy."""


class NotCalibrated(LinuxError):
    """The emulated links miss the scenario's settings; on a busy machine a repetition may
    succeed.
    """


class NotValid(LinuxError):
    """The kernel runs the scenario, but no replication came out valid."""
