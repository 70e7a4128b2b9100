// Places of everything in the picture of a network: users at the left, pipes in columns, far ends at the right.
//
// A plan has no nodes for wires: a path is a list of links. So the longest path in front of a pipe decides
// its column. Orders within columns come from barycentres, heights from least squares (`settled`). Nothing
// here knows the DOM; lengths are pixels.

import type { Plan } from "./draw-plan.ts";
import { hash, settled, textWidth } from "./draw-svg.ts";
import { pipesOf, type Course, type Pipe } from "./draw-pipes.ts";

/** Mean height of pipes, by the number of them in the fullest column. */
const HEIGHTS: [upTo: number, height: number][] = [
  [2, 54],
  [4, 42],
  [6, 30],
  [Infinity, 16],
];
/** From more pipes in a column on, queues have no words. */
const DENSE = 6;
/** Highest pipe over the lowest one. */
const SPREAD = 2.9;
/** Distance of paths in users, far ends and delays, and beside pipes; the lower one if there are many. */
const PITCH = 9;
const NARROW_PITCH = 5;
const MANY = 12;
const LEAST_PITCH = 4.5;
const DENSE_PITCH = 3;
const GAP = 12;
export const NAME_SIZE = 12;
export const FACT_SIZE = 11;
const SWEEPS = 16;
/** Orders that are tried for a small network. */
const STARTS = 12;
/** Below this width names and facts are on lines of their own. */
const WIDE = 640;

export interface Slot {
  kind: "class" | "pipe" | "lane" | "end";
  /** Number of the class, of the pipe or, for a lane, of its course. */
  number: number;
  column: number;
  x0: number;
  x1: number;
  /** The middle of its box. */
  y: number;
  /** Height of its box. */
  height: number;
  /** Room above and below the box, for words. */
  above: number;
  below: number;
  /** The courses in it, from top to bottom. */
  courses: number[];
}

export interface Layout {
  width: number;
  height: number;
  compact: boolean;
  dense: boolean;
  /** Number of pipes in the fullest column. */
  fullest: number;
  pipes: Pipe[];
  courses: Course[];
  slots: Slot[];
  /** For each course its slots. */
  ways: number[][];
  /** For each course where it enters a slot and where it leaves it, at the height of its lane. */
  lines: { x0: number; x1: number; y: number }[][];
  /** Distance of courses outside of pipes. */
  pitch: number;
  /** Least distance of two courses anywhere. */
  least: number;
}

/** The layout of a plan in so many pixels; wider than asked where columns need it. */
export function layout(plan: Plan, width: number): Layout {
  const { pipes, courses } = pipesOf(plan);
  const columns = ranks(pipes.length, courses);
  const compact = width < WIDE;
  const fullest = Math.max(0, ...columns.map((column) => columns.filter((one) => one === column).length));
  const dense = fullest > DENSE;
  const found: Layout = {
    width,
    height: 0,
    compact,
    dense,
    fullest,
    pipes,
    courses,
    slots: [],
    ways: [],
    lines: [],
    pitch: courses.length > MANY ? NARROW_PITCH : PITCH,
    least: courses.length > MANY ? NARROW_PITCH : PITCH,
  };
  const last = Math.max(0, ...columns) + 1;
  slotsOf(found, plan, columns, last);
  const orders = ordered(found, last);
  sized(found, plan);
  across(found, plan, last);
  down(found, orders);
  lanes(found, orders);
  return found;
}

/** The column of each pipe, from 1: behind all pipes that a course crosses before it. */
export function ranks(count: number, courses: Course[]): number[] {
  const next = Array.from({ length: count }, () => new Set<number>());
  const reaches = (from: number, to: number): boolean =>
    from === to || [...next[from]!].some((one) => reaches(one, to));
  for (const { pipes } of courses) {
    pipes.forEach((pipe, i) => {
      const before = pipes[i - 1];
      // An edge that closes a circle is left out; the course goes back there.
      if (before !== undefined && !reaches(pipe, before)) next[before]!.add(pipe);
    });
  }
  const columns = new Array<number>(count).fill(1);
  for (let changed = true; changed;) {
    changed = false;
    next.forEach((after, pipe) => {
      for (const one of after) {
        if (columns[one]! > columns[pipe]!) continue;
        columns[one] = columns[pipe]! + 1;
        changed = true;
      }
    });
  }
  return columns;
}

