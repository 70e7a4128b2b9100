// The engine behind `anabranch explore`: requests go to the server that served the page.

import { Answering } from "./answering.ts";
import { EngineError } from "./engine.ts";
import type { Ask, Data, Theory } from "./engine.ts";

export class NativeEngine extends Answering {
  readonly kind = "native";
  readonly width = Math.max(1, Math.min(4, navigator.hardwareConcurrency));
  private loaded: Promise<Data> | undefined;

  data(): Promise<Data> {
    this.loaded ??= send("data.json").then((response) => response.json() as Promise<Data>);
    return this.loaded;
  }

  override async theory(ask: Ask, signal?: AbortSignal): Promise<Theory | undefined> {
    return (await send("theory", JSON.stringify(ask), signal)).json() as Promise<Theory>;
  }

  protected async answer(request: string, signal?: AbortSignal): Promise<ArrayBuffer> {
    return (await send("answer", request, signal)).arrayBuffer();
  }
}

/** A response of the server; addresses are relative, as the page's own one has a token in it. */
async function send(address: string, body?: string, signal?: AbortSignal): Promise<Response> {
  const headers = { "Content-Type": "application/json" };
  const options = body === undefined ? {} : { method: "POST", body, headers };
  let response: Response;
  try {
    response = await fetch(address, { ...options, ...(signal ? { signal } : {}) });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new EngineError("the server does not answer: is `anabranch explore` still running?");
  }
  if (!response.ok) throw new EngineError((await response.text()) || `the server answers ${response.status}`);
  return response;
}
