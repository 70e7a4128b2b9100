// What the page shows, and its form in the fragment of the address: `#v=1&scenario=…&controller=olia&set=…`.
// Equal states have equal fragments, and reading what was written gives the same state.

/** The controller of multipath users: a name, the text of a law, or null for the scenario's own. */
export type Controller = string | null;

/** Whether a controller is the text of a law: names have neither lines nor formulas. */
export function isLaw(controller: Controller | undefined): controller is string {
  return typeof controller === "string" && /\n|growth/.test(controller);
}

export interface State {
  /** A shipped scenario by name; with `text` the name of one's own. */
  scenario: string;
  text: string | null;
  a: Controller;
  /** A second controller on the same seeds; undefined for none. */
  b: Controller | undefined;
  /** Overrides by key, values as TOML. */
  overrides: Record<string, string>;
  /** The first seed; whole, from 0. */
  seed: number;
  /** 1 to 100. */
  replications: number;
  /** The playhead in simulated seconds; null for the end of the warm-up. */
  t_s: number | null;
  /** Simulated seconds for each second while it plays. */
  speed: number;
  lesson: string | null;
}

export const VERSION = "1";
/** Longest fragment that is read, in characters. */
export const MOST_CHARACTERS = 200_000;
const MOST_TEXT = 100_000;
const MOST_OVERRIDES = 200;
export const MOST_REPLICATIONS = 100;
export const SPEEDS = [0.1, 0.5, 1, 2, 5, 10, 20, 50];

/** A fragment that cannot be shown, with the reason. */
export class FragmentError extends Error {}

export function initial(scenario: string): State {
  return {
    scenario,
    text: null,
    a: null,
    b: undefined,
    overrides: {},
    seed: 1,
    replications: 1,
    t_s: null,
    speed: 5,
    lesson: null,
  };
}

/** Overrides in the order in which they are applied: a table before its keys. */
export function overridesOf(state: State): string[] {
  return Object.keys(state.overrides)
    .sort()
    .map((key) => `${key}=${state.overrides[key]}`);
}

/** The fragment of a state, without `#`. */
export function written(state: State): string {
  const parts: [string, string][] = [
    ["v", VERSION],
    ["scenario", state.scenario],
  ];
  if (state.text !== null) parts.push(["text", state.text]);
  if (state.a !== null) parts.push(["controller", state.a]);
  if (state.b !== undefined) parts.push(["beside", state.b ?? ""]);
  for (const override of overridesOf(state)) parts.push(["set", override]);
  if (state.seed !== 1) parts.push(["seed", String(state.seed)]);
  if (state.replications !== 1) parts.push(["repeat", String(state.replications)]);
  if (state.t_s !== null) parts.push(["t", String(state.t_s)]);
  if (state.speed !== 5) parts.push(["speed", String(state.speed)]);
  if (state.lesson !== null) parts.push(["lesson", state.lesson]);
  return parts.map(([key, value]) => `${key}=${escaped(value)}`).join("&");
}

/** The state of a fragment; `first` is the scenario where it names none. Throws FragmentError. */
export function read(fragment: string, first: string): State {
  const text = fragment.replace(/^#/, "");
  const state = initial(first);
  if (text === "") return state;
  if (text.length > MOST_CHARACTERS) {
    throw new FragmentError(`it has ${text.length} characters; at most ${MOST_CHARACTERS} are read`);
  }
  const seen = new Set<string>();
  for (const part of text.split("&")) {
    const cut = part.indexOf("=");
    if (cut < 1) throw new FragmentError(`\`${shortened(part)}\` is not of the form key=value`);
    const key = part.slice(0, cut);
    if (seen.has(key) && key !== "set") throw new FragmentError(`\`${shortened(key)}\` stands twice`);
    seen.add(key);
    take(state, key, unescaped(part.slice(cut + 1)));
  }
  if (!seen.has("v")) throw new FragmentError("it has no `v`, the version of its form; this page reads v=1");
  if (state.text !== null && !seen.has("scenario")) state.scenario = "own";
  return state;
}

/** What a key of the fragment sets. */
function take(state: State, key: string, value: string): void {
  switch (key) {
    case "v":
      if (value !== VERSION) throw new FragmentError(`v is \`${shortened(value)}\`; this page reads v=1`);
      return;
    case "scenario":
      state.scenario = bounded(key, value, 200);
      return;
    case "text":
      state.text = bounded(key, value, MOST_TEXT);
      return;
    case "controller":
      state.a = bounded(key, value, MOST_TEXT) || null;
      return;
    case "beside":
      state.b = bounded(key, value, MOST_TEXT) || null;
      return;
    case "set":
      override(state, value);
      return;
    case "seed":
      state.seed = whole(key, value, 0, 2 ** 32 - 1);
      return;
    case "repeat":
      state.replications = whole(key, value, 1, MOST_REPLICATIONS);
      return;
    case "t":
      state.t_s = number(key, value, 0, 1e6);
      return;
    case "speed":
      state.speed = number(key, value, 0.01, 1000);
      return;
    case "lesson":
      state.lesson = bounded(key, value, 100);
      return;
    default:
      throw new FragmentError(`it has the unknown key \`${shortened(key)}\``);
  }
}

/** Keys of prototypes are no keys of a scenario: `overrides` has entries of its own only. */
function override(state: State, value: string): void {
  const cut = value.indexOf("=");
  const key = value.slice(0, cut).trim();
  if (cut < 1 || !/^[^=\n]{1,200}$/.test(key) || key === "__proto__") {
    throw new FragmentError(`set is \`${shortened(value)}\`; write, for example, set=link.ap1.rate="5 Mb/s"`);
  }
  if (Object.hasOwn(state.overrides, key)) throw new FragmentError(`\`${shortened(key)}\` is set twice`);
  if (Object.keys(state.overrides).length >= MOST_OVERRIDES) {
    throw new FragmentError(`it has more than ${MOST_OVERRIDES} overrides`);
  }
  state.overrides[key] = bounded("set", value.slice(cut + 1), 10_000);
}

function bounded(key: string, value: string, most: number): string {
  if (value.length > most)
    throw new FragmentError(`${key} has ${value.length} characters; at most ${most} are read`);
  return value;
}

function number(key: string, value: string, least: number, most: number): number {
  const found = /^\d{1,12}(\.\d{1,12})?$/.test(value) ? Number(value) : NaN;
  if (!(found >= least && found <= most)) {
    throw new FragmentError(`${key} is \`${shortened(value)}\`; it is a number from ${least} to ${most}`);
  }
  return found;
}

function whole(key: string, value: string, least: number, most: number): number {
  const found = number(key, value, least, most);
  if (!Number.isInteger(found)) {
    throw new FragmentError(
      `${key} is \`${shortened(value)}\`; it is a whole number from ${least} to ${most}`,
    );
  }
  return found;
}

export function shortened(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** Percent-encoded, but for characters that are valid in a fragment and common in overrides. */
function escaped(text: string): string {
  const paired = new TextDecoder().decode(new TextEncoder().encode(text)); // a lone surrogate has no UTF-8
  return encodeURIComponent(paired).replace(/%(2F|3A|2C|3D|40)/g, (code) => decodeURIComponent(code));
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new FragmentError(`\`${shortened(text)}\` is not percent-encoded text`);
  }
}
