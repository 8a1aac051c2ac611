import type { StoredHyperoptJob, StoredTrial } from '#contract/hyperopt/hyperopt.ts';
import { canonicalJson } from '#engine/digest.ts';
import type { Digest } from '../ports.ts';
import { countStudy } from '../trials/count-trials.ts';
import type { OwnerTrials } from '../trials/owner-trials.ts';
import type { HyperoptStore, TrialLedger, TrialReturns } from './hyperopt-ports.ts';
import { haveSameInputs } from './trial-inputs.ts';

export interface CountHyperoptDeps {
  readonly hyperoptJobs: Pick<HyperoptStore, 'get'>;
  readonly ledger: Pick<TrialLedger, 'read' | 'returns'>;
  readonly ownerTrials: OwnerTrials;
  readonly digest: Digest;
}

/**
 * Counts all trials of a hyperopt job that is about to be completed. Jobs of the same request and code have the same trials. Throws
 * DATA005.
 */
export async function countCompleted(
  deps: CountHyperoptDeps,
  job: StoredHyperoptJob,
  trials: readonly StoredTrial[],
  returns: ReadonlyMap<number, TrialReturns>,
): Promise<void> {
  await countNew(deps, job, trials, { digest: searchDigest(deps, job), returns });
}

/**
 * Counts the trials of a cancelled or failed hyperopt job that ended before it: their results can be read, so the best of them can be
 * selected. A job without a complete trial has none. Repeats count once, because no trial ends after its job. Throws DATA005.
 */
export async function countEnded(deps: CountHyperoptDeps, job: StoredHyperoptJob): Promise<void> {
  const trials = await deps.ledger.read(job.job_id, 0);
  if (!trials.some(isComplete)) return;
  const returns = await deps.ledger.returns(job.job_id);
  const digest = deps.digest(canonicalJson([searchDigest(deps, job), job.job_id]));
  await countNew(deps, job, trials, { digest, returns });
}

/** Counts the trials that the job did not take over from the one that it resumes. */
async function countNew(
  deps: CountHyperoptDeps,
  job: StoredHyperoptJob,
  trials: readonly StoredTrial[],
  { digest, returns }: { digest: string; returns: ReadonlyMap<number, TrialReturns> },
): Promise<void> {
  const known = await countedBefore(deps, job);
  const isNew = (number: number) => !known.has(number);
  await countStudy(
    deps.ownerTrials,
    {
      owner: job.owner,
      session: job.session ?? null,
      base: job.base,
      digest,
      trials: trials.filter((trial) => hasEnded(trial) && isNew(trial.number)).length,
    },
    [...returns].filter(([number]) => isNew(number)).map(([, each]) => each.returns),
  );
}

/** Numbers of the trials that were counted with the job that this one resumes, for the same owner and session. */
async function countedBefore(deps: CountHyperoptDeps, job: StoredHyperoptJob): Promise<ReadonlySet<number>> {
  const { resumed_from, owner, session } = job;
  const earlier = resumed_from === null ? undefined : await deps.hyperoptJobs.get(resumed_from);
  const isSame =
    earlier !== undefined &&
    haveSameInputs(earlier, job) &&
    earlier.owner === owner &&
    earlier.session === session;
  const trials = isSame ? await deps.ledger.read(earlier.job_id, 0) : [];
  return new Set(trials.some(isComplete) ? trials.filter(hasEnded).map(({ number }) => number) : []);
}

const hasEnded = ({ state }: StoredTrial) => state !== 'running';
const isComplete = ({ state }: StoredTrial) => state === 'complete';

function searchDigest(
  { digest }: CountHyperoptDeps,
  { base, config, code_digest, job_id }: StoredHyperoptJob,
) {
  const { workers: _, ...searched } = config;
  return digest(canonicalJson([code_digest ?? job_id, base, searched]));
}
