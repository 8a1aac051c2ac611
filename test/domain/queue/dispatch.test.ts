import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test, vi } from 'vitest';
import type { StoredBacktestJob } from '#contract/backtests/backtest.ts';
import { QUEUE_LIMITS } from '#contract/jobs/queue.ts';
import { cancelBacktest } from '#domain/backtests/cancel-backtest.ts';
import { ExecutionRejected } from '#domain/jobs/execution-ports.ts';
import { dispatch } from '#domain/queue/dispatch.ts';
import { enqueue } from '#domain/queue/enqueue.ts';
import { queueStates } from '#domain/queue/queue-state.ts';
import { endExecutions, measureQueue, repairQueue } from '#domain/repair/repair-jobs.ts';
import { fileEngine } from '../../support/file-engine.ts';
import { MINUTE, queueScene, SECOND, START } from '../../support/queue-scene.ts';

const engine = fileEngine();

const scene = (slots: number) => queueScene(engine, slots);

describe('submission', () => {
  test('job takes a free slot when no job waits', async () => {
    const { submit, started, jobs, queue } = await scene(2);
    await submit('bt-1');
    expect(started()).toEqual(['bt-1']);
    expect(await jobs.get('bt-1')).toMatchObject({ status: 'pending', runs: 1 });
    expect(await queue.slots('backtest')).toMatchObject([{ job_id: 'bt-1', run: 1, owner: 'anonymous' }]);
    expect(await queue.order('backtest', 'anonymous', 10)).toEqual([]);
  });

  test('job waits when every slot is taken', async () => {
    const { submit, started, queue } = await scene(1);
    await submit('bt-1');
    await submit('bt-2');
    expect(started()).toEqual(['bt-1']);
    expect(await queue.order('backtest', 'anonymous', 10)).toEqual(['bt-2']);
  });

  test('job waits behind others even when a slot is free', async () => {
    const { submit, started, end, queue, deps, lane } = await scene(1);
    await submit('bt-1');
    await submit('bt-2');
    // The end of bt-1 is not handled yet.
    await queue.free((await queue.slots('backtest'))[0]!);
    await submit('bt-3');
    expect(started()).toEqual(['bt-1']);
    expect(await dispatch(deps, lane)).toEqual(['bt-2']);
    await end('bt-2');
    expect(started()).toEqual(['bt-1', 'bt-2', 'bt-3']);
  });

  test('same job submitted twice starts once', async () => {
    const { newJob, deps, lane, jobs, started, queue } = await scene(5);
    const job = newJob('bt-1');
    await enqueue<StoredBacktestJob>(deps, lane, job, () => jobs.create(job));
    const again = { ...job };
    await enqueue<StoredBacktestJob>(deps, lane, again, () => jobs.create(again));
    expect(started()).toEqual(['bt-1']);
    expect(await queue.owners('backtest')).toMatchObject([{ waiting: 0 }]);
  });

  test('submission is 429 when the owner has too many waiting jobs', async () => {
    const { submit, table } = await scene(1);
    await submit('bt-1');
    const waiting = QUEUE_LIMITS.max_pending_per_owner;
    await engine.client.send(
      new UpdateCommand({
        TableName: table,
        Key: { job_id: '#owners#backtest', item: 'anonymous' },
        UpdateExpression: 'SET waiting = :waiting',
        ExpressionAttributeValues: { ':waiting': waiting },
      }),
    );
    await expect(submit('bt-2')).rejects.toMatchObject({
      code: 'HTTP429',
      retryAfterSeconds: 60,
      context: { waiting, max: waiting },
    });
  });
});

