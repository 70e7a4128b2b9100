// Throughput of each class as a bar with its interval, beside theory, the optimum and the publication.

import { barChart } from "./chart.ts";
import { element } from "./dom.ts";
import { change, interval as shown, significant } from "./format.ts";
import { paired } from "./statistics.ts";
import { endless, present } from "./users.ts";
import { rateOf, rates } from "./session.ts";
import type { Bar } from "./chart.ts";
import type { Plan, Theory } from "./engine.ts";
import type { Side } from "./session.ts";

const MEGA = 1e-6;

export class Results {
  private readonly chart = element("div");
  private readonly note = element("p", { class: "note" });
  private readonly table = element("div", { class: "wide" });
  private sides: readonly Side[] = [];
  private base: Plan | undefined;
  private width = 0;
  /** End of the axis; it grows at once and shrinks only for another scenario, so that bars can be compared. */
  private most = 0;
  private scenario = "";

  constructor(
    private readonly host: HTMLElement,
    private readonly colour: (cls: string) => string,
  ) {
    const numbers = element("details", {}, element("summary", {}, "As a table"), this.table);
    host.append(this.chart, this.note, numbers);
    new ResizeObserver(() => {
      if (Math.abs(host.clientWidth - this.width) > 1) this.show(this.sides, this.base);
    }).observe(host);
  }

  /** `base` is the plan of the scenario without changes: it has the classes whose users were taken away. */
  show(sides: readonly Side[], base: Plan | undefined): void {
    this.sides = sides;
    this.base = base;
    const [first] = sides;
    if (!first) return;
    this.width = this.host.clientWidth || 800;
    const bars = classesOf(sides).flatMap((cls) =>
      sides.map((side) => this.bar(side, cls, sides.length > 1)),
    );
    const numbers = bars.flatMap((bar) => [
      bar.value,
      bar.value + (bar.half ?? 0),
      bar.equilibrium ?? 0,
      bar.optimum ?? 0,
      bar.published ?? 0,
      ...Array.from(bar.users ?? []),
    ]);
    if (first.plan.name !== this.scenario) this.most = 0;
    this.scenario = first.plan.name;
    this.most = Math.max(this.most, ...numbers.filter(Number.isFinite));
    const title = "Throughput of a user of each class";
    this.chart.replaceChildren(barChart({ title, unit: "bit/s", bars, width: this.width, most: this.most }));
    const empty = emptyOf(sides, base);
    const notes = [
      seedsOf(first),
      "Ticks: each user, in the first seed.",
      empty.length > 0 ? `No users: ${empty.join(", ")}.` : "",
      ...sides.map((side) => side.theory?.why ?? ""),
      ...sides.map((side) => leavesOut(side.theory)),
    ];
    this.note.textContent = [...new Set(notes)].filter(Boolean).join(" ");
    this.table.replaceChildren(tableOf(sides, empty));
  }

  pictures(): SVGSVGElement[] {
    return [...this.chart.querySelectorAll("svg")];
  }

  private bar(side: Side, cls: string, several: boolean): Bar {
    const { mean, half } = rateOf(side, cls);
    const published = side.published.find((one) => one.users === cls);
    const bar: Bar = { name: cls, colour: this.colour(cls), value: mean };
    if (Number.isFinite(half)) bar.half = half;
    bar.users = side.run.users(cls, "throughput_bps");
    if (several) bar.variant = side.label;
    const { equilibrium, optimum } = theoryOf(side, cls);
    if (equilibrium !== undefined) bar.equilibrium = equilibrium;
    if (optimum !== undefined) bar.optimum = optimum;
    if (published)
      Object.assign(bar, {
        published: published.bps,
        note: `${published.source} (claim ${published.claim})`,
      });
    return bar;
  }
}

/** Classes with users on any side, in the order of the plan. */
function classesOf(sides: readonly Side[]): string[] {
  return [...new Set(sides.flatMap((side) => present(side.plan).map((cls) => cls.name)))];
}

/** Classes of the scenario that have no users now. */
export function emptyOf(sides: readonly Side[], base: Plan | undefined): string[] {
  const there = classesOf(sides);
  return (base?.classes ?? []).map((cls) => cls.name).filter((cls) => !there.includes(cls));
}

/** Rates of theory for a class that it knows: users who always have data. */
export function theoryOf(side: Side, name: string): { equilibrium?: number; optimum?: number } {
  const cls = side.plan.classes.find((one) => one.name === name);
  if (!cls || !endless(cls)) return {};
  const found = { equilibrium: side.theory?.equilibrium?.[name], optimum: side.theory?.optimum?.[name] };
  return Object.fromEntries(Object.entries(found).filter(([, bps]) => bps !== undefined));
}

/** What theory leaves out, as a sentence; empty if that is nothing, or if there is no theory. */
export function leavesOut(theory: Theory | undefined): string {
  const parts = theory?.left_out ?? [];
  if (parts.length === 0 || (!theory?.optimum && !theory?.equilibrium)) return "";
  return `Theory leaves out: ${parts.join("; ")}.`;
}

/** Which seeds are in, and what the interval is. */
function seedsOf(side: Side): string {
  const [first, last] = [side.summaries[0]?.seed, side.summaries.at(-1)?.seed];
  const n = side.summaries.length;
  if (n < 2) return `Seed ${first}; with more replications there are intervals.`;
  return `${n} replications, seeds ${first} to ${last}; Student intervals of 95 %.`;
}

function tableOf(sides: readonly Side[], empty: readonly string[]): HTMLTableElement {
  const [first, second] = sides;
  const head = ["class", "users", ...sides.map((side) => `${side.label}, Mb/s`)];
  if (second) head.push("difference, Mb/s", "");
  head.push(
    ...sides.flatMap((side) =>
      ["equilibrium", "optimum", "published"].map((what) => (second ? `${what}, ${side.label}` : what)),
    ),
  );
  const rows = classesOf(sides).map((cls) => {
    const cells = [cls, String(first?.plan.classes.find((one) => one.name === cls)?.count ?? 0)];
    for (const side of sides) {
      const { mean, half } = rateOf(side, cls);
      cells.push(shown(mean, half, MEGA));
    }
    if (first && second) {
      const { mean, half } = paired(rates(second, cls), rates(first, cls));
      cells.push(shown(mean, half, MEGA), change(rateOf(second, cls).mean, rateOf(first, cls).mean));
    }
    for (const side of sides) {
      const published = side.published.find((one) => one.users === cls)?.bps;
      const { equilibrium, optimum } = theoryOf(side, cls);
      for (const bps of [equilibrium, optimum, published]) {
        cells.push(bps === undefined ? "–" : significant(bps * MEGA));
      }
    }
    return cells;
  });
  const none = empty.map((cls) => [cls, "no users", ...head.slice(2).map(() => "–")]);
  return table(head, [...rows, ...none]);
}

function table(head: string[], rows: string[][]): HTMLTableElement {
  const top = element("tr", {}, ...head.map((text) => element("th", { scope: "col" }, text)));
  const body = rows.map((cells) =>
    element(
      "tr",
      {},
      ...cells.map((text, n) => (n === 0 ? element("th", { scope: "row" }, text) : element("td", {}, text))),
    ),
  );
  return element("table", {}, element("thead", {}, top), element("tbody", {}, ...body));
}
