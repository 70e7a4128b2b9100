import assert from "node:assert/strict";
import test from "node:test";
import {
  change,
  interval,
  mega,
  percent,
  quantity,
  rate,
  significant,
  time,
  unitFor,
} from "../src/format.ts";

test("numbers have three digits and no zeros at their end", () => {
  const cases: [number, string][] = [
    [0, "0"],
    [1, "1"],
    [0.7117, "0.712"],
    [999.9, "1000"],
    [1e-20, "0"],
    [-2.5, "−2.5"],
    [-0.00012, "−0.00012"],
    [Infinity, "∞"],
    [10240.4, "10240"],
  ];
  for (const [value, text] of cases) {
    assert.equal(significant(value), text);
  }
  assert.equal(significant(NaN), "–");
});

test("quantities are written as a scenario reads them", () => {
  assert.equal(rate(10e6), "10 Mb/s");
  assert.equal(rate(712_000), "712 kb/s");
  assert.equal(rate(1e9), "1 Gb/s");
  assert.equal(time(0.055), "55 ms");
  assert.equal(time(0), "0 ms");
  assert.equal(time(0.0000123), "12.3 µs");
  assert.equal(time(120), "120 s");
  assert.equal(quantity(0.055, "s"), "55 ms");
  assert.equal(quantity(0, "bit/s"), "0 Mb/s");
  assert.equal(quantity(12, "segments"), "12 segments");
  assert.equal(unitFor("bit/s", 999.9e6).name, "Gb/s");
  assert.equal(mega(712_345), "0.712\u00a0Mb/s");
});

test("a change has a sign, and none where nothing changes", () => {
  assert.equal(change(1.2, 1), "+20\u00a0%");
  assert.equal(change(0.5, 1), "−50\u00a0%");
  assert.equal(change(1, 1), "0\u00a0%");
  assert.equal(change(1, 0), "–");
  assert.equal(percent(1.234), "123\u00a0%");
});

test("a mean has the decimals of its interval", () => {
  assert.equal(interval(1_289_900, 5_600, 1e-6), "1.2899 ± 0.0056");
  assert.equal(interval(1_289_900, Infinity, 1e-6), "1.29");
  assert.equal(interval(120, 0), "120");
});
