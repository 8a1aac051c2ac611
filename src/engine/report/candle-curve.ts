import type { EquityCurve, PairInput } from '../simulator/types.ts';

/** The account and the market at each candle close of a run: equal-length columns without gaps, quote currency. */
export interface CandleCurve {
  /** Open time of the first candle, ms. */
  readonly start: number;
  /** Duration of a candle, ms. */
  readonly step: number;
  /** Starting balance. */
  readonly wallet: number;
  /** With open positions marked to market. */
  readonly equity: Float64Array;
  /** The starting balance invested in all pairs in equal parts at the close of their first candle, without costs. */
  readonly market: Float64Array;
}

/**
 * The curve of a run. Before the first candle of a pair its part is in quote currency; after the last candle it has the value of
 * the last close. So the last row is the starting balance and `market_change_pct` of it.
 *
 * @param stepMs duration of a candle
 */
export function candleCurve(
  { timestamp, equity }: Pick<EquityCurve, 'timestamp' | 'equity'>,
  pairs: readonly Pick<PairInput, 'candles'>[],
  wallet: number,
  stepMs: number,
): CandleCurve {
  const market = new Float64Array(timestamp.length);
  const start = timestamp[0] ?? 0;
  for (const { candles } of pairs) addPair(market, candles, start, stepMs, wallet / pairs.length);
  return { start, step: stepMs, wallet, equity, market };
}

/** Adds the value of `part` of the wallet in one pair. */
function addPair(
  market: Float64Array,
  { timestamp, close }: PairInput['candles'],
  start: number,
  stepMs: number,
  part: number,
): void {
  const amount = part / close[0]!;
  // Row of the curve less row of the pair.
  const shift = (timestamp[0]! - start) / stepMs;
  const from = Math.min(Math.max(0, shift), market.length);
  const end = Math.min(market.length, shift + close.length);
  for (let row = 0; row < from; row++) market[row]! += part;
  const traded = market.subarray(from, end);
  const prices = close.subarray(from - shift);
  for (let row = 0, { length } = traded; row < length; row++) traded[row]! += amount * prices[row]!;
  const last = amount * close.at(-1)!;
  for (let row = Math.max(end, from), { length } = market; row < length; row++) market[row]! += last;
}
