import type { EquityData } from '#contract/backtest-api.ts';
import { CodedError } from '#contract/errors.ts';
import type { HyperoptJobIn, StoredHyperoptJob } from '#contract/hyperopt.ts';
import { buildEquityData } from '#engine/report/result.ts';
import { DAY_MS } from '#engine/timeframe.ts';
import type { HyperoptStore, TrialLedger, TrialReturns } from './hyperopt-ports.ts';

interface Deps {
  readonly hyperoptJobs: Pick<HyperoptStore, 'get'>;
}

/** The hyperopt job; throws OPT001 when there is none of that id. */
export async function getHyperopt({ hyperoptJobs }: Deps, jobId: string): Promise<StoredHyperoptJob> {
  const job = await hyperoptJobs.get(jobId);
  if (!job) throw unknownHyperopt(jobId);
  return job;
}

export interface HyperoptResult {
  readonly job: HyperoptJobIn<'completed'>;
  /** Of the best trial, out of sample. */
  readonly equity: EquityData;
}

/** The result of a job that is completed; throws OPT001, or RES005 with the status. */
export async function getHyperoptResult(
  deps: Deps & { readonly ledger: Pick<TrialLedger, 'returnsOf'> },
  jobId: string,
): Promise<HyperoptResult> {
  const job = await getCompletedHyperopt(deps, jobId);
  const returns = await deps.ledger.returnsOf(jobId, job.outcome.best_trial);
  if (!returns) throw new CodedError('DATA005', { message: 'The stored daily returns are missing' });
  return { job, equity: equityOf(job.base.dry_run_wallet, returns) };
}

/** What a wallet becomes by daily returns. */
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
 * @param check what else must hold of the job; it throws
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

/** There is no hyperopt job of that id. */
export function unknownHyperopt(jobId: string, field = 'job_id'): CodedError {
  return new CodedError('OPT001', { field, context: { [field]: jobId } });
}
