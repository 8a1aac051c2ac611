import type { EndedTrial, StoredTrial, StudyIn, StudyOutcome, TrialIn } from '#contract/hyperopt.ts';
import type { Clock } from '../ports.ts';
import { isoTime } from '../validate.ts';
import type { StudyStore, TrialLedger } from './study-ports.ts';

export interface FinishHyperoptDeps {
  readonly studies: StudyStore;
  readonly ledger: TrialLedger;
  readonly clock: Clock;
}

/**
 * Makes a study terminal whose trials have all ended: completed with the best of them, or failed when none is complete.
 * Any worker may do so, more than one too: what they write is the same, and the first write holds.
 */
export async function finishHyperopt(deps: FinishHyperoptDeps, jobId: string): Promise<void> {
  const study = await deps.studies.get(jobId);
  if (study?.status !== 'running') return;
  const trials = await deps.ledger.read(jobId, 0);
  if (!allEnded(trials, study.config.n_trials)) return;
  const now = isoTime(deps.clock.now());
  const best = trials.find(({ number }) => number === study.trials.best_trial);
  if (best?.state === 'complete') {
    await deps.studies.complete(jobId, outcomeOf(study, best), now);
  } else {
    await deps.studies.fail(jobId, { code: 'OPT002', message: whyAllFailed(trials) }, now);
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

function outcomeOf(study: StudyIn<'running'>, best: TrialIn<'complete'>): StudyOutcome {
  return {
    best_params: best.params,
    best_value: best.value,
    best_trial: best.number,
    study_name: study.experiment_name ?? `${study.base.strategy}_${study.job_id}`,
  };
}
