// One sentence: who is harmed and by how much, by the engine's definitions of fairness and no others.

import { change, mega, percent } from "./format.ts";
import { mean, rateOf } from "./session.ts";
import type { Class, Engine, Plan } from "./engine.ts";
import type { Side } from "./session.ts";

/** Most classes of users that are compared with their rates alone: each needs a run of its own. */
const MOST_ALONE = 4;
/** Share of a run after which users are late. */
const LATE = 0.05;
/** A harm that prints as 0 %. */
const LEAST_HARM = 0.005;
const NOBODY_ELSE = "No other users share this network: nobody can be harmed.";

/** The sentence for one side, or for the step from the first to the second. */
export async function sentence(engine: Engine, sides: readonly Side[], signal: AbortSignal): Promise<string> {
  const [first, second] = sides;
  if (!first) return "";
  return second ? compared(engine, first, second) : alone(engine, first, signal);
}

function kinds(plan: Plan): { several: Class[]; single: Class[] } {
  const present = plan.classes.filter((cls) => cls.count > 0);
  return {
    several: present.filter((cls) => cls.protocol === "tcp" && cls.paths.length > 1),
    single: present.filter((cls) => cls.protocol !== "tcp" || cls.paths.length === 1),
  };
}

/** P2 against the optimum, for the pair of classes that is furthest from it. */
async function alone(engine: Engine, side: Side, signal: AbortSignal): Promise<string> {
  const { several, single } = kinds(side.plan);
  if (several.length + single.length < 2) return NOBODY_ELSE;
  const pairs = pairsOf(side);
  const [worst] = pairs;
  if (!worst) return harm(engine, side, several, single, signal);
  const pair = await harmed(engine, pairs);
  if (pair) {
    return (
      `Under ${side.label}, ${users(pair.other)} are harmed: each gets ${mega(pair.left)}, ` +
      `${percent(-pair.loss)} less than the proportionally fair ${mega(pair.fairLeft)}, while ${each(pair.taker)} ` +
      `takes ${mega(pair.taken)} (${change(pair.taken, pair.fairTaken)}): problem P2.`
    );
  }
  return (
    `Under ${side.label}, nobody is harmed by the definition of problem P2: ${each(worst.other)} gets ` +
    `${mega(worst.left)} (${change(worst.left, worst.fairLeft)} against the proportionally fair rate), ` +
    `${each(worst.taker)} ${mega(worst.taken)} (${change(worst.taken, worst.fairTaken)}).`
  );
}

/** The first pair that is problem P2. */
async function harmed(engine: Engine, pairs: Pair[]): Promise<Pair | undefined> {
  for (const pair of pairs) {
    if (await engine.fairness({ p2: [pair.taken, pair.left, pair.fairTaken, pair.fairLeft] })) return pair;
  }
  return undefined;
}

/** Classes of several paths beside those of one, where the optimum is known; who is furthest below it comes first. */
function pairsOf(side: Side): Pair[] {
  const { several, single } = kinds(side.plan);
  const optimum = side.theory?.optimum;
  const [takers, others] = [several, single].map((classes) =>
    classes.filter((cls) => throughout(side.plan, cls)),
  );
  const pairs = (takers ?? []).flatMap((taker) =>
    (others ?? []).map((other) => pairOf(side, taker.name, other.name, optimum)),
  );
  return pairs.filter((pair) => pair !== undefined).sort((a, b) => a.loss - b.loss);
}

/** Whether a class and its paths are there for all that is measured: the optimum knows no other users. */
function throughout(plan: Plan, cls: Class): boolean {
  const present = cls.paths.every((path) => path.leave_s === null && path.join_s <= plan.warmup_s);
  return present && cls.start_s + cls.spread_s <= Math.max(plan.warmup_s, plan.duration_s * LATE);
}

interface Pair {
  taker: string;
  other: string;
  taken: number;
  left: number;
  fairTaken: number;
  fairLeft: number;
  /** Relative distance of `left` from its fair rate. */
  loss: number;
}

function pairOf(
  side: Side,
  taker: string,
  other: string,
  fair: Record<string, number> | null | undefined,
): Pair | undefined {
  const [fairTaken, fairLeft] = [fair?.[taker], fair?.[other]];
  if (!fairTaken || !fairLeft) return undefined;
  const [taken, left] = [rateOf(side, taker).mean, rateOf(side, other).mean];
  return { taker, other, taken, left, fairTaken, fairLeft, loss: left / fairLeft - 1 };
}

