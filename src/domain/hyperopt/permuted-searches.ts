import type {
  HyperoptJobIn,
  PermutedTrial,
  SearchPermutations,
  StoredPermutedSearch,
  TrialParams,
} from '#contract/hyperopt/hyperopt.ts';
import { intervalOf } from '#engine/robustness/bootstrap.ts';
import { roundNumbers } from '#engine/round.ts';
import {
  bestTrial,
  duplicateOf,
  isBetter,
  type PastTrial,
  samplerLag,
  visibleHistory,
} from '#engine/search/trials.ts';
import type { Clock } from '../ports.ts';
import { isoTime } from '../shared/iso-time.ts';
import type { HyperoptStore, TrialLedger } from './hyperopt-ports.ts';
import { pruningHistory, type TrialOutcome, type TrialRequest } from './run-trial.ts';
import { suggestPoint, trialConfig } from './search-space.ts';

type Job = HyperoptJobIn<'running'>;
type RunTrial = (request: TrialRequest) => Promise<TrialOutcome>;
type Search = Pick<StoredPermutedSearch, 'number' | 'value' | 'error'>;

/** Ended trials of one search: those that are known already, and what is done with each further one. */
interface SearchTrials {
  readonly known: ReadonlyMap<number, PermutedTrial>;
  readonly ended: (trial: PermutedTrial) => Promise<void>;
}

const ALL_NEW: SearchTrials = { known: new Map(), ended: async () => undefined };

/**
 * Repeats the search of a job on one permutation of its candles: the same sampler, seed, space, pruner and number of trials. The
 * trials run one after another, and each sees the results that it would have seen in the job.
 */
export async function searchPermuted(
  job: Job,
  number: number,
  run: RunTrial,
  { known, ended }: SearchTrials = ALL_NEW,
): Promise<Search> {
  const { config, base } = job;
  const { n_trials, seed, direction } = config;
  const lag = samplerLag(n_trials);
  const trials: PastTrial[] = [];
  let error: string | null = null;
  const add = ({ error: reason, ...each }: PermutedTrial) => {
    error ??= reason ?? null;
    trials.push(each);
  };
  for (let trial = 0; trial < n_trials; trial++) {
    const before = known.get(trial);
    if (before) {
      add(before);
      continue;
    }
    const past = visibleHistory(trials, trial, lag);
    const params = suggestPoint(job, past, trial);
    const same = duplicateOf(trials, params);
    if (same) {
      trials.push({ ...same, number: trial });
      continue;
    }
    const outcome = await run({
      config: trialConfig(base, params),
      search: config,
      past: pruningHistory(config, past),
      permutation: { seed, number },
    });
    const each = permutedTrial(trial, params, outcome);
    add(each);
    await ended(each);
  }
  const best = bestTrial(trials, direction);
  if (best && !best.violation) return { number, value: best.value, error: null };
  return {
    number,
    value: null,
    error: best ? 'No trial keeps the constraints' : (error ?? 'No trial was complete'),
  };
}

function permutedTrial(number: number, params: TrialParams, outcome: TrialOutcome): PermutedTrial {
  const { state } = outcome;
  if (state === 'failed') return { number, params, state, value: null, error: outcome.error };
  const windows = [...outcome.windows];
  if (state === 'pruned') return { number, params, state, value: null, windows };
  const { value, violation } = outcome;
  return { number, params, state, value, windows, ...(violation !== undefined && { violation }) };
}

interface Deps {
  readonly hyperoptJobs: Pick<HyperoptStore, 'get'>;
  readonly ledger: TrialLedger;
  readonly clock: Clock;
}

/** Longest time between two records of the trials of a search, ms: a lost worker repeats so much of each of its searches. */
const RECORD_INTERVAL_MS = 10_000;
/** Size of the trials, as JSON, from which on they are recorded sooner: a record has at most 400 KB. */
const MAX_RECORD_CHARACTERS = 100_000;

/** The search is not continued: another worker has ended it, or the job has ended. */
class SearchLeft extends Error {
  readonly because: 'search_ended' | 'stopped';

  constructor(because: SearchLeft['because']) {
    super(because);
    this.because = because;
  }
}

/** Records the trials of one search as they end, several at a time. */
class TrialRecorder {
  /** True when the ledger has trials of the search. */
  hasRecords = false;
  readonly #deps: Deps;
  readonly #search: Pick<StoredPermutedSearch, 'job_id' | 'number'>;
  #pending: PermutedTrial[] = [];
  #characters = 0;
  #recordedAt: number;

  constructor(deps: Deps, search: Pick<StoredPermutedSearch, 'job_id' | 'number'>) {
    this.#deps = deps;
    this.#search = search;
    this.#recordedAt = deps.clock.now();
  }

