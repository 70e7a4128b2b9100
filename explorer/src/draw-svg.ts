// SVG elements, words that fit a width, and things in a row that keep a distance.

const SVG = "http://www.w3.org/2000/svg";

export type Attributes = Record<string, string | number | undefined>;

/** An SVG element with attributes and children; strings become text. Attributes that are undefined are left out. */
export function el<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): SVGElementTagNameMap[K] {
  const made = document.createElementNS(SVG, tag);
  set(made, attributes);
  for (const child of children) made.append(child);
  return made;
}

/** Sets attributes; numbers are rounded to 1/100, as a picture has no finer ones. */
export function set(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined) continue;
    element.setAttribute(name, typeof value === "number" ? String(round(value)) : value);
  }
}

export function round(value: number): number {
  return Math.round(value * 100) / 100;
}

/** Width of a text in pixels, estimated from above; good enough to leave room for it. */
export function textWidth(text: string, size: number): number {
  let units = 0;
  for (const char of text) {
    if ("iljtfrI|.,:;'! ()[]/".includes(char)) units += 0.36;
    else if ("mwMW%@—".includes(char)) units += 0.9;
    else units += char >= "A" && char <= "Z" ? 0.7 : 0.58;
  }
  return units * size;
}

/** The text; if it is wider than so many pixels its beginning, an ellipsis, and its end, which often is a number. */
export function fitted(text: string, width: number, size: number): string {
  if (textWidth(text, size) <= width) return text;
  const tail = text.length > 8 ? text.slice(-2) : "";
  let end = text.length - tail.length;
  while (end > 1 && textWidth(`${text.slice(0, end)}…${tail}`, size) > width) end -= 1;
  return `${text.slice(0, end)}…${tail}`;
}

/** A whole number in [0, 2³²) that depends on all of its arguments: chance without a generator. */
export function hash(...parts: number[]): number {
  let mixed = 0x811c9dc5;
  for (const part of parts) {
    mixed = Math.imul(mixed ^ (part | 0), 0x01000193);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b);
    mixed ^= mixed >>> 13;
  }
  return mixed >>> 0;
}

/** Whether the reader asked for less motion. */
export function still(): boolean {
  return typeof matchMedia === "function" && matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/**
 * Positions nearest to the wanted ones, by least squares, of things in a row that keep a distance:
 * thing i is at least `apart[i]` behind thing i - 1. Pools adjacent violators (isotonic regression).
 */
export function settled(wanted: number[], apart: number[], weights?: number[]): number[] {
  const offsets: number[] = [];
  let offset = 0;
  wanted.forEach((_, i) => offsets.push((offset += i > 0 ? (apart[i] ?? 0) : 0)));
  const pools: { sum: number; weight: number; count: number }[] = [];
  wanted.forEach((value, i) => {
    const weight = weights?.[i] ?? 1;
    let pool = { sum: (value - offsets[i]!) * weight, weight, count: 1 };
    for (
      let last = pools.at(-1);
      last && last.sum / last.weight >= pool.sum / pool.weight;
      last = pools.at(-1)
    ) {
      pools.pop();
      pool = { sum: pool.sum + last.sum, weight: pool.weight + last.weight, count: pool.count + last.count };
    }
    pools.push(pool);
  });
  const found = pools.flatMap((pool) => new Array<number>(pool.count).fill(pool.sum / pool.weight));
  return found.map((value, i) => value + offsets[i]!);
}
