import assert from "node:assert/strict";
import { test } from "node:test";
import { linkAt, motion, spread } from "../src/draw-motion.ts";
import { pipesOf } from "../src/draw-pipes.ts";
import { hasPlaces, Hops, placesOf, rangeOf } from "../src/draw-places.ts";
import { Run } from "../src/engine.ts";
import { MapView } from "../src/map.ts";
import { NetworkView } from "../src/network.ts";
import { Fake, fake, install } from "./draw-dom.ts";
import { cls, link, plan, runOfC, scenarioC } from "./draw-plans.ts";
import type { RunFacts } from "../src/engine.ts";

install();

function shown(): { view: NetworkView; picture: Fake } {
  const view = new NetworkView(new Fake("div") as unknown as HTMLElement, () => "#0072b2");
  view.show(scenarioC(), runOfC());
  return { view, picture: fake(view.svg()) };
}

test("rates of courses are those of all users, and particles move with their root", () => {
  const { pipes, courses } = pipesOf(scenarioC());
  const { courses: flows, most_bps } = motion(scenarioC(), runOfC(), pipes, courses);
  assert.deepEqual(
    flows.map((flow) => flow.rate_bps[5]),
    [2e6, 0, 4e6],
  );
  assert.equal(most_bps, 4e6);
  const [some, none, most] = flows.map((flow) => flow.phase[10]!);
  assert.equal(none, 0);
  assert.ok(Math.abs(some! / most! - Math.SQRT1_2) < 1e-12);
});

test("a queue fills its box by its limit, and drops are shown where they happen", () => {
  const { view, picture } = shown();
  view.seek(4);
  const box = (): number => Number(picture.all(".ab-queue")[0]!.getAttribute("width"));
  const level = (n: number): number => Number(picture.all(".ab-level")[n]!.getAttribute("width"));
  const flash = (n: number): number => Number(picture.all(".ab-flash")[n]!.getAttribute("opacity"));
  assert.ok(Math.abs(level(0) / box() - 0.2) < 0.01);
  assert.equal(level(1), box());
  assert.deepEqual([flash(0), flash(1)], [0, 0]);
  view.seek(5);
  assert.deepEqual([flash(0), flash(1)], [0, 1]);
});

test("a time gives the same picture from whichever side one comes to it", () => {
  const { view, picture } = shown();
  const dots = (): string =>
    picture
      .all("circle")
      .map((dot) => `${dot.getAttribute("transform")} ${dot.getAttribute("opacity")}`)
      .join("\n");
  const visible = (): string =>
    dots()
      .split("\n")
      .filter((dot) => !dot.endsWith(" 0.00") && !dot.endsWith(" 0"))
      .join("\n");
  view.seek(3.25);
  const first = visible();
  view.seek(9.5);
  assert.notEqual(visible(), first);
  view.seek(3.25);
  assert.equal(visible(), first);
});

test("there are at most 200 particles however many paths there are", () => {
  const many = plan(
    [link("one", 1e6)],
    [
      cls(
        "all",
        1,
        Array.from({ length: 60 }, () => [0]),
      ),
    ],
  );
  const view = new NetworkView(new Fake("div") as unknown as HTMLElement, () => "#000");
  const tables = { ...runOfC().tables };
  view.show(many, new Run({ seed: 1 } as RunFacts, tables));
  assert.ok(fake(view.svg()).all("circle").length <= 200);
});

test("focus on a path shows its cwnd, and leaving it hides the note", () => {
  const { view, picture } = shown();
  view.seek(2);
  const course = picture.all(".ab-course")[0]!;
  course.listeners.get("focus")![0]!({});
  assert.match(
    course.getAttribute("aria-label")!,
    /multipath, path 1, line → ap1, 2 Mb\/s, 1 Mb\/s a user, cwnd 4 segments \(mean\), srtt 100 ms/,
  );
  assert.equal(picture.all(".ab-tip")[0]!.getAttribute("visibility"), "visible");
  course.listeners.get("blur")![0]!({});
  assert.equal(picture.all(".ab-tip")[0]!.getAttribute("visibility"), "hidden");
});

/** The items of a picture that Tab comes to. */
function stops(picture: Fake): Fake[] {
  return [".ab-pipe", ".ab-course", ".ab-site"]
    .flatMap((what) => picture.all(what))
    .filter((item) => item.getAttribute("tabindex") === "0");
}

