import type { HyperoptJobIn, SearchPermutations, StoredPermutedSearch } from '#contract/hyperopt.ts';
import { roundNumbers } from '#engine/report/round.ts';
import { intervalOf } from '#engine/robustness/bootstrap.ts';
import { suggest } from '#engine/search/sampler.ts';
import {
  bestTrial,
  duplicateOf,
  isBetter,
  type PastTrial,
  samplerLag,
  visibleHistory,
} from '#engine/search/trials.ts';
import type { Clock } from '../ports.ts';
import { isoTime } from '../validate.ts';
import type { HyperoptStore, TrialLedger } from './hyperopt-ports.ts';
import { pruningHistory, type TrialOutcome, type TrialRequest } from './run-trial.ts';
import { canonicalPoint, spaceOf, trialConfig } from './search-space.ts';

type Job = HyperoptJobIn<'running'>;
type RunTrial = (request: TrialRequest) => Promise<TrialOutcome>;
type Search = Pick<StoredPermutedSearch, 'number' | 'value' | 'error'>;

/**
 * Repeats the search of a job on one permutation of its candles: the same sampler, seed, space, pruner and number of trials. The
 * trials run one after another, and each sees the results that it would have seen in the job.
 */
export async function searchPermuted(job: Job, number: number, run: RunTrial): Promise<Search> {
  const { config, base } = job;
  const { n_trials, seed, direction, sampler } = config;
  const space = spaceOf(job);
  const lag = samplerLag(n_trials);
  const trials: PastTrial[] = [];
  let error: string | null = null;
  for (let trial = 0; trial < n_trials; trial++) {
    const past = visibleHistory(trials, trial, lag);
    const suggested = suggest(space, past, { seed, number: trial, direction, sampler });
    const params = canonicalPoint(job, suggested);
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
    if (outcome.state === 'failed') error ??= outcome.error;
    trials.push({
      ...{ number: trial, params, state: outcome.state },
      value: outcome.state === 'complete' ? outcome.value : null,
      ...(outcome.state !== 'failed' && { windows: outcome.windows }),
    });
  }
  const value = bestTrial(trials, direction)?.value ?? null;
  return { number, value, error: value === null ? (error ?? 'No trial was complete') : null };
}

interface Deps {
  readonly hyperoptJobs: Pick<HyperoptStore, 'get'>;
  readonly ledger: Pick<TrialLedger, 'permutedSearches' | 'endPermutedSearch'>;
  readonly clock: Clock;
}

/**
 * The permuted searches of a job as one worker sees them, after all trials have ended. Each is a pure function of the job, and its
 * first record counts, so that workers need no lease: they begin with different ones, and what a lost worker left is searched again.
 */
export class PermutedSearches {
  readonly #deps: Deps;
  readonly #job: Job;
  readonly #worker: number;
  readonly #earlier: ReadonlyMap<number, Search>;
  readonly #begun = new Set<number>();

  /** @param earlier searches of the job that this one resumes */
  constructor(deps: Deps, job: Job, worker: number, earlier: readonly Search[]) {
    this.#deps = deps;
    this.#job = job;
    this.#worker = worker;
    this.#earlier = new Map(earlier.map((search) => [search.number, search]));
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
      const { value, error } = this.#earlier.get(number) ?? (await searchPermuted(this.#job, number, run));
      const finished_at = isoTime(this.#deps.clock.now());
      const search = { schema_version: 1 as const, job_id, number, value, error, finished_at };
      if ((await this.#deps.ledger.endPermutedSearch(search)) === 'stopped') return 'stopped';
    }
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
  best: number,
  searches: readonly Search[],
  direction: Job['config']['direction'],
): SearchPermutations {
  const values = searches.flatMap(({ value }) => (value === null ? [] : [value]));
  const counts = { searches: searches.length, undefined_searches: searches.length - values.length };
  if (values.length === 0) {
    const reason = `No permuted search has a complete trial: ${searches[0]?.error ?? 'none was made'}`;
    return { ...counts, p_value: null, chance: null, reason };
  }
  const atLeast = values.filter((value) => !isBetter(best, value, direction)).length;
  const p_value = (1 + atLeast) / (searches.length + 1);
  return roundNumbers({ ...counts, p_value, chance: intervalOf(Float64Array.from(values)), reason: null });
}
