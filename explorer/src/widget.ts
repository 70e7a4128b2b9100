// The page in a notebook, as an anywidget: requests go to the process of the notebook as messages.

import { Answering } from "./answering.ts";
import { EngineError } from "./engine.ts";
import { Slots } from "./slots.ts";
import { mount } from "./page.ts";
import type { Ask, Data, Theory } from "./engine.ts";

/** What the page uses of a model (anywidget.dev). */
interface Model {
  get(name: "data"): Data;
  send(message: object): void;
  on(event: "msg:custom", heard: (message: Reply, buffers: DataView[]) => void): void;
  off(event: "msg:custom", heard: (message: Reply, buffers: DataView[]) => void): void;
}

interface Reply {
  id: number;
  theory?: Theory;
  error?: string;
}

class NotebookEngine extends Answering {
  readonly kind = "native";
  /** The process answers one message after the other. */
  readonly width = 1;
  private readonly waiting = new Map<number, (reply: Reply, buffers: DataView[]) => void>();
  private readonly slots = new Slots(this.width);
  private sent = 0;

  constructor(private readonly model: Model) {
    super();
    model.on("msg:custom", this.heard);
  }

  data(): Promise<Data> {
    return Promise.resolve(this.model.get("data"));
  }

  override async theory(ask: Ask, signal?: AbortSignal): Promise<Theory | undefined> {
    return (await this.send({ theory: JSON.stringify(ask) }, signal)).reply.theory;
  }

  end(): void {
    this.model.off("msg:custom", this.heard);
  }

  protected async answer(request: string, signal?: AbortSignal): Promise<ArrayBuffer> {
    const { buffers } = await this.send({ request }, signal);
    const view = buffers[0];
    if (!view) throw new EngineError("the notebook's answer has no bytes");
    // A copy begins at a multiple of 8, as numbers in it must.
    return new Uint8Array(view.buffer, view.byteOffset, view.byteLength).slice().buffer as ArrayBuffer;
  }

  private readonly heard = (reply: Reply, buffers: DataView[]): void => {
    this.waiting.get(reply.id)?.(reply, buffers);
    this.waiting.delete(reply.id);
  };

  /** Sends a message when the one before it is answered: the process could not forget one that waits with it. */
  private send(message: object, signal?: AbortSignal): Promise<{ reply: Reply; buffers: DataView[] }> {
    const id = ++this.sent;
    const answered = (): Promise<{ reply: Reply; buffers: DataView[] }> =>
      new Promise((resolve, reject) => {
        this.waiting.set(id, (reply, buffers) => {
          if (reply.error === undefined) resolve({ reply, buffers });
          else reject(new EngineError(reply.error));
        });
        this.model.send({ id, ...message });
      });
    return this.slots.take(answered, signal);
  }
}

function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const root = document.createElement("div");
  el.append(root);
  const engine = new NotebookEngine(model);
  const page = mount(root, engine, { address: false });
  return () => {
    page.destroy();
    engine.end();
  };
}

export default { render };
