"""Replications on the real kernel, one after the other, and the result of them all."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..controller import ControllerLike
from ..files import beside
from ..plan import Plan
from ..qlog.writing import Sampled
from ..records import Record, plain
from ..result import NotRecorded, Recording, Result, cell_of, provenance
from ..runs import Run
from ..scenario import Scenario, load
from ..seeds import Seeds, checked_seeds
from . import fit
from .controllers import Attached, attached, sources
from .errors import LinuxError, NotCalibrated, NotValid
from .sockets import room_for_files
from .testbed import TESTBED, Order, checked_kernel, replicate
from .wiring import receiver_address, sender_address

if TYPE_CHECKING:
    from .calibrate import Calibration

REPEATS = 2
"""How often to repeat a replication that was invalid or whose links were not calibrated."""

CALIBRATION_SEED = 0

NOT_CALIBRATED = "the emulated links are not what the scenario says"


@contextmanager
def loaded(
    plan: Plan, skips_per_million: int, record: bool, world: fit.World = fit.LINUX
) -> Iterator[Attached]:
    """The controllers in the kernel that a plan needs in a world, as long as the block lasts."""
    kernels = [c for c in plan.classes if fit.sender(world, c) == "kernel"]
    classes = [c for c in kernels if not fit.kernels_own(fit.source_of(c))]
    floors = {planned.min_ssthresh for planned in classes}
    if len(floors) > 1:
        raise LinuxError(
            "flows with different min_ssthresh cannot run together: a controller is loaded once"
        )
    floor = next(iter(floors), None)
    names = sorted({fit.source_of(planned) for planned in classes})
    with attached(
        names,
        min_ssthresh=None if floor is None else int(floor),
        skips_per_million=skips_per_million,
        record=record,
    ) as controllers:
        yield controllers


def run(
    scenario: Scenario | str,
    seeds: Seeds = (1,),
    *,
    world: fit.World = fit.LINUX,
    controller: ControllerLike | None = None,
    overrides: Sequence[str] = (),
    series: bool = False,
    keep_invalid: bool = False,
    skips_per_million: int = 0,
    record: Callable[[Attached], object] | None = None,
    recording: Recording | None = None,
    progress: Callable[[float, float], object] | None = None,
) -> Result:
    """Runs `scenario` on the real kernel once for each seed, in real time.

    Arguments are those of `anabranch.run`. In the world "wire" our endpoints send for each class
    whose controller is not the kernel's, `linux:NAME` or `kernel:NAME`, and the kernel receives; a
    controller may be a class of Python there. A replication that is invalid, or whose links miss
    their settings, is tried twice more. If it stays invalid it is left out, or with `keep_invalid`
    kept and marked. `skips_per_million` makes loaded controllers ignore that many of a million
    calls, for tests. With `record` they keep every step of their laws, and `record` is called with
    the controllers after each replication. A `recording` is a capture of the only replication,
    without a limit in time, or a qlog of its samples, as the current drafts define it.

    Raises LinuxError, ScenarioError, and ValueError for a seed out of range or an impossible
    recording. After an interrupt the replications that had finished are returned, if any.
    """
    if isinstance(scenario, str):
        scenario = load(scenario)
    wanted = checked_seeds(seeds)
    plan = scenario.plan(overrides=list(overrides), controller=controller)
    if refused := fit.refusals(plan, world):
        where = "on the kernel" if world == fit.LINUX else "on the wire"
        raise LinuxError(f"{scenario.name} cannot run {where}:\n  " + "\n  ".join(refused))
    checked_kernel(plan)
    recording = recording or Recording()
    recording.check(wanted)
    if recording.until_s is not None:
        raise ValueError(
            "on the real kernel what is recorded is of the whole run; leave the time out"
        )
    if recording.qlog and any(planned.protocol == "quic" for planned in plan.classes):
        raise ValueError(
            f"{recording.qlog} would be of samples, which there are none of for users over QUIC; leave it out"
        )
    if recording.qlog and recording.qlog_version == "0.3":
        raise ValueError(
            f"{recording.qlog} would be of samples, which qlog 0.3 has no events for; leave the version out"
        )
    with (
        beside(recording.pcap) as pcap,
        beside(recording.qlog) as qlog,
        room_for_files(plan),
        loaded(plan, skips_per_million, record is not None, world) as controllers,
    ):
        kept = series or qlog is not None
        recorded = replace(recording, pcap=pcap)
        order = Order(scenario, plan, controller, overrides, kept, recorded, world=world)
        session = Session(order, wanted, progress)
        session.run(controllers, keep_invalid, record)
        how = session.origin() | cell_of(scenario)
        origin = provenance(controller, overrides, wanted, session.complete, **how)
        result = Result(scenario, plan, session.runs, world, origin)
        if qlog and session.runs:
            last = session.runs[-1]
            log = Sampled(plan, last, order.retransmits[-1], addresses(plan, last))
            log.write(qlog, sequential=recording.qlog_form == "draft-sequence")
            if not series:
                del last.series
        if order.unwritten and recording.pcap:
            raise NotRecorded({recording.pcap: order.unwritten[0]}, result)
    return result


def addresses(plan: Plan, run: Run) -> list[tuple[str, str]]:
    """The sender and the receiver of each path."""
    names = [planned.name for planned in plan.classes]
    classes = [names.index(run.flows.class_[int(flow)]) for flow in run.paths.flow]
    return [
        (sender_address(class_, int(path)), receiver_address(class_, 0))
        for class_, path in zip(classes, run.paths.path, strict=True)
    ]


@dataclass(frozen=True, kw_only=True)
class Rejected(Record):
    """An attempt that did not count, and why."""

    seed: int
    attempt: int
    because: list[str]
    counters: dict[str, int] = field(default_factory=dict)
    """Counters of the kernel that grew; empty if the attempt ended at its calibration."""


class Session:
    """The replications of one call, and the remarks on them."""

    def __init__(
        self,
        order: Order,
        seeds: Sequence[int],
        progress: Callable[[float, float], object] | None,
    ) -> None:
        """Nothing has run yet."""
        self.order, self.seeds, self.progress = order, seeds, progress
        self.runs: list[Run] = []
        self.rejected: list[Rejected] = []
        self.failed: list[int] = []
        self.complete = True
        self._calibration: Calibration | None = None
        self._settings: dict[str, dict[str, str]] = {}

    def run(
        self,
        controllers: Attached,
        keep_invalid: bool,
        record: Callable[[Attached], object] | None = None,
    ) -> None:
        """All replications. Raises LinuxError when they cannot be, NotValid when none came out
        valid, KeyboardInterrupt when none had finished by then."""
        for number, seed in enumerate(self.seeds):
            try:
                self._seed(number, seed, controllers, keep_invalid)
                if record:
                    record(controllers)
            except KeyboardInterrupt:
                self.complete = False
                if not self.runs:
                    raise
                return
        if not self.runs:
            reasons = "\n  ".join(self.rejected[-1].because)
            raise NotValid(
                f"no replication was valid; the last because:\n  {reasons}\n"
                "help: where packets were late or links off, something else may be using the processors: "
                "run again when they are idle"
            )

    def _seed(self, number: int, seed: int, controllers: Attached, keep_invalid: bool) -> None:
        for attempt in range(REPEATS + 1):
            insist = keep_invalid and attempt == REPEATS
            try:
                run = self._attempt(number, seed, controllers, insist)
            except NotCalibrated as error:
                rejected = Rejected(seed=seed, attempt=attempt + 1, because=[str(error)])
            else:
                if run.valid or insist:
                    self.runs.append(run)
                if run.valid:
                    return
                rejected = Rejected(
                    seed=seed,
                    attempt=attempt + 1,
                    because=run.invalid_because,
                    counters=run.kernel.counters,
                )
            self.rejected.append(rejected)
        self.failed.append(seed)

    def _attempt(self, number: int, seed: int, controllers: Attached, insist: bool) -> Run:
        """A replication. Raises NotCalibrated when its links miss their settings, unless a result
        is required, and LinuxError when it cannot run."""
        from .calibrate import calibrate
        from .wiring import Network

        duration_s = self.order.plan.duration_s

        def tell(passed_s: float) -> None:
            if self.progress:
                self.progress(number * duration_s + passed_s, len(self.seeds) * duration_s)

        with Network(self.order.plan) as network:
            emulation = self.order.emulation(network, CALIBRATION_SEED)
            measured, off = calibrate(self.order.plan, network, emulation)
            wrong = [f"{NOT_CALIBRATED}: {text}" for text in off]
            if wrong and not insist:
                raise NotCalibrated("; ".join(wrong))
            if not self.runs:  # until one counts: what is on record is what the first of them had
                self._calibration = measured
                self._settings = {side.planned.name: side.settings for side in network.senders}
            run = replicate(self.order, network, seed, controllers, tell)
            run.emulator.calibration = measured.largest_errors()
            run.invalid_because = [*wrong, *run.invalid_because]
            run.valid = not run.invalid_because
            return run

    def origin(self) -> dict[str, Any]:
        """Provenance that only this world has."""
        from .sample import interval_s
        from .sockets import receive_buffer, send_buffer
        from .traffic import WINDOWS_AHEAD

        plan = self.order.plan
        first, *_ = self._settings.values()
        return {
            "kernel": platform.release(),
            "controllers": sources(),
            "testbed": TESTBED,
            "processors": os.cpu_count(),
            "settings": {
                name: first if index == 0 else changed(first, values)
                for index, (name, values) in enumerate(self._settings.items())
            },
            "send_buffer_bytes": {c.name: 2 * send_buffer(plan, c) for c in plan.classes},
            "receive_buffer_bytes": {c.name: 2 * receive_buffer(c) for c in plan.classes},
            "windows_ahead": WINDOWS_AHEAD,
            "sample_interval_s": interval_s(plan),
            "calibration": plain(self._calibration),
            "rejected": plain(self.rejected),
            "failed": self.failed,
            "differences": fit.differences(plan, self.order.world),
        }


def changed(first: dict[str, str], others: dict[str, str]) -> dict[str, str]:
    """Settings of a class that differ from those of the first."""
    return {name: value for name, value in others.items() if first.get(name) != value}
