import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { expect, it } from 'vitest';
import { DynamoHyperoptStore } from '#adapters/dynamo/hyperopt-store.ts';
import { DynamoJobQueue } from '#adapters/dynamo/job-queue.ts';
import { QUEUE_LIMITS } from '#contract/jobs/queue.ts';
import { cancelHyperopt } from '#domain/hyperopt/cancel-hyperopt.ts';
import { hyperoptLane } from '#domain/hyperopt/hyperopt-lane.ts';
import { hyperoptRepairs } from '#domain/hyperopt/repair-hyperopt.ts';
import { dispatch } from '#domain/queue/dispatch.ts';
import { repairRun } from '#domain/queue/end-run.ts';
import { enqueue } from '#domain/queue/enqueue.ts';
import { memoryLog } from '../../support/backend.ts';
import { memoryExecutions } from '../../support/executions.ts';
import { fileEngine } from '../../support/file-engine.ts';
import { pendingHyperopt } from '../../support/hyperopt-workers.ts';

/** Recovery of hyperopt jobs whose execution is lost. */

const AT = Date.parse('2025-03-01T00:00:00.000Z');
const engine = fileEngine();

/** A hyperopt job with a slot, which runs when `running`. */
async function scene(changes: { running?: boolean } = {}) {
  const { jobs: table } = await engine.freshTables();
  const hyperoptJobs = new DynamoHyperoptStore(engine.client, table);
  const queue = new DynamoJobQueue(engine.client, table);
  const hyperoptExecutions = memoryExecutions();
  const stoppedTasks: string[] = [];
  const counted: string[] = [];
  const clock = { time: AT, now: () => clock.time };
  const deps = {
    hyperoptJobs,
    hyperoptExecutions,
    queue,
    clock,
    maxRunning: { backtest: 1, fast: 1, hyperopt: 1 },
    random: () => 0.5,
    tasks: { stop: async (task: string) => void stoppedTasks.push(task) },
    countTrials: async (ended: { status: string }) => void counted.push(ended.status),
    log: memoryLog().log,
  };
  const lane = hyperoptLane(deps);
  const job = pendingHyperopt('ho-1');
  await enqueue(deps, lane, job, () => hyperoptJobs.create(job));
  if (changes.running) await hyperoptJobs.begin('ho-1', 0, 'arn:task', new Date(AT).toISOString());
  /** Repairs the slot, if there is one, and deals the free ones. */
  const repair = async () => {
    const [slot] = await queue.slots('hyperopt');
    const repaired = slot && (await repairRun(deps, lane, slot, hyperoptRepairs(deps)));
    await dispatch(deps, lane);
    return repaired;
  };
  const { started, stopped, states } = hyperoptExecutions;
  const get = async () => (await hyperoptJobs.get('ho-1'))!;
  return { table, deps, clock, states, started, stopped, stoppedTasks, counted, repair, get };
}

it.each([false, true])(
  'repair starts a missing execution under the same name (running: %s)',
  async (running) => {
    const { states, started, repair } = await scene({ running });
    expect(started).toEqual(['ho-1-1']);
    expect(await repair()).toBe('none');
    states.delete('ho-1-1');
    expect(await repair()).toBe('started');
    expect(started).toEqual(['ho-1-1', 'ho-1-1']);
  },
);

it.each(['failed', 'aborted', 'timed_out', 'succeeded'] as const)(
  'repair starts a new execution with a new name after one %s',
  async (status) => {
    const { states, started, repair, get } = await scene({ running: true });
    states.set('ho-1-1', status);
    expect(await repair()).toBe('deferred');
    expect(started).toEqual(['ho-1-1', 'ho-1-2']);
    expect(await get()).toMatchObject({ status: 'running', runs: 2, idle_runs: 1 });
    expect(await repair()).toBe('none');
    states.set('ho-1-2', status);
    expect(await repair()).toBe('deferred');
    expect(started.at(-1)).toBe('ho-1-3');
  },
);

