// The panel of controls. A control changes the state through `Hooks.change`; errors of the engine stand at the
// control that caused them.

import { element, button, write } from "./dom.ts";
import { classFields, durationField, linkFields } from "./fields.ts";
import { choiceOf, rangeOf } from "./widgets.ts";
import { Moments } from "./moments.ts";
import { Sources } from "./sources.ts";
import type { Field } from "./fields.ts";
import type { Data, Link, Listing, Plan } from "./engine.ts";
import type { State } from "./state.ts";
import type { Hooks, Widget } from "./widgets.ts";

/** Classes and links beyond so many are folded; in one column all but the first class are. */
const OPEN = 3;
const ONE_COLUMN = "(max-width: 56rem)";

export class Controls {
  private readonly sources: Sources;
  private readonly users = element("div", { class: "group" });
  private readonly links = element("div", { class: "group" });
  private readonly runs = element("div", { class: "group" });
  private widgets: Widget[] = [];
  private moments: Moments[] = [];
  private base: Plan | undefined;

  constructor(
    host: HTMLElement,
    data: Data,
    private readonly listing: Listing,
    private readonly hooks: Hooks,
  ) {
    this.sources = new Sources(data, listing, hooks);
    const fresh = button("Undo all changes", () => hooks.change((state) => (state.overrides = {}), "reset"), {
      class: "quiet",
      "data-test": "reset",
    });
    host.append(this.sources.root, this.users, this.links, this.runs, fresh);
  }

  /** Shows a state and the plan that it gives; rebuilds the fields for another scenario. */
  refresh(state: State, plan: Plan, base: Plan): void {
    if (this.base !== base) {
      this.base = base;
      this.build(base);
    }
    this.sources.refresh(state, base);
    this.fail(undefined, "");
    for (const widget of this.widgets) widget.refresh(state, plan);
    for (const moments of this.moments) moments.refresh(state);
  }

  /** Before any plan is there: what the state says of scenario and controllers. */
  begin(state: State): void {
    this.sources.refresh(state, undefined);
  }

  /** Puts an error at the control it is about; false if there is none. An empty text clears all. */
  fail(cause: string | undefined, text: string): boolean {
    for (const widget of this.all()) widget.fail("");
    if (text === "") return true;
    const named = this.all().find((one) =>
      one.keys.some((key) => text.includes(`\`${key}`) || text.includes(`${key}=`)),
    );
    const about = this.all().find((one) => cause !== undefined && one.keys.includes(cause)) ?? named;
    about?.fail(text);
    return about !== undefined;
  }

  private all(): Widget[] {
    return [...this.sources.widgets, ...this.widgets, ...this.moments];
  }

  private build(base: Plan): void {
    this.widgets = [];
    this.moments = [];
    this.users.replaceChildren(
      element("h2", {}, "Users"),
      ...base.classes.map((_, number) => this.classOf(base, number)),
    );
    const folded = matchMedia(ONE_COLUMN).matches;
    const sorted = base.links
      .map((link, place) => ({ link, place }))
      .sort((a, b) => weight(b.link) - weight(a.link));
    const shown = sorted.map(({ link }, place) =>
      this.linkOf(link, !folded && place < OPEN && link.rate_bps !== null),
    );
    this.links.replaceChildren(element("h2", {}, "Links"), ...shown);
    const seeds = this.seeds();
    this.runs.replaceChildren(
      element("h2", {}, "Runs"),
      ...seeds.map((one) => one.root),
      this.add(durationField(base)).root,
    );
    this.widgets.push(...seeds);
  }

  private classOf(base: Plan, number: number): HTMLElement {
    const cls = base.classes[number] as Plan["classes"][number];
    const swatch = element("span", { class: "swatch", "aria-hidden": "true" });
    swatch.style.background = this.hooks.colour(cls.name);
    const fields = classFields(base, cls, this.listing).map((field) => this.add(field).root);
    const moments = new Moments(cls, base, this.hooks);
    this.moments.push(moments);
    const summary = element("summary", {}, swatch, cls.name);
    return element(
      "details",
      { open: number < (matchMedia(ONE_COLUMN).matches ? 1 : OPEN) },
      summary,
      ...fields,
      moments.root,
    );
  }

  private linkOf(link: Link, open: boolean): HTMLElement {
    const fact = link.attachments.length > 0 ? "over a medium" : link.rate_bps === null ? "delay only" : "";
    const summary = element("summary", {}, link.name, element("span", { class: "fact" }, fact));
    const fields = linkFields(link, this.listing.queues).map((field) => this.add(field).root);
    const first = link.changes.find((change) => change.rate_bps !== null);
    if (first) {
      const note = `The scenario changes this link's rate, from ${first.at_s} s on; then the slider has no effect.`;
      fields.push(element("p", { class: "note" }, note));
    }
    return element("details", { open }, summary, ...fields);
  }

  private add(field: Field): Widget {
    const made = field.kind === "range" ? rangeOf(field, this.hooks) : choiceOf(field, this.hooks);
    this.widgets.push(made);
    return made;
  }

  /** The first seed, and the number of replications. */
  private seeds(): Widget[] {
    return [
      whole(
        "seed",
        "First seed",
        0,
        2 ** 32 - 1,
        (state) => state.seed,
        (state, value) => (state.seed = value),
        this.hooks,
      ),
      whole(
        "replications",
        "Replications",
        1,
        100,
        (state) => state.replications,
        (state, value) => (state.replications = value),
        this.hooks,
      ),
    ];
  }
}

/** Links that can be a bottleneck come first. */
function weight(link: Link): number {
  if (link.rate_bps !== null) return 2 + (link.rate_bps < 1e9 ? 1 : 0);
  return link.attachments.length > 0 ? 1 : 0;
}

/** A whole number of the state. */
function whole(
  key: string,
  label: string,
  least: number,
  most: number,
  get: (state: State) => number,
  put: (state: State, value: number) => void,
  hooks: Hooks,
): Widget {
  const box = element("input", { type: "number", min: least, max: most, step: 1, id: key, "data-key": key });
  const error = element("p", { class: "error", role: "alert" });
  const fail = (text: string): void => write(error, text);
  box.addEventListener("input", () => {
    const value = Number(box.value);
    if (box.value.trim() === "" || !Number.isInteger(value) || value < least || value > most) {
      fail(`${label} is \`${box.value}\`; it is a whole number from ${least} to ${most}`);
      return;
    }
    fail("");
    hooks.change((state) => put(state, value), key);
  });
  const root = element("div", { class: "field" }, element("label", { for: key }, label), box, error);
  const refresh = (state: State): void => {
    if (root.getRootNode() instanceof ShadowRoot && (root.getRootNode() as ShadowRoot).activeElement === box)
      return;
    box.value = String(get(state));
  };
  return { keys: [key], root, refresh, fail };
}
