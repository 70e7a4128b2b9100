// Elements made from data. Text becomes text nodes only: nothing that a user wrote is parsed as HTML.

type Attributes = Record<string, string | number | boolean | undefined>;

/** An element with attributes and children; `true` is an empty attribute, `false` and undefined none. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children);
  return made;
}

/** A button that calls `act`; its text is its name. */
export function button(text: string, act: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const made = element("button", { type: "button", ...attributes }, text);
  made.addEventListener("click", act);
  return made;
}

/** Sets a text, if it differs: a live region speaks only of changes. */
export function write(into: Element, text: string): void {
  if (into.textContent !== text) into.textContent = text;
}

/** A function that runs `act` once for all calls within `wait_ms`, at their end: it is never put off. */
export function gathered(act: () => void, wait_ms: number): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      act();
    }, wait_ms);
  };
}

/** A function that runs `act` once, `wait_ms` after its last call. */
export function debounced(act: () => void, wait_ms: number): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(act, wait_ms);
  };
}
