import { wma } from './moving-averages.ts';
import { firstDefined, outputColumn, warmUp } from './windows.ts';

/**
 * Indicators of the dominant cycle (Ehlers, "Rocket Science for Traders", 2001), as TA-Lib computes them. Their state begins with zeros
 * on a fixed row, so they depend on the start of the series for some hundred candles.
 */

/** Weights of the Hilbert transform for the values 0, 2, 4 and 6 candles ago. */
const OUTER = 0.0962;
const INNER = 0.5769;
/** Rows before the state begins, and before the first output: without and with the phase. */
const SHORT = { begin: 12, output: 32 } as const;
const LONG = { begin: 37, output: 63 } as const;
const MAX_PERIOD = 50;
const DEGREES = 180 / Math.PI;
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
function eachRow(
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

/** Period of the dominant cycle in candles, 6 to 50 (TA-Lib's HT_DCPERIOD). First value on row 32. */
export function cyclePeriod(values: Float64Array, out?: Float64Array): Float64Array {
  const result = outputColumn(values.length, out);
  eachRow(values, SHORT, (row, { smoothPeriod }) => {
    result[row] = smoothPeriod;
  });
  warmUp(result, firstDefined(values) + SHORT.output);
  return result;
}

/** Columns of {@link mama}. */
interface AdaptiveAverages {
  readonly mama: Float64Array;
  /** Follows `mama` with half of its speed. */
  readonly fama: Float64Array;
}

/**
 * MESA adaptive moving average and the one that follows it (TA-Lib's MAMA): the faster the phase changes, the slower the average. First
 * value on row 32.
 * @throws RangeError for limits that are not above 0 and at most 1
 */
export function mama(
  values: Float64Array,
  fastLimit = 0.5,
  slowLimit = 0.05,
  out?: AdaptiveAverages,
): AdaptiveAverages {
  if (!(fastLimit > 0 && fastLimit <= 1 && slowLimit > 0 && slowLimit <= 1))
    throw new RangeError(
      `mama: the limits must be above 0 and at most 1, got ${fastLimit} and ${slowLimit}.`,
    );
  const lead = outputColumn(values.length, out?.mama);
  const follow = outputColumn(values.length, out?.fama);
  let [average, following, phaseBefore] = [0, 0, 0];
  eachRow(values, SHORT, (row, { inPhase, quadrature }) => {
    const phase = inPhase === 0 ? 0 : Math.atan(quadrature / inPhase) * DEGREES;
    const change = phaseBefore - phase;
    phaseBefore = phase;
    const factor = change > 1 ? Math.max(fastLimit / change, slowLimit) : fastLimit;
    average = factor * values[row]! + (1 - factor) * average;
    following = 0.5 * factor * average + (1 - 0.5 * factor) * following;
    lead[row] = average;
    follow[row] = following;
  });
  const start = firstDefined(values) + SHORT.output;
  warmUp(lead, start);
  warmUp(follow, start);
  return { mama: lead, fama: follow };
}

/** Instantaneous trendline (TA-Lib's HT_TRENDLINE): mean of the prices of a whole cycle, smoothed. First value on row 63. */
export function trendline(values: Float64Array, out?: Float64Array): Float64Array {
  const result = outputColumn(values.length, out);
  const smoother = new TrendSmoother(values);
  eachRow(values, LONG, (row, { smoothPeriod }) => {
    result[row] = smoother.step(row, smoothPeriod);
  });
  warmUp(result, firstDefined(values) + LONG.output);
  return result;
}

/** Means of whole cycles, smoothed with the weights 4, 3, 2 and 1. */
class TrendSmoother {
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

/** Phase of the dominant cycle. Sines and cosines of each length are computed once: they would be most of the time. */
class Phase {
  /** Degrees, -45 to 315. */
  degrees = 0;
  readonly #waves: ({ readonly sine: Float64Array; readonly cosine: Float64Array } | undefined)[] = [];

  /** `begin`: row before which the smoothed prices count as 0. */
  step(row: number, smoothed: Float64Array, begin: number, smoothPeriod: number): void {
    const candles = Math.floor(smoothPeriod + 0.5);
    const { sine, cosine } = this.#waveOf(candles);
    let real = 0;
    let imaginary = 0;
    for (let ago = 0, count = Math.min(candles, row - begin + 1); ago < count; ago++) {
      real += sine[ago]! * smoothed[row - ago]!;
      imaginary += cosine[ago]! * smoothed[row - ago]!;
    }
    if (imaginary !== 0) this.degrees = Math.atan(real / imaginary) * DEGREES;
    else if (real !== 0) this.degrees += real < 0 ? -90 : 90;
    // A quarter of a cycle, and one candle for the lag of the weighted average.
    this.degrees += 90 + 360 / smoothPeriod;
    if (imaginary < 0) this.degrees += 180;
    if (this.degrees > 315) this.degrees -= 360;
  }

  #waveOf(candles: number) {
    this.#waves[candles] ??= {
      sine: Float64Array.from({ length: candles }, (_, ago) => Math.sin((ago * 2 * Math.PI) / candles)),
      cosine: Float64Array.from({ length: candles }, (_, ago) => Math.cos((ago * 2 * Math.PI) / candles)),
    };
    return this.#waves[candles]!;
  }
}

/** Columns of {@link cycleSine}, each -1 to 1. */
interface CycleSine {
  readonly sine: Float64Array;
  /** An eighth of a cycle ahead: both cross at its turns. */
  readonly lead: Float64Array;
}

/** Sine of the phase of the dominant cycle (TA-Lib's HT_SINE). First value on row 63. */
export function cycleSine(values: Float64Array, out?: CycleSine): CycleSine {
  const sine = outputColumn(values.length, out?.sine);
  const lead = outputColumn(values.length, out?.lead);
  const phase = new Phase();
  eachRow(values, LONG, (row, { smoothPeriod }, smoothed, begin) => {
    phase.step(row, smoothed, begin, smoothPeriod);
    sine[row] = Math.sin(phase.degrees / DEGREES);
    lead[row] = Math.sin((phase.degrees + 45) / DEGREES);
  });
  const start = firstDefined(values) + LONG.output;
  warmUp(sine, start);
  warmUp(lead, start);
  return { sine, lead };
}

/** Share of a price by which it is off the trendline in a trend. */
const TREND_DISTANCE = 0.015;

/** 1 in a trend, 0 in a cycle (TA-Lib's HT_TRENDMODE). First value on row 63. */
export function trendMode(values: Float64Array, out?: Float64Array): Float64Array {
  const result = outputColumn(values.length, out);
  const phase = new Phase();
  const smoother = new TrendSmoother(values);
  let [difference, days] = [0, 0];
  eachRow(values, LONG, (row, { smoothPeriod }, smoothed, begin) => {
    const before = phase.degrees;
    phase.step(row, smoothed, begin, smoothPeriod);
    const was = difference;
    difference = Math.sin(phase.degrees / DEGREES) - Math.sin((phase.degrees + 45) / DEGREES);
    const hasCrossed = (difference > 0 && was <= 0) || (difference < 0 && was >= 0);
    days = hasCrossed ? 1 : days + 1;
    const speed = ((phase.degrees - before) * smoothPeriod) / 360;
    const line = smoother.step(row, smoothPeriod);
    const isOff = line !== 0 && Math.abs((smoothed[row]! - line) / line) >= TREND_DISTANCE;
    const isCycle = hasCrossed || days < 0.5 * smoothPeriod || (speed > 0.67 && speed < 1.5);
    result[row] = isOff || !isCycle ? 1 : 0;
  });
  warmUp(result, firstDefined(values) + LONG.output);
  return result;
}
