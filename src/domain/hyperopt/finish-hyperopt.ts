import type { LookAhead } from '#contract/config/look-ahead.ts';
import type {
  Direction,
  EndedTrial,
  HyperoptJobIn,
  HyperoptOutcome,
  StoredTrial,
  TrialIn,
} from '#contract/hyperopt/hyperopt.ts';
import type { Digest } from '#contract/values/digest.ts';
import { CodedError } from '#contract/values/errors.ts';
import { listNames } from '#contract/values/list-names.ts';
import { roundNumbers } from '#engine/round.ts';
import { overfittingReport } from '#engine/search/overfitting.ts';
import type { Dimension } from '#engine/search/space.ts';
import { compareRanks, groupEqualRuns } from '#engine/search/trials.ts';
import type { Clock } from '../ports.ts';
import { isoTime } from '../shared/iso-time.ts';
import type { OwnerTrials } from '../trials/owner-trials.ts';
import { countCompleted, endRunning } from './count-hyperopt.ts';
import { EXIT_NAMES } from './exit-space.ts';
import type { HyperoptStore, TrialLedger, TrialReturns } from './hyperopt-ports.ts';
import { permutationTest } from './permuted-searches.ts';
import { spaceOf } from './search-space.ts';
import { pastTrial } from './trial-queue.ts';

export interface FinishHyperoptDeps {
  readonly hyperoptJobs: HyperoptStore;
  readonly ledger: TrialLedger;
  readonly ownerTrials: OwnerTrials;
  readonly digest: Digest;
  readonly clock: Clock;
}

/** Code of a job that fails because its trials have. */
export const ALL_TRIALS_FAILED = 'OPT002';

/**
 * Makes a hyperopt job terminal when its trials have all ended: completed with the best of them, or failed when none is
 * complete. Several workers may do so, and the first write counts.
 *
 * @param sample searches for look-ahead bias with the parameters of the best trial
 */
export async function finishHyperopt(
  deps: FinishHyperoptDeps,
  jobId: string,
  sample: (job: HyperoptJobIn<'running'>, best: TrialIn<'complete'>) => Promise<LookAhead>,
): Promise<void> {
  const job = await deps.hyperoptJobs.get(jobId);
  if (job?.status !== 'running') return;
  const trials = await deps.ledger.read(jobId, 0);
  if (!allEnded(trials, job.config.n_trials)) return;
  const now = () => isoTime(deps.clock.now());
  const best = trials.find(({ number }) => number === job.trials.best_trial);
  if (best?.state === 'complete') {
    const { permutations, direction } = job.config;
    const searches = permutations === undefined ? [] : await deps.ledger.permutedSearches(jobId);
    if (searches.length < (permutations ?? 0)) return;
    const permuted = permutations !== undefined && {
      permutations: permutationTest(best, searches, direction),
    };
    const returns = await deps.ledger.returns(jobId);
    const found = { ...outcomeOf(job, trials, best, returns), ...permuted };
    const look_ahead = await sample(job, best);
    await countCompleted(deps, job, trials, returns);
    await deps.hyperoptJobs.complete(jobId, { ...found, look_ahead }, now());
  } else {
    await endRunning(deps, job);
    await deps.hyperoptJobs.fail(
      jobId,
      { code: ALL_TRIALS_FAILED, message: allFailedMessage(trials) },
      now(),
    );
  }
}

function allEnded(trials: readonly StoredTrial[], count: number): trials is EndedTrial[] {
  return trials.length === count && trials.every(({ state }) => state !== 'running');
}

/** Names the reason that most trials have. */
function allFailedMessage(trials: readonly EndedTrial[]): string {
  const reasons = new Map<string, number>();
  for (const trial of trials) {
    if (trial.state === 'failed') reasons.set(trial.error, (reasons.get(trial.error) ?? 0) + 1);
  }
  const [[reason, times] = ['none was complete', 0]] = [...reasons].sort((a, b) => b[1] - a[1]);
  return `All ${trials.length} trials failed. ${times === trials.length ? 'Each' : `${times} of them`}: ${reason}`;
}

