// The clock of the animation, in simulated seconds.

/** Longest step of the clock in real seconds: after a pause of the browser it does not jump. */
const LONGEST_STEP_S = 0.1;

export class Playback {
  playing = false;
  t_s = 0;
  speed = 5;
  duration_s = 0;
  step_s = 0.1;
  private last = 0;
  private frame = 0;

  /** `seek` draws a time; `changed` says that playing began or ended, or that the head was put somewhere. */
  constructor(
    private readonly seek: (t_s: number) => void,
    private readonly changed: () => void,
  ) {}

  toggle(): void {
    if (this.playing) this.pause();
    else this.play();
  }

  play(): void {
    if (this.t_s >= this.duration_s) this.t_s = 0;
    this.playing = true;
    this.last = 0;
    this.request();
    this.changed();
  }

  pause(): void {
    if (!this.playing) return;
    this.playing = false;
    cancelAnimationFrame(this.frame);
    this.changed();
  }

  /** Moves by so many samples, and stops there. */
  step(samples: number): void {
    this.pause();
    this.put((Math.round(this.t_s / this.step_s) + samples) * this.step_s);
  }

  /** Puts the head at a time. */
  put(t_s: number): void {
    this.move(t_s);
    this.changed();
  }

  /** Rests while the page cannot be seen: requestAnimationFrame does by itself, and the clock does not jump. */
  private request(): void {
    this.frame = requestAnimationFrame((now) => {
      if (!this.playing) return;
      const passed = this.last === 0 ? 0 : Math.min((now - this.last) / 1000, LONGEST_STEP_S);
      this.last = now;
      this.move(this.t_s + passed * this.speed);
      if (this.t_s >= this.duration_s) this.pause();
      else this.request();
    });
  }

  private move(t_s: number): void {
    this.t_s = Math.min(Math.max(0, Number(t_s.toFixed(6))), this.duration_s);
    this.seek(this.t_s);
  }
}
