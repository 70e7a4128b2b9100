// The buttons of the clock: play, step, scrub, speed; and its keys.

import { button, element, write } from "./dom.ts";
import { significant } from "./format.ts";
import { SPEEDS } from "./state.ts";
import type { Playback } from "./playback.ts";

const STEPS = 1000;

export class Transport {
  readonly root: HTMLElement;
  private readonly play: HTMLButtonElement;
  private readonly scrub = element("input", {
    type: "range",
    min: 0,
    max: STEPS,
    step: 1,
    "aria-label": "Time",
    "data-test": "scrub",
  });
  private readonly said = element("output", { class: "clock" });
  private readonly speeds = element("select", {
    "aria-label": "Simulated seconds a second",
    "data-test": "speed",
  });

  constructor(
    private readonly playback: Playback,
    speeded: (speed: number) => void,
  ) {
    this.play = button("Play", () => playback.toggle(), { class: "play", "data-test": "play" });
    const back = button("◂", () => playback.step(-1), {
      "aria-label": "One sample back",
      title: "one sample back (←)",
    });
    const on = button("▸", () => playback.step(1), {
      "aria-label": "One sample on",
      title: "one sample on (→)",
    });
    this.scrub.addEventListener("input", () =>
      playback.put((Number(this.scrub.value) / STEPS) * playback.duration_s),
    );
    this.speeds.append(...SPEEDS.map((speed) => element("option", { value: speed }, `${speed}×`)));
    this.speeds.addEventListener("change", () => speeded(Number(this.speeds.value)));
    this.root = element("div", { class: "transport", role: "group", "aria-label": "Playback" });
    this.root.append(this.play, back, on, this.scrub, this.said, this.speeds);
  }

  /** Shows the time; cheap, as it is called for every frame. */
  seek(t_s: number): void {
    const { duration_s, step_s } = this.playback;
    this.scrub.value = String(duration_s > 0 ? Math.round((t_s / duration_s) * STEPS) : 0);
    const decimals = step_s < 0.1 ? 2 : 1;
    const text = `${t_s.toFixed(decimals)} of ${significant(duration_s, 6)} s`;
    write(this.said, text);
    if (!this.playback.playing) this.scrub.setAttribute("aria-valuetext", text);
  }

  /** Shows whether it plays, and how fast. */
  refresh(): void {
    const { playing, speed } = this.playback;
    write(this.play, playing ? "Pause" : "Play");
    this.play.setAttribute("aria-pressed", String(playing));
    if (![...this.speeds.options].some((option) => Number(option.value) === speed)) {
      this.speeds.append(element("option", { value: speed }, `${speed}×`));
    }
    this.speeds.value = String(speed);
  }

  /** Space plays and pauses, arrows step; whoever writes or moves a control keeps these keys. */
  key(event: KeyboardEvent): void {
    const at = event.composedPath()[0];
    const taken =
      at instanceof HTMLElement &&
      at.matches("input, textarea, select, button, summary, a, [contenteditable]");
    if (taken || event.ctrlKey || event.metaKey || event.altKey) return;
    const steps = event.shiftKey ? 10 : 1;
    if (event.key === " ") this.playback.toggle();
    else if (event.key === "ArrowRight") this.playback.step(steps);
    else if (event.key === "ArrowLeft") this.playback.step(-steps);
    else return;
    event.preventDefault();
  }
}
