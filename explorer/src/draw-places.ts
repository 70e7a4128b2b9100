// Who stands where on a map: nodes and placed stations with their classes, ranges and traffic.

import type { Run } from "./engine.ts";
import type { Medium, Plan } from "./draw-plan.ts";

export interface Site {
  name: string;
  /** The group of nodes that it belongs to; its own name if it is single. */
  group: string;
  /** Number of the node in the plan; -1 for a station that is not a node. */
  node: number;
  place_m: [x: number, y: number];
  /** Number of its class; -1 if it serves none, or several. */
  cls: number;
  /** Whether it is an access point or a base station. */
  access: boolean;
  /** Distance in metres at which others sense it, on its medium with the longest; 0 if the plan gives none. */
  range_m: number;
  media: string[];
}

export interface Places {
  sites: Site[];
  /** For each medium the sites of its stations; -1 for stations without a place. */
  stations: number[][];
  /** West, south, east and north end in metres. */
  area: [west: number, south: number, east: number, north: number];
}

/** Whether a plan has places to draw. */
export function hasPlaces(plan: Plan): boolean {
  return plan.nodes.length > 0 || plan.media.some(placed);
}

/** Whether stations that are not nodes have places: otherwise all have the same default. */
function placed(medium: Medium): boolean {
  const own = medium.stations.filter((station) => station.node === null && station.place_m);
  return new Set(own.map((station) => String(station.place_m))).size > 1;
}

export function placesOf(plan: Plan, run: Run | undefined): Places {
  const sites: Site[] = plan.nodes.map((node, number) => ({
    name: node.name,
    group: typeof node["group"] === "string" ? node["group"] : node.name,
    node: number,
    place_m: [0, 0],
    cls: -1,
    access: false,
    range_m: 0,
    media: [],
  }));
  const byName = new Map(sites.map((site, number) => [site.name, number]));
  const stations = plan.media.map((medium) => {
    const own = placed(medium);
    return medium.stations.map((station) => {
      if (station.node !== null) return station.node;
      if (!own || !station.place_m) return -1;
      const known = byName.get(station.name);
      if (known !== undefined) return known;
      const blank = { group: station.name, node: -1, cls: -1, access: false, range_m: 0, media: [] };
      byName.set(station.name, sites.length);
      return sites.push({ name: station.name, place_m: station.place_m, ...blank }) - 1;
    });
  });
  roles(plan, sites, stations);
  return { sites, stations, area: areaOf(plan, sites, run) };
}

/** Media, ranges, access points and classes of sites. */
function roles(plan: Plan, sites: Site[], stations: number[][]): void {
  plan.media.forEach((medium, number) => {
    const range = rangeOf(medium);
    for (const site of stations[number]!) {
      const own = sites[site];
      if (!own) continue;
      own.media.push(medium.name);
      own.range_m = Math.max(own.range_m, range);
    }
    const base = sites[stations[number]![0] ?? -1];
    if (medium.kind === "cell" && base) base.access = true;
  });
  const classes = sites.map(() => new Set<number>());
  plan.classes.forEach((own, cls) => {
    for (const link of own.paths.flatMap((path) => path.links)) {
      for (const ends of plan.links[link]?.attachments ?? []) {
        for (const end of [ends.from, ends.to]) {
          const there = end.map((station) => stations[ends.medium]?.[station] ?? -1);
          for (const site of there) {
            if (end.length > 1 && sites[site]) sites[site].access = true;
            else classes[site]?.add(cls);
          }
        }
      }
    }
  });
  sites.forEach((site, number) => {
    const [cls = -1, ...more] = classes[number]!;
    site.cls = more.length > 0 || site.access ? -1 : cls;
  });
}

/** Distance at which a station is sensed: where the path loss leaves just enough power. */
export function rangeOf(medium: Medium): number {
  const { radio } = medium;
  if (!radio) return 0;
  return 10 ** ((radio.power_dbm - radio.loss_at_1m_db - radio.sense_dbm) / (10 * radio.exponent));
}