describe('dispatch', () => {
  test('owners take turns; the jobs of an owner start by priority, then by age', async () => {
    const { submit, started, end } = await scene(1);
    await submit('bt-0', { owner: 'zoe' });
    await submit('bt-a1', { owner: 'ann' });
    await submit('bt-a2', { owner: 'ann' });
    await submit('bt-a3', { owner: 'ann', priority: 9 });
    await submit('bt-b1', { owner: 'bob' });
    await submit('bt-b2', { owner: 'bob', priority: 10 });
    for (let ended = 0; ended < 5; ended++) await end(started().at(-1)!);
    expect(started()).toEqual(['bt-0', 'bt-a3', 'bt-b2', 'bt-a1', 'bt-b1', 'bt-a2']);
  });

  test('owner with fewer running jobs is first', async () => {
    const { submit, started, end } = await scene(2);
    await submit('bt-a1', { owner: 'ann' });
    await submit('bt-a2', { owner: 'ann' });
    await submit('bt-a3', { owner: 'ann', priority: 10 });
    await submit('bt-b1', { owner: 'bob', priority: 1 });
    await end('bt-a1');
    expect(started()).toEqual(['bt-a1', 'bt-a2', 'bt-b1']);
  });

  test('concurrent dispatches give each job and each slot once', async () => {
    const { newJob, jobs, queue, clock, deps, lane, started } = await scene(7);
    for (let i = 0; i < 20; i++) {
      await queue.announce('backtest', 'anonymous', clock.now());
      await jobs.create(newJob(`bt-${i}`));
    }
    const dispatched = await Promise.all([1, 2, 3, 4].map(() => dispatch(deps, lane)));
    expect(dispatched.flat()).toHaveLength(7);
    expect(new Set(started()).size).toBe(7);
    const slots = await queue.slots('backtest');
    expect(new Set(slots.map(({ number }) => number)).size).toBe(7);
    expect(await queue.owners('backtest')).toMatchObject([{ waiting: 13 }]);
  });

  test('cancelled job leaves the queue', async () => {
    const { submit, started, end, deps, queue } = await scene(1);
    await submit('bt-1');
    await submit('bt-2');
    await submit('bt-3');
    await cancelBacktest(deps, 'bt-2', 'ann');
    expect(await queue.owners('backtest')).toMatchObject([{ waiting: 1 }]);
    await end('bt-1');
    expect(started()).toEqual(['bt-1', 'bt-3']);
  });

  test('owner without jobs is removed two minutes after the latest announcement', async () => {
    const { queue, clock, deps, lane } = await scene(1);
    await queue.announce('backtest', 'ann', clock.now());
    await dispatch(deps, lane);
    expect(await queue.owners('backtest')).toHaveLength(1);
    clock.time += 2 * MINUTE;
    await dispatch(deps, lane);
    expect(await queue.owners('backtest')).toEqual([]);
  });

  test('owner announced again since it was read is kept', async () => {
    const { queue, clock } = await scene(1);
    await queue.announce('backtest', 'ann', clock.now());
    const [read] = await queue.owners('backtest');
    await queue.announce('backtest', 'ann', clock.now());
    await queue.removeOwner('backtest', read!);
    expect(await queue.owners('backtest')).toHaveLength(1);
  });
});

