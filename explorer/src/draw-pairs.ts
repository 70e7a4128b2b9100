// A table beside a map: the pairs of nodes between which most bytes go in the run, and their present rates.

import { el, fitted, set, textWidth } from "./draw-svg.ts";
import { quantity } from "./format.ts";

const SIZE = 11;
const ROW = 22;
const BAR = 3;
export const MOST_ROWS = 24;

/** One direction between two nodes. */
export interface Pair {
  from: string;
  to: string;
  colour: string;
}

export class Pairs {
  readonly group = el("g", { class: "ab-pairs", "aria-hidden": "true" });
  private rows: { rate: SVGTextElement; bar: SVGRectElement }[] = [];
  private width = 0;

  /** Puts as many pairs as fit a box. */
  place(pairs: Pair[], x: number, y: number, width: number, height: number): void {
    this.width = width;
    const room = Math.max(0, Math.min(MOST_ROWS, Math.floor((height - 20) / ROW)));
    const shown = pairs.slice(0, room);
    const rateRoom = textWidth("999 Mb/s", SIZE) + 8;
    const parts = shown.map(({ from, to, colour }, n) => {
      const base = y + 18 + (n + 1) * ROW - 8;
      const rate = el("text", {
        class: "ab-rate",
        x: x + width,
        y: base,
        "text-anchor": "end",
        "font-size": SIZE,
      });
      const bar = el("rect", { x, y: base + 4, width: 0, height: BAR, rx: 1.5, fill: colour });
      const name = fitted(`${from} → ${to}`, width - rateRoom, SIZE);
      return { rate, bar, name: el("text", { x, y: base, "font-size": SIZE }, name) };
    });
    this.rows = parts;
    const head = el("text", { class: "ab-name", x, y: y + 10, "font-size": 12 }, "Busiest pairs");
    this.group.replaceChildren(
      ...(shown.length > 0 ? [head] : []),
      ...parts.flatMap(({ name, rate, bar }) => [name, rate, bar]),
    );
  }

  /** Shows a rate for each pair; `most_bps` fills the width. */
  show(rates_bps: number[], most_bps: number): void {
    this.rows.forEach(({ rate, bar }, n) => {
      const bps = rates_bps[n] ?? 0;
      rate.textContent = bps > 0 ? quantity(bps, "bit/s") : "–";
      set(bar, { width: (this.width * Math.min(bps, most_bps)) / most_bps });
    });
  }
}
