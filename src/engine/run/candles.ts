import { CANDLE_COLUMNS, type Candles, createCandles } from '../candles.ts';
import { isOnGrid } from '../timeframe.ts';
import { BacktestError } from './strategy-errors.ts';

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
 * @throws BacktestError `invalid_candles` naming the first invalid candle
 */
export function checkCandles(pair: string, candles: Candles, stepMs: number): CandleQuality {
  const rows = candles.timestamp.length;
  const invalid = CANDLE_COLUMNS.find((name) => candles[name].length !== rows);
  if (invalid) {
    throw new BacktestError(
      'invalid_candles',
      `${pair}: column ${invalid} holds ${candles[invalid].length} values for ${rows} candles.`,
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
    // One division per row would cost more than all other checks.
    if (time - previousTime !== stepMs && !isOnGrid(time, stepMs)) {
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
 * @param candles ascending, on the grid
 * @param stepMs length of a candle, ms
 */
export function fillGaps(candles: Candles, stepMs: number): FilledCandles {
  const rows = candles.timestamp.length;
  if (rows === 0) return { candles, filled: 0 };
  const first = candles.timestamp[0]!;
  const expected = (candles.timestamp[rows - 1]! - first) / stepMs + 1;
  if (expected === rows) return { candles, filled: 0 };
  const out = createCandles(expected);
  let source = 0;
  for (let row = 0; row < expected; row++) {
    const time = first + row * stepMs;
    if (candles.timestamp[source] === time) {
      for (const name of CANDLE_COLUMNS) out[name][row] = candles[name][source]!;
      source++;
      continue;
    }
    const price = out.close[row - 1]!;
    out.timestamp[row] = time;
    out.open[row] = price;
    out.high[row] = price;
    out.low[row] = price;
    out.close[row] = price;
  }
  return { candles: out, filled: expected - rows };
}

export interface WriteDetectingCandles {
  /** The same columns, for code that must not write into them. */
  readonly candles: Candles;
  /** True if a bit of a column changed since its first read from `candles`. */
  readonly changed: () => boolean;
}

/** Detects writes into candles. Columns are hashed on their first read: most strategies read one or two of the six. */
export function detectWrites(candles: Candles): WriteDetectingCandles {
  const hashes = new Map<keyof Candles, number>();
  const watched = {};
  for (const name of CANDLE_COLUMNS) {
    const column = candles[name];
    const get = () => {
      hashes.set(name, hashColumn(column));
      // A plain property from now on: it may be read once per row.
      Object.defineProperty(watched, name, { value: column, enumerable: true });
      return column;
    };
    Object.defineProperty(watched, name, { get, enumerable: true, configurable: true });
  }
  return {
    candles: watched as Candles,
    changed: () => [...hashes].some(([name, hash]) => hashColumn(candles[name]) !== hash),
  };
}

/** Odd, so that no step of the hash loses a bit; small, so that a product with 32 bits is exact as a number. */
const FACTOR = 31;

/**
 * Hash of the column's bits, without a copy. Four independent hashes run in parallel, because each step depends on the step
 * before. It multiplies numbers: `Math.imul` is a function call before TurboFan.
 */
function hashColumn(column: Float64Array): number {
  const words = new Uint32Array(column.buffer, column.byteOffset, column.length * 2);
  const whole = words.length & ~3;
  let a = 1;
  let b = 2;
  let c = 3;
  let d = 4;
  for (let word = 0; word < whole; word += 4) {
    a = ((a ^ words[word]!) * FACTOR) | 0;
    b = ((b ^ words[word + 1]!) * FACTOR) | 0;
    c = ((c ^ words[word + 2]!) * FACTOR) | 0;
    d = ((d ^ words[word + 3]!) * FACTOR) | 0;
  }
  for (let word = whole; word < words.length; word++) a = ((a ^ words[word]!) * FACTOR) | 0;
  return ((((((a * FACTOR) ^ b) * FACTOR) ^ c) * FACTOR) ^ d) | 0;
}
