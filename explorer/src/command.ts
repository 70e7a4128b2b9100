// The line of the command line that repeats what the page shows.

import { isLaw, overridesOf } from "./state.ts";
import type { Controller, State } from "./state.ts";

/** A file that the command reads, with its text. */
interface File {
  name: string;
  text: string;
}

/** Commands for a POSIX shell; `labels` are the controllers of the sides by name. */
export function command(state: State, labels: readonly string[]): string {
  const files: File[] = [];
  const scenario = state.text === null ? state.scenario : fileOf(files, state.scenario, "toml", state.text);
  const options = [
    `--seed ${state.seed}`,
    `--repeat ${state.replications}`,
    ...overridesOf(state).map((override) => `--set ${argument(override)}`),
  ].join(" ");
  const controllers = state.b === undefined ? [state.a] : [state.a, state.b];
  const names = controllers.map((controller, side) => nameOf(files, controller, side, labels[side]));
  if (names.length === 2) names.forEach((name, side) => (names[side] = name ?? single(labels[side])));
  const lines = files.map(written);
  const [first, second] = names;
  if (second !== undefined && first !== undefined && first !== null && second !== null) {
    lines.push(
      `anabranch compare ${argument(scenario)} --controllers ${argument(`${first},${second}`)} ${options}`,
    );
  } else {
    for (const name of names) {
      lines.push(
        `anabranch run ${argument(scenario)}${name === null ? "" : ` -c ${argument(name)}`} ${options}`,
      );
    }
  }
  return lines.join("\n");
}

/** The controller that all these users have; null if they differ. */
function single(label: string | undefined): string | null {
  return label === undefined || /\s/.test(label) ? null : label;
}

/** A name that the command line takes; null for the scenario's own. */
function nameOf(
  files: File[],
  controller: Controller,
  side: number,
  label: string | undefined,
): string | null {
  if (isLaw(controller)) return fileOf(files, label ?? `law-${side + 1}`, "law", controller);
  if (controller !== null) return controller;
  return null;
}

/** Another name for each file; letters that a shell or a list of controllers reads otherwise become hyphens. */
function fileOf(files: File[], name: string, ending: string, text: string): string {
  const plain =
    name
      .replace(/[^A-Za-z0-9_-]+/g, "-")
      .replace(/^-+/, "")
      .slice(0, 60) || "own";
  let found = `${plain}.${ending}`;
  for (let n = 2; files.some((file) => file.name === found); n++) found = `${plain}-${n}.${ending}`;
  files.push({ name: found, text });
  return found;
}

/** A here-document whose end is not a line of the text. */
function written({ name, text }: File): string {
  let end = "END";
  while (text.split("\n").includes(end)) end += "_";
  return `cat > ${argument(name)} <<'${end}'\n${text.endsWith("\n") ? text : `${text}\n`}${end}`;
}

/** A word that is no option, whatever a link says. */
function argument(word: string): string {
  return quoted(word.startsWith("-") ? `./${word}` : word);
}

/** A word for a POSIX shell. */
export function quoted(word: string): string {
  return /^[A-Za-z0-9_\-./:,=+]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
