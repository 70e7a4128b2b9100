import assert from "node:assert/strict";
import { test } from "node:test";
import { barChart, lineChart, setCursor, type Bar } from "../src/chart.ts";
import { runs, ticks } from "../src/draw-axis.ts";
import { fake, install } from "./draw-dom.ts";

install();

const T = Float64Array.from({ length: 10_001 }, (_, k) => k / 100);

test("ticks are round numbers that cover the values", () => {
  assert.deepEqual(ticks(0, 1.3, 5), [0, 0.5, 1, 1.5]);
  assert.deepEqual(ticks(0, 120, 6, false), [0, 20, 40, 60, 80, 100, 120]);
  assert.deepEqual(ticks(30, 100, 3, false), [50, 75, 100]);
  assert.deepEqual(ticks(2, 2, 4), [2]);
});

test("a long line keeps its peaks with few points", () => {
  const values = T.map((_, k) => (k === 5_003 ? 99 : Math.sin(k)));
  const [run] = runs(T, values, 300);
  assert.ok(run!.length <= 4 * 301);
  assert.ok(run!.includes(5_003));
  assert.deepEqual([run![0], run!.at(-1)], [0, 10_000]);
});

test("values that are not finite are gaps", () => {
  assert.deepEqual(runs([0, 1, 2, 3, 4], [1, 2, Infinity, NaN, 3], 100), [[0, 1], [4]]);
});

test("a line chart says in words what it shows, in the field's units", () => {
  const svg = fake(
    lineChart({
      title: "Rates",
      unit: "bit/s",
      t_s: [0, 1, 2],
      lines: [{ name: "multipath", colour: "#000", values: [1e6, 2e6, 3e6] }],
      width: 390,
    }),
  );
  assert.equal(svg.getAttribute("aria-label"), "Rates. multipath: mean 2 Mb/s, from 1 Mb/s to 3 Mb/s");
  assert.match(svg.textContent, /Rates \(Mb\/s\)/);
  assert.equal(svg.all("title")[0]!.textContent, "multipath: mean 2 Mb/s, from 1 Mb/s to 3 Mb/s");
});

test("lines of a group are one entry", () => {
  const lines = Array.from({ length: 16 }, (_, n) => ({
    name: `path ${n}`,
    group: "ensemble",
    colour: "#000",
    values: [n, n],
  }));
  const svg = fake(lineChart({ title: "cwnd", unit: "segments", t_s: [0, 1], lines, width: 390 }));
  assert.equal(svg.all(".ab-curve").length, 16);
  assert.deepEqual(
    svg
      .all(".ab-legend")[0]!
      .all("text")
      .map((text) => text.textContent),
    ["ensemble (16)"],
  );
});

test("names at the ends of lines keep apart", () => {
  const lines = [1, 1.01, 1.02].map((value, n) => ({
    name: `line ${n}`,
    colour: "#000",
    values: [value, value],
  }));
  const svg = fake(lineChart({ title: "t", unit: "packets", t_s: [0, 1], lines, width: 900 }));
  const ys = svg
    .all(".ab-labels")[0]!
    .all("text")
    .map((text) => Number(text.getAttribute("y")))
    .sort((a, b) => a - b);
  assert.ok(ys[1]! - ys[0]! > 14.9 && ys[2]! - ys[1]! > 14.9);
});

test("the cursor goes to the time, and its dots to the values", () => {
  const picture = lineChart({
    title: "t",
    unit: "packets",
    t_s: [0, 5, 10],
    lines: [{ name: "queue", colour: "#000", values: [0, NaN, 8] }],
    width: 390,
  });
  const svg = fake(picture);
  const [dot] = svg.all("circle");
  setCursor(picture, 10);
  assert.equal(dot!.getAttribute("visibility"), "visible");
  assert.match(svg.all(".ab-cursor")[0]!.textContent, /10\.00 s/);
  setCursor(picture, 6);
  assert.equal(dot!.getAttribute("visibility"), "hidden");
});

test("pointing into a chart gives the time there", () => {
  const seen: number[] = [];
  const svg = fake(
    lineChart({
      title: "t",
      unit: "packets",
      t_s: [0, 10],
      lines: [],
      width: 800,
      seek: (t_s) => seen.push(t_s),
    }),
  );
  Object.assign(svg, { setPointerCapture: () => undefined });
  svg.listeners.get("pointerdown")![0]!({ clientX: 9999, pointerId: 1 });
  assert.ok(Math.abs(seen[0]! - 10) < 1e-9);
});

const BAR: Bar = {
  name: "multipath",
  colour: "#000",
  value: 1.28e6,
  half: 0.03e6,
  equilibrium: 1.4e6,
  optimum: 1e6,
  published: 1.3e6,
};

test("a bar has its interval and a mark for everything that is known of it", () => {
  const svg = fake(
    barChart({
      title: "Throughput",
      unit: "bit/s",
      bars: [BAR, { name: "tcp", colour: "#111", value: 5e5 }],
      width: 390,
    }),
  );
  const rows = svg.all(".ab-bar");
  const count = (row: number, what: string): number => rows[row]!.all(what).length;
  assert.deepEqual(
    [".ab-whisker", ".ab-equilibrium", ".ab-optimum", ".ab-published"].map((what) => count(0, what)),
    [1, 1, 1, 1],
  );
  assert.deepEqual(
    [".ab-whisker", ".ab-equilibrium"].map((what) => count(1, what)),
    [0, 0],
  );
  assert.match(
    rows[0]!.all("title")[0]!.textContent,
    /multipath: 1\.28 Mb\/s, interval 1\.25 Mb\/s to 1\.31 Mb\/s, equilibrium 1\.4 Mb\/s, optimum 1 Mb\/s, published 1\.3 Mb\/s/,
  );
  assert.match(svg.textContent, /1\.280 ± 0\.030/);
});

test("an interval that would begin below 0 is cut there, and its half is still that of the statistics", () => {
  const wide = { ...BAR, value: 1e5, half: 3e5 };
  const svg = fake(barChart({ title: "t", unit: "bit/s", bars: [wide], width: 390 }));
  assert.match(svg.textContent, /0\.10 ± 0\.30/);
  assert.match(svg.all(".ab-bar")[0]!.getAttribute("aria-label")!, /interval 0 Mb\/s to 400 kb\/s/);
});

test("the legend of bars explains only the marks that are there", () => {
  const svg = fake(
    barChart({
      title: "t",
      unit: "bit/s",
      bars: [{ ...BAR, published: undefined as never, equilibrium: undefined as never }],
      width: 390,
    }),
  );
  assert.deepEqual(
    svg
      .all(".ab-legend")[0]!
      .all("text")
      .map((text) => text.textContent),
    ["optimum"],
  );
});

test("everything of a bar is left of its value, so that nothing overlaps at 390 pixels", () => {
  const svg = fake(barChart({ title: "t", unit: "bit/s", bars: [BAR], width: 390 }));
  const bar = svg.all(".ab-bar")[0]!;
  const x = Number(/translate\(([\d.]+)/.exec(bar.all(".ab-equilibrium")[0]!.getAttribute("transform")!)![1]);
  assert.ok(x + 5 < 390 - 2 - 70);
});

test("charts without values are drawn", () => {
  assert.ok(lineChart({ title: "t", unit: "s", t_s: [], lines: [], width: 390 }));
  assert.ok(barChart({ title: "t", unit: "bit/s", bars: [], width: 390 }));
});
