import { type Candles, indexAtOrAfter } from '../candles.ts';
import type { DailyEquity } from '../metrics/equity-curve.ts';
import type { FundingEvents } from '../simulator/types.ts';
import { DAY_MS } from '../timeframe.ts';

/** Prices and funding of a pair that is bought and held. */
export interface HeldPair {
  readonly candles: Candles;
  readonly funding?: FundingEvents;
}

/** Costs of one fill, as ratios of its value. */
interface HoldingCosts {
  readonly fee: number;
  readonly slippage: number;
}

/**
 * Equity at the end of each day of buying every pair for an equal share of the wallet at the open of its first candle, and selling
 * it at the close of its last, with fees, slippage and funding. A share is cash before and after. Leverage is 1.
 *
 * @param wallet starting balance, quote currency
 */
export function holdEquity(
  pairs: readonly HeldPair[],
  wallet: number,
  { day }: DailyEquity,
  costs: HoldingCosts,
): Float64Array {
  const equity = new Float64Array(day.length);
  for (const pair of pairs) addPair(equity, pair, wallet / pairs.length, day, costs);
  return equity;
}

function addPair(
  equity: Float64Array,
  { candles, funding }: HeldPair,
  share: number,
  day: Float64Array,
  { fee, slippage }: HoldingCosts,
): void {
  const { timestamp, open, close } = candles;
  const rows = timestamp.length;
  const amount = share / (open[0]! * (1 + slippage) * (1 + fee));
  let received = 0;
  // The position is opened at the open of the first candle: funding at that time is of positions held before.
  let event = funding ? indexAtOrAfter(funding.timestamp, timestamp[0]! + 1) : 0;
  for (let i = 0; i < day.length; i++) {
    const row = indexAtOrAfter(timestamp, day[i]! + DAY_MS);
    if (row === 0) {
      equity[i]! += share;
      continue;
    }
    const until = timestamp[row - 1]!;
    for (; funding && event < funding.timestamp.length && funding.timestamp[event]! <= until; event++)
      received -= amount * funding.rate[event]! * funding.markPrice[event]!;
    const sold = row === rows ? (1 - slippage) * (1 - fee) : 1;
    equity[i]! += amount * close[row - 1]! * sold + received;
  }
}
