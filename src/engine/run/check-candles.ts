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
  const problem = firstProblem(candles, stepMs);
  if (problem) {
    const time = candles.timestamp[problem.row]!;
    const at = Number.isFinite(time) ? new Date(time).toISOString() : `row ${problem.row}`;
    throw new BacktestError('invalid_candles', `${pair}: the candle at ${at} ${problem.what}.`);
  }
  return measure(candles);
}

function firstProblem(candles: Candles, stepMs: number): { row: number; what: string } | undefined {
  const { timestamp, open, high, low, close, volume } = candles;
  let previous = Number.NEGATIVE_INFINITY;
  for (let row = 0; row < timestamp.length; row++) {
    const time = timestamp[row]!;
    // Comparisons with NaN are false: each test is written so that NaN fails it.
    if (!(time > previous)) return { row, what: 'does not come after the one before it' };
    // A division a row would cost more than all the rest.
    if (time - previous !== stepMs && time % stepMs !== 0) {
      return { row, what: 'does not open on the grid of its timeframe' };
    }
    if (!(low[row]! > 0) || !(open[row]! > 0) || !(close[row]! > 0)) {
      return { row, what: 'has a price that is not above 0' };
    }
    if (!(high[row]! >= low[row]!) || high[row] === Number.POSITIVE_INFINITY) {
      return { row, what: 'has no high at or above its low' };
    }
    if (open[row] === Number.POSITIVE_INFINITY || close[row] === Number.POSITIVE_INFINITY) {
      return { row, what: 'has a price without bound' };
    }
    if (!(volume[row]! >= 0)) return { row, what: 'has no volume at or above 0' };
    previous = time;
  }
  return undefined;
}

function measure({ open, high, low, close }: Candles): CandleQuality {
  let outsideRange = 0;
  let largest = 0;
  for (let row = 0; row < open.length; row++) {
    const first = open[row]!;
    const last = close[row]!;
    const top = high[row]!;
    const bottom = low[row]!;
    if (first > top || first < bottom || last > top || last < bottom) outsideRange++;
    if (row === 0) continue;
    const jump = Math.abs(first / close[row - 1]! - 1);
    if (jump > largest) largest = jump;
  }
  return { outsideRange, largestJumpPct: largest * 100 };
}
