// The map of a scenario with positions: nodes in metres, the ranges of access points, and the traffic
// between stations in the last half second. Nodes move with the simulated time.

import type { Plan } from "./draw-plan.ts";
import type { Run } from "./engine.ts";
import { Hops, placesOf, type Places, type Site, type Traffic } from "./draw-places.ts";
import { MOST_ROWS, Pairs, type Pair } from "./draw-pairs.ts";
import { ticks } from "./draw-axis.ts";
import { el, set, textWidth } from "./draw-svg.ts";
import { KEYS, Roving } from "./draw-roving.ts";
import { Tip, watch } from "./draw-tip.ts";
import { quantity, significant } from "./format.ts";

/** Traffic is summed over this time before a sample. */
const WINDOW_S = 0.5;
const WIDEST = 7;
const PAD = 14;
/** A ground that is flatter than this part of its width is stretched, so that nodes can be told apart. */
const FLATTEST = 0.22;
const HIGHEST = 560;
/** Beside a ground that leaves so much room stand legend and busiest pairs; otherwise the legend is below. */
const BESIDE = 220;
/** Words farther apart than this belong together no more. */
const WIDEST_BESIDE = 420;
/** Between samples, a node that moves by more than this part of the area has left and come in again. */
const JUMP = 0.2;
/** Groups up to this size have the names of their nodes on the map. */
const NAMED = 8;
const SIZE = 11;

interface Size {
  width: number;
  height: number;
}

interface SiteMarks {
  group: SVGGElement;
  name: SVGTextElement | undefined;
  x: number;
  y: number;
}

/** Numbers of pictures: two maps on a page need clip paths with different names. */
let pictures = 0;

export class MapView {
  private readonly clip = `ab-ground-${(pictures += 1)}`;
  private picture = el("svg", { class: "ab-map" });
  private plan: Plan | undefined;
  private run: Run | undefined;
  private places: Places | undefined;
  private hops: Hops | undefined;
  private traffic: Traffic[] = [];
  /** Duration over which traffic is summed. */
  private window_s = WINDOW_S;
  private marks: SiteMarks[] = [];
  private lines = el("g", { class: "ab-traffic", "aria-hidden": "true" });
  private pool: SVGElement[] = [];
  private range = el("ellipse", { class: "ab-range", visibility: "hidden" });
  private tip = new Tip();
  private roving = new Roving(this.picture);
  private table = new Pairs();
  private telling = -1;
  private scale: [x: number, y: number] = [1, 1];
  private height = 0;
  private width = 0;
  private t_s = 0;
  private sample = -1;

  constructor(
    private readonly host: HTMLElement,
    private readonly colours: (cls: string) => string,
  ) {
    host.append(this.picture);
    if (typeof ResizeObserver === "undefined") return;
    new ResizeObserver(() => {
      if (this.plan && Math.abs(host.clientWidth - this.width) > 1) this.show(this.plan, this.run);
    }).observe(host);
  }

  svg(): SVGSVGElement {
    return this.picture;
  }

  /** Draws the ground of a plan; with a run also its nodes and their traffic. */
  show(plan: Plan, run: Run | undefined): void {
    this.plan = plan;
    this.run = run && run.times.length > 0 ? run : undefined;
    this.width = this.host.clientWidth || 640;
    this.places = placesOf(plan, this.run);
    const window = Math.max(1, Math.round(WINDOW_S / (plan.sample_s || WINDOW_S)));
    this.window_s = window * (plan.sample_s || WINDOW_S);
    this.hops = this.run ? new Hops(this.run, this.places.stations, window) : undefined;
    this.sample = -1;
    this.telling = -1;
    this.tip.hide();
    this.draw(plan, this.places);
    this.names(this.places);
    this.seek(this.t_s);
  }

