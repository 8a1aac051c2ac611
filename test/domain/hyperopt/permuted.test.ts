import { expect, it } from 'vitest';
import type { TrialRunner } from '#domain/hyperopt/run-hyperopt-worker.ts';
import { hyperoptFixture } from '../../support/hyperopt-fixture.ts';
import { computeTrial, computing, essence } from '../../support/hyperopt-workers.ts';

/** Searches on permuted candles: their records, and what a lost worker leaves. */

const fixture = hyperoptFixture();
const { newHyperopt, work, deps, read } = fixture;

const TRIALS = 10;
const SEARCHES = 19;
const CONFIG = { n_trials: TRIALS, permutations: SEARCHES };

/** Trials whose value depends on the permutation: search k finds about k / 10 less than the job, search 0 more. */
const shifted: TrialRunner['run'] = async (request) => {
  const outcome = await computeTrial(request);
  const { permutation } = request;
  if (outcome.state !== 'complete' || !permutation) return outcome;
  return { ...outcome, value: outcome.value + (permutation.number === 0 ? 5 : -permutation.number / 10) };
};

function counting(run: TrialRunner['run'] = shifted) {
  const runs = { trials: 0, permuted: [] as number[] };
  const runner: TrialRunner = {
    ...computing,
    run: (request, signal, onStall) => {
      if (request.permutation) runs.permuted.push(request.permutation.number);
      else runs.trials++;
      return run(request, signal, onStall);
    },
  };
  return { runs, runner };
}

const outcomeOf = async (jobId: string) => {
  const { job } = await read(jobId);
  if (job.status !== 'completed') throw new Error(JSON.stringify(job));
  return job;
};

it('a job has the p-value of its best among the best of all permuted searches', async () => {
  const jobId = await newHyperopt(CONFIG);
  const { runs, runner } = counting();
  expect(await work(jobId, 0, deps(runner))).toBe('finished');
  const { outcome, permuted_searches } = await outcomeOf(jobId);
  // Search 0 is better, all others are worse.
  expect(outcome.permutations).toMatchObject({ searches: SEARCHES, p_value: 2 / 20, reason: null });
  expect(outcome.permutations!.chance!.high).toBeGreaterThan(outcome.best_value);
  expect(permuted_searches).toBe(SEARCHES);
  expect(new Set(runs.permuted).size).toBe(SEARCHES);
  expect(runs.permuted.length).toBeLessThanOrEqual(SEARCHES * TRIALS);
});

it('a permuted search makes the trials of the job when the values are the same', async () => {
  const jobId = await newHyperopt({ ...CONFIG, pruner: 'median' });
  const requests: object[][] = [[], []];
  const run: TrialRunner['run'] = async (request) => {
    const { permutation, config, past } = request;
    if (permutation === undefined || permutation.number === 3)
      requests[permutation ? 1 : 0]!.push({ config, past });
    return computeTrial(request);
  };
  await work(jobId, 0, deps({ ...computing, run }));
  expect(requests[1]).toEqual(requests[0]);
  const { outcome } = await outcomeOf(jobId);
  expect(outcome.permutations!.p_value).toBe(1);
  expect(outcome.permutations!.chance!.median).toBeCloseTo(outcome.best_value, 6);
});

it('a lost worker loses no ended search, and the result is the same', async () => {
  const whole = await newHyperopt(CONFIG);
  await work(whole, 0, deps(counting().runner));
  const jobId = await newHyperopt(CONFIG);
  const forever = () => new Promise<never>(() => undefined);
  const { promise: died, resolve } = Promise.withResolvers<void>();
  const dying: TrialRunner['run'] = (request, ...rest) => {
    if (request.permutation?.number !== 7) return shifted(request, ...rest);
    resolve();
    return forever();
  };
  void work(jobId, 0, { ...deps({ ...computing, run: dying }), sleep: forever }, 'first');
  await died;
  expect((await deps().ledger.permutedSearches(jobId)).map(({ number }) => number)).toEqual([
    0, 1, 2, 3, 4, 5, 6,
  ]);
  const { runs, runner } = counting();
  expect(await work(jobId, 0, deps(runner), 'second')).toBe('finished');
  expect(runs.trials).toBe(0);
  expect(Math.min(...runs.permuted)).toBe(7);
  const [a, b] = [await outcomeOf(whole), await outcomeOf(jobId)];
  expect(b.outcome).toEqual({ ...a.outcome, study_name: b.outcome.study_name });
  expect(b.permuted_searches).toBe(SEARCHES);
});

