import { CodedError } from '#contract/errors.ts';
import type { EndedTrial, HyperoptJobIn, HyperoptOutcome, StoredTrial, TrialIn } from '#contract/hyperopt.ts';
import { roundNumbers } from '#engine/report/round.ts';
import { overfittingReport } from '#engine/search/overfitting.ts';
import type { Dimension } from '#engine/search/space.ts';
import type { Direction } from '#engine/search/trials.ts';
import type { Clock } from '../ports.ts';
import { isoTime } from '../validate.ts';
import { equalRuns } from './equal-runs.ts';
import type { HyperoptStore, TrialLedger } from './hyperopt-ports.ts';
import { spaceOf } from './search-space.ts';
import { pastTrial } from './trial-queue.ts';

export interface FinishHyperoptDeps {
  readonly hyperoptJobs: HyperoptStore;
  readonly ledger: TrialLedger;
  readonly clock: Clock;
}

/**
 * Makes a hyperopt job terminal whose trials have all ended: completed with the best of them, or failed when none is complete.
 * Any worker may do so, more than one too: what they write is the same, and the first write holds.
 */
export async function finishHyperopt(deps: FinishHyperoptDeps, jobId: string): Promise<void> {
  const job = await deps.hyperoptJobs.get(jobId);
  if (job?.status !== 'running') return;
  const trials = await deps.ledger.read(jobId, 0);
  if (!allEnded(trials, job.config.n_trials)) return;
  const now = isoTime(deps.clock.now());
  const best = trials.find(({ number }) => number === job.trials.best_trial);
  if (best?.state === 'complete') {
    await deps.hyperoptJobs.complete(jobId, await outcomeOf(deps, job, trials, best), now);
  } else {
    await deps.hyperoptJobs.fail(jobId, { code: 'OPT002', message: whyAllFailed(trials) }, now);
  }
}

function allEnded(trials: readonly StoredTrial[], count: number): trials is EndedTrial[] {
  return trials.length === count && trials.every(({ state }) => state !== 'running');
}

/** Names the reason that most trials have. */
function whyAllFailed(trials: readonly EndedTrial[]): string {
  const reasons = new Map<string, number>();
  for (const trial of trials) {
    if (trial.state === 'failed') reasons.set(trial.error, (reasons.get(trial.error) ?? 0) + 1);
  }
  const [[reason, times] = ['none was complete', 0]] = [...reasons].sort((a, b) => b[1] - a[1]);
  return `All ${trials.length} trials failed. ${times === trials.length ? 'Each' : `${times} of them`}: ${reason}`;
}

async function outcomeOf(
  { ledger }: FinishHyperoptDeps,
  job: HyperoptJobIn<'running'>,
  trials: readonly EndedTrial[],
  best: TrialIn<'complete'>,
): Promise<HyperoptOutcome> {
  const { config, job_id } = job;
  const space = spaceOf(job).filter(varies);
  const known = trials.map(pastTrial);
  const returns = await ledger.returns(job_id);
  const overfitting = overfittingReport(space, known, returns, config.direction, best.efficiency);
  if (!overfitting)
    throw new CodedError('DATA005', { message: 'The daily returns of the best trial are missing' });
  const { distinct, warnings } = equalRuns(job, trials, returns);
  return {
    best_params: best.params,
    best_value: best.value,
    best_trial: best.number,
    best_trials: bestOf(trials, config.direction),
    study_name: job.experiment_name ?? `${job.base.strategy}_${job_id}`,
    overfitting: roundNumbers(overfitting),
    distinct_runs: distinct,
    ...(warnings.length > 0 && { warnings: [...warnings] }),
  };
}

/** Along a dimension of one value nothing can be said of a plateau. */
function varies(dimension: Dimension): boolean {
  return dimension.kind === 'categorical' ? dimension.choices.length > 1 : dimension.min < dimension.max;
}

const BEST_SHOWN = 10;

function bestOf(trials: readonly EndedTrial[], direction: Direction): HyperoptOutcome['best_trials'] {
  const sign = direction === 'maximize' ? -1 : 1;
  return trials
    .filter((trial) => trial.state === 'complete')
    .sort((a, b) => sign * (a.value - b.value) || a.number - b.number)
    .slice(0, BEST_SHOWN)
    .map(({ number, value, params }) => ({ number, value, params }));
}
