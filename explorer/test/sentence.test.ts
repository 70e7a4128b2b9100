import assert from "node:assert/strict";
import test from "node:test";
import { Run } from "../src/engine.ts";
import { sentence } from "../src/sentence.ts";
import type { Ask, Class, Engine, Fairness, Plan, Theory } from "../src/engine.ts";
import type { Side } from "../src/session.ts";

const { signal } = new AbortController();

/** An engine whose definitions are those of anabranch.fairness; other users alone have 2 Mb/s. */
function engine(asked: Fairness[] = []): Engine {
  const fairness = (question: Fairness): Promise<boolean | number> => {
    asked.push(question);
    if ("harm" in question) return Promise.resolve((question.harm[0] - question.harm[1]) / question.harm[0]);
    if ("p2" in question) {
      const [taken, left, fairTaken, fairLeft] = question.p2;
      return Promise.resolve(taken >= 1.1 * fairTaken && left <= 0.9 * fairLeft);
    }
    const [before, after, own, then] = question.p1;
    return Promise.resolve(after <= 0.95 * before && then <= 1.02 * own);
  };
  const run = (ask: Ask, seed: number): Promise<Run> => {
    const gone = ask.overrides.flatMap((one) => /^flow\.(.+)\.count=0$/.exec(one)?.[1] ?? []);
    return Promise.resolve(runOf(seed, gone.includes("multi") ? { single: 2e6 } : { multi: 2e6 }));
  };
  return { fairness, run } as unknown as Engine;
}

function runOf(seed: number, rates: Record<string, number>): Run {
  const columns = [
    { name: "class", kind: "words", unit: "", values: Object.keys(rates) },
    {
      name: "throughput_bps",
      kind: "numbers",
      unit: "bit/s",
      numbers: Float64Array.from(Object.values(rates)),
    },
  ];
  const facts = { seed, digest: "", events: 0, packet_hops: 0, simulated_s: 1, conservation: {} };
  return new Run(facts, { flows: { rows: columns.length, columns } });
}

function cls(name: string, paths: number): Class {
  const path = { links: [0], back: [], base_rtt_s: 0.1, join_s: 0, leave_s: null, backup: false };
  return {
    name,
    count: 1,
    protocol: "tcp",
    start_s: 0,
    spread_s: 0,
    paths: Array(paths).fill(path),
  } as unknown as Class;
}

function side(label: string, rates: Record<string, number>, optimum: Theory["optimum"]): Side {
  const classes = Object.keys(rates).map((name) => cls(name, name === "multi" ? 2 : 1));
  const plan = { duration_s: 100, warmup_s: 10, classes } as unknown as Plan;
  const ask = { name: "x", text: "", controller: null, overrides: [] };
  const theory = { equilibrium: null, optimum, why: "" };
  const summaries = [{ seed: 1, digest: "", rates, paths: [] }];
  return { ask, label, plan, run: runOf(1, rates), summaries, theory, published: [] };
}

const plain = (text: string): string => text.replaceAll("\u00a0", " ");

test("whom P2 harms is said with both distances from the fair rate", async () => {
  const one = side("lia", { multi: 1.3e6, single: 0.7e6 }, { multi: 1e6, single: 1e6 });
  assert.equal(
    plain(await sentence(engine(), [one], signal)),
    "Under lia, single users are harmed: each gets 0.7 Mb/s, 30 % less than the proportionally fair 1 Mb/s, " +
      "while each multi user takes 1.3 Mb/s (+30 %): problem P2.",
  );
});

test("where P2 does not hold nobody is said to be harmed", async () => {
  const one = side("olia", { multi: 1.05e6, single: 0.95e6 }, { multi: 1e6, single: 1e6 });
  assert.match(
    await sentence(engine(), [one], signal),
    /^Under olia, nobody is harmed by the definition of problem P2/,
  );
});

test("without an optimum others are compared with their rates alone", async () => {
  const one = side("lia", { multi: 1e6, single: 1.5e6 }, null);
  assert.equal(
    plain(await sentence(engine(), [one], signal)),
    "Beside multi users under lia, each single user gets 1.5 Mb/s instead of 2 Mb/s without them: " +
      "a harm of 25 % (Ware et al. 2019; seed 1).",
  );
});

test("users that leave during the run are not held against the optimum", async () => {
  const one = side("lia", { multi: 1.3e6, single: 0.7e6 }, { multi: 1e6, single: 1e6 });
  const path = one.plan.classes[1]?.paths[0];
  if (path) path.leave_s = 50;
  assert.match(await sentence(engine(), [one], signal), /^Beside multi users/);
});

test("two controllers are compared by P1 in both directions, and by P2", async () => {
  const fair = { multi: 1e6, single: 1e6 };
  const asked: Fairness[] = [];
  const sides = [
    side("lia", { multi: 1.3e6, single: 0.7e6 }, fair),
    side("olia", { multi: 1.3e6, single: 0.95e6 }, fair),
  ];
  assert.equal(
    plain(await sentence(engine(asked), sides, signal)),
    "From lia to olia, each single user gains 0.25 Mb/s (+36 %) and each multi user keeps its rate; the step back " +
      "would be problem P1, and problem P2 harms single users under lia, not under olia.",
  );
  assert.deepEqual(asked[0], { p1: [0.7e6, 0.95e6, 1.3e6, 1.3e6] });
});

test("who is alone harms nobody", async () => {
  const one = side("lia", { multi: 1e6 }, null);
  assert.equal(
    await sentence(engine(), [one], signal),
    "No other users share this network: nobody can be harmed.",
  );
});
