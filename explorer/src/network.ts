// The network as it is wired: classes of users at the left, links as pipes with their queues, far ends at
// the right, and each path as a line on which particles move. Times are simulated seconds.

import type { Plan } from "./draw-plan.ts";
import type { Run } from "./engine.ts";
import { curve, FACT_SIZE, layout, NAME_SIZE, type Layout, type Slot } from "./layout.ts";
import { evenly, linkAt, motion, spread, type Motion } from "./draw-motion.ts";
import type { Pipe } from "./draw-pipes.ts";
import { el, fitted, hash, set, still, textWidth } from "./draw-svg.ts";
import { KEYS, Roving } from "./draw-roving.ts";
import { Tip, watch } from "./draw-tip.ts";
import { quantity, significant } from "./format.ts";

/** At most so many particles in a picture, and on a course. */
const PARTICLES = 200;
const ON_COURSE = 16;
/** Points of a course among which particles are placed. */
const POINTS = 160;
const THINNEST = 1.2;
const WIDEST = 7;

/** What changes of a pipe. */
interface PipeMarks {
  group: SVGGElement;
  level: SVGRectElement | undefined;
  flash: SVGRectElement | undefined;
  said: SVGTextElement | undefined;
  /** Right end and length of the queue's box. */
  right: number;
  length: number;
}

/** What changes of a course. */
interface CourseMarks {
  group: SVGGElement;
  line: SVGPathElement;
  points: Float32Array;
  dots: SVGCircleElement[];
  offset: number;
}

export class NetworkView {
  private picture = el("svg", { class: "ab-network" });
  private plan: Plan | undefined;
  private run: Run | undefined;
  private laid: Layout | undefined;
  private moving: Motion | undefined;
  private pipes: PipeMarks[] = [];
  private courses: CourseMarks[] = [];
  private ends: SVGTextElement[] = [];
  private tip = new Tip();
  private roving = new Roving(this.picture);
  /** What the tip says, for the present sample. */
  private telling: { say: () => string[]; x: number; y: number } | undefined;
  private t_s = 0;
  private sample = -1;
  private width = 0;

  constructor(
    private readonly host: HTMLElement,
    private readonly colours: (cls: string) => string,
  ) {
    host.classList.add("ab-scroll");
    host.append(this.picture);
    if (typeof ResizeObserver === "undefined") return;
    new ResizeObserver(() => {
      if (this.plan && Math.abs(host.clientWidth - this.width) > 1) this.show(this.plan, this.run);
    }).observe(host);
  }

  svg(): SVGSVGElement {
    return this.picture;
  }

  /** Draws a plan; with a run it also shows what flows, at the present time. */
  show(plan: Plan, run: Run | undefined): void {
    const same = this.plan === plan && this.width === this.host.clientWidth && this.laid;
    this.plan = plan;
    this.run = run;
    this.width = this.host.clientWidth || 900;
    this.laid = same || layout(plan, this.width);
    this.moving =
      run && run.times.length > 1 ? motion(plan, run, this.laid.pipes, this.laid.courses) : undefined;
    this.sample = -1;
    this.telling = undefined;
    this.tip.hide();
    this.draw(plan, this.laid);
    this.seek(this.t_s);
  }

  /** Shows a time. */
  seek(t_s: number): void {
    this.t_s = t_s;
    const { run, moving } = this;
    if (!run || !moving) return;
    const sample = run.sample(t_s);
    if (sample !== this.sample) {
      this.sample = sample;
      this.atSample(sample, moving);
    }
    if (!still()) this.particles(sample, moving, run.times);
  }

