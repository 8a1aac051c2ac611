import { wma } from './moving-averages.ts';
import { firstDefined } from './windows.ts';

/**
 * Indicators of the dominant cycle (Ehlers, "Rocket Science for Traders", 2001), as TA-Lib computes them. Their state begins with zeros
 * on a fixed row, so they depend on the start of the series for some hundred candles.
 */

/** Weights of the Hilbert transform for the values 0, 2, 4 and 6 candles ago. */
const OUTER = 0.0962;
const INNER = 0.5769;
/** Rows before the state begins, and before the first output: without and with the phase. */
export const SHORT = { begin: 12, output: 32 } as const;
export const LONG = { begin: 37, output: 63 } as const;
const MAX_PERIOD = 50;
export const DEGREES = 180 / Math.PI;
/** Rows of a ring; a power of two above 6. */
const RING = 8;

/** A column of which the last 7 values are kept. */
class Recent {
  readonly #values = new Float64Array(RING);
  #at = 0;

  push(value: number): void {
    this.#at = (this.#at + 1) & (RING - 1);
    this.#values[this.#at] = value;
  }

  ago(candles: number): number {
    return this.#values[(this.#at - candles) & (RING - 1)]!;
  }

  transformed(factor: number): number {
    return (OUTER * (this.ago(0) - this.ago(6)) + INNER * (this.ago(2) - this.ago(4))) * factor;
  }
}

/** In-phase and quadrature parts of a price, and the period of its dominant cycle. */
class Cycle {
  /** Candles. */
  period = 0;
  smoothPeriod = 0;
  /** In phase, and a quarter of a cycle behind. */
  inPhase = 0;
  quadrature = 0;
  readonly #smoothed = new Recent();
  readonly #detrended = new Recent();
  readonly #inPhase = new Recent();
  readonly #quadrature = new Recent();
  #i2 = 0;
  #q2 = 0;
  #re = 0;
  #im = 0;

  /** The next candle: its price, smoothed by a weighted average of 4 candles. */
  step(smoothed: number): void {
    const factor = 0.075 * this.period + 0.54;
    this.#smoothed.push(smoothed);
    this.#detrended.push(this.#smoothed.transformed(factor));
    this.quadrature = this.#detrended.transformed(factor);
    this.inPhase = this.#detrended.ago(3);
    this.#inPhase.push(this.inPhase);
    this.#quadrature.push(this.quadrature);
    const i2 = 0.2 * (this.inPhase - this.#quadrature.transformed(factor)) + 0.8 * this.#i2;
    const q2 = 0.2 * (this.quadrature + this.#inPhase.transformed(factor)) + 0.8 * this.#q2;
    this.#re = 0.2 * (i2 * this.#i2 + q2 * this.#q2) + 0.8 * this.#re;
    this.#im = 0.2 * (i2 * this.#q2 - q2 * this.#i2) + 0.8 * this.#im;
    this.#i2 = i2;
    this.#q2 = q2;
    const before = this.period;
    let period = before;
    if (this.#im !== 0 && this.#re !== 0) period = 360 / (Math.atan(this.#im / this.#re) * DEGREES);
    period = Math.max(Math.min(period, 1.5 * before), 0.67 * before);
    period = Math.min(Math.max(period, 6), MAX_PERIOD);
    this.period = 0.2 * period + 0.8 * before;
    this.smoothPeriod = 0.33 * this.period + 0.67 * this.smoothPeriod;
  }
}

/** Calls `onRow` for each row from the one on which the state begins. */
export function eachRow(
  values: Float64Array,
  { begin }: typeof SHORT | typeof LONG,
  onRow: (row: number, cycle: Cycle, smoothed: Float64Array, begin: number) => void,
): void {
  const smoothed = wma(values, 4);
  const cycle = new Cycle();
  const first = firstDefined(values) + begin;
  for (let row = first, { length } = values; row < length; row++) {
    cycle.step(smoothed[row]!);
    onRow(row, cycle, smoothed, first);
  }
}

/** Means of whole cycles, smoothed with the weights 4, 3, 2 and 1. */
export class TrendSmoother {
  readonly #values: Float64Array;
  #one = 0;
  #two = 0;
  #three = 0;

  constructor(values: Float64Array) {
    this.#values = values;
  }

  step(row: number, smoothPeriod: number): number {
    const candles = Math.floor(smoothPeriod + 0.5);
    let sum = 0;
    for (let ago = 0; ago < candles; ago++) sum += this.#values[row - ago]!;
    const mean = candles > 0 ? sum / candles : 0;
    const smoothed = (4 * mean + 3 * this.#one + 2 * this.#two + this.#three) / 10;
    this.#three = this.#two;
    this.#two = this.#one;
    this.#one = mean;
    return smoothed;
  }
}
