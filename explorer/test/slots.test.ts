import assert from "node:assert/strict";
import { test } from "node:test";
import { Slots } from "../src/slots.ts";

/** A task that ends when it is told to, and knows whether it has begun. */
function task(): { begun: boolean; run: () => Promise<string>; end: (text: string) => void } {
  let end: (text: string) => void = () => undefined;
  const promise = new Promise<string>((resolve) => (end = resolve));
  const made = { begun: false, run: () => ((made.begun = true), promise), end: (text: string) => end(text) };
  return made;
}

test("a task begins when the one before it has ended", async () => {
  const slots = new Slots(1);
  const [first, second] = [task(), task()];
  const all = [slots.take(first.run), slots.take(second.run)];
  assert.deepEqual([first.begun, second.begun], [true, false]);
  first.end("one");
  assert.equal(await all[0], "one");
  await Promise.resolve();
  assert.ok(second.begun);
  second.end("two");
  assert.equal(await all[1], "two");
});

test("a task that nobody wants any more never begins", async () => {
  const slots = new Slots(1);
  const [first, second, third] = [task(), task(), task()];
  const gone = new AbortController();
  const one = slots.take(first.run);
  const two = slots.take(second.run, gone.signal);
  const three = slots.take(third.run);
  gone.abort();
  await assert.rejects(two, { name: "AbortError" });
  first.end("one");
  third.end("three");
  assert.deepEqual(await Promise.all([one, three]), ["one", "three"]);
  assert.equal(second.begun, false);
});

test("a task that is aborted while it runs rejects at once, and keeps its slot to its end", async () => {
  const slots = new Slots(1);
  const [first, second] = [task(), task()];
  const gone = new AbortController();
  const one = slots.take(first.run, gone.signal);
  const two = slots.take(second.run);
  gone.abort();
  await assert.rejects(one, { name: "AbortError" });
  assert.equal(second.begun, false);
  first.end("late");
  second.end("two");
  assert.equal(await two, "two");
});

test("a task that fails frees its slot", async () => {
  const slots = new Slots(1);
  await assert.rejects(slots.take(() => Promise.reject(new Error("no"))));
  assert.equal(await slots.take(() => Promise.resolve("yes")), "yes");
});
