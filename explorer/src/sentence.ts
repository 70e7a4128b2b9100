// One sentence: who is harmed and by how much, by the engine's definitions of fairness and no others.

import { change, interval as around, mega, percent, time } from "./format.ts";
import { endless, finite, present, split, throughout } from "./users.ts";
import { mean, paired } from "./statistics.ts";
import { visible } from "./visible.ts";
import type { Class, Engine, Fairness, Plan, Run, Theory } from "./engine.ts";
import type { Side } from "./session.ts";

/** Most classes of users that are compared with their rates alone: each needs a run of its own. */
const MOST_ALONE = 4;
/** A harm that prints as 0 %. */
const LEAST_HARM = 0.005;
/** Rates that differ by less are called equal. */
const EVEN = 0.05;
/** Most answers that are kept. */
const MOST_ANSWERS = 5000;

/** The sentence for one side, or for the step from the first to the second. */
export async function sentence(engine: Engine, sides: readonly Side[], signal: AbortSignal): Promise<string> {
  const [first, second] = sides;
  if (!first) return "";
  return second ? compared(engine, first, second) : alone(engine, first, signal);
}

/** Parts of a plan that theory leaves out and that change mean rates: jitter hardly does. */
export function leftOut(theory: Theory | undefined): string[] {
  return (theory?.left_out ?? []).filter((part) => !part.includes("jitter"));
}

/** Users that P1 and P2 are about: several paths, and one. */
function kinds(plan: Plan): { several: Class[]; single: Class[] } {
  const { several, others } = split(present(plan).filter(endless));
  return { several, single: others };
}

/** P2 against the optimum; harm where it cannot be judged. */
async function alone(engine: Engine, side: Side, signal: AbortSignal): Promise<string> {
  const [only, ...more] = present(side.plan);
  if (only && more.length === 0) {
    if (only.count === 1) return "There is one user: nobody else can be harmed.";
    return `All users are of one class, ${only.count} of ${only.name}: there is nobody else to be harmed.`;
  }
  const seeds = side.summaries.map((one) => one.seed);
  const pairs = pairsOf(side, seeds);
  const [worst] = pairs;
  if (!worst) return harm(engine, side, signal);
  const under = `Under ${side.label}${seedOf(seeds)}`;
  const { pair, held } = await p2(engine, pairs);
  if (pair) {
    const [taken, left] = [mean(pair.taken), mean(pair.left)];
    return (
      `${under}, ${users(pair.other)} are harmed: each gets ${mega(left)}, ` +
      `${percent(1 - left / pair.fairLeft)} less than the proportionally fair ${mega(pair.fairLeft)}, while ` +
      `${each(pair.taker)} takes ${mega(taken)} (${change(taken, pair.fairTaken)}): problem P2` +
      `${within(held, seeds, ", in")}.`
    );
  }
  const [taken, left] = [mean(worst.taken), mean(worst.left)];
  const but = held > 0 ? ` (but it holds in ${held} of ${seeds.length} seeds)` : "";
  return (
    `${under}, nobody is harmed by the definition of problem P2${but}: ${each(worst.other)} gets ` +
    `${mega(left)} (${change(left, worst.fairLeft)} against the proportionally fair rate), ` +
    `${each(worst.taker)} ${mega(taken)} (${change(taken, worst.fairTaken)}).`
  );
}

/** A class of several paths and one of one path, with a rate for each seed. */
interface Pair {
  taker: string;
  other: string;
  taken: number[];
  left: number[];
  fairTaken: number;
  fairLeft: number;
}

/** All pairs, if the optimum describes the scenario; who is furthest below it comes first. */
function pairsOf(side: Side, seeds: readonly number[]): Pair[] {
  const fair = fairRates(side);
  const { several, single } = kinds(side.plan);
  const loss = (pair: Pair): number => mean(pair.left) / pair.fairLeft;
  return several
    .flatMap((taker) => single.map((other) => [taker.name, other.name] as const))
    .flatMap(([taker, other]): Pair[] => {
      const [fairTaken, fairLeft] = [fair?.[taker], fair?.[other]];
      if (!fairTaken || !fairLeft) return [];
      const [taken, left] = [ratesIn(side, taker, seeds), ratesIn(side, other, seeds)];
      return [{ taker, other, taken, left, fairTaken, fairLeft }];
    })
    .sort((a, b) => loss(a) - loss(b));
}

