/** The limit order of a position, reused for all of its orders: a new one cancels the one that waits. */
export class Order {
  /** `entry` is the first one, `addition` a later one; an exit of less than the position's amount is a partial one. */
  kind: 'none' | 'entry' | 'addition' | 'exit' = 'none';
  price = Number.NaN;
  /** Base currency. */
  amount = Number.NaN;
  /** Open time of the candle in which it was placed, ms. */
  time = Number.NaN;
  /** Exit reason of the trade: that of the last attempt, also if an equal order waited already. */
  reason = '';
  /** Tag of an addition, or the reason for which an exit was placed. */
  tag: string | null = null;
  /** True when slippage worsens the fill of an exit. */
  slips = false;
  /** True for an exit whose price was reached when its candle opened: what it frees is free at once. */
  atOpen = false;
  /** True for an exit that is certain when its candle opens, at a price that is known then. */
  isKnownAtOpen = false;
  /** Open time of the candle that opened beyond the stop or liquidation of this exit, ms; NaN without one (freqtrade model). */
  gapTime = Number.NaN;
  /** True for the rest of an exit at the market that the volume of a candle did not fill: it takes the next open. */
  isRest = false;
}
