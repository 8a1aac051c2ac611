import { CANDLE_COLUMNS, type Candles } from '#engine/candles.ts';
import { BacktestError } from './errors.ts';

/** What was noticed in sound candles. */
export interface CandleQuality {
  /** Candles whose open or close lies outside low to high. */
  readonly outsideRange: number;
  /** Largest step from a close to the next open, percent. */
  readonly largestJumpPct: number;
}

/**
 * Checks candles before they are traded on: strictly ascending on the timeframe's grid, finite, prices above 0, high not
 * below low, volume not negative. Gaps are allowed.
 *
 * @param stepMs length of a candle, ms
 * @throws BacktestError `invalid_candles` naming the first candle at fault
 */
export function checkCandles(pair: string, candles: Candles, stepMs: number): CandleQuality {
  const rows = candles.timestamp.length;
  const odd = CANDLE_COLUMNS.find((name) => candles[name].length !== rows);
  if (odd) {
    throw new BacktestError(
      'invalid_candles',
      `${pair}: column ${odd} holds ${candles[odd].length} values for ${rows} candles.`,
    );
  }
  const checked = checkRows(candles, stepMs);
  if ('problem' in checked) {
    const time = candles.timestamp[checked.row]!;
    const at = Number.isFinite(time) ? new Date(time).toISOString() : `row ${checked.row}`;
    throw new BacktestError('invalid_candles', `${pair}: the candle at ${at} ${checked.problem}.`);
  }
  return checked;
}

// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: one pass over all candles, without a call per row
function checkRows(candles: Candles, stepMs: number): CandleQuality | { row: number; problem: string } {
  const { timestamp, open, high, low, close, volume } = candles;
  let previousTime = Number.NEGATIVE_INFINITY;
  let previousClose = open[0]!;
  let outsideRange = 0;
  let largestJump = 0;
  for (let row = 0, { length } = timestamp; row < length; row++) {
    const time = timestamp[row]!;
    const first = open[row]!;
    const top = high[row]!;
    const bottom = low[row]!;
    const last = close[row]!;
    // Comparisons with NaN are false: each test is written so that NaN fails it.
    if (!(time > previousTime)) return { row, problem: 'does not come after the one before it' };
    // A division a row would cost more than all the rest.
    if (time - previousTime !== stepMs && time % stepMs !== 0) {
      return { row, problem: 'does not open on the grid of its timeframe' };
    }
    if (!(bottom > 0) || !(first > 0) || !(last > 0)) {
      return { row, problem: 'has a price that is not above 0' };
    }
    if (!(top >= bottom) || top === Number.POSITIVE_INFINITY) {
      return { row, problem: 'has no high at or above its low' };
    }
    if (first === Number.POSITIVE_INFINITY || last === Number.POSITIVE_INFINITY) {
      return { row, problem: 'has a price without bound' };
    }
    if (!(volume[row]! >= 0)) return { row, problem: 'has no volume at or above 0' };
    if (first > top || first < bottom || last > top || last < bottom) outsideRange++;
    const jump = Math.abs(first / previousClose - 1);
    if (jump > largestJump) largestJump = jump;
    previousTime = time;
    previousClose = last;
  }
  return { outsideRange, largestJumpPct: largestJump * 100 };
}