/** The optimum, where it describes the scenario: all users are always there, always have data, and nothing is left out. */
function fairRates(side: Side): Record<string, number> | undefined {
  const classes = present(side.plan);
  const known = classes.every((cls) => endless(cls) && throughout(side.plan, cls));
  return known && leftOut(side.theory).length === 0 ? (side.theory?.optimum ?? undefined) : undefined;
}

/** Why P2 is not judged, in words that follow "as". */
function whyNot(side: Side): string {
  const { several, others } = split(present(side.plan));
  const [part, ...more] = leftOut(side.theory);
  if (several.length === 0) return "problem P2 is about users of several paths";
  if (others.length === 0) return "problem P2 is about users of one path";
  if (part) return `theory leaves out ${part.replace(/( \(|:).*/, "")}${more.length > 0 ? " and more" : ""}`;
  if (!present(side.plan).every((cls) => throughout(side.plan, cls))) return "users come or go";
  if (!present(side.plan).every(endless)) return "not all users always have data";
  return "no optimum is known";
}

/** The first pair that is problem P2 by its mean rates, and in how many seeds it is; without one, in how many any is. */
async function p2(engine: Engine, pairs: Pair[]): Promise<{ pair: Pair | undefined; held: number }> {
  const holds = (pair: Pair, taken = NaN, left = NaN): Promise<boolean> =>
    asks(engine, { p2: [taken, left, pair.fairTaken, pair.fairLeft] });
  const means = await Promise.all(pairs.map((pair) => holds(pair, mean(pair.taken), mean(pair.left))));
  const pair = pairs[means.indexOf(true)];
  const judged = pair ? [pair] : pairs;
  const held = await seedsIn(judged[0]?.taken.length ?? 0, (k) =>
    judged.map((one) => holds(one, one.taken[k], one.left[k])),
  );
  return { pair, held };
}

/** What a class has without some other classes, and beside them; more is better. */
interface Harm {
  takers: string[];
  other: Class;
  before: number;
  beside: number;
  value: number;
}

/** Harm as Ware et al. define it: what others have beside these users and without them, on the first seed. */
async function harm(engine: Engine, side: Side, signal: AbortSignal): Promise<string> {
  const { several, others: rest } = split(present(side.plan));
  const others = rest.length > 0 ? rest : several;
  const groups = several.length > 0 && rest.length > 0 ? [several] : others.map((cls) => [cls]);
  if (groups.length > MOST_ALONE) {
    return `Who is harmed is not decided here: ${whyNot(side)}, and there are many classes to be compared.`;
  }
  const found: Harm[] = [];
  for (const group of groups) {
    const takers = group.map((cls) => cls.name);
    const run = await runWithout(engine, side, takers, signal);
    for (const other of others.filter((cls) => !takers.includes(cls.name))) {
      const [before, beside] = [outcome(run, other), outcome(side.run, other)];
      if (!(before > 0) || !(beside >= 0)) continue;
      const value = Number(await engine.fairness({ harm: [before, beside] }));
      found.push({ takers, other, before, beside, value });
    }
  }
  const [worst] = found.sort((a, b) => b.value - a.value);
  return worst ? harmWords(side, worst) : "Who is harmed is not decided here: there is nothing to compare.";
}

const withouts = new WeakMap<Run, Map<string, Promise<Run>>>();

/** The run of the first seed without some classes; made once, and not while the page is hidden. */
function runWithout(engine: Engine, side: Side, classes: string[], signal: AbortSignal): Promise<Run> {
  const made = withouts.get(side.run) ?? new Map<string, Promise<Run>>();
  withouts.set(side.run, made);
  const overrides = [...side.ask.overrides, ...classes.map((name) => `flow.${name}.count=0`)];
  const key = JSON.stringify(overrides);
  const found =
    made.get(key) ??
    visible(signal).then(() => engine.run({ ...side.ask, overrides }, side.run.facts.seed, signal, false));
  made.set(key, found);
  found.catch(() => made.delete(key));
  return found;
}

/** Mean rate of a user, or transfers per second where transfers end: their rate is that of the whole run. */
function outcome(run: Run, cls: Class): number {
  return finite(cls) ? 1 / mean(run.users(cls.name, "fct_s")) : mean(run.users(cls.name, "throughput_bps"));
}

