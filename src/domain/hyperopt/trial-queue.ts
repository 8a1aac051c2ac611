import type {
  EndedTrial,
  HyperoptJobIn,
  StoredTrial,
  TrialCounts,
  TrialIn,
  TrialParams,
} from '#contract/hyperopt/hyperopt.ts';
import {
  compareRanks,
  duplicateOf,
  type PastTrial,
  samplerLag,
  visibleHistory,
} from '#engine/search/trials.ts';
import type { Clock } from '../ports.ts';
import { isoTime } from '../shared/iso-time.ts';
import type { HyperoptStore, TrialLedger } from './hyperopt-ports.ts';
import type { TrialOutcome } from './run-trial.ts';
import { suggestPoint } from './search-space.ts';
import { endedTrials } from './trial-counts.ts';

/**
 * A trial that was begun, the earlier trials visible to it, and the result when a trial with the same parameters has
 * one already.
 */
export interface ClaimedTrial {
  readonly trial: TrialIn<'running'>;
  readonly past: readonly PastTrial[];
  /**
   * An ended trial with the same parameters: an earlier one, or the one of the same number in the job that this one
   * resumes.
   */
  readonly known: EndedTrial | undefined;
}

export interface TrialQueueDeps {
  readonly hyperoptJobs: Pick<HyperoptStore, 'get'>;
  readonly ledger: TrialLedger;
  readonly clock: Clock;
}

/** The worker's number in the job, and its task. */
export interface WorkerIdentity {
  readonly worker: number;
  readonly task: string;
}

/** Lease duration, ms. A worker whose lease expires is treated as lost. */
export const LEASE_MS = 60_000;

/**
 * The trials of a hyperopt job as one worker sees them. Its results follow only from the ledger: trial k is suggested
 * from the results of trials 0..k-L and the parameters of the others, so it is the same for any worker at any time.
 * Workers coordinate through conditional writes. Trials that were read as ended are cached, since they never change.
 */
export class TrialQueue {
  readonly #deps: TrialQueueDeps;
  /** The job as last read: a trial's end is recorded only if the job has not changed since. */
  #job: HyperoptJobIn<'running'>;
  readonly #me: WorkerIdentity;
  readonly #lag: number;
  readonly #earlier: ReadonlyMap<number, EndedTrial>;
  readonly #ended: EndedTrial[] = [];
  /** Trials from the first one on that has not ended. */
  #rest: StoredTrial[] = [];
  #asking: Promise<unknown> = Promise.resolve();

  /** @param earlier trials that ended in the job that this one resumes */
  constructor(
    deps: TrialQueueDeps,
    job: HyperoptJobIn<'running'>,
    me: WorkerIdentity,
    earlier: readonly EndedTrial[] = [],
  ) {
    this.#deps = deps;
    this.#job = job;
    this.#me = me;
    this.#earlier = new Map(earlier.map((trial) => [trial.number, trial]));
    this.#lag = samplerLag(job.config.n_trials);
  }

  /** Begins the next trial. `wait`: trials that it depends on still run. `none`: every trial has ended. */
  ask(): Promise<ClaimedTrial | 'wait' | 'none'> {
    const claimed = this.#asking.then(() => this.#ask());
    this.#asking = claimed.catch(() => undefined);
    return claimed;
  }

  async #ask(): Promise<ClaimedTrial | 'wait' | 'none'> {
    for (;;) {
      await this.#refresh();
      const { n_trials } = this.#job.config;
      if (this.#ended.length === n_trials) return 'none';
      const begun = this.#next() ?? 'wait';
      if (begun === 'wait') return 'wait';
      const claimed = await begun();
      if (claimed) return claimed;
    }
  }

  /** The next trial: one that its worker lost, else a new one if the trials it depends on have ended. */
  #next(): (() => Promise<ClaimedTrial | 'wait' | undefined>) | undefined {
    const lost = this.#rest.find((trial) => trial.state === 'running' && this.#isLost(trial));
    if (lost) return () => this.#beginAgain(lost as TrialIn<'running'>);
    const number = this.#ended.length + this.#rest.length;
    const visible = number - this.#lag < this.#ended.length;
    if (number < this.#job.config.n_trials && visible) return () => this.#begin(number);
    return undefined;
  }

  /** True when the lease has expired, or when an earlier task of this worker, which has ended, began the trial. */
  #isLost({ lease_expires_at, worker, task }: TrialIn<'running'>): boolean {
    if (task === this.#me.task) return false;
    return worker === this.#me.worker || lease_expires_at <= this.#deps.clock.now();
  }

