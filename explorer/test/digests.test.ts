import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";

const ROOT = new URL("../../../", import.meta.url);
const MODULE = new URL("explorer/build/engine.wasm", ROOT);
/** Some that take little time; tests/explorer runs all of them in a browser. */
const SCENARIOS = ["khalili/scenario-a", "khalili/scenario-c"];

interface Module {
  memory: WebAssembly.Memory;
  reserve(length: number): number;
  answer(): number;
  release(): void;
}

/** The header of the answer to a request. */
function ask(engine: Module, request: object): { run?: { digest: string }; error?: string } {
  const text = new TextEncoder().encode(JSON.stringify(request));
  const place = engine.reserve(text.length); // it may move the memory
  new Uint8Array(engine.memory.buffer, place, text.length).set(text);
  const answer = engine.answer();
  const length = new DataView(engine.memory.buffer).getUint32(answer + 4, true);
  const header = new TextDecoder().decode(new Uint8Array(engine.memory.buffer, answer + 8, length));
  engine.release();
  return JSON.parse(header) as ReturnType<typeof ask>;
}

const options = existsSync(MODULE) ? {} : { skip: "there is no build/engine.wasm: run `make explorer`" };

test("the module needs nothing from outside and gives the native digests", options, () => {
  const module = new WebAssembly.Module(readFileSync(MODULE));
  assert.deepEqual(WebAssembly.Module.imports(module), []);
  const engine = new WebAssembly.Instance(module).exports as unknown as Module;
  const golden = readFileSync(new URL("tests/golden/digests.txt", ROOT), "utf8");
  const native = new Map(golden.split("\n").map((line) => line.split(" ") as [string, string]));
  for (const name of SCENARIOS) {
    const text = readFileSync(new URL(`python/anabranch/scenarios/${name}.toml`, ROOT), "utf8");
    const { run, error } = ask(engine, { do: "run", name, text, seed: 1, series: true });
    assert.equal(run?.digest, native.get(name), error ?? name);
  }
});
