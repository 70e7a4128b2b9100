"""The emulator in a thread of its own, ahead of everything else on its processor."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from .. import _core
from ..runs import Emulated
from ..scenario import Scenario
from .awake import awake
from .errors import LinuxError
from .wiring import FIRST_PORT, Network

REAL_TIME_PRIORITY = 10
_START_S = 5.0


class Emulation:
    """The links of a scenario on the wall clock, between the devices of a network."""

    def __init__(
        self,
        scenario: Scenario,
        network: Network,
        *,
        seed: int,
        overrides: Sequence[str],
        controller: str | None,
        instead: Mapping[tuple[int, int, bool], int] | None = None,
        series: bool = False,
        pcap: Path | None = None,
        keep_bytes: int | None = None,
    ) -> None:
        """Does not start it. `instead` has files in place of devices, by class, path and end,
        whether it is the sender's. Raises ScenarioError, and LinuxError for unsupported parts."""
        self._emulator = _core.Emulator(
            scenario.text,
            network.devices(instead or {}),
            first_port=FIRST_PORT,
            seed=seed,
            name=scenario.name,
            overrides=list(overrides),
            controller=controller,
            series=series,
            pcap=pcap,
            keep_bytes=keep_bytes,
        )
        self.real_time = False
        self.awake = 0
        """Processors that were kept from sleeping."""
        self._report: Emulated | None = None
        self._error: BaseException | None = None
        self._origin_s = 0.0
        self._thread = threading.Thread(target=self._work, name="emulator", daemon=True)

    def start(self, seconds: float | None = None) -> None:
        """Starts it, for `seconds` or until the end of the plan; returns when its clock runs.

        Raises LinuxError if it does not start. The caller stops it, even after an interrupt here.
        """
        self._seconds = seconds
        self._thread.start()
        limit = time.monotonic() + _START_S
        while (elapsed := float(self._emulator.elapsed_s())) <= 0:
            if not self._thread.is_alive() or time.monotonic() > limit:
                self.stop()
                raise LinuxError(f"the emulator did not start: {self._error}")
            time.sleep(0.0005)
        self._origin_s = time.monotonic() - elapsed

    def clock(self) -> float:
        """Seconds since it started."""
        return time.monotonic() - self._origin_s

    @property
    def running(self) -> bool:
        """Whether the emulator still forwards packets."""
        return self._thread.is_alive()

    def report(self) -> Emulated:
        """Waits for its end and returns its measurements. Raises its errors."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        assert self._report is not None
        return self._report

    def unwritten(self) -> OSError | None:
        """Why its capture could not be written; None if it was. Asked for once, after its end."""
        return self._emulator.unwritten()

    def stop(self) -> None:
        """Ends it before its time."""
        self._emulator.stop()
        if self._thread.ident is not None:
            self._thread.join()

    def _work(self) -> None:
        """Runs it with a real-time priority where that is allowed: a late packet is a wrong one."""
        try:
            with awake() as self.awake:
                with suppress(OSError):
                    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(REAL_TIME_PRIORITY))
                    self.real_time = True
                self._report = Emulated.from_json(self._emulator.run(self._seconds))
        except BaseException as error:
            self._error = error
