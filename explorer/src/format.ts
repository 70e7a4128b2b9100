// Numbers as people read them, with their unit.

/** The place of the first digit: 0 for units, -1 for tenths. */
function magnitude(value: number): number {
  return Math.floor(Math.log10(Math.abs(value)));
}

/** A number with `digits` significant digits, without an exponent and trailing zeros. */
export function significant(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return "–";
  const rounded = Number(value.toExponential(digits - 1));
  if (rounded === 0) return "0";
  const decimals = Math.min(Math.max(0, digits - 1 - magnitude(rounded)), 12);
  const text = rounded.toFixed(decimals);
  return text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text;
}

const RATES: [number, string][] = [
  [1e9, "Gb/s"],
  [1e6, "Mb/s"],
  [1e3, "kb/s"],
  [1, "b/s"],
];

/** A rate as a scenario writes it: "10 Mb/s". */
export function rate(bps: number, digits = 3): string {
  const [factor, unit] = RATES.find(([least]) => Math.abs(bps) >= least) ?? [1e6, "Mb/s"];
  return `${significant(bps / factor, digits)} ${unit}`;
}

/** A rate in prose, always in Mb/s, so that rates can be compared; the space does not break. */
export function mega(bps: number, digits = 3): string {
  return `${significant(bps / 1e6, digits)}\u00a0Mb/s`;
}

/** A time as a scenario writes it: "55 ms", "1.5 s". */
export function time(seconds: number, digits = 3): string {
  if (seconds === 0) return "0 ms";
  if (seconds < 1e-3) return `${significant(seconds * 1e6, digits)} us`;
  if (seconds < 1) return `${significant(seconds * 1e3, digits)} ms`;
  return `${significant(seconds, Math.max(digits, magnitude(seconds) + 2))} s`;
}

/** A share with its unit, "2.5 %"; the space does not break. */
export function percent(share: number, digits = 2): string {
  const value = share * 100;
  return `${significant(value, Math.abs(value) >= 100 ? 3 : digits)}\u00a0%`;
}

/** A relative change with its sign, "+12 %", "−3.1 %"; below a twentieth of a percent it is none. */
export function change(later: number, earlier: number): string {
  if (!(earlier > 0)) return "–";
  const share = later / earlier - 1;
  if (Math.abs(share) < 5e-4) return percent(0);
  return `${share < 0 ? "−" : "+"}${percent(Math.abs(share))}`;
}

/** A mean with half its interval, to the two digits that the interval has: "1.24 ± 0.03". */
export function interval(mean: number, half: number, factor = 1): string {
  const value = mean * factor;
  const around = half * factor;
  if (!(around > 0) || !Number.isFinite(around)) return significant(value);
  const decimals = Math.min(Math.max(1 - magnitude(around), 0), 6);
  return `${value.toFixed(decimals)} ± ${around.toFixed(decimals)}`;
}
