import { DEGREES, eachRow, LONG, SHORT, TrendSmoother } from './hilbert.ts';
import { firstDefined, outputColumn, warmUp } from './windows.ts';

/** Period of the dominant cycle in candles, 6 to 50 (TA-Lib's HT_DCPERIOD). First value on row 32. */
export function cyclePeriod(values: Float64Array, out?: Float64Array): Float64Array {
  const result = outputColumn(values.length, out);
  eachRow(values, SHORT, (row, { smoothPeriod }) => {
    result[row] = smoothPeriod;
  });
  warmUp(result, firstDefined(values) + SHORT.output);
  return result;
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
