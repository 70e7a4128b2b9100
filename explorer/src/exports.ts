// Files that one can take away: scenario, JSON, CSV, and the picture as SVG and PNG.

import { interval } from "./statistics.ts";
import { rates } from "./session.ts";
import { written } from "./state.ts";
import type { Side } from "./session.ts";
import type { State } from "./state.ts";

/** Around and between pictures, in pixels. */
const MARGIN = 16;
const SPACE = "http://www.w3.org/2000/svg";
/** Pixels of the PNG for each unit of the SVG. */
const PNG_SCALE = 2;
/** Properties of styles that a picture needs outside of the page. */
const STYLES = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-opacity",
  "stroke-dasharray",
  "stroke-linejoin",
  "stroke-linecap",
  "opacity",
  "font-family",
  "font-size",
  "font-weight",
  "font-variant-numeric",
  "text-anchor",
  "dominant-baseline",
  "visibility",
  "display",
];

/** Hands a file to the browser. */
export function download(name: string, type: string, content: BlobPart): void {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** Results as JSON: for each controller its classes, seeds, digests, theory and published values. */
export function resultsJson(version: string, state: State, sides: readonly Side[], said: string): string {
  const results = sides.map((side) => ({
    controller: side.label,
    overrides: side.ask.overrides,
    seeds: side.summaries.map((one) => one.seed),
    digests: side.summaries.map((one) => one.digest),
    classes: Object.fromEntries(
      side.plan.classes.map((cls) => {
        const { mean, half, n } = interval(rates(side, cls.name));
        const around = Number.isFinite(half) ? [mean - half, mean + half] : null;
        return [cls.name, { users: cls.count, throughput_bps: { mean, interval95: around, repetitions: n } }];
      }),
    ),
    theory: side.theory ?? null,
    published: side.published,
    paths: side.summaries.flatMap((one) => one.paths),
  }));
  const head = { anabranch: version, scenario: state.scenario, fragment: written(state), sentence: said };
  return `${JSON.stringify({ ...head, results }, null, 2)}\n`;
}

/** A row for each controller, seed, class and path; means over users. */
export function resultsCsv(sides: readonly Side[]): string {
  const head =
    "controller,seed,class,path,users,throughput_bps,goodput_bps,loss,cwnd_segments,srtt_s,class_throughput_bps,digest";
  const rows = sides.flatMap((side) =>
    side.summaries.flatMap((one) =>
      one.paths.map((row) =>
        [
          side.label,
          one.seed,
          row.cls,
          row.path,
          side.plan.classes.find((cls) => cls.name === row.cls)?.count ?? "",
          row.throughput_bps,
          row.goodput_bps,
          row.loss,
          row.cwnd_segments,
          row.srtt_s,
          one.rates[row.cls] ?? "",
          one.digest,
        ]
          .map(cell)
          .join(","),
      ),
    ),
  );
  return [head, ...rows, ""].join("\n");
}

/** A text of a cell is quoted where it must be; one that a spreadsheet would compute has an apostrophe before it. */
function cell(value: string | number): string {
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "";
  const safe = /^[=+\-@\t]/.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Pictures one below the other under a title, as a file of its own: computed styles become attributes. */
export function figure(
  title: string,
  lines: readonly string[],
  pictures: readonly SVGSVGElement[],
  host: Element,
): string {
  const style = getComputedStyle(host);
  const sizes = pictures.map((picture) => picture.getBoundingClientRect());
  const width = Math.ceil(Math.max(640, ...sizes.map((size) => size.width))) + 2 * MARGIN;
  const made = document.createElementNS(SPACE, "svg");
  const paper = document.createElementNS(SPACE, "rect");
  made.append(paper);
  let y = MARGIN;
  for (const [place, text] of [title, ...wrapped(lines, width - 2 * MARGIN)].entries()) {
    y += place === 0 ? 18 : 20;
    made.append(textAt(text, MARGIN, y, place === 0 ? 16 : 13, style));
  }
  const { places, end } = placed(sizes, width, y + MARGIN);
  pictures.forEach((picture, n) => {
    const copy = withStyles(picture);
    for (const [name, value] of Object.entries(places[n] ?? {})) copy.setAttribute(name, String(value));
    made.append(copy);
  });
  const height = Math.ceil(end);
  for (const one of [made, paper]) {
    one.setAttribute("width", String(width));
    one.setAttribute("height", String(height));
  }
  made.setAttribute("viewBox", `0 0 ${width} ${height}`);
  paper.setAttribute("fill", style.getPropertyValue("--paper"));
  return `${new XMLSerializer().serializeToString(made)}\n`;
}

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Pictures in rows, as many beside each other as have room; the next row begins below the highest. */
function placed(sizes: DOMRect[], width: number, top: number): { places: Box[]; end: number } {
  let [x, y, bottom] = [MARGIN, top, top];
  const places = sizes.map((size) => {
    if (x > MARGIN && x + size.width > width - MARGIN + 1) [x, y] = [MARGIN, bottom];
    const box = { x, y, width: size.width, height: size.height };
    x += size.width + MARGIN;
    bottom = Math.max(bottom, y + size.height + MARGIN);
    return box;
  });
  return { places, end: bottom };
}

/** Lines of about the width, by letters of 13 px. */
function wrapped(lines: readonly string[], width: number): string[] {
  const most = Math.max(40, Math.floor(width / 6.6));
  return lines.flatMap((line) => {
    const found: string[] = [""];
    for (const word of line.split(" ")) {
      const last = found[found.length - 1] ?? "";
      if (last.length + word.length + 1 > most) found.push(word);
      else found[found.length - 1] = last === "" ? word : `${last} ${word}`;
    }
    return found;
  });
}

function textAt(
  text: string,
  x: number,
  y: number,
  size: number,
  style: CSSStyleDeclaration,
): SVGTextElement {
  const made = document.createElementNS(SPACE, "text");
  const attributes = { x, y, "font-size": size, "font-family": style.fontFamily, fill: style.color };
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  if (size > 14) made.setAttribute("font-weight", "600");
  made.textContent = text;
  return made;
}

/** A copy of a picture with the styles that it has on the page. */
function withStyles(picture: SVGSVGElement): SVGSVGElement {
  const copy = picture.cloneNode(true) as SVGSVGElement;
  const copies = [copy, ...copy.querySelectorAll("*")];
  [picture, ...picture.querySelectorAll("*")].forEach((one, place) => {
    const style = getComputedStyle(one);
    const into = copies[place] as Element;
    for (const name of STYLES) {
      const value = style.getPropertyValue(name);
      if (value !== "") into.setAttribute(name, value);
    }
    for (const name of ["class", "style", "tabindex"]) into.removeAttribute(name);
  });
  return copy;
}

/** A picture of an SVG as PNG. Rejects if the browser cannot draw it. */
export async function png(svg: string): Promise<Blob> {
  const address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = image.naturalWidth * PNG_SCALE;
    canvas.height = image.naturalHeight * PNG_SCALE;
    const context = canvas.getContext("2d");
    context?.scale(PNG_SCALE, PNG_SCALE);
    context?.drawImage(image, 0, 0);
    const made = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/png"));
    if (!made) throw new Error("the browser made no picture of it");
    return made;
  } finally {
    URL.revokeObjectURL(address);
  }
}
