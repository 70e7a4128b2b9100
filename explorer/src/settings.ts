// Which precomputed settings are what the page shows: those whose plans are equal, however they are written.

import type { Ask, Data, Engine, Plan } from "./engine.ts";

interface Setting {
  controller: string;
  overrides: string[];
}

/** A plan as text, and without its controllers, on which no optimum depends. */
interface Texts {
  whole: string;
  bare: string;
}

export class Settings {
  private readonly plans = new Map<string, Promise<Texts | undefined>>();

  constructor(
    private readonly engine: Engine,
    private readonly data: Data,
  ) {}

  /** Those of `settings`, all of the scenario of `ask`, whose plan is `plan`; `bare`: but for controllers. */
  async equal<S extends Setting>(
    ask: Ask,
    plan: Plan,
    settings: S[],
    signal: AbortSignal,
    form: keyof Texts = "whole",
  ): Promise<S[]> {
    const shipped = this.data.scenarios.some((one) => one.name === ask.name && one.text === ask.text);
    if (!shipped) return [];
    const wanted = textsOf(plan)[form];
    const found: S[] = [];
    for (const setting of settings) {
      if (signal.aborted) return [];
      if ((await this.texts(ask, setting))?.[form] === wanted) found.push(setting);
    }
    return found;
  }

  /** The plan of a setting; undefined if the engine refuses it. */
  private texts(ask: Ask, { controller, overrides }: Setting): Promise<Texts | undefined> {
    const key = JSON.stringify([ask.name, controller, overrides]);
    const made =
      this.plans.get(key) ??
      this.engine.plan({ ...ask, controller: controller || null, overrides }).then(textsOf, () => undefined);
    this.plans.set(key, made);
    return made;
  }
}

function textsOf(plan: Plan): Texts {
  const classes = plan.classes.map((cls) => ({ ...cls, controller: null, law: null }));
  return { whole: JSON.stringify(plan), bare: JSON.stringify({ ...plan, classes }) };
}
