import { QueryClient } from '@tanstack/react-query';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { countKey, JobCache } from '../../web/src/api/job-cache.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const LIST = ['listHyperopts', { query: { limit: 50 } }];
const ONE = ['getHyperopt', { params: { job_id: 'ho-1' } }];
const OTHER = ['getHyperopt', { params: { job_id: 'ho-2' } }];

/** Cache with a running job at 10 %, and its client. */
function scene() {
  const client = new QueryClient();
  const cache = new JobCache(client, () => true);
  const items = [
    { job_id: 'ho-1', status: 'running', progress: 10, current_trial: 4, total_trials: 40 },
    { job_id: 'ho-2', status: 'running', progress: 50, current_trial: 20, total_trials: 40 },
  ];
  client.setQueryData(LIST, { items }, { updatedAt: 1 });
  client.setQueryData(['getOverview', {}], { moving: [{ id: 'ho-1', progress: 0.1 }] });
  client.setQueryData(ONE, {});
  client.setQueryData(OTHER, {});
  const isStale = (key: readonly unknown[]) => client.getQueryState(key)!.isInvalidated;
  const report = (status: 'running' | 'completed', progress: number) => {
    cache.apply({ kind: 'hyperopt', id: 'ho-1', status, progress });
    vi.advanceTimersByTime(250);
  };
  return { client, isStale, report };
}

test('first event of a job loads its list again: nothing is known of what happened before', () => {
  const { isStale, report } = scene();
  report('running', 0.1);
  expect([LIST, ['getOverview', {}], ONE, OTHER].map(isStale)).toEqual([true, true, true, false]);
});

test('events of jobs do not load the number of jobs of a list again', () => {
  const { client, isStale, report } = scene();
  const queryKey = countKey('listHyperopts', { status: 'running' });
  client.setQueryData(queryKey, { value: 2, relation: 'exact' });
  report('running', 0.1);
  report('completed', 1);
  expect([LIST, queryKey].map(isStale)).toEqual([true, false]);
});

test('progress is set in the list in its units, without a load', () => {
  const { client, isStale, report } = scene();
  report('running', 0.1);
  client.setQueryData(LIST, client.getQueryData(LIST), { updatedAt: 2 });
  report('running', 0.25);
  const { items } = client.getQueryData<{ items: object[] }>(LIST)!;
  expect(items).toMatchObject([
    { progress: 25, current_trial: 10 },
    { progress: 50, current_trial: 20 },
  ]);
  expect(client.getQueryData(['getOverview', {}])).toEqual({ moving: [{ id: 'ho-1', progress: 0.25 }] });
  expect(isStale(LIST)).toBe(false);
  // Its data are as old as before.
  expect(client.getQueryState(LIST)!.dataUpdatedAt).toBe(2);
});

test('progress of a job with permuted searches is set in trials, then in searches', () => {
  const { client, report } = scene();
  const permutations = { ended: 0, total: 19 };
  const job = {
    job_id: 'ho-1',
    status: 'running',
    progress: 1,
    current_trial: 4,
    total_trials: 40,
    permutations,
  };
  report('running', 0.01);
  client.setQueryData(LIST, { items: [job] });
  const shown = () => client.getQueryData<{ items: object[] }>(LIST)!.items[0];
  // 20 of 20 times 40 trials.
  report('running', 0.025);
  expect(shown()).toMatchObject({ current_trial: 20, permutations: { ended: 0, total: 19 } });
  // All trials and 9 searches of 40.
  report('running', 0.5);
  expect(shown()).toMatchObject({ progress: 50, current_trial: 40, permutations: { ended: 9, total: 19 } });
});

test('best value of a list that only makes progress is loaded every 15 s', () => {
  const { client, isStale, report } = scene();
  report('running', 0.1);
  client.setQueryData(LIST, client.getQueryData(LIST));
  vi.advanceTimersByTime(15_000);
  report('running', 0.25);
  expect(isStale(LIST)).toBe(true);
});

test('end of a job loads its list and its details again', () => {
  const { client, isStale, report } = scene();
  report('running', 0.1);
  for (const key of [LIST, ONE]) client.setQueryData(key, client.getQueryData(key));
  report('completed', 1);
  expect([LIST, ONE, OTHER].map(isStale)).toEqual([true, true, false]);
});
