// Buttons that give the reader what is shown: link, command, scenario, results, pictures.

import { button } from "./dom.ts";
import { command } from "./command.ts";
import { download, figure, png, resultsCsv, resultsJson } from "./exports.ts";
import { written } from "./state.ts";
import type { Engine } from "./engine.ts";
import type { Side } from "./session.ts";
import type { State } from "./state.ts";

export interface Shown {
  state: State;
  sides: readonly Side[];
  said: string;
  version: string;
  engine: Engine;
  pictures: SVGSVGElement[];
  host: Element;
  tell(text: string): void;
}

/** The buttons; `shown` says what is there when one is pressed. */
export function takeaways(shown: () => Shown): HTMLButtonElement[] {
  const make = (
    name: string,
    label: string,
    act: (now: Shown, file: string) => Promise<void>,
  ): HTMLButtonElement => button(label, () => void attempt(shown(), act), { "data-test": `export-${name}` });
  return [
    make("link", "Copy link", (now) =>
      copied(`${location.href.split("#")[0]}#${written(now.state)}`, "The link", now),
    ),
    make("command", "Copy as command", (now) => {
      const text = command(
        now.state,
        now.sides.map((side) => side.label),
      );
      return copied(text, "The command", now);
    }),
    make("toml", "Scenario (TOML)", async ({ engine, sides }, file) => {
      for (const [n, side] of sides.entries()) {
        download(`${file}${n === 0 ? "" : "-b"}.toml`, "application/toml", await engine.text(side.ask));
      }
    }),
    make("json", "Results (JSON)", async (now, file) => {
      download(`${file}.json`, "application/json", resultsJson(now.version, now.state, now.sides, now.said));
    }),
    make("csv", "Results (CSV)", async ({ sides }, file) =>
      download(`${file}.csv`, "text/csv", resultsCsv(sides)),
    ),
    make("svg", "Picture (SVG)", async (now, file) => download(`${file}.svg`, "image/svg+xml", picture(now))),
    make("png", "Picture (PNG)", async (now, file) =>
      download(`${file}.png`, "image/png", await png(picture(now))),
    ),
  ];
}

function picture({ sides, said, pictures, host }: Shown): string {
  const plan = sides[0]?.plan;
  return figure(plan?.title ?? plan?.name ?? "", [said].filter(Boolean), pictures, host);
}

async function attempt(now: Shown, act: (now: Shown, file: string) => Promise<void>): Promise<void> {
  if (now.sides.length === 0) {
    now.tell("There is nothing to take away before the first run.");
    return;
  }
  const file = now.state.scenario.replace(/[^A-Za-z0-9_-]+/g, "-") || "scenario";
  try {
    await act(now, file);
  } catch (error) {
    now.tell(error instanceof Error ? error.message : String(error));
  }
}

/** Copies a text; where the browser forbids that, the message has it. */
async function copied(text: string, what: string, now: Shown): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    now.tell(`${what} is in the clipboard: ${text.length > 300 ? `${text.slice(0, 300)}…` : text}`);
  } catch {
    now.tell(text);
  }
}
