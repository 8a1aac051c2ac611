import { isTerminal, type StoredBacktestJob } from '#contract/backtests/backtest.ts';
import { CodedError } from '#contract/values/errors.ts';
import { getBacktest } from '../backtests/get-backtest.ts';
import type { Clock, JobStore } from '../ports.ts';
import { isoTime } from '../shared/iso-time.ts';
import type { RegistryStore } from '../transitions/registry-store.ts';
import { UNCOMMITTED_MS } from './retention.ts';

export interface DeleteBacktestDeps {
  readonly jobs: JobStore;
  readonly registry: Pick<RegistryStore, 'versions'>;
  readonly clock: Clock;
}

/** A write of the job may come between its read and its deletion. */
const ATTEMPTS = 5;

/**
 * Deletes a backtest that has ended: one transaction marks it, so that it is in no list and reads are 410, and repair removes its
 * data. Of a deletion and a registration at the same time one fails, see {@link expireJobs}.
 * Throws RES001, RES006 for a deleted job, RES005 for one that has not ended or that a version is registered from, DATA005.
 */
export async function deleteBacktest(deps: DeleteBacktestDeps, jobId: string): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const job = await getBacktest(deps, jobId);
    if (!isTerminal(job.status)) {
      throw conflict(`The backtest is ${job.status}: cancel it first`, { job_id: jobId, status: job.status });
    }
    await checkUnregistered(deps, job);
    if (await deps.jobs.markDeleted(job, isoTime(deps.clock.now()))) return;
  }
  throw new CodedError('DATA005', {
    message: `Write conflict: the backtest changed during ${ATTEMPTS} attempts. Retry the request.`,
  });
}

/** The registry decides, as for expiry: a mark may be of a registration that did not commit, and early versions have none. */
async function checkUnregistered(
  { registry, clock }: DeleteBacktestDeps,
  job: StoredBacktestJob,
): Promise<void> {
  const { job_id, evidence_of: mark } = job;
  for (const model of new Set([job.config.strategy, ...(mark ? [mark.model] : [])])) {
    const versions = await registry.versions(model);
    const version = versions.find(({ backtest_run_id }) => backtest_run_id === job_id)?.version;
    if (version === undefined) continue;
    throw conflict(`Version ${version} of ${model} is registered from this backtest, which is its evidence`, {
      job_id,
      model_name: model,
      version,
    });
  }
  if (mark && clock.now() - Date.parse(mark.at) <= UNCOMMITTED_MS) {
    throw conflict(`A version of ${mark.model} is being registered from this backtest. Retry in an hour.`, {
      job_id,
      model_name: mark.model,
    });
  }
}

function conflict(message: string, context: Readonly<Record<string, unknown>>): CodedError {
  return new CodedError('RES005', { message, field: 'job_id', context });
}
