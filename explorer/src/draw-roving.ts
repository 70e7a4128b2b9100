// A picture is one tab stop: arrow keys move among its items, Escape leaves it.

/** How to move, for the label of a picture. */
export const KEYS = "arrow keys move from one to the next, Escape leaves";

const STEPS: Record<string, number> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

export class Roving {
  private items: SVGElement[] = [];
  private at = 0;

  constructor(picture: SVGSVGElement) {
    picture.addEventListener("keydown", (event) => this.key(event));
  }

  /** Takes the items of a new drawing, which `put` shows. The focus stays at its place, if it was in the one before. */
  hold(items: SVGElement[], put: () => void): void {
    const had = this.items.some(focused);
    put();
    this.items = items;
    this.at = Math.max(0, Math.min(this.at, items.length - 1));
    items.forEach((item, place) => {
      item.setAttribute("tabindex", place === this.at ? "0" : "-1");
      item.addEventListener("focus", () => this.stop(place));
    });
    if (had) this.items[this.at]?.focus();
  }

  /** Makes an item the one that Tab comes to. */
  private stop(place: number): void {
    this.items[this.at]?.setAttribute("tabindex", "-1");
    this.at = place;
    this.items[place]?.setAttribute("tabindex", "0");
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || this.items.length === 0) return;
    const count = this.items.length;
    const step = STEPS[event.key];
    if (step !== undefined) this.items[(this.at + step + count) % count]?.focus();
    else if (event.key === "Home") this.items[0]?.focus();
    else if (event.key === "End") this.items[count - 1]?.focus();
    else if (event.key === "Escape") this.items[this.at]?.blur();
    else return;
    // The page has a use of its own for arrows: they step the clock.
    event.stopPropagation();
    event.preventDefault();
  }
}

function focused(item: SVGElement): boolean {
  const root = item.getRootNode();
  return (root instanceof ShadowRoot || root instanceof Document) && root.activeElement === item;
}
