import type { TaggedStake } from '../../strategy.ts';

/** undefined: not called in this candle; null: called, without a value. */
export type CallbackResult<T> = T | null | undefined;

/** Return values of the per-candle callbacks for a position in one candle: each is called at most once per candle. */
export class CallbackResults {
  /** Open time of that candle, ms. */
  #time = Number.NaN;
  /** With its tag; 0 for no adjustment. */
  adjustment: CallbackResult<number | TaggedStake> = undefined;
  stoploss: CallbackResult<number> = undefined;
  roi: CallbackResult<number> = undefined;
  exit: CallbackResult<string> = undefined;

  /** Keeps the return values of the candle of `time`, ms. */
  keep(
    time: number,
    adjustment: CallbackResult<number | TaggedStake>,
    stoploss: CallbackResult<number>,
    roi: CallbackResult<number>,
    exit: CallbackResult<string>,
  ): void {
    this.#time = time;
    this.adjustment = adjustment;
    this.stoploss = stoploss;
    this.roi = roi;
    this.exit = exit;
  }

  /** Begins another trade, maybe in the same candle. */
  forget(): void {
    this.#time = Number.NaN;
  }

  /** The results in the candle of `time`: all undefined in a new one. */
  in(time: number): this {
    if (this.#time !== time) this.keep(time, undefined, undefined, undefined, undefined);
    return this;
  }
}
