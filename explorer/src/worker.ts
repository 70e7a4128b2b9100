// A worker with an engine of its own in WebAssembly: requests come as text, answers go back as bytes.

import { Instance } from "./instance.ts";

export interface Job {
  id: number;
  request: string;
}

export type Done = { id: number; bytes: ArrayBuffer } | { id: number; error: string };

let ready: Promise<Instance>;

self.onmessage = async (event: MessageEvent<{ module: WebAssembly.Module } | Job>) => {
  const message = event.data;
  if ("module" in message) {
    ready = Instance.make(message.module);
    return;
  }
  try {
    const bytes = (await ready).answer(message.request);
    self.postMessage({ id: message.id, bytes } satisfies Done, { transfer: [bytes] });
  } catch (error) {
    self.postMessage({ id: message.id, error: `the engine stopped: ${String(error)}` } satisfies Done);
  }
};