  /** Shows a time. */
  seek(t_s: number): void {
    this.t_s = t_s;
    const { run, places } = this;
    if (!run || !places) return;
    const sample = run.sample(t_s);
    const changed = sample !== this.sample;
    this.sample = sample;
    this.move(run, places, sample);
    if (changed) {
      this.traffic = this.hops?.at(sample) ?? [];
      this.rates();
    }
    this.connect(places, changed);
    if (changed) this.names(places);
    if (changed && this.telling >= 0) this.tell(this.telling);
  }

  /** From metres to pixels. */
  private at(x_m: number, y_m: number): [number, number] {
    const [west, , , north] = this.places!.area;
    return [PAD + (x_m - west) * this.scale[0], PAD + (north - y_m) * this.scale[1]];
  }

  private draw(plan: Plan, places: Places): void {
    const { wide, high, ground, stretch } = this.ground(places);
    const end = ground.width + 3 * PAD;
    const beside = this.width - end >= BESIDE;
    const width = beside
      ? Math.min(this.width, end + WIDEST_BESIDE)
      : Math.max(ground.width + 2 * PAD, Math.min(this.width, 320));
    const below = ground.height + PAD + 40;
    const legend = this.legend(plan, places, beside ? end : PAD, width, beside ? PAD + 12 : below);
    this.height = beside ? Math.max(below, PAD + 12 + legend.height) : below + legend.height;
    const top = PAD + 16 + legend.height;
    this.table.place(beside ? this.busiest() : [], end, top, width - end - 2, below - 40 + PAD - top);
    set(this.picture, {
      viewBox: `0 0 ${width.toFixed(0)} ${this.height.toFixed(0)}`,
      width,
      height: this.height,
      role: "application",
      "aria-roledescription": "map",
    });
    const size = `${significant(wide)} m by ${significant(high)} m`;
    const about = `Map of ${plan.name}, ${size}, ${places.sites.length} nodes: ${KEYS}`;
    this.picture.setAttribute("aria-label", about);
    const groups = [...new Set(places.sites.map((site) => site.group))].join(", ");
    const clip = el("clipPath", { id: this.clip }, el("rect", { x: PAD, y: PAD, ...ground }));
    const inside = el(
      "g",
      { "clip-path": `url(#${this.clip})` },
      ...this.ranges(places),
      this.range,
      this.trails(places),
    );
    const nodes = el("g", {});
    const sizes = new Map<string, number>();
    for (const site of places.sites) sizes.set(site.group, (sizes.get(site.group) ?? 0) + 1);
    const named = (site: Site): boolean =>
      sizes.get(site.group) === 1 || (sizes.get(site.group)! <= NAMED && this.width >= 640);
    this.marks = places.sites.map((site, number) => this.site(plan, site, number, named(site), nodes));
    this.pool = [];
    this.lines.replaceChildren();
    const parts = [
      el("desc", {}, `Nodes: ${groups}.`),
      clip,
      el("rect", { class: "ab-ground", x: PAD, y: PAD, rx: 3, ...ground }),
      inside,
      this.lines,
      nodes,
      this.bar(ground, wide, stretch),
      legend.group,
      this.table.group,
      this.tip.element,
    ];
    const shown = this.marks.filter((_, number) => this.run || places.sites[number]!.node < 0);
    const items = shown.map((marks) => marks.group);
    this.roving.hold(items, () => this.picture.replaceChildren(...parts));
  }

  /** Names and colours of the pairs, those with most traffic first. */
  private busiest(): Pair[] {
    return (this.hops?.pairs ?? []).map(({ from, to }) => {
      const [a, b] = [this.places!.sites[from]!, this.places!.sites[to]!];
      const colour = this.colour(a.cls >= 0 ? a : b) ?? "currentColor";
      return { from: a.name, to: b.name, colour };
    });
  }

  /** Rates of the busiest pairs at the present sample. */
  private rates(): void {
    if (!this.hops || !this.plan) return;
    const bps = (bytes: number): number => (8 * bytes) / this.window_s;
    const now = new Map(this.traffic.map((one) => [`${one.from} ${one.to}`, one.bytes]));
    const found = this.hops.pairs.slice(0, MOST_ROWS).map((one) => now.get(`${one.from} ${one.to}`) ?? 0);
    this.table.show(found.map(bps), bps(this.hops.most));
  }