/** Makes the slots, with a lane for each course in each column in which it crosses no pipe. */
function slotsOf(found: Layout, plan: Plan, columns: number[], last: number): void {
  const slot = (kind: Slot["kind"], number: number, column: number): number => {
    const blank = { x0: 0, x1: 0, y: 0, height: 0, above: 0, below: 0, courses: [] };
    return found.slots.push({ kind, number, column, ...blank }) - 1;
  };
  plan.classes.forEach((_, number) => slot("class", number, 0));
  columns.forEach((column, number) => slot("pipe", number, column));
  plan.classes.forEach((_, number) => slot("end", number, last));
  const classes = plan.classes.length;
  found.ways = found.courses.map((course, number) => {
    const way = [course.cls];
    let column = 0;
    for (const pipe of course.pipes) {
      for (column += 1; column < columns[pipe]!; column += 1) way.push(slot("lane", number, column));
      way.push(classes + pipe);
      column = columns[pipe]!;
    }
    for (column += 1; column < last; column += 1) way.push(slot("lane", number, column));
    way.push(classes + columns.length + course.cls);
    for (const one of way) found.slots[one]!.courses.push(number);
    return way;
  });
}

/** For each column its slots from top to bottom, with few crossings: the best of some orders to start with. */
function ordered(found: Layout, last: number): number[][] {
  let best: number[][] = [];
  let fewest = Infinity;
  const starts = found.courses.length > MANY ? 1 : STARTS;
  for (let start = 0; start < starts && fewest > 0; start += 1) {
    // The first start is the plan's order. Lanes begin at the place of their course, not behind all pipes.
    const key = (slot: number): number => {
      const course = found.slots[slot]!.courses[0] ?? 0;
      return start === 0 ? course : hash(start, found.courses[course]?.cls ?? 0, course);
    };
    const orders = Array.from({ length: last + 1 }, (_, column) => {
      const slots = found.slots.flatMap((slot, number) => (slot.column === column ? [number] : []));
      return slots.sort((a, b) => key(a) - key(b));
    });
    const crossed = swept(found, orders);
    if (crossed.count >= fewest) continue;
    fewest = crossed.count;
    best = crossed.orders;
  }
  // Upside down it has as many crossings: classes keep the plan's order where they can.
  const classes = best[0]!.map((slot) => found.slots[slot]!.number);
  const turned = classes.flatMap((one, i) => classes.slice(0, i).map((above) => Math.sign(above - one)));
  if (turned.reduce((sum, one) => sum + one, 0) > 0) for (const order of best) order.reverse();
  return best.map((order) => parallel(found, order, best));
}

/** The best order that sweeps over the columns come to. */
function swept(found: Layout, orders: number[][]): { orders: number[][]; count: number } {
  const last = orders.length - 1;
  let best = { orders: orders.map((order) => [...order]), count: crossings(found, orders) };
  for (let sweep = 0; sweep < SWEEPS && best.count > 0; sweep += 1) {
    const forward = sweep % 2 === 0;
    for (let step = 1; step <= last; step += 1) {
      const column = forward ? step : last - step;
      const near = places(orders[column + (forward ? -1 : 1)]!);
      sortBy(found, orders[column]!, near, forward ? -1 : 1, sweep % 4 > 1);
    }
    const count = crossings(found, orders);
    if (count < best.count) best = { orders: orders.map((order) => [...order]), count };
  }
  return best;
}

/** Lanes between the same two slots keep the order in which their courses came to the first one. */
function parallel(found: Layout, order: number[], orders: number[][]): number[] {
  const at = new Map(orders.flatMap((one) => one.map((slot, place): [number, number] => [slot, place])));
  const groups = new Map<string, number[]>();
  const before = (slot: number, steps: number): number => {
    const way = found.ways[found.slots[slot]!.courses[0]!]!;
    return way[way.indexOf(slot) - steps] ?? -1;
  };
  for (const slot of order.filter((one) => found.slots[one]!.kind === "lane")) {
    const key = `${before(slot, 1)} ${before(slot, -1)}`;
    groups.set(key, [...(groups.get(key) ?? []), slot]);
  }
  const swapped = new Map<number, number>();
  for (const group of groups.values()) {
    const from = (slot: number): number => at.get(before(slot, 2)) ?? 0;
    const sorted = [...group].sort((a, b) => from(a) - from(b));
    group.forEach((slot, i) => swapped.set(slot, sorted[i]!));
  }
  return order.map((slot) => swapped.get(slot) ?? slot);
}

function places(order: number[]): Map<number, number> {
  return new Map(order.map((slot, place) => [slot, place]));
}

/**
 * Sorts a column by the mean place of neighbours in the column before (-1) or after (1). `flip` turns
 * equal ones round: otherwise a poor order of them would stay.
 */
