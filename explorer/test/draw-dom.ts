// As much of the DOM as pictures need, for tests without a browser.

export class Fake {
  readonly attributes = new Map<string, string>();
  readonly classes = new Set<string>();
  readonly listeners = new Map<string, ((event: unknown) => void)[]>();
  children: (Fake | string)[] = [];
  clientWidth = 800;
  readonly viewBox = { baseVal: { width: 800 } };
  readonly classList = {
    add: (name: string): unknown => this.classes.add(name),
    toggle: (name: string, on: boolean): unknown => (on ? this.classes.add(name) : this.classes.delete(name)),
  };

  constructor(readonly tag: string) {}

  setAttribute(name: string, value: string): void {
    this.attributes.set(name, String(value));
  }

  getAttribute(name: string): string | null {
    return this.attributes.get(name) ?? null;
  }

  append(...children: (Fake | string)[]): void {
    this.children.push(...children);
  }

  replaceChildren(...children: (Fake | string)[]): void {
    this.children = children;
  }

  addEventListener(kind: string, act: (event: unknown) => void): void {
    this.listeners.set(kind, [...(this.listeners.get(kind) ?? []), act]);
  }

  /** The document has the focus of one element, and tells it so. */
  focus(): void {
    page.activeElement?.blur();
    page.activeElement = this;
    this.tell("focus", {});
  }

  blur(): void {
    if (page.activeElement !== this) return;
    page.activeElement = null;
    this.tell("blur", {});
  }

  tell(kind: string, event: unknown): void {
    for (const act of this.listeners.get(kind) ?? []) act(event);
  }

  getRootNode(): FakeDocument {
    return page;
  }

  getBoundingClientRect(): { left: number; top: number; width: number } {
    return { left: 0, top: 0, width: 800 };
  }

  get textContent(): string {
    return this.children.map((child) => (typeof child === "string" ? child : child.textContent)).join("");
  }

  set textContent(text: string) {
    this.children = [text];
  }

  /** All elements below it with a tag, or with a class (".ab-line"). */
  all(what: string): Fake[] {
    const fits = (one: Fake): boolean =>
      what.startsWith(".")
        ? (one.getAttribute("class") ?? "").split(" ").includes(what.slice(1))
        : one.tag === what;
    const below = this.children.filter((child) => child instanceof Fake);
    return below.flatMap((child) => [...(fits(child) ? [child] : []), ...child.all(what)]);
  }
}

class FakeDocument {
  activeElement: Fake | null = null;

  createElementNS(_: string, tag: string): Fake {
    return new Fake(tag);
  }
}

const page = new FakeDocument();

/** Puts the fake document where pictures look for it. */
export function install(): void {
  Object.assign(globalThis, { document: page, Document: FakeDocument, ShadowRoot: class {} });
}

/** A picture as its fake. */
export function fake(picture: unknown): Fake {
  return picture as Fake;
}
