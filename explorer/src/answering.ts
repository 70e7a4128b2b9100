// What every engine shares: requests as JSON text, answers as bytes (packing.ts).

import { part, runOf } from "./packing.ts";
import { theoryKey } from "./engine.ts";
import type { Ask, Data, Engine, Fairness, Listing, Plan, Run, Theory } from "./engine.ts";

/** An engine around one function that answers a request; both back ends get the same requests. */
export abstract class Answering implements Engine {
  abstract readonly kind: Engine["kind"];
  abstract readonly width: number;
  private listed: Promise<Listing> | undefined;

  abstract data(): Promise<Data>;

  /** Bytes for a request. Rejects with an AbortError once `signal` says so. */
  protected abstract answer(request: string, signal?: AbortSignal): Promise<ArrayBuffer>;

  async plan(ask: Ask): Promise<Plan> {
    return part<Plan>(await this.ask("plan", ask), "plan");
  }

  async text(ask: Ask): Promise<string> {
    return part<string>(await this.ask("text", ask), "text");
  }

  async run(ask: Ask, seed: number, signal?: AbortSignal, series = true): Promise<Run> {
    return runOf(await this.answer(JSON.stringify({ do: "run", ...ask, seed, series, events: 0 }), signal));
  }

  list(): Promise<Listing> {
    this.listed ??= this.answer(JSON.stringify({ do: "list" })).then((bytes) => ({
      controllers: part<Listing["controllers"]>(bytes, "controllers"),
      queues: part<Listing["queues"]>(bytes, "queues"),
    }));
    return this.listed;
  }

  async fairness(question: Fairness): Promise<boolean | number> {
    return part<boolean | number>(
      await this.answer(JSON.stringify({ do: "fairness", ...question })),
      "fairness",
    );
  }

  /** Theory that was computed before the page was made. */
  async theory(ask: Ask): Promise<Theory | undefined> {
    return (await this.data()).theory[theoryKey(ask)];
  }

  private ask(what: string, ask: Ask): Promise<ArrayBuffer> {
    return this.answer(JSON.stringify({ do: what, ...ask }));
  }
}
