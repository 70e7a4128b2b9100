// Means, and Student intervals over replications as of anabranch.statistics.interval.

export interface Interval {
  mean: number;
  /** Half the width; infinite with a single value. */
  half: number;
  n: number;
}

/** Mean and Student interval of 95 %; NaN for no values. */
export function interval(values: readonly number[]): Interval {
  const n = values.length;
  const first = values[0] ?? NaN;
  if (n <= 1) return { mean: first, half: Infinity, n };
  if (values.every((value) => value === first)) return { mean: first, half: 0, n };
  const middle = mean(values);
  const squares = values.reduce((sum, value) => sum + (value - middle) ** 2, 0);
  return { mean: middle, half: (quantile(n - 1) * Math.sqrt(squares / (n - 1))) / Math.sqrt(n), n };
}

/** NaN for no values. */
export function mean(values: ArrayLike<number>): number {
  let sum = 0;
  for (let k = 0; k < values.length; k++) sum += values[k] ?? NaN;
  return values.length === 0 ? NaN : sum / values.length;
}

/** Interval of the difference of runs with the same seeds. */
export function paired(after: readonly number[], before: readonly number[]): Interval {
  const both = Math.min(after.length, before.length);
  return interval(Array.from({ length: both }, (_, k) => (after[k] ?? NaN) - (before[k] ?? NaN)));
}

const quantiles = new Map<number, number>();

/** 97.5 % quantile of Student's t with `df` degrees of freedom, by bisection of its distribution. */
export function quantile(df: number): number {
  let found = quantiles.get(df);
  if (found === undefined) {
    let low = 1.9;
    let high = 12.8; // the quantile of one degree of freedom is 12.7
    for (let step = 0; step < 60; step++) {
      const middle = (low + high) / 2;
      if (beyond(middle, df) > 0.05) low = middle;
      else high = middle;
    }
    found = (low + high) / 2;
    quantiles.set(df, found);
  }
  return found;
}

/** P(|T| > t): the regularised incomplete beta function at df/(df + t²), with a = df/2 and b = 1/2. */
function beyond(t: number, df: number): number {
  const x = df / (df + t * t);
  const a = df / 2;
  const b = 0.5;
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(1 - x));
  return x < (a + 1) / (a + b + 2)
    ? (front * fraction(x, a, b)) / a
    : 1 - (front * fraction(1 - x, b, a)) / b;
}

/** The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), by Lentz's method. */
function fraction(x: number, a: number, b: number): number {
  let c = 1;
  let d = 1 / (1 - ((a + b) * x) / (a + 1));
  let value = d;
  for (let m = 1; m < 300; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / (1 + even * d);
    c = 1 + even / c;
    value *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / (1 + odd * d);
    c = 1 + odd / c;
    value *= d * c;
    if (Math.abs(d * c - 1) < 1e-15) break;
  }
  return value;
}

/** ln Γ(x) for multiples of 1/2 above 0: sums over the factors down to 1 or 1/2. */
function logGamma(x: number): number {
  let sum = 0;
  let rest = x;
  while (rest > 1) {
    rest -= 1;
    sum += Math.log(rest);
  }
  return rest === 0.5 ? sum + Math.log(Math.PI) / 2 : sum;
}
