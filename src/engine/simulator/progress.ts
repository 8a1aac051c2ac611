import type { SimulateOptions } from './types.ts';

/** Thrown out of a simulation whose `onProgress` returned false. */
export class SimulationStopped extends Error {
  override readonly name = 'SimulationStopped';

  constructor() {
    super('The simulation was stopped');
  }
}

/** Reports the share done, at most a hundred times. `total` is the number of units of work. */
export class Progress {
  readonly #report: SimulateOptions['onProgress'];
  readonly #total: number;
  readonly #step: number;
  /** Units done at which {@link report} must be called next; Infinity when nobody listens. */
  next: number;

  constructor(report: SimulateOptions['onProgress'], total: number) {
    this.#report = report;
    this.#total = total;
    this.#step = Math.max(1, Math.ceil(total / 100));
    this.next = report ? this.#step : Number.POSITIVE_INFINITY;
  }

  /** Tells the listener that `done` units are finished. Throws {@link SimulationStopped} when it asks to stop. */
  report(done: number): void {
    if (done < this.next) return;
    this.next = (Math.floor(done / this.#step) + 1) * this.#step;
    if (this.#report?.(Math.min(1, done / this.#total)) === false) throw new SimulationStopped();
  }
}