  /** Throws SearchLeft. */
  async add(trial: PermutedTrial): Promise<void> {
    this.#pending.push(trial);
    this.#characters += JSON.stringify(trial).length;
    const now = this.#deps.clock.now();
    if (now - this.#recordedAt < RECORD_INTERVAL_MS && this.#characters < MAX_RECORD_CHARACTERS) return;
    const trials = this.#pending;
    this.#pending = [];
    this.#characters = 0;
    this.#recordedAt = now;
    this.hasRecords = true;
    const record = { schema_version: 1 as const, ...this.#search, trials, recorded_at: isoTime(now) };
    const result = await this.#deps.ledger.recordPermutedTrials(record);
    if (result !== 'recorded') throw new SearchLeft(result);
  }
}

/** Searches of the job that another one resumes. */
export interface EarlierSearches {
  /** null: the job resumes none. */
  readonly job_id: string | null;
  readonly ended: readonly Search[];
}

export const NO_SEARCHES: EarlierSearches = { job_id: null, ended: [] };

/**
 * The permuted searches of a job as one worker sees them, after all trials have ended. Each is a pure function of the job, and its
 * first record counts, so that workers need no lease: they begin with different ones, and continue what a lost worker left.
 */
export class PermutedSearches {
  readonly #deps: Deps;
  readonly #job: Job;
  readonly #worker: number;
  readonly #resumed: string | null;
  readonly #earlier: ReadonlyMap<number, Search>;
  readonly #begun = new Set<number>();

  constructor(deps: Deps, job: Job, worker: number, earlier: EarlierSearches) {
    this.#deps = deps;
    this.#job = job;
    this.#worker = worker;
    this.#resumed = earlier.job_id;
    this.#earlier = new Map(earlier.ended.map((search) => [search.number, search]));
  }

  /** Searches until every permutation has its record. `stopped`: the job has ended otherwise. */
  async run(run: RunTrial): Promise<'ended' | 'stopped'> {
    const { job_id, config } = this.#job;
    if (config.permutations === undefined) return 'ended';
    const job = await this.#deps.hyperoptJobs.get(job_id);
    if (job?.status !== 'running') return 'stopped';
    // Without a best trial there is nothing to compare.
    if (job.trials.best_trial === null) return 'ended';
    for (;;) {
      const number = await this.#next(config.permutations);
      if (number === undefined) return 'ended';
      const earlier = this.#earlier.get(number);
      const result = earlier ? await this.#end(earlier) : await this.#search(number, run);
      if (result === 'stopped') return 'stopped';
    }
  }

  /** Makes a search, after the trials of it that have ended before. */
  async #search(number: number, run: RunTrial): Promise<'recorded' | 'search_ended' | 'stopped'> {
    const { ledger } = this.#deps;
    const { job_id } = this.#job;
    const recorder = new TrialRecorder(this.#deps, { job_id, number });
    const own = await ledger.permutedTrials(job_id, number);
    const earlier = this.#resumed === null ? [] : await ledger.permutedTrials(this.#resumed, number);
    const known = new Map([...earlier, ...own].map((trial) => [trial.number, trial]));
    try {
      // This job may be resumed too.
      if (own.length === 0) for (const trial of earlier) await recorder.add(trial);
      const ended = (trial: PermutedTrial) => recorder.add(trial);
      const search = await searchPermuted(this.#job, number, run, { known, ended });
      const result = await this.#end(search);
      // If the worker dies before, they stay until the trials of the job expire.
      if (own.length > 0 || recorder.hasRecords) await ledger.deletePermutedTrials(job_id, number);
      return result;
    } catch (error) {
      if (error instanceof SearchLeft) return error.because;
      throw error;
    }
  }

  #end({ number, value, error }: Search): Promise<'recorded' | 'stopped'> {
    const finished_at = isoTime(this.#deps.clock.now());
    const { job_id } = this.#job;
    return this.#deps.ledger.endPermutedSearch({
      schema_version: 1,
      job_id,
      number,
      value,
      error,
      finished_at,
    });
  }

  /**
   * The worker's own first, then the last of the others', which their workers would reach last. What ended earlier is recorded
   * before any search: this job may be resumed too.
   */
  async #next(count: number): Promise<number | undefined> {
    const ended = await this.#deps.ledger.permutedSearches(this.#job.job_id);
    const known = new Set(ended.map(({ number }) => number));
    const { workers } = this.#job.config;
    const left = Array.from({ length: count }, (_, number) => number).filter(
      (number) => !known.has(number) && !this.#begun.has(number),
    );
    const earlier = left.filter((number) => this.#earlier.has(number));
    const due = earlier.length > 0 ? earlier : left;
    const next = due.find((number) => number % workers === this.#worker) ?? due.at(-1);
    if (next !== undefined) this.#begun.add(next);
    return next;
  }
}

/** P-value of the best trial among the best of all permuted searches. A search without a complete trial has not beaten it. */
export function permutationTest(
  { value: best, violation = 0 }: { readonly value: number; readonly violation?: number | undefined },
  searches: readonly Search[],
  direction: Job['config']['direction'],
): SearchPermutations {
  const values = searches.flatMap(({ value }) => (value === null ? [] : [value]));
  const counts = { searches: searches.length, undefined_searches: searches.length - values.length };
  if (violation > 0) {
    const reason = 'No trial keeps the constraints, so the best one is not compared';
    return { ...counts, p_value: null, chance: null, reason };
  }
  if (values.length === 0) {
    const reason = `No permuted search has a complete trial: ${searches[0]?.error ?? 'none was made'}`;
    return { ...counts, p_value: null, chance: null, reason };
  }
  const atLeast = values.filter((value) => !isBetter(best, value, direction)).length;
  const p_value = (1 + atLeast) / (searches.length + 1);
  return roundNumbers({ ...counts, p_value, chance: intervalOf(Float64Array.from(values)), reason: null });
}
