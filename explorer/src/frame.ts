// The places of the page, in a shadow root: heading, messages, panel, sentence, pictures.

import { button, element, write } from "./dom.ts";
import drawStyle from "./draw.css";
import lessonStyle from "./lessons/lessons.css";
import pageStyle from "../style.css";
import type { Plan } from "./engine.ts";
import type { Lesson } from "./lesson.ts";
import type { State } from "./state.ts";

const THEMES = ["", "light", "dark"] as const;

export class Frame {
  readonly root = element("div", { class: "page" });
  readonly controls = element("aside", { class: "panel", "aria-label": "Controls" });
  readonly stage = element("div", { class: "stage" });
  readonly transport = element("div");
  readonly bars = element("div", { class: "bars", "data-test": "bars" });
  readonly charts = element("div", { class: "charts" });
  readonly takeaways = element("div", { class: "buttons" });
  readonly lesson = element("section", { class: "lesson", hidden: true, "aria-label": "Lesson" });
  private readonly title = element("p", { class: "title" });
  private readonly source = element("p", { class: "source" });
  private readonly message = element("p", { class: "message", role: "status", "data-test": "message" });
  private readonly warning = element("p", { class: "message", role: "alert", "data-test": "warning" });
  private readonly sentence = element("p", {
    class: "sentence",
    "aria-live": "polite",
    "data-test": "sentence",
  });
  private readonly made = element("footer");
  private readonly guided = element("select", { "aria-label": "Lessons", "data-test": "lesson" });

  constructor(private readonly host: HTMLElement) {
    const shadow = host.attachShadow({ mode: "open" });
    const sheets = [drawStyle, pageStyle, lessonStyle].map((text) => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(text);
      return sheet;
    });
    shadow.adoptedStyleSheets = sheets;
    const brand = element("h1", {}, "Anabranch", element("span", {}, " explorer"));
    const theme = button("◐", () => this.theme(), {
      "aria-label": "Theme: that of the system",
      title: "light, dark, or as the system",
      "data-test": "theme",
      class: "icon",
    });
    this.themeButton = theme;
    const head = element("header", {}, brand, this.guided, theme);
    const view = element("div", { class: "view" });
    const about = element("div", { class: "about" }, this.title, this.source);
    const says = element("div", { class: "says" }, this.sentence, this.message, this.warning);
    view.append(
      about,
      this.lesson,
      says,
      element("section", { class: "card", "aria-label": "Network" }, this.stage, this.transport),
      element("section", { class: "card", "aria-label": "Throughput" }, this.bars),
      element("section", { class: "card charts-card", "aria-label": "Over time" }, this.charts),
      element(
        "section",
        { class: "card takeaways-card", "aria-label": "Take away" },
        element("h2", {}, "Take away"),
        this.takeaways,
      ),
    );
    this.root.append(head, element("main", { class: "columns" }, this.controls, view), this.made);
    shadow.append(this.root);
  }

  private readonly themeButton: HTMLButtonElement;

  /** Title and source of the scenario. */
  heading(plan: Plan, state: State): void {
    write(this.title, plan.title || plan.name);
    const name = state.text === null ? state.scenario : `${state.scenario}, a text of your own`;
    write(this.source, plan.source ? `${name} · ${plan.source}` : name);
    this.source.title = plan.warnings.join("\n");
  }

  busy(whether: boolean): void {
    this.root.classList.toggle("busy", whether);
    this.root.setAttribute("aria-busy", String(whether));
  }

  say(text: string): void {
    write(this.sentence, text);
  }

  /** A message that goes when results come; an empty text removes it. */
  tell(text: string): void {
    write(this.message, text);
  }

  /** A message that stays. */
  warn(text: string): void {
    write(this.warning, text);
  }

  lessons(all: readonly Lesson[], open: (name: string | null) => void): void {
    this.guided.hidden = all.length === 0;
    this.guided.append(element("option", { value: "" }, "Lessons"));
    this.guided.append(...all.map((one) => element("option", { value: one.name }, one.title)));
    this.guided.addEventListener("change", () => open(this.guided.value || null));
  }

  /** The lesson that is open, in the list of them. */
  chosen(name: string | null): void {
    this.guided.value = name ?? "";
  }

  version(version: string, kind: string): void {
    const how = {
      native: "the native engine",
      page: "the engine in this page, as WebAssembly",
    };
    const engine = how[kind as keyof typeof how] ?? kind;
    write(this.made, `Anabranch ${version} · ${engine} · space plays, ← and → step`);
  }

  private theme(): void {
    const now = this.host.dataset["theme"] ?? "";
    const next = THEMES[(THEMES.indexOf(now as (typeof THEMES)[number]) + 1) % THEMES.length] ?? "";
    for (const one of [
      this.host,
      ...(this.host.parentElement === document.body ? [document.documentElement] : []),
    ]) {
      if (next === "") delete one.dataset["theme"];
      else one.dataset["theme"] = next;
    }
    this.themeButton.setAttribute("aria-label", `Theme: ${next || "that of the system"}`);
  }
}
