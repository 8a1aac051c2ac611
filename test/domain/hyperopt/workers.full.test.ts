import { beforeAll, describe, expect, it } from 'vitest';
import type { HyperoptJobConfig } from '#contract/hyperopt/hyperopt.ts';
import type { TrialRunner } from '#domain/hyperopt/run-hyperopt-worker.ts';
import { LEASE_MS } from '#domain/hyperopt/trial-queue.ts';
import { type FinishedHyperoptJob, hyperoptFixture } from '../../support/hyperopt-fixture.ts';
import { computeTrial, computing, essence } from '../../support/hyperopt-workers.ts';
import { runThroughCrash } from './workers-fixture.ts';

const fixture = hyperoptFixture();
const { newHyperopt, work, read, deps, dying } = fixture;
let one: FinishedHyperoptJob;
beforeAll(async () => {
  one = await fixture.runWithOneWorker();
});

/** Runs trials with delays that vary by call, so that workers interleave. */
function unsteady(seed: number): TrialRunner {
  let calls = seed;
  return {
    ...computing,
    run: async (request) => {
      for (let turns = (calls++ * 7919) % 13; turns > 0; turns--) await new Promise(setImmediate);
      return computeTrial(request);
    },
  };
}

describe('hyperopt job', () => {
  it('hyperopt job has the same trials for any number of workers and any concurrency', async () => {
    for (const [workers, concurrency] of [
      [1, 3],
      [2, 1],
      [4, 2],
    ] as const) {
      const jobId = await newHyperopt({ workers });
      const outcomes = await Promise.all(
        Array.from({ length: workers }, (_, worker) =>
          work(jobId, worker, { ...deps(unsteady(worker)), concurrency: () => concurrency }),
        ),
      );
      expect(new Set(outcomes)).toEqual(new Set(['finished']));
      const many = await read(jobId);
      expect(many.trials.map(essence)).toEqual(one.trials.map(essence));
      expect(many.job.trials).toEqual(one.job.trials);
      expect(many.job.status).toBe('completed');
    }
    const states = Object.groupBy(one.trials, ({ state }) => state);
    for (const state of ['complete', 'pruned', 'failed'] as const)
      expect(states[state]?.length).toBeGreaterThan(1);
  });

  it('hyperopt job counts every trial once and numbers finished trials without gaps', async () => {
    const jobId = await newHyperopt({ workers: 4 });
    await Promise.all([0, 1, 2, 3].map((worker) => work(jobId, worker, deps(unsteady(worker)))));
    const { job, trials } = await read(jobId);
    const sequence = trials.map((trial) => (trial.state === 'running' ? 0 : trial.sequence));
    expect(sequence.toSorted((a, b) => a - b)).toEqual(trials.map((_, i) => i + 1));
    const { complete, pruned, failed, total } = job.trials;
    expect(complete + pruned + failed).toBe(total);
    const best = Math.max(...trials.map((trial) => (trial.state === 'complete' ? trial.value : -Infinity)));
    expect(job.trials.best_value).toBe(best);
    expect(new Set(trials.map(({ attempt }) => attempt))).toEqual(new Set([1]));
  });

  it('hyperopt job runs identical parameters once across workers, also after a worker crash', async () => {
    // Four points; those with 22 trees fail.
    const space = {
      n_estimators_range: [21, 22],
      learning_rate_range: [0.1, 0.1],
      model_types: ['xgboost', 'catboost'],
    } satisfies Partial<HyperoptJobConfig>;
    let runs = 0;
    const counted = (seed: number): TrialRunner => ({
      ...computing,
      run: async (request, signal) => {
        runs++;
        return unsteady(seed).run(request, signal, () => {});
      },
    });
    const single = await newHyperopt({ ...space });
    await work(single, 0, deps());
    const expected = (await read(single)).trials.map(essence);
    const first = new Map<string, number>();
    for (const { number, params, same_as } of expected) {
      const key = JSON.stringify([params.model_type, params.n_estimators]);
      expect(same_as).toBe(first.get(key) ?? null);
      if (!first.has(key)) first.set(key, number);
    }
    expect(first.size).toBe(4);

    const jobId = await newHyperopt({ ...space, workers: 4 });
    const working = [0, 1, 2, 3].map((worker) =>
      work(jobId, worker, { ...deps(counted(worker)), concurrency: () => 2 }),
    );
    await Promise.all(working);
    expect((await read(jobId)).trials.map(essence)).toEqual(expected);
    expect(runs).toBe(4);

    const killed = await newHyperopt({ ...space, workers: 2 });
    const { deps: dyingDeps, died } = dying(1);
    void work(killed, 0, dyingDeps);
    await died;
    // The clock of the other worker is past the lease.
    const late = { ...deps(), clock: { now: () => Date.now() + LEASE_MS + 1_000 } };
    expect(await work(killed, 1, late)).toBe('finished');
    expect((await read(killed)).trials.map(essence)).toEqual(expected);
  });

  it('hyperopt job ignores tree parameters for logistic regression', async () => {
    const jobId = await newHyperopt({ model_types: ['logistic_regression', 'xgboost'] });
    await work(jobId, 0, deps(computing));
    const { trials } = await read(jobId);
    const linear = trials.filter(({ params }) => params.model_type === 'logistic_regression');
    expect(linear.length).toBeGreaterThan(1);
    for (const { params } of linear) expect(params).toEqual(linear[0]!.params);
    expect(linear.at(-1)).toMatchObject({ same_as: linear[0]!.number });
    expect(new Set(trials.map(({ params }) => params.n_estimators)).size).toBeGreaterThan(2);
  });
});

describe('crashed worker', () => {
  it.each([6, 40])(
    'crash in trial %i is followed immediately by its replacement without changing results',
    async (nth) => {
      const { outcome, job, trials } = await runThroughCrash(fixture, nth);
      expect(outcome).toBe('finished');
      expect(trials.map(essence)).toEqual(one.trials.map(essence));
      expect(job.trials).toEqual(one.job.trials);
      expect(trials.filter(({ attempt }) => attempt === 2)).toHaveLength(1);
    },
  );
});

describe('hyperopt worker', () => {
  it('worker reports finished when another worker ends its trial and the job', async () => {
    const jobId = await newHyperopt({ workers: 2 });
    const [begun, completed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const run: TrialRunner['run'] = (_, signal) => {
      begun.resolve();
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    };
    // The first heartbeat comes after the end of the job.
    const slow = { ...deps({ ...computing, run }), sleep: () => completed.promise };
    const working = work(jobId, 0, slow);
    await begun.promise;
    const late = { ...deps(), clock: { now: () => Date.now() + LEASE_MS + 1_000 } };
    expect(await work(jobId, 1, late)).toBe('finished');
    completed.resolve();
    expect(await working).toBe('finished');
  });
});
