// What a lesson consists of, and the runs that give its numbers.

import { initial, overridesOf } from "../state.ts";
import { interval } from "../statistics.ts";
import { visible } from "../visible.ts";
import type { Ask, Data, Engine, Fairness, Plan, Run } from "../engine.ts";
import type { Interval } from "../statistics.ts";
import type { Controller, State } from "../state.ts";

/** One configuration of a lesson: a shipped scenario with changes. */
export interface Case {
  scenario: string;
  /** Controller of multipath users; null for the scenario's own. */
  controller: Controller;
  /** Values as TOML, by key. */
  overrides?: Record<string, string>;
  /** Whether measures read series over time. */
  series?: boolean;
}

export interface Sample {
  run: Run;
  plan: Plan;
}

/** The runs of one seed, by the name of their case. */
export type Samples<Name extends string = string> = Readonly<Record<Name, Sample>>;

/** What a unit is in the units of a run: bit/s, seconds, parts of one. */
export const UNITS = {
  "Mb/s": 1e6,
  "kb/s": 1e3,
  ms: 1e-3,
  "%": 0.01,
  times: 1,
  segments: 1,
  packets: 1,
  count: 1,
} as const;
export type Unit = keyof typeof UNITS;

/** A number of each seed, whose mean and interval the texts show. */
export interface Quantity<Name extends string = string> {
  unit: Unit;
  /** In the units of a run. */
  of(samples: Samples<Name>): number;
  /** A change: shown with its sign. */
  signed?: boolean;
}

/** A published number. Sources that state none, or only a bound, have it said with `as`. */
export interface Reported {
  value: number;
  source: string;
  as?: "derived" | "below";
}

/** What the reader guesses; numbers are in the unit of the quantity. */
export interface Guess<Q extends string = string> {
  asks: string;
  quantity: Q;
  min: number;
  max: number;
  step: number;
  start: number;
  published?: Reported;
}

/** A statement of the texts, in words that follow "that", and whether means in the units of a run bear it out. */
export interface Statement<Q extends string = string> {
  says: string;
  holds(means: Readonly<Record<Q, number>>): boolean | Fairness;
}

export interface Source {
  document: string;
  section?: string;
}

/** Where a document of the IETF is, which a name such as "RFC 6356 (LIA)" says; undefined for others. */
export function addressOf(document: string): string | undefined {
  const [, rfc] = /^RFC (\d+)\b/.exec(document) ?? [];
  const name = rfc ? `rfc${rfc}` : /^draft(-[a-z0-9]+)+/.exec(document)?.[0];
  return name && `https://datatracker.ietf.org/doc/html/${name}`;
}

/** Texts name quantities in braces, which are filled with mean, interval and unit. */
export interface Guide<Name extends string = string, Q extends string = string> {
  /** As in the fragment: lesson=harm. */
  name: string;
  title: string;
  question: string;
  /** What is simulated. */
  setting: string[];
  guesses: Guess<NoInfer<Q>>[];
  cases: Record<Name, Case>;
  /** The cases that the page shows beside the lesson: one, or two that differ in the controller alone. */
  shown: NoInfer<Name>[];
  /** Seeds from 1 to this. */
  seeds: number;
  quantities: Record<Q, Quantity<NoInfer<Name>>>;
  answer: string[];
  /** Cells are filled without units. */
  table: { caption: string; head: string[]; rows: string[][] };
  mechanism: string[];
  statements: Statement<NoInfer<Q>>[];
  sources: Source[];
  /** Pages of the documentation, from the root of the project. */
  pages: string[];
}

/** A guide whose cases and quantities are checked against their uses. */
export function guide<Name extends string, Q extends string>(made: Guide<Name, Q>): Guide {
  return made as Guide;
}

/** The state of the page that shows the cases of `shown`. */
export function stateOf(made: Guide): State {
  const [first, second] = made.shown.map((name) => caseOf(made, name));
  const state = initial(first?.scenario ?? "");
  state.a = first?.controller ?? null;
  if (second) state.b = second.controller;
  state.overrides = { ...first?.overrides };
  state.lesson = made.name;
  return state;
}

/** Overrides of a case in the order in which the page applies them. */
export function overridesIn(one: Case): string[] {
  return overridesOf({ ...initial(one.scenario), overrides: one.overrides ?? {} });
}

/** The engine's question for a case. Throws if the scenario is not shipped. */
export function askOf(one: Case, data: Data): Ask {
  const shipped = data.scenarios.find((other) => other.name === one.scenario);
  if (!shipped) throw new Error(`this page does not have the scenario \`${one.scenario}\` of the lesson`);
  return { name: one.scenario, text: shipped.text, controller: one.controller, overrides: overridesIn(one) };
}

/** What the runs of a lesson gave. */
export interface Findings {
  intervals: Readonly<Record<string, Interval>>;
  /** Statements that these runs do not bear out. */
  missed: string[];
}

/** Runs every case with every seed, while the page is in sight. `told` hears how many seeds are done. */
export async function find(
  made: Guide,
  engine: Engine,
  data: Data,
  signal: AbortSignal,
  told: (seeds: number) => void = () => undefined,
): Promise<Findings> {
  const plans = await each(made, ({ one }) => engine.plan(askOf(one, data)));
  const values: Record<string, number[]> = {};
  for (let seed = 1; seed <= made.seeds; seed++) {
    await visible(signal);
    told(seed - 1);
    const samples = await each(made, async ({ one, name }) => {
      const run = await engine.run(askOf(one, data), seed, signal, one.series ?? false);
      return { run, plan: plans[name] as Plan };
    });
    signal.throwIfAborted();
    for (const [name, quantity] of Object.entries(made.quantities)) {
      (values[name] ??= []).push(quantity.of(samples));
    }
  }
  const intervals = Object.fromEntries(Object.entries(values).map(([name, all]) => [name, interval(all)]));
  return { intervals, missed: await missed(made, engine, intervals) };
}

async function missed(made: Guide, engine: Engine, intervals: Record<string, Interval>): Promise<string[]> {
  const means = Object.fromEntries(Object.entries(intervals).map(([name, one]) => [name, one.mean]));
  const found: string[] = [];
  for (const { says, holds } of made.statements) {
    const held = holds(means);
    if (!(typeof held === "boolean" ? held : await engine.fairness(held))) found.push(says);
  }
  return found;
}

/** Something for every case at once, by the name of the case. */
async function each<T>(
  made: Guide,
  make: (of: { one: Case; name: string }) => Promise<T>,
): Promise<Record<string, T>> {
  const all = Object.entries(made.cases).map(
    async ([name, one]) => [name, await make({ one, name })] as const,
  );
  return Object.fromEntries(await Promise.all(all));
}

function caseOf(made: Guide, name: string): Case {
  const found = made.cases[name];
  if (!found) throw new Error(`lesson \`${made.name}\` has no case \`${name}\``);
  return found;
}
