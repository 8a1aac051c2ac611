import { bestPrice, isTighter, LONG, stopAt } from '../rules/exit-prices.ts';
import { netValue, profitRatioOf } from '../rules/money.ts';
import type { Position } from '../state/position.ts';
import type { Run } from '../state/run.ts';
import { MINUTE_MS } from '../terms.ts';
import { distanceOf, ratioOf, reasonOf } from './answer-checks.ts';

/** undefined: not asked; null: asked, and the strategy has no wish. */
type Answer<T> = T | null | undefined;

/** What a strategy's per-candle callbacks said about a position in one candle. No callback is asked twice in a candle. */
export class Answers {
  #time = Number.NaN;
  stoploss: Answer<number> = undefined;
  roi: Answer<number> = undefined;
  exit: Answer<string> = undefined;

  /** Takes over the answers given in the candle of `time` (ms). */
  keep(time: number, stoploss: Answer<number>, roi: Answer<number>, exit: Answer<string>): void {
    this.#time = time;
    this.stoploss = stoploss;
    this.roi = roi;
    this.exit = exit;
  }

  /** The answers of the candle of `time`: none yet, if it is a new one. */
  in(time: number): this {
    if (this.#time !== time) this.keep(time, undefined, undefined, undefined);
    return this;
  }
}

/** The stop distance that the strategy wants at the candle's best price, null for none. */
export function askStoploss(run: Run, position: Position): number | null {
  const { bar, terms } = run;
  if (!terms.callbacks.customStoploss) return null;
  const answers = position.answers.in(bar.time);
  if (answers.stoploss === undefined) {
    const best = bestPrice(bar.high, bar.low, position.direction);
    const profit = position.profitRatioAt(best, terms.fee);
    const context = run.contextOf(position.market);
    const asked = terms.callbacks.customStoploss(context, position.view, best, profit);
    answers.stoploss = distanceOf(asked, 'customStoploss', context);
  }
  return answers.stoploss;
}

/** The profit ratio that the strategy requires in this candle, unless the table's is lower; null for what the table says. */
export function askRoi(run: Run, position: Position): number | null {
  const { bar, terms } = run;
  if (!terms.callbacks.customRoi) return null;
  const answers = position.answers.in(bar.time);
  if (answers.roi === undefined) {
    const minutes = Math.floor((bar.time - position.openedAt) / MINUTE_MS);
    const context = run.contextOf(position.market);
    answers.roi = ratioOf(terms.callbacks.customRoi(context, position.view, minutes), 'customRoi', context);
  }
  return answers.roi;
}

/** The reason for which the strategy closes the position at the open, null for none. */
export function askExit(run: Run, position: Position): string | null {
  const { bar, terms } = run;
  if (!terms.callbacks.customExit) return null;
  const answers = position.answers.in(bar.time);
  if (answers.exit === undefined) {
    const profit = position.profitRatioAt(bar.open, terms.fee);
    const context = run.contextOf(position.market);
    const asked = terms.callbacks.customExit(context, position.view, bar.open, profit);
    answers.exit = reasonOf(asked, 'customExit', context);
  }
  return answers.exit;
}

/**
 * Asks the callbacks through the quiet rows from `from` on: until one leaves the prices between `bottom` and `top`, has an
 * exit signal or is `end`, or until an answer makes something happen. Returns that row, for which answers are kept.
 * What a quiet candle cannot change is read once, before the rows: this loop is most of the time of such a strategy. The
 * profit is written out twice: measured, a closure that yields it makes the loop slower.
 */
export function askThrough(
  run: Run,
  position: Position,
  from: number,
  end: number,
  bottom: number,
  top: number,
): number {
  const { bar, terms } = run;
  const { callbacks } = terms;
  const { market, view, answers, direction, leverage, amount, openValue, funding, openedAt, stop, tick } =
    position;
  const { timestamp, open, high, low } = market.candles;
  const asksStoploss = Boolean(callbacks.customStoploss);
  const asksRoi = Boolean(callbacks.customRoi);
  const asksExit = terms.useExitSignal && Boolean(callbacks.customExit);
  const best = direction === LONG ? high : low;
  const exits = market.exitSignals(direction);
  const context = run.contextOf(market);
  const kept = 1 - direction * terms.fee;
  const received = direction * funding;
  bar.load(market.candles, from);
  let row = from;
  for (; row < end && low[row]! > bottom && high[row]! < top && exits[row - 1] !== 1; row++) {
    bar.moveTo(row);
    let stoploss: Answer<number>;
    let roi: Answer<number>;
    let exit: Answer<string>;
    let acts = false;
    if (asksStoploss) {
      const price = best[row]!;
      const value = netValue(amount, price, kept, received);
      const profit = profitRatioOf(openValue, value, leverage, direction);
      stoploss = distanceOf(
        callbacks.customStoploss!(context, view, price, profit),
        'customStoploss',
        context,
      );
      acts =
        stoploss !== null && isTighter(stopAt(price, stoploss, leverage, direction, tick), stop, direction);
    }
    if (!acts && asksRoi) {
      const minutes = Math.floor((timestamp[row]! - openedAt) / MINUTE_MS);
      roi = ratioOf(callbacks.customRoi!(context, view, minutes), 'customRoi', context);
      acts = roi !== null;
    }
    if (!acts && asksExit) {
      const price = open[row]!;
      const value = netValue(amount, price, kept, received);
      const profit = profitRatioOf(openValue, value, leverage, direction);
      exit = reasonOf(callbacks.customExit!(context, view, price, profit), 'customExit', context);
      acts = exit !== null;
    }
    if (!acts) continue;
    answers.keep(timestamp[row]!, stoploss, roi, exit);
    break;
  }
  return row;
}
