import assert from "node:assert/strict";
import { test } from "node:test";
import { pipesOf } from "../src/draw-pipes.ts";
import { fitted, hash, settled, textWidth } from "../src/draw-svg.ts";
import { crossings, curve, layout, ranks, type Layout } from "../src/layout.ts";
import { cls, link, plan, scenarioC } from "./draw-plans.ts";

/** Khalili's scenario B, with its four providers. */
function scenarioB(): ReturnType<typeof plan> {
  const links = [link("x", 27e6), link("y", 100e6), link("z", 100e6), link("t", 36e6), link("line", null)];
  return plan(links, [
    cls("blue", 15, [
      [4, 0, 2],
      [4, 1, 3, 2],
    ]),
    cls("red", 15, [
      [4, 1, 3],
      [4, 0, 3],
    ]),
  ]);
}

function pipe(found: Layout, name: string): Layout["slots"][number] {
  return found.slots.find((slot) => slot.kind === "pipe" && found.pipes[slot.number]?.name === name)!;
}

test("a pipe stands behind every pipe that a path crosses before it", () => {
  const found = layout(scenarioB(), 1000);
  const column = (name: string): number => pipe(found, name).column;
  assert.deepEqual(["line", "x", "y", "t", "z"].map(column), [1, 2, 2, 3, 4]);
});

test("columns exist although two paths cross two links in opposite orders", () => {
  const courses = [
    { cls: 0, path: 0, part: 1, pipes: [0, 1] },
    { cls: 0, path: 1, part: 1, pipes: [1, 0] },
  ];
  assert.deepEqual(ranks(2, courses), [1, 2]);
  const both = plan(
    [link("a", 1e6), link("b", 1e6)],
    [
      cls("one", 1, [
        [0, 1],
        [1, 0],
      ]),
    ],
  );
  assert.equal(layout(both, 800).lines.length, 2);
});

test("no two boxes of a column overlap, at any width", () => {
  const many = plan(
    Array.from({ length: 16 }, (_, n) => link(`link-${n}`, 5e6)),
    [
      ...Array.from({ length: 16 }, (_, n) => cls(`tcp-${n}`, 1, [[n]])),
      cls(
        "all",
        1,
        Array.from({ length: 16 }, (_, n) => [n]),
      ),
    ],
  );
  for (const network of [scenarioC(), scenarioB(), many]) {
    for (const width of [366, 700, 1300]) {
      const { slots } = layout(network, width);
      slots.forEach((one, i) => {
        for (const other of slots.slice(0, i).filter((slot) => slot.column === one.column)) {
          const [upper, lower] = one.y < other.y ? [one, other] : [other, one];
          const space = lower.y - lower.height / 2 - lower.above - (upper.y + upper.height / 2 + upper.below);
          assert.ok(space > -1e-6, `${one.kind} ${one.number} and ${other.kind} ${other.number} at ${width}`);
        }
      });
    }
  }
});

test("everything is inside of the picture, and a telephone's width suffices for three columns", () => {
  const found = layout(scenarioC(), 366);
  assert.equal(found.width, 366);
  for (const slot of found.slots) {
    assert.ok(slot.x0 >= 0 && slot.x1 <= found.width);
    assert.ok(slot.y - slot.height / 2 >= 0 && slot.y + slot.height / 2 <= found.height);
  }
});

test("a telephone shows the far ends of five columns too", () => {
  const chain = Array.from({ length: 5 }, (_, n) => link(`hop-${n}`, 1e6));
  const five = plan(chain, [cls("one", 1, [[0, 1, 2, 3, 4]])]);
  for (const network of [scenarioB(), five]) {
    const found = layout(network, 342);
    assert.equal(found.width, 342);
    for (const slot of found.slots.filter((one) => one.kind === "end")) assert.ok(slot.x0 <= 342 - 50);
  }
});

test("a faster link is thicker, and a link without a rate is a delay", () => {
  const found = layout(scenarioB(), 1000);
  assert.ok(pipe(found, "z").height > pipe(found, "t").height);
  assert.ok(pipe(found, "t").height > pipe(found, "x").height);
  assert.equal(found.pipes.find((one) => one.name === "line")?.kind, "delay");
});

