import { CodedError } from '#contract/errors.ts';
import type { StoredHyperoptJob } from '#contract/hyperopt.ts';
import { idSuffix } from '../id-suffix.ts';
import { isoTime } from '../validate.ts';
import { getHyperopt } from './get-hyperopt.ts';
import { noneOf, type StartHyperoptDeps, type StartHyperoptInput, storeAndStart } from './start-hyperopt.ts';

export type ResumeHyperoptInput = Omit<StartHyperoptInput, 'body'> & { readonly jobId: string };
export type ResumeHyperoptDeps = Pick<
  StartHyperoptDeps,
  'hyperoptJobs' | 'hyperoptExecutions' | 'ids' | 'digest' | 'clock' | 'log'
>;

/**
 * Goes on with a cancelled or failed hyperopt job as a new one of the caller: what has ended never changes. Its workers take over
 * what ended in the old one. Throws OPT001, RES005 (completed, or not ended), VAL005 (Idempotency-Key).
 */
export async function resumeHyperopt(
  deps: ResumeHyperoptDeps,
  { jobId, owner, idempotencyKey, correlationId }: ResumeHyperoptInput,
): Promise<StoredHyperoptJob> {
  const old = await getHyperopt(deps, jobId);
  if (old.status !== 'failed' && old.status !== 'cancelled') {
    throw new CodedError('RES005', {
      message:
        old.status === 'completed'
          ? 'The hyperopt job is completed: there is nothing left to run'
          : `The hyperopt job is ${old.status}: it goes on by itself`,
      field: 'job_id',
      context: { job_id: jobId, status: old.status },
    });
  }
  const { schema_version, kind, experiment_name, config, base, warnings, execution_input } = old;
  const { strategy_digest, instruments } = old;
  const newId = `ho-${idSuffix(deps, owner, idempotencyKey)}`;
  const now = isoTime(deps.clock.now());
  return storeAndStart(deps, {
    ...{ schema_version, kind, experiment_name, config, base, warnings },
    ...(strategy_digest !== undefined && { strategy_digest }),
    ...(instruments && { instruments }),
    status: 'pending',
    job_id: newId,
    owner,
    revision: 1,
    created_at: now,
    updated_at: now,
    execution_input: { ...execution_input, job_id: newId, correlation_id: correlationId },
    runs: 1,
    request_digest: deps.digest(JSON.stringify(['resume', jobId])),
    resumed_from: jobId,
    collection: null,
    trials: noneOf(config.n_trials),
    tasks: {},
  });
}