/** A clock on which each trial takes longer than the interval between two records. */
function slowClock() {
  let now = Date.parse('2025-03-01T00:00:00.000Z');
  return { now: () => (now += 11_000) };
}

/** Trials of each permuted search of a whole job. */
async function trialsBySearch(): Promise<Map<number, number>> {
  const { runs, runner } = counting();
  await work(await newHyperopt(CONFIG), 0, deps(runner));
  const searches = Map.groupBy(runs.permuted, (number) => number);
  return new Map([...searches].map(([number, trials]) => [number, trials.length]));
}

it('a lost worker loses no recorded trial of the search that it was in', async () => {
  const whole = await newHyperopt(CONFIG);
  await work(whole, 0, deps(counting().runner));
  const jobId = await newHyperopt(CONFIG);
  const forever = () => new Promise<never>(() => undefined);
  const { promise: died, resolve } = Promise.withResolvers<void>();
  let begun = 0;
  const dying: TrialRunner['run'] = (request, ...rest) => {
    if (request.permutation?.number !== 7 || ++begun < 5) return shifted(request, ...rest);
    resolve();
    return forever();
  };
  const clock = slowClock();
  void work(jobId, 0, { ...deps({ ...computing, run: dying }), clock, sleep: forever }, 'first');
  await died;
  const { ledger } = deps();
  expect((await ledger.permutedTrials(jobId, 7)).map(({ number }) => number)).toEqual([0, 1, 2, 3]);
  // What an ended search recorded is deleted.
  expect(await ledger.permutedTrials(jobId, 6)).toEqual([]);
  const { runs, runner } = counting();
  await work(jobId, 0, { ...deps(runner), clock }, 'second');
  const expected = await trialsBySearch();
  expect(runs.permuted.filter((number) => number === 7)).toHaveLength(expected.get(7)! - 4);
  expect(runs.permuted.filter((number) => number === 8)).toHaveLength(expected.get(8)!);
  const [a, b] = [await outcomeOf(whole), await outcomeOf(jobId)];
  expect(b.outcome).toEqual({ ...a.outcome, study_name: b.outcome.study_name });
  expect(await ledger.permutedTrials(jobId, 7)).toEqual([]);
});

it('a job that resumes another continues the search that it was in, and so does the next', async () => {
  const cancelledAt = async (jobId: string, nth: number) => {
    const { runs, runner } = counting(async (request, ...rest) => {
      if (runs.permuted.filter((number) => number === 2).length === nth)
        await deps().hyperoptJobs.cancel(jobId, '2025-03-01T01:00:00.000Z');
      return shifted(request, ...rest);
    });
    await work(jobId, 0, { ...deps(runner), clock: slowClock() });
    return runs.permuted.filter((number) => number === 2).length;
  };
  const first = await newHyperopt(CONFIG);
  expect(await cancelledAt(first, 4)).toBe(4);
  const second = await newHyperopt(CONFIG, { resumed_from: first });
  expect(await cancelledAt(second, 2)).toBe(2);
  const third = await newHyperopt(CONFIG, { resumed_from: second });
  const { runs, runner } = counting();
  await work(third, 0, deps(runner));
  // The trial during which a job was cancelled is not recorded.
  const left = (await trialsBySearch()).get(2)! - (3 + 1);
  expect(runs.permuted.filter((number) => number === 2)).toHaveLength(left);
  expect((await outcomeOf(third)).outcome.permutations!.p_value).toBe(2 / 20);
});

it('a worker leaves a search that another has ended', async () => {
  const jobId = await newHyperopt(CONFIG);
  const ended = { schema_version: 1 as const, job_id: jobId, number: 3, value: -1, error: null };
  let begun = 0;
  const run: TrialRunner['run'] = async (request, ...rest) => {
    if (request.permutation?.number === 3 && ++begun === 2)
      await deps().ledger.endPermutedSearch({ ...ended, finished_at: '2025-03-01T00:30:00.000Z' });
    return shifted(request, ...rest);
  };
  expect(await work(jobId, 0, { ...deps({ ...computing, run }), clock: slowClock() })).toBe('finished');
  expect(begun).toBe(2);
  expect((await deps().ledger.permutedSearches(jobId))[3]!.value).toBe(-1);
});

