import type { ColumnsOf } from '#contract/backtests/backtest-columns.ts';
import { CodedError } from '#contract/values/errors.ts';

type Source = Pick<ColumnsOf, 'engine_version'> & { readonly strategy_digest: string | null };

/** RES005 when a backtest ran with another source or engine than the present one; a reason from other code would be false. */
export function sourceChanged(before: Source, now: Source): CodedError | undefined {
  const [what, old, present] =
    before.engine_version !== now.engine_version
      ? ['engine', before.engine_version, now.engine_version]
      : ['source of the strategy', before.strategy_digest, now.strategy_digest];
  if (old === present) return undefined;
  const short = (digest: string | null) => digest?.slice(0, 12) ?? 'none';
  return new CodedError('RES005', {
    message: `The ${what} changed since the backtest (${short(old)} then, ${short(present)} now). Restore it, or run the backtest again: touchstone rerun`,
    field: 'job_id',
    context: {
      reason: 'source_changed',
      strategy_digest: before.strategy_digest,
      present_strategy_digest: now.strategy_digest,
      engine_version: before.engine_version,
      present_engine_version: now.engine_version,
    },
  });
}
