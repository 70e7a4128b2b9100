import assert from "node:assert/strict";
import { test } from "node:test";
import draw from "../src/draw.css";
import page from "../style.css";
import { LINKS } from "../src/charts.ts";

type Colour = [red: number, green: number, blue: number];

/** The values of custom properties in the first block after `start`. */
function theme(start: string): Record<string, string> {
  const from = page.indexOf(start);
  assert.ok(from >= 0, start);
  const block = page.slice(from, page.indexOf("}", from));
  return Object.fromEntries([...block.matchAll(/--([\w-]+): ([^;]+);/g)].map((found) => found.slice(1, 3)));
}

function colour(text: string | undefined): Colour {
  assert.match(text ?? "", /^#[0-9a-f]{6}$/);
  return [1, 3, 5].map((at) => parseInt(text!.slice(at, at + 2), 16)) as Colour;
}

/** A colour over another one. */
function over(above: Colour, below: Colour, opacity: number): Colour {
  return above.map((part, i) => part * opacity + below[i]! * (1 - opacity)) as Colour;
}

/** Relative luminance (WCAG 2.2). */
function luminance(parts: Colour): number {
  const [red, green, blue] = parts
    .map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

function contrast(one: Colour, other: Colour): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light! + 0.05) / (dark! + 0.05);
}

/** A number that a rule of draw.css sets. */
function set(rule: string, property: string): number {
  const block = draw.slice(draw.indexOf(`\n${rule} {`), draw.indexOf("}", draw.indexOf(`\n${rule} {`)));
  const found = new RegExp(`${property}: ([\\d.]+);`).exec(block);
  assert.ok(found, `${rule} has no ${property}`);
  return Number(found[1]);
}

const THEMES = { light: theme(':host([data-theme="light"]) {'), dark: theme(':host([data-theme="dark"]) {') };
const CLASSES = [1, 2, 3, 4, 5, 6].map((number) => `class-${number}`);

test("the contrast is that of WCAG", () => {
  assert.equal(contrast([0, 0, 0], [255, 255, 255]).toFixed(2), "21.00");
  assert.equal(contrast(colour("#777777"), colour("#ffffff")).toFixed(2), "4.48");
});

test("themes that are chosen are those of the system", () => {
  assert.deepEqual(theme(":host {"), THEMES.light);
  assert.deepEqual(theme("@media (prefers-color-scheme: dark)"), THEMES.dark);
});

test("texts stand out from what they are on by 4.5", () => {
  for (const [name, values] of Object.entries(THEMES)) {
    const on = (text: string, ground: string): void => {
      const found = contrast(colour(values[text]), colour(values[ground]));
      assert.ok(found >= 4.5, `${name}: ${text} on ${ground} has ${found.toFixed(2)}`);
    };
    for (const ground of ["paper", "band"]) {
      for (const text of ["ink", "muted", "accent", "bad"]) on(text, ground);
    }
    on("bad", "bad-band");
    on("paper", "accent");
  }
});

test("graphics stand out from what they are on by 3", () => {
  for (const [name, values] of Object.entries(THEMES)) {
    const paper = colour(values["paper"]);
    const line = colour(values["line"]);
    const [pipe, ground] = [".ab-body", ".ab-ground"].map((rule) =>
      over(line, paper, set(rule, "fill-opacity")),
    );
    const check = (what: string, text: string, opacity: number, below: Colour): void => {
      const found = contrast(over(colour(text), below, opacity), below);
      assert.ok(found >= 3, `${name}: ${what} has ${found.toFixed(2)}`);
    };
    for (const own of CLASSES) {
      const text = values[own]!;
      check(`${own} as a bar`, text, 0.85, paper);
      check(`${own} as a path`, text, set(".ab-line", "stroke-opacity"), paper);
      check(`${own} as a path in a pipe`, text, set(".ab-line", "stroke-opacity"), pipe!);
      check(`${own} as traffic on a map`, text, set(".ab-hop", "stroke-opacity"), ground!);
    }
    for (const link of LINKS) check(`queue ${link}`, link, 1, paper);
    for (const own of ["ab-lost", "muted", "accent"]) check(own, values[own]!, 1, paper);
    check("a pipe", values["muted"]!, set(".ab-body", "stroke-opacity"), paper);
    check("a mark", values["ink"]!, set(".ab-mark", "stroke-opacity"), paper);
    check("a range", values["accent"]!, set(".ab-range", "stroke-opacity"), ground!);
    check("a cursor", values["ink"]!, set(".ab-cursor path", "stroke-opacity"), paper);
  }
});