function outcomeOf(
  job: HyperoptJobIn<'running'>,
  trials: readonly EndedTrial[],
  best: TrialIn<'complete'>,
  returns: ReadonlyMap<number, TrialReturns>,
): HyperoptOutcome {
  const { config, job_id } = job;
  const space = spaceOf(job).filter(varies);
  const known = trials.map(pastTrial);
  const overfitting = overfittingReport(space, known, returns, config.direction, best.efficiency);
  if (!overfitting)
    throw new CodedError('DATA005', { message: 'The daily returns of the best trial are missing' });
  const { distinct, warnings } = equalRuns(job, trials, returns);
  return {
    best_params: best.params,
    best_value: best.value,
    best_trial: best.number,
    ...(best.violation !== undefined && { best_violation: best.violation }),
    best_trials: bestOf(trials, config.direction),
    study_name: job.experiment_name ?? `${job.base.strategy}_${job_id}`,
    overfitting: roundNumbers(overfitting),
    distinct_runs: distinct,
    ...(warnings.length > 0 && { warnings: [...warnings] }),
  };
}

/** True for a dimension with more than one value: only these have a plateau. */
function varies(dimension: Dimension): boolean {
  return dimension.kind === 'categorical' ? dimension.choices.length > 1 : dimension.min < dimension.max;
}

const BEST_SHOWN = 10;

function bestOf(trials: readonly EndedTrial[], direction: Direction): HyperoptOutcome['best_trials'] {
  return trials
    .filter((trial) => trial.state === 'complete')
    .sort((a, b) => compareRanks(a, b, direction))
    .slice(0, BEST_SHOWN)
    .map(({ number, value, params }) => ({ number, value, params }));
}

type Complete = TrialIn<'complete'>;

/** Minimum share of the complete trials that repeat another trial's run before the job gets a warning. */
const MIN_REPEATED_SHARE = 0.1;

interface EqualRuns {
  readonly distinct: number;
  /** Sentences for the reader; empty when too few runs repeat another trial's run. */
  readonly warnings: readonly string[];
}

/**
 * Complete trials with different parameters and bitwise equal runs: objective, windows and daily returns. The
 * parameters that differ among them had no effect.
 */
function equalRuns(
  { base }: Pick<HyperoptJobIn<'running'>, 'base'>,
  trials: readonly EndedTrial[],
  returns: ReadonlyMap<number, TrialReturns>,
): EqualRuns {
  const originals = trials.filter(
    (trial): trial is Complete => trial.state === 'complete' && trial.same_as === null,
  );
  const groups = groupEqualRuns(originals, returns);
  const repeats = originals.length - groups.length;
  if (repeats === 0 || repeats < MIN_REPEATED_SHARE * originals.length)
    return { distinct: groups.length, warnings: [] };
  const [largest] = groups.toSorted((a, b) => b.length - a.length);
  const [first, ...others] = largest!.map(({ number }) => number);
  const names = differing(largest!);
  const warning =
    `${repeats} of ${originals.length} complete trials traded exactly as an earlier one with other parameters: ` +
    `trial${others.length > 1 ? 's' : ''} ${listNames(others.map(String))} as trial ${first}. Without effect among them: ${names.join(', ')}.`;
  const gate = base.ml_engine?.entry_threshold ?? null;
  const isModelOnly = names.every((name) => MODEL.includes(name));
  return {
    distinct: groups.length,
    warnings: [
      gate !== null && isModelOnly
        ? `${warning} ${base.strategy} does not read predictions: a model only holds back entries that it rates below entry_threshold ${gate}. Search the strategy itself with models: none.`
        : warning,
    ],
  };
}

const MODEL = ['model_type', 'n_estimators', 'learning_rate'];

/** Names of the parameters that are not the same in all of the trials, as a backtest's configuration has them. */
function differing([first, ...others]: readonly Complete[]): string[] {
  const names = Object.keys(first!.params).filter((name) =>
    others.some(({ params }) => params[name] !== first!.params[name]),
  );
  const found = new Set(names.map(configName));
  return [...MODEL.filter((name) => found.delete(name)), ...[...found].sort()];
}

/** `exit.roi_t1` is a part of `minimal_roi`. */
function configName(name: string): string {
  const [, space] = /^exit\.([a-z]+)/.exec(name) ?? [];
  return (space && EXIT_NAMES[space as keyof typeof EXIT_NAMES]) || name;
}
