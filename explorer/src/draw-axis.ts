// Axes: ticks at round numbers, and the points of a long series that a picture needs.

/** From values to pixels. */
export interface Scale {
  (value: number): number;
  from: number;
  to: number;
  /** From pixels to values. */
  back(at: number): number;
}

/** Round numbers from `from` to `to`, about `count` of them; `beyond` adds one that is not below `to`. */
export function ticks(from: number, to: number, count: number, beyond = true): number[] {
  if (!(to > from) || !Number.isFinite(to - from)) return [from];
  const rough = (to - from) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 2.5, 5].find((one) => one * power >= rough * 0.999) ?? 10);
  const first = Math.ceil(from / step - 1e-9);
  const last = beyond ? Math.ceil(to / step - 1e-9) : Math.floor(to / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/**
 * Indices of the points that a line needs in so many columns of pixels: of each column the first, the
 * least, the largest and the last. Values that are not finite divide it into runs.
 */
export function runs(t_s: ArrayLike<number>, values: ArrayLike<number>, columns: number): number[][] {
  const found: number[][] = [];
  const start = t_s[0] ?? 0;
  const per = columns / ((t_s[t_s.length - 1] ?? 1) - start || 1);
  let run: number[] = [];
  let inside: { column: number; first: number; least: number; most: number; last: number } | undefined;
  const close = (): void => {
    if (!inside) return;
    const { first, least, most, last } = inside;
    run.push(...[...new Set([first, least, most, last])].sort((a, b) => a - b));
    inside = undefined;
  };
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i]!;
    if (!Number.isFinite(value)) {
      close();
      if (run.length > 0) found.push(run);
      run = [];
      continue;
    }
    const column = Math.floor((t_s[i]! - start) * per);
    if (inside?.column !== column) {
      close();
      inside = { column, first: i, least: i, most: i, last: i };
    }
    inside!.last = i;
    if (value < values[inside!.least]!) inside!.least = i;
    if (value > values[inside!.most]!) inside!.most = i;
  }
  close();
  if (run.length > 0) found.push(run);
  return found;
}
