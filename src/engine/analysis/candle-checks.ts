import { CANDLE_COLUMNS, type Candles, createCandles, isIntact, lazyCandles } from '../candles.ts';
import { BacktestError } from '../strategy-errors.ts';
import { floorToGrid, isOnGrid } from '../timeframe.ts';

/** Irregularities of valid candles. */
export interface CandleQuality {
  /** Number of candles whose open or close is outside low to high. */
  readonly outsideRange: number;
  /** Largest step from a close to the next open, percent. */
  readonly largestJumpPct: number;
}

/**
 * Checks candles before they are traded on: strictly ascending on the timeframe's grid, finite, prices above 0, high not
 * below low, volume not negative. Gaps are allowed.
 *
 * @param stepMs length of a candle, ms
 * @param mayBeLate candles may open later than their place on the grid, as those of stocks do
 * @throws BacktestError `invalid_candles` naming the first invalid candle
 */
export function checkCandles(
  pair: string,
  candles: Candles,
  stepMs: number,
  mayBeLate = false,
): CandleQuality {
  const rows = candles.timestamp.length;
  const invalid = CANDLE_COLUMNS.find((name) => candles[name].length !== rows);
  if (invalid) {
    throw new BacktestError(
      'invalid_candles',
      `${pair}: column ${invalid} holds ${candles[invalid].length} values for ${rows} candles.`,
    );
  }
  const checked = checkRows(candles, stepMs, mayBeLate);
  if ('problem' in checked) {
    const time = candles.timestamp[checked.row]!;
    const at = Number.isFinite(time) ? new Date(time).toISOString() : `row ${checked.row}`;
    throw new BacktestError('invalid_candles', `${pair}: the candle at ${at} ${checked.problem}.`);
  }
  return checked;
}

// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: one pass over all candles, without a call per row
function checkRows(
  candles: Candles,
  stepMs: number,
  mayBeLate: boolean,
): CandleQuality | { row: number; problem: string } {
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
    // One division per row would cost more than all other checks.
    if (time - previousTime !== stepMs && !isOnGrid(time, stepMs)) {
      if (!mayBeLate) return { row, problem: 'does not open on the grid of its timeframe' };
      if (floorToGrid(time, stepMs) <= floorToGrid(previousTime, stepMs))
        return { row, problem: 'opens in the one before it' };
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

/** Candles without gaps. */
interface FilledCandles {
  readonly candles: Candles;
  /** Number of inserted candles. */
  readonly filled: number;
}

/**
 * Fills gaps with flat candles at the previous close, with volume 0, as freqtrade does when it loads data. Returns the same
 * columns when there is no gap.
 *
 * @param candles ascending, each in a place of its own on the grid
 * @param stepMs length of a candle, ms
 */
export function fillGaps(candles: Candles, stepMs: number): FilledCandles {
  const rows = candles.timestamp.length;
  if (rows === 0) return { candles, filled: 0 };
  const first = floorToGrid(candles.timestamp[0]!, stepMs);
  const expected = (floorToGrid(candles.timestamp[rows - 1]!, stepMs) - first) / stepMs + 1;
  if (expected === rows) return { candles, filled: 0 };
  const out = createCandles(expected);
  let source = 0;
  for (let row = 0; row < expected; row++) {
    if (candles.timestamp[source]! < first + (row + 1) * stepMs) {
      for (const name of CANDLE_COLUMNS) out[name][row] = candles[name][source]!;
      source++;
      continue;
    }
    const price = out.close[row - 1]!;
    out.timestamp[row] = out.timestamp[row - 1]! + stepMs;
    out.open[row] = price;
    out.high[row] = price;
    out.low[row] = price;
    out.close[row] = price;
  }
  return { candles: out, filled: expected - rows };
}

export interface GivenCandles {
  /** Copies of the columns, each made at its first read: most strategies read one or two of the six. */
  readonly candles: Candles;
  /** True if a value of a copy changed, or a copy was replaced. */
  readonly changed: () => boolean;
}

/**
 * Candles for code that must not write into them. It gets copies, because it can write into what it keeps after each check: in a later
 * call, a timer or a promise.
 */
export function giveCandles(candles: Candles): GivenCandles {
  const copies = new Map<keyof Candles, Float64Array>();
  const given = lazyCandles((name) => {
    const copy = candles[name].slice();
    copies.set(name, copy);
    return copy;
  });
  return {
    candles: given,
    changed: () => !isIntact(given) || [...copies].some(([name, copy]) => !isEqual(copy, candles[name])),
  };
}

/** Equal values; NaN equals NaN. */
export function isEqual(a: Float64Array, b: Float64Array): boolean {
  for (let row = 0, { length } = b; row < length; row++) {
    if (a[row] !== b[row] && !(Number.isNaN(a[row]) && Number.isNaN(b[row]))) return false;
  }
  return a.length === b.length;
}
