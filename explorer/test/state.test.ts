import assert from "node:assert/strict";
import test from "node:test";
import { FragmentError, initial, isLaw, MOST_CHARACTERS, read, written } from "../src/state.ts";
import { lawOf } from "../src/sources.ts";
import type { State } from "../src/state.ts";

const FIRST = "khalili/scenario-c";

/** Whole numbers from 0 to below `below`, the same for the same seed. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state % below;
  };
}

function text(pick: (below: number) => number, most: number): string {
  const letters = [
    "a",
    "Z",
    "9",
    " ",
    "&",
    "=",
    "#",
    "%",
    "+",
    '"',
    "'",
    "<",
    ">",
    "\n",
    "é",
    "漢",
    "🙂",
    "/",
    ":",
    "\\",
    "{",
    "\u0000",
  ];
  return Array.from({ length: 1 + pick(most) }, () => letters[pick(letters.length)]).join("");
}

function arbitrary(seed: number): State {
  const pick = numbers(seed);
  const state = initial(text(pick, 20));
  if (pick(2)) state.text = text(pick, 200);
  if (pick(2)) state.a = text(pick, 60);
  if (pick(2)) state.b = pick(2) ? null : text(pick, 60);
  for (let n = pick(5); n > 0; n--) {
    const key = `flow.${text(pick, 8).replace(/[=\n]/g, "x").trim()}.count`;
    state.overrides[key] = text(pick, 30);
  }
  if (pick(2)) state.seed = pick(2 ** 32 - 1);
  if (pick(2)) state.replications = 1 + pick(100);
  if (pick(2)) state.t_s = pick(1000000) / 1000;
  if (pick(2)) state.speed = [0.1, 1, 5, 50][pick(4)] ?? 1;
  if (pick(2)) state.lesson = text(pick, 20);
  return state;
}

test("what is written is read as the same state", () => {
  for (let seed = 1; seed <= 2000; seed++) {
    const state = arbitrary(seed);
    const fragment = written(state);
    assert.match(fragment, /^[\x21-\x7e]*$/);
    assert.deepEqual(read(`#${fragment}`, FIRST), state);
    assert.equal(written(read(fragment, FIRST)), fragment);
  }
});

test("an empty fragment is the first scenario", () => {
  assert.deepEqual(read("", FIRST), initial(FIRST));
  assert.deepEqual(read("#", FIRST), initial(FIRST));
});

test("equal states have equal fragments, in whatever order overrides came", () => {
  const one = initial(FIRST);
  const other = initial(FIRST);
  Object.assign(one.overrides, { a: "1", b: "2" });
  Object.assign(other.overrides, { b: "2", a: "1" });
  assert.equal(written(one), written(other));
});

test("a lone surrogate in a text does not stop writing", () => {
  const state = initial(FIRST);
  state.text = 'name = "\ud800"';
  assert.equal(read(written(state), FIRST).text, 'name = "\ufffd"');
});

const WRONG = [
  "scenario=x",
  "v=2&scenario=x",
  "v=1&nothing=1",
  "v=1&seed=1&seed=2",
  "v=1&seed=-1",
  "v=1&seed=1e9",
  "v=1&seed=1.5",
  "v=1&repeat=0",
  "v=1&repeat=101",
  "v=1&t=NaN",
  "v=1&speed=1e400",
  "v=1&speed=0",
  "v=1&set=",
  "v=1&set=x",
  "v=1&set==x",
  "v=1&set=__proto__=1",
  "v=1&set=a=1&set=a=2",
  "v=1&scenario=%",
  "v=1&scenario=%ff",
  "v=1&&",
  "<script>alert(1)</script>",
  `v=1&scenario=${"x".repeat(300)}`,
  "x".repeat(MOST_CHARACTERS + 1),
  Array.from({ length: 300 }, (_, n) => (n === 0 ? "v=1" : `set=k${n}=1`)).join("&"),
];

test("a fragment that is wrong gives a sentence", () => {
  for (const fragment of WRONG) {
    assert.throws(
      () => read(fragment, FIRST),
      (error: unknown) =>
        error instanceof FragmentError && error.message.length > 10 && error.message.length < 200,
      fragment.slice(0, 80),
    );
  }
});

test("random fragments give a state or a sentence, and nothing else", () => {
  for (let seed = 1; seed <= 3000; seed++) {
    const pick = numbers(seed);
    const parts = ["v=1", "scenario=", "set=", "text=", "seed=", "t=", "lesson=", "beside=", "%41", "&", "="];
    const fragment = Array.from({ length: pick(12) }, () =>
      pick(2) ? parts[pick(parts.length)] : text(pick, 9),
    ).join("");
    try {
      read(fragment, FIRST);
    } catch (error) {
      assert.ok(error instanceof FragmentError, fragment);
    }
  }
});

test("names of a prototype are ordinary keys of overrides", () => {
  const state = read("v=1&set=constructor=1&set=toString=2", FIRST);
  assert.deepEqual(Object.entries(state.overrides), [
    ["constructor", "1"],
    ["toString", "2"],
  ]);
});

test("a law that is being typed is one from its first letter on", () => {
  for (const typed of ["", "g", "lia", "growth = 1/w", "growth = 1/w\nback"]) {
    assert.ok(isLaw(lawOf(typed)), typed);
    assert.ok(lawOf(typed).startsWith(typed));
  }
  assert.ok(!isLaw("lia") && !isLaw(null) && !isLaw(undefined));
});
