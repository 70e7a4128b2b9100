// One instance of the engine in WebAssembly (crates/wasm), which imports nothing.

interface Exports {
  memory: WebAssembly.Memory;
  /** Room for a request of so many bytes. */
  reserve(length: number): number;
  /** Answers the request; gives where 4 bytes with the length of the answer are, and then the answer. */
  answer(): number;
  /** Frees request and answer. */
  release(): void;
}

export class Instance {
  private constructor(private readonly exports: Exports) {}

  static async make(module: WebAssembly.Module): Promise<Instance> {
    const { exports } = await WebAssembly.instantiate(module, {});
    return new Instance(exports as unknown as Exports);
  }

  /** The bytes of an answer, copied out of the engine's memory. */
  answer(request: string): ArrayBuffer {
    const { memory, reserve, answer, release } = this.exports;
    const text = new TextEncoder().encode(request);
    const at = reserve(text.length);
    new Uint8Array(memory.buffer, at, text.length).set(text);
    const found = answer();
    const length = new DataView(memory.buffer).getUint32(found, true);
    const bytes = memory.buffer.slice(found + 4, found + 4 + length) as ArrayBuffer;
    release();
    return bytes;
  }
}