  /** Sets the scale; gives the size of the ground in metres and in pixels, and its stretch to the north. */
  private ground(places: Places): { wide: number; high: number; ground: Size; stretch: number } {
    const [west, south, east, north] = places.area;
    const [wide, high] = [Math.max(1e-6, east - west), Math.max(1e-6, north - south)];
    const across = Math.min(
      (this.width - 2 * PAD) / wide,
      Math.max(HIGHEST / high, (0.5 * this.width) / wide),
    );
    const stretch = Math.max(1, (FLATTEST * wide) / high);
    this.scale = [across, across * stretch];
    return { wide, high, ground: { width: wide * across, height: high * across * stretch }, stretch };
  }

  /** A scale bar below the ground. */
  private bar(ground: Size, wide: number, stretch: number): SVGGElement {
    const length = ticks(0, wide, 5, false)[1] ?? wide;
    const [x, y] = [PAD, PAD + ground.height + 12];
    const end = x + length * this.scale[0];
    const unit = length >= 1000 ? `${significant(length / 1000)} km` : `${significant(length)} m`;
    const more =
      stretch > 1.01 ? `${unit}; ${significant(stretch, 2)} times larger from south to north` : unit;
    return el(
      "g",
      { class: "ab-scale", "aria-hidden": "true" },
      el("path", { d: `M${x} ${y - 4}v8M${x} ${y}H${end.toFixed(1)}M${end.toFixed(1)} ${y - 4}v8` }),
      el("text", { x: end + 7, y: y + 4, "font-size": SIZE }, more),
    );
  }

  private legend(
    plan: Plan,
    places: Places,
    left: number,
    width: number,
    top: number,
  ): { group: SVGGElement; height: number } {
    const group = el("g", { class: "ab-legend", "aria-hidden": "true" });
    const entries = plan.classes
      .filter((_, cls) => places.sites.some((site) => site.cls === cls))
      .map((own) => ({
        name: own.name,
        colour: this.colours(own.name) as string | undefined,
        access: false,
      }));
    const others = places.sites.some((site) => site.cls < 0 && !site.access);
    if (others) entries.push({ name: "shared, or relays", colour: undefined, access: false });
    if (places.sites.some((site) => site.access))
      entries.push({ name: "access point, base station", colour: undefined, access: true });
    let [x, y] = [left, top];
    for (const { name, colour, access } of entries) {
      const long = 16 + textWidth(name, SIZE) + 16;
      if (x > left && x + long - 16 > width) [x, y] = [left, y + 17];
      const mark = shape(access, colour);
      set(mark, { transform: `translate(${x + 5} ${y - 4})` });
      group.append(mark, el("text", { x: x + 14, y, "font-size": SIZE }, name));
      x += long;
    }
    return { group, height: entries.length > 0 ? y - top + 10 : 0 };
  }

  /** The ranges of access points and base stations that stand still. */
  private ranges(places: Places): SVGElement[] {
    const found = places.sites.filter((site) => site.access && site.range_m > 0);
    return found.map((site) => {
      const [x_m, y_m] = this.where(site, 0);
      const [cx, cy] = this.at(x_m, y_m);
      return el("ellipse", {
        class: "ab-range",
        cx,
        cy,
        rx: site.range_m * this.scale[0],
        ry: site.range_m * this.scale[1],
      });
    });
  }

  /** Position of a site in metres at a sample. */
  private where(site: Site, sample: number): [number, number] {
    if (site.node < 0 || !this.run) return site.place_m;
    const x = this.run.series("nodes", "x_m");
    const y = this.run.series("nodes", "y_m");
    return [x.values[sample * x.width + site.node] ?? 0, y.values[sample * y.width + site.node] ?? 0];
  }

