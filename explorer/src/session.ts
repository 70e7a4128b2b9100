// From a state to results: plans, runs, theory, and replications one after another, until something changes.

import { EngineError } from "./engine.ts";
import { interval, mean } from "./statistics.ts";
import { labelOf } from "./users.ts";
import { Settings } from "./settings.ts";
import { overridesOf } from "./state.ts";
import { visible } from "./visible.ts";
import type { Ask, Data, Engine, Plan, Published, Run, Theory } from "./engine.ts";
import type { Controller, State } from "./state.ts";
import type { Interval } from "./statistics.ts";

/** Results of a path of a class in one run: means over users. */
export interface PathRecord {
  seed: number;
  cls: string;
  path: number;
  throughput_bps: number;
  goodput_bps: number;
  loss: number;
  cwnd_segments: number;
  srtt_s: number;
}

/** What one run leaves behind when its series are dropped. */
export interface Summary {
  seed: number;
  digest: string;
  /** Mean throughput over the users of each class. */
  rates: Record<string, number>;
  paths: PathRecord[];
}

/** One of the controllers that are shown, with what it brought. */
export interface Side {
  ask: Ask;
  /** Name of the controller, as results call it. */
  label: string;
  plan: Plan;
  /** The run of the first seed, with series. */
  run: Run;
  /** By replication: seeds count up from the first. */
  summaries: Summary[];
  theory: Theory | undefined;
  published: Published[];
}

export interface Listener {
  /** Computing begins, or ends. */
  busy(whether: boolean): void;
  /** New runs; `base` is the plan of the scenario without changes. */
  shown(sides: Side[], base: Plan): void;
  /** Theory or replications came in. */
  refined(sides: Side[]): void;
  /** The engine refused; `side` is the number of the controller, if it is one's fault. */
  failed(error: unknown, side: number | undefined): void;
}

export class Session {
  sides: Side[] = [];
  base: Plan | undefined;
  /** The state that gave `sides`: that of the page may have moved on. */
  state: State | undefined;
  private basic: { name: string; text: string; plan: Plan } | undefined;
  private current = new AbortController();
  private readonly settings: Settings;

  constructor(
    private readonly engine: Engine,
    private readonly data: Data,
    private readonly listener: Listener,
  ) {
    this.settings = new Settings(engine, data);
  }

  /** The text of the scenario of a state. Throws EngineError for an unknown name. */
  text(state: State): string {
    if (state.text !== null) return state.text;
    const found = this.data.scenarios.find((one) => one.name === state.scenario);
    if (!found)
      throw new EngineError(`no shipped scenario is called \`${state.scenario}\`: choose one of the list`);
    return found.text;
  }

  ask(state: State, controller: Controller): Ask {
    return { name: state.scenario, text: this.text(state), controller, overrides: overridesOf(state) };
  }

  /** Cancels what is being computed, and computes what `state` says now. */
  async show(state: State): Promise<void> {
    this.cancel();
    const { signal } = this.current;
    this.listener.busy(true);
    try {
      await this.compute(structuredClone(state), signal);
    } catch (error) {
      if (!signal.aborted) this.listener.failed(error, undefined);
    }
    if (!signal.aborted) this.listener.busy(false);
  }

  cancel(): void {
    this.current.abort();
    this.current = new AbortController();
  }

  private async compute(state: State, signal: AbortSignal): Promise<void> {
    const base = await this.basis(state, signal);
    if (signal.aborted) return;
    const controllers = state.b === undefined ? [state.a] : [state.a, state.b];
    const made: Side[] = [];
    const plans = await Promise.all(
      controllers.map(async (controller, side) => {
        try {
          return await this.engine.plan(this.ask(state, controller));
        } catch (error) {
          const fault = controller !== null && (await this.planned(this.ask(state, null)));
          if (!signal.aborted) this.listener.failed(error, fault ? side : undefined);
          return undefined;
        }
      }),
    );
    if (signal.aborted || plans.includes(undefined)) return;
    const asks = controllers.map((controller) => this.ask(state, controller));
    const runs = await Promise.all(asks.map((ask) => this.engine.run(ask, state.seed, signal)));
    if (signal.aborted) return;
    runs.forEach((run, side) => {
      const [ask, plan] = [asks[side] as Ask, plans[side] as Plan];
      const summaries = [summary(run, plan)];
      made.push({ ask, label: labelOf(plan), plan, run, summaries, theory: undefined, published: [] });
    });
    this.base = base;
    this.sides = made;
    this.state = state;
    this.listener.shown(made, base);
    await Promise.all([this.theories(made, signal), this.replicate(state, made, signal)]);
  }

  /** The plan of the scenario as it is written: the middle of the sliders. */
  private async basis(state: State, signal: AbortSignal): Promise<Plan> {
    const [name, text] = [state.scenario, this.text(state)];
    if (this.basic?.name === name && this.basic.text === text) return this.basic.plan;
    const plan = await this.engine.plan({ name, text, controller: null, overrides: [] });
    if (!signal.aborted) this.basic = { name, text, plan };
    return plan;
  }

