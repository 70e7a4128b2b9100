// Numbers as people read them, with their unit: the one place that rounds and that knows units. A scenario
// reads what `rate`, `time` and `quantity` write.

/** The place of the first digit: 0 for units, -1 for tenths. */
function magnitude(value: number): number {
  return Math.floor(Math.log10(Math.abs(value)));
}

/** Most decimals of a number. */
const MOST_DECIMALS = 12;

/**
 * A number with `digits` significant digits, without an exponent and zeros at its end. Digits before the
 * point are never rounded: they are packets, or milliseconds, of which each one counts.
 */
export function significant(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "–" : value > 0 ? "∞" : "−∞";
  const decimals = value === 0 ? 0 : Math.max(0, digits - 1 - magnitude(value));
  const text = value.toFixed(Math.min(decimals, MOST_DECIMALS));
  const trimmed = text.includes(".") ? text.replace(/\.?0+$/, "") : text;
  return trimmed === "-0" ? "0" : trimmed.replace("-", "−");
}

export interface Unit {
  /** So many SI units are one of these. */
  size: number;
  name: string;
}

interface Scale {
  /** From large to small. */
  units: Unit[];
  /** Number of the unit in which nothing is written. */
  usual: number;
}

const SCALES: Record<string, Scale> = {
  "bit/s": {
    units: [
      { size: 1e9, name: "Gb/s" },
      { size: 1e6, name: "Mb/s" },
      { size: 1e3, name: "kb/s" },
      { size: 1, name: "b/s" },
    ],
    usual: 1,
  },
  s: {
    units: [
      { size: 1, name: "s" },
      { size: 1e-3, name: "ms" },
      { size: 1e-6, name: "µs" },
    ],
    usual: 1,
  },
  bytes: {
    units: [
      { size: 1e6, name: "MB" },
      { size: 1e3, name: "kB" },
      { size: 1, name: "B" },
    ],
    usual: 1,
  },
};

/** The unit in which values up to `most` are written; a word that is not an SI unit is its own. */
export function unitFor(unit: string, most: number): Unit {
  const scale = SCALES[unit];
  if (!scale) return { size: 1, name: unit };
  const { units, usual } = scale;
  // Just below a unit, three digits already are that unit: 999.9 kb/s is 1 Mb/s.
  const found = units.find((one) => most >= one.size * 0.9995);
  return (found ?? units.at(most > 0 ? -1 : usual)) as Unit;
}

/** A value with its unit, as in "27 Mb/s" or "55 ms". */
export function quantity(value: number, unit: string, digits = 3): string {
  const { size, name } = unitFor(unit, Math.abs(value));
  return name ? `${significant(value / size, digits)} ${name}` : significant(value, digits);
}

export function rate(bps: number, digits = 3): string {
  return quantity(bps, "bit/s", digits);
}

export function time(seconds: number, digits = 3): string {
  return quantity(seconds, "s", digits);
}

/** A rate in prose, always in Mb/s, so that rates can be compared; the space does not break. */
export function mega(bps: number, digits = 3): string {
  return `${significant(bps / 1e6, digits)}\u00a0Mb/s`;
}

/** A share with its unit, "2.5 %"; the space does not break. */
export function percent(share: number, digits = 2): string {
  return `${significant(share * 100, digits)}\u00a0%`;
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
  if (!(around > 0) || !Number.isFinite(around) || !Number.isFinite(value)) return significant(value);
  const decimals = Math.min(Math.max(1 - magnitude(around), 0), 6);
  return `${value.toFixed(decimals).replace("-", "−")} ± ${around.toFixed(decimals)}`;
}