  private draw(plan: Plan, laid: Layout): void {
    const { width, height } = laid;
    set(this.picture, {
      viewBox: `0 0 ${width} ${height.toFixed(0)}`,
      width,
      height: Math.round(height),
      role: "application",
      "aria-roledescription": "network",
      "aria-label": `Network of ${plan.name}, data flows from left to right: ${KEYS}`,
    });
    const said = plan.classes
      .map((own) => `${own.count} ${own.name} on ${own.paths.length} paths`)
      .join("; ");
    const describe = el("desc", {}, `${said}. ${laid.pipes.map((pipe) => pipe.about).join("; ")}.`);
    const back = el("g", {});
    const lines = el("g", { class: "ab-courses" });
    const dots = el("g", { class: "ab-dots", "aria-hidden": "true" });
    const front = el("g", {});
    this.pipes = [];
    this.courses = [];
    this.ends = [];
    for (const slot of laid.slots) {
      if (slot.kind === "pipe") this.pipes[slot.number] = this.pipe(laid, slot, back, front);
      if (slot.kind === "class") front.append(this.users(plan, slot));
      if (slot.kind === "end") front.append(this.end(plan, slot));
    }
    laid.courses.forEach((_, number) => this.courses.push(this.course(plan, laid, number, lines, dots)));
    // Pipes as data comes to them, then courses.
    const order = laid.slots.filter((slot) => slot.kind === "pipe");
    order.sort((a, b) => a.column - b.column || a.y - b.y);
    const pipes = order.map((slot) => this.pipes[slot.number]!.group);
    this.roving.hold([...pipes, ...this.courses.map((course) => course.group)], () =>
      this.picture.replaceChildren(describe, back, lines, dots, front, this.tip.element),
    );
  }

  private users(plan: Plan, slot: Slot): SVGGElement {
    const own = plan.classes[slot.number]!;
    const kind = own.protocol === "udp" ? "UDP" : own.controller;
    const room = slot.x1 - slot.x0 - 14;
    const [x, top] = [slot.x0 + 10, slot.y - slot.height / 2];
    const second = slot.height >= 32;
    const label = `${own.count} ${own.count === 1 ? "user" : "users"} of ${own.name}, ${kind}`;
    return el(
      "g",
      { class: "ab-users", role: "img", "aria-label": label },
      el("title", {}, label),
      el("rect", {
        class: "ab-box",
        x: slot.x0,
        y: top,
        width: slot.x1 - slot.x0,
        height: slot.height,
        rx: 5,
      }),
      el("rect", { x: slot.x0, y: top, width: 4, height: slot.height, rx: 2, fill: this.colours(own.name) }),
      el(
        "text",
        { class: "ab-name", x, y: slot.y + (second ? -2 : 4), "font-size": NAME_SIZE },
        fitted(own.name, room / 1.1, NAME_SIZE),
      ),
      ...(second
        ? [
            el(
              "text",
              { class: "ab-fact", x, y: slot.y + 12, "font-size": FACT_SIZE },
              fitted(`${own.count} × ${kind}`, room, FACT_SIZE),
            ),
          ]
        : []),
    );
  }

  /** A far end, with the rate that arrives there for a user. */
  private end(plan: Plan, slot: Slot): SVGGElement {
    const own = plan.classes[slot.number]!;
    const colour = this.colours(own.name);
    const high = Math.max(slot.height, 12);
    const top = slot.y - high / 2;
    const rate = el("text", { class: "ab-rate", x: slot.x0 + 20, y: slot.y + 4, "font-size": FACT_SIZE });
    this.ends[slot.number] = rate;
    return el(
      "g",
      { class: "ab-end", role: "img", "aria-label": `Far end of ${own.name}` },
      el("rect", { class: "ab-far", x: slot.x0, y: top, width: 14, height: high, rx: 3, stroke: colour }),
      el("path", {
        d: `M${slot.x0 + 4} ${slot.y - 3}h6m-6 6h6`,
        stroke: colour,
        "stroke-width": 1.5,
        fill: "none",
      }),
      rate,
    );
  }