function harmWords(side: Side, { takers, other, before, beside, value }: Harm): string {
  const seed = side.run.facts.seed;
  const source = `(Ware et al. 2019, as ${whyNot(side)}; seed ${seed})`;
  const [now, then] = finite(other)
    ? [`needs ${seconds(1 / beside)} for its transfer`, seconds(1 / before)]
    : [`gets ${mega(beside)}`, mega(before)];
  if (Math.abs(value) < LEAST_HARM) {
    return `Under ${side.label}, nobody is harmed ${source}: ${each(other.name)} ${now}, as without ${users(...takers)}.`;
  }
  const said =
    `Beside ${users(...takers)} under ${side.label}, ${each(other.name)} ${now} instead of ${then} ` +
    `without them: a ${value < 0 ? "gain" : "harm"} of ${percent(Math.abs(value))} ${source}`;
  return `${said}${finite(other) ? "" : fairWords(side, takers, other.name, beside)}.`;
}

/** A time in prose: the space does not break. */
function seconds(value_s: number): string {
  return time(value_s).replace(" ", "\u00a0");
}

/** Beside a harm: what a fair share is, or else what the others get. */
function fairWords(side: Side, takers: string[], other: string, beside: number): string {
  const fair = fairRates(side)?.[other];
  if (fair) {
    const share =
      Math.abs(beside / fair - 1) < EVEN
        ? "which it has"
        : `and it has ${percent(Math.abs(beside / fair - 1))} ${beside < fair ? "less" : "more"}`;
    return `; the proportionally fair rate is ${mega(fair)}, ${share}`;
  }
  const rates = takers.map((name) => mean(side.run.users(name, "throughput_bps")));
  if (rates.every((rate) => Math.abs(beside / rate - 1) < EVEN)) {
    return `; ${listed(takers.map(each))} gets as much`;
  }
  return `, while ${listed(takers.map((name, n) => `${each(name)} gets ${mega(rates[n] ?? NaN)}`))}`;
}

/** P1 for the step from one controller to the other, and what each class gains, on the seeds that both have. */
async function compared(engine: Engine, first: Side, second: Side): Promise<string> {
  const theirs = second.summaries.map((one) => one.seed);
  const seeds = first.summaries.map((one) => one.seed).filter((seed) => theirs.includes(seed));
  const { several, single } = kinds(first.plan);
  const listing = split(present(first.plan));
  const differences = [...listing.others, ...listing.several].map((cls) =>
    difference(first, second, cls.name, seeds),
  );
  const said = `From ${first.label} to ${second.label}${seedOf(seeds)}, ${listed(differences)}`;
  if (several.length === 0 || single.length === 0) return `${said}.`;
  const step = await p1(engine, first, second, seeds);
  if (step.harmed) {
    const held = within(step.held, seeds, " in");
    return `${said}: problem P1${held}, as ${users(step.harmed)} lose and those who changed do not gain.`;
  }
  const back = await p1(engine, second, first, seeds);
  const some = step.held + back.held; // others cannot lose in both
  const problem = back.harmed
    ? `the step back would be problem P1${within(back.held, seeds, " in")}`
    : `neither step is problem P1${some > 0 ? ` (in ${some} of ${seeds.length} seeds one is)` : ""}`;
  return `${said}; ${problem}${await both(engine, first, second, seeds)}.`;
}

/** What a class gains by paired differences; undecided if their interval contains 0. */
function difference(first: Side, second: Side, cls: string, seeds: readonly number[]): string {
  const [before, after] = [ratesIn(first, cls, seeds), ratesIn(second, cls, seeds)];
  const { mean: gained, half } = paired(after, before);
  const share = change(mean(after), mean(before));
  if (gained === 0 || (seeds.length < 2 && share === percent(0))) return `${each(cls)} keeps its rate`;
  if (seeds.length > 1 && Math.abs(gained) <= half) {
    const by = around(gained, half, 1e-6).replace("-", "−");
    return `for ${each(cls)} the difference is undecided (${by}\u00a0Mb/s)`;
  }
  const size = Math.abs(gained);
  const by = seeds.length > 1 ? `${around(size, half, 1e-6)}\u00a0Mb/s` : mega(size, 2);
  return `${each(cls)} ${gained < 0 ? "loses" : "gains"} ${by} (${share})`;
}

