import type { JobStatus } from '#contract/backtest.ts';
import type { StoredTrial, TrialState } from '#contract/hyperopt.ts';
import type { Caller } from '../access.ts';
import type { Page } from '../ports.ts';
import { getHyperopt } from './get-hyperopt.ts';
import type { HyperoptRow, HyperoptStore, TrialLedger } from './hyperopt-ports.ts';

/** Hyperopt jobs that the caller sees, newest first. Throws VAL006 for a broken or foreign cursor. */
export async function listHyperopts(
  deps: { readonly hyperoptJobs: HyperoptStore },
  input: {
    /** They are shown what is theirs or shared with them; an admin everything. */
    readonly caller: Caller;
    readonly limit: number;
    readonly cursor?: string | undefined;
    readonly status?: JobStatus | undefined;
    readonly experiment_name?: string | undefined;
  },
): Promise<Page<HyperoptRow>> {
  const { caller, limit, cursor = null, status, experiment_name } = input;
  const filter = {
    ...(!caller.isAdmin && { visibleTo: caller }),
    ...(status && { status }),
    ...(experiment_name !== undefined && { experiment_name }),
  };
  return deps.hyperoptJobs.list(filter, limit, cursor);
}

/** Trials of a hyperopt job, by number. Throws OPT001, and VAL006 for a broken or foreign cursor. */
export async function listHyperoptTrials(
  deps: { readonly hyperoptJobs: Pick<HyperoptStore, 'get'>; readonly ledger: TrialLedger },
  input: {
    readonly job_id: string;
    readonly limit: number;
    readonly cursor?: string | undefined;
    readonly state?: TrialState | undefined;
  },
): Promise<Page<StoredTrial>> {
  await getHyperopt(deps, input.job_id);
  return deps.ledger.list(input.job_id, input.state ?? null, input.limit, input.cursor ?? null);
}
