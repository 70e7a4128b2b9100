// The scenario, shipped or one's own, and the controllers A and B, by name or as the text of a law.

import { button, debounced, element, write } from "./dom.ts";
import { focused } from "./widgets.ts";
import { initial, isLaw } from "./state.ts";
import { labelOf } from "./users.ts";
import { shippedLaws } from "./laws.ts";
import type { Data, Listing, Plan } from "./engine.ts";
import type { Controller, State } from "./state.ts";
import type { Hooks, Widget } from "./widgets.ts";

/** Most bytes of a file that is opened as a scenario. */
const MOST_FILE = 4_000_000;
/** How long one may pause between two letters of a law. */
const TYPING_MS = 400;
const OWN = "…own";
const LAW = "…law";
const NONE = "…none";

export class Sources {
  readonly root = element("div", { class: "group" });
  readonly widgets: Widget[] = [];
  private readonly list: HTMLSelectElement;
  private readonly area = element("textarea", {
    rows: 12,
    spellcheck: "false",
    "aria-label": "Scenario as TOML",
  });
  private readonly own = element("details", { class: "own" });

  constructor(
    private readonly data: Data,
    listing: Listing,
    private readonly hooks: Hooks,
  ) {
    this.list = this.scenarios();
    const error = element("p", { class: "error", role: "alert" });
    this.widgets.push({
      keys: ["scenario"],
      root: this.list,
      refresh: () => undefined,
      fail: (text) => write(error, text),
    });
    const first = new ControllerBox("a", listing, hooks);
    const second = new ControllerBox("b", listing, hooks);
    this.widgets.push(first, second);
    const label = element("label", { for: "scenario" }, "Scenario");
    this.root.append(
      element("div", { class: "field wide" }, label, this.list),
      this.ownText(),
      error,
      element("h2", {}, "Controller of multipath users"),
      first.root,
      second.root,
    );
  }

  refresh(state: State, base: Plan | undefined): void {
    this.list.value = state.text === null ? state.scenario : OWN;
    const text = state.text ?? this.data.scenarios.find((one) => one.name === state.scenario)?.text ?? "";
    if (!focused(this.area)) this.area.value = text;
    if (state.text !== null) this.own.open = true;
    for (const widget of this.widgets) if (widget instanceof ControllerBox) widget.show(state, base);
  }

  private scenarios(): HTMLSelectElement {
    const list = element("select", { id: "scenario", "data-test": "scenario" });
    const folders = new Map<string, HTMLOptGroupElement>();
    for (const { name, title } of this.data.scenarios) {
      const [folder = "", file = name] = name.split("/");
      const group = folders.get(folder) ?? element("optgroup", { label: folder });
      folders.set(folder, group);
      group.append(element("option", { value: name, title }, file));
    }
    list.append(...folders.values(), element("option", { value: OWN }, "a text of your own"));
    list.addEventListener("change", () => {
      if (list.value === OWN) this.use(this.area.value);
      else this.hooks.change((state) => Object.assign(state, fresh(state, list.value)), "scenario");
    });
    return list;
  }

  private ownText(): HTMLElement {
    const file = element("input", {
      type: "file",
      accept: ".toml,text/plain",
      "data-test": "file",
      "aria-label": "Open a scenario file",
    });
    file.addEventListener("change", () => void this.open(file));
    const use = button("Use this text", () => this.use(this.area.value), { "data-test": "use-text" });
    this.own.append(
      element("summary", {}, "Text of the scenario"),
      this.area,
      element("div", { class: "buttons" }, use, file),
    );
    return this.own;
  }

  private async open(input: HTMLInputElement): Promise<void> {
    const file = input.files?.[0];
    if (!file) return;
    if (file.size > MOST_FILE) {
      this.widgets[0]?.fail(`${file.name} has ${file.size} bytes; a scenario has at most ${MOST_FILE}`);
      return;
    }
    this.area.value = await file.text();
    input.value = "";
    this.use(this.area.value);
  }

