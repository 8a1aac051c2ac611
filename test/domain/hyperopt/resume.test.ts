import { beforeAll, describe, expect, it } from 'vitest';
import { countEnded } from '#domain/hyperopt/count-hyperopt.ts';
import type { TrialRunner } from '#domain/hyperopt/run-hyperopt-worker.ts';
import { type FinishedHyperoptJob, hyperoptFixture } from '../../support/hyperopt-fixture.ts';
import { computeTrial, computing, essence } from '../../support/hyperopt-workers.ts';

const fixture = hyperoptFixture();
const { newHyperopt, work, read, deps, dying } = fixture;
let one: FinishedHyperoptJob;
beforeAll(async () => {
  one = await fixture.runWithOneWorker();
});

describe('resumed hyperopt job', () => {
  /** Cancelled while its `nth` trial ran. */
  async function interrupted(nth: number, owner = 'owner'): Promise<string> {
    const jobId = await newHyperopt({}, { owner });
    let begun = 0;
    const run: TrialRunner['run'] = async (request) => {
      if (++begun === nth) await deps().hyperoptJobs.cancel(jobId, new Date().toISOString());
      return computeTrial(request);
    };
    await work(jobId, 0, deps({ ...computing, run }));
    return jobId;
  }

  const { codeDigest, dataDigest } = computing;
  async function goOn(from: string, inputs: Partial<TrialRunner> = {}, owner = 'owner') {
    const jobId = await newHyperopt({}, { resumed_from: from, owner });
    let runs = 0;
    const run: TrialRunner['run'] = (request) => {
      runs++;
      return computeTrial(request);
    };
    await work(jobId, 0, deps({ ...computing, ...inputs, run }));
    return { ...(await read(jobId)), runs };
  }

  it('resumed hyperopt job reuses finished trials and runs the rest', async () => {
    const old = await interrupted(25);
    const { job, trials, runs } = await goOn(old);
    expect(runs).toBe(40 - 24);
    expect(trials.map(essence)).toEqual(one.trials.map(essence));
    expect(job.status).toBe('completed');
    const outcomes = [job, one.job].map((each) => (each.status === 'completed' ? each.outcome : null));
    expect(outcomes[0]!.overfitting).toEqual(outcomes[1]!.overfitting);
    expect((await read(old)).job.status).toBe('cancelled');
  });

  /** Trials that count for a user, and those of them with a Sharpe ratio. */
  async function counted(owner: string) {
    const found = (await deps().ownerTrials.read(owner, [])).trials;
    const digests = new Map(found.map(({ digest, sharpe }) => [digest, sharpe]));
    return { trials: digests.size, known: [...digests.values()].filter((each) => each !== null).length };
  }
  const end = async (jobId: string) => countEnded(deps(), (await read(jobId)).job);

  it('trials of a cancelled hyperopt job count once, and the job that resumes it adds the others', async () => {
    const old = await interrupted(25, 'ada');
    expect((await counted('ada')).trials).toBe(0);
    await Promise.all([end(old), end(old)]);
    await end(old);
    const part = await counted('ada');
    expect(part.trials).toBe(24);
    expect(part.known).toBeGreaterThan(0);
    await goOn(old, { codeDigest }, 'ada');
    const whole = await counted('ada');
    expect(whole.trials).toBe(40);
    expect(whole.known).toBeGreaterThan(part.known);
    // For another user all of them are new.
    await goOn(old, { codeDigest }, 'bob');
    expect(await counted('bob')).toEqual(whole);
  });

  it('hyperopt job without a complete trial counts for nobody', async () => {
    const none = await interrupted(1, 'eve');
    await end(none);
    expect((await counted('eve')).trials).toBe(0);
  });

  it('resumed grid with constraints runs the other points and keeps violations and figures', async () => {
    const config: Parameters<typeof newHyperopt>[0] = {
      n_trials: 12,
      sampler: 'grid',
      pruner: 'none',
      model_types: ['xgboost'],
      n_estimators_range: [20, 20],
      learning_rate_range: [0.1, 0.1],
      search: { fast: { kind: 'integer', min: 1, max: 23, step: 2 } },
      grid_order: ['fast'],
      constraints: [{ metric: 'total_trades', bound: 'min', limit: 10, divisor: 10 }],
    };
    const old = await newHyperopt(config);
    let runs = 0;
    const trialOf = async (request: Parameters<typeof computeTrial>[0]): ReturnType<typeof computeTrial> => {
      const fast = Number(request.config.params.fast);
      const figures = { total_trades: fast, total_profit_pct: 1, max_drawdown_pct: 2, profit_factor: null };
      // Fewer trades earn more: the best feasible trial is the first with ten trades.
      const outcome = await computeTrial(request);
      if (outcome.state !== 'complete') return outcome;
      return { ...outcome, value: -fast, figures, violation: Math.max(0, 10 - fast) / 10 };
    };
    const killed: TrialRunner['run'] = async (request) => {
      if (++runs === 7) await deps().hyperoptJobs.cancel(old, new Date().toISOString());
      return trialOf(request);
    };
    await work(old, 0, deps({ ...computing, run: killed }));
    runs = 0;
    const jobId = await newHyperopt(config, { resumed_from: old });
    const counted: TrialRunner['run'] = (request) => {
      runs++;
      return trialOf(request);
    };
    await work(jobId, 0, deps({ ...computing, run: counted }));
    const { job, trials } = await read(jobId);
    expect(runs).toBe(12 - 6);
    expect(trials.map(({ params }) => params.fast)).toEqual([1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23]);
    expect(trials.map((trial) => (trial.state === 'complete' ? trial.violation : null))).toEqual([
      0.9, 0.7, 0.5, 0.3, 0.1, 0, 0, 0, 0, 0, 0, 0,
    ]);
    expect(trials[2]).toMatchObject({ figures: { total_trades: 5 } });
    expect(job).toMatchObject({
      status: 'completed',
      trials: { best_trial: 5, best_value: -11, best_violation: 0 },
      outcome: { best_trial: 5, best_violation: 0 },
    });
  });

  it.each([
    ['code', { codeDigest: 'another', dataDigest }],
    ['candles', { codeDigest, dataDigest: 'others' }],
  ])('resumed hyperopt job runs every trial when the %s changed', async (changed, inputs) => {
    const owner = `eva of ${changed}`;
    const old = await interrupted(25, owner);
    await end(old);
    const before = await read(old);
    const { trials, runs } = await goOn(old, inputs, owner);
    expect(runs).toBe(40);
    expect(trials.map(essence)).toEqual(one.trials.map(essence));
    // Those with equal daily returns are the same; of the others nothing is known but that they were tried again.
    const unknown = before.trials.filter(({ state }) => state === 'pruned' || state === 'failed');
    expect(unknown.length).toBeGreaterThan(0);
    expect((await counted(owner)).trials).toBe(40 + unknown.length);
  });

  it('hyperopt job goes on with a warning when a later worker reads other candles', async () => {
    const jobId = await newHyperopt();
    const { deps: dyingDeps, died } = dying(3);
    void work(jobId, 0, dyingDeps, 'first');
    await died;
    const others = { ...computing, dataDigest: 'others' };
    expect(await work(jobId, 0, deps(others), 'second')).toBe('finished');
    const { job } = await read(jobId);
    expect(job.status).toBe('completed');
    expect(job.warnings).toEqual([
      expect.stringMatching(/^The stored candles changed after the first trial/),
    ]);
  });

  it('hyperopt job fails with VAL006 when a second worker has different code', async () => {
    const jobId = await newHyperopt();
    const { deps: dyingDeps, died } = dying(3);
    void work(jobId, 0, dyingDeps, 'first');
    await died;
    expect(await work(jobId, 0, deps({ ...computing, codeDigest: 'edited' }), 'second')).toBe('stopped');
    const { job, trials } = await read(jobId);
    expect(job).toMatchObject({ status: 'failed', error_code: 'VAL006' });
    expect(trials).toHaveLength(3);
  });
});