test("classes of crossed links are put in the order of these links", () => {
  const crossed = plan(
    [link("a", 1e6), link("b", 1e6)],
    [cls("one", 1, [[1]]), cls("two", 1, [[0]]), cls("three", 1, [[1]])],
  );
  const found = layout(crossed, 800);
  const orders = [0, 1, 2].map((column) => {
    const here = found.slots.flatMap((slot, number) => (slot.column === column ? [number] : []));
    return here.sort((p, q) => found.slots[p]!.y - found.slots[q]!.y);
  });
  assert.equal(crossings(found, orders), 0);
});

test("a class between two others is put between them, where its links are", () => {
  const links = ["up-1", "up-2", "other-1", "other-2", "wire-1", "wire-2"].map((name) => link(name, 10e6));
  const wired = plan(links, [
    cls("multipath", 1, [
      [0, 4],
      [1, 5],
    ]),
    cls("first", 1, [[2, 4]]),
    cls("second", 1, [[3, 5]]),
  ]);
  const { slots } = layout(wired, 1000);
  const users = slots.filter((slot) => slot.kind === "class");
  const between = (users[0]!.y - users[1]!.y) * (users[0]!.y - users[2]!.y);
  assert.ok(between < 0);
});

test("private copies are one pipe with their number, links back are left out", () => {
  const c = scenarioC();
  c.links[2] = link("line", null, { per_user: true });
  c.links.push(link("back", null));
  for (const own of c.classes) for (const path of own.paths) path.back = [3];
  const { pipes } = pipesOf(c);
  assert.deepEqual(
    pipes.map((one) => [one.name, one.copies]),
    [
      ["line", 3],
      ["ap1", 1],
      ["ap2", 1],
    ],
  );
});

test("links on one medium are one pipe with the queues of all senders", () => {
  const queue = { kind: "droptail", limit_packets: 50 };
  const stations = ["ap", "first", "second"].map((name) => ({ name, node: null, place_m: null, queue }));
  const air = (from: number): ReturnType<typeof link> =>
    link(`up-${from}`, null, { attachments: [{ medium: 0, from: [from], to: [0] }] });
  const radio = plan([air(1), air(2)], [cls("one", 1, [[0]]), cls("two", 1, [[1]])], {
    media: [{ name: "wlan", kind: "wifi", stations }],
  });
  const { pipes } = pipesOf(radio);
  assert.equal(pipes.length, 1);
  assert.deepEqual(
    pipes[0]?.stations.map((one) => [one.column, one.limit_packets]),
    [
      [1, 50],
      [2, 50],
    ],
  );
});

test("a curve goes from the users to the far end without a jump", () => {
  const { points, d } = curve([
    { x0: 0, x1: 10, y: 5 },
    { x0: 50, x1: 90, y: 40 },
    { x0: 120, x1: 130, y: 5 },
  ]);
  assert.deepEqual([...points.slice(0, 2), ...points.slice(-2)], [10, 5, 120, 5]);
  for (let i = 2; i < points.length - 1; i += 2) assert.ok(points[i]! >= points[i - 2]!);
  assert.match(d, /^M10\.0 5\.0C.*H90\.0C/);
});

test("things that must keep a distance settle as near as they can to where they want to be", () => {
  assert.deepEqual(settled([0, 100], [0, 10]), [0, 100]);
  assert.deepEqual(settled([50, 50], [0, 10]), [45, 55]);
  assert.deepEqual(settled([3, 2, 1], [0, 0, 0], [1, 1, 4]), [1.5, 1.5, 1.5]);
});

test("a name that is too wide keeps its end, which often is a number", () => {
  const name = fitted("tcp-on-small-4", 80, 12);
  assert.match(name, /^tcp.*…-4$/);
  assert.ok(textWidth(name, 12) <= 80);
});

test("the hash is the same always, and differs between neighbours", () => {
  assert.equal(hash(1, 2), hash(1, 2));
  assert.equal(new Set([hash(0, 0), hash(0, 1), hash(1, 0), hash(1, 1)]).size, 4);
});
