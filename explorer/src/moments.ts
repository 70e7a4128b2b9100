// Start and stop of a class and of its paths at the playhead. Nothing before that moment changes: the run is
// repeated with one more key, and is the same up to there.

import { button, element, write } from "./dom.ts";
import { significant } from "./format.ts";
import type { Class, Plan } from "./engine.ts";
import type { State } from "./state.ts";
import type { Hooks, Widget } from "./widgets.ts";

export class Moments implements Widget {
  readonly root = element("div", { class: "moments" });
  readonly keys: string[];
  private readonly said = element("ul", { class: "moments-set" });
  private readonly error = element("p", { class: "error", role: "alert" });

  constructor(
    private readonly cls: Class,
    plan: Plan,
    private readonly hooks: Hooks,
  ) {
    this.keys = cls.paths.flatMap((_, path) => [this.key(path, "leave"), this.key(path, "join")]);
    const paths = cls.paths.length > 1 ? cls.paths.map((_, path) => this.path(plan, path)) : [];
    const stop = button("stop", () => this.stop(cls.paths.map((_, path) => path)), {
      title: "all users of the class stop at the playhead",
      "aria-label": `${cls.name}: stop at the playhead`,
      "data-test": "stop",
    });
    const start = button("start", () => this.set(`flow.${cls.name}.start`), {
      title: "the class starts at the playhead",
      "aria-label": `${cls.name}: start at the playhead`,
    });
    const all = element(
      "div",
      { class: "buttons" },
      element("span", {}, "All, at the playhead"),
      start,
      stop,
    );
    this.root.append(all, ...paths, this.said, this.error);
  }

  refresh(state: State): void {
    const found = this.keys.filter((key) => Object.hasOwn(state.overrides, key));
    this.said.replaceChildren(
      ...found.map((key) => {
        const [, path, what] = /\.path\.(\d+)\.(join|leave)$/.exec(key) ?? [];
        const value = (state.overrides[key] ?? "").replaceAll('"', "");
        const name = this.cls.paths.length > 1 ? `path ${Number(path) + 1}` : "it";
        const back = (): void => {
          this.root.querySelector("button")?.focus(); // this one goes, and the focus with it
          this.hooks.change((own) => delete own.overrides[key], key);
        };
        const undo = button("✕", back, {
          class: "undo",
          "aria-label": `${this.cls.name}: undo that ${name} ${what}s at ${value}`,
        });
        return element("li", {}, `${name} ${what}s at ${value}`, undo);
      }),
    );
  }

  fail(text: string): void {
    write(this.error, text);
  }

  private path(plan: Plan, path: number): HTMLElement {
    const links = this.cls.paths[path]?.links
      .map((number) => plan.links[number])
      .filter((link) => link !== undefined);
    const narrow = (links ?? []).filter((link) => link.rate_bps !== null || link.attachments.length > 0);
    const via = (narrow.length > 0 ? narrow : (links ?? [])).map((link) => link.name).join(", ");
    const label = `Path ${path + 1}`;
    const stop = button("leave", () => this.stop([path]), {
      "aria-label": `${this.cls.name}, ${label}: leave at the playhead`,
    });
    const join = button("join", () => this.set(this.key(path, "join")), {
      "aria-label": `${this.cls.name}, ${label}: join at the playhead`,
    });
    return element(
      "div",
      { class: "buttons" },
      element("span", { title: via }, `${label} via ${via}`),
      join,
      stop,
    );
  }

  private key(path: number, what: "join" | "leave"): string {
    return `flow.${this.cls.name}.path.${path}.${what}`;
  }

  private stop(paths: number[]): void {
    const at = this.now();
    this.hooks.change(
      (state) => {
        for (const path of paths) state.overrides[this.key(path, "leave")] = at;
      },
      this.key(paths[0] ?? 0, "leave"),
    );
  }

  private set(key: string): void {
    const at = this.now();
    this.hooks.change((state) => (state.overrides[key] = at), key);
  }

  /** The playhead as a scenario writes it. */
  private now(): string {
    return `"${significant(this.hooks.playhead(), 6)} s"`;
  }
}
