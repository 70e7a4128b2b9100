// What pictures and controls read of a plan beyond what the rest of the page does (docs/reference/scenario.md).
// All of it may be absent: a plan of engine.ts is one of these.

import type * as engine from "./engine.ts";

export interface Queue extends engine.Queue {
  limit_bytes?: number | null;
}

export interface Link extends engine.Link {
  queue: Queue | null;
}

export interface Path extends engine.Path {
  /** Ways that packets take in turn: links there, and links back. */
  turns?: [number[], number[]][];
}

export interface Class extends engine.Class {
  paths: Path[];
}

export interface Station extends engine.Station {
  queue?: Queue | null;
}

export interface Radio {
  power_dbm: number;
  loss_at_1m_db: number;
  exponent: number;
  sense_dbm: number;
}

export interface Medium extends engine.Medium {
  stations: Station[];
  rate_bps?: number;
  radio?: Radio | null;
}

export interface Plan extends engine.Plan {
  links: Link[];
  media: Medium[];
  classes: Class[];
}
