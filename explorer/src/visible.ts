// Work rests while the page is hidden.

/** Resolves once the page can be seen, or `signal` says that nobody waits. */
export function visible(signal: AbortSignal): Promise<void> {
  if (typeof document === "undefined" || !document.hidden || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const look = (): void => {
      if (document.hidden && !signal.aborted) return;
      document.removeEventListener("visibilitychange", look);
      signal.removeEventListener("abort", look);
      resolve();
    };
    document.addEventListener("visibilitychange", look);
    signal.addEventListener("abort", look);
  });
}