function areaOf(plan: Plan, sites: Site[], run: Run | undefined): Places["area"] {
  const xs = sites.filter((site) => site.node < 0).map((site) => site.place_m[0]);
  const ys = sites.filter((site) => site.node < 0).map((site) => site.place_m[1]);
  let [west, south, east, north] = plan.area
    ? [0, 0, plan.area.width_m, plan.area.height_m]
    : [Infinity, Infinity, -Infinity, -Infinity];
  const all = {
    x: [xs, run?.series("nodes", "x_m").values ?? []],
    y: [ys, run?.series("nodes", "y_m").values ?? []],
  };
  for (const x of all.x.flatMap((values) => [...values]))
    [west, east] = [Math.min(west, x), Math.max(east, x)];
  for (const y of all.y.flatMap((values) => [...values]))
    [south, north] = [Math.min(south, y), Math.max(north, y)];
  if (!Number.isFinite(west + south + east + north)) return [0, 0, 100, 100];
  const margin = plan.area ? 0 : 0.1 * Math.max(east - west, north - south, 1);
  return [west - margin, south - margin, east + margin, north + margin];
}

/** Traffic between two sites in one direction; `to` is -1 for a broadcast. */
export interface Traffic {
  from: number;
  to: number;
  bytes: number;
  messages: number;
  media: Set<number>;
}

/** Traffic over media, found by sample. */
export class Hops {
  private readonly starts: Int32Array;
  private readonly columns: Record<"medium" | "from" | "to" | "bytes" | "messages", Float64Array>;
  /** Most bytes between two sites in a window. */
  readonly most: number;
  /** Directions between two sites, those with most bytes in the run first. */
  readonly pairs: { from: number; to: number; bytes: number }[];

  constructor(
    run: Run,
    private readonly stations: number[][],
    private readonly window: number,
  ) {
    const get = (name: string): Float64Array => run.numbers("series.nodes.hops", name);
    this.columns = {
      medium: get("medium"),
      from: get("from"),
      to: get("to"),
      bytes: get("bytes"),
      messages: get("messages"),
    };
    const samples = get("sample");
    this.starts = new Int32Array(run.times.length + 1).fill(samples.length);
    for (let row = samples.length - 1; row >= 0; row -= 1) this.starts[samples[row]!] = row;
    for (let k = this.starts.length - 2; k >= 0; k -= 1)
      this.starts[k] = Math.min(this.starts[k]!, this.starts[k + 1]!);
    let most = 1;
    const pairs = new Map<number, { from: number; to: number; bytes: number }>();
    // Windows that do not overlap, from the end on: together they are the run.
    for (let k = run.times.length - 1; k >= 0; k -= Math.max(1, window)) {
      for (const { from, to, bytes } of this.at(k)) {
        most = Math.max(most, bytes);
        if (to < 0) continue;
        const pair = pairs.get(keyOf(from, to)) ?? { from, to, bytes: 0 };
        pair.bytes += bytes;
        pairs.set(keyOf(from, to), pair);
      }
    }
    this.most = most;
    this.pairs = [...pairs.values()].sort((a, b) => b.bytes - a.bytes);
  }

  /** Traffic in the window that ends with a sample. */
  at(sample: number): Traffic[] {
    const { medium, from, to, bytes, messages } = this.columns;
    const found = new Map<number, Traffic>();
    const first = this.starts[Math.max(0, sample - this.window + 1)] ?? 0;
    for (let row = first; row < (this.starts[sample + 1] ?? 0); row += 1) {
      const sites = this.stations[medium[row]!];
      const a = sites?.[from[row]!] ?? -1;
      const b = to[row]! < 0 ? -1 : (sites?.[to[row]!] ?? -1);
      if (a < 0 || (b < 0 && to[row]! >= 0)) continue;
      const key = keyOf(a, b);
      const one = found.get(key) ?? { from: a, to: b, bytes: 0, messages: 0, media: new Set<number>() };
      one.bytes += bytes[row]!;
      one.messages += messages[row]!;
      one.media.add(medium[row]!);
      found.set(key, one);
    }
    return [...found.values()];
  }
}

/** A number for a direction between two sites; `to` is -1 for a broadcast. */
function keyOf(from: number, to: number): number {
  return from * 65536 + to + 1;
}
