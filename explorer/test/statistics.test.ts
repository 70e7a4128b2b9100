import assert from "node:assert/strict";
import test from "node:test";
import { interval, mean, paired, quantile } from "../src/statistics.ts";

// scipy.stats.t.ppf(0.975, df)
const QUANTILES: [number, number][] = [
  [1, 12.706204736174694],
  [2, 4.302652729749462],
  [3, 3.182446305283708],
  [4, 2.7764451051977934],
  [9, 2.2621571627982049],
  [19, 2.0930240544083087],
  [50, 2.0085591121007611],
  [99, 1.9842169515864165],
];

test("quantiles of Student's t are those of scipy", () => {
  for (const [df, expected] of QUANTILES)
    assert.ok(Math.abs(quantile(df) - expected) < 1e-9, `${df}: ${quantile(df)}`);
});

test("an interval of one value is infinite, and one of equal values has no width", () => {
  assert.deepEqual(interval([3]), { mean: 3, half: Infinity, n: 1 });
  assert.deepEqual(interval([0.1, 0.1, 0.1]), { mean: 0.1, half: 0, n: 3 });
});

test("an interval has the width of the closed form", () => {
  const { mean, half, n } = interval([1, 2, 3, 4]);
  assert.equal(mean, 2.5);
  assert.equal(n, 4);
  assert.ok(Math.abs(half - (3.182446305283708 * Math.sqrt(5 / 3)) / 2) < 1e-9);
});

test("paired differences take as many seeds as both have", () => {
  assert.deepEqual(paired([3, 4, 9], [1, 2]), { mean: 2, half: 0, n: 2 });
});

test("a mean of nothing is no number", () => {
  assert.equal(mean([1, 2, 6]), 3);
  assert.equal(mean(Float64Array.of(1, 2)), 1.5);
  assert.ok(Number.isNaN(mean([])));
});
