// Charts as SVG: lines over time, and bars with what theory and publications say. Sizes are pixels; values
// are SI, and axes show them in the unit of the field (Mb/s, ms).

import { ticks, runs, type Scale } from "./draw-axis.ts";
import { el, fitted, set, settled, textWidth } from "./draw-svg.ts";
import { interval, quantity, significant, unitFor, type Unit } from "./format.ts";

export interface Line {
  name: string;
  colour: string;
  /** A value for each time; NaN and infinite values are gaps. */
  values: ArrayLike<number>;
  /** Dashes, as in `stroke-dasharray`. */
  dash?: string;
  /** Lines of one group have one entry in the legend, with this name. */
  group?: string;
}

export interface LineSpec {
  title: string;
  /** SI unit: "bit/s", "s", "bytes", or any word such as "segments". */
  unit: string;
  t_s: ArrayLike<number>;
  lines: Line[];
  width: number;
  height?: number;
  cursor_s?: number;
  /** The time before it is shaded: it does not count. */
  warmup_s?: number;
  /** Called with a time when the reader points at it with the button down, or clicks. */
  seek?: (t_s: number) => void;
}

export interface Bar {
  name: string;
  colour: string;
  value: number;
  /** Half of its interval. */
  half?: number;
  /** What each of several users has. */
  users?: ArrayLike<number>;
  /** What the bar is of, if several have one name: "LIA", "OLIA". The first one is solid. */
  variant?: string;
  equilibrium?: number;
  optimum?: number;
  published?: number;
  /** Further words for the bar's title, such as the publication. */
  note?: string;
}

export interface BarSpec {
  title: string;
  unit: string;
  bars: Bar[];
  width: number;
  /** End of the axis; by default that of the largest value. */
  most?: number;
}

const SIZE = 11;
/** From this width on lines are labelled at their ends. */
const WIDE = 460;
const MOST_LABELS = 8;
/** Bold text is so much wider. */
const BOLD = 1.15;
const cursors = new WeakMap<SVGSVGElement, (t_s: number) => void>();

/** Moves the cursor of a line chart to a time. */
export function setCursor(svg: SVGSVGElement, t_s: number): void {
  cursors.get(svg)?.(t_s);
}

interface Frame {
  left: number;
  top: number;
  right: number;
  bottom: number;
  x: Scale;
  y: Scale;
  unit: Unit;
}

/** Lines over time, with axes, legend and a cursor. */
export function lineChart(spec: LineSpec): SVGSVGElement {
  const { width } = spec;
  const entries = legendOf(spec.lines, spec.unit);
  const direct = width >= WIDE && entries.length <= MOST_LABELS;
  const legend = direct || entries.length === 0 ? { group: el("g"), height: 0 } : legendRows(entries, width);
  const top = 24 + legend.height;
  const height = (spec.height ?? 220) + legend.height;
  const most = largest(spec);
  const unit = unitFor(spec.unit, most);
  const yTicks = ticks(0, most / unit.size, Math.max(2, Math.floor((height - top) / 38)));
  const left = Math.max(36, 12 + Math.max(...yTicks.map((one) => textWidth(significant(one), SIZE))));
  const right = direct ? labelled(width) : 12;
  const frame: Frame = {
    left,
    top,
    right: width - right,
    bottom: height - 34,
    x: scale(spec.t_s[0] ?? 0, spec.t_s[spec.t_s.length - 1] ?? 1, left, width - right),
    y: scale(0, Math.max(most, (yTicks.at(-1) ?? 1) * unit.size), height - 34, top),
    unit,
  };
  const svg = blank(
    "ab-chart ab-lines",
    width,
    height,
    `${spec.title}. ${entries.map((one) => one.about).join("; ")}`,
  );
  svg.append(
    el("text", { class: "ab-name", x: 2, y: 12, "font-size": 12 }, heading(spec.title, unit, width)),
    legend.group,
  );
  axes(svg, frame, yTicks, spec);
  const plot = el("g", { class: "ab-plot" });
  for (const line of spec.lines) plot.append(drawn(line, spec, frame));
  svg.append(plot);
  if (direct) svg.append(labels(entries, frame, right));
  cursor(svg, spec, frame);
  return svg;
}

/** Room for labels at the right; the same for all charts of a width, so that their times align. */
function labelled(width: number): number {
  return Math.max(110, Math.min(170, 0.2 * width));
}

