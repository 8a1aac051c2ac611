import type { ResolvedBacktestConfig } from '#contract/backtest.ts';
import type { WindowFit } from '#engine/walk-forward/fit-window.ts';
import { trainingRows } from './history.ts';
import type { PairHistory } from './pair-history.ts';

/** What came of a window: the model need not be there any more. */
export type FittedWindow = Omit<WindowFit, 'model'>;

/** Why a pair cannot be traded with the ML engine: no window of it has a model. Undefined when one has. */
export function whyNothingLearned(
  { data, read, startup, start, stepMs }: PairHistory,
  { timeframe, ml_engine }: ResolvedBacktestConfig,
  fits: readonly FittedWindow[],
): string | undefined {
  if (fits.some(({ skipped }) => skipped === null)) return undefined;
  const training = trainingRows(timeframe, ml_engine);
  const needed = new Date(start - (startup + training) * stepMs).toISOString();
  const first = new Date(read.timestamp[0]!).toISOString();
  return (
    `${data.pair} has no window that a model can be trained for (${fits[0]!.skipped}): before the first prediction the ` +
    `ML engine needs ${training} ${timeframe} candles to learn from (train_period_days ${ml_engine?.train_period_days}) ` +
    `and ${startup} startup candles, so candles from ${needed} on are needed; the stored ones begin at ${first}.`
  );
}

/** What a reader must know of the windows of a pair that have no model. */
export function modelWarnings(pair: string, fits: readonly FittedWindow[]): string[] {
  const without = fits.filter(({ skipped, from, to }) => skipped !== null && to > from);
  const [first] = without;
  if (!first) return [];
  const at = new Date(first.window.from).toISOString();
  return [
    `${without.length} of ${fits.length} windows of ${pair} have no model, so that nothing is predicted in them; that of ${at}: ${first.skipped}.`,
  ];
}
