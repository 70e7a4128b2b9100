// Rates, windows and queues over time, one chart of each for each side, with the playhead as cursor.

import { lineChart, setCursor } from "./chart.ts";
import { element } from "./dom.ts";
import type { Line, LineSpec } from "./chart.ts";
import type { Class, Matrix } from "./engine.ts";
import type { Side } from "./session.ts";

/** Dashes of the paths of a class, by number; the paths of a class with more have one entry of the legend. */
const DASHES = [undefined, "6 3", "2 3", "8 3 2 3"];
/** Colours of links, none of which is one of a class. */
export const LINKS = ["#7d6bb0", "#8a8a3c", "#b0654f", "#4f7f8a", "#a0527a", "#777777"];
/** Rates are means over so many seconds, or over a sample if that is longer. */
const SMOOTH_S = 1;
/** Beside each other if there is room for two of this width. */
const NARROW = 420;

export class Charts {
  private sides: readonly Side[] = [];
  private charts: SVGSVGElement[] = [];
  private width = 0;
  private t_s = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** Where the playhead goes when someone points into a chart. */
  seeking: (t_s: number) => void = () => undefined;

  constructor(
    private readonly host: HTMLElement,
    private readonly colour: (cls: string) => string,
  ) {
    new ResizeObserver(() => {
      if (Math.abs(host.clientWidth - this.width) > 1) this.show(this.sides);
    }).observe(host);
  }

  /** Draws the charts once the rest of the page is drawn: no frame waits for all of them. */
  later(sides: readonly Side[]): void {
    this.sides = sides;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.show(this.sides), 0);
  }

  show(sides: readonly Side[]): void {
    this.sides = sides;
    this.width = this.host.clientWidth || 800;
    const columns = this.width >= 2 * NARROW ? 2 : 1;
    const width = Math.floor((this.width - (columns - 1) * 16) / columns);
    const specs = [this.rates, this.windows, this.queues].flatMap((make) =>
      sides.flatMap((side, number) => {
        const name = sides.length > 1 ? `${"AB"[number]}, ${side.label}: ` : "";
        const spec = make.call(this, side);
        if (!spec || side.run.times.length < 2) return [];
        return [{ ...spec, ...this.common(side), title: name + spec.title }];
      }),
    );
    // The last one of an odd number has the room of two.
    const across = (number: number): boolean =>
      columns === 2 && specs.length % 2 === 1 && number === specs.length - 1;
    this.charts = specs.map((spec, n) => lineChart({ ...spec, width: across(n) ? this.width : width }));
    this.host.replaceChildren(
      ...this.charts.map((chart, n) => element("div", { class: across(n) ? "across" : undefined }, chart)),
    );
    this.host.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
  }

  seek(t_s: number): void {
    this.t_s = t_s;
    for (const chart of this.charts) setCursor(chart, t_s);
  }

  pictures(): SVGSVGElement[] {
    return this.charts;
  }

  private common(side: Side): Pick<LineSpec, "t_s" | "cursor_s" | "warmup_s" | "seek" | "height"> {
    const seek = (t_s: number): void => this.seeking(t_s);
    return { t_s: side.run.times, cursor_s: this.t_s, warmup_s: side.plan.warmup_s, seek, height: 200 };
  }

  private rates(side: Side): Chart {
    const arrived = side.run.series("paths", "arrived_bytes");
    const window = Math.max(1, Math.round(SMOOTH_S / side.plan.sample_s));
    const lines = side.plan.classes.map((cls): Line => {
      const columns = side.run.pathNumbers(cls.name).flat();
      const users = Math.max(1, side.run.users(cls.name, "throughput_bps").length);
      const total = combined(arrived, columns, columns.length);
      const values = total.map((bytes, row) => {
        const before = Math.max(0, row - window);
        const span = (side.run.times[row] ?? 0) - (side.run.times[before] ?? 0) || NaN;
        return ((bytes - (total[before] ?? 0)) * 8) / users / span;
      });
      return { name: cls.name, colour: this.colour(cls.name), values };
    });
    return { title: "Rates, mean of users", unit: "bit/s", lines };
  }

  private windows(side: Side): Chart {
    const cwnd = side.run.series("paths", "cwnd_segments");
    const lines = side.plan.classes
      .filter((cls) => cls.protocol === "tcp")
      .flatMap((cls) =>
        side.run.pathNumbers(cls.name).map((columns, path): Line => {
          const dash = DASHES[path % DASHES.length];
          const line: Line = {
            name: pathName(side, cls, path),
            colour: this.colour(cls.name),
            values: combined(cwnd, columns, 1),
          };
          if (cls.paths.length > DASHES.length) line.group = `${cls.name}: ${cls.paths.length} paths`;
          else if (dash !== undefined) line.dash = dash;
          return line;
        }),
      );
    return { title: "cwnd, mean of users", unit: "segments", lines };
  }

  /** The queues of the links in which most packets wait. */
  private queues(side: Side): Chart | undefined {
    const waiting = side.run.series("links", "queue_packets");
    const found = side.plan.links
      .map((link, number) => ({ link, values: combined(waiting, [number], 1) }))
      .filter(({ link, values }) => link.rate_bps !== null && values.some((value) => value > 0))
      .sort((a, b) => total(b.values) - total(a.values))
      .slice(0, LINKS.length);
    if (found.length === 0) return undefined;
    const lines = found.map(({ link, values }, n) => ({
      name: link.name,
      colour: LINKS[n] ?? "#777777",
      values,
    }));
    return { title: "Queues", unit: "packets", lines };
  }
}

type Chart = Pick<LineSpec, "title" | "unit" | "lines">;

/** The name of a path by the links that only it crosses. */
function pathName(side: Side, cls: Class, path: number): string {
  if (cls.paths.length === 1) return cls.name;
  const others = cls.paths.filter((_, n) => n !== path).flatMap((one) => one.links);
  const own = (cls.paths[path]?.links ?? []).filter((link) => !others.includes(link));
  const names = own.map((link) => side.plan.links[link]?.name ?? "");
  return `${cls.name}: ${names.join(", ") || `path ${path + 1}`}`;
}

/** For each sample the mean of some columns, or their sum if `share` is the number of them. */
function combined({ values, width, rows }: Matrix, columns: readonly number[], share: number): Float64Array {
  const made = new Float64Array(rows);
  const factor = share / Math.max(1, columns.length);
  for (let row = 0; row < rows; row++) {
    let sum = 0;
    for (const column of columns) sum += values[row * width + column] ?? 0;
    made[row] = sum * factor;
  }
  return made;
}

function total(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0);
}
