import type { BacktestExecutionInput, ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import { jobListOf } from '#contract/values/tables.ts';
import { type CollectionPlan, informativeInput } from '../data/plan-reads.ts';
import { isoTime } from '../shared/iso-time.ts';

/**
 * Input of the state machine for a job: the candles that the configuration reads, and the job's own fields.
 *
 * @param own `reads`: candles that must be stored
 */
export function executionInputOf(
  config: ResolvedBacktestConfig,
  own: Pick<
    BacktestExecutionInput,
    'job_id' | 'kind' | 'image' | 'correlation_id' | 'on_demand' | 'collect'
  > & { readonly reads: CollectionPlan },
): BacktestExecutionInput {
  const { reads, ...fields } = own;
  return {
    ...fields,
    ...informativeInput(reads),
    start: isoTime(reads.start),
    list: jobListOf(own.kind, own.job_id),
    exchange: config.exchange,
    ...(config.trading_mode && { trading_mode: config.trading_mode }),
    symbols: config.pairs,
    // The detail timeframe may be the one of which the run's candles are computed.
    timeframe: [...new Set([reads.timeframe, config.timeframe_detail])]
      .filter((each) => each !== null)
      .join(','),
    end: config.date_range.end,
  };
}
