import { type Candles, indexAtOrAfter } from '../candles.ts';
import type { DailyEquity } from '../metrics/equity-curve.ts';
import { FillCosts } from '../simulator/state/fill-costs.ts';
import type { FundingEvents } from '../simulator/types.ts';
import type { DailyCosts } from '../slippage/daily-costs.ts';
import { DAY_MS } from '../timeframe.ts';

/** Prices and funding of a pair that is bought and held. */
export interface HeldPair {
  readonly candles: Candles;
  readonly funding?: FundingEvents;
  /** Spread and impact of its fills; without them the slippage is all. */
  readonly costs?: DailyCosts;
}

/** Costs of every fill, as ratios of its value. */
interface HoldingCosts {
  readonly fee: number;
  readonly slippage: number;
}

/**
 * Equity at the end of each day of buying every pair for an equal share of the wallet at the open of its first candle, and selling
 * it at the close of its last, with fees, slippage, spread, impact and funding. A limit of participation does not bind: the share is
 * one fill. A share is cash before and after. Leverage is 1.
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
  { candles, funding, costs }: HeldPair,
  share: number,
  day: Float64Array,
  { fee, slippage }: HoldingCosts,
): void {
  const { timestamp, open, close, volume } = candles;
  const rows = timestamp.length;
  const fills = new FillCosts(slippage, costs, Number.POSITIVE_INFINITY, volume);
  const amount = affordable(share, open[0]!, timestamp[0]!, fee, fills);
  const sold = (1 - fills.rate(timestamp[rows - 1]!, amount)) * (1 - fee);
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
    equity[i]! += amount * close[row - 1]! * (row === rows ? sold : 1) + received;
  }
}

/** Steps that leave an error of the last bits: each at least halves it, because impact grows with the root of the amount. */
const STEPS = 60;

/** Amount that a share of the wallet buys at `price`, base currency. */
function affordable(share: number, price: number, time: number, fee: number, fills: FillCosts): number {
  const bought = (rate: number) => share / (price * (1 + rate) * (1 + fee));
  let amount = bought(fills.rate(time, 0));
  for (let step = 0; step < STEPS; step++) {
    const next = bought(fills.rate(time, amount));
    if (next === amount) break;
    amount = next;
  }
  return amount;
}