function blank(kind: string, width: number, height: number, about: string): SVGSVGElement {
  const svg = el("svg", { class: kind, viewBox: `0 0 ${width} ${height}`, width, height, role: "img" });
  svg.setAttribute("aria-label", about);
  return svg;
}

function heading(title: string, unit: Unit, width: number): string {
  const words = unit.name ? ` (${unit.name})` : "";
  return fitted(title, width / BOLD - textWidth(words, 12), 12) + words;
}

function scale(from: number, to: number, start: number, end: number): Scale {
  const factor = (end - start) / (to - from || 1);
  return Object.assign((value: number) => start + (value - from) * factor, {
    from,
    to,
    back: (at: number) => from + (at - start) / factor,
  });
}

function largest(spec: LineSpec): number {
  let most = 0;
  for (const { values } of spec.lines) {
    for (let i = 0; i < values.length; i += 1) {
      const value = values[i]!;
      if (Number.isFinite(value) && value > most) most = value;
    }
  }
  return most || 1;
}

interface Entry {
  name: string;
  colour: string;
  dash: string | undefined;
  about: string;
  lines: Line[];
}

/** An entry for each group. */
function legendOf(lines: Line[], unit: string): Entry[] {
  const groups = new Map<string, Line[]>();
  for (const line of lines) {
    const name = line.group ?? line.name;
    groups.set(name, [...(groups.get(name) ?? []), line]);
  }
  return [...groups].map(([group, own]) => ({
    name: own.length > 1 ? `${group} (${own.length})` : group,
    colour: own[0]!.colour,
    dash: own[0]!.dash,
    about: `${group}: ${own.length > 1 ? `${own.length} lines` : summary(own[0]!.values, unit)}`,
    lines: own,
  }));
}

function summary(values: ArrayLike<number>, unit: string): string {
  let [low, high, sum, count] = [Infinity, -Infinity, 0, 0];
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i]!;
    if (!Number.isFinite(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
    sum += value;
    count += 1;
  }
  if (count === 0) return "no values";
  return `mean ${quantity(sum / count, unit)}, from ${quantity(low, unit)} to ${quantity(high, unit)}`;
}

/** Entries in as many rows as they need, below the title. */
function legendRows(entries: Entry[], width: number): { group: SVGGElement; height: number } {
  const group = el("g", { class: "ab-legend", "aria-hidden": "true" });
  let [x, y] = [2, 30];
  for (const entry of entries) {
    const name = fitted(entry.name, width - 40, SIZE);
    const wide = 22 + textWidth(name, SIZE) + 14;
    if (x > 2 && x + wide > width) [x, y] = [2, y + 16];
    group.append(
      el("path", {
        d: `M${x} ${y - 4}h16`,
        stroke: entry.colour,
        "stroke-width": 2.5,
        "stroke-dasharray": entry.dash,
        fill: "none",
      }),
      el("text", { x: x + 21, y, "font-size": SIZE }, name),
    );
    x += wide;
  }
  return { group, height: y - 12 };
}

function axes(svg: SVGSVGElement, frame: Frame, yTicks: number[], spec: LineSpec): void {
  const { left, right, top, bottom, x, y, unit } = frame;
  const grid = el("g", { class: "ab-axis", "aria-hidden": "true" });
  if (spec.warmup_s && spec.warmup_s > x.from) {
    grid.append(
      el("rect", {
        class: "ab-warmup",
        x: left,
        y: top,
        width: Math.max(0, Math.min(x(spec.warmup_s), right) - left),
        height: bottom - top,
      }),
    );
  }
  for (const tick of yTicks) {
    const at = y(tick * unit.size);
    grid.append(
      el("path", { class: "ab-grid", d: `M${left} ${at.toFixed(1)}H${right.toFixed(1)}` }),
      el(
        "text",
        { class: "ab-fact", x: left - 6, y: at + 4, "text-anchor": "end", "font-size": SIZE },
        significant(tick),
      ),
    );
  }
  const times = ticks(x.from, x.to, Math.max(2, Math.floor((right - left) / 70)), false);
  times.forEach((tick, i) => {
    const at = x(tick);
    const words = i === times.length - 1 ? `${significant(tick, 5)} s` : significant(tick, 5);
    const end = at + textWidth(words, SIZE) / 2 > spec.width;
    grid.append(
      el("path", { class: "ab-tick", d: `M${at.toFixed(1)} ${bottom}v4` }),
      el(
        "text",
        { class: "ab-fact", x: at, y: bottom + 16, "text-anchor": end ? "end" : "middle", "font-size": SIZE },
        words,
      ),
    );
  });
  grid.append(el("path", { class: "ab-base", d: `M${left} ${bottom}H${right.toFixed(1)}` }));
  svg.append(grid);
}

