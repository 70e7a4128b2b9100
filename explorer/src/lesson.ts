// What a lesson is, and what it may do with the page.

import type { Data, Engine } from "./engine.ts";
import type { State } from "./state.ts";

/** The page as a lesson sees it. */
export interface LessonPage {
  readonly engine: Engine;
  readonly data: Data;
  /** Changes the state, as a control does; the page computes what follows from it. */
  change(change: (state: State) => void): void;
}

export interface Lesson {
  /** As in the fragment: lesson=scenario-c. */
  name: string;
  title: string;
  /** Fills the panel; gives the function that ends the lesson. */
  open(host: HTMLElement, page: LessonPage): () => void;
}