function sortBy(found: Layout, order: number[], at: Map<number, number>, side: number, flip: boolean): void {
  const mean = new Map<number, number>();
  order.forEach((slot, place) => {
    const near = found.slots[slot]!.courses.flatMap((course) => {
      const way = found.ways[course]!;
      const there = at.get(way[way.indexOf(slot) + side] ?? -1);
      return there === undefined ? [] : [there];
    });
    mean.set(slot, near.length > 0 ? near.reduce((sum, one) => sum + one, 0) / near.length : place);
  });
  if (flip) order.reverse();
  order.sort((a, b) => mean.get(a)! - mean.get(b)!);
}

/** Number of pairs of courses that cross between two columns. */
export function crossings(found: Layout, orders: number[][]): number {
  const at = new Map(orders.flatMap((order) => order.map((slot, place): [number, number] => [slot, place])));
  let count = 0;
  for (let column = 0; column + 1 < orders.length; column += 1) {
    const steps = found.ways.flatMap((way) =>
      way.flatMap((slot, i) => {
        const next = way[i + 1];
        if (next === undefined || found.slots[slot]!.column !== column) return [];
        return [[at.get(slot)!, at.get(next)!] as const];
      }),
    );
    steps.forEach(([a, b], i) => {
      for (let j = 0; j < i; j += 1) {
        const [c, d] = steps[j]!;
        if ((a - c) * (b - d) < 0) count += 1;
      }
    });
  }
  return count;
}

/** Heights of boxes; those of pipes grow with a power of their rates, so that all are legible. */
function sized(found: Layout, plan: Plan): void {
  const rates = found.pipes.flatMap((pipe) => (pipe.rate_bps ? [pipe.rate_bps] : []));
  const low = Math.min(...rates);
  const high = Math.max(...rates);
  const power = high > low ? Math.min(0.5, Math.log(SPREAD) / Math.log(high / low)) : 0;
  const mean = HEIGHTS.find(([upTo]) => found.fullest <= upTo)![1];
  const pitch = found.pitch;
  const words = found.compact && !found.dense ? NAME_SIZE + FACT_SIZE + 7 : NAME_SIZE + 5;
  for (const slot of found.slots) {
    const count = slot.courses.length;
    slot.height = Math.max(1, count) * pitch;
    if (slot.kind === "pipe") {
      const pipe = found.pipes[slot.number]!;
      slot.above = words;
      slot.below = found.dense || pipe.kind === "delay" ? 2 : FACT_SIZE + 3;
      if (pipe.kind === "delay") continue;
      const rate = pipe.rate_bps ? (pipe.rate_bps / Math.sqrt(low * high)) ** power : 1;
      slot.height = Math.max(mean * rate, count * (found.dense ? DENSE_PITCH : LEAST_PITCH) + 6);
      found.least = Math.min(found.least, slot.height / (count + 0.5));
    } else if (slot.kind === "class") {
      const several = plan.classes[slot.number]!.count > 1 || !found.dense;
      slot.height = Math.max(slot.height, several ? 34 : 20);
    } else if (slot.kind === "end") {
      slot.height = Math.max(slot.height, found.dense ? 16 : 26);
    }
  }
}

/** Places columns from left to right. */
function across(found: Layout, plan: Plan, last: number): void {
  const names = plan.classes.flatMap((own) => [
    1.15 * textWidth(own.name, NAME_SIZE) + 22,
    textWidth(`${own.count} × ${own.controller}`, FACT_SIZE) + 18,
  ]);
  const columns = last - 1;
  const most = found.compact ? (columns > 2 ? 84 : 112) : 170;
  const left = Math.min(Math.max(...names, 62), most);
  const right = found.compact ? (found.dense ? 74 : 50) : 110;
  // Five columns fit a telephone; more of them scroll.
  const least = found.compact ? 46 : 120;
  const each = Math.max(least, (found.width - left - right) / Math.max(1, columns));
  found.width = Math.max(found.width, left + right + columns * each);
  const long = Math.min(300, each * (found.compact ? 0.7 : 0.62));
  for (const slot of found.slots) {
    if (slot.kind === "class") [slot.x0, slot.x1] = [1, left];
    else if (slot.kind === "end") [slot.x0, slot.x1] = [found.width - right, found.width - 1];
    else {
      const middle = left + (slot.column - 0.5) * each;
      [slot.x0, slot.x1] = [middle - long / 2, middle + long / 2];
    }
  }
}

