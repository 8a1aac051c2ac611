import { CodedError } from '#contract/values/errors.ts';
import type { Caller } from '../access/access.ts';
import type { ExperimentPage, Experiments } from './job-list-ports.ts';

/** Experiments of the caller; an admin may ask for those of another user. Throws AUTH005, VAL006, DATA005. */
export async function listExperiments(
  { jobs }: { readonly jobs: { readonly experiments: Experiments } },
  input: {
    readonly caller: Caller;
    readonly owner?: string | undefined;
    readonly limit: number;
    readonly cursor?: string | undefined;
  },
): Promise<ExperimentPage> {
  const { caller, owner = caller.id, limit, cursor = null } = input;
  if (owner !== caller.id && !caller.isAdmin) {
    throw new CodedError('AUTH005', {
      message: 'Only an admin may list the experiments of another user: leave out owner',
      field: 'owner',
    });
  }
  return jobs.experiments.list(owner, limit, cursor);
}
