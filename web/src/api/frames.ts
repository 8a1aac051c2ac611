/**
 * Gathers values and hands them over once per frame: a burst of a thousand events draws the page a few times, not a thousand.
 * A hidden tab has no frames; its values wait.
 */
export class PerFrame<T> {
  #waiting: T[] = [];
  #frame: number | undefined;
  readonly #hand: (values: readonly T[]) => void;

  constructor(hand: (values: readonly T[]) => void) {
    this.#hand = hand;
  }

  add(value: T): void {
    this.#waiting.push(value);
    this.#frame ??= requestAnimationFrame(() => {
      const values = this.#waiting;
      this.#waiting = [];
      this.#frame = undefined;
      this.#hand(values);
    });
  }

  stop(): void {
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
  }
}