  /** Where moving nodes go during the run. */
  private trails(places: Places): SVGGElement {
    const group = el("g", { class: "ab-trails", "aria-hidden": "true" });
    const x = this.run?.series("nodes", "x_m");
    const y = this.run?.series("nodes", "y_m");
    if (!x || !y) return group;
    const [west, south, east, north] = places.area;
    for (const site of places.sites.filter((one) => one.node >= 0)) {
      let d = "";
      let before: [number, number] | undefined;
      for (let k = 0; k < x.rows; k += Math.max(1, Math.floor(x.rows / 200))) {
        const now: [number, number] = [
          x.values[k * x.width + site.node]!,
          y.values[k * y.width + site.node]!,
        ];
        if (before && now[0] === before[0] && now[1] === before[1]) continue;
        const jump =
          before &&
          (Math.abs(now[0] - before[0]) > JUMP * (east - west) ||
            Math.abs(now[1] - before[1]) > JUMP * (north - south));
        const [px, py] = this.at(...now);
        d += `${before && !jump ? "L" : "M"}${px.toFixed(1)} ${py.toFixed(1)}`;
        before = now;
      }
      if (d.includes("L")) group.append(el("path", { d, stroke: this.colour(site) ?? "currentColor" }));
    }
    return group;
  }

  private colour(site: Site): string | undefined {
    const own = this.plan?.classes[site.cls];
    return own && this.colours(own.name);
  }

  private site(plan: Plan, site: Site, number: number, named: boolean, into: SVGGElement): SiteMarks {
    const group = el("g", { class: "ab-site", role: "img" }, shape(site.access, this.colour(site)));
    group.setAttribute("aria-label", this.words(plan, site, []).join(", "));
    const name = named ? el("text", { y: -6, "font-size": SIZE }, site.name) : undefined;
    if (name) group.append(name);
    into.append(group);
    const marks: SiteMarks = { group, name, x: 0, y: 0 };
    watch(
      group,
      this.picture,
      () => [marks.x, marks.y],
      () => this.tell(number),
      () => {
        this.telling = -1;
        this.tip.hide();
        set(this.range, { visibility: "hidden" });
      },
    );
    [marks.x, marks.y] = this.at(...this.where(site, 0));
    set(group, {
      transform: `translate(${marks.x.toFixed(1)} ${marks.y.toFixed(1)})`,
      visibility: this.run || site.node < 0 ? "visible" : "hidden",
    });
    return marks;
  }

  private words(plan: Plan, site: Site, traffic: Traffic[]): string[] {
    const number = this.places!.sites.indexOf(site);
    const own = plan.classes[site.cls];
    const words = [
      site.name,
      own ? `class ${own.name}` : site.access ? "access point or base station" : "no class of its own",
    ];
    const media = [...new Set(site.media.map((name) => name.split("/")[0]!))].map((name) => {
      const channels = site.media.filter((one) => one.split("/")[0] === name).length;
      return channels > 1 ? `${name} (${channels} channels)` : name;
    });
    words.push(`on ${media.join(", ") || "no medium"}`);
    if (site.range_m > 0) words.push(`sensed within ${significant(site.range_m)} m`);
    const sum = (of: Traffic[]): string =>
      quantity(
        of.reduce((all, one) => all + one.bytes, 0),
        "bytes",
      );
    if (this.hops && this.sample >= 0) {
      const sent = traffic.filter((one) => one.from === number);
      const got = traffic.filter((one) => one.to === number);
      words.push(`in ${WINDOW_S} s: sent ${sum(sent)}, received ${sum(got)}`);
    }
    return words;
  }

  private tell(number: number): void {
    const site = this.places?.sites[number];
    const marks = this.marks[number];
    if (!site || !marks || !this.plan) return;
    this.telling = number;
    const words = this.words(this.plan, site, this.traffic);
    marks.group.setAttribute("aria-label", words.join(", "));
    this.tip.show(words, marks.x, marks.y, this.picture.viewBox.baseVal.width, this.height);
    if (site.range_m === 0) return;
    set(this.range, {
      cx: marks.x,
      cy: marks.y,
      rx: site.range_m * this.scale[0],
      ry: site.range_m * this.scale[1],
      visibility: "visible",
    });
  }

