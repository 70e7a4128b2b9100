// The lessons: their texts, their states, and what today's engine answers to them.

import { strict as assert } from "node:assert";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, describe, test } from "node:test";
import { Answering } from "../src/answering.ts";
import { filled, namesIn, shown } from "../src/lessons/text.ts";
import { asks, guides } from "../src/lessons/index.ts";
import { addressOf, find, stateOf, UNITS } from "../src/lessons/guide.ts";
import { read, written } from "../src/state.ts";
import { reported } from "../src/lessons/guided.ts";
import type { Data } from "../src/engine.ts";
import type { Guide } from "../src/lessons/guide.ts";

/** The directory of the project: the first one above that has its scenarios. */
function root(): string {
  let found = process.cwd();
  while (!existsSync(join(found, "python/anabranch/scenarios"))) {
    assert.notEqual(dirname(found), found, "the tests run inside the project");
    found = dirname(found);
  }
  return found;
}

const ROOT = root();
const PYTHON = join(ROOT, ".venv/bin/python");

const texts = (guide: Guide): string[] => [...guide.answer, ...guide.mechanism];
const cells = (guide: Guide): string[] => guide.table.rows.flat();
const fixed = (guide: Guide): string[] => [
  guide.question,
  ...guide.setting,
  ...guide.guesses.map((guess) => guess.asks),
  ...guide.table.head,
  guide.table.caption,
  ...guide.statements.map((one) => one.says),
];

describe("lessons", () => {
  test("there_are_seven_with_names_of_their_own", () => {
    assert.equal(guides.length, 7);
    assert.equal(new Set(guides.map((guide) => guide.name)).size, 7);
  });

  for (const guide of guides) {
    test(`${guide.name}_runs_shipped_scenarios`, () => {
      for (const { scenario } of Object.values(guide.cases)) {
        assert.ok(existsSync(join(ROOT, "python/anabranch/scenarios", `${scenario}.toml`)), scenario);
      }
      for (const page of guide.pages) assert.ok(existsSync(join(ROOT, page)), page);
    });

    test(`${guide.name}_names_only_what_it_measures_and_measures_only_what_it_names`, () => {
      const used = [...texts(guide), ...cells(guide)].flatMap(namesIn);
      for (const name of used) assert.ok(Object.hasOwn(guide.quantities, name), name);
      const guessed = guide.guesses.map((guess) => guess.quantity);
      for (const name of Object.keys(guide.quantities)) assert.ok([...used, ...guessed].includes(name), name);
      for (const text of fixed(guide)) assert.doesNotMatch(text, /[{}]/);
    });

    test(`${guide.name}_shows_a_state_that_a_link_keeps`, () => {
      const state = stateOf(guide);
      assert.deepEqual(read(written(state), "other"), state);
      const [first, second] = guide.shown.map((name) => guide.cases[name]);
      if (second) assert.deepEqual({ ...second, controller: first?.controller }, first);
    });

    test(`${guide.name}_has_as_many_cells_in_each_row_as_in_the_head`, () => {
      for (const row of guide.table.rows) assert.equal(row.length, guide.table.head.length);
    });

    test(`${guide.name}_lets_the_reader_guess_within_a_range`, () => {
      assert.ok(guide.guesses.length === 1 || guide.guesses.length === 2);
      for (const { min, max, start, published } of guide.guesses) {
        assert.ok(min <= start && start <= max);
        if (published) assert.ok(min <= published.value && published.value <= max);
      }
    });
  }

  test("published_numbers_say_whether_the_source_has_them", () => {
    const said = reported({ value: 100, source: "x", as: "below" }, "kb/s").replaceAll("\u00a0", " ");
    assert.equal(said, " Published: below 100 kb/s (x).");
    assert.match(reported({ value: 50, source: "x", as: "derived" }, "%"), /^ Derived from the source: 50/);
    assert.match(reported({ value: 50, source: "x" }, "%"), /^ Published: 50/);
  });

  test("documents_of_the_ietf_have_an_address", () => {
    assert.equal(addressOf("RFC 6356 (LIA)"), "https://datatracker.ietf.org/doc/html/rfc6356");
    const draft = "draft-khalili-mptcp-congestion-control-02";
    assert.equal(addressOf(`${draft} (OLIA)`), `https://datatracker.ietf.org/doc/html/${draft}`);
    assert.equal(addressOf("IEEE 802.11-2012"), undefined);
    const known = guides.flatMap((guide) => guide.sources.map((one) => addressOf(one.document)));
    for (const address of known)
      assert.match(address ?? "https://datatracker.ietf.org/", /^https:\/\/datatracker/);
  });

  test("asks_have_their_overrides_in_the_order_of_the_page", () => {
    for (const [, , overrides] of asks) assert.deepEqual(overrides, [...overrides].sort());
  });
});

