import assert from "node:assert/strict";
import test from "node:test";
import { resultsCsv, resultsJson } from "../src/exports.ts";
import { initial, read } from "../src/state.ts";
import type { Class, Plan } from "../src/engine.ts";
import type { Side } from "../src/session.ts";

const ROW = { path: 0, throughput_bps: 5, goodput_bps: 4, loss: 0.5, cwnd_segments: 3, srtt_s: NaN };

function side(cls: string): Side {
  const plan = { classes: [{ name: cls, count: 2 } as Class] } as Plan;
  const summaries = [1, 2].map((seed) => ({
    seed,
    digest: `d${seed}`,
    rates: { [cls]: seed },
    paths: [{ ...ROW, seed, cls }],
  }));
  const ask = { name: "x", text: "", controller: null, overrides: ["a=1"] };
  return { ask, label: "lia", plan, summaries, theory: undefined, published: [] } as unknown as Side;
}

test("a CSV has a row for each seed and path, and nothing that is computed when it is opened", () => {
  const lines = resultsCsv([side('=cmd("x"),y')]).split("\n");
  assert.equal(lines.length, 4);
  assert.equal(lines[1], `lia,1,"'=cmd(""x""),y",0,2,5,4,0.5,3,,1,d1`);
});

test("JSON has means with intervals, digests, and the fragment that shows them again", () => {
  const state = initial("khalili/scenario-c");
  state.b = "olia";
  const made = JSON.parse(resultsJson("0.1", state, [side("a")], "said"));
  assert.deepEqual(read(made.fragment, ""), state);
  assert.deepEqual(made.results[0].digests, ["d1", "d2"]);
  assert.equal(made.results[0].classes.a.throughput_bps.mean, 1.5);
  assert.equal(made.results[0].classes.a.throughput_bps.interval95.length, 2);
});
