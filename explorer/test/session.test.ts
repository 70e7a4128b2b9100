import assert from "node:assert/strict";
import test from "node:test";
import { EngineError, Run } from "../src/engine.ts";
import { initial } from "../src/state.ts";
import { Session } from "../src/session.ts";
import type { Ask, Class, Data, Engine, Plan, RunFacts, Theory } from "../src/engine.ts";
import type { Listener, Side } from "../src/session.ts";

const THEORY: Theory = { equilibrium: { user: 1 }, optimum: { user: 2 }, why: "", left_out: ["x"] };

function data(theory: Record<string, Theory> = {}): Data {
  const scenarios = ["one", "two"].map((name) => ({ name, title: "", source: "", text: `text of ${name}` }));
  return { version: "", scenarios, published: [], theory };
}

/** The controller `bad` and the override `bad` are refused; a plan is its ask. */
function engine(planned: (ask: Ask) => Promise<void> = () => Promise.resolve()): Engine {
  const plan = async (ask: Ask): Promise<Plan> => {
    await planned(ask);
    if (ask.controller === "bad" || ask.overrides.includes("bad=1")) throw new EngineError("refused");
    const paths = [{ links: [], join_s: 0, leave_s: null }];
    const user = { name: "user", count: 1, protocol: "tcp", controller: ask.controller ?? "lia", law: null };
    const classes = [{ ...user, paths } as unknown as Class];
    const made = { name: ask.name, title: ask.overrides.join(), text: ask.text, classes };
    return made as unknown as Plan;
  };
  const run = (_: Ask, seed: number): Promise<Run> =>
    Promise.resolve(new Run({ seed, digest: "" } as RunFacts, {}));
  const theory = (): Promise<undefined> => Promise.resolve(undefined);
  return { plan, run, theory, width: 1 } as unknown as Engine;
}

class Heard implements Listener {
  sides: Side[] = [];
  bases: string[] = [];
  failures: (number | undefined)[] = [];
  busy(): void {}
  shown(sides: Side[], base: Plan): void {
    this.sides = sides;
    this.bases.push((base as unknown as { text: string }).text);
  }
  refined(): void {}
  failed(_: unknown, side: number | undefined): void {
    this.failures.push(side);
  }
}

test("the state of what is shown stays as it was when the page's moves on", async () => {
  const session = new Session(engine(), data(), new Heard());
  const state = initial("one");
  state.replications = 3;
  const done = session.show(state);
  state.overrides["a"] = "1";
  state.replications = 1;
  await done;
  assert.deepEqual(session.state, { ...initial("one"), replications: 3 });
  assert.equal(session.sides[0]?.summaries.length, 3);
});

test("a plan that came too late is not the middle of another scenario's sliders", async () => {
  let release = (): void => undefined;
  const late = new Promise<void>((resolve) => (release = resolve));
  const heard = new Heard();
  const slow = engine((ask) => (ask.name === "one" ? late : Promise.resolve()));
  const session = new Session(slow, data(), heard);
  const first = session.show(initial("one"));
  const second = session.show(initial("two"));
  release();
  await Promise.all([first, second]);
  await session.show(initial("two"));
  assert.deepEqual(heard.bases, ["text of two", "text of two"]);
});

test("a controller is at fault if the engine takes the rest without it", async () => {
  const heard = new Heard();
  const session = new Session(engine(), data(), heard);
  await session.show({ ...initial("one"), b: "bad" });
  await session.show({ ...initial("one"), a: "olia", overrides: { bad: "1" } });
  assert.deepEqual(heard.failures, [1, undefined]);
});

test("the optimum is found whatever the controller, and the equilibrium only for its own", async () => {
  const heard = new Heard();
  const session = new Session(engine(), data({ [JSON.stringify(["one", "lia", []])]: THEORY }), heard);
  await session.show({ ...initial("one"), a: "lia" });
  assert.deepEqual(heard.sides[0]?.theory, THEORY);
  await session.show({ ...initial("one"), a: "my law" });
  const { equilibrium, optimum, left_out, why } = heard.sides[0]?.theory as Theory;
  assert.deepEqual([equilibrium, optimum, left_out], [null, THEORY.optimum, ["x"]]);
  assert.match(why, /no equilibrium under this controller/);
  await session.show({ ...initial("one"), a: "my law", overrides: { a: "1" } });
  assert.equal(heard.sides[0]?.theory?.optimum, null);
});
