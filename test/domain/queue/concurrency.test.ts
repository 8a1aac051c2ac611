import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { cancelBacktest } from '#domain/backtests/cancel-backtest.ts';
import { dispatch } from '#domain/queue/dispatch.ts';
import { repairQueue } from '#domain/repair/repair-jobs.ts';
import { fileEngine } from '../../support/file-engine.ts';
import { MINUTE, queueScene } from '../../support/queue-scene.ts';

/** Writes of two processes that interleave, and processes that fail between two writes. */

const engine = fileEngine();

/** Records that the execution lacked capacity, as the state machine does. */
function lackCapacity(table: string, execution: string): Promise<unknown> {
  return engine.client.send(
    new UpdateCommand({
      TableName: table,
      Key: { job_id: execution.replace(/-\d+$/, ''), item: 'JOB' },
      UpdateExpression: 'SET shortage = :shortage',
      ExpressionAttributeValues: { ':shortage': { execution, reason: 'no vCPU' } },
    }),
  );
}

test('owner removed and announced again is not removed by a dispatch that read it before', async () => {
  const { queue, clock } = await queueScene(engine, 1);
  await queue.announce('backtest', 'ann', clock.now());
  const [read] = await queue.owners('backtest');
  clock.time += 2 * MINUTE;
  await queue.removeOwner('backtest', read!);
  await queue.announce('backtest', 'ann', clock.now());
  await queue.removeOwner('backtest', read!);
  expect(await queue.owners('backtest')).toMatchObject([{ owner: 'ann', announced: 1 }]);
});

test('no job starts while more jobs run than a lowered limit allows', async () => {
  const { submit, started, lane, deps, queue } = await queueScene(engine, 3);
  for (const id of ['bt-1', 'bt-2', 'bt-3', 'bt-4']) await submit(id);
  const slots = await queue.slots('backtest');
  await queue.free(slots.find(({ number }) => number === 0)!);
  expect(await dispatch(deps, { ...lane, maxRunning: 1 })).toEqual([]);
  expect(started()).toEqual(['bt-1', 'bt-2', 'bt-3']);
});

test('shortage that is stored while the slot is repaired defers the job', async () => {
  const { submit, deps, clock, executions, jobs, table } = await queueScene(engine, 1);
  await submit('bt-1');
  executions.running = async () => new Set();
  executions.state = async (name) => {
    await lackCapacity(table, name);
    return { status: 'succeeded' };
  };
  clock.time += 2 * MINUTE;
  await repairQueue(deps);
  expect(await jobs.get('bt-1')).toMatchObject({ status: 'pending', queue: { reason: 'no vCPU' } });
});

test('jobs that were given slots start although a later write fails', async () => {
  const { submit, started, end, deps, lane } = await queueScene(engine, 1);
  await submit('bt-1');
  await submit('bt-2', { owner: 'ann' });
  deps.queue.leave = async () => {
    throw new Error('throttled');
  };
  await end('bt-1');
  expect(started()).toEqual(['bt-1', 'bt-2']);
  await end('bt-2');
  await submit('bt-3', { owner: 'bob' });
  await dispatch(deps, lane);
  expect(started()).toEqual(['bt-1', 'bt-2', 'bt-3']);
});

test('job cancelled between its slot and its start does not start and frees the slot', async () => {
  const { submit, started, deps, queue, executions } = await queueScene(engine, 1);
  const { leave } = queue;
  queue.leave = async (...turn) => {
    await leave.apply(queue, turn);
    queue.leave = leave;
    await cancelBacktest(deps, 'bt-1', 'ann');
  };
  await submit('bt-1');
  expect(executions.stopped).toEqual(['bt-1-1']);
  expect(started()).toEqual([]);
  expect(await queue.slots('backtest')).toEqual([]);
});

test('submission takes a slot at once when more are free than jobs wait', async () => {
  const { submit, started, deps, clock, executions, table, queue } = await queueScene(engine, 2);
  await submit('bt-1');
  await lackCapacity(table, 'bt-1-1');
  executions.states.set('bt-1-1', 'succeeded');
  clock.time += 2 * MINUTE;
  await repairQueue(deps);
  expect(await queue.owners('backtest')).toMatchObject([{ waiting: 1 }]);
  await submit('bt-2');
  expect(started()).toEqual(['bt-1', 'bt-2']);
});
