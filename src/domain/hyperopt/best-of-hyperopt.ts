import type { FoundBy } from '#contract/backtests/backtest.ts';
import type { BacktestConfigRequest } from '#contract/backtests/backtest-api.ts';
import { CodedError } from '#contract/values/errors.ts';
import { HYPEROPT_JOB_ID } from '#contract/values/job-limits.ts';
import { type Caller, checkAccess } from '../access/access.ts';
import { overrideRequest } from '../shared/override-request.ts';
import { getCompletedHyperopt } from './get-hyperopt.ts';
import type { HyperoptStore } from './hyperopt-ports.ts';
import { trialConfig } from './search-space.ts';

const FIELD = 'hyperopt_job_id';

/**
 * A backtest's configuration with the best parameters of a hyperopt job, over the same days, instead of the strategy's
 * defaults; given values override it. Throws VAL005 (no id, another strategy), OPT001, AUTH005, RES005 (not completed).
 */
export async function bestOfHyperopt(
  deps: { readonly hyperoptJobs: Pick<HyperoptStore, 'get'> },
  caller: Caller,
  jobId: string,
  given: BacktestConfigRequest,
): Promise<{ config: BacktestConfigRequest; foundBy: FoundBy }> {
  if (!HYPEROPT_JOB_ID.test(jobId))
    throw invalidJob(`${FIELD} must be the job_id of a hyperopt job: ho-<id>`, jobId);
  const job = await getCompletedHyperopt(deps, jobId, FIELD, (found) =>
    checkAccess(caller, found, { kind: 'hyperopt', id: jobId, field: FIELD, level: 'read' }),
  );
  const { base, outcome, trials } = job;
  if (base.strategy !== given.strategy) {
    throw invalidJob(
      `The hyperopt job is of strategy ${base.strategy}, not of ${given.strategy}: pass a job of that strategy`,
      jobId,
    );
  }
  return {
    config: overrideRequest(trialConfig(base, outcome.best_params), given),
    foundBy: { hyperopt_job_id: jobId, trial: outcome.best_trial, trials: trials.total },
  };
}

function invalidJob(message: string, value: string): CodedError {
  return new CodedError('VAL005', { message, field: FIELD, context: { value: value.slice(0, 100) } });
}
