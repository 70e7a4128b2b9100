import assert from "node:assert/strict";
import test from "node:test";
import { EngineError } from "../src/engine.ts";
import { part, runOf } from "../src/packing.ts";

/** Bytes of an answer, as crates/page packs them. */
export function packed(header: object, numbers: number[] = []): ArrayBuffer {
  let text = new TextEncoder().encode(JSON.stringify(header));
  const padded = new Uint8Array(Math.ceil((4 + text.length) / 8) * 8 - 4).fill(32);
  padded.set(text);
  text = padded;
  const bytes = new ArrayBuffer(4 + text.length + 8 * numbers.length);
  new DataView(bytes).setUint32(0, text.length, true);
  new Uint8Array(bytes, 4).set(text);
  numbers.forEach((value, n) => new DataView(bytes).setFloat64(4 + text.length + 8 * n, value, true));
  return bytes;
}

const RUN = {
  run: {
    seed: 7,
    digest: "00ff",
    tables: {
      flows: {
        rows: 3,
        columns: [
          { name: "class", kind: "words", unit: "", values: ["a", "b", "b"] },
          { name: "throughput_bps", kind: "numbers", unit: "bit/s", offset: 0, length: 3 },
        ],
      },
      paths: {
        rows: 4,
        columns: [
          { name: "flow", kind: "indices", unit: "", offset: 3, length: 4 },
          { name: "path", kind: "indices", unit: "", offset: 7, length: 4 },
          { name: "loss", kind: "numbers", unit: "probability", offset: 11, length: 4 },
        ],
      },
      "series.t_s": { rows: 2, columns: [{ name: "t_s", kind: "vector", unit: "s", offset: 15, length: 2 }] },
      "series.paths": {
        rows: 2,
        columns: [
          { name: "cwnd_segments", kind: "matrix", unit: "segments", offset: 17, length: 8, width: 4 },
        ],
      },
    },
  },
};
const NUMBERS = [1, 2, 3, 0, 0, 1, 2, 0, 1, 0, 0, 0.1, 0.2, 0.3, 0.4, 0.5, 1, 10, 11, 12, 13, 20, 21, 22, 23];

test("a run has its columns by class, path and sample", () => {
  const run = runOf(packed(RUN, NUMBERS));
  assert.equal(run.facts.seed, 7);
  assert.deepEqual([...run.users("b", "throughput_bps")], [2, 3]);
  assert.deepEqual(run.pathNumbers("a"), [[0], [1]]);
  assert.deepEqual(run.pathNumbers("b"), [[2, 3]]);
  assert.deepEqual(
    run.paths("b", "loss").map((one) => [...one]),
    [[0.3, 0.4]],
  );
  const cwnd = run.series("paths", "cwnd_segments");
  assert.deepEqual([cwnd.width, cwnd.rows, cwnd.values[5]], [4, 2, 21]);
  assert.deepEqual([run.sample(0), run.sample(0.5), run.sample(0.9), run.sample(99)], [0, 0, 0, 1]);
});

test("a column that a run does not have is empty", () => {
  const run = runOf(packed(RUN, NUMBERS));
  assert.equal(run.numbers("links", "loss").length, 0);
  assert.deepEqual(run.words("links", "name"), []);
  assert.equal(run.series("links", "queue_packets").rows, 0);
});

test("an error of the engine is thrown in its words", () => {
  assert.throws(
    () => part(packed({ error: "rate is negative" }), "plan"),
    new EngineError("rate is negative"),
  );
});

test("bytes that are no answer give an EngineError", () => {
  const whole = new Uint8Array(packed(RUN, NUMBERS));
  for (const length of [0, 3, 4, 11, 40]) {
    assert.throws(() => runOf(whole.slice(0, length).buffer as ArrayBuffer), EngineError);
  }
  const spoiled = whole.slice();
  spoiled[4] = 0x41;
  assert.throws(() => runOf(spoiled.buffer as ArrayBuffer), EngineError);
  assert.throws(() => runOf(packed({ plan: {} })), EngineError);
});
