// The fields of the panel: for each key of a scenario its range, and how its value is read and written.

import { governed } from "./users.ts";
import { percent, rate, significant, time } from "./format.ts";
import type { Class, Link, Plan } from "./draw-plan.ts";
import type { Kind, Listing } from "./engine.ts";

/** Positions of a slider: 0 to this. */
export const POSITIONS = 200;

/** A number of the scenario, moved by a slider or written as text. */
export interface Range {
  kind: "range";
  key: string;
  /** The key in the scenario file where it depends on the plan. */
  keyIn?(plan: Plan): string;
  /** The class or the link that has it. */
  of?: string;
  label: string;
  /** The value at a position, and the position of a value. */
  at(position: number): number;
  position(value: number): number;
  read(plan: Plan): number | undefined;
  show(value: number): string;
  /** The TOML value of a text in the box. */
  write(text: string): string;
}

/** One of several values; null is the scenario's own. One with `missing` cannot be chosen, for that reason. */
export interface Option {
  label: string;
  value: string | null;
  missing?: string;
}

export interface Choice {
  kind: "choice";
  key: string;
  of?: string;
  label: string;
  options: Option[];
}

export type Field = Range | Choice;

/** The name of a field among those of all classes and links: "ap1: rate". */
export function named(field: Field): string {
  return field.of === undefined ? field.label : `${field.of}: ${field.label.toLowerCase()}`;
}

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
      of: cls.name,
      label: "Users",
      ...linear(Math.max(20, 3 * cls.count), 1),
      read: (plan) => now(plan)?.count ?? 0,
      show: String,
      write: plain,
    },
    {
      kind: "range",
      key: `${key}.start`,
      of: cls.name,
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
      of: cls.name,
      label: "Controller",
      options: [own, ...options],
    });
  }
  return fields;
}

/** Fields of a link, with the kinds of queues of the engine. A link of a medium has no rate and no queue. */
export function linkFields(link: Link, queues: Kind[]): Field[] {
  const key = `link.${link.name}`;
  const now = (plan: Plan): Link | undefined => plan.links.find((one) => one.name === link.name);
  const fields: Field[] = [];
  const rate_bps = link.rate_bps;
  if (rate_bps !== null) {
    fields.push({
      kind: "range",
      key: `${key}.rate`,
      of: link.name,
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
    of: link.name,
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
    of: link.name,
    label: "Loss",
    ...squared(Math.max(0.1, 2 * link.loss)),
    read: (plan) => now(plan)?.loss,
    show: (value) => percent(value, 3),
    write: (text) =>
      text.trim().endsWith("%") ? String(Number((parseFloat(text) / 100).toPrecision(6))) : plain(text),
  });
  if (rate_bps !== null) fields.push(...queueFields(link, now, queues));
  return fields;
}

function queueFields(link: Link, now: (plan: Plan) => Link | undefined, queues: Kind[]): Field[] {
  const own = link.queue;
  const limit = own?.limit_packets ?? 100;
  const key = `link.${link.name}.queue`;
  const choice: Choice = {
    kind: "choice",
    key,
    of: link.name,
    label: "Queue",
    options: [
      { label: `${own?.kind ?? "unlimited"} (scenario)`, value: null },
      ...queues
        .filter((kind) => kind.name !== (own?.kind ?? "unlimited"))
        .map((kind) => queueOption(kind, limit)),
    ],
  };
  /** The capacity of the queue that is there, under the key of its kind. */
  const capacity: Range = {
    kind: "range",
    key: `${key}.limit`,
    keyIn: (plan) => {
      const kind = now(plan)?.queue?.kind ?? "";
      return `${key}.${kind}.${capacityOf(queues.find((one) => one.name === kind)) ?? "limit"}`;
    },
    of: link.name,
    label: "Queue limit",
    ...logarithmic(limit),
    at: (position) => Math.max(1, Math.round(limit * 10 ** (position / (POSITIONS / 2) - 1))),
    read: (plan) => now(plan)?.queue?.limit_packets ?? undefined,
    show: (value) => `${significant(value, 6)} packets`,
    write: quoted,
  };
  return [choice, capacity];
}

/** The parameter of a kind of queue that is its capacity in packets. */
function capacityOf(kind: Kind | undefined): string | undefined {
  return ["limit", "packets"].find((name) => kind?.parameters?.some((one) => one.name === name));
}

/** Parameters without a default, by their name, for a queue of so many packets; thresholds as in scenarios A to C. */
const DERIVED: Record<string, (limit: number) => string> = {
  min: (limit) => packets(limit / 8),
  max: (limit) => packets(limit / 4),
  max_p: () => "0.1",
  threshold: (limit) => packets(limit / 2),
};

function packets(count: number): string {
  return `"${Math.max(1, Math.round(count))} packets"`;
}

/** A kind of queue with a capacity of `limit` packets, and defaults otherwise. */
export function queueOption(kind: Kind, limit: number): Option {
  const parameters = kind.parameters ?? [];
  if (parameters.length === 0) return { label: kind.name, value: JSON.stringify(kind.name) };
  const capacity = capacityOf(kind);
  const needed = parameters.filter((one) => one.name === capacity || !("default" in one));
  const missing = needed.filter((one) => one.name !== capacity && !Object.hasOwn(DERIVED, one.name));
  if (missing.length > 0) {
    const names = missing.map((one) => `\`${one.name}\``).join(", ");
    return { label: kind.name, value: null, missing: `needs ${names}: write it in the scenario's text` };
  }
  const values = needed.map(({ name }) => {
    const value = name === capacity ? packets(limit) : DERIVED[name]?.(limit);
    return `${name} = ${value}`;
  });
  return { label: kind.name, value: `{ ${kind.name} = { ${values.join(", ")} } }` };
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