function press(picture: Fake, key: string): string[] {
  const done: string[] = [];
  picture.tell("keydown", {
    key,
    stopPropagation: () => done.push("stopped"),
    preventDefault: () => done.push("prevented"),
  });
  return done;
}

test("a network is one tab stop, and arrow keys show the note of one pipe and path after the other", () => {
  const { view, picture } = shown();
  view.seek(2);
  const note = (): string => picture.all(".ab-tip")[0]!.textContent;
  const [first] = stops(picture);
  assert.equal(stops(picture).length, 1);
  assert.match(picture.getAttribute("aria-label")!, /^Network of small.*arrow keys/);
  first!.focus();
  assert.match(note(), /^Link line/);
  assert.deepEqual(press(picture, "ArrowRight"), ["stopped", "prevented"]);
  assert.match(note(), /^Link ap1/);
  assert.match(stops(picture)[0]!.getAttribute("aria-label")!, /^Link ap1, 10 Mb\/s.*carries 2 Mb\/s/);
  assert.equal(stops(picture).length, 1);
  press(picture, "End");
  assert.match(note(), /^single-path, path 1/);
  press(picture, "ArrowDown");
  assert.match(note(), /^Link line/);
  assert.deepEqual(press(picture, "Tab"), []);
  press(picture, "Escape");
  assert.equal(picture.all(".ab-tip")[0]!.getAttribute("visibility"), "hidden");
});

test("the focus stays where it is when the network is drawn again", () => {
  const { view, picture } = shown();
  stops(picture)[0]!.focus();
  press(picture, "ArrowRight");
  view.show(scenarioC(), runOfC());
  assert.equal(picture.all(".ab-tip")[0]!.getAttribute("visibility"), "visible");
  assert.match(stops(picture)[0]!.getAttribute("aria-label")!, /^Link ap1/);
  press(picture, "Escape");
});

test("a plan without a run is drawn, with nothing that moves", () => {
  const view = new NetworkView(new Fake("div") as unknown as HTMLElement, () => "#000");
  view.show(scenarioC(), undefined);
  view.seek(5);
  assert.equal(fake(view.svg()).all(".ab-line").length, 3);
  assert.equal(fake(view.svg()).all("circle").length, 0);
});

test("with reduced motion nothing moves, and widths still show rates", () => {
  Object.assign(globalThis, { matchMedia: () => ({ matches: true }) });
  const { view, picture } = shown();
  view.seek(5);
  assert.equal(picture.all("circle").length, 0);
  const [some, none, most] = picture.all(".ab-line").map((line) => Number(line.getAttribute("stroke-width")));
  assert.ok(none! < some! && some! < most!);
  Object.assign(globalThis, { matchMedia: undefined });
});

test("names with markup are text", () => {
  const evil = "<script>alert(1)</script>";
  const view = new NetworkView(new Fake("div") as unknown as HTMLElement, () => "#000");
  view.show(plan([link(evil, 1e6)], [cls(evil, 1, [[0]])]), undefined);
  assert.equal(fake(view.svg()).all("script").length, 0);
});

test("changes of a link hold from their time on, and keep what they do not name", () => {
  const none = { rate_bps: null, delay_s: null, loss: null, up: null };
  const changes = [
    { ...none, at_s: 2, up: false },
    { ...none, at_s: 4, up: true, rate_bps: 2e6 },
  ];
  const varying = link("a", 1e6, { changes });
  assert.deepEqual(
    [1, 2, 4].map((t_s) => [linkAt(varying, t_s).up, linkAt(varying, t_s).rate_bps]),
    [
      [true, 1e6],
      [false, 1e6],
      [true, 2e6],
    ],
  );
});

test("the first particles are spread evenly, however many there are", () => {
  assert.deepEqual([0, 1, 2, 3].map(spread), [0, 0.5, 0.25, 0.75]);
});

