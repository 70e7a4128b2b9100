import assert from "node:assert/strict";
import { test } from "node:test";
import { classFields, durationField, linkFields, named, queueOption, type Choice } from "../src/fields.ts";
import { link, scenarioC } from "./draw-plans.ts";
import type { Kind } from "../src/engine.ts";

const limit = { name: "limit" };
/** As the engine lists them. */
const QUEUES: Kind[] = [
  { name: "unlimited", about: "", parameters: [] },
  {
    name: "droptail",
    about: "",
    parameters: [
      { name: "packets", default: null },
      { name: "bytes", default: null },
    ],
  },
  {
    name: "red",
    about: "",
    parameters: [
      { name: "min" },
      { name: "max" },
      { name: "max_p" },
      { name: "weight", default: 0.002 },
      limit,
    ],
  },
  { name: "strict-priority", about: "", parameters: [limit] },
];

test("every kind of queue of the engine can be chosen, with the capacity that the link has", () => {
  const fields = linkFields(link("ap1", 10e6), QUEUES);
  const choice = fields.find((field): field is Choice => field.kind === "choice")!;
  assert.deepEqual(
    choice.options.map((option) => [option.label, option.value]),
    [
      ["droptail (scenario)", null],
      ["unlimited", '"unlimited"'],
      ["red", '{ red = { min = "13 packets", max = "25 packets", max_p = 0.1, limit = "100 packets" } }'],
      ["strict-priority", '{ strict-priority = { limit = "100 packets" } }'],
    ],
  );
});

test("a kind of queue with a parameter that only an author knows is shown with the reason", () => {
  const wred: Kind = { name: "wred", about: "", parameters: [{ name: "classes" }, limit] };
  const { value, missing } = queueOption(wred, 100);
  assert.equal(value, null);
  assert.equal(missing, "needs `classes`: write it in the scenario's text");
});

test("the limit of a queue is written under the key of its kind", () => {
  const plan = scenarioC();
  const fields = linkFields(plan.links[0]!, QUEUES);
  const capacity = fields.find((field) => field.label === "Queue limit");
  const key = (): string | undefined => (capacity?.kind === "range" ? capacity.keyIn?.(plan) : undefined);
  assert.equal(key(), "link.ap1.queue.droptail.packets");
  plan.links[0]!.queue = { kind: "strict-priority", limit_packets: 5 };
  assert.equal(key(), "link.ap1.queue.strict-priority.limit");
});

test("fields of different links and classes have different names", () => {
  const plan = scenarioC();
  const listing = { controllers: [], queues: QUEUES, schedulers: [] };
  const fields = [
    ...plan.links.flatMap((one) => linkFields(one, QUEUES)),
    ...plan.classes.flatMap((cls) => classFields(plan, cls, listing)),
    durationField(plan),
  ];
  const names = fields.map(named);
  assert.equal(new Set(names).size, names.length);
  assert.ok(names.includes("ap1: rate") && names.includes("multipath: users") && names.includes("Duration"));
});