/** Places slots from top to bottom: near their neighbours, without overlap. */
function down(found: Layout, orders: number[][]): void {
  const full = (slot: Slot): number => slot.above + slot.height + slot.below;
  const gap = found.dense ? 6 : GAP;
  const apart = orders.map((order) =>
    order.map((number, i) => {
      const [one, before] = [found.slots[number]!, found.slots[order[i - 1] ?? number]!];
      const lanes = one.kind === "lane" && before.kind === "lane";
      return before.height / 2 + before.below + one.above + one.height / 2 + (lanes ? 0 : gap);
    }),
  );
  const highest = Math.max(
    ...orders.map((order) => order.reduce((sum, one) => sum + full(found.slots[one]!) + gap, 0)),
  );
  for (const order of orders) {
    order.forEach((number, i) => (found.slots[number]!.y = ((i + 0.5) / order.length) * highest));
  }
  for (let sweep = 0; sweep < 2 * SWEEPS; sweep += 1) {
    const turn = sweep % 2 === 0 ? orders.map((_, i) => i) : orders.map((_, i) => orders.length - 1 - i);
    for (const column of turn) {
      const slots = orders[column]!.map((number) => found.slots[number]!);
      const wanted = orders[column]!.map((number) => neighbours(found, number));
      const weights = slots.map((slot) => (slot.kind === "lane" ? 2 : 1) * Math.max(1, slot.courses.length));
      settled(wanted, apart[column]!, weights).forEach((y, i) => (slots[i]!.y = y));
    }
  }
  const top = Math.min(...found.slots.map((slot) => slot.y - slot.height / 2 - slot.above));
  for (const slot of found.slots) slot.y += 4 - top;
  found.height = Math.max(...found.slots.map((slot) => slot.y + slot.height / 2 + slot.below)) + 4;
}

/** Mean height of what a slot is connected with. */
function neighbours(found: Layout, number: number): number {
  const slot = found.slots[number]!;
  let sum = 0;
  let count = 0;
  for (const course of slot.courses) {
    const way = found.ways[course]!;
    const i = way.indexOf(number);
    for (const next of [way[i - 1], way[i + 1]]) {
      if (next === undefined) continue;
      sum += found.slots[next]!.y;
      count += 1;
    }
  }
  return count > 0 ? sum / count : slot.y;
}

/** Places courses within slots: sorted by where they come from and go to. */
function lanes(found: Layout, orders: number[][]): void {
  const lane = new Map<string, number>();
  const height = (number: number, course: number): number =>
    lane.get(`${number} ${course}`) ?? found.slots[number]!.y;
  for (let pass = 0; pass < 4; pass += 1) {
    for (const number of orders.flat()) {
      const slot = found.slots[number]!;
      const key = new Map(
        slot.courses.map((course) => {
          const way = found.ways[course]!;
          const i = way.indexOf(number);
          const near = [way[i - 1], way[i + 1]].filter((one) => one !== undefined);
          return [course, near.reduce((sum, one) => sum + height(one, course), 0) / near.length];
        }),
      );
      slot.courses.sort((a, b) => key.get(a)! - key.get(b)! || a - b);
      const room = slot.kind === "pipe" && found.pipes[slot.number]!.kind !== "delay";
      const pitch = room ? slot.height / (slot.courses.length + 0.5) : found.pitch;
      slot.courses.forEach((course, i) => {
        lane.set(`${number} ${course}`, slot.y + (i - (slot.courses.length - 1) / 2) * pitch);
      });
    }
  }
  found.lines = found.ways.map((way, course) =>
    way.map((number) => {
      const { x0, x1 } = found.slots[number]!;
      return { x0, x1, y: height(number, course) };
    }),
  );
}

/** The points of a course from its users to its far end, and the same as a path of SVG. */
export function curve(
  line: { x0: number; x1: number; y: number }[],
  bend = 16,
): { d: string; points: Float64Array } {
  const points: number[] = [];
  let d = "";
  line.forEach(({ x0, x1, y }, i) => {
    const before = line[i - 1];
    if (!before) {
      d = `M${x1.toFixed(1)} ${y.toFixed(1)}`;
      points.push(x1, y);
      return;
    }
    const middle = (before.x1 + x0) / 2;
    const last = i === line.length - 1;
    d += `C${middle.toFixed(1)} ${before.y.toFixed(1)} ${middle.toFixed(1)} ${y.toFixed(1)} ${x0.toFixed(1)} ${y.toFixed(1)}`;
    for (let step = 1; step <= bend; step += 1) {
      const t = step / bend;
      const s = 1 - t;
      const x = s * s * s * before.x1 + 3 * s * t * middle + t * t * t * x0;
      points.push(x, s * s * (s + 3 * t) * before.y + t * t * (t + 3 * s) * y);
    }
    if (last) return;
    d += `H${x1.toFixed(1)}`;
    points.push(x1, y);
  });
  return { d, points: Float64Array.from(points) };
}