/** The points of a line in pixels, at most a few for each column of pixels: its least and its largest value. */
function drawn(line: Line, spec: LineSpec, frame: Frame): SVGPathElement {
  const columns = Math.ceil(frame.right - frame.left);
  let d = "";
  for (const run of runs(spec.t_s, line.values, columns)) {
    run.forEach((i, n) => {
      d += `${n === 0 ? "M" : "L"}${frame.x(spec.t_s[i]!).toFixed(1)} ${frame.y(line.values[i]!).toFixed(1)}`;
    });
    if (run.length === 1) d += "h0.5";
  }
  const look = { class: "ab-curve", d, stroke: line.colour, "stroke-dasharray": line.dash };
  return el("path", look, el("title", {}, `${line.name}: ${summary(line.values, spec.unit)}`));
}

/** Names at the right ends of lines, apart from each other; one for each group. */
function labels(entries: Entry[], frame: Frame, room: number): SVGGElement {
  const ends = entries.map((entry) => {
    const tails = entry.lines.map((line) => tail(line.values)).filter(Number.isFinite);
    const mean = tails.reduce((a, b) => a + b, 0) / (tails.length || 1);
    return { entry, y: frame.y(Math.min(mean, frame.y.to)) };
  });
  ends.sort((a, b) => a.y - b.y);
  const apart = settled(
    ends.map((end) => end.y),
    ends.map(() => 15),
  );
  const over = Math.max(0, (apart.at(-1) ?? 0) - frame.bottom);
  const group = el("g", { class: "ab-labels", "aria-hidden": "true" });
  ends.forEach(({ entry }, i) => {
    const y = apart[i]! - over;
    group.append(
      el("path", {
        d: `M${(frame.right + 3).toFixed(1)} ${y.toFixed(1)}h10`,
        stroke: entry.colour,
        "stroke-width": 3,
      }),
      el("text", { x: frame.right + 17, y: y + 4, "font-size": SIZE }, fitted(entry.name, room - 17, SIZE)),
    );
  });
  return group;
}

/** Mean of the last values: steadier than the last one. */
function tail(values: ArrayLike<number>): number {
  let [sum, count] = [0, 0];
  for (let i = values.length - 1; i >= 0 && count < Math.ceil(values.length / 20); i -= 1) {
    if (!Number.isFinite(values[i]!)) continue;
    sum += values[i]!;
    count += 1;
  }
  return count > 0 ? sum / count : NaN;
}

/** A line at a time with the time and a dot on each line; at most a dozen dots. */
function cursor(svg: SVGSVGElement, spec: LineSpec, frame: Frame): void {
  const { x, y, top, bottom, left, right } = frame;
  const line = el("path", { d: `M0 ${top}V${bottom}` });
  const text = el("text", { y: bottom + 29, "text-anchor": "middle", "font-size": SIZE });
  const dots = spec.lines.slice(0, 12).map((one) => el("circle", { r: 3.2, fill: one.colour }));
  svg.append(el("g", { class: "ab-cursor", "aria-hidden": "true" }, line, text, ...dots));
  const index = (t_s: number): number => {
    let [low, high] = [0, spec.t_s.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (spec.t_s[middle]! <= t_s) low = middle;
      else high = middle - 1;
    }
    return low;
  };
  const move = (t_s: number): void => {
    const at = Math.max(left, Math.min(right, x(t_s)));
    line.setAttribute("transform", `translate(${at.toFixed(1)} 0)`);
    text.setAttribute("x", Math.max(left + 20, Math.min(right - 20, at)).toFixed(1));
    text.textContent = `${t_s.toFixed(x.to - x.from > 20 ? 1 : 2)} s`;
    const i = index(t_s);
    dots.forEach((dot, n) => {
      const value = spec.lines[n]!.values[i]!;
      set(dot, {
        cx: at,
        cy: Number.isFinite(value) ? y(value) : 0,
        visibility: Number.isFinite(value) ? "visible" : "hidden",
      });
    });
  };
  cursors.set(svg, move);
  move(spec.cursor_s ?? x.from);
  if (!spec.seek) return;
  svg.classList.add("ab-seek");
  const point = (event: PointerEvent): void => {
    const box = svg.getBoundingClientRect();
    const at = ((event.clientX - box.left) * spec.width) / (box.width || 1);
    spec.seek?.(x.back(Math.max(left, Math.min(right, at))));
  };
  svg.addEventListener("pointerdown", (event) => {
    svg.setPointerCapture(event.pointerId);
    point(event);
  });
  svg.addEventListener("pointermove", (event) => {
    if (event.buttons & 1) point(event);
  });
}

