import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import { CodedError } from '#contract/values/errors.ts';
import type { DefinitionData } from '#engine/definitions/validate-definition.ts';
import { divides, TIMEFRAME_MS, TIMEFRAMES, type Timeframe } from '#engine/timeframe.ts';
import { checkTimeframe } from '../shared/validate.ts';

/** Timeframes that a run of a strategy may have: those of every strategy, and those that it declares. */
export function allowedTimeframes({
  timeframe,
  timeframes = [],
}: Pick<DefinitionData, 'timeframe' | 'timeframes'>): Timeframe[] {
  return [...new Set([...TIMEFRAMES, timeframe, ...timeframes])];
}

/**
 * Throws VAL003 for a timeframe that neither every strategy nor this one has, VAL005 for one that is longer than a timeframe
 * that the strategy reads in addition or does not divide it.
 */
export function checkRunTimeframe(text: string, strategy: DefinitionData): Timeframe {
  const timeframe = checkTimeframe(text, 'config.timeframe', allowedTimeframes(strategy));
  const { informativeTimeframes = [], informative = [] } = strategy;
  const others = [...informativeTimeframes, ...informative.map((each) => each.timeframe)];
  const max = others.find((each) => TIMEFRAME_MS[each] < TIMEFRAME_MS[timeframe]);
  if (max) {
    throw invalid('timeframe', `must be ${max} or shorter: ${strategy.name} reads ${max} candles`, {
      value: timeframe,
      max,
    });
  }
  const uneven = others.find((each) => !divides(timeframe, each));
  if (!uneven) return timeframe;
  throw invalid('timeframe', `must divide ${uneven}: ${strategy.name} reads ${uneven} candles`, {
    value: timeframe,
    reads: uneven,
  });
}

/** Throws VAL003, VAL005 for a detail timeframe that is not shorter than the run's or does not divide it. */
export function checkDetail(
  detail: string | null,
  timeframe: Timeframe,
): ResolvedBacktestConfig['timeframe_detail'] {
  if (detail === null) return null;
  const finer = checkTimeframe(detail, 'config.timeframe_detail');
  if (TIMEFRAME_MS[finer] < TIMEFRAME_MS[timeframe] && divides(finer, timeframe)) return finer;
  const problem = divides(timeframe, finer) ? 'be shorter than' : 'divide';
  throw invalid('timeframe_detail', `must ${problem} config.timeframe`, { value: detail, timeframe });
}

function invalid(name: string, problem: string, context: Readonly<Record<string, unknown>>): CodedError {
  const field = `config.${name}`;
  return new CodedError('VAL005', { message: `${field} ${problem}`, field, context });
}
