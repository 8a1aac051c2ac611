import { beforeAll, describe, expect, it } from 'vitest';
import {
  type RunHyperoptWorkerDeps,
  runHyperoptWorker,
  type TrialRunner,
} from '#domain/hyperopt/run-hyperopt-worker.ts';
import { type ClaimedTrial, LEASE_MS, TrialQueue } from '#domain/hyperopt/trial-queue.ts';
import { type FinishedHyperoptJob, hyperoptFixture } from '../../support/hyperopt-fixture.ts';
import { computeTrial, computing, essence } from '../../support/hyperopt-workers.ts';
import { runThroughCrash } from './workers-fixture.ts';

const fixture = hyperoptFixture();
const { newHyperopt, work, read, deps, dying } = fixture;
let one: FinishedHyperoptJob;
beforeAll(async () => {
  one = await fixture.runWithOneWorker();
});

describe('hyperopt job', () => {
  it('hyperopt job runs at most a tenth of its trials concurrently', async () => {
    let running = 0;
    let most = 0;
    const { promise: full, resolve } = Promise.withResolvers<void>();
    const run: TrialRunner['run'] = async (request) => {
      most = Math.max(most, ++running);
      if (running === 4) resolve();
      await full;
      // Gives other workers turns to begin more trials.
      for (let i = 0; i < 20; i++) await new Promise(setImmediate);
      running--;
      return computeTrial(request);
    };
    const jobId = await newHyperopt();
    const own = { ...deps({ ...computing, run }), concurrency: () => 8 };
    await Promise.all([0, 1].map((worker) => work(jobId, worker, own)));
    expect(most).toBe(4);
  });

  it('each ended trial counts for its owner before it can be read, and once when the job has ended', async () => {
    const jobId = await newHyperopt();
    const own = deps();
    const { owner } = (await own.hyperoptJobs.get(jobId))!;
    const counted = async () => {
      const { trials, sums } = await own.ownerTrials.read(owner, []);
      return sums.reduce((sum, each) => sum + each.trials, trials.length);
    };
    const before = await counted();
    const ahead: number[] = [];
    const run: TrialRunner['run'] = async (request) => {
      const ended = (await own.ledger.read(jobId, 0)).filter(({ state }) => state !== 'running').length;
      ahead.push((await counted()) - before - ended);
      return computeTrial(request);
    };
    await work(jobId, 0, deps({ ...computing, run }));
    expect(Math.min(...ahead)).toBe(0);
    expect(Math.max(...ahead)).toBeLessThanOrEqual(10);
    const { trials } = await read(jobId);
    expect(await counted()).toBeLessThanOrEqual(before + trials.length);
  });

  it('hyperopt job reuses the result of identical parameters', async () => {
    let runs = 0;
    const run: TrialRunner['run'] = (request) => {
      runs++;
      return computeTrial(request);
    };
    const jobId = await newHyperopt({ n_estimators_range: [25, 26], learning_rate_range: [0.1, 0.1] });
    await work(jobId, 0, deps({ ...computing, run }));
    const { trials } = await read(jobId);
    const taken = trials.filter((trial) => 'same_as' in trial && trial.same_as !== null);
    expect(taken.length).toBeGreaterThan(20);
    expect(runs).toBe(trials.length - taken.length);
    for (const trial of taken) {
      const original = trials[(trial as { same_as: number }).same_as]!;
      const { number: _, same_as: __, ...same } = essence(original);
      expect(essence(trial)).toMatchObject(same);
    }
  });
});

describe('best trial', () => {
  it.each([
    ['maximize', [1, 3, 3, 2], 1],
    ['minimize', [1, 3, 3, 2], 0],
    ['minimize', [5, 4, 4, 6], 1],
  ] as const)('best trial is the first to %s %j in any finishing order', async (direction, values, best) => {
    for (const order of [
      [0, 1, 2, 3],
      [3, 2, 1, 0],
      [2, 0, 3, 1],
    ]) {
      const jobId = await newHyperopt({ direction });
      const job = (await deps().hyperoptJobs.begin(jobId, 0, 'task', new Date().toISOString()))!;
      const queue = new TrialQueue(deps(), job, { worker: 0, task: 'task' });
      const asked: ClaimedTrial[] = [];
      for (const _ of values) asked.push((await queue.ask()) as ClaimedTrial);
      for (const number of order) {
        const end = { windows: [], efficiency: null, returns: null };
        await queue.tell(asked[number]!, { state: 'complete', value: values[number]!, ...end });
      }
      const { trials } = (await read(jobId)).job;
      expect(trials).toMatchObject({ best_trial: best, best_value: values[best], complete: 4 });
    }
  });
});

describe('hyperopt result', () => {
  it('hyperopt result contains the overfitting diagnostics of all trials', () => {
    if (one.job.status !== 'completed') throw new Error(one.job.status);
    const { outcome, trials } = one.job;
    const complete = one.trials.filter((trial) => trial.state === 'complete');
    expect(outcome.best_trials[0]).toEqual({
      number: outcome.best_trial,
      value: outcome.best_value,
      params: outcome.best_params,
    });
    expect(outcome.best_trials).toHaveLength(Math.min(10, complete.length));
    const values = outcome.best_trials.map(({ value }) => value);
    expect(values).toEqual(values.toSorted((a, b) => b - a));
    const { overfitting } = outcome;
    expect(overfitting).toMatchObject({ trials: 40, days: 30, walk_forward_efficiency: 0.5 });
    expect(overfitting.pbo).toMatchObject({ blocks: 6, splits: 20 });
    // Selection from 40 trials lowers the probability.
    expect(overfitting.deflated_sharpe_ratio).toBeLessThan(overfitting.probabilistic_sharpe_ratio!);
    expect(overfitting.plateau === null).toBe(trials.complete < 10);
  });
});

