// Fills the panel of a lesson: question, guess, runs, answer, mechanism, sources.

import { button, element, write } from "../dom.ts";
import { filled, shown, written } from "./text.ts";
import { addressOf, find, stateOf, UNITS } from "./guide.ts";
import type { Findings, Guess, Guide, Reported, Source, Unit } from "./guide.ts";
import type { Lesson, LessonPage } from "../lesson.ts";

/** The lesson of a guide. */
export function guided(made: Guide): Lesson {
  return {
    name: made.name,
    title: made.title,
    open: (host, page) => {
      const panel = new Panel(made, page);
      host.append(panel.root);
      return () => panel.end();
    },
  };
}

class Panel {
  readonly root = element("div", { class: "guide" });
  private readonly guesses: GuessLine[];
  private readonly status = element("p", { class: "status", role: "status", "data-test": "lesson-status" });
  private readonly answer = element("div", { "data-test": "lesson-answer", "data-state": "waiting" });
  private readonly start: HTMLButtonElement;
  private readonly gone = new AbortController();

  constructor(
    private readonly made: Guide,
    private readonly page: LessonPage,
  ) {
    this.guesses = made.guesses.map((guess) => new GuessLine(guess, made));
    this.start = button("Run it and compare", () => void this.run(), { "data-test": "lesson-run" });
    this.root.append(
      element("p", { class: "question" }, made.question),
      ...made.setting.map((text) => element("p", {}, text)),
      element("div", { class: "guesses" }, ...this.guesses.map((line) => line.root)),
      this.start,
      this.status,
      this.answer,
    );
  }

  end(): void {
    this.gone.abort();
  }

  /** Shows the lesson's runs on the page, and measures them with all seeds. */
  private async run(): Promise<void> {
    const { signal } = this.gone;
    this.start.disabled = true;
    this.answer.dataset["state"] = "running";
    this.page.change((state) => Object.assign(state, stateOf(this.made), { speed: state.speed }));
    try {
      const found = await find(this.made, this.page.engine, this.page.data, signal, (seeds) =>
        this.tell(seeds),
      );
      if (signal.aborted) return;
      this.show(found);
      write(this.status, "");
      this.answer.dataset["state"] = "done";
    } catch (error) {
      if (signal.aborted) return;
      write(this.status, `The lesson cannot run: ${error instanceof Error ? error.message : String(error)}`);
      this.answer.dataset["state"] = "failed";
      this.start.disabled = false;
    }
  }

  private tell(seeds: number): void {
    const cases = Object.keys(this.made.cases).length;
    write(this.status, `Running ${cases} configurations with ${this.made.seeds} seeds: seed ${seeds + 1}.`);
  }

  private show(found: Findings): void {
    for (const line of this.guesses) line.compare(found);
    this.start.hidden = true;
    const { made } = this;
    this.answer.replaceChildren(
      ...made.answer.map((text) => this.paragraph(text, found)),
      ...found.missed.map((says) =>
        element("p", { class: "missed" }, `These runs do not show that ${says}.`),
      ),
      this.table(found),
      element("h3", {}, "Why"),
      ...made.mechanism.map((text) => this.paragraph(text, found)),
      element("h3", {}, "Sources"),
      element(
        "ul",
        { class: "sources" },
        ...made.sources.map(sourceLine),
        ...made.pages.map((path) => element("li", {}, "Documentation: ", element("code", {}, path))),
      ),
    );
  }

  private paragraph(text: string, found: Findings): HTMLElement {
    const parts = filled(text, this.made.quantities, found.intervals);
    return element(
      "p",
      {},
      ...parts.map((part) => (part.measured ? element("strong", {}, part.text) : part.text)),
    );
  }

