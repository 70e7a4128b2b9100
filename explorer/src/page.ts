// The page: one function that fills an element, whatever the engine is.

import { button, debounced, element, gathered } from "./dom.ts";
import { Charts } from "./charts.ts";
import { Controls } from "./controls.ts";
import { Frame } from "./frame.ts";
import { Playback } from "./playback.ts";
import { Results } from "./results.ts";
import { Session } from "./session.ts";
import { Stage } from "./stage.ts";
import { Transport } from "./transport.ts";
import { FragmentError, initial, MOST_CHARACTERS, read, written } from "./state.ts";
import { lessons } from "./lessons/index.ts";
import { sentence } from "./sentence.ts";
import { takeaways } from "./takeaways.ts";
import type { Data, Engine, Plan } from "./engine.ts";
import type { LessonPage } from "./lesson.ts";
import type { Listener, Side } from "./session.ts";
import type { State } from "./state.ts";

/** A slider may move so long before its value is computed. */
const SETTLE_MS = 80;
/** The address is written at most so often: browsers count changes of it. */
const ADDRESS_MS = 300;
/** Colours of classes in style.css: Okabe and Ito's, which colour-blind people tell apart, in two brightnesses. */
const COLOURS = 6;
const FIRST = "khalili/scenario-c";

export interface Options {
  /** Whether the state is kept in the fragment of the address. */
  address: boolean;
}

/** The page as programs see it. */
export interface Mounted {
  engine: Engine;
  state(): State;
  /** Resolves when the first results are shown, or an error is. */
  ready: Promise<void>;
  destroy(): void;
}

/** Fills `root` with the page; its styles stay in a shadow root. */
export function mount(root: HTMLElement, engine: Engine, options: Options): Mounted {
  const page = new Page(root, engine, options);
  return {
    engine,
    state: () => structuredClone(page.state),
    ready: page.begin(),
    destroy: () => page.destroy(),
  };
}

class Page implements Listener {
  state: State = initial(FIRST);
  private readonly frame: Frame;
  private data: Data = { version: "", scenarios: [], published: [], theory: {} };
  private session: Session | undefined;
  private controls: Controls | undefined;
  private readonly stage: Stage;
  private readonly results: Results;
  private readonly charts: Charts;
  private readonly playback: Playback;
  private readonly transport: Transport;
  private readonly gone = new AbortController();
  private cause: string | undefined;
  private said = "";
  /** Ends with the results that the sentence is about. */
  private telling = new AbortController();
  private tellings = 0;
  private endLesson: (() => void) | undefined;
  private openLesson: string | null = null;
  private readonly compute = debounced(() => void this.session?.show(this.state), SETTLE_MS);
  private readonly address = debounced(() => this.writeAddress(), ADDRESS_MS);
  private readonly tell = gathered(() => void this.tellNow(), 120);

  constructor(
    root: HTMLElement,
    readonly engine: Engine,
    private readonly options: Options,
  ) {
    this.frame = new Frame(root);
    const colour = (cls: string): string => this.colour(cls);
    this.stage = new Stage(this.frame.stage, colour);
    this.results = new Results(this.frame.bars, colour);
    this.charts = new Charts(this.frame.charts, colour);
    this.playback = new Playback(
      (t_s) => this.seek(t_s),
      () => this.moved(),
    );
    this.charts.seeking = (t_s) => this.playback.put(t_s);
    this.transport = new Transport(this.playback, (speed) => this.speeded(speed));
    this.frame.transport.append(this.transport.root);
    const { signal } = this.gone;
    root.addEventListener("keydown", (event) => this.transport.key(event), { signal });
    if (!options.address) return;
    document.addEventListener(
      "keydown",
      (event) => event.target === document.body && this.transport.key(event),
      { signal },
    );
    window.addEventListener("hashchange", () => this.arrive(), { signal });
  }