/** Answers each line of its input with the number of bytes, 4 little-endian, and the bytes. */
const SERVER = `
import json, sys
from anabranch import _core
from anabranch.explorer.data import scenarios
def put(answer):
    sys.stdout.buffer.write(len(answer).to_bytes(4, "little") + answer)
    sys.stdout.buffer.flush()
put(json.dumps([*scenarios()]).encode())
for line in sys.stdin:
    put(_core.page(line))
`;

/** The native engine, in a Python beside the test. */
class Native extends Answering {
  readonly kind = "native";
  readonly width = 1;
  private readonly python = spawn(PYTHON, ["-c", SERVER], { stdio: ["pipe", "pipe", "inherit"] });
  private readonly waiting: ((bytes: Buffer) => void)[] = [];
  private come = Buffer.alloc(0);
  private readonly loaded = new Promise<Buffer>((resolve) => this.waiting.push(resolve));

  constructor() {
    super();
    this.python.stdout.on("data", (more: Buffer) => this.take(more));
  }

  async data(): Promise<Data> {
    const scenarios = JSON.parse((await this.loaded).toString()) as Data["scenarios"];
    return { version: "", scenarios, published: [], theory: {} };
  }

  end(): void {
    this.python.stdin.end();
  }

  protected async answer(request: string): Promise<ArrayBuffer> {
    const bytes = new Promise<Buffer>((resolve) => this.waiting.push(resolve));
    this.python.stdin.write(`${request}\n`);
    return new Uint8Array(await bytes).buffer;
  }

  private take(more: Buffer): void {
    this.come = Buffer.concat([this.come, more]);
    while (this.come.length >= 4 && this.come.length >= 4 + this.come.readUInt32LE(0)) {
      const end = 4 + this.come.readUInt32LE(0);
      this.waiting.shift()?.(this.come.subarray(4, end));
      this.come = this.come.subarray(end);
    }
  }
}

describe("lessons on the native engine", { skip: existsSync(PYTHON) ? false : "there is no .venv" }, () => {
  let engine: Native | undefined;
  after(() => engine?.end());

  for (const guide of guides) {
    test(`${guide.name}_finds_what_its_texts_say`, async (context) => {
      engine ??= new Native();
      const found = await find(guide, engine, await engine.data(), new AbortController().signal);
      for (const [name, value] of Object.entries(found.intervals)) {
        const quantity = guide.quantities[name];
        assert.ok(
          quantity && Number.isFinite(value.mean) && Number.isFinite(value.half),
          `${guide.name}: ${name}`,
        );
        context.diagnostic(`${guide.name}: ${name} ${shown(quantity, value)}`);
      }
      assert.deepEqual(found.missed, []);
      for (const { quantity, min, max } of guide.guesses) {
        const [unit, value] = [guide.quantities[quantity]?.unit ?? "count", found.intervals[quantity]];
        assert.ok(value && value.mean >= min * UNITS[unit], `${quantity} is below ${min} ${unit}`);
        assert.ok(value.mean <= max * UNITS[unit], `${quantity} is above ${max} ${unit}`);
      }
      for (const text of [...texts(guide), ...cells(guide)]) {
        const parts = filled(text, guide.quantities, found.intervals);
        for (const part of parts) assert.doesNotMatch(part.text, /[{}]|NaN|Infinity|undefined/);
        if (text.includes("{") && text.length > 40)
          context.diagnostic(parts.map((part) => part.text).join(""));
      }
    });
  }
});
