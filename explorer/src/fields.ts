// What can be moved in a scenario: for each key its range, and how its value is read and written.

import { governed } from "./session.ts";
import { percent, rate, significant, time } from "./format.ts";
import type { Class, Link, Listing, Plan, Queue } from "./engine.ts";

/** Positions of a slider: 0 to this. */
export const POSITIONS = 200;

/** A number of the scenario, moved by a slider or written as text. */
export interface Range {
  kind: "range";
  key: string;
  /** The key in the scenario file where it depends on the plan. */
  keyIn?(plan: Plan): string;
  label: string;
  /** The value at a position, and the position of a value. */
  at(position: number): number;
  position(value: number): number;
  read(plan: Plan): number | undefined;
  show(value: number): string;
  /** The TOML value of a text in the box. */
  write(text: string): string;
}

/** One of several values; null is the scenario's own. */
export interface Choice {
  kind: "choice";
  key: string;
  label: string;
  options: { label: string; value: string | null }[];
}

export type Field = Range | Choice;

const quoted = (text: string): string => JSON.stringify(text.trim());
const plain = (text: string): string => text.trim() || '""';

/** From a tenth of `base` to ten times of it. */
function logarithmic(base: number): Pick<Range, "at" | "position"> {
  const half = POSITIONS / 2;
  return {
    at: (position) => Number((base * 10 ** (position / half - 1)).toPrecision(3)),
    position: (value) => (value > 0 ? half * (1 + Math.log10(value / base)) : 0),
  };
}

/** From 0 to `most`, finer at small values. */
function squared(most: number): Pick<Range, "at" | "position"> {
  return {
    at: (position) => Number((most * (position / POSITIONS) ** 2).toPrecision(3)),
    position: (value) => POSITIONS * Math.sqrt(Math.max(0, value) / most),
  };
}

function linear(most: number, step: number): Pick<Range, "at" | "position"> {
  return {
    at: (position) => Number((Math.round((most * position) / POSITIONS / step) * step).toPrecision(6)),
    position: (value) => (POSITIONS * value) / most,
  };
}

/** Fields of a class of users. */
export function classFields(base: Plan, cls: Class, listing: Listing): Field[] {
  const key = `flow.${cls.name}`;
  const now = (plan: Plan): Class | undefined => plan.classes.find((one) => one.name === cls.name);
  const fields: Field[] = [
    {
      kind: "range",
      key: `${key}.count`,
      label: "Users",
      ...linear(Math.max(20, 3 * cls.count), 1),
      read: (plan) => now(plan)?.count ?? 0,
      show: String,
      write: plain,
    },
    {
      kind: "range",
      key: `${key}.start`,
      label: "Start",
      ...linear(base.duration_s, base.duration_s > 20 ? 1 : 0.1),
      read: (plan) => now(plan)?.start_s,
      show: (value) => `${significant(value, 6)} s`,
      write: quoted,
    },
  ];
  if (cls.protocol === "tcp" && (!governed(base).includes(cls) || cls.paths.length === 1)) {
    const options = listing.controllers.map(({ name }) => ({ label: name, value: JSON.stringify(name) }));
    const own = { label: `${cls.controller} (scenario)`, value: null };
    fields.push({
      kind: "choice",
      key: `${key}.controller`,
      label: "Controller",
      options: [own, ...options],
    });
  }
  return fields;
}

/** Fields of a link; what a medium carries has no rate and no queue of its own. */
export function linkFields(link: Link): Field[] {
  const key = `link.${link.name}`;
  const now = (plan: Plan): Link | undefined => plan.links.find((one) => one.name === link.name);
  const fields: Field[] = [];
  const rate_bps = link.rate_bps;
  if (rate_bps !== null) {
    fields.push({
      kind: "range",
      key: `${key}.rate`,
      label: "Rate",
      ...logarithmic(rate_bps),
      read: (plan) => now(plan)?.rate_bps ?? undefined,
      show: (value) => rate(value),
      write: quoted,
    });
  }
  fields.push({
    kind: "range",
    key: `${key}.delay`,
    label: "Delay",
    ...squared(Math.max(0.2, 4 * link.delay_s)),
    read: (plan) => now(plan)?.delay_s,
    show: (value) => time(value),
    write: quoted,
  });
  if (link.attachments.length > 0) return fields;
  fields.push({
    kind: "range",
    key: `${key}.loss.probability`,
    label: "Loss",
    ...squared(Math.max(0.1, 2 * link.loss)),
    read: (plan) => now(plan)?.loss,
    show: (value) => percent(value, 3),
    write: (text) =>
      text.trim().endsWith("%") ? String(Number((parseFloat(text) / 100).toPrecision(6))) : plain(text),
  });
  if (rate_bps !== null) fields.push(...queueFields(key, link.queue, now));
  return fields;
}

function queueFields(key: string, own: Queue | null, now: (plan: Plan) => Link | undefined): Field[] {
  const limit = own?.limit_packets ?? 100;
  const choice: Choice = {
    kind: "choice",
    key: `${key}.queue`,
    label: "Queue",
    options: [
      { label: `${own?.kind ?? "unlimited"} (scenario)`, value: null },
      ...queueKinds(limit).filter((option) => option.label !== own?.kind),
    ],
  };
  return [choice, limitField(key, limit, (plan) => now(plan)?.queue ?? null)];
}

/** The capacity of the queue that is there, under the key of its kind. */
function limitField(key: string, limit: number, queue: (plan: Plan) => Queue | null): Range {
  return {
    kind: "range",
    key: `${key}.queue.limit`,
    keyIn: (plan) => {
      const kind = queue(plan)?.kind ?? "droptail";
      return `${key}.queue.${kind}.${kind === "droptail" ? "packets" : "limit"}`;
    },
    label: "Queue limit",
    ...logarithmic(limit),
    at: (position) => Math.max(1, Math.round(limit * 10 ** (position / (POSITIONS / 2) - 1))),
    read: (plan) => queue(plan)?.limit_packets ?? undefined,
    show: (value) => `${significant(value, 6)} packets`,
    write: quoted,
  };
}

/** The kinds of queue with a capacity of `limit` packets; thresholds of RED as in scenarios A to C. */
function queueKinds(limit: number): { label: string; value: string }[] {
  const packets = (share: number): string => `"${Math.max(1, Math.round(limit * share))} packets"`;
  return [
    { label: "droptail", value: `{ droptail = { packets = ${packets(1)} } }` },
    {
      label: "red",
      value: `{ red = { min = ${packets(1 / 8)}, max = ${packets(1 / 4)}, max_p = 0.1, limit = ${packets(1)} } }`,
    },
    { label: "codel", value: `{ codel = { limit = ${packets(1)} } }` },
    { label: "fq-codel", value: `{ fq-codel = { limit = ${packets(1)} } }` },
    { label: "pie", value: `{ pie = { limit = ${packets(1)} } }` },
    { label: "random", value: `{ random = { threshold = ${packets(1 / 2)}, limit = ${packets(1)} } }` },
    { label: "unlimited", value: `"unlimited"` },
  ];
}

/** Duration of the run. */
export function durationField(base: Plan): Range {
  return {
    kind: "range",
    key: "duration",
    label: "Duration",
    ...linear(2 * base.duration_s, base.duration_s >= 20 ? 1 : 0.1),
    read: (plan) => plan.duration_s,
    show: (value) => `${significant(value, 6)} s`,
    write: quoted,
  };
}
