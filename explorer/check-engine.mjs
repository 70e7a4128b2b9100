// Runs shipped scenarios in explorer/build/engine.wasm and compares their digests with those of the
// native engine, tests/golden/digests.txt; prints the time of each run and the size of the module.
//
//   node explorer/check-engine.mjs                    every scenario
//   node explorer/check-engine.mjs khalili/scenario-c some of them
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const root = new URL("..", import.meta.url);
const read = (path) => readFileSync(new URL(path, root));

const bytes = read("explorer/build/engine.wasm");
const module = new WebAssembly.Module(bytes);
const imports = WebAssembly.Module.imports(module);
const engine = new WebAssembly.Instance(module).exports;
let failures = imports.length;
if (imports.length) console.log("the module has imports:", imports);

/** The header of the answer to a request. */
function ask(request) {
  const text = new TextEncoder().encode(JSON.stringify(request));
  const place = engine.reserve(text.length); // it may move the memory
  new Uint8Array(engine.memory.buffer, place, text.length).set(text);
  const answer = engine.answer();
  const view = new DataView(engine.memory.buffer);
  const header = new Uint8Array(engine.memory.buffer, answer + 8, view.getUint32(answer + 4, true));
  const found = JSON.parse(new TextDecoder().decode(header));
  engine.release();
  return found;
}

const wanted = process.argv.slice(2);
for (const line of read("tests/golden/digests.txt").toString().trim().split("\n")) {
  const [name, digest] = line.split(" ");
  if (wanted.length && !wanted.includes(name)) continue;
  const text = read(`python/anabranch/scenarios/${name}.toml`).toString();
  const begin = performance.now();
  const { run, error } = ask({ do: "run", name, text, seed: 1, series: true });
  const took = ((performance.now() - begin) / 1000).toFixed(3);
  const right = run?.digest === digest;
  failures += !right;
  console.log(`${right ? "ok   " : "WRONG"} ${took} s  ${name}  ${run?.digest ?? error}`);
}
const memory = (engine.memory.buffer.byteLength / 1e6).toFixed(0);
const sizes = [bytes, gzipSync(bytes, { level: 9 })].map((all) => (all.length / 1e6).toFixed(2));
console.log(`${sizes[0]} MB, ${sizes[1]} MB with gzip -9; the runs had ${memory} MB of memory`);
process.exit(failures ? 1 : 0);
