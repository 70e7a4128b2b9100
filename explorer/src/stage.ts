// The network of each side, or its map, at the time of the playhead.

import { button, element } from "./dom.ts";
import { hasPlaces } from "./draw-places.ts";
import { MapView } from "./map.ts";
import { NetworkView } from "./network.ts";
import type { Side } from "./session.ts";

type View = NetworkView | MapView;

/** The views of one side; only one of them is made and shown. */
interface Place {
  figure: HTMLElement;
  caption: HTMLElement;
  view: View;
  map: boolean;
}

export class Stage {
  private places: Place[] = [];
  /** Whether positions are shown as a map; undefined: where there are some. */
  private wanted: boolean | undefined;
  private readonly views = element("div", { class: "views" });
  private readonly change = button("", () => this.toggle(), {
    class: "quiet",
    hidden: true,
    "data-test": "map",
  });
  private sides: readonly Side[] = [];
  private t_s = 0;

  constructor(
    host: HTMLElement,
    private readonly colour: (cls: string) => string,
  ) {
    host.append(this.views, this.change);
  }

  show(sides: readonly Side[]): void {
    this.sides = sides;
    const placed = sides.some((side) => hasPlaces(side.plan));
    const map = placed && (this.wanted ?? true);
    this.change.hidden = !placed;
    this.change.textContent = map ? "Show the links" : "Show the map";
    if (this.places.length !== sides.length || this.places.some((place) => place.map !== map)) {
      this.views.replaceChildren();
      this.places = sides.map(() => this.made(map));
    }
    this.views.classList.toggle("two", sides.length > 1);
    this.places.forEach((place, number) => {
      const side = sides[number] as Side;
      place.caption.textContent =
        sides.length > 1 ? `${"AB"[number]}: ${side.label}` : `Network under ${side.label}`;
      place.view.show(side.plan, side.run);
      place.view.seek(this.t_s);
    });
  }

  seek(t_s: number): void {
    this.t_s = t_s;
    for (const place of this.places) place.view.seek(t_s);
  }

  pictures(): SVGSVGElement[] {
    return this.places.map((place) => place.view.svg());
  }

  private made(map: boolean): Place {
    const caption = element("figcaption");
    const inner = element("div");
    const figure = element("figure", {}, caption, inner);
    this.views.append(figure);
    const view = map ? new MapView(inner, this.colour) : new NetworkView(inner, this.colour);
    return { figure, caption, view, map };
  }

  private toggle(): void {
    this.wanted = !(this.places[0]?.map ?? false);
    this.places = [];
    this.show(this.sides);
  }
}
