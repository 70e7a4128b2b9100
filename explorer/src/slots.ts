// Tasks of which so many may be under way at once; the others wait in their order.

interface Waiting {
  begin(): void;
}

export class Slots {
  private readonly queue: Waiting[] = [];
  private free: number;

  constructor(width: number) {
    this.free = width;
  }

  /**
   * Begins a task once a slot is free. Rejects with an AbortError as soon as `signal` says so: a task that
   * waits is dropped then, one that has begun keeps its slot to its end.
   */
  take<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        begin: () => {
          this.free -= 1;
          void task()
            .then(resolve, reject)
            .finally(() => {
              signal?.removeEventListener("abort", stop);
              this.free += 1;
              this.next();
            });
        },
      };
      const stop = (): void => {
        const place = this.queue.indexOf(waiting);
        if (place >= 0) this.queue.splice(place, 1);
        reject(new DOMException("no longer wanted", "AbortError"));
      };
      if (signal?.aborted) return stop();
      signal?.addEventListener("abort", stop, { once: true });
      this.queue.push(waiting);
      this.next();
    });
  }

  private next(): void {
    while (this.free > 0 && this.queue.length > 0) this.queue.shift()?.begin();
  }
}
