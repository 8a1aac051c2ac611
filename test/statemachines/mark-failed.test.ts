import {
  ConditionalCheckFailedException,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import { beforeAll, expect, test } from 'vitest';
import { DynamoJobStore } from '#adapters/dynamo/job-store.ts';
import type { JobStatus } from '#contract/backtests/backtest.ts';
import { fileEngine } from '../support/file-engine.ts';
import { pendingJob, SOME_RESULT, SOME_RESULTS, SOME_TIMING } from '../support/jobs.ts';
import { BACKTEST_ASL, fail, runAsl } from '../support/run-asl.ts';

/** Real writes of the states on a real table, read back by the API's store. */

const AT = '2025-03-02T00:00:00.000Z';
const engine = fileEngine();
let store: DynamoJobStore;
let ids = 0;
beforeAll(async () => {
  store = new DynamoJobStore(engine.client, engine.tables.jobs);
});

async function jobIn(status: JobStatus): Promise<string> {
  const id = `bt-${String(ids++).padStart(26, '0')}`;
  await store.create(pendingJob(id));
  if (status !== 'pending') await store.claim(id, 'arn:task', AT);
  const outcome = { result: SOME_RESULT, results: SOME_RESULTS, timing: SOME_TIMING, warnings: [] };
  if (status === 'completed') await store.complete(id, 1, outcome, AT);
  if (status === 'cancelled') await store.cancel(id, AT);
  return id;
}

/** Runs the workflow of a job whose task always fails for this reason; writes go to the table. */
async function runFailing(jobId: string, cause: string) {
  const { execution_input } = (await store.get(jobId))!;
  const input = { ...execution_input, on_demand: true };
  return runAsl(BACKTEST_ASL, input, {
    CollectData: () => ({}),
    CheckFreshness: () => fail('Lambda.Unknown'),
    RunBacktestOnDemand: () => fail('States.TaskFailed', cause),
    MarkFailed: write,
    NoteShortage: write,
  });
}

const runCrashing = (jobId: string) => runFailing(jobId, 'exit 1');

async function write(parameters: object): Promise<void> {
  try {
    await engine.client.send(
      new UpdateItemCommand({ ...(parameters as UpdateItemCommandInput), TableName: engine.tables.jobs }),
    );
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    fail('DynamoDB.ConditionalCheckFailedException');
  }
}

test.each(['pending', 'running'] as const)(
  '%s job becomes a failed job that get and list return',
  async (status) => {
    const id = await jobIn(status);
    const before = await store.get(id);
    const { failure } = await runCrashing(id);
    expect(failure).toBeUndefined();
    const job = await store.get(id);
    expect(job).toMatchObject({
      status: 'failed',
      error_code: 'SVC001',
      error: expect.stringContaining('failed'),
      finished_at: '2026-01-02T03:04:05.678Z',
      updated_at: '2026-01-02T03:04:05.678Z',
      revision: before!.revision + 1,
    });
    const { items } = await store.list({ status: 'failed' }, 100, null);
    const row = items.find(({ job_id }) => job_id === id);
    expect(row).toMatchObject({ status: 'failed', error: (job as { error: string }).error });
  },
);

test.each(['completed', 'cancelled'] as const)('%s job is unchanged', async (status) => {
  const id = await jobIn(status);
  const before = await store.get(id);
  const { path } = await runCrashing(id);
  expect(path.at(-1)).toBe('Done');
  expect(await store.get(id)).toEqual(before);
});

test.each(['pending', 'running'] as const)('%s job that lacks capacity keeps its status', async (status) => {
  const id = await jobIn(status);
  const { path } = await runFailing(id, 'RESOURCE:ENI');
  expect(path.slice(-2)).toEqual(['NoteShortage', 'Done']);
  expect(await store.get(id)).toMatchObject({ status, shortage: { execution: 'bt-01J-1' } });
});

test.each(['completed', 'cancelled'] as const)('%s job that lacks capacity is unchanged', async (status) => {
  const id = await jobIn(status);
  const before = await store.get(id);
  const { path } = await runFailing(id, 'RESOURCE:ENI');
  expect(path.slice(-2)).toEqual(['NoteShortage', 'Done']);
  expect(await store.get(id)).toEqual(before);
});

test('validation is marked failed for its version and stays out of backtest lists', async () => {
  const id = `va-${String(ids++).padStart(26, '0')}`;
  const { execution_input, ...job } = pendingJob(id);
  await store.create({
    ...job,
    kind: 'validation',
    execution_input: { ...execution_input, kind: 'validation' },
  });
  const { failure } = await runCrashing(id);
  expect(failure).toBeUndefined();
  const ended: string[] = [];
  for await (const { job_id } of store.endedValidations()) ended.push(job_id);
  expect(ended).toEqual([id]);
  const { items } = await store.list({ status: 'failed' }, 100, null);
  expect(items.map(({ job_id }) => job_id)).not.toContain(id);
});