  private move(run: Run, places: Places, sample: number): void {
    const times = run.times;
    const next = Math.min(sample + 1, times.length - 1);
    const step = times[next]! - times[sample]!;
    const part = step > 0 ? Math.max(0, Math.min(1, (this.t_s - times[sample]!) / step)) : 0;
    const [west, south, east, north] = places.area;
    places.sites.forEach((site, number) => {
      if (site.node < 0) return;
      const [ax, ay] = this.where(site, sample);
      const [bx, by] = this.where(site, next);
      const jump = Math.abs(bx - ax) > JUMP * (east - west) || Math.abs(by - ay) > JUMP * (north - south);
      const [x, y] = this.at(ax + (jump ? 0 : part * (bx - ax)), ay + (jump ? 0 : part * (by - ay)));
      const marks = this.marks[number]!;
      if (marks.x === x && marks.y === y) return;
      [marks.x, marks.y] = [x, y];
      marks.group.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
    });
  }

  /** Puts names beside their nodes, inside the picture; a name that would cover another one is hidden. */
  private names(places: Places): void {
    const width = this.picture.viewBox.baseVal.width;
    const taken: { x0: number; x1: number; y: number }[] = [];
    this.marks.forEach(({ name, x, y }, number) => {
      if (!name) return;
      const wide = textWidth(places.sites[number]!.name, SIZE);
      const left = x + 8 + wide > width;
      const box = { x0: left ? x - 8 - wide : x + 8, x1: left ? x - 8 : x + 8 + wide, y };
      const free = taken.every((one) => one.x1 < box.x0 || one.x0 > box.x1 || Math.abs(one.y - y) > SIZE + 2);
      if (free) taken.push(box);
      set(name, {
        x: left ? -8 : 8,
        "text-anchor": left ? "end" : "start",
        visibility: free ? "inherit" : "hidden",
      });
    });
  }

  /** Draws the traffic: a line from site to site, beside that of the other direction; a ring for a broadcast. */
  private connect(places: Places, changed: boolean): void {
    const most = this.hops?.most ?? 1;
    while (this.pool.length < this.traffic.length) {
      const line = el("path", { class: "ab-hop" });
      this.pool.push(line);
      this.lines.append(line);
    }
    this.pool.forEach((line, i) => {
      const one = this.traffic[i];
      if (changed) line.setAttribute("visibility", one ? "visible" : "hidden");
      if (!one) return;
      const a = this.marks[one.from]!;
      const b = this.marks[one.to];
      if (changed) {
        const [from, to] = [places.sites[one.from]!, places.sites[one.to]];
        const same = from.cls >= 0 ? from : to;
        const wide = b ? Math.max(0.8, WIDEST * Math.sqrt(one.bytes / most)) : 1;
        set(line, { stroke: (same && this.colour(same)) ?? "currentColor", "stroke-width": wide });
      }
      line.setAttribute(
        "d",
        b ? beside(a, b) : `M${(a.x - 10).toFixed(1)} ${a.y.toFixed(1)}a10 10 0 1 0 20 0a10 10 0 1 0 -20 0`,
      );
    });
  }
}

/** A line between two points, shifted to its right, so that both directions can be seen. */
function beside(a: { x: number; y: number }, b: { x: number; y: number }): string {
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const length = Math.hypot(dx, dy) || 1;
  const [sx, sy] = [(-2.5 * dy) / length, (2.5 * dx) / length];
  return `M${(a.x + sx).toFixed(1)} ${(a.y + sy).toFixed(1)}L${(b.x + sx).toFixed(1)} ${(b.y + sy).toFixed(1)}`;
}

function shape(access: boolean, colour: string | undefined): SVGElement {
  if (access)
    return el("rect", {
      class: "ab-node",
      x: -5,
      y: -5,
      width: 10,
      height: 10,
      rx: 1.5,
      fill: colour ?? "currentColor",
    });
  return el("circle", { class: "ab-node", r: 5, fill: colour ?? "currentColor" });
}