/** Whom P2 harms on either side; empty where the optimum is not known. */
async function both(engine: Engine, first: Side, second: Side, seeds: readonly number[]): Promise<string> {
  const [before, after] = [pairsOf(first, seeds), pairsOf(second, seeds)];
  if (before.length === 0 || after.length === 0) return "";
  const [one, two] = [await p2(engine, before), await p2(engine, after)];
  const shared = [one, two].every(({ pair, held }) => held === (pair ? seeds.length : 0));
  const held = shared || seeds.length < 2 ? "" : ` (in ${one.held} and ${two.held} of ${seeds.length} seeds)`;
  const harmed = [...new Set([one, two].flatMap(({ pair }) => pair?.other ?? []))];
  if (one.pair && two.pair) return `, and problem P2 harms ${users(...harmed)} under both${held}`;
  if (!one.pair && !two.pair) return `, and problem P2 harms nobody under either${held}`;
  const [here, there] = one.pair ? [first.label, second.label] : [second.label, first.label];
  const counts = one.pair ? [one.held, two.held] : [two.held, one.held];
  const order = held && ` (in ${counts[0]} and ${counts[1]} of ${seeds.length} seeds)`;
  return `, and problem P2 harms ${users(...harmed)} under ${here}, not under ${there}${order}`;
}

/** Whom a step harms by mean rates, and in how many seeds; without one, in how many it harms anybody. */
async function p1(
  engine: Engine,
  from: Side,
  to: Side,
  seeds: readonly number[],
): Promise<{ harmed: string | undefined; held: number }> {
  const { several, single } = kinds(from.plan);
  const pairs = single.flatMap((other) =>
    several.map((upgraded) => {
      const rates = [other, upgraded].flatMap((cls) =>
        [from, to].map((side) => ratesIn(side, cls.name, seeds)),
      );
      return { other: other.name, rates };
    }),
  );
  const holds = (of: (rates: number[]) => number, rates: number[][]): Promise<boolean> => {
    const [before = NaN, after = NaN, own = NaN, then = NaN] = rates.map(of);
    return asks(engine, { p1: [before, after, own, then] });
  };
  const means = await Promise.all(pairs.map(({ rates }) => holds(mean, rates)));
  const found = pairs[means.indexOf(true)];
  const judged = found ? [found] : pairs;
  const held = await seedsIn(seeds.length, (k) =>
    judged.map(({ rates }) => holds((one) => one[k] ?? NaN, rates)),
  );
  return { harmed: found?.other, held };
}

/** In how many of `n` seeds one of the questions is answered with yes; a single seed is what the means say. */
async function seedsIn(n: number, questions: (k: number) => Promise<boolean>[]): Promise<number> {
  const all = await Promise.all(Array.from({ length: n }, (_, k) => Promise.all(questions(k))));
  return all.filter((held) => held.includes(true)).length;
}

const answers = new WeakMap<Engine, Map<string, Promise<boolean>>>();

/** The engine's verdict; each question is asked once, however many replications follow. */
function asks(engine: Engine, question: Fairness): Promise<boolean> {
  const known = answers.get(engine) ?? new Map<string, Promise<boolean>>();
  answers.set(engine, known);
  if (known.size > MOST_ANSWERS) known.clear();
  const key = JSON.stringify(question);
  const found = known.get(key) ?? engine.fairness(question).then(Boolean);
  known.set(key, found);
  found.catch(() => known.delete(key));
  return found;
}

/** The mean rate of a class in each of some seeds. */
function ratesIn(side: Side, cls: string, seeds: readonly number[]): number[] {
  return side.summaries.filter((one) => seeds.includes(one.seed)).map((one) => one.rates[cls] ?? NaN);
}

/** One seed is named: it says nothing of others. */
function seedOf(seeds: readonly number[]): string {
  return seeds.length === 1 ? ` (seed ${seeds[0]})` : ` (${seeds.length} seeds)`;
}

/** In how many seeds a verdict holds, if not in all. */
function within(held: number, seeds: readonly number[], word: string): string {
  return held === seeds.length ? "" : `${word} ${held} of ${seeds.length} seeds`;
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