  /** `wait` when the trial repeats one that still runs: which trial has the result must not depend on speed. */
  async #begin(number: number): Promise<ClaimedTrial | 'wait' | undefined> {
    const { job_id } = this.#job;
    const past = this.#pastOf(number);
    const params = suggestPoint(this.#job, past, number);
    if (duplicateOf(this.#before(number), params)?.state === 'running') return 'wait';
    const trial = this.#held({ schema_version: 2, job_id, number, params, attempt: 1 });
    if (!(await this.#deps.ledger.begin(trial))) return undefined;
    return this.#claimed(trial, past);
  }

  async #beginAgain(found: TrialIn<'running'>): Promise<ClaimedTrial | undefined> {
    const trial = this.#held({ ...found, attempt: found.attempt + 1 });
    if (!(await this.#deps.ledger.beginAgain(found, trial))) return undefined;
    return this.#claimed(trial, this.#pastOf(trial.number));
  }

  #held(
    trial: Pick<TrialIn<'running'>, 'schema_version' | 'job_id' | 'number' | 'params' | 'attempt'>,
  ): TrialIn<'running'> {
    const now = this.#deps.clock.now();
    return {
      ...trial,
      ...this.#me,
      state: 'running',
      started_at: isoTime(now),
      lease_expires_at: now + LEASE_MS,
    };
  }

  #claimed(trial: TrialIn<'running'>, past: readonly PastTrial[]): ClaimedTrial {
    const same = duplicateOf(this.#before(trial.number), trial.params);
    const ended = same && same.state !== 'running' ? same : undefined;
    return { trial, past, known: ended ?? this.#endedEarlier(trial) };
  }

  #endedEarlier({ number, params }: TrialIn<'running'>): EndedTrial | undefined {
    const earlier = this.#earlier.get(number);
    return earlier && areEqual(earlier.params, params) ? earlier : undefined;
  }

  #before(number: number): StoredTrial[] {
    return [...this.#ended, ...this.#rest].filter((trial) => trial.number < number);
  }

  #pastOf(number: number): PastTrial[] {
    return visibleHistory(this.#before(number).map(pastTrial), number, this.#lag);
  }

  async #refresh(): Promise<void> {
    this.#rest = await this.#deps.ledger.read(this.#job.job_id, this.#ended.length);
    while (this.#rest[0] && this.#rest[0].state !== 'running') {
      this.#ended.push(this.#rest.shift() as EndedTrial);
    }
  }

  /**
   * Records how a trial ended, with the job's progress and best value. `conflict`: another attempt has taken it over.
   * `stopped`: the job has ended in the meantime; nothing is recorded.
   */
  async tell(
    { trial, known }: ClaimedTrial,
    outcome: TrialOutcome,
  ): Promise<'recorded' | 'conflict' | 'stopped'> {
    for (;;) {
      const job = this.#job;
      const counts = countsAfter(job.trials, trial.number, outcome, job.config.direction);
      const sameAs = known?.job_id === trial.job_id ? known.number : null;
      const ended = this.#endOf(trial, outcome, counts, sameAs);
      const returns = outcome.state === 'complete' ? outcome.returns : null;
      const result = await this.#deps.ledger.end(job, ended, counts, returns);
      if (result === 'recorded') this.#job = { ...job, trials: counts, revision: job.revision + 1 };
      if (result !== 'job_changed') return result;
      const changed = await this.#deps.hyperoptJobs.get(trial.job_id);
      if (changed?.status !== 'running') return 'stopped';
      this.#job = changed;
    }
  }

  #endOf(
    { task: _, lease_expires_at: __, ...trial }: TrialIn<'running'>,
    outcome: TrialOutcome,
    counts: TrialCounts,
    sameAs: number | null,
  ): EndedTrial {
    const end = {
      ...trial,
      finished_at: isoTime(this.#deps.clock.now()),
      sequence: endedTrials(counts),
      best_value: counts.best_value,
      same_as: sameAs,
    };
    if (outcome.state === 'failed') return { ...end, state: 'failed', error: outcome.error };
    const windows = [...outcome.windows];
    if (outcome.state === 'pruned') return { ...end, state: 'pruned', windows };
    const { value, efficiency, figures, violation } = outcome;
    return {
      ...end,
      state: 'complete',
      windows,
      value,
      efficiency,
      ...(figures && { figures }),
      ...(violation !== undefined && { violation }),
    };
  }
}

function areEqual(a: TrialParams, b: TrialParams): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}

/** Part of a trial that is visible to later ones. */
export function pastTrial(trial: StoredTrial): PastTrial {
  const { number, params, state } = trial;
  const complete = state === 'complete' ? trial : undefined;
  return {
    number,
    params,
    state,
    value: complete?.value ?? null,
    ...(complete?.violation !== undefined && { violation: complete.violation }),
    ...('windows' in trial && { windows: trial.windows }),
  };
}

/**
 * Counts after a trial. The trial with the lowest number is the best among equals, regardless of the order in which
 * they end.
 */
function countsAfter(
  counts: TrialCounts,
  number: number,
  outcome: TrialOutcome,
  direction: HyperoptJobIn<'running'>['config']['direction'],
): TrialCounts {
  const counted = { ...counts, [outcome.state]: counts[outcome.state] + 1 };
  if (outcome.state !== 'complete') return counted;
  const { best_value, best_trial, best_violation: known } = counts;
  const { value, violation } = outcome;
  const best = best_value === null ? null : { value: best_value, number: best_trial!, violation: known };
  if (best && compareRanks({ value, number, violation }, best, direction) > 0) return counted;
  return {
    ...counted,
    best_value: value,
    best_trial: number,
    ...(violation !== undefined && { best_violation: violation }),
  };
}