describe('faults', () => {
  test('job stored by a process that died starts with the next dispatch', async () => {
    const { newJob, queue, jobs, clock, deps, started } = await scene(1);
    await queue.announce('backtest', 'anonymous', clock.now());
    await jobs.create(newJob('bt-1'));
    await repairQueue(deps);
    expect(started()).toEqual(['bt-1']);
  });

  test('slot taken by a process that died before the start is started after two minutes, once', async () => {
    const { submit, deps, clock, executions } = await scene(1);
    await submit('bt-1');
    executions.states.clear();
    await repairQueue(deps);
    expect(executions.started).toEqual(['bt-1-1']);
    clock.time += 2 * MINUTE;
    expect(await repairQueue(deps)).toMatchObject({ restarted: ['bt-1'] });
    clock.time += 2 * MINUTE;
    expect(await repairQueue(deps)).toMatchObject({ restarted: [] });
    expect(executions.started).toEqual(['bt-1-1', 'bt-1-1']);
  });

  test('job whose execution is rejected fails with the reason and frees its slot', async () => {
    const { submit, deps, clock, executions, jobs, queue } = await scene(1);
    executions.start = async () => {
      throw new ExecutionRejected('AccessDeniedException');
    };
    await submit('bt-1');
    clock.time += 2 * MINUTE;
    expect(await repairQueue(deps)).toMatchObject({ failed: ['bt-1'] });
    expect(await jobs.get('bt-1')).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('rejected the workflow of the backtest (AccessDeniedException)'),
    });
    expect(await queue.slots('backtest')).toEqual([]);
  });

  test('slot whose end was not reported is freed after two minutes', async () => {
    const { submit, deps, clock, executions, jobs, queue, started } = await scene(1);
    await submit('bt-1');
    await submit('bt-2');
    await jobs.fail('bt-1', null, { code: 'VAL006', message: 'ended' }, '2025-03-01T00:01:00.000Z');
    executions.states.set('bt-1-1', 'succeeded');
    await repairQueue(deps);
    expect(started()).toEqual(['bt-1']);
    clock.time += 2 * MINUTE;
    await repairQueue(deps);
    expect(started()).toEqual(['bt-1', 'bt-2']);
    expect(await queue.slots('backtest')).toMatchObject([{ job_id: 'bt-2' }]);
  });

  test('slot of a running execution is kept regardless of its age', async () => {
    const { submit, deps, clock, queue } = await scene(1);
    await submit('bt-1');
    clock.time += 48 * 60 * MINUTE;
    await repairQueue(deps);
    expect(await queue.slots('backtest')).toHaveLength(1);
  });

  test('job whose execution ended without a result fails and frees its slot', async () => {
    const { submit, deps, executions, jobs, queue } = await scene(1);
    await submit('bt-1');
    executions.states.set('bt-1-1', 'timed_out');
    await endExecutions(deps, ['bt-1-1']);
    expect(await jobs.get('bt-1')).toMatchObject({ status: 'failed', error_code: 'SVC001' });
    expect(await queue.slots('backtest')).toEqual([]);
  });

  test('end of an execution that is reported twice frees no later slot', async () => {
    const { submit, end, deps, queue } = await scene(1);
    await submit('bt-1');
    await submit('bt-2');
    await end('bt-1');
    await endExecutions(deps, ['bt-1-1', 'bt-1-1', 'bt-unknown-3']);
    expect(await queue.slots('backtest')).toMatchObject([{ job_id: 'bt-2' }]);
  });

  test('error in one slot does not stop the others', async () => {
    const { submit, deps, clock, executions, errors } = await scene(2);
    await submit('bt-1');
    await submit('bt-2');
    executions.states.clear();
    const state = executions.state;
    executions.state = async (name) => {
      if (name === 'bt-1-1') throw new Error('throttled');
      return state(name);
    };
    clock.time += 2 * MINUTE;
    expect(await repairQueue(deps)).toMatchObject({ restarted: ['bt-2'] });
    expect(errors).toEqual([new Error('throttled')]);
  });
});

test('free slots go to waiting jobs while executions cannot be listed', async () => {
  const { submit, deps, clock, executions, errors, started } = await scene(2);
  await submit('bt-1');
  await submit('bt-2');
  await submit('bt-3');
  await deps.queue.free((await deps.queue.slots('backtest'))[0]!);
  const listed = vi.spyOn(executions, 'running').mockRejectedValue(new Error('throttled'));
  clock.time += 2 * MINUTE;
  const { dispatched } = await repairQueue(deps);
  expect(dispatched).toEqual(['bt-3']);
  expect(started()).toHaveLength(3);
  expect(errors).toEqual([new Error('throttled')]);
  listed.mockRestore();
});

