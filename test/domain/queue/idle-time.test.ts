import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { dispatch } from '#domain/queue/dispatch.ts';
import { endExecutions, measureQueue } from '#domain/repair/repair-jobs.ts';
import { fileEngine } from '../../support/file-engine.ts';
import { MINUTE, queueScene } from '../../support/queue-scene.ts';

/** The time for which jobs wait and none starts, on which the alarm QueueIdle fires. */

const engine = fileEngine();

const TASK = 'arn:aws:ecs:us-east-1:123456789012:task/touchstone/1';

async function scene(slots: number) {
  const made = await queueScene(engine, slots);
  const { clock, deps, jobs } = made;
  return {
    ...made,
    idleMinutes: async () => Math.round((await measureQueue(deps)).idleMs / MINUTE),
    pass: (minutes: number) => {
      clock.time += minutes * MINUTE;
    },
    run: (id: string) => jobs.claim(id, TASK, new Date(clock.time).toISOString()),
  };
}

test('load that only waits is not idle while a job runs in every slot', async () => {
  const { submit, run, pass, idleMinutes } = await scene(1);
  await submit('bt-1');
  await run('bt-1');
  await submit('bt-2');
  pass(180);
  expect(await idleMinutes()).toBe(0);
});

test('queue is idle since its slots were taken when none of their jobs begins to run', async () => {
  const { submit, pass, idleMinutes } = await scene(1);
  await submit('bt-1');
  await submit('bt-2');
  pass(20);
  expect(await idleMinutes()).toBe(20);
});

test('queue is idle since the latest start when a slot is free and the dispatcher stopped', async () => {
  const { submit, run, pass, idleMinutes, queue, deps, lane } = await scene(2);
  for (const id of ['bt-1', 'bt-2']) {
    await submit(id);
    await run(id);
  }
  await submit('bt-3');
  pass(30);
  const [slot] = await queue.slots('backtest');
  await queue.free(slot!);
  expect(await idleMinutes()).toBe(30);
  await dispatch(deps, lane);
  await submit('bt-4');
  pass(5);
  expect(await idleMinutes()).toBe(0);
});

test('empty queue is not idle', async () => {
  const { pass, idleMinutes } = await scene(1);
  pass(60);
  expect(await idleMinutes()).toBe(0);
});

test('starts that lack capacity do not end the idle time', async () => {
  const { submit, pass, idleMinutes, table, executions, deps, lane } = await scene(2);
  await submit('bt-1');
  const lack = async (run: number) => {
    await engine.client.send(
      new UpdateCommand({
        TableName: table,
        Key: { job_id: 'bt-1', item: 'JOB' },
        UpdateExpression: 'SET shortage = :shortage',
        ExpressionAttributeValues: { ':shortage': { execution: `bt-1-${run}`, reason: 'no vCPU' } },
      }),
    );
    executions.states.set(`bt-1-${run}`, 'succeeded');
    await endExecutions(deps, [`bt-1-${run}`]);
  };
  await lack(1);
  for (const run of [2, 3, 4]) {
    pass(6);
    expect(await dispatch(deps, lane)).toEqual(['bt-1']);
    await lack(run);
  }
  expect(await idleMinutes()).toBe(18);
});
