// What a network is drawn from: pipes (links and media), and courses (the ways of paths through them).

import type { Link, Plan } from "./draw-plan.ts";
import { quantity, significant } from "./format.ts";

/** A link, or a medium with all links that it carries. */
export interface Pipe {
  kind: "link" | "delay" | "medium";
  name: string;
  /** Number of the link; -1 for a medium. */
  link: number;
  /** Number of the medium; -1 for a link. */
  medium: number;
  /** Private copies of a link, drawn as one. */
  copies: number;
  /** Rate of one copy; null if the plan gives none. */
  rate_bps: number | null;
  /** Capacity of the queue of one copy in packets; null without a limit, or for a medium. */
  limit_packets: number | null;
  /** Packets that its box holds: the capacity, or where RED drops every packet. */
  room_packets: number | null;
  /** RED's thresholds in packets. */
  marks_packets: number[];
  /** Columns of `series.stations` that send on the medium here, and the rooms of their queues. */
  stations: { column: number; name: string; limit_packets: number | null }[];
  /** What is said of it below its name: rate, delay, loss. */
  facts: string;
  /** All that the plan says of it, in words. */
  about: string;
}

/** A way of a path through pipes. A path has several if its packets take turns. */
export interface Course {
  cls: number;
  path: number;
  /** Part of the path's packets that takes it. */
  part: number;
  pipes: number[];
}

/** Pipes and courses of a plan, in the order in which paths name them. Links of ACKs are left out. */
export function pipesOf(plan: Plan): { pipes: Pipe[]; courses: Course[] } {
  const known = new Map<string, number>();
  const pipes: Pipe[] = [];
  const courses: Course[] = [];
  plan.classes.forEach((own, cls) => {
    own.paths.forEach((path, number) => {
      const ways = [path.links, ...(path.turns ?? []).map((turn) => turn[0])];
      for (const links of ways) {
        const crossed = crossing(plan, links, known, pipes);
        courses.push({ cls, path: number, part: 1 / ways.length, pipes: crossed });
      }
    });
  });
  return { pipes, courses };
}

/** Numbers of the pipes that links cross; new ones are added to `known` and `pipes`. */
function crossing(plan: Plan, links: number[], known: Map<string, number>, pipes: Pipe[]): number[] {
  const crossed: number[] = [];
  const times = new Map<number, number>();
  for (const number of links) {
    const link = plan.links[number];
    if (!link) continue;
    const medium = link.attachments[0]?.medium ?? -1;
    const nth = medium < 0 ? 0 : (times.get(medium) ?? 0); // a medium may be crossed up and down
    if (medium >= 0) times.set(medium, nth + 1);
    const key = medium < 0 ? `link ${number}` : `medium ${medium} ${nth}`;
    let found = known.get(key);
    if (found === undefined) {
      found = pipes.length;
      known.set(key, found);
      pipes.push(medium < 0 ? wire(plan, number, link) : air(plan, medium));
    }
    const pipe = pipes[found];
    if (pipe && medium >= 0) addSenders(plan, link, pipe);
    if (!crossed.includes(found)) crossed.push(found);
  }
  return crossed;
}

function wire(plan: Plan, number: number, link: Link): Pipe {
  const users = plan.classes.filter((own) => own.paths.some((path) => path.links.includes(number)));
  const copies = link.per_user
    ? Math.max(
        1,
        users.reduce((sum, own) => sum + own.count, 0),
      )
    : 1;
  const queue = link.queue;
  const bytes = queue?.limit_bytes;
  const limit = queue?.limit_packets ?? (bytes ? Math.max(1, Math.round(bytes / 1500)) : null);
  const loss = link.loss > 0 ? `${significant(100 * link.loss, 2)} % loss` : "";
  const delay = link.delay_s > 0 ? quantity(link.delay_s, "s") : "";
  const varies = link.changes.length > 0 || link.opportunities ? "varies" : "";
  const changing = link.opportunities || link.changes.some((change) => change.rate_bps !== null);
  const rate = link.rate_bps ? `${changing ? "≈ " : ""}${quantity(link.rate_bps, "bit/s")}` : "";
  const words = [rate, delay, loss, varies].filter((word) => word !== "");
  const marks = queue?.kind === "red" ? [queue.min_packets ?? 0, queue.max_packets ?? 0] : [];
  const all = queue?.kind === "red" ? 2 * (queue.max_packets ?? Infinity) : (limit ?? Infinity);
  const room =
    limit === null ? "no limit of the queue" : `${queue?.kind ?? "queue"} with room for ${limit} packets`;
  return {
    kind: link.rate_bps ? "link" : "delay",
    name: link.name,
    link: number,
    medium: -1,
    copies,
    rate_bps: link.rate_bps,
    limit_packets: link.rate_bps ? limit : null,
    room_packets: link.rate_bps && limit !== null ? Math.min(limit, all) : null,
    marks_packets: marks,
    stations: [],
    facts: words.slice(0, 3).join(" · "),
    about: `Link ${link.name}: ${link.rate_bps ? [...words, room].join(", ") : ["no rate limit", ...words].join(", ")}`,
  };
}

const KINDS: Record<string, string> = { wifi: "Wi-Fi", bus: "bus", cell: "cell" };

function air(plan: Plan, number: number): Pipe {
  const medium = plan.media[number]!;
  const kind = KINDS[medium.kind] ?? medium.kind;
  const facts = [kind, medium.rate_bps ? quantity(medium.rate_bps, "bit/s") : ""]
    .filter((word) => word)
    .join(" · ");
  return {
    kind: "medium",
    name: medium.name,
    link: -1,
    medium: number,
    copies: 1,
    rate_bps: medium.rate_bps ?? null,
    limit_packets: null,
    room_packets: null,
    marks_packets: [],
    stations: [],
    facts,
    about: `Medium ${medium.name}: ${facts}, ${medium.stations.length} stations`,
  };
}

/** Adds the sending stations of a link to its medium's pipe. */
function addSenders(plan: Plan, link: Link, pipe: Pipe): void {
  const before = plan.media.slice(0, pipe.medium).reduce((sum, one) => sum + one.stations.length, 0);
  const stations = plan.media[pipe.medium]?.stations ?? [];
  for (const from of link.attachments.flatMap((ends) => ends.from)) {
    const column = before + from;
    if (pipe.stations.some((one) => one.column === column)) continue;
    const limit = stations[from]?.queue?.limit_packets ?? null;
    pipe.stations.push({ column, name: stations[from]?.name ?? "", limit_packets: limit });
  }
}
