import type { FoundBy } from '#contract/backtest.ts';
import { CodedError } from '#contract/errors.ts';
import { type Caller, checkAccess } from '../access.ts';
import type { ConfigInput } from '../resolve-config.ts';
import { getCompletedHyperopt } from './get-hyperopt.ts';
import { trialConfig } from './search-space.ts';
import type { StudyStore } from './study-ports.ts';

const FIELD = 'hyperopt_job_id';
const JOB_ID = /^ho-[A-Za-z0-9]{1,64}$/;

/**
 * A backtest's configuration with the best parameters of a hyperopt job, over the same days, in the place of the strategy's
 * defaults; what is given goes over it. Throws VAL005 (no id, another strategy), OPT001, AUTH005, RES005 (not completed).
 */
export async function bestOfHyperopt(
  deps: { readonly studies: Pick<StudyStore, 'get'> },
  caller: Caller,
  jobId: string,
  given: ConfigInput,
): Promise<{ config: ConfigInput; foundBy: FoundBy }> {
  if (!JOB_ID.test(jobId)) throw refused(`${FIELD} must be the job_id of a hyperopt job: ho-<id>`, jobId);
  const study = await getCompletedHyperopt(deps, jobId, FIELD, (found) =>
    checkAccess(caller, found, { kind: 'hyperopt', id: jobId, field: FIELD, level: 'read' }),
  );
  const { base, outcome, trials } = study;
  if (base.strategy !== given.strategy) {
    throw refused(`The hyperopt job is of strategy ${base.strategy}`, jobId);
  }
  const best = trialConfig(base, outcome.best_params);
  return {
    config: {
      ...best,
      ...given,
      params: { ...best.params, ...given.params },
      ...(given.ml_engine !== undefined && {
        ml_engine: given.ml_engine && { ...best.ml_engine, ...given.ml_engine },
      }),
    },
    foundBy: { hyperopt_job_id: jobId, trial: outcome.best_trial, trials: trials.total },
  };
}

function refused(message: string, value: string): CodedError {
  return new CodedError('VAL005', { message, field: FIELD, context: { value: value.slice(0, 100) } });
}
