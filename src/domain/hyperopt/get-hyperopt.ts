import type { EquityData } from '#contract/backtest-api.ts';
import { CodedError } from '#contract/errors.ts';
import type { StoredStudy, StudyIn } from '#contract/hyperopt.ts';
import { buildEquityData } from '#engine/report/equity-data.ts';
import { DAY_MS } from '#engine/timeframe.ts';
import type { StudyStore, TrialLedger, TrialReturns } from './study-ports.ts';

interface Deps {
  readonly studies: Pick<StudyStore, 'get'>;
}

/** The hyperopt job; throws OPT001 when there is none of that id. */
export async function getHyperopt({ studies }: Deps, jobId: string): Promise<StoredStudy> {
  const study = await studies.get(jobId);
  if (!study) throw unknownHyperopt(jobId);
  return study;
}

export interface HyperoptResult {
  readonly study: StudyIn<'completed'>;
  /** Of the best trial, out of sample. */
  readonly equity: EquityData;
}

/** The result of a job that is completed; throws OPT001, or RES005 with the status. */
export async function getHyperoptResult(
  deps: Deps & { readonly ledger: Pick<TrialLedger, 'returnsOf'> },
  jobId: string,
): Promise<HyperoptResult> {
  const study = await getCompletedHyperopt(deps, jobId);
  const returns = await deps.ledger.returnsOf(jobId, study.outcome.best_trial);
  if (!returns) throw new CodedError('DATA005', { message: 'The stored daily returns are missing' });
  return { study, equity: equityOf(study.base.dry_run_wallet, returns) };
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
  { studies }: Deps,
  jobId: string,
  field = 'job_id',
  check: (study: StoredStudy) => void = () => undefined,
): Promise<StudyIn<'completed'>> {
  const study = await studies.get(jobId);
  if (!study) throw unknownHyperopt(jobId, field);
  check(study);
  if (study.status === 'completed') return study;
  throw new CodedError('RES005', {
    message:
      study.status === 'failed'
        ? `The hyperopt job failed: ${study.error}`
        : `The hyperopt job is ${study.status}, not completed`,
    field,
    context: { [field]: jobId, status: study.status },
  });
}

/** There is no hyperopt job of that id. */
export function unknownHyperopt(jobId: string, field = 'job_id'): CodedError {
  return new CodedError('OPT001', { field, context: { [field]: jobId } });
}
