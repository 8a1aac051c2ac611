import type { StoredHyperoptJob, StoredTrial } from '#contract/hyperopt/hyperopt.ts';
import { canonicalJson } from '#engine/digest.ts';
import { type CountTrialsDeps, countStudy, trialRunOf } from '../trials/count-trials.ts';
import type { TrialLedger, TrialReturns } from './hyperopt-ports.ts';

export interface CountHyperoptDeps extends CountTrialsDeps {
  readonly ledger: Pick<TrialLedger, 'read' | 'returns'>;
}

/**
 * Counts all trials of a hyperopt job that is about to be completed. Repeats count once, and so do trials that a job took over from
 * another of the same owner and session. Throws DATA005.
 */
export async function countCompleted(
  deps: CountTrialsDeps,
  job: StoredHyperoptJob,
  trials: readonly StoredTrial[],
  returns: ReadonlyMap<number, TrialReturns>,
): Promise<void> {
  const { owner, session = null, base, code_digest, data_digest, job_id } = job;
  const inputs = [code_digest ?? job_id, data_digest ?? null, base];
  // A complete trial without daily returns reuses those of an equal one.
  const unknown = trials
    .filter(({ state }) => state === 'pruned' || state === 'failed')
    .map(({ params }) => deps.digest(canonicalJson([...inputs, params])));
  const known = Array.from(returns.values(), (each) => each.returns);
  await countStudy(deps, { owner, session, base, unknown }, known);
  await endRunning(deps, job);
}

/** Ends the count of a job as one that runs. Throws DATA005. */
export async function endRunning(
  { ownerTrials }: Pick<CountTrialsDeps, 'ownerTrials'>,
  { owner, session, base, job_id }: StoredHyperoptJob,
): Promise<void> {
  await ownerTrials.endRunning(owner, trialRunOf(base, session ?? null), job_id);
}

/**
 * Counts the trials of a cancelled or failed hyperopt job that ended before it: their results can be read, so the best of them can be
 * selected. A job without a complete trial has none. Throws DATA005.
 */
export async function countEnded(deps: CountHyperoptDeps, job: StoredHyperoptJob): Promise<void> {
  const trials = await deps.ledger.read(job.job_id, 0);
  if (!trials.some(({ state }) => state === 'complete')) return endRunning(deps, job);
  await countCompleted(deps, job, trials, await deps.ledger.returns(job.job_id));
}