describe('crashed worker', () => {
  it.each([1])(
    'crash in trial %i is followed immediately by its replacement without changing results',
    async (nth) => {
      const { outcome, job, trials } = await runThroughCrash(fixture, nth);
      expect(outcome).toBe('finished');
      expect(trials.map(essence)).toEqual(one.trials.map(essence));
      expect(job.trials).toEqual(one.job.trials);
      expect(trials.filter(({ attempt }) => attempt === 2)).toHaveLength(1);
    },
  );

  it('trial of a crashed worker is taken over only after its lease expires', async () => {
    const jobId = await newHyperopt({ workers: 2 });
    const { deps: dyingDeps, died } = dying(1);
    void work(jobId, 0, dyingDeps);
    await died;
    const { resolve, promise: waited } = Promise.withResolvers<void>();
    let late = 0;
    let waits = 0;
    const other: RunHyperoptWorkerDeps = {
      ...deps(),
      clock: { now: () => Date.now() + late },
      sleep: async (ms, signal) => {
        if (++waits === 3) resolve();
        await deps().sleep(Math.min(ms, 5), signal);
      },
    };
    const working = work(jobId, 1, other);
    await waited;
    const stuck = await read(jobId);
    expect(stuck.trials[0]).toMatchObject({ state: 'running', attempt: 1, worker: 0 });
    expect(stuck.trials.length).toBeLessThanOrEqual(4);
    late = LEASE_MS + 1_000;
    expect(await working).toBe('finished');
    const { trials } = await read(jobId);
    expect(trials.map(essence)).toEqual(one.trials.map(essence));
    expect(trials[0]).toMatchObject({ attempt: 2, worker: 1 });
  });

  it('crashed worker that resumes cannot record a trial taken over by another', async () => {
    const jobId = await newHyperopt();
    const own = deps();
    const job = (await own.hyperoptJobs.begin(jobId, 0, 'first', new Date().toISOString()))!;
    const asked = await new TrialQueue(own, job, { worker: 0, task: 'first' }).ask();
    if (typeof asked === 'string') throw new Error(asked);
    const next = new TrialQueue(own, job, { worker: 0, task: 'second' });
    const again = await next.ask();
    if (typeof again === 'string') throw new Error(again);
    expect(again.trial).toMatchObject({ number: 0, attempt: 2, params: asked.trial.params });
    const old = new TrialQueue(own, job, { worker: 0, task: 'first' });
    expect(await old.tell(asked, { state: 'failed', error: 'late' })).toBe('conflict');
    expect(await own.ledger.renew(asked.trial, Date.now())).toBe(false);
    expect(await next.tell(again, { state: 'failed', error: 'in time' })).toBe('recorded');
    // A retried write whose first response was lost.
    expect(await old.tell(asked, { state: 'failed', error: 'later still' })).toBe('conflict');
    const { job: after, trials } = await read(jobId);
    expect(after.trials.failed).toBe(1);
    expect(trials[0]).toMatchObject({ state: 'failed', error: 'in time', attempt: 2 });
  });
});

describe('hyperopt worker', () => {
  it('worker fails the job with the common error when every trial failed', async () => {
    const run: TrialRunner['run'] = async () => ({ state: 'failed', error: 'no trade was made' });
    const jobId = await newHyperopt();
    await work(jobId, 0, deps({ ...computing, run }));
    const { job } = await read(jobId);
    expect(job).toMatchObject({
      status: 'failed',
      error_code: 'OPT002',
      error: 'All 40 trials failed. Each: no trade was made',
      trials: { failed: 40, best_value: null },
    });
  });

  it('worker stops and records nothing after its job is cancelled', async () => {
    const jobId = await newHyperopt();
    let begun = 0;
    const run: TrialRunner['run'] = async (request) => {
      if (++begun === 5) await deps().hyperoptJobs.cancel(jobId, new Date().toISOString());
      return computeTrial(request);
    };
    expect(await work(jobId, 0, deps({ ...computing, run }))).toBe('stopped');
    const { job, trials } = await read(jobId);
    expect(job.status).toBe('cancelled');
    expect(trials.map(({ state }) => state).filter((state) => state === 'running')).toHaveLength(1);
    expect(trials).toHaveLength(5);
    expect(await work(jobId, 0, deps())).toBe('not_mine');
  });

  it('stopped worker releases its trials for immediate takeover', async () => {
    const jobId = await newHyperopt({ workers: 2 });
    const stop = new AbortController();
    let begun = 0;
    const run: TrialRunner['run'] = (request, signal) => {
      if (++begun < 7) return computeTrial(request);
      stop.abort(new Error('Stopped'));
      return Promise.reject(signal.reason);
    };
    const worker = { worker: 0, task: 'first' };
    await expect(runHyperoptWorker(deps({ ...computing, run }), jobId, worker, stop.signal)).rejects.toThrow(
      'Stopped',
    );
    expect(await work(jobId, 1, deps())).toBe('finished');
    expect((await read(jobId)).trials.map(essence)).toEqual(one.trials.map(essence));
  });
});