  /** Loads data and shows what the address, or the one who opened the page, asks for. */
  async begin(): Promise<void> {
    try {
      this.data = await this.engine.data();
      const listing = await this.engine.list();
      this.controls = new Controls(this.frame.controls, this.data, listing, {
        change: (change, cause) => this.change(change, cause),
        playhead: () => this.playback.t_s,
        colour: (cls) => this.colour(cls),
      });
    } catch (error) {
      this.frame.tell(`The page cannot begin: ${textOf(error)}`);
      return;
    }
    this.session = new Session(this.engine, this.data, this);
    this.frame.lessons(lessons, (name) => this.change((state) => (state.lesson = name), "lesson"));
    const parts = takeaways(() => ({
      state: this.seen(),
      sides: this.session?.sides ?? [],
      said: this.said,
      version: this.data.version,
      engine: this.engine,
      pictures: [...this.stage.pictures(), ...this.results.pictures(), ...this.charts.pictures()],
      host: this.frame.root,
      tell: (text) => this.frame.tell(text),
    }));
    this.frame.takeaways.append(...parts);
    this.frame.version(this.data.version, this.engine.kind);
    this.state = this.first();
    await this.open();
  }

  destroy(): void {
    this.gone.abort();
    this.session?.cancel();
    this.telling.abort();
    this.playback.pause();
    this.endLesson?.();
  }

  /** A control changes the state. */
  change(change: (state: State) => void, cause: string): void {
    const before = this.state.scenario + (this.state.text ?? "");
    const { t_s } = this.state;
    this.cause = cause;
    this.frame.warn("");
    change(this.state);
    if (this.state.scenario + (this.state.text ?? "") !== before) {
      const asked = this.state.t_s === t_s ? null : this.state.t_s; // a playhead belongs to its scenario
      this.rewind();
      this.state.t_s = asked;
    }
    this.playback.speed = this.state.speed;
    this.transport.refresh();
    this.lesson();
    this.compute();
  }

  busy(whether: boolean): void {
    this.frame.busy(whether);
  }

  shown(sides: Side[], base: Plan): void {
    const [first] = sides;
    if (!first) return;
    this.telling.abort();
    this.telling = new AbortController();
    this.say("");
    this.frame.tell("");
    this.frame.heading(base, this.session?.state ?? this.state);
    this.controls?.refresh(this.state, first.plan, base);
    this.playback.duration_s = Math.min(...sides.map((side) => side.plan.duration_s));
    this.playback.step_s = first.plan.sample_s;
    this.stage.show(sides);
    this.results.show(sides, base);
    this.charts.later(sides);
    this.place(first.plan);
    this.tell();
    this.address();
  }

  /** The sentence stays in sight until its numbers are there, but files do not have it any more. */
  refined(sides: Side[]): void {
    this.said = "";
    this.results.show(sides, this.session?.base);
    this.tell();
  }

  /** What was shown stays; the error stands at the control that caused it, or at the top. */
  failed(error: unknown, side: number | undefined): void {
    const text = textOf(error);
    const cause = side === undefined ? this.cause : `controller-${side === 0 ? "a" : "b"}`;
    this.controls?.begin(this.state);
    const placed = this.controls?.fail(cause, text) ?? false;
    const shown = (this.session?.sides.length ?? 0) > 0;
    this.frame.tell(placed && shown ? "What is shown is from before the last change." : text);
  }

  /** The state of the address, or of who opened the page. */
  private first(): State {
    const known = this.data.scenarios.map((one) => one.name);
    const state = initial(known.includes(FIRST) ? FIRST : (known[0] ?? ""));
    const asked = this.data.open;
    if (asked) {
      state.scenario = asked.name;
      state.text = asked.text ?? null;
      state.a = asked.controller ?? null;
      state.seed = asked.seed ?? 1;
      state.replications = Math.min(100, asked.replications ?? 1);
      this.frame.warn(asked.note ?? "");
      for (const override of asked.overrides ?? []) {
        const cut = override.indexOf("=");
        state.overrides[override.slice(0, cut).trim()] = override.slice(cut + 1).trim();
      }
    }
    if (!this.options.address || location.hash.length < 2) return state;
    return this.fromAddress() ?? state;
  }

  private fromAddress(): State | undefined {
    try {
      return read(location.hash, FIRST);
    } catch (error) {
      if (!(error instanceof FragmentError)) throw error;
      this.frame.warn(`The link cannot be shown: ${error.message}.`);
      return undefined;
    }
  }

  /** Shows the state of an address that was entered while the page was open. */
  private arrive(): void {
    const state = this.fromAddress();
    if (!state || written(state) === written(this.state)) return;
    this.state = state;
    void this.open();
  }