  /** A pipe with its queue: boxes behind the courses, words in front of them. */
  private pipe(laid: Layout, slot: Slot, back: SVGGElement, front: SVGGElement): PipeMarks {
    const pipe = laid.pipes[slot.number]!;
    const group = el("g", {
      class: `ab-pipe ab-${pipe.kind}`,
      role: "img",
      "aria-label": pipe.about,
    });
    const length = slot.x1 - slot.x0;
    const top = slot.y - slot.height / 2;
    const queued = pipe.room_packets !== null || pipe.stations.length > 0;
    const box = queued ? Math.min(64, length * 0.38) : 0;
    const at = { y: top, height: slot.height };
    group.append(
      el("rect", {
        class: "ab-body",
        x: slot.x0 + box,
        width: length - box,
        rx: queued ? 0 : Math.min(6, slot.height / 3),
        ...at,
      }),
    );
    const marks: PipeMarks = {
      group,
      level: undefined,
      flash: undefined,
      said: undefined,
      right: slot.x0 + box,
      length: box,
    };
    if (queued) {
      marks.level = el("rect", { class: "ab-level", x: marks.right, width: 0, ...at });
      marks.flash = el("rect", { class: "ab-flash", x: slot.x0, width: box, opacity: 0, ...at });
      const ticks = pipe.marks_packets.map((packets) => {
        const x = marks.right - (box * packets) / (pipe.room_packets ?? 1);
        return el("path", {
          class: "ab-mark",
          d: `M${x.toFixed(1)} ${top.toFixed(1)}v${slot.height.toFixed(1)}`,
        });
      });
      group.append(
        el("rect", { class: "ab-queue", x: slot.x0, width: box, ...at }),
        marks.level,
        ...ticks,
        marks.flash,
      );
    }
    if (slot.below > 5) {
      const y = top + slot.height + FACT_SIZE + 1;
      marks.said = el("text", { class: "ab-fact ab-said", x: slot.x0, y, "font-size": FACT_SIZE });
      front.append(marks.said);
    }
    front.append(...this.title(laid, pipe, slot));
    back.append(group);
    const anchor = (): [number, number] => [slot.x0, slot.y];
    this.tells(group, anchor, () => this.pipeWords(slot.number));
    return marks;
  }

  /** Name and facts of a pipe above it, as much of them as fits the column. */
  private title(laid: Layout, pipe: Pipe, slot: Slot): SVGTextElement[] {
    const length = slot.x1 - slot.x0;
    const room = length / (laid.compact ? 0.72 : 0.65);
    const name = pipe.copies > 1 ? `${pipe.name} ×${pipe.copies}` : pipe.name;
    const top = slot.y - slot.height / 2 - 4;
    const x = slot.x0;
    const two = laid.compact && !laid.dense;
    const shown = fitted(name, room / 1.1, NAME_SIZE);
    const left = two ? room : room - 1.1 * textWidth(shown, NAME_SIZE) - 6;
    let facts = pipe.facts.split(" · ");
    while (facts.length > 0 && textWidth(facts.join(" · "), FACT_SIZE) > left) facts = facts.slice(0, -1);
    const words = facts.join(" · ");
    if (two) {
      return [
        el(
          "text",
          { class: "ab-name", x, y: words ? top - FACT_SIZE - 2 : top, "font-size": NAME_SIZE },
          shown,
        ),
        el("text", { class: "ab-fact", x, y: top, "font-size": FACT_SIZE }, words),
      ];
    }
    const more = el("tspan", { class: "ab-fact", dx: 6, "font-size": FACT_SIZE }, words);
    return [el("text", { class: "ab-name", x, y: top, "font-size": NAME_SIZE }, shown, more)];
  }

  private course(
    plan: Plan,
    laid: Layout,
    number: number,
    lines: SVGGElement,
    dots: SVGGElement,
  ): CourseMarks {
    const course = laid.courses[number]!;
    const own = plan.classes[course.cls]!;
    const colour = this.colours(own.name);
    const { d, points } = curve(laid.lines[number]!);
    const line = el("path", {
      class: "ab-line",
      d,
      stroke: colour,
      "stroke-width": Math.min(2, laid.least / 1.5),
    });
    const hit = el("path", { class: "ab-hit", d });
    const names = course.pipes.map((pipe) => laid.pipes[pipe]!.name).join(", ");
    const label = `${own.name}, path ${course.path + 1}: ${names}`;
    const group = el("g", { class: "ab-course", role: "img", "aria-label": label }, hit, line);
    lines.append(group);
    const count = Math.max(2, Math.min(ON_COURSE, Math.floor(PARTICLES / laid.courses.length)));
    const radius = Math.max(2, Math.min(3.4, laid.least / 2));
    const made = Array.from({ length: this.moving && !still() ? count : 0 }, () =>
      el("circle", { r: radius, stroke: colour, opacity: 0 }),
    );
    dots.append(...made);
    const anchor = (): [number, number] => [points[0]!, points[1]!];
    this.tells(group, anchor, () => this.courseWords(number));
    return {
      group,
      line,
      points: evenly(points, POINTS),
      dots: made,
      offset: hash(course.cls, course.path) / 2 ** 32,
    };
  }