it('hyperopt job fails after 5 lost executions without a finished trial', async () => {
  const { states, started, counted, repair, get } = await scene({ running: true });
  do states.set(started.at(-1)!, 'failed');
  while ((await repair()) === 'deferred');
  expect(started).toHaveLength(5);
  expect(await get()).toMatchObject({
    status: 'failed',
    error_code: 'SVC001',
    error: expect.stringMatching(/ended 5 times in a row/),
  });
  expect(counted).toEqual(['failed']);
});

it('cancelled hyperopt job stops its execution and tasks and is never restarted', async () => {
  const { deps, states, started, stopped, stoppedTasks, counted, repair } = await scene({ running: true });
  await cancelHyperopt(deps, 'ho-1', 'ann');
  expect(stopped).toEqual(['ho-1-1']);
  expect(stoppedTasks).toEqual(['arn:task']);
  states.set('ho-1-1', 'aborted');
  expect(await repair()).toBe('none');
  expect(stoppedTasks).toEqual(['arn:task', 'arn:task']);
  expect(counted).toEqual(['cancelled']);
  expect(await deps.queue.slots('hyperopt')).toEqual([]);
  expect(started).toEqual(['ho-1-1']);
});

it('hyperopt job without capacity waits and counts no idle run', async () => {
  const { table, clock, states, started, repair, get } = await scene();
  await engine.client.send(
    new UpdateCommand({
      TableName: table,
      Key: { job_id: 'ho-1', item: 'JOB' },
      UpdateExpression: 'SET shortage = :shortage',
      ExpressionAttributeValues: { ':shortage': { execution: 'ho-1-1', reason: 'no capacity' } },
    }),
  );
  states.set('ho-1-1', 'failed');
  expect(await repair()).toBe('deferred');
  const job = await get();
  expect(job.queue).toMatchObject({ deferrals: 1, reason: 'no capacity' });
  expect(job.idle_runs).toBeUndefined();
  expect(started).toEqual(['ho-1-1']);
  clock.time = Date.parse(job.queue.not_before!);
  await repair();
  expect(started).toEqual(['ho-1-1', 'ho-1-2']);
});

it('two concurrent repairs of one slot give the job one further run', async () => {
  const { deps, states, started, repair, get } = await scene({ running: true });
  states.set('ho-1-1', 'failed');
  const { hyperoptJobs } = deps;
  const slow = {
    ...deps,
    hyperoptJobs: Object.assign(Object.create(hyperoptJobs), {
      get: async (id: string) => {
        // The other repair ends before this read.
        await repair();
        return hyperoptJobs.get(id);
      },
    }),
  };
  const [slot] = await deps.queue.slots('hyperopt');
  await repairRun(deps, hyperoptLane(deps), slot!, hyperoptRepairs(slow));
  expect(started).toEqual(['ho-1-1', 'ho-1-2']);
  expect((await get()).queue.left_at).toBeDefined();
});

it('progress ends a shortage of capacity: the day begins again', async () => {
  const { table, deps, states, repair, get, clock } = await scene({ running: true });
  const lack = async (execution: string, progress_run: number) => {
    await engine.client.send(
      new UpdateCommand({
        TableName: table,
        Key: { job_id: 'ho-1', item: 'JOB' },
        UpdateExpression: 'SET shortage = :shortage, progress_run = :run',
        ExpressionAttributeValues: { ':shortage': { execution, reason: 'no vCPU' }, ':run': progress_run },
      }),
    );
    states.set(execution, 'failed');
    return repair();
  };
  expect(await lack('ho-1-1', 1)).toBe('deferred');
  clock.time += QUEUE_LIMITS.max_shortage_ms + 1;
  await dispatch(deps, hyperoptLane(deps));
  expect(await lack('ho-1-2', 2)).toBe('deferred');
  expect(await get()).toMatchObject({ status: 'running', queue: { deferrals: 1 } });
  clock.time += QUEUE_LIMITS.max_shortage_ms + 1;
  await dispatch(deps, hyperoptLane(deps));
  expect(await lack('ho-1-3', 2)).toBe('failed');
});
