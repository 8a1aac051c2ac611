import type { KeyboardEvent } from 'react';
import type uPlot from 'uplot';

/** Plots of one chart: they share the range of x, and the keyboard moves all of them. */
export class LinkedPlots {
  readonly plots: uPlot[] = [];
  /** All of x. */
  extent: readonly [number, number] = [0, 0];
  isZoomed = false;
  #isLinking = false;

  link(from: uPlot): void {
    if (this.#isLinking) return;
    this.#isLinking = true;
    const { min, max } = from.scales.x!;
    for (const plot of this.plots) {
      if (plot !== from && min !== undefined && max !== undefined) plot.setScale('x', { min, max });
    }
    this.#isLinking = false;
  }

  zoom(min: number, max: number): void {
    for (const plot of this.plots) plot.setScale('x', { min, max });
  }

  /** Arrows move the cursor, + and - zoom. False for another key. */
  press({ key, shiftKey }: KeyboardEvent): boolean {
    if (key === 'ArrowLeft') this.#step(shiftKey ? -10 : -1);
    else if (key === 'ArrowRight') this.#step(shiftKey ? 10 : 1);
    else if (key === '+') this.#scale(0.5);
    else if (key === '-') this.#scale(2);
    else return false;
    return true;
  }

  /** Moves the cursor by a count of points. */
  #step(by: number): void {
    const [first] = this.plots;
    const times = first?.data[0];
    if (!first || !times?.length) return;
    const index = Math.min(times.length - 1, Math.max(0, (first.cursor.idx ?? times.length - 1) + by));
    for (const plot of this.plots) {
      plot.setCursor({ left: plot.valToPos(times[index]!, 'x'), top: plot.over.clientHeight / 2 });
    }
  }

  /** Zooms by a factor around the middle, within the data. */
  #scale(factor: number): void {
    const [first] = this.plots;
    const times = first?.data[0];
    if (!first || !times?.length) return;
    const { min = 0, max = 0 } = first.scales.x as { min?: number; max?: number };
    const middle = (min + max) / 2;
    const half = ((max - min) / 2) * factor;
    this.zoom(Math.max(this.extent[0], middle - half), Math.min(this.extent[1], middle + half));
  }
}
