import { DAY_MS } from '#contract/values/durations.ts';
import { type Candles, indexAtOrAfter } from '../candles.ts';
import type { DailyEquity } from '../metrics/equity-curve.ts';
import { FillCosts } from '../simulator/state/fill-costs.ts';
import type { FundingEvents } from '../simulator/types.ts';
import type { DailyCosts } from '../slippage/daily-costs.ts';
import type { PairMembership } from '../universe/membership.ts';

/** Prices and funding of a pair that is bought and held. */
export interface HeldPair {
  readonly candles: Candles;
  readonly funding?: FundingEvents;
  /** Spread and impact of its fills; without them the slippage is all. */
  readonly costs?: DailyCosts;
  /** Of a pair of a universe. */
  readonly universe?: Pick<PairMembership, 'delisting'>;
}

/** Costs of every fill, as ratios of its value. */
interface HoldingCosts {
  readonly fee: number;
  readonly slippage: number;
}

/**
 * Equity at the end of each day of buying every pair for an equal share of the wallet at the open of its first candle, and selling
 * it where a run closes what is left open: at the open of its last candle, which is traded and not valued; a delisted pair at its
 * close. With fees, slippage, spread, impact and funding. A limit of participation does not bind: the share is one fill. A share is
 * cash before and after. Leverage is 1.
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
  { candles, funding, costs, universe }: HeldPair,
  share: number,
  day: Float64Array,
  { fee, slippage }: HoldingCosts,
): void {
  const { timestamp, open, close, volume } = candles;
  const rows = timestamp.length;
  const fills = new FillCosts(slippage, costs, Number.POSITIVE_INFINITY, volume);
  const amount = affordable(share, open[0]!, timestamp[0]!, fee, fills);
  const last = universe?.delisting ? close[rows - 1]! : open[rows - 1]!;
  const sold = last * (1 - fills.rate(timestamp[rows - 1]!, amount)) * (1 - fee);
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
    equity[i]! += amount * (row === rows ? sold : close[row - 1]!) + received;
  }
}

/** 1 for each day on which a pair has candles: one that was traded, or whose price moved. A gap is filled with flat ones. */
export function daysWithCandles(pairs: readonly HeldPair[], day: Float64Array): Uint8Array {
  const found = new Uint8Array(day.length);
  for (const { candles } of pairs) {
    const { timestamp, high, low, volume } = candles;
    for (let row = 0, { length } = timestamp; row < length; row++) {
      const at = Math.floor((timestamp[row]! - day[0]!) / DAY_MS);
      if (volume[row]! > 0 || high[row]! > low[row]!) found[at] = 1;
    }
  }
  return found;
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
