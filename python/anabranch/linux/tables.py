"""The tables of a run, shaped as the simulation's: flows, paths, links, classes, series."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..plan import Plan
from ..runs import Emulated, EmulatedSeries, Run, Series
from ..tables import Classes, Flows, Paths, PathSeries
from .sample import (
    FIELDS,
    Numbers,
    Sampler,
    add,
    counted,
    means,
    of_classes,
    on_grid,
    quantile,
)
from .traffic import Receiving, User


def tables(
    plan: Plan,
    connections: Sequence[User],
    sampler: Sampler,
    report: Emulated,
    goodput_bytes: Numbers,
    seed: int,
) -> Run:
    """All tables of a run; `report` is the emulator's, `goodput_bytes` the goodput of each flow
    after the warm-up.
    """
    seconds = plan.duration_s - plan.warmup_s
    times_s, table = np.array(sampler.times_s), sampler.table()
    flow = np.repeat(np.arange(len(connections)), [len(c.planned.paths) for c in connections])
    path = np.concatenate([np.arange(len(c.planned.paths)) for c in connections])
    wire, sent = report.paths.throughput_bps, report.paths.sent_packets
    lost = report.paths.lost_packets
    # Nobody counts for users over QUIC.
    over_tcp = np.array([isinstance(connections[int(f)], Receiving) for f in flow])
    grown = {
        name: np.where(over_tcp, column, np.nan)
        for name, column in counted(table, times_s, plan.warmup_s).items()
    }
    mean = means(table, times_s, plan.warmup_s)
    classes = np.array([connections[int(f)].class_ for f in flow])
    unknown = np.full(len(flow), np.nan)
    run = Run(
        seed=seed,
        flows=flows(
            connections,
            np.bincount(flow, wire, len(connections)).astype(float),
            8 * goodput_bytes / seconds,
        ),
        paths=Paths(
            flow=flow,
            path=path,
            throughput_bps=wire,
            goodput_bps=unknown,  # the kernel does not say which path bytes came by
            sent_packets=sent,
            lost_packets=lost,
            loss=lost / np.maximum(sent, 1),
            retransmits=grown["retransmits"],
            timeouts=grown["timeouts"],
            recoveries=known(grown, table, "recoveries"),
            marks=known(grown, table, "marks"),
            undone=known(grown, table, "undone"),
            probes=known(grown, table, "probes"),
            echoed_packets=unknown,
            cwnd_segments=mean["cwnd_segments"],
            srtt_s=mean["srtt_s"],
            rto_s=mean["rto_s"],
            busy_s=grown["busy_s"],
            receive_window_limited_s=grown["receive_window_limited_s"],
            send_buffer_limited_s=grown["send_buffer_limited_s"],
            min_rtt_s=mean["min_rtt_s"],
            pmtu_bytes=mean["pmtu_bytes"],
            reordering=mean["reordering"],
            starved=mean["starved"],
        ),
        links=report.links,
        stations=report.stations,
        classes=Classes(
            name=[planned.name for planned in plan.classes],
            **of_classes(plan, classes, table, times_s),
            **completions(plan, connections),
        ),
    )
    if report.has("series"):
        run.series = series(report.series, table, times_s)
    return run


def known(grown: dict[str, Numbers], table: Numbers, name: str) -> Numbers:
    """How much a counter grew on each path; NaN where no sample has it."""
    samples = table[:, :, FIELDS.index(name)]
    return np.where(np.isnan(samples).all(axis=0), np.nan, grown[name])


def flows(connections: Sequence[User], wire_bps: Numbers, goodput_bps: Numbers) -> Flows:
    """The table of connections."""
    return Flows(
        class_=[c.planned.name for c in connections],
        user=np.array([c.user for c in connections]),
        throughput_bps=wire_bps,
        goodput_bps=goodput_bps,
        start_s=np.array([c.start_s for c in connections]),
        completed_s=np.array([c.completed_s for c in connections]),
        fct_s=np.array([c.completed_s - c.start_s for c in connections]),
        # out-of-order data is held inside the kernel
        held_bytes=np.full(len(connections), np.nan),
        held_max_bytes=np.full(len(connections), np.nan),
    )


def series(emulated: EmulatedSeries, table: Numbers, times_s: Numbers) -> Series:
    """Series at the emulator's sample times; windows are from the nearest sample of the sockets."""
    t_s, arrived = emulated.t_s, emulated.paths.arrived_bytes

    def column(name: str) -> Numbers:
        return on_grid(table[:, :, FIELDS.index(name)], times_s, t_s)

    return Series(
        t_s=t_s,
        paths=PathSeries(
            cwnd_segments=column("cwnd_segments"),
            ssthresh_segments=column("ssthresh_segments"),
            srtt_s=np.nan_to_num(column("srtt_s"), nan=0.0),
            arrived_bytes=arrived,
            taken_bytes=np.full_like(arrived, np.nan),
            rto_s=np.nan_to_num(column("rto_s"), nan=0.0),
            sent_packets=np.full_like(arrived, np.nan),
        ),
        links=emulated.links,
        stations=emulated.stations,
    )


def completions(plan: Plan, connections: Sequence[User]) -> dict[str, Numbers]:
    """Columns of the table `classes`: completion times of transfers begun after the warm-up."""
    columns: dict[str, list[float]] = {}
    for class_ in range(len(plan.classes)):
        counted = [c for c in connections if c.class_ == class_ and c.start_s >= plan.warmup_s]
        times = np.array([c.completed_s - c.start_s for c in counted])
        times = times[~np.isnan(times)]
        add(columns, "completed_flows", len(times))
        add(columns, "fct_mean_s", float(times.mean()) if times.size else math.nan)
        for percent in (50, 95, 99):
            add(columns, f"fct_p{percent}_s", quantile(times, percent))
    return {name: np.array(values) for name, values in columns.items()}
