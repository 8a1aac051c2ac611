import type { CallbackContext, StrategyCallbacks } from '../strategy.ts';

export type CallbackName = keyof StrategyCallbacks;
/** An argument or return value that can be compared. */
export type Comparable = number | string | boolean | null | undefined;

/** One call of a callback: what it was asked and what it returned. */
export interface Call {
  readonly callback: CallbackName;
  readonly pair: string;
  /** Row of the candle that was forming, in the rows that the callback sees, and its open time, ms. */
  readonly row: number;
  readonly opened: number;
  /** Arguments after the context, without the trade. */
  readonly asked: readonly Comparable[];
  readonly answer: Comparable;
}

type Callback = (context: CallbackContext, ...asked: unknown[]) => Comparable;

/**
 * The same callbacks with every call recorded.
 *
 * @param seen context that the strategy is given in place of the simulator's
 */
export function recordingCallbacks(
  callbacks: StrategyCallbacks,
  calls: Call[],
  seen: (context: CallbackContext, callback: CallbackName) => CallbackContext,
): StrategyCallbacks {
  const recording: Record<string, Callback> = {};
  for (const [name, callback] of Object.entries(callbacks) as [CallbackName, Callback | undefined][]) {
    if (!callback) continue;
    recording[name] = (context, ...asked) => {
      const answer = callback.call(callbacks, seen(context, name), ...asked);
      const { pair, index: row, candles } = context;
      calls.push({
        callback: name,
        pair,
        row,
        opened: candles.timestamp[row]!,
        asked: asked.filter((each) => typeof each !== 'object') as Comparable[],
        answer,
      });
      return answer;
    };
  }
  return recording as StrategyCallbacks;
}

/** Position of the value that a callback may leave as it is, among the arguments that are compared. */
const PROPOSED: Partial<Record<CallbackName, number>> = {
  leverage: 1,
  customStake: 1,
  customEntryPrice: 1,
  customExitPrice: 0,
  adjustEntryPrice: 0,
};

/** Whether a return value changed anything: another value than the proposed one, a refusal, a stop, a ratio, an exit. */
export function hasActed({ callback, asked, answer }: Call): boolean {
  if (callback === 'confirmEntry' || callback === 'confirmExit') return answer === false;
  if (callback === 'adjustEntryPrice' && answer === null) return true;
  if (answer === null || answer === undefined) return false;
  const proposed = PROPOSED[callback];
  if (proposed !== undefined) return answer !== asked[proposed];
  return answer !== 0 && answer !== '';
}
