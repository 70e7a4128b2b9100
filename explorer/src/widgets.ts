// Sliders with a box for exact values, and choices. Both write overrides of the scenario.

import { button, element, write } from "./dom.ts";
import { named, POSITIONS } from "./fields.ts";
import type { Choice, Range } from "./fields.ts";
import type { Plan } from "./engine.ts";
import type { State } from "./state.ts";

export interface Hooks {
  /** Changes the state; `cause` is the key of the control. */
  change(change: (state: State) => void, cause: string): void;
  /** The playhead in simulated seconds. */
  playhead(): number;
  colour(cls: string): string;
}

export interface Widget {
  /** Keys of overrides, or names, by which errors find it. */
  keys: string[];
  root: HTMLElement;
  refresh(state: State, plan: Plan): void;
  /** Shows an error at the control; an empty text removes it. */
  fail(text: string): void;
}

let made = 0;

/** An id that no other control of the page has. */
function fresh(): string {
  made += 1;
  return `control-${made}`;
}

/** A line for an error, which screen readers speak when it comes. */
function errorLine(...marked: HTMLElement[]): { line: HTMLElement; fail: (text: string) => void } {
  const line = element("p", { class: "error", role: "alert" });
  const fail = (text: string): void => {
    write(line, text);
    for (const one of marked) one.toggleAttribute("aria-invalid", text !== "");
  };
  return { line, fail };
}

/** A slider, a box with the value as text, and a button that returns to the scenario's value. */
export function rangeOf(field: Range, hooks: Hooks): Widget {
  const id = fresh();
  const slider = element("input", {
    type: "range",
    min: 0,
    max: POSITIONS,
    step: 1,
    id,
    "aria-label": named(field),
    "data-test": "slider",
    "data-key": field.key,
  });
  const box = element("input", {
    type: "text",
    "aria-label": `${named(field)}, exact`,
    class: "exact",
    spellcheck: "false",
  });
  const { line, fail } = errorLine(slider, box);
  const label = element("label", { for: id }, field.label);
  let key = field.key;
  const put = (text: string): void =>
    hooks.change((state) => (state.overrides[key] = field.write(text)), field.key);
  /** Whether the value of the slider is in someone's hands: results that come in must not move it then. */
  let held = false;
  const undo = undoOf(field, () => {
    held = false;
    slider.focus(); // the button goes, and the focus with it
    hooks.change((state) => delete state.overrides[key], field.key);
  });
  slider.addEventListener("blur", () => (held = false));
  slider.addEventListener("input", () => {
    held = true;
    const text = field.show(field.at(Number(slider.value)));
    box.value = text;
    slider.setAttribute("aria-valuetext", text);
    put(text);
  });
  box.addEventListener("change", () => put(box.value));
  const root = element("div", { class: "field" }, label, slider, box, undo, line);
  const refresh = (state: State, plan: Plan): void => {
    key = field.keyIn?.(plan) ?? field.key;
    widget.keys = [field.key, key];
    const value = field.read(plan);
    root.hidden = value === undefined;
    undo.hidden = !Object.hasOwn(state.overrides, key);
    if (value === undefined) return;
    const text = field.show(value);
    slider.setAttribute("aria-valuetext", text);
    if (held && focused(slider)) return;
    slider.value = String(Math.round(field.position(value)));
    if (!focused(box)) box.value = text;
  };
  const widget: Widget = { keys: [field.key], root, refresh, fail };
  return widget;
}

function undoOf(field: Range, back: () => void): HTMLButtonElement {
  const title = "back to the scenario's value";
  return button("↺", back, { class: "undo", "aria-label": `${named(field)}, ${title}`, title });
}

/** A list of values. Another kind of queue drops what was set of the one before. */
export function choiceOf(field: Choice, hooks: Hooks): Widget {
  const id = fresh();
  const list = element("select", { id, "aria-label": named(field), "data-key": field.key });
  const options = field.options.map(({ label, missing }, number) =>
    missing === undefined
      ? element("option", { value: number }, label)
      : element("option", { value: number, disabled: true, title: missing }, `${label}: ${missing}`),
  );
  list.append(...options);
  const { line, fail } = errorLine(list);
  list.addEventListener("change", () => {
    const value = field.options[Number(list.value)]?.value ?? null;
    hooks.change((state) => {
      for (const key of Object.keys(state.overrides))
        if (key.startsWith(`${field.key}.`)) delete state.overrides[key];
      if (value === null) delete state.overrides[field.key];
      else state.overrides[field.key] = value;
    }, field.key);
  });
  const refresh = (state: State): void => {
    const value = state.overrides[field.key] ?? null;
    const place = field.options.findIndex((option) => option.value === value);
    list.querySelector("option[data-other]")?.remove();
    if (place < 0) list.append(element("option", { value: -1, "data-other": true }, value ?? ""));
    list.value = String(place);
  };
  const root = element("div", { class: "field" }, element("label", { for: id }, field.label), list, line);
  return { keys: [field.key], root, refresh, fail };
}

/** Whether someone is at this control: its value must not change under their hands. */
export function focused(control: HTMLElement): boolean {
  const root = control.getRootNode();
  return (root instanceof ShadowRoot || root instanceof Document) && root.activeElement === control;
}