/** Without an optimum: what others have beside these users and without them, on the first seed. */
async function harm(
  engine: Engine,
  side: Side,
  several: Class[],
  single: Class[],
  signal: AbortSignal,
): Promise<string> {
  const others = single.length > 0 ? single : several;
  const takers = several.length > 0 && single.length > 0 ? [several] : others.map((cls) => [cls]);
  if (takers.length > MOST_ALONE) {
    const why =
      "Who is harmed is not decided here: no class has other paths than the rest, and there are many.";
    return side.theory?.why ? `${why} ${side.theory.why}` : why;
  }
  let worst: { text: string; value: number } | undefined;
  for (const group of takers) {
    const names = group.map((cls) => cls.name);
    const without = names.map((name) => `flow.${name}.count=0`);
    const ask = { ...side.ask, overrides: [...side.ask.overrides, ...without] };
    const run = await engine.run(ask, side.run.facts.seed, signal, false);
    for (const other of others.filter((cls) => !names.includes(cls.name))) {
      const before = mean(run.users(other.name, "throughput_bps"));
      const beside = mean(side.run.users(other.name, "throughput_bps"));
      const value = Number(await engine.fairness({ harm: [before, beside] }));
      if (worst && worst.value >= value) continue;
      const same = `${each(other.name)} gets ${mega(beside)}, as without ${users(...names)}`;
      const nobody = `Under ${side.label}, nobody is harmed: ${same} (seed ${run.facts.seed}).`;
      const text =
        `Beside ${users(...names)} under ${side.label}, ${each(other.name)} gets ${mega(beside)} instead of ` +
        `${mega(before)} without them: a harm of ${percent(value)} (Ware et al. 2019; seed ${run.facts.seed}).`;
      worst = { text: value < LEAST_HARM ? nobody : text, value };
    }
  }
  return worst?.text ?? NOBODY_ELSE;
}

/** P1 for the step from one controller to the other, and what each class gains. */
async function compared(engine: Engine, first: Side, second: Side): Promise<string> {
  const { several, single } = kinds(first.plan);
  const step = `From ${first.label} to ${second.label}`;
  const differences = [...single, ...several].map((cls) => {
    const [before, after] = [rateOf(first, cls.name).mean, rateOf(second, cls.name).mean];
    if (change(after, before) === percent(0)) return `${each(cls.name)} keeps its rate`;
    const verb = after < before ? "loses" : "gains";
    return `${each(cls.name)} ${verb} ${mega(Math.abs(after - before), 2)} (${change(after, before)})`;
  });
  const said = `${step}, ${listed(differences)}`;
  if (several.length === 0 || single.length === 0) return `${said}.`;
  const found = await p1(engine, first, second, several, single);
  if (found) return `${said}: problem P1, as ${users(found)} lose and those who changed do not gain.`;
  const back = await p1(engine, second, first, several, single);
  const problem = back ? `the step back would be problem P1` : "neither step is problem P1";
  return `${said}; ${problem}${await both(engine, first, second)}.`;
}

/** Whom P2 harms on either side; empty where the optimum is not known. */
async function both(engine: Engine, first: Side, second: Side): Promise<string> {
  const [before, after] = [pairsOf(first), pairsOf(second)];
  if (before.length === 0 || after.length === 0) return "";
  const [one, two] = [await harmed(engine, before), await harmed(engine, after)];
  if (one && two) return `, and problem P2 harms ${users(one.other)} under both`;
  if (!one && !two) return ", and problem P2 harms nobody under either";
  const [here, there] = one ? [first.label, second.label] : [second.label, first.label];
  return `, and problem P2 harms ${users((one ?? two)?.other ?? "")} under ${here}, not under ${there}`;
}

async function p1(
  engine: Engine,
  from: Side,
  to: Side,
  several: Class[],
  single: Class[],
): Promise<string | undefined> {
  for (const other of single) {
    const others = [rateOf(from, other.name).mean, rateOf(to, other.name).mean] as const;
    for (const upgraded of several) {
      const own = [rateOf(from, upgraded.name).mean, rateOf(to, upgraded.name).mean] as const;
      if (await engine.fairness({ p1: [...others, ...own] })) return other.name;
    }
  }
  return undefined;
}

/** "each single-path user"; a class that is called user has no other word. */
function each(cls: string): string {
  return cls === "user" ? "each user" : `each ${cls} user`;
}

function users(...classes: string[]): string {
  return classes.length === 1 && classes[0] === "user" ? "the users" : `${listed(classes)} users`;
}

function listed(parts: string[]): string {
  const last = parts.at(-1) ?? "";
  return parts.length < 2 ? last : `${parts.slice(0, -1).join(", ")} and ${last}`;
}
