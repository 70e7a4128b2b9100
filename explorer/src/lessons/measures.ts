// What the lessons measure of a run, in bit/s, seconds, segments and parts of one.

import { mean } from "../statistics.ts";
import type { Sample } from "./guide.ts";

/** Mean throughput of a user of a class. */
export function rate({ run }: Sample, cls: string): number {
  return mean(run.users(cls, "throughput_bps"));
}

/** Mean goodput of a user of a class. */
export function goodput({ run }: Sample, cls: string): number {
  return mean(run.users(cls, "goodput_bps"));
}

/** A metric of a path, counted from 0, in the mean of the users of a class. */
export function ofPath({ run }: Sample, cls: string, path: number, metric: string): number {
  return mean(run.paths(cls, metric)[path] ?? new Float64Array(0));
}

/** Throughput of all users of a class over that of all users. */
export function share({ run }: Sample, cls: string): number {
  return sum(run.users(cls, "throughput_bps")) / sum(run.numbers("flows", "throughput_bps"));
}

/** Dropped and lost packets of a link over the packets that arrived at it. */
export function lossOf({ run }: Sample, link: string): number {
  return run.numbers("links", "loss")[run.words("links", "name").indexOf(link)] ?? NaN;
}

/** A metric of a station of a medium. */
export function ofStation({ run }: Sample, medium: string, station: string, metric: string): number {
  const media = run.words("stations", "medium");
  const names = run.words("stations", "name");
  const row = names.findIndex((name, number) => name === station && media[number] === medium);
  return run.numbers("stations", metric)[row] ?? NaN;
}

/** Rate of a link. */
export function rateOfLink({ plan }: Sample, link: string): number {
  return plan.links.find((one) => one.name === link)?.rate_bps ?? NaN;
}

/** What the paths of a class send together if each has one segment in flight. */
export function probing({ run, plan }: Sample, cls: string, path: number): number {
  const bits = 8 * (plan.classes.find((one) => one.name === cls)?.packet_bytes ?? NaN);
  return sum((run.paths(cls, "srtt_s")[path] ?? new Float64Array(0)).map((srtt_s) => bits / srtt_s));
}

/** Throughput of a path of all users of a class together. */
export function allOfPath({ run }: Sample, cls: string, path: number): number {
  return sum(run.paths(cls, "throughput_bps")[path] ?? new Float64Array(0));
}

/** Part of the samples after the warm-up in which a path's window is below ssthresh, in the mean of the users. */
export function inSlowStart(sample: Sample, cls: string, path: number): number {
  const columns = sample.run.pathNumbers(cls)[path] ?? [];
  const windows = sample.run.series("paths", "cwnd_segments");
  const ssthresh = sample.run.series("paths", "ssthresh_segments");
  let [slow, all] = [0, 0];
  for (let row = firstRow(sample); row < windows.rows; row++) {
    for (const column of columns) {
      const at = row * windows.width + column;
      all += 1;
      if ((windows.values[at] ?? NaN) < (ssthresh.values[at] ?? NaN)) slow += 1;
    }
  }
  return slow / all;
}

/** A path leads while it has more than this part of its user's window (`anabranch.fairness.dominance`). */
const LEADS = 0.9;

/** Of a class's first user: the path that leads, for each sample after the warm-up in which one does; and all samples. */
function leaders(sample: Sample, cls: string): { leaders: number[]; samples: number } {
  const columns = sample.run.pathNumbers(cls).map((users) => users[0] ?? -1);
  const { values, width, rows } = sample.run.series("paths", "cwnd_segments");
  const first = firstRow(sample);
  const found: number[] = [];
  for (let row = first; row < rows; row++) {
    const windows = columns.map((column) => values[row * width + column] ?? NaN);
    const most = Math.max(...windows);
    if (most > LEADS * windows.reduce((total, window) => total + window, 0))
      found.push(windows.indexOf(most));
  }
  return { leaders: found, samples: rows - first };
}

/** Part of the time after the warm-up in which one path has more than 90 % of the window. */
export function dominance(sample: Sample, cls: string): number {
  const found = leaders(sample, cls);
  return found.leaders.length / found.samples;
}

/** How often the path with more than 90 % of the window is another than before (`anabranch.fairness.swaps`). */
export function swaps(sample: Sample, cls: string): number {
  const found = leaders(sample, cls).leaders;
  return found.filter((path, place) => place > 0 && path !== found[place - 1]).length;
}

/** The first sample after the warm-up. */
function firstRow({ plan }: Sample): number {
  return Math.round(plan.warmup_s / plan.sample_s);
}

function sum(values: Float64Array): number {
  return values.reduce((total, value) => total + value, 0);
}
