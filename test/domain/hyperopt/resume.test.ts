import { beforeAll, describe, expect, it } from 'vitest';
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
  async function interrupted(nth: number): Promise<string> {
    const jobId = await newHyperopt();
    let begun = 0;
    const run: TrialRunner['run'] = async (request) => {
      if (++begun === nth) await deps().hyperoptJobs.cancel(jobId, new Date().toISOString());
      return computeTrial(request);
    };
    await work(jobId, 0, deps({ ...computing, run }));
    return jobId;
  }

  async function goOn(from: string, codeDigest = computing.codeDigest) {
    const jobId = await newHyperopt({}, { resumed_from: from });
    let runs = 0;
    const run: TrialRunner['run'] = (request) => {
      runs++;
      return computeTrial(request);
    };
    await work(jobId, 0, deps({ codeDigest, warnings: [], run, close: async () => undefined }));
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

  it('resumed hyperopt job runs every trial when the code has changed', async () => {
    const { trials, runs } = await goOn(await interrupted(5), 'another');
    expect(runs).toBe(40);
    expect(trials.map(essence)).toEqual(one.trials.map(essence));
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