  /** Whether the engine takes a setting. */
  private planned(ask: Ask): Promise<boolean> {
    return this.engine.plan(ask).then(
      () => true,
      () => false,
    );
  }

  /** Theory, the engine's own or else that which came with the page; then published values, which nobody waits for. */
  private async theories(sides: Side[], signal: AbortSignal): Promise<void> {
    for (const side of sides) {
      const found =
        (await this.engine.theory(side.ask, signal)) ?? (await this.precomputed(side.ask, side.plan, signal));
      side.theory = found ?? UNKNOWN;
    }
    if (signal.aborted) return;
    this.listener.refined(sides);
    for (const side of sides) {
      const here = this.data.published.filter((one) => one.scenario === side.ask.name);
      side.published = await this.settings.equal(side.ask, side.plan, here, signal);
    }
    if (!signal.aborted && sides.some((side) => side.published.length > 0)) this.listener.refined(sides);
  }

  private async precomputed(ask: Ask, plan: Plan, signal: AbortSignal): Promise<Theory | undefined> {
    const settings = Object.entries(this.data.theory).flatMap(([key, theory]) => {
      const [name, controller, overrides] = JSON.parse(key) as [string, string, string[]];
      return name === ask.name ? [{ controller, overrides, theory }] : [];
    });
    const same = (await this.settings.equal(ask, plan, settings, signal))[0]?.theory;
    if (same) return same;
    const places = new Map(settings.map((one) => [JSON.stringify(one.overrides), one]));
    const near = (await this.settings.equal(ask, plan, [...places.values()], signal, "bare"))[0]?.theory;
    return near?.optimum ? { ...near, equilibrium: null, why: NO_EQUILIBRIUM } : near;
  }

  /** Runs further seeds, as many at the same time as the engine can, side by side. */
  private async replicate(state: State, sides: Side[], signal: AbortSignal): Promise<void> {
    const jobs: { side: Side; seed: number }[] = [];
    for (let k = 1; k < state.replications; k++) {
      for (const side of sides) jobs.push({ side, seed: state.seed + k });
    }
    const come = new Map(sides.map((side) => [side, new Map<number, Summary>()]));
    const work = async (): Promise<void> => {
      for (let job = jobs.shift(); job && !signal.aborted; job = jobs.shift()) {
        await visible(signal);
        const run = await this.engine.run(job.side.ask, job.seed, signal, false);
        if (signal.aborted) return;
        come.get(job.side)?.set(job.seed, summary(run, job.side.plan));
        if (append(job.side, come.get(job.side) ?? new Map())) this.listener.refined(sides);
      }
    };
    await Promise.all(Array.from({ length: this.engine.width }, work));
  }
}

const UNKNOWN: Theory = {
  equilibrium: null,
  optimum: null,
  why: "This page holds theory for the scenarios as they are shipped; `anabranch explore` computes it for any.",
};

const NO_EQUILIBRIUM =
  "This page has no equilibrium under this controller; `anabranch explore` computes it for any law.";

/** Appends summaries whose seed is the next one: results of equal numbers of seeds can be paired. */
function append(side: Side, come: Map<number, Summary>): boolean {
  const before = side.summaries.length;
  const first = side.summaries[0]?.seed ?? 0;
  for (let next = come.get(first + before); next; next = come.get(first + side.summaries.length)) {
    side.summaries.push(next);
  }
  return side.summaries.length > before;
}

/** The rates of a class, one for each replication. */
export function rates(side: Side, cls: string): number[] {
  return side.summaries.map((one) => one.rates[cls] ?? NaN);
}

export function rateOf(side: Side, cls: string): Interval {
  return interval(rates(side, cls));
}

function summary(run: Run, plan: Plan): Summary {
  const classes = plan.classes.map((cls) => cls.name);
  const rates = Object.fromEntries(classes.map((cls) => [cls, mean(run.users(cls, "throughput_bps"))]));
  return {
    seed: run.facts.seed,
    digest: run.facts.digest,
    rates,
    paths: classes.flatMap((cls) => records(run, cls)),
  };
}

function records(run: Run, cls: string): PathRecord[] {
  const column = (metric: string): number[] => run.paths(cls, metric).map(mean);
  const [throughput, goodput, loss] = [column("throughput_bps"), column("goodput_bps"), column("loss")];
  const [cwnd, srtt] = [column("cwnd_segments"), column("srtt_s")];
  return throughput.map((throughput_bps, path) => ({
    seed: run.facts.seed,
    cls,
    path,
    throughput_bps,
    goodput_bps: goodput[path] ?? NaN,
    loss: loss[path] ?? NaN,
    cwnd_segments: cwnd[path] ?? NaN,
    srtt_s: srtt[path] ?? NaN,
  }));
}
