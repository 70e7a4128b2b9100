// Texts of lessons with the numbers of runs in them.

import { interval, significant } from "../format.ts";
import { UNITS } from "./guide.ts";
import type { Quantity, Unit } from "./guide.ts";
import type { Interval } from "../statistics.ts";

/** Names in braces. */
const NAMED = /\{(\w+)\}/g;

/** A part of a text; numbers of runs are marked, so that a reader can tell them from published ones. */
export interface Part {
  text: string;
  measured: boolean;
}

/** The names of quantities in a text. */
export function namesIn(text: string): string[] {
  return [...text.matchAll(NAMED)].map((found) => found[1] ?? "");
}

/** A text with its quantities filled in. Throws for a quantity that was not measured. */
export function filled(
  text: string,
  quantities: Readonly<Record<string, Quantity>>,
  found: Readonly<Record<string, Interval>>,
  units = true,
): Part[] {
  return text.split(NAMED).map((part, place) => {
    if (place % 2 === 0) return { text: part, measured: false };
    const [quantity, value] = [quantities[part], found[part]];
    if (!quantity || !value) throw new Error(`no run measures \`${part}\``);
    return { text: shown(quantity, value, units), measured: true };
  });
}

/** A value with its interval: "0.71 ± 0.01 Mb/s". */
export function shown(quantity: Quantity, { mean, half }: Interval, units = true): string {
  const number = interval(mean, half, 1 / UNITS[quantity.unit]).replaceAll("-", "−");
  const sign = quantity.signed && mean > 0 ? "+" : "";
  return `${sign}${number}${units ? unit(quantity.unit) : ""}`.replaceAll(" ", "\u00a0");
}

/** A value that the reader chose or a document has, in the unit that it is written in. */
export function written(value: number, of: Unit): string {
  return `${significant(value, 6).replace("-", "−")}${unit(of)}`.replaceAll(" ", "\u00a0");
}

/** Counts stand before the word for what they count. */
function unit(of: Unit): string {
  return of === "count" ? "" : ` ${of}`;
}
