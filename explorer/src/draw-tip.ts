// A small note over a picture: lines of text beside what the pointer or the focus is on.

import { el, set, textWidth } from "./draw-svg.ts";

const SIZE = 12;
const LINE = 16;
const PAD = 8;

export class Tip {
  readonly element = el("g", { class: "ab-tip", "aria-hidden": "true", visibility: "hidden" });
  private open = false;

  /** Shows lines at a point, inside a picture of so many pixels; the first line is the heading. */
  show(lines: string[], x: number, y: number, width: number, height: number): void {
    const wide =
      Math.max(...lines.map((line, i) => textWidth(line, SIZE) * (i === 0 ? 1.14 : 1.07))) + 2 * PAD;
    const high = lines.length * LINE + 2 * PAD - 4;
    const left = Math.max(2, Math.min(x + 12, width - wide - 2));
    const top = y + 14 + high < height ? y + 14 : Math.max(2, y - 12 - high);
    const texts = lines.map((line, i) =>
      el(
        "text",
        { x: PAD, y: PAD + LINE * (i + 0.75) - 1, "font-size": SIZE, class: i === 0 ? "ab-name" : "ab-fact" },
        line,
      ),
    );
    this.element.replaceChildren(el("rect", { width: wide, height: high, rx: 5 }), ...texts);
    set(this.element, {
      transform: `translate(${left.toFixed(1)} ${top.toFixed(1)})`,
      visibility: "visible",
    });
    this.open = true;
  }

  hide(): void {
    if (!this.open) return;
    this.element.setAttribute("visibility", "hidden");
    this.open = false;
  }
}

/** Calls `enter` with a point in the picture's pixels when pointer or focus come to a target, and `leave` after it. */
export function watch(
  target: SVGElement,
  picture: SVGSVGElement,
  anchor: () => [x: number, y: number],
  enter: (x: number, y: number) => void,
  leave: () => void,
): void {
  const at = (event: PointerEvent): [number, number] => {
    const box = picture.getBoundingClientRect();
    const scale = picture.viewBox.baseVal.width / (box.width || 1);
    return [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
  };
  target.addEventListener("pointerenter", (event) => enter(...at(event)));
  target.addEventListener("pointermove", (event) => enter(...at(event)));
  target.addEventListener("pointerleave", leave);
  target.addEventListener("focus", () => enter(...anchor()));
  target.addEventListener("blur", leave);
  target.addEventListener("keydown", (event) => {
    if (event.key === "Escape") leave();
  });
}