it('a job that fails during its permuted searches is not reported as finished', async () => {
  const jobId = await newHyperopt(CONFIG);
  const run: TrialRunner['run'] = async (request, ...rest) => {
    if (request.permutation?.number === 4)
      await deps().hyperoptJobs.fail(jobId, { code: 'SVC001', message: 'lost' }, '2025-03-01T01:00:00.000Z');
    return shifted(request, ...rest);
  };
  expect(await work(jobId, 0, deps({ ...computing, run }))).toBe('stopped');
  const allFail: TrialRunner['run'] = async () => ({ state: 'failed', error: 'no' });
  expect(await work(await newHyperopt(CONFIG), 0, deps({ ...computing, run: allFail }))).toBe('finished');
});

it('two workers share the searches and write the same as one', async () => {
  const one = await newHyperopt(CONFIG);
  await work(one, 0, deps(counting().runner));
  const jobId = await newHyperopt({ ...CONFIG, workers: 2 });
  await Promise.all([0, 1].map((worker) => work(jobId, worker, deps(counting().runner))));
  const [a, b] = [await outcomeOf(one), await outcomeOf(jobId)];
  expect(b.outcome.permutations).toEqual(a.outcome.permutations);
  expect(b.permuted_searches).toBe(SEARCHES);
  const trials = async (id: string) => (await read(id)).trials.map(essence);
  expect(await trials(jobId)).toEqual(await trials(one));
});

it('a cancelled job stops, and the one that resumes it keeps its ended searches', async () => {
  const jobId = await newHyperopt(CONFIG);
  const cancelling: TrialRunner['run'] = async (request, ...rest) => {
    if (request.permutation?.number === 5)
      await deps().hyperoptJobs.cancel(jobId, '2025-03-01T01:00:00.000Z');
    return shifted(request, ...rest);
  };
  await work(jobId, 0, deps({ ...computing, run: cancelling }));
  expect((await read(jobId)).job.status).toBe('cancelled');
  const kept = await deps().ledger.permutedSearches(jobId);
  expect(kept).toHaveLength(5);
  const resumed = await newHyperopt(CONFIG, { resumed_from: jobId });
  const { runs, runner } = counting();
  await work(resumed, 0, deps(runner));
  expect(Math.min(...runs.permuted)).toBe(5);
  expect((await outcomeOf(resumed)).outcome.permutations!.p_value).toBe(2 / 20);
});

it('a job that resumes and is cancelled in turn has recorded the ended searches first', async () => {
  const cancelledIn = async (jobId: string, before?: () => Promise<unknown>) => {
    const run: TrialRunner['run'] = async (request, ...rest) => {
      if (request.permutation?.number === 2) {
        await before?.();
        await deps().hyperoptJobs.cancel(jobId, '2025-03-01T01:00:00.000Z');
      }
      return shifted(request, ...rest);
    };
    await work(jobId, 0, deps({ ...computing, run }));
    return (await deps().ledger.permutedSearches(jobId)).map(({ number }) => number);
  };
  const first = await newHyperopt(CONFIG);
  const other = { schema_version: 1 as const, job_id: first, number: 17, value: -1, error: null };
  const byAnother = () =>
    deps().ledger.endPermutedSearch({ ...other, finished_at: '2025-03-01T00:30:00.000Z' });
  expect(await cancelledIn(first, byAnother)).toEqual([0, 1, 17]);
  expect(await cancelledIn(await newHyperopt(CONFIG, { resumed_from: first }))).toEqual([0, 1, 17]);
});

it('searches without a complete trial count as worse; if all are, the reason is stated', async () => {
  const failing =
    (fails: (permutation: number) => boolean): TrialRunner['run'] =>
    async (request, ...rest) =>
      request.permutation && fails(request.permutation.number)
        ? { state: 'failed', error: 'it does not like this order' }
        : shifted(request, ...rest);
  const some = await newHyperopt(CONFIG);
  await work(some, 0, deps({ ...computing, run: failing((number) => number < 2) }));
  expect((await outcomeOf(some)).outcome.permutations).toMatchObject({
    searches: SEARCHES,
    undefined_searches: 2,
    p_value: 1 / 20,
  });
  const all = await newHyperopt(CONFIG);
  await work(all, 0, deps({ ...computing, run: failing(() => true) }));
  expect((await outcomeOf(all)).outcome.permutations).toEqual({
    searches: SEARCHES,
    undefined_searches: SEARCHES,
    p_value: null,
    chance: null,
    reason: 'No permuted search has a complete trial: it does not like this order',
  });
});
