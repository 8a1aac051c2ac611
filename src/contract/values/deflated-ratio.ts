import { formatCount } from './format-count.ts';
import type { TrialScope } from './trial-scopes.ts';

/** A deflated Sharpe ratio with its scope. */
export interface DeflatedRatio {
  readonly scope: TrialScope;
  /** Trials of the scope. */
  readonly trials: number;
  readonly deflated_sharpe_ratio: number | null;
  /** Why the ratio is null; null otherwise. */
  readonly reason: string | null;
}

/** The ratios of a backtest when it completed. */
interface DeflatedRecord {
  readonly owner: number;
  readonly strategy: number;
  readonly session: number | null;
  readonly deflated_sharpe_ratio: number | null;
  readonly strategy_deflated_sharpe_ratio: number | null;
  readonly session_deflated_sharpe_ratio: number | null;
  /** Absent where an earlier release completed it. */
  readonly lowest?: DeflatedRatio | undefined;
}

/**
 * The lowest ratio, that of the owner among equal ones. Where that of the owner is undefined no other replaces it: the owner's trials
 * include all others.
 */
export function lowestOf<Ratio extends DeflatedRatio>(owner: Ratio, others: readonly Ratio[]): Ratio {
  if (owner.deflated_sharpe_ratio === null) return owner;
  return others.reduce((lowest, each) => {
    const { deflated_sharpe_ratio: ratio } = each;
    return ratio !== null && ratio < lowest.deflated_sharpe_ratio! ? each : lowest;
  }, owner);
}

/** The lowest ratio of a backtest when it completed. */
export function lowestDeflation(record: DeflatedRecord): DeflatedRatio {
  const { lowest, owner, strategy, session } = record;
  if (lowest) return lowest;
  const ratio = (scope: TrialScope, trials: number, deflated_sharpe_ratio: number | null) => ({
    scope,
    trials,
    deflated_sharpe_ratio,
    reason: deflated_sharpe_ratio === null ? 'an earlier release did not record why' : null,
  });
  return lowestOf(ratio('owner', owner, record.deflated_sharpe_ratio), [
    ratio('strategy', strategy, record.strategy_deflated_sharpe_ratio),
    ratio('session', session ?? 0, record.session_deflated_sharpe_ratio),
  ]);
}

/** What deflated the ratio of a version: trials of a scope, a hyperopt job, or trials that an earlier release counted. */
export function deflatedBy({
  trials,
  evidence,
}: {
  readonly trials: number;
  readonly evidence?: {
    readonly hyperopt_job_id: string | null;
    readonly deflated_sharpe_ratio: number | null;
    readonly trial_record?: DeflatedRecord | undefined;
  } | null;
}): string {
  const { hyperopt_job_id: job = null, deflated_sharpe_ratio: ratio, trial_record: record } = evidence ?? {};
  if (record?.lowest && record.lowest.deflated_sharpe_ratio === ratio)
    return `the ${trialsOfScope(record.lowest)}`;
  return job === null ? formatCount(trials, 'trial') : `hyperopt job ${job}`;
}

/** `4 trials of the owner`. */
export function trialsOfScope({ scope, trials }: Pick<DeflatedRatio, 'scope' | 'trials'>): string {
  return `${formatCount(trials, 'trial')} of the ${scope}`;
}