  /** Lets the tip say something of a target while pointer or focus are on it. */
  private tells(target: SVGGElement, anchor: () => [number, number], say: () => string[]): void {
    watch(
      target,
      this.picture,
      anchor,
      (x, y) => {
        this.telling = { say, x, y };
        this.tell(target);
      },
      () => {
        this.telling = undefined;
        this.tip.hide();
      },
    );
  }

  private tell(target?: SVGGElement): void {
    if (!this.telling || !this.laid) return;
    const words = this.telling.say();
    target?.setAttribute("aria-label", words.join(", "));
    this.tip.show(words, this.telling.x, this.telling.y, this.laid.width, this.laid.height);
  }

  private courseWords(number: number): string[] {
    const course = this.laid!.courses[number]!;
    const own = this.plan!.classes[course.cls]!;
    const names = course.pipes.map((pipe) => this.laid!.pipes[pipe]!.name).join(" → ");
    const words = [`${own.name}, path ${course.path + 1}`, names];
    const flow = this.moving?.courses[number];
    if (!flow || !this.run) return words;
    const rate = flow.rate_bps[this.sample] ?? 0;
    const each = flow.columns.length > 1 ? `, ${quantity(rate / flow.columns.length, "bit/s")} a user` : "";
    const mean = (column: string): number => {
      const { values, width } = this.run!.series("paths", column);
      return (
        flow.columns.reduce((sum, one) => sum + values[this.sample * width + one]!, 0) / flow.columns.length
      );
    };
    const cwnd = `cwnd ${significant(mean("cwnd_segments"))} segments${flow.columns.length > 1 ? " (mean)" : ""}`;
    const srtt = mean("srtt_s");
    return [
      ...words,
      quantity(rate, "bit/s") + each,
      srtt > 0 ? `${cwnd}, srtt ${quantity(srtt, "s")}` : cwnd,
    ];
  }

  private pipeWords(number: number): string[] {
    const pipe = this.laid!.pipes[number]!;
    const [head = "", ...rest] = pipe.about.split(/: (.*)/);
    const words = [pipe.copies > 1 ? `${head}, ${pipe.copies} copies` : head, ...rest.filter((word) => word)];
    const fill = this.moving?.pipes[number];
    if (!fill || pipe.kind === "delay") return words;
    const total = this.laid!.courses.reduce(
      (sum, course, i) =>
        sum + (course.pipes.includes(number) ? (this.moving!.courses[i]!.rate_bps[this.sample] ?? 0) : 0),
      0,
    );
    const share =
      pipe.rate_bps && pipe.kind === "link"
        ? `, ${significant((100 * total) / (pipe.rate_bps * pipe.copies), 2)} % of its rate`
        : "";
    return [...words, `carries ${quantity(total, "bit/s")}${share}`, this.queueWords(number, true)];
  }

  /** What waits in a queue and was dropped at the present sample. */
  private queueWords(number: number, long: boolean): string {
    const { pipes } = this.laid!;
    const fill = this.moving!.pipes[number]!;
    const packets = fill.queue_packets[this.sample] ?? 0;
    const drops = fill.drops[this.sample] ?? 0;
    const many = pipes[number]!.stations.length > 1;
    const room = ` of ${pipes[number]!.limit_packets ?? fill.room_packets}`;
    if (!long) return `${significant(packets)}${room}`;
    const queue = `${many ? "fullest queue" : "queue"} ${significant(packets)}${room} packets`;
    return drops > 0 ? `${queue}, ${significant(drops)} lost` : queue;
  }

