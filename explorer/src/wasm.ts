// The engine inside the page: a pool of workers, each with its own instance of the module.

import { Answering } from "./answering.ts";
import { EngineError } from "./engine.ts";
import type { Data } from "./engine.ts";
import type { Done, Job } from "./worker.ts";

/** A run that nobody waits for any more may go on for so long before its worker is replaced. */
const PATIENCE_MS = 400;

interface Waiting {
  request: string;
  settle(done: Done): void;
}

interface Member {
  worker: Worker;
  job: { id: number; waiting: Waiting } | undefined;
}

export class PageEngine extends Answering {
  readonly kind = "page";
  readonly width = Math.max(1, Math.min(4, navigator.hardwareConcurrency));
  private readonly pool: Member[] = [];
  private readonly queue: Waiting[] = [];
  private module: WebAssembly.Module | undefined;
  private readonly compiled: Promise<void>;
  private jobs = 0;

  /** `packed` is the module, compressed by gzip, in base64; `source` is the address of the worker's code. */
  constructor(
    packed: string,
    private readonly source: string,
    private readonly own: Data,
  ) {
    super();
    this.hire(); // it starts while the module is compiled, so that the first run waits for one of them only
    this.compiled = compiled(packed).then((module) => {
      this.module = module;
      for (const { worker } of this.pool) worker.postMessage({ module });
    });
  }

  data(): Promise<Data> {
    return Promise.resolve(this.own);
  }

  protected async answer(request: string, signal?: AbortSignal): Promise<ArrayBuffer> {
    await this.compiled;
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(aborted());
      const waiting: Waiting = {
        request,
        settle: (done) => {
          signal?.removeEventListener("abort", stop);
          if ("bytes" in done) resolve(done.bytes);
          else reject(new EngineError(done.error));
        },
      };
      const stop = (): void => {
        reject(aborted());
        this.abandon(waiting);
      };
      signal?.addEventListener("abort", stop, { once: true });
      this.queue.push(waiting);
      this.next();
    });
  }

  /** Gives waiting requests to idle workers, in their order. */
  private next(): void {
    while (this.queue.length > 0) {
      const member = this.pool.find((one) => !one.job) ?? this.hire();
      if (!member) return;
      const waiting = this.queue.shift() as Waiting;
      const job: Job = { id: ++this.jobs, request: waiting.request };
      member.job = { id: job.id, waiting };
      member.worker.postMessage(job);
    }
  }

  /** A worker more, if there may be one; all share the code of one module. */
  private hire(): Member | undefined {
    if (this.pool.length >= this.width) return undefined;
    const member: Member = { worker: new Worker(this.source), job: undefined };
    member.worker.onmessage = (event: MessageEvent<Done>) => this.done(member, event.data);
    member.worker.onerror = () =>
      this.done(member, { id: member.job?.id ?? 0, error: "the engine's worker failed" });
    if (this.module) member.worker.postMessage({ module: this.module });
    this.pool.push(member);
    return member;
  }

  private done(member: Member, done: Done): void {
    const job = member.job;
    member.job = undefined;
    if ("error" in done) this.dismiss(member); // its memory may be in any state
    job?.waiting.settle(done);
    this.next();
  }

  private dismiss(member: Member): void {
    member.worker.terminate();
    this.pool.splice(this.pool.indexOf(member), 1);
  }

  /** Drops a request that waits; a run that goes on is stopped if it is not done soon. */
  private abandon(waiting: Waiting): void {
    const place = this.queue.indexOf(waiting);
    if (place >= 0) {
      this.queue.splice(place, 1);
      return;
    }
    setTimeout(() => {
      const member = this.pool.find((one) => one.job?.waiting === waiting);
      if (!member) return;
      this.dismiss(member);
      this.next();
    }, PATIENCE_MS);
  }
}

function aborted(): DOMException {
  return new DOMException("no longer wanted", "AbortError");
}

async function compiled(packed: string): Promise<WebAssembly.Module> {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}