  private use(text: string): void {
    const name = /^\s*name\s*=\s*"([^"\n]{1,100})"/m.exec(text)?.[1] ?? "own";
    this.hooks.change((state) => Object.assign(state, fresh(state, name), { text }), "scenario");
  }
}

/** A state for another scenario: what belonged to the former one is gone. */
function fresh(state: State, scenario: string): State {
  const { seed, replications, speed } = state;
  return { ...initial(scenario), seed, replications, speed };
}

/** A text as that of a law from its first letter on: the end of the line tells it from a name. */
export function lawOf(text: string): string {
  return isLaw(text) ? text : `${text}\n`;
}

/** The controller of one side: a list of names, and an editor for the text of a law. */
class ControllerBox implements Widget {
  readonly keys: string[];
  readonly root: HTMLElement;
  private readonly list: HTMLSelectElement;
  private readonly area: HTMLTextAreaElement;
  private readonly editor: HTMLElement;
  private readonly error = element("p", { class: "error", role: "alert" });

  constructor(
    private readonly side: "a" | "b",
    listing: Listing,
    private readonly hooks: Hooks,
  ) {
    this.keys = [`controller-${side}`];
    const id = `controller-${side}`;
    this.list = element("select", { id, "data-test": id });
    if (side === "b") this.list.append(element("option", { value: NONE }, "none"));
    this.list.append(element("option", { value: OWN }, "the scenario's own"));
    for (const { name, about } of listing.controllers) {
      this.list.append(element("option", { value: name, title: about }, name));
    }
    this.list.append(element("option", { value: LAW }, "a law as text"));
    this.list.addEventListener("change", () => this.chosen());
    this.area = element("textarea", {
      rows: 9,
      spellcheck: "false",
      "aria-label": "Law as text",
      "data-test": `law-${side}`,
    });
    const typed = debounced(() => this.put(lawOf(this.area.value)), TYPING_MS);
    this.area.addEventListener("input", typed);
    this.editor = element("div", { class: "law" }, this.templates(), this.area);
    const label = element("label", { for: id }, side === "a" ? "A" : "B, beside it");
    this.root = element("div", { class: "field wide" }, label, this.list, this.editor, this.error);
  }

  show(state: State, base: Plan | undefined): void {
    const value = this.side === "a" ? state.a : state.b;
    const own = [...this.list.options].find((option) => option.value === OWN);
    if (own && base) own.textContent = `${labelOf(base)} (scenario)`;
    this.editor.hidden = !isLaw(value);
    this.list.querySelector("option[data-other]")?.remove();
    if (isLaw(value)) {
      this.list.value = LAW;
      if (!focused(this.area)) this.area.value = value;
      return;
    }
    const wanted = value === undefined ? NONE : (value ?? OWN);
    if (![...this.list.options].some((option) => option.value === wanted)) {
      this.list.append(element("option", { value: wanted, "data-other": true }, wanted));
    }
    this.list.value = wanted;
  }

  refresh(): void {}

  fail(text: string): void {
    write(this.error, text);
  }

  /** Laws that ship as texts, to begin with. */
  private templates(): HTMLElement {
    const list = element("select", { "aria-label": "Begin with a shipped law" });
    list.append(element("option", { value: "" }, "begin with …"));
    list.append(...shippedLaws.map(({ name }) => element("option", { value: name }, name)));
    list.addEventListener("change", () => {
      const law = shippedLaws.find(({ name }) => name === list.value);
      list.value = "";
      if (!law) return;
      this.area.value = law.text;
      this.put(law.text);
    });
    return list;
  }

  private chosen(): void {
    const value = this.list.value;
    if (value === LAW)
      this.put(shippedLaws.find(({ name }) => name === "gentle")?.text ?? "growth = 1/w\nbackoff = w/2\n");
    else this.put(value === NONE ? undefined : value === OWN ? null : value);
  }

  private put(value: Controller | undefined): void {
    this.hooks.change((state) => {
      if (this.side === "b") state.b = value;
      else state.a = value ?? null;
    }, this.keys[0] ?? "");
  }
}