  private async open(): Promise<void> {
    this.cause = "scenario";
    this.controls?.begin(this.state);
    this.rewind();
    this.playback.speed = this.state.speed;
    this.transport.refresh();
    this.lesson();
    await new Promise<void>((resolve) => {
      this.settled = resolve;
      void this.session?.show(this.state).then(resolve, resolve);
    });
  }

  private settled: () => void = () => undefined;

  private place(plan: Plan): void {
    this.settled();
    if (this.playback.playing) this.seek(this.playback.t_s);
    else this.playback.put(this.state.t_s ?? (this.playback.t_s || home(plan)));
  }

  /** The next results are shown from where the state, or the scenario, puts the playhead. */
  private rewind(): void {
    this.playback.pause();
    this.playback.t_s = 0;
  }

  private seek(t_s: number): void {
    this.stage.seek(t_s);
    this.charts.seek(t_s);
    this.transport.seek(t_s);
  }

  private moved(): void {
    this.transport.refresh();
    if (this.playback.playing || !this.session?.base) return;
    this.state.t_s = this.playback.t_s === home(this.session.base) ? null : this.playback.t_s;
    this.address();
  }

  private speeded(speed: number): void {
    this.playback.speed = speed;
    this.state.speed = speed;
    this.transport.refresh();
    this.address();
  }

  private async tellNow(): Promise<void> {
    const { signal } = this.telling;
    const turn = ++this.tellings;
    const sides = this.session?.sides ?? [];
    if (sides.some((side) => !side.theory)) return;
    const said = await sentence(this.engine, sides, signal).catch(
      (error: unknown) => `Who is harmed cannot be said: ${textOf(error)}`,
    );
    if (!signal.aborted && turn === this.tellings) this.say(said);
  }

  private say(text: string): void {
    this.said = text;
    this.frame.say(text);
  }

  /** The state whose results are in sight, with the playhead of now. */
  private seen(): State {
    const { t_s, speed, lesson } = this.state;
    return { ...(this.session?.state ?? this.state), t_s, speed, lesson };
  }

  private writeAddress(): void {
    if (!this.options.address || this.playback.playing) return;
    const fragment = written(this.state);
    if (fragment.length > MOST_CHARACTERS) {
      this.frame.warn(
        `The scenario is too long for a link: ${fragment.length} characters, at most ${MOST_CHARACTERS}.`,
      );
      return;
    }
    if (location.hash !== `#${fragment}`) history.replaceState(null, "", `#${fragment}`);
  }

  private lesson(): void {
    if (this.openLesson === this.state.lesson) return;
    this.frame.chosen(this.state.lesson);
    this.openLesson = this.state.lesson;
    this.endLesson?.();
    this.endLesson = undefined;
    this.frame.lesson.replaceChildren();
    this.frame.lesson.hidden = true;
    const lesson = lessons.find((one) => one.name === this.state.lesson);
    if (!lesson) return;
    this.frame.lesson.hidden = false;
    const close = button("Close the lesson", () => this.change((state) => (state.lesson = null), "lesson"), {
      class: "quiet",
    });
    const body = element("div");
    this.frame.lesson.append(element("h2", {}, lesson.title), body, close);
    this.endLesson = lesson.open(body, this.lessonPage());
  }

  private lessonPage(): LessonPage {
    return {
      engine: this.engine,
      data: this.data,
      change: (change) => this.change(change, "lesson"),
    };
  }

  /** A class keeps its colour while the scenario is shown, also without users. */
  private colour(cls: string): string {
    const names = (this.session?.base ?? this.session?.sides[0]?.plan)?.classes.map((one) => one.name) ?? [];
    return `var(--class-${(Math.max(0, names.indexOf(cls)) % COLOURS) + 1})`;
  }
}

/** Seconds after which the first of some transfers may be over. */
const EARLY_S = 15;

/** Where the playhead is at first: the end of the warm-up, or where much flows. */
function home(plan: Plan): number {
  const early = Math.min(plan.duration_s / 4, EARLY_S);
  return plan.warmup_s || Number((Math.round(early / plan.sample_s) * plan.sample_s).toFixed(6));
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