const ROW = 20;

/** Bars with whiskers, and marks for the equilibrium (diamond), the optimum (line) and the publication (ring). */
export function barChart(spec: BarSpec): SVGSVGElement {
  const { width, bars } = spec;
  const numbers = bars.flatMap((bar) => [
    endsOf(bar)[1],
    bar.equilibrium,
    bar.optimum,
    bar.published,
    ...Array.from(bar.users ?? []),
  ]);
  const most =
    spec.most ??
    Math.max(...numbers.filter((one): one is number => one !== undefined && Number.isFinite(one)), 0);
  const unit = unitFor(spec.unit, most);
  const named = bars.map((bar, i) => (bars[i - 1]?.name === bar.name ? "" : bar.name));
  const several = bars.some((bar) => bar.variant);
  const said = bars.map((bar) => interval(bar.value, halfOf(bar), 1 / unit.size));
  const names = Math.max(
    ...named.map((name) => BOLD * textWidth(name, 12)),
    ...(several ? bars.map((bar) => textWidth(bar.variant ?? "", SIZE) + 12) : []),
    30,
  );
  const left = Math.min(names + 10, width * 0.32);
  const right = Math.max(...said.map((words) => textWidth(words, SIZE)), 20) + 12;
  const legend = marksLegend(bars, width);
  const rows: number[] = [];
  let y = 26 + legend.height;
  bars.forEach((_, i) => {
    if (several && named[i]) y += 16;
    rows.push(y);
    y += ROW + (named[i + 1] || i === bars.length - 1 ? 8 : 1);
  });
  const bottom = y;
  const marks = ticks(0, most / unit.size, Math.max(2, Math.floor((width - left - right) / 64)));
  const x = scale(0, Math.max(most / unit.size, marks.at(-1) ?? 1) * unit.size || 1, left, width - right);
  const about = bars.map((bar) => barWords(bar, spec.unit)).join("; ");
  const svg = blank("ab-chart ab-bars", width, bottom + 26, `${spec.title}. ${about}`);
  svg.append(
    el("text", { class: "ab-name", x: 2, y: 12, "font-size": 12 }, heading(spec.title, unit, width)),
    legend.group,
  );
  for (const tick of marks) {
    const at = x(tick * unit.size);
    svg.append(
      el("path", { class: "ab-grid", d: `M${at.toFixed(1)} ${22 + legend.height}V${bottom}` }),
      el(
        "text",
        { class: "ab-fact", x: at, y: bottom + 15, "text-anchor": "middle", "font-size": SIZE },
        significant(tick),
      ),
    );
  }
  bars.forEach((bar, i) =>
    svg.append(barRow(spec, bar, i, { x, y: rows[i]!, left, name: named[i]!, several, said: said[i]! })),
  );
  svg.append(el("path", { class: "ab-base", d: `M${left.toFixed(1)} ${22 + legend.height}V${bottom}` }));
  return svg;
}

/** Half of a bar's interval; 0 without one. */
function halfOf(bar: Bar): number {
  const { half = 0 } = bar;
  return half > 0 && Number.isFinite(half) ? half : 0;
}

/** Ends of a bar's interval; no rate is below 0. */
function endsOf(bar: Bar): [low: number, high: number] {
  const half = halfOf(bar);
  return [Math.max(0, bar.value - half), bar.value + half];
}

function barWords(bar: Bar, unit: string): string {
  const words = [`${bar.name}${bar.variant ? `, ${bar.variant}` : ""}: ${quantity(bar.value, unit)}`];
  if (halfOf(bar) > 0) {
    const [low, high] = endsOf(bar);
    words.push(`interval ${quantity(low, unit)} to ${quantity(high, unit)}`);
  }
  if (bar.users && bar.users.length > 1) {
    const rates = Array.from(bar.users);
    const [low, high] = [Math.min(...rates), Math.max(...rates)];
    words.push(`${rates.length} users from ${quantity(low, unit)} to ${quantity(high, unit)}`);
  }
  if (bar.equilibrium !== undefined) words.push(`equilibrium ${quantity(bar.equilibrium, unit)}`);
  if (bar.optimum !== undefined) words.push(`optimum ${quantity(bar.optimum, unit)}`);
  if (bar.published !== undefined) words.push(`published ${quantity(bar.published, unit)}`);
  if (bar.note) words.push(bar.note);
  return words.join(", ");
}

