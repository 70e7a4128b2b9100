// The page in a window of its own: with the engine in it, if it has one, or else with that of the server.

import { mount } from "./page.ts";
import { NativeEngine } from "./native.ts";
import { PageEngine } from "./wasm.ts";
import type { Data, Engine } from "./engine.ts";
import type { Mounted } from "./page.ts";

declare global {
  interface Window {
    anabranch: Mounted;
  }
}

/** Contents of an element that the build has put into the page; undefined if it has not. */
function within(id: string): string | undefined {
  return document.getElementById(id)?.textContent ?? undefined;
}

function engine(): Engine {
  const [packed, worker, data] = [within("engine"), within("worker"), within("data")];
  if (packed === undefined || worker === undefined || data === undefined) return new NativeEngine();
  const source = URL.createObjectURL(new Blob([worker], { type: "text/javascript" }));
  return new PageEngine(packed, source, JSON.parse(data) as Data);
}

const root = document.getElementById("explorer");
if (!root) throw new Error("the page has no element `explorer`");
window.anabranch = mount(root, engine(), { address: true });
