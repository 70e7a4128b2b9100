// The one interface between the page and an engine, and the types of what an engine answers.
// Units are in the names: _s seconds, _bps bit/s; shapes are those of docs/reference/result.md.

/** A scenario and the changes of it; `controller` is that of multipath users, null for the scenario's own. */
export interface Ask {
  name: string;
  text: string;
  controller: string | null;
  /** As `--set` takes them: key=value. */
  overrides: string[];
}

export interface Queue {
  kind: string;
  limit_packets?: number | null;
  min_packets?: number;
  max_packets?: number;
}

export interface Change {
  at_s: number;
  rate_bps: number | null;
  delay_s: number | null;
  loss: number | null;
  up: boolean | null;
}

export interface Link {
  name: string;
  rate_bps: number | null;
  opportunities: unknown;
  delay_s: number;
  queue: Queue | null;
  loss: number;
  per_user: boolean;
  /** The medium that carries the link, and the stations of its users; empty for a wired link. */
  attachments: { medium: number; from: number[]; to: number[] }[];
  changes: Change[];
}

export interface Path {
  /** Numbers of links, from sender to receiver. */
  links: number[];
  back: number[];
  base_rtt_s: number;
  join_s: number;
  leave_s: number | null;
  backup: boolean;
}

export interface Class {
  name: string;
  count: number;
  controller: string;
  law: string | null;
  protocol: string;
  /** Bytes after which a user ends; their mean, if there are `sizes`. */
  transfer_bytes?: number | null;
  sizes?: unknown;
  /** Rate of the application, if it is limited. */
  app_rate_bps?: number | null;
  /** Pauses of the application. */
  pauses?: unknown;
  start_s: number;
  spread_s: number;
  packet_bytes: number;
  paths: Path[];
  /** Whether a controller that is chosen replaces its own. */
  subject: boolean;
}

export interface Station {
  name: string;
  /** Number of its node in `Plan.nodes`, null without positions. */
  node: number | null;
  place_m: [number, number] | null;
}

export interface Medium {
  name: string;
  kind: string;
  stations: Station[];
}

export interface PlanNode {
  name: string;
  [key: string]: unknown;
}

/** The parts of a plan that the page reads (docs/reference/scenario.md). */
export interface Plan {
  name: string;
  title: string | null;
  source: string | null;
  duration_s: number;
  warmup_s: number;
  sample_s: number;
  links: Link[];
  media: Medium[];
  area: { width_m: number; height_m: number } | null;
  nodes: PlanNode[];
  classes: Class[];
  choices: { what: string; value: string; why: string }[];
  warnings: string[];
}

/** A column: words, or numbers; a matrix has a row of `width` numbers for each sample. */
export interface Column {
  name: string;
  kind: string;
  unit: string;
  values?: (string | null)[];
  numbers?: Float64Array;
  width?: number;
}

export interface Table {
  rows: number;
  columns: Column[];
}

export interface Matrix {
  values: Float64Array;
  width: number;
  rows: number;
}

/** What the header of an answer says of a run, beside its tables. */
export interface RunFacts {
  seed: number;
  digest: string;
  events: number;
  packet_hops: number;
  simulated_s: number;
  conservation: Record<string, number>;
}

const NONE = new Float64Array(0);

/** One run: facts and tables, with accessors by class. Rows of `paths` number the columns of `series.paths`. */
export class Run {
  private readonly byClass = new Map<string, number[][]>();

  constructor(
    readonly facts: RunFacts,
    readonly tables: Readonly<Record<string, Table>>,
    /** The bytes of the tables, as they came: two engines agree if these do. */
    readonly bytes: Uint8Array = new Uint8Array(0),
  ) {
    const classes = this.words("flows", "class");
    const flows = this.numbers("paths", "flow");
    const paths = this.numbers("paths", "path");
    flows.forEach((flow, row) => {
      const name = classes[flow] ?? "";
      const places = this.byClass.get(name) ?? [];
      this.byClass.set(name, places);
      (places[paths[row] ?? 0] ??= []).push(row);
    });
  }

  /** A numeric column; empty if the run does not have it. */
  numbers(table: string, column: string): Float64Array {
    return this.column(table, column)?.numbers ?? NONE;
  }

  /** A column of words; empty if the run does not have it. */
  words(table: string, column: string): (string | null)[] {
    return this.column(table, column)?.values ?? [];
  }