interface Row {
  x: Scale;
  y: number;
  left: number;
  name: string;
  several: boolean;
  said: string;
}

function barRow(spec: BarSpec, bar: Bar, i: number, row: Row): SVGGElement {
  const { x, y, left } = row;
  const middle = y + ROW / 2;
  const second = spec.bars.slice(0, i).some((one) => one.name === bar.name);
  const wide = Number.isFinite(bar.value) ? Math.max(0, x(bar.value) - left) : 0;
  const group = el(
    "g",
    { class: "ab-bar", role: "img", "aria-label": barWords(bar, spec.unit) },
    el("title", {}, barWords(bar, spec.unit)),
  );
  const look = second
    ? { "fill-opacity": 0.3, stroke: bar.colour, "stroke-width": 1.5 }
    : { "fill-opacity": 0.85 };
  group.append(el("rect", { x: left, y: y + 3, width: wide, height: ROW - 6, fill: bar.colour, ...look }));
  if (row.several) {
    if (row.name) group.append(el("text", { class: "ab-name", x: 2, y: y - 3, "font-size": 12 }, row.name));
    group.append(
      el(
        "text",
        { class: "ab-fact", x: left - 6, y: middle + 4, "text-anchor": "end", "font-size": SIZE },
        fitted(bar.variant ?? "", left - 8, SIZE),
      ),
    );
  } else {
    group.append(
      el(
        "text",
        { class: "ab-name", x: left - 6, y: middle + 4, "text-anchor": "end", "font-size": 12 },
        fitted(row.name, (left - 8) / BOLD, 12),
      ),
    );
  }
  if (halfOf(bar) > 0) {
    const [a, b] = endsOf(bar).map((end) => x(end).toFixed(1));
    group.append(
      el("path", {
        class: "ab-whisker",
        d: `M${a} ${middle}H${b}M${a} ${middle - 4}v8M${b} ${middle - 4}v8`,
      }),
    );
  }
  if (bar.users && bar.users.length > 1) {
    const ticks = Array.from(bar.users, (rate) => `M${x(rate).toFixed(1)} ${y + ROW - 7}v6`);
    group.append(el("path", { class: "ab-user", d: ticks.join("") }));
  }
  if (bar.optimum !== undefined) group.append(mark("optimum", x(bar.optimum), middle));
  if (bar.equilibrium !== undefined) group.append(mark("equilibrium", x(bar.equilibrium), middle));
  if (bar.published !== undefined) group.append(mark("published", x(bar.published), middle));
  group.append(
    el(
      "text",
      { class: "ab-rate", x: spec.width - 2, y: middle + 4, "text-anchor": "end", "font-size": SIZE },
      row.said,
    ),
  );
  return group;
}

type Mark = "equilibrium" | "optimum" | "published";

function mark(kind: Mark, x: number, y: number, half = 10): SVGElement {
  const look = { class: `ab-${kind}`, transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` };
  if (kind === "equilibrium") return el("path", { ...look, d: "M0 -6L5 0L0 6L-5 0Z" });
  if (kind === "optimum") return el("path", { ...look, d: `M0 ${-half}V${half}` });
  return el("circle", { ...look, r: 5 });
}

/** Explains the marks that some bar has. */
function marksLegend(bars: Bar[], width: number): { group: SVGGElement; height: number } {
  const kinds: [Mark, string][] = [
    ["equilibrium", "equilibrium (theory)"],
    ["optimum", "optimum"],
    ["published", "published"],
  ];
  const group = el("g", { class: "ab-legend", "aria-hidden": "true" });
  let [x, y] = [8, 30];
  const used = kinds.filter(([kind]) => bars.some((bar) => bar[kind] !== undefined));
  for (const [kind, name] of used) {
    const wide = 14 + textWidth(name, SIZE) + 18;
    if (x > 8 && x + wide - 18 > width) [x, y] = [8, y + 22];
    group.append(mark(kind, x, y - 2, 7), el("text", { x: x + 12, y: y + 2, "font-size": SIZE }, name));
    x += wide;
  }
  return { group, height: used.length > 0 ? y - 8 : 0 };
}
