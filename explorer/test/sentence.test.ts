import assert from "node:assert/strict";
import test from "node:test";
import { Run } from "../src/engine.ts";
import { sentence } from "../src/sentence.ts";
import type { Ask, Class, Engine, Fairness, Plan, Theory } from "../src/engine.ts";
import type { Side } from "../src/session.ts";

const { signal } = new AbortController();

/** An engine whose definitions are those of anabranch.fairness; other users alone have what `without` says. */
function engine(asked: Fairness[] = [], ran: Ask[] = [], without = 2e6): Engine {
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
    ran.push(ask);
    const gone = ask.overrides.flatMap((one) => /^flow\.(.+)\.count=0$/.exec(one)?.[1] ?? []);
    return Promise.resolve(runOf(seed, gone.includes("multi") ? { single: without } : { multi: without }));
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

/** A side whose classes have a rate for each seed from 1 on. */
function side(label: string, rates: Record<string, number | number[]>, optimum: Theory["optimum"]): Side {
  const classes = Object.keys(rates).map((name) => cls(name, name === "multi" ? 2 : 1));
  const plan = { duration_s: 100, warmup_s: 10, classes } as unknown as Plan;
  const ask = { name: "x", text: "", controller: null, overrides: [] };
  const theory: Theory = { equilibrium: null, optimum, why: "", left_out: [] };
  const series = Object.entries(rates).map(([name, all]) => [name, [all].flat()] as const);
  const summaries = (series[0]?.[1] ?? []).map((_, k) => ({
    seed: k + 1,
    digest: "",
    rates: Object.fromEntries(series.map(([name, all]) => [name, all[k] ?? NaN])),
    paths: [],
  }));
  const run = runOf(1, summaries[0]?.rates ?? {});
  return { ask, label, plan, run, summaries, theory, published: [] };
}

const FAIR = { multi: 1e6, single: 1e6 };

async function said(sides: Side[], of: Engine = engine()): Promise<string> {
  return (await sentence(of, sides, signal)).replaceAll("\u00a0", " ");
}

test("whom P2 harms is said with both distances from the fair rate", async () => {
  assert.equal(
    await said([side("lia", { multi: 1.3e6, single: 0.7e6 }, FAIR)]),
    "Under lia (seed 1), single users are harmed: each gets 0.7 Mb/s, 30 % less than the proportionally fair " +
      "1 Mb/s, while each multi user takes 1.3 Mb/s (+30 %): problem P2.",
  );
});

test("a verdict on the mean that not all seeds share says in how many it holds", async () => {
  const one = side("lia", { multi: [1.3e6, 1.3e6, 1e6], single: [0.7e6, 0.7e6, 1e6] }, FAIR);
  assert.match(await said([one]), /^Under lia \(3 seeds\), single users .*: problem P2, in 2 of 3 seeds\.$/);
  const other = side("olia", { multi: [1e6, 1e6, 1.2e6], single: [1e6, 1e6, 0.85e6] }, FAIR);
  assert.match(await said([other]), /nobody is harmed .* P2 \(but it holds in 1 of 3 seeds\): each/);
});

test("where P2 does not hold nobody is said to be harmed", async () => {
  const one = side("olia", { multi: 1.05e6, single: 0.95e6 }, FAIR);
  assert.match(
    await said([one]),
    /^Under olia \(seed 1\), nobody is harmed by the definition of problem P2:/,
  );
});

test("without an optimum others are compared with their rates alone", async () => {
  assert.equal(
    await said([side("lia", { multi: 1e6, single: 1.5e6 }, null)]),
    "Beside multi users under lia, each single user gets 1.5 Mb/s instead of 2 Mb/s without them: a harm of 25 % " +
      "(Ware et al. 2019, as no optimum is known; seed 1), while each multi user gets 1 Mb/s.",
  );
});

test("an optimum that leaves out a part of the scenario judges nobody, but for jitter", async () => {
  const one = side("lia", { multi: 1.3e6, single: 0.7e6 }, FAIR);
  const theory = one.theory as Theory;
  theory.left_out = ["random processing time (jitter)"];
  assert.match(await said([one]), /problem P2/);
  theory.left_out = ["network coding", "random loss in the optima (equilibria have it)"];
  const text = await said([one]);
  assert.match(
    text,
    /^Beside multi users .* \(Ware et al. 2019, as theory leaves out network coding and more;/,
  );
  assert.doesNotMatch(text, /fair/);
});

test("users of UDP, limited applications and transfers that end are not in P2", async () => {
  const changes: Partial<Class>[] = [
    { protocol: "udp" },
    { app_rate_bps: 1000 },
    { transfer_bytes: 1000 },
    { sizes: {} },
    { pauses: {} },
  ];
  for (const change of changes) {
    for (const place of [0, 1]) {
      const one = side("lia", { multi: 1.3e6, single: 0.7e6 }, FAIR);
      delete one.theory?.left_out;
      Object.assign(one.plan.classes[place] as Class, change);
      assert.doesNotMatch(await said([one]), /: problem P2|definition of problem P2/);
    }
  }
});

test("users that come or go are not held against the optimum, nor are the others then", async () => {
  const one = side("lia", { multi: 1.3e6, single: 0.7e6, late: 1e6 }, { ...FAIR, late: 1e6 });
  Object.assign(one.plan.classes[2] as Class, { start_s: 50 });
  assert.match(await said([one]), /^Beside multi users .* as users come or go; seed 1/);
});

test("harm is said beside what is fair, where that is known", async () => {
  const rates = { first: 1e6, second: 1e6 };
  const one = side("cubic", rates, { first: 1e6, second: 1e6 });
  const run = (ask: Ask): Promise<Run> =>
    Promise.resolve(runOf(1, ask.overrides[0]?.includes("first") ? { second: 2e6 } : { first: 2e6 }));
  const of = { ...engine(), run } as Engine;
  assert.equal(
    await said([one], of),
    "Beside first users under cubic, each second user gets 1 Mb/s instead of 2 Mb/s without them: a harm of 50 % " +
      "(Ware et al. 2019, as problem P2 is about users of several paths; seed 1); the proportionally fair rate is " +
      "1 Mb/s, which it has.",
  );
  one.theory = { equilibrium: null, optimum: null, why: "" };
  assert.match(await said([one], of), /a harm of 50 % \(.*\); each first user gets as much\.$/);
});

test("a negative harm is a gain", async () => {
  const one = side("lia", { multi: 1e6, single: 3e6 }, null);
  assert.match(
    await said([one]),
    /each single user gets 3 Mb\/s instead of 2 Mb\/s without them: a gain of 50 %/,
  );
});

test("users who have nothing alone cannot be harmed", async () => {
  const one = side("lia", { multi: 1e6, single: 0 }, null);
  const text = await said([one], engine([], [], 0));
  assert.equal(text, "Who is harmed is not decided here: there is nothing to compare.");
});

test("transfers that end are compared by their times", async () => {
  const one = side("lia", { multi: 1e6, single: 1e6 }, null);
  Object.assign(one.plan.classes[1] as Class, { transfer_bytes: 1e6 });
  const times = (fct_s: number): Run => {
    const columns = [
      { name: "class", kind: "words", unit: "", values: ["single"] },
      { name: "fct_s", kind: "numbers", unit: "s", numbers: Float64Array.of(fct_s) },
    ];
    return new Run(one.run.facts, { flows: { rows: 1, columns } });
  };
  one.run = times(50);
  const of = { ...engine(), run: () => Promise.resolve(times(40)) } as unknown as Engine;
  assert.match(
    await said([one], of),
    /each single user needs 50 s for its transfer instead of 40 s without them: a harm of 20 %/,
  );
});

test("a run without a class is made once for all replications", async () => {
  const one = side("lia", { multi: 1e6, single: 1.5e6 }, null);
  const ran: Ask[] = [];
  const of = engine([], ran);
  await Promise.all([said([one], of), said([one], of)]);
  one.summaries.push({ seed: 2, digest: "", rates: { multi: 1e6, single: 1.5e6 }, paths: [] });
  await said([one], of);
  assert.deepEqual(
    ran.map((ask) => ask.overrides),
    [["flow.multi.count=0"]],
  );
});

test("two controllers are compared by P1 in both directions, and by P2", async () => {
  const asked: Fairness[] = [];
  const sides = [
    side("lia", { multi: 1.3e6, single: 0.7e6 }, FAIR),
    side("olia", { multi: 1.3e6, single: 0.95e6 }, FAIR),
  ];
  assert.equal(
    await said(sides, engine(asked)),
    "From lia to olia (seed 1), each single user gains 0.25 Mb/s (+36 %) and each multi user keeps its rate; the " +
      "step back would be problem P1, and problem P2 harms single users under lia, not under olia.",
  );
  assert.deepEqual(asked[0], { p1: [0.7e6, 0.95e6, 1.3e6, 1.3e6] });
});

test("differences are of the seeds that both sides have, and undecided if their interval contains 0", async () => {
  const sides = [
    side("lia", { multi: [1e6, 1.2e6, 1e6], single: [0.7e6, 0.8e6, 0.75e6] }, null),
    side("olia", { multi: [1.1e6, 0.9e6], single: [0.9e6, 1.01e6] }, null),
  ];
  assert.equal(
    await said(sides),
    "From lia to olia (2 seeds), each single user gains 0.205 ± 0.064 Mb/s (+27 %) and for each multi user the " +
      "difference is undecided (−0.1 ± 2.5 Mb/s); neither step is problem P1 (in 1 of 2 seeds one is).",
  );
});

test("who is alone harms nobody", async () => {
  const one = side("lia", { multi: 1e6 }, null);
  assert.equal(await said([one]), "There is one user: nobody else can be harmed.");
  Object.assign(one.plan.classes[0] as Class, { count: 7 });
  assert.equal(
    await said([one]),
    "All users are of one class, 7 of multi: there is nobody else to be harmed.",
  );
});