  /** Times of the samples, in seconds. */
  get times(): Float64Array {
    return this.numbers("series.t_s", "t_s");
  }

  /** Samples of `paths`, `links`, `stations`, `flows` or `nodes`: a row for each time, a column for each of them. */
  series(of: string, column: string): Matrix {
    const found = this.column(`series.${of}`, column);
    const values = found?.numbers ?? NONE;
    const width = found?.width ?? 1;
    return { values, width, rows: width > 0 ? values.length / width : 0 };
  }

  /** A metric of table `flows`, one value for each user of a class. */
  users(cls: string, metric: string): Float64Array {
    const values = this.numbers("flows", metric);
    const classes = this.words("flows", "class");
    return values.filter((_, row) => classes[row] === cls);
  }

  /** A metric of table `paths` for a class: for each path, one value for each user. */
  paths(cls: string, metric: string): Float64Array[] {
    const values = this.numbers("paths", metric);
    return this.pathNumbers(cls).map((rows) => Float64Array.from(rows, (row) => values[row] ?? NaN));
  }

  /** Rows of table `paths`, which are columns of `series.paths`: for each path of a class, those of its users. */
  pathNumbers(cls: string): number[][] {
    return this.byClass.get(cls) ?? [];
  }

  /** Number of the last sample that is not after `t_s`; 0 if there is none. */
  sample(t_s: number): number {
    const times = this.times;
    let low = 0;
    let high = times.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((times[middle] ?? 0) <= t_s + 1e-9) low = middle;
      else high = middle - 1;
    }
    return Math.max(0, low);
  }

  private column(table: string, name: string): Column | undefined {
    return this.tables[table]?.columns.find((one) => one.name === name);
  }
}

/** Rates of theory in bit/s for a user of each class; null with the reason in `why`. */
export interface Theory {
  equilibrium: Record<string, number> | null;
  optimum: Record<string, number> | null;
  why: string;
  /** Parts of the plan that theory ignores; undefined for none. */
  left_out?: string[];
}

export interface Shipped {
  /** Folder and file, as the command line takes it: khalili/scenario-c. */
  name: string;
  title: string;
  source: string;
  text: string;
}

/** A published rate of a user of a class, and the claim that judges it. */
export interface Published {
  scenario: string;
  controller: string;
  overrides: string[];
  users: string;
  bps: number;
  claim: string;
  source: string;
}

export interface Data {
  version: string;
  scenarios: Shipped[];
  published: Published[];
  theory: Record<string, Theory>;
  /** What was asked for on the command line or in a notebook; the fragment of the address goes before it. */
  open?: Opening | null;
}

/** A scenario to begin with; without `text` the shipped one of that name. */
export interface Opening {
  name: string;
  text?: string | null;
  controller?: string | null;
  overrides?: string[];
  seed?: number;
  replications?: number;
  /** What the reader should know of it. */
  note?: string;
}

export interface Kind {
  name: string;
  about: string;
  parameters?: { name: string; default?: unknown; meaning?: string }[];
}

export interface Listing {
  controllers: Kind[];
  queues: Kind[];
}

/** Arguments of the definitions in `anabranch.fairness`, in their order. */
export type Fairness =
  | { p2: [multipath: number, single: number, fairMultipath: number, fairSingle: number] }
  | { p1: [othersBefore: number, othersAfter: number, upgradedBefore: number, upgradedAfter: number] }
  | { harm: [alone: number, beside: number] };

/** An error of the engine, in its words. */
export class EngineError extends Error {}

export interface Engine {
  readonly kind: "native" | "page";
  data(): Promise<Data>;
  plan(ask: Ask): Promise<Plan>;
  text(ask: Ask): Promise<string>;
  /** Rejects with an AbortError once `signal` says so; a run that has begun may go on unseen. */
  run(ask: Ask, seed: number, signal?: AbortSignal, series?: boolean): Promise<Run>;
  list(): Promise<Listing>;
  fairness(question: Fairness): Promise<boolean | number>;
  /** undefined: this engine cannot compute it. */
  theory(ask: Ask, signal?: AbortSignal): Promise<Theory | undefined>;
  /** How many runs it makes at the same time. */
  readonly width: number;
}

/** The key of precomputed theory (`anabranch.explorer.data`). */
export function theoryKey(ask: Ask): string {
  return JSON.stringify([ask.name, ask.controller ?? "", ask.overrides]);
}
