import type { KeyboardEvent } from 'react';
import type uPlot from 'uplot';

type Range = readonly [from: number, to: number];

/** Points that are in view at least. */
const MIN_POINTS = 4;

/** Plots of one chart: they share the range of x, and keyboard and fingers move all of them. */
export class LinkedPlots {
  readonly plots: uPlot[] = [];
  /** All of x. */
  extent: Range = [0, 0];
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

  /** Shows a range of x, moved into the data if it reaches beyond them, and widened if it has too few points. */
  show(from: number, to: number): Range {
    const [first, last] = this.extent;
    const x = this.#x;
    if (x.length < 2) return this.extent;
    const least = (MIN_POINTS * (x[x.length - 1]! - x[0]!)) / (x.length - 1);
    const span = Math.min(last - first, Math.max(to - from, least));
    const min = Math.max(first, Math.min(last - span, (from + to - span) / 2));
    for (const plot of this.plots) plot.setScale('x', { min, max: min + span });
    return [min, min + span];
  }

  showAll(): void {
    this.show(...this.extent);
  }

  /** Puts the cursor of all plots at a distance from their left edges, in pixels. */
  point(left: number): void {
    for (const plot of this.plots) plot.setCursor({ left, top: plot.over.clientHeight / 2 });
  }

  /** Zooms by a factor around the cursor, else around the middle. */
  scale(factor: number): void {
    const [min, max] = this.#range;
    const at = this.#x[this.plots[0]?.cursor.idx ?? -1] ?? (min + max) / 2;
    this.show(at - (at - min) * factor, at + (max - at) * factor);
  }

  /** Arrows move the cursor, + and - zoom, Escape shows all. False for another key. */
  press({ key, shiftKey }: KeyboardEvent): boolean {
    if (key === 'ArrowLeft') this.#step(shiftKey ? -10 : -1);
    else if (key === 'ArrowRight') this.#step(shiftKey ? 10 : 1);
    else if (key === '+') this.scale(0.5);
    else if (key === '-') this.scale(2);
    else if (key === 'Escape') this.showAll();
    else return false;
    return true;
  }

  get #x(): ArrayLike<number> {
    return this.plots[0]?.data[0] ?? [];
  }

  get #range(): Range {
    const { min = 0, max = 0 } = (this.plots[0]?.scales.x ?? {}) as { min?: number; max?: number };
    return [min, max];
  }

  /** Moves the cursor by a count of points; the range follows it. */
  #step(by: number): void {
    const x = this.#x;
    if (x.length === 0) return;
    const index = Math.min(x.length - 1, Math.max(0, (this.plots[0]!.cursor.idx ?? x.length - 1) + by));
    const at = x[index]!;
    let [min, max] = this.#range;
    const half = (max - min) / 2;
    if (at < min || at > max) [min, max] = this.show(at - half, at + half);
    this.point(((at - min) / (max - min)) * this.plots[0]!.over.clientWidth);
  }
}
