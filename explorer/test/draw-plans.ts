// Small plans and runs for tests of pictures.

import { Run } from "../src/engine.ts";
import type { Class, Link, Plan } from "../src/draw-plan.ts";
import type { Column, RunFacts, Table } from "../src/engine.ts";

export function link(name: string, rate_bps: number | null, more: Partial<Link> = {}): Link {
  const queue = rate_bps ? { kind: "droptail", limit_packets: 100 } : null;
  return {
    name,
    rate_bps,
    opportunities: null,
    delay_s: 0.01,
    queue,
    loss: 0,
    per_user: false,
    attachments: [],
    changes: [],
    ...more,
  };
}

/** A class with so many users; each path is a list of links. */
export function cls(name: string, count: number, paths: number[][]): Class {
  const made = paths.map((links) => ({
    links,
    back: [],
    base_rtt_s: 0.1,
    join_s: 0,
    leave_s: null,
    backup: false,
  }));
  const controller = paths.length > 1 ? "lia" : "reno";
  return {
    name,
    count,
    controller,
    law: null,
    protocol: "tcp",
    start_s: 0,
    spread_s: 0,
    subject: false,
    packet_bytes: 1500,
    paths: made,
  };
}

export function plan(links: Link[], classes: Class[], more: Partial<Plan> = {}): Plan {
  const facts = {
    name: "small",
    title: null,
    source: null,
    duration_s: 10,
    warmup_s: 0,
    sample_s: 1,
    choices: [],
    warnings: [],
  };
  return { ...facts, media: [], area: null, nodes: [], links, classes, ...more };
}

/** Scenario C: a line without a limit, and two access points. */
export function scenarioC(): Plan {
  const links = [link("ap1", 10e6), link("ap2", 10e6), link("line", null)];
  return plan(links, [
    cls("multipath", 2, [
      [2, 0],
      [2, 1],
    ]),
    cls("single-path", 1, [[2, 1]]),
  ]);
}

function numbers(name: string, values: number[], width?: number): Column {
  return {
    name,
    kind: width ? "matrix" : "numbers",
    unit: "",
    numbers: Float64Array.from(values),
    ...(width ? { width } : {}),
  };
}

function words(name: string, values: string[]): Column {
  return { name, kind: "words", unit: "", values };
}

function table(rows: number, ...columns: Column[]): Table {
  return { rows, columns };
}

/** A run of scenario C in 11 samples: path 1 of each multipath user has 1 Mb/s, path 2 none, TCP 4 Mb/s. */
export function runOfC(): Run {
  const times = Array.from({ length: 11 }, (_, k) => k);
  const rates_bps = [1e6, 0, 1e6, 0, 4e6];
  const arrived = times.flatMap((t_s) => rates_bps.map((bps) => (bps * t_s) / 8));
  const tables = {
    flows: table(3, words("class", ["multipath", "multipath", "single-path"])),
    paths: table(5, numbers("flow", [0, 0, 1, 1, 2]), numbers("path", [0, 1, 0, 1, 0])),
    "series.t_s": table(11, numbers("t_s", times)),
    "series.paths": table(
      11,
      numbers("arrived_bytes", arrived, 5),
      numbers(
        "cwnd_segments",
        times.flatMap(() => [3, 2, 5, 2, 8]),
        5,
      ),
      numbers(
        "srtt_s",
        times.flatMap(() => [0.1, 0.1, 0.1, 0.1, 0.1]),
        5,
      ),
    ),
    "series.links": table(
      11,
      numbers(
        "queue_packets",
        times.flatMap((t_s) => [5 * t_s, 100, 0]),
        3,
      ),
      numbers(
        "dropped_packets",
        times.flatMap((t_s) => [0, t_s < 5 ? 0 : 7, 0]),
        3,
      ),
    ),
  };
  return new Run({ seed: 1 } as RunFacts, tables);
}
