// What a lesson is, and what it may do with the page.

import type { Data, Engine, Plan } from "./engine.ts";
import type { Side } from "./session.ts";
import type { State } from "./state.ts";

/** The page as a lesson sees it. */
export interface LessonPage {
  readonly engine: Engine;
  readonly data: Data;
  state(): State;
  /** Changes the state, as a control does; the page computes what follows from it. */
  change(change: (state: State) => void): void;
  /** Calls `shown` for results that are there, and for all that come, until it is undone. */
  follow(shown: (sides: readonly Side[], base: Plan) => void): () => void;
  play(): void;
  pause(): void;
}

export interface Lesson {
  /** As in the fragment: lesson=scenario-c. */
  name: string;
  title: string;
  /** Fills the panel; gives the function that ends the lesson. */
  open(host: HTMLElement, page: LessonPage): () => void;
}
