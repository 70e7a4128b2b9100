"""What a user is told when this world cannot run a scenario."""

from __future__ import annotations


class LinuxError(ValueError):
    """The kernel, the rights or the scenario do not allow a run; the text says what would."""


class NotCalibrated(LinuxError):
    """The emulated links are not what the scenario says: a busy machine may be, another time they
    are.
    """


class NotValid(LinuxError):
    """The kernel runs the scenario, but no replication came out valid."""
