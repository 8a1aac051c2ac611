/** Fill price of the ROI table (freqtrade 2026.9, reference section 1.9). */
import { type Direction, isTighter } from './prices.ts';

/**
 * Price at which the profit ratio, after both fees, the funding so far and times leverage, is exactly `roi`. `openValue` is the
 * entry's after its fee, `amount` in base currency, `funding` what the trade received so far.
 */
export function roiTarget(
  roi: number,
  openValue: number,
  amount: number,
  fee: number,
  funding: number,
  leverage: number,
  direction: Direction,
): number {
  const received = direction * funding;
  const perPrice = amount * (1 - direction * fee);
  return ((1 + (direction * roi) / leverage) * openValue - received) / perPrice;
}

/**
 * Fill price of a triggered ROI exit (1.9), inside the candle; NaN when the entry candle rules it out.
 * `target` is {@link roiTarget} of the applying step, `key` that step's minutes, `minutes` the full minutes since the entry's order.
 */
export function roiFill(
  roi: number,
  target: number,
  key: number,
  minutes: number,
  timeframeMinutes: number,
  entryPrice: number,
  open: number,
  high: number,
  low: number,
  close: number,
  direction: Direction,
): number {
  const onGrid = key % timeframeMinutes === 0;
  if (roi === -1 && onGrid) return open;
  if (minutes > 0 && minutes === key && onGrid && isTighter(open, target, direction)) return open;
  // A limit entry below the open of a candle that closed red: a target above the close would need the price to recover first.
  const boughtTheDip =
    isTighter(open, close, direction) &&
    isTighter(open, entryPrice, direction) &&
    isTighter(target, close, direction);
  if (minutes === 0 && boughtTheDip) return Number.NaN;
  return Math.min(Math.max(target, low), high);
}