/** Two nodes on a Wi-Fi channel; the second one goes to the east. */
function onMap(): { air: ReturnType<typeof plan>; run: Run } {
  const radio = { power_dbm: 20, loss_at_1m_db: 40, exponent: 3, sense_dbm: -88 };
  const stations = [0, 1].map((node) => ({ name: `n-${node}`, node, place_m: null }));
  const air = plan(
    [link("up", null, { attachments: [{ medium: 0, from: [0], to: [1] }] })],
    [cls("one", 1, [[0]])],
    {
      nodes: [{ name: "n-0" }, { name: "n-1" }],
      area: { width_m: 100, height_m: 100 },
      media: [{ name: "air", kind: "wifi", stations, ...{ radio } }],
    },
  );
  const column = (name: string, values: number[], width?: number): object => ({
    name,
    kind: "",
    unit: "",
    numbers: Float64Array.from(values),
    width,
  });
  const tables = {
    "series.t_s": { rows: 3, columns: [column("t_s", [0, 1, 2])] },
    "series.nodes": {
      rows: 3,
      columns: [column("x_m", [10, 10, 10, 20, 10, 30], 2), column("y_m", [50, 50, 50, 50, 50, 50], 2)],
    },
    "series.nodes.hops": {
      rows: 2,
      columns: [
        column("sample", [1, 2]),
        column("medium", [0, 0]),
        column("from", [0, 1]),
        column("to", [1, -1]),
        column("bytes", [3000, 40]),
        column("messages", [0, 1]),
      ],
    },
  };
  return { air, run: new Run({ seed: 1 } as RunFacts, tables as never) };
}

test("nodes move between samples, and traffic is that of the sample", () => {
  const { air, run } = onMap();
  const view = new MapView(new Fake("div") as unknown as HTMLElement, () => "#0072b2");
  view.show(air, run);
  const place = (): number =>
    Number(/translate\(([\d.]+)/.exec(fake(view.svg()).all(".ab-site")[1]!.getAttribute("transform")!)![1]);
  const [at0, at05, at1] = [0, 0.5, 1].map((t_s) => (view.seek(t_s), place()));
  assert.ok(Math.abs(at05! - (at0! + at1!) / 2) < 0.11);
  const { stations } = placesOf(air, run);
  const hops = new Hops(run, stations, 1);
  assert.deepEqual(
    [0, 1, 2].map((k) => hops.at(k).map((one) => [one.from, one.to, one.bytes])),
    [[], [[0, 1, 3000]], [[1, -1, 40]]],
  );
});

test("a map is one tab stop, and the range of a node is shown with its note", () => {
  const { air, run } = onMap();
  const view = new MapView(new Fake("div") as unknown as HTMLElement, () => "#0072b2");
  view.show(air, run);
  const picture = fake(view.svg());
  assert.equal(stops(picture).length, 1);
  stops(picture)[0]!.focus();
  press(picture, "ArrowRight");
  assert.match(picture.all(".ab-tip")[0]!.textContent, /^n-1/);
  assert.ok(picture.all(".ab-range").some((range) => range.getAttribute("visibility") === "visible"));
  press(picture, "Escape");
  assert.equal(picture.all(".ab-tip")[0]!.getAttribute("visibility"), "hidden");
});

test("the range is where the path loss leaves just the power that is sensed", () => {
  const { air } = onMap();
  assert.ok(Math.abs(rangeOf(air.media[0]!) - 10 ** (68 / 30)) < 1e-9);
});

test("stations with places of their own have a map, and stations at the default place have none", () => {
  const at = (...places: [number, number][]): ReturnType<typeof plan> => {
    const stations = places.map((place_m, n) => ({ name: `station ${n}`, node: null, place_m }));
    return plan([], [], { media: [{ name: "air", kind: "wifi", stations }] });
  };
  assert.ok(hasPlaces(at([0, 0], [30, 40])));
  assert.ok(!hasPlaces(at([0, 0], [0, 0])));
  assert.ok(!hasPlaces(scenarioC()));
  assert.ok(hasPlaces(onMap().air));
});

test("beside a square ground the pairs with most traffic have their rates", () => {
  const { air, run } = onMap();
  const host = new Fake("div");
  host.clientWidth = 1200;
  const view = new MapView(host as unknown as HTMLElement, () => "#0072b2");
  view.show(air, run);
  const table = (): string => fake(view.svg()).all(".ab-pairs")[0]!.textContent;
  view.seek(1);
  assert.equal(table(), "Busiest pairsn-0 → n-124 kb/s");
  view.seek(2);
  assert.equal(table(), "Busiest pairsn-0 → n-1–");
  host.clientWidth = 390;
  view.show(air, run);
  assert.equal(table(), "");
});
