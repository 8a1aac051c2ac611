/**
 * The trailing stop (docs/simulation.md#trailing-stops): from which price on it trails, at which distance, and the price of
 * one that is hit in the candle of the entry.
 */
import { type ProfitInputs, priceExceeding, priceReaching } from './money.ts';
import { type Direction, isAtOrBeyond, isTighter, LONG, nearer } from './prices.ts';
import { stopAt } from './stops.ts';

/** What the rule reads of the settings of a run. */
interface TrailingSettings {
  readonly stoploss: number;
  readonly trailing: boolean;
  /** 0 when not set. */
  readonly trailingPositive: number;
  readonly trailingOffset: number;
  readonly trailingOnlyOffset: boolean;
  readonly fee: number;
}

/** What it reads of a trade. */
interface TrailingTrade {
  readonly direction: Direction;
  readonly leverage: number;
  readonly stop: number;
  readonly offset: TrailingOffset;
}

/** Best prices at which the profit of a trade reaches and exceeds the offset. */
export class TrailingOffset {
  reached = Number.NaN;
  exceeded = Number.NaN;

  /** Must follow each change of what the trade's profit depends on. */
  find(trade: ProfitInputs, { trailing, trailingOffset, fee }: TrailingSettings): void {
    if (!trailing) return;
    this.reached = priceReaching(trailingOffset, trade, fee);
    this.exceeded = priceExceeding(trailingOffset, trade, fee);
  }
}

/**
 * Distance at which the stop trails a candle whose best price is `best`, as a ratio of the stake; 0 when it does not trail.
 * `custom` is the distance that the strategy has set now, null for none.
 */
export function trailingDistance(
  { offset, direction }: Pick<TrailingTrade, 'offset' | 'direction'>,
  best: number,
  custom: number | null,
  { trailing, stoploss, trailingPositive, trailingOnlyOffset }: TrailingSettings,
): number {
  if (!trailing || (trailingOnlyOffset && !isAtOrBeyond(best, offset.reached, direction))) return 0;
  if (trailingPositive > 0 && isAtOrBeyond(best, offset.exceeded, direction)) return trailingPositive;
  return Math.abs(custom ?? stoploss);
}

/**
 * Price of the offset if it lies between two prices and the distance is smaller on its unfavorable side: the stop there may be tighter
 * than at either of them (conservative model). NaN without such a price.
 *
 * @param distance on the unfavorable side, of any sign
 */
export function wideningPrice(
  { offset: { reached, exceeded } }: Pick<TrailingTrade, 'offset'>,
  from: number,
  to: number,
  distance: number,
  { trailing, trailingPositive, trailingOnlyOffset }: TrailingSettings,
): number {
  if (!trailing || trailingOnlyOffset || trailingPositive <= Math.abs(distance)) return Number.NaN;
  const isBetween =
    Math.min(from, to) < Math.min(reached, exceeded) && Math.max(from, to) > Math.max(reached, exceeded);
  return isBetween ? (reached + exceeded) / 2 : Number.NaN;
}

/** The least favorable best price at which the trailing stop moves. */
export function trailingTrigger(trade: TrailingTrade, settings: TrailingSettings): number {
  const { offset, direction } = trade;
  const plain = liftingPrice(trade, settings.stoploss);
  const trigger = settings.trailingOnlyOffset ? further(plain, offset.reached, direction) : plain;
  if (settings.trailingPositive <= 0) return trigger;
  const lifting = liftingPrice(trade, settings.trailingPositive);
  return nearer(trigger, further(lifting, offset.exceeded, direction), direction);
}

/** Best price from which a stop that trails at `distance` is tighter than the present one. */
function liftingPrice({ stop, leverage, direction }: TrailingTrade, distance: number): number {
  return stop / (1 - direction * Math.abs(distance / leverage));
}

function further(a: number, b: number, direction: Direction): number {
  return isTighter(a, b, direction) ? a : b;
}

/**
 * Order price, before rounding and slippage, of a trailing stop that is hit in the candle of the entry (freqtrade model). It
 * follows from the offset, or from the present distance to the open. It is limited only on the unfavorable side: with leverage
 * it may be beyond the candle's best price, and the order then waits.
 *
 * `byOffset`: the settings trail only from an offset, with a positive distance and without a custom stop. `offset` and
 * `positive` then apply; otherwise `distance`, that of the present stop, does.
 */
export function entryCandleTrailingPrice(
  open: number,
  high: number,
  low: number,
  byOffset: boolean,
  offset: number,
  positive: number,
  distance: number,
  leverage: number,
  direction: Direction,
): number {
  const price = byOffset
    ? open * (1 + direction * Math.abs(offset) - direction * Math.abs(positive / leverage))
    : stopAt(open, distance, leverage, direction, null);
  return direction === LONG ? Math.max(price, low) : Math.min(price, high);
}
