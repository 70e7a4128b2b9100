// What moves in the picture of a network, precomputed from the series of a run: rates and windows of
// courses, levels and losses of pipes. Seeking a time then only looks up.

import type { Link, Plan } from "./draw-plan.ts";
import type { Run } from "./engine.ts";
import type { Course, Pipe } from "./draw-pipes.ts";

/** Rates are means over this time before a sample, at least over one sample. */
const WINDOW_S = 1;
/** A course at the highest rate of the run crosses the picture so often in the run. */
const CROSSINGS = 30;

/** A course over time: a value for each sample. */
export interface Flowing {
  /** Rate of all users of the class together. */
  rate_bps: Float64Array;
  /** How often its particles have crossed the picture since the start. */
  phase: Float64Array;
  /** Columns of `series.paths`: its path of each user. */
  columns: number[];
}

/** A pipe over time. */
export interface Filling {
  /** Level of its queue, from 0 to 1; of a medium, of the fullest station. */
  level: Float64Array;
  queue_packets: Float64Array;
  /** Packets that were dropped or lost since the previous sample. */
  drops: Float64Array;
  most_drops: number;
  room_packets: number;
}

export interface Motion {
  courses: Flowing[];
  pipes: Filling[];
  /** The highest rate of any course. */
  most_bps: number;
}

export function motion(plan: Plan, run: Run, pipes: Pipe[], courses: Course[]): Motion {
  const flows = courses.map((course) => flowing(plan, run, course));
  const most = Math.max(1, ...flows.map((one) => one.rate_bps.reduce((a, b) => Math.max(a, b), 0)));
  const times = run.times;
  for (const { rate_bps, phase } of flows) {
    for (let k = 1; k < times.length; k += 1) {
      const speed = Math.sqrt(rate_bps[k]! / most) * (CROSSINGS / plan.duration_s);
      phase[k] = phase[k - 1]! + speed * (times[k]! - times[k - 1]!);
    }
  }
  return { courses: flows, pipes: pipes.map((pipe) => filling(run, pipe)), most_bps: most };
}

function flowing(plan: Plan, run: Run, course: Course): Flowing {
  const times = run.times;
  const columns = run.pathNumbers(plan.classes[course.cls]?.name ?? "")[course.path] ?? [];
  const { values, width } = run.series("paths", "arrived_bytes");
  const bytes = Float64Array.from(times, (_, k) =>
    columns.reduce((sum, one) => sum + values[k * width + one]!, 0),
  );
  const rate = new Float64Array(times.length);
  for (let k = 1, from = 0; k < times.length; k += 1) {
    while (from < k - 1 && times[k]! - times[from + 1]! >= WINDOW_S - 1e-9) from += 1;
    rate[k] = (8 * course.part * (bytes[k]! - bytes[from]!)) / (times[k]! - times[from]!);
  }
  if (rate.length > 1) rate[0] = rate[1]!;
  return { rate_bps: rate, phase: new Float64Array(times.length), columns };
}

function filling(run: Run, pipe: Pipe): Filling {
  const count = run.times.length;
  const level = new Float64Array(count);
  const waiting = new Float64Array(count);
  const drops = new Float64Array(count);
  const wired = pipe.medium < 0;
  const queue = run.series(wired ? "links" : "stations", "queue_packets");
  const lost = run.series(wired ? "links" : "stations", wired ? "dropped_packets" : "failed_packets");
  const senders = wired ? [{ column: pipe.link, limit_packets: pipe.room_packets }] : pipe.stations;
  let fullest = 1;
  for (const value of queue.values) fullest = Math.max(fullest, value);
  for (const { column, limit_packets } of senders) {
    const room = (limit_packets ?? fullest) * pipe.copies;
    for (let k = 0; k < count; k += 1) {
      const packets = queue.values[k * queue.width + column] ?? 0;
      waiting[k] = Math.max(waiting[k]!, packets);
      level[k] = Math.max(level[k]!, Math.min(1, packets / room));
      const since = k > 0 ? (lost.values[(k - 1) * lost.width + column] ?? 0) : 0;
      drops[k] = drops[k]! + (lost.values[k * lost.width + column] ?? 0) - since;
    }
  }
  const rooms = senders.map((one) => (one.limit_packets ?? fullest) * pipe.copies);
  const most = drops.reduce((a, b) => Math.max(a, b), 0);
  return { level, queue_packets: waiting, drops, most_drops: most, room_packets: Math.max(1, ...rooms) };
}

/** Rate, loss and state of a link at a time, after its changes. */
export function linkAt(link: Link, t_s: number): { rate_bps: number | null; loss: number; up: boolean } {
  const now = { rate_bps: link.rate_bps, loss: link.loss, up: true };
  for (const change of link.changes) {
    if (change.at_s > t_s) break;
    now.rate_bps = change.rate_bps ?? now.rate_bps;
    now.loss = change.loss ?? now.loss;
    now.up = change.up ?? now.up;
  }
  return now;
}

/** Where the i-th of any number of particles is, in [0, 1): the first ones are spread evenly (van der Corput). */
export function spread(i: number): number {
  let place = 0;
  for (let half = 0.5, rest = i; rest > 0; half /= 2, rest >>= 1) {
    if (rest & 1) place += half;
  }
  return place;
}

/** A line as points of equal distance, `count` of them: x and y in turn. */
export function evenly(points: Float64Array, count: number): Float32Array {
  const along = [0];
  for (let i = 2; i < points.length; i += 2) {
    const step = Math.hypot(points[i]! - points[i - 2]!, points[i + 1]! - points[i - 1]!);
    along.push(along.at(-1)! + step);
  }
  const out = new Float32Array(2 * count);
  const whole = along.at(-1)!;
  for (let n = 0, i = 0; n < count; n += 1) {
    const at = (whole * n) / (count - 1);
    while (i + 2 < along.length && along[i + 1]! < at) i += 1;
    const part = Math.min(1, (at - along[i]!) / (along[i + 1]! - along[i]! || 1));
    out[2 * n] = points[2 * i]! + part * (points[2 * i + 2]! - points[2 * i]!);
    out[2 * n + 1] = points[2 * i + 1]! + part * (points[2 * i + 3]! - points[2 * i + 1]!);
  }
  return out;
}