  private atSample(sample: number, moving: Motion): void {
    const { laid, plan } = this;
    if (!laid || !plan) return;
    const widest = Math.max(1.8, Math.min(WIDEST, 0.75 * laid.least));
    this.courses.forEach(({ line }, number) => {
      const share = Math.sqrt((moving.courses[number]!.rate_bps[sample] ?? 0) / moving.most_bps);
      set(line, { "stroke-width": THINNEST + (widest - THINNEST) * Math.min(1, share) });
    });
    this.pipes.forEach((marks, number) => this.pipeAt(marks, number, moving));
    const sums = plan.classes.map(() => 0);
    laid.courses.forEach((course, i) => (sums[course.cls]! += moving.courses[i]!.rate_bps[sample] ?? 0));
    this.ends.forEach((text, cls) => {
      const { count } = plan.classes[cls]!;
      const each = count > 1 && !laid.compact ? " each" : "";
      const rate = quantity(Number((sums[cls]! / count).toPrecision(2)), "bit/s") + each;
      if (!laid.compact || laid.dense) text.textContent = rate;
      else this.twoLines(text, rate);
    });
    this.tell();
  }

  /** A number above its unit. */
  private twoLines(text: SVGTextElement, words: string): void {
    const x = text.getAttribute("x") ?? 0;
    const [number = "", unit = ""] = words.split(" ");
    text.replaceChildren(
      el("tspan", { x, dy: -6 }, number),
      el("tspan", { x, dy: 13, class: "ab-fact" }, unit),
    );
  }

  private pipeAt(marks: PipeMarks, number: number, moving: Motion): void {
    const fill = moving.pipes[number]!;
    const pipe = this.laid!.pipes[number]!;
    const level = fill.level[this.sample] ?? 0;
    if (marks.level) set(marks.level, { x: marks.right - marks.length * level, width: marks.length * level });
    const lost = fill.most_drops > 0 ? (fill.drops[this.sample] ?? 0) / fill.most_drops : 0;
    if (marks.flash) set(marks.flash, { opacity: Math.sqrt(lost) });
    const link = pipe.link >= 0 ? this.plan!.links[pipe.link] : undefined;
    const now = link && link.changes.length > 0 ? linkAt(link, this.t_s) : undefined;
    marks.group.classList.toggle("ab-down", now?.up === false);
    if (!marks.said) return;
    const words = marks.length > 0 ? [this.queueWords(number, !this.laid!.compact)] : [];
    if (now && !now.up) words.push("down");
    else if (now && link && now.rate_bps && now.rate_bps !== link.rate_bps)
      words.push(`now ${quantity(now.rate_bps, "bit/s")}`);
    else if (now && link && now.loss !== link.loss) words.push(`${significant(100 * now.loss, 2)} % loss`);
    const room = (marks.length / 0.38) * (this.laid!.compact ? 1.3 : 1.5);
    while (words.length > 1 && textWidth(words.join(" · "), FACT_SIZE) > room) words.shift();
    marks.said.textContent = words.join(" · ");
  }

  /** Moves the particles: their number and their speed go with the root of the rate, so their flow with the rate. */
  private particles(sample: number, moving: Motion, times: Float64Array): void {
    const next = Math.min(sample + 1, times.length - 1);
    const step = times[next]! - times[sample]!;
    const part = step > 0 ? Math.max(0, Math.min(1, (this.t_s - times[sample]!) / step)) : 0;
    this.courses.forEach(({ points, dots, offset }, number) => {
      const { rate_bps, phase } = moving.courses[number]!;
      const between = (values: Float64Array): number =>
        values[sample]! + part * (values[next]! - values[sample]!);
      const shown = dots.length * Math.sqrt(Math.max(0, between(rate_bps)) / moving.most_bps);
      const moved = between(phase) + offset;
      dots.forEach((dot, i) => {
        const opacity = Math.max(0, Math.min(1, shown - i));
        if (opacity === 0 && dot.getAttribute("opacity") === "0") return;
        const at = (moved + spread(i)) % 1;
        const place = at * (POINTS - 1);
        const k = 2 * Math.min(POINTS - 2, Math.floor(place));
        const f = place - k / 2;
        const x = points[k]! + f * (points[k + 2]! - points[k]!);
        const y = points[k + 1]! + f * (points[k + 3]! - points[k + 1]!);
        dot.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
        dot.setAttribute("opacity", opacity.toFixed(2));
      });
    });
  }
}