  private table(found: Findings): HTMLElement {
    const { caption, head, rows } = this.made.table;
    const cell = (text: string): string =>
      filled(text, this.made.quantities, found.intervals, false)
        .map((part) => part.text)
        .join("");
    const body = rows.map(([label = "", ...cells]) =>
      element(
        "tr",
        {},
        element("th", { scope: "row" }, label),
        ...cells.map((text) => element("td", {}, cell(text))),
      ),
    );
    const about = `${caption} Means of ${this.made.seeds} seeds with intervals of 95 %.`;
    const table = element(
      "table",
      { "aria-label": about },
      element("thead", {}, element("tr", {}, ...head.map((text) => element("th", { scope: "col" }, text)))),
      element("tbody", {}, ...body),
    );
    const scrolled = { class: "wide", tabindex: 0, role: "region", "aria-label": "Table of the runs" };
    return element("figure", {}, element("div", scrolled, table), element("figcaption", {}, about));
  }
}

/** A source; one of the IETF is a link, which fetches nothing until it is followed. */
function sourceLine({ document, section }: Source): HTMLElement {
  const href = addressOf(document);
  const safe = { rel: "noopener noreferrer", target: "_blank" };
  const name = href ? element("a", { href, ...safe }, document) : document;
  return element("li", {}, name, section ? `, ${section}` : "");
}

/** What a document says of a guessed number, and whether it says it so. */
export function reported({ value, source, as }: Reported, unit: Unit): string {
  const said = { derived: "Derived from the source:", below: "Published: below", stated: "Published:" };
  return ` ${said[as ?? "stated"]} ${written(value, unit)} (${source}).`;
}

let lines = 0;

/** One guess: a slider, and after the runs what was measured and published on the same scale. */
class GuessLine {
  readonly root: HTMLElement;
  private readonly slider: HTMLInputElement;
  private readonly chosen = element("output", {});
  private readonly scale = element("div", { class: "scale", "aria-hidden": "true" });
  private readonly result = element("p", { class: "result", role: "status" });
  private found: Findings | undefined;

  constructor(
    private readonly guess: Guess,
    private readonly made: Guide,
  ) {
    lines += 1;
    const id = `guess-${lines}`;
    const { min, max, step, start } = guess;
    this.slider = element("input", {
      type: "range",
      id,
      min,
      max,
      step,
      value: start,
      "data-test": "lesson-guess",
    });
    this.slider.addEventListener("input", () => this.moved());
    this.chosen.htmlFor.add(id);
    this.root = element(
      "div",
      { class: "guess" },
      element("label", { for: id }, guess.asks),
      element("div", { class: "row" }, this.slider, this.chosen),
      this.scale,
      this.result,
    );
    this.moved();
  }

  compare(found: Findings): void {
    this.found = found;
    const { min, max, published } = this.guess;
    const part = (value: number): string => `${100 * Math.min(1, Math.max(0, (value - min) / (max - min)))}%`;
    const { mean, half } = this.measured(found);
    const band = element("span", { class: "band" });
    band.style.left = part(mean - half);
    band.style.right = `calc(100% - ${part(mean + half)})`;
    this.scale.replaceChildren(band);
    if (published) {
      const mark = element("span", { class: "mark" });
      mark.style.left = part(published.value);
      this.scale.append(mark);
    }
    this.moved();
  }

  /** Mean and half interval in the unit of the guess; without an interval, a line. */
  private measured({ intervals }: Findings): { mean: number; half: number } {
    const { mean = NaN, half = 0 } = intervals[this.guess.quantity] ?? {};
    const unit = UNITS[this.unit];
    return { mean: mean / unit, half: Number.isFinite(half) ? half / unit : 0 };
  }

  private get unit(): keyof typeof UNITS {
    return this.made.quantities[this.guess.quantity]?.unit ?? "times";
  }

  private moved(): void {
    const text = written(Number(this.slider.value), this.unit);
    write(this.chosen, text);
    this.slider.setAttribute("aria-valuetext", text);
    const [found, quantity] = [this.found, this.made.quantities[this.guess.quantity]];
    const value = found?.intervals[this.guess.quantity];
    if (!quantity || !value) return;
    const { published } = this.guess;
    const beside = published ? reported(published, this.unit) : "";
    write(this.result, `You guess ${text}. Measured: ${shown(quantity, value)}.${beside}`);
  }
}
