import { beforeAll, expect, it } from 'vitest';
import type { StoredTrial, TrialIn, TrialState } from '#contract/hyperopt/hyperopt.ts';
import { listHyperoptTrials } from '#domain/hyperopt/get-hyperopt.ts';
import { type FinishedHyperoptJob, hyperoptFixture } from '../../support/hyperopt-fixture.ts';
import { computing } from '../../support/hyperopt-workers.ts';

/** Stored trials and their reads. */

const fixture = hyperoptFixture();
const { newHyperopt, work, deps } = fixture;
let one: FinishedHyperoptJob;
beforeAll(async () => {
  one = await fixture.runWithOneWorker();
});

/** Every trial of a list, page by page. */
async function everyTrial(state: TrialState | undefined, limit: number): Promise<StoredTrial[]> {
  const trials: StoredTrial[] = [];
  let cursor: string | undefined;
  do {
    const page = await listHyperoptTrials(deps(), { job_id: one.job.job_id, limit, cursor, state });
    expect(page.items.length).toBeLessThanOrEqual(limit);
    if (page.next !== null) expect(page.items).toHaveLength(limit);
    trials.push(...page.items);
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
  return trials;
}

it.each([1, 7, 40, 100])(
  'trial list returns trials by number and by state with %i per page',
  async (limit) => {
    expect(await everyTrial(undefined, limit)).toEqual(one.trials);
    for (const state of ['complete', 'pruned', 'failed', 'running'] as const) {
      expect(await everyTrial(state, limit)).toEqual(one.trials.filter((trial) => trial.state === state));
    }
  },
);

it('trial list finds one trial by its number', async () => {
  const { job_id } = one.job;
  const find = async (number: number, state?: TrialState) => {
    const { items, next } = await listHyperoptTrials(deps(), { job_id, limit: 20, number, state });
    return { items, next };
  };
  const trial = one.trials[7]!;
  expect(await find(7)).toEqual({ items: [trial], next: null });
  expect(await find(7, trial.state)).toEqual({ items: [trial], next: null });
  expect(await find(7, 'running')).toEqual({ items: [], next: null });
  // A later trial must not stand in for one that has not started.
  expect(await find(one.trials.length)).toEqual({ items: [], next: null });
});

it('trial list rejects a cursor of another list', async () => {
  const { job_id } = one.job;
  const { next } = await listHyperoptTrials(deps(), { job_id, limit: 3 });
  const rejected = { code: 'VAL006', field: 'cursor' };
  const other = { job_id, limit: 3, cursor: next!, state: 'failed' as const };
  await expect(listHyperoptTrials(deps(), other)).rejects.toMatchObject(rejected);
  await expect(listHyperoptTrials(deps(), { job_id, limit: 3, cursor: 'mine' })).rejects.toMatchObject(
    rejected,
  );
  await expect(listHyperoptTrials(deps(), { job_id: 'ho-no', limit: 3 })).rejects.toMatchObject({
    code: 'OPT001',
  });
});

it('ledger stores exact daily returns, and only for complete trials', async () => {
  const returns = Float64Array.of(0.1, -1 / 3, 0, 5e-324, -0, 1e300);
  const jobId = await newHyperopt({ n_trials: 3 });
  const run: typeof computing.run = async ({ config }) =>
    config.ml_engine!.n_estimators > 0
      ? {
          state: 'complete',
          value: 1,
          windows: [1, null],
          efficiency: null,
          returns: { firstDay: '2025-02-01', returns },
        }
      : { state: 'failed', error: 'never' };
  await work(jobId, 0, deps({ ...computing, run }));
  const all = await deps().ledger.returns(jobId);
  expect([...all.keys()]).toEqual([0, 1, 2]);
  for (const each of [all.get(1), await deps().ledger.returnsOf(jobId, 1)]) {
    expect(each!.firstDay).toBe('2025-02-01');
    expect(Buffer.from(each!.returns.buffer)).toEqual(Buffer.from(returns.buffer));
  }
  expect(await deps().ledger.returnsOf(jobId, 3)).toBeUndefined();
  const complete = one.trials.filter((trial) => trial.state === 'complete' && trial.same_as === null);
  expect([...(await deps().ledger.returns(one.job.job_id)).keys()]).toEqual(
    complete.map(({ number }) => number),
  );
});

it('ledger begins a trial once and rejects a takeover with an outdated lease', async () => {
  const jobId = await newHyperopt();
  const { ledger } = deps();
  const held: TrialIn<'running'> = {
    schema_version: 2,
    state: 'running',
    job_id: jobId,
    number: 0,
    params: { model_type: 'xgboost' },
    attempt: 1,
    worker: 0,
    task: 'a',
    started_at: '2025-03-01T00:00:00.000Z',
    lease_expires_at: 1_000,
  };
  expect(await ledger.begin(held)).toBe(true);
  expect(await ledger.begin({ ...held, task: 'b' })).toBe(false);
  const taken = { ...held, attempt: 2, task: 'b' };
  // The lease was renewed after it was read.
  expect(await ledger.renew(held, 2_000)).toBe(true);
  expect(await ledger.beginAgain(held, taken)).toBe(false);
  expect(await ledger.beginAgain({ ...held, lease_expires_at: 2_000 }, taken)).toBe(true);
  expect(await ledger.renew(held, 3_000)).toBe(false);
  expect(await ledger.read(jobId, 0)).toEqual([taken]);
});
