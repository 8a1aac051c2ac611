import type { EquityData } from '#contract/backtests/backtest-api.ts';
import type {
  HyperoptJobIn,
  StoredHyperoptJob,
  StoredTrial,
  TrialState,
} from '#contract/hyperopt/hyperopt.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { CodedError } from '#contract/values/errors.ts';
import { buildEquityData } from '#engine/report/result.ts';
import type { JobPage } from '../jobs/job-list-ports.ts';
import { type JobListInput, listJobs } from '../jobs/list-jobs.ts';
import type { Page } from '../ports.ts';
import { expired, unknownHyperopt } from '../shared/unknown-resources.ts';
import type { HyperoptRow, HyperoptStore, TrialLedger, TrialReturns } from './hyperopt-ports.ts';

interface Deps {
  readonly hyperoptJobs: Pick<HyperoptStore, 'get'>;
}

/** The hyperopt job; throws OPT001 for an unknown id, RES006 for an expired job. */
export async function getHyperopt({ hyperoptJobs }: Deps, jobId: string): Promise<StoredHyperoptJob> {
  const job = await hyperoptJobs.get(jobId);
  if (!job) throw unknownHyperopt(jobId);
  if (job.expired_at) throw expired('The hyperopt job', jobId);
  return job;
}

export interface HyperoptResultData {
  readonly job: HyperoptJobIn<'completed'>;
  /** Equity of the best trial, out of sample. */
  readonly equity: EquityData;
}

/** The result of a job that is completed; throws OPT001, or RES005 with the status. */
export async function getHyperoptResult(
  deps: Deps & { readonly ledger: Pick<TrialLedger, 'returnsOf'> },
  jobId: string,
): Promise<HyperoptResultData> {
  const job = await getCompletedHyperopt(deps, jobId);
  if (job.results_expired) throw expired('The trials of the hyperopt job', jobId);
  const returns = await deps.ledger.returnsOf(jobId, job.outcome.best_trial);
  if (!returns) throw new CodedError('DATA005', { message: 'The stored daily returns are missing' });
  return { job, equity: equityOf(job.base.dry_run_wallet, returns) };
}

/** Equity of a wallet computed from daily returns. */
function equityOf(wallet: number, { firstDay, returns }: TrialReturns): EquityData {
  const first = Date.parse(firstDay);
  let balance = wallet;
  return buildEquityData(wallet, {
    day: Float64Array.from(returns, (_, i) => first + i * DAY_MS),
    equity: returns.map((value) => {
      balance *= 1 + value;
      return balance;
    }),
  });
}

/**
 * The job if it is completed; throws OPT001, or RES005 with the status.
 *
 * @param field where the request has the id
 * @param check additional check; throws on failure
 */
export async function getCompletedHyperopt(
  { hyperoptJobs }: Deps,
  jobId: string,
  field = 'job_id',
  check: (job: StoredHyperoptJob) => void = () => undefined,
): Promise<HyperoptJobIn<'completed'>> {
  const job = await hyperoptJobs.get(jobId);
  if (!job) throw unknownHyperopt(jobId, field);
  check(job);
  if (job.expired_at) throw expired('The hyperopt job', jobId, field);
  if (job.status === 'completed') return job;
  throw new CodedError('RES005', {
    message:
      job.status === 'failed'
        ? `The hyperopt job failed: ${job.error}`
        : `The hyperopt job is ${job.status}, not completed`,
    field,
    context: { [field]: jobId, status: job.status },
  });
}

/** Hyperopt jobs that the caller sees. Throws VAL006 for a broken or foreign cursor. */
export async function listHyperopts(
  deps: { readonly hyperoptJobs: HyperoptStore },
  input: JobListInput,
): Promise<JobPage<HyperoptRow>> {
  return listJobs(deps.hyperoptJobs, input);
}

/** A hyperopt job and a page of its trials, by number. Throws OPT001, and VAL006 for a broken or foreign cursor. */
export async function listHyperoptTrials(
  deps: { readonly hyperoptJobs: Pick<HyperoptStore, 'get'>; readonly ledger: TrialLedger },
  input: {
    readonly job_id: string;
    readonly limit: number;
    readonly cursor?: string | undefined;
    readonly state?: TrialState | undefined;
    readonly number?: number | undefined;
  },
): Promise<Page<StoredTrial> & { readonly job: StoredHyperoptJob }> {
  const job = await getHyperopt(deps, input.job_id);
  if (job.results_expired) throw expired('The trials of the hyperopt job', input.job_id);
  if (input.number !== undefined) {
    const found = await deps.ledger.read(input.job_id, input.number, 1);
    const isWanted = ({ number, state }: StoredTrial) =>
      number === input.number && (input.state ?? state) === state;
    return { job, items: found.filter(isWanted), next: null };
  }
  const { job_id, state = null, limit, cursor = null } = input;
  return { job, ...(await deps.ledger.list(job_id, state, limit, cursor)) };
}
