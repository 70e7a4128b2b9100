// Which precomputed settings are what the page shows: those whose plans are equal, however they are written.

import type { Ask, Data, Engine, Plan } from "./engine.ts";

interface Setting {
  controller: string;
  overrides: string[];
}

export class Settings {
  private readonly plans = new Map<string, Promise<string>>();

  constructor(
    private readonly engine: Engine,
    private readonly data: Data,
  ) {}

  /** Those of `settings`, all of the scenario of `ask`, whose plan is `plan`. */
  async equal<S extends Setting>(ask: Ask, plan: Plan, settings: S[], signal: AbortSignal): Promise<S[]> {
    const shipped = this.data.scenarios.some((one) => one.name === ask.name && one.text === ask.text);
    if (!shipped) return [];
    const wanted = JSON.stringify(plan);
    const found: S[] = [];
    for (const setting of settings) {
      if (signal.aborted) return [];
      if ((await this.plan(ask, setting)) === wanted) found.push(setting);
    }
    return found;
  }

  /** The plan of a setting as text; empty if the engine refuses it. */
  private plan(ask: Ask, { controller, overrides }: Setting): Promise<string> {
    const key = JSON.stringify([ask.name, controller, overrides]);
    const made =
      this.plans.get(key) ??
      this.engine.plan({ ...ask, controller: controller || null, overrides }).then(JSON.stringify, () => "");
    this.plans.set(key, made);
    return made;
  }
}
