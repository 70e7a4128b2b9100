import assert from "node:assert/strict";
import test from "node:test";
import { emptyOf, leavesOut, theoryOf } from "../src/results.ts";
import type { Class, Plan, Theory } from "../src/engine.ts";
import type { Side } from "../src/session.ts";

const cls = (name: string, more: Partial<Class> = {}): Class =>
  ({ name, count: 1, protocol: "tcp", paths: [], ...more }) as unknown as Class;

function side(classes: Class[], theory?: Theory): Side {
  return { plan: { classes } as Plan, theory } as Side;
}

test("a class of the scenario without users has no bar, and its name is said", () => {
  const base = { classes: [cls("a"), cls("b")] } as Plan;
  assert.deepEqual(emptyOf([side([cls("b")])], base), ["a"]);
  assert.deepEqual(emptyOf([side([cls("a", { count: 0 }), cls("b")])], base), ["a"]);
  assert.deepEqual(emptyOf([side([cls("a"), cls("b")])], base), []);
});

test("only classes that always have data have marks of theory", () => {
  const theory = { equilibrium: { a: 1, udp: 2 }, optimum: { a: 3, udp: 4 }, why: "" };
  const one = side([cls("a"), cls("udp", { protocol: "udp" })], theory);
  assert.deepEqual(theoryOf(one, "a"), { equilibrium: 1, optimum: 3 });
  assert.deepEqual(theoryOf(one, "udp"), {});
  assert.deepEqual(theoryOf(side([cls("a", { transfer_bytes: 1 })], theory), "a"), {});
  assert.deepEqual(theoryOf(side([cls("a")]), "a"), {});
});

test("what theory leaves out is said where there is theory", () => {
  const known = { equilibrium: null, optimum: { a: 1 }, why: "" };
  assert.equal(
    leavesOut({ ...known, left_out: ["network coding", "x"] }),
    "Theory leaves out: network coding; x.",
  );
  assert.equal(leavesOut(known), "");
  assert.equal(leavesOut({ ...known, optimum: null, left_out: ["x"] }), "");
});