describe('shortage of capacity', () => {
  /** Scene with a job whose execution ended for lack of capacity. */
  async function short() {
    const made = await scene(1);
    await made.submit('bt-1');
    const lack = async (run: number) => {
      await engine.client.send(
        new UpdateCommand({
          TableName: made.table,
          Key: { job_id: 'bt-1', item: 'JOB' },
          UpdateExpression: 'SET shortage = :shortage',
          ExpressionAttributeValues: { ':shortage': { execution: `bt-1-${run}`, reason: 'no vCPU' } },
        }),
      );
      made.executions.states.set(`bt-1-${run}`, 'succeeded');
      await endExecutions(made.deps, [`bt-1-${run}`]);
    };
    await lack(1);
    return { ...made, lack };
  }

  test('job waits 15 s to 5 min, holds no slot and counts no attempt', async () => {
    const { jobs, queue, clock, deps, lane, lack, executions } = await short();
    expect(await queue.slots('backtest')).toEqual([]);
    for (const [run, pause] of [
      [1, 22.5],
      [2, 37.5],
      [3, 67.5],
      [4, 127.5],
      [5, 157.5],
      [6, 157.5],
    ] as const) {
      const job = (await jobs.get('bt-1'))!;
      expect(job).toMatchObject({
        status: 'pending',
        attempt: 0,
        queue: { deferrals: run, reason: 'no vCPU' },
      });
      expect(Date.parse(job.queue.not_before!) - clock.time).toBe(pause * SECOND);
      clock.time += pause * SECOND - 1;
      expect(await dispatch(deps, lane)).toEqual([]);
      clock.time += 1;
      expect(await dispatch(deps, lane)).toEqual(['bt-1']);
      expect(executions.started.at(-1)).toBe(`bt-1-${run + 1}`);
      await lack(run + 1);
    }
  });

  test('deferred job does not hold back the others of its owner, and keeps its turn when due', async () => {
    const { submit, clock, executions, deps, end } = await short();
    await submit('bt-2');
    // A job waits, so the submission leaves the slot to the dispatcher.
    await repairQueue(deps);
    expect(executions.started.at(-1)).toBe('bt-2-1');
    await submit('bt-3');
    clock.time += MINUTE;
    await end('bt-2');
    expect(executions.started.at(-1)).toBe('bt-1-2');
  });

  test('job fails after a day without capacity, with the reason', async () => {
    const { jobs, clock, deps, lane, lack } = await short();
    clock.time += QUEUE_LIMITS.max_shortage_ms + 1;
    await dispatch(deps, lane);
    await lack(2);
    expect(await jobs.get('bt-1')).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('The backtest could not start for a day: no vCPU'),
    });
  });
});

describe('queue state', () => {
  test('position counts the own earlier jobs and as many of every other owner', async () => {
    const { submit, jobs, deps } = await scene(1);
    for (const id of ['bt-0', 'bt-1', 'bt-2', 'bt-3']) await submit(id, { owner: 'ann' });
    await submit('bt-4', { owner: 'bob' });
    const read = await Promise.all(['bt-0', 'bt-1', 'bt-2', 'bt-3', 'bt-4'].map((id) => jobs.get(id)));
    const states = await queueStates(
      deps,
      'backtest',
      read.map((job) => job!),
    );
    expect([...states].map(([id, { position, waiting_for }]) => [id, position, waiting_for])).toEqual([
      ['bt-0', null, 'start'],
      ['bt-1', 1, 'slot'],
      ['bt-2', 3, 'slot'],
      ['bt-3', 4, 'slot'],
      ['bt-4', 1, 'slot'],
    ]);
  });

  test('jobs that have ended have no state', async () => {
    const { submit, end, jobs, deps } = await scene(1);
    await submit('bt-1');
    await end('bt-1');
    expect((await queueStates(deps, 'backtest', [(await jobs.get('bt-1'))!])).size).toBe(0);
  });

  test('measures count waiting and running jobs and the oldest pending one', async () => {
    const { submit, deps, clock } = await scene(1);
    await submit('bt-1');
    await submit('bt-2');
    clock.time = START + 5 * MINUTE;
    expect(await measureQueue(deps)).toEqual({
      waiting: { backtest: 1, fast: 0, hyperopt: 0 },
      running: { backtest: 1, fast: 0, hyperopt: 0 },
      oldestPendingMs: 5 * MINUTE,
      // Nothing has claimed bt-1, which took its slot when it was submitted.
      idleMs: expect.closeTo(5 * MINUTE, -2),
      longestStallMs: 0,
    });
  });
});
