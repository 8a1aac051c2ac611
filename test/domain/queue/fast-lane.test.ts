import { ECSClient, StopTaskCommand } from '@aws-sdk/client-ecs';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { describe, expect, test } from 'vitest';
import { EcsTaskControl } from '#adapters/aws/ecs-tasks.ts';
import type { JobIn, StoredBacktestJob } from '#contract/backtests/backtest.ts';
import { cancelBacktest } from '#domain/backtests/cancel-backtest.ts';
import { type ChooseLaneDeps, chooseLane, recordCost, type StrategyCost } from '#domain/queue/choose-lane.ts';
import { dispatch } from '#domain/queue/dispatch.ts';
import { enqueue } from '#domain/queue/enqueue.ts';
import { backtestLane, fastLane, laneOfBacktest } from '#domain/queue/lanes.ts';
import { queueStates } from '#domain/queue/queue-state.ts';
import { endExecutions, measureQueue, repairQueue } from '#domain/repair/repair-jobs.ts';
import { fileEngine } from '../../support/file-engine.ts';
import { pendingJob, SOME_RESULT, SOME_RESULTS, SOME_TIMING } from '../../support/jobs.ts';
import { MINUTE, queueScene } from '../../support/queue-scene.ts';

const engine = fileEngine();

const DAY_MS = 86_400_000;
const START = Date.parse('2024-01-01T00:00:00.000Z');
const { config: CONFIG } = pendingJob('bt-1');

/** Job of one pair on 1m candles with this number of rows. */
const jobOf = (rows: number, changes: object = {}) => ({
  config: {
    ...CONFIG,
    timeframe: '1m' as const,
    date_range: { start: CONFIG.date_range.start, end: new Date(START + rows * 60_000).toISOString() },
    ...changes,
  },
  dataStart: new Date(START).toISOString(),
  isRegistered: false,
  strategyDigest: 'abc',
});

const depsOf = (cost?: StrategyCost, changes: Partial<ChooseLaneDeps> = {}): ChooseLaneDeps => ({
  strategyCosts: { get: async () => cost },
  maxRunning: { backtest: 1, fast: 1, hyperopt: 1 },
  fastLaneSeconds: 10,
  ...changes,
});

describe('choice of the lane', () => {
  test.each([
    // Assumed: 10 s for a million rows.
    [999_000, 'fast'],
    [1_001_000, 'backtest'],
  ])('strategy without a measurement: %i rows run in lane %s', async (rows, lane) => {
    expect(await chooseLane(depsOf(), jobOf(rows))).toBe(lane);
  });

  test.each([
    // 300 ms for a million rows, and 1 s for 100,000 as assumed: 1.2 s for a million.
    [{ ms: 300, rows: 1_000_000 }, 2_000_000, 'fast'],
    // A minute for a million rows.
    [{ ms: 60_000, rows: 1_000_000 }, 100_000, 'fast'],
    [{ ms: 60_000, rows: 1_000_000 }, 200_000, 'backtest'],
    // A short run counts little: 500 ms for 1,000 rows would be 500 s for a million.
    [{ ms: 500, rows: 1_000 }, 500_000, 'fast'],
  ])('strategy with the cost %j: %i rows run in lane %s', async (cost, rows, lane) => {
    expect(await chooseLane(depsOf(cost), jobOf(rows))).toBe(lane);
  });

  test('more rows than the memory of the function holds run on Fargate', async () => {
    const cheap = depsOf({ ms: 1, rows: 100_000_000 });
    expect(await chooseLane(cheap, jobOf(2_000_000))).toBe('fast');
    expect(await chooseLane(cheap, jobOf(2_000_001))).toBe('backtest');
    const informative = [{ symbol: 'SOL/USDT:USDT', timeframe: '1m' as const, start: jobOf(0).dataStart }];
    expect(await chooseLane(cheap, { ...jobOf(1_000_000), informative })).toBe('fast');
    expect(await chooseLane(cheap, { ...jobOf(1_000_001), informative })).toBe('backtest');
  });

  test('rows count for each pair and for the detail timeframe', async () => {
    const pairs = Array.from({ length: 10 }, (_, n) => `P${n}/USDT:USDT`);
    expect(await chooseLane(depsOf(), jobOf(99_000, { pairs }))).toBe('fast');
    expect(await chooseLane(depsOf(), jobOf(101_000, { pairs }))).toBe('backtest');
    const detail = { timeframe: '1h', timeframe_detail: '1m' };
    expect(await chooseLane(depsOf(), jobOf(980_000, detail))).toBe('fast');
    expect(await chooseLane(depsOf(), jobOf(990_000, detail))).toBe('backtest');
  });

  test('registered images, models and a lane without slots never use the fast lane', async () => {
    expect(await chooseLane(depsOf(), { ...jobOf(1), isRegistered: true })).toBe('backtest');
    expect(await chooseLane(depsOf(), jobOf(1, { ml_engine: {} }))).toBe('backtest');
    const none = depsOf(undefined, { maxRunning: { backtest: 1, fast: 0, hyperopt: 1 } });
    expect(await chooseLane(none, jobOf(1))).toBe('backtest');
  });
});

describe('measured cost', () => {
  const completed = (total_ms: number, changes: object = {}) =>
    ({
      ...pendingJob('bt-1', { strategy_digest: 'abc' }),
      status: 'completed',
      config: {
        ...CONFIG,
        timeframe: '1m',
        date_range: { ...CONFIG.date_range, end: '2024-01-02T00:00:00.000Z' },
      },
      execution_input: { ...pendingJob('bt-1').execution_input, start: '2024-01-01T00:00:00.000Z' },
      timing: { ...SOME_TIMING, total_ms },
      ...changes,
    }) as unknown as StoredBacktestJob;
  const rows = DAY_MS / 60_000;

  test('earlier runs count less, and a strategy becomes cheaper when its runs do', async () => {
    const { strategyCosts } = (await queueScene(engine, 1)).deps;
    await recordCost({ strategyCosts }, completed(60_000));
    expect(await strategyCosts.get('abc')).toEqual({ ms: 60_000, rows });
    await recordCost({ strategyCosts }, completed(1_000));
    expect(await strategyCosts.get('abc')).toEqual({ ms: 49_000, rows: 1.8 * rows });
    for (let run = 0; run < 20; run++) await recordCost({ strategyCosts }, completed(10));
    expect((await strategyCosts.get('abc'))!.ms).toBeLessThan(1_000);
  });

  test('run that does not change the estimate is not stored', async () => {
    const { strategyCosts } = (await queueScene(engine, 1)).deps;
    for (let run = 0; run < 30; run++) await recordCost({ strategyCosts }, completed(20));
    const stored = await strategyCosts.get('abc');
    await recordCost({ strategyCosts }, completed(20));
    expect(await strategyCosts.get('abc')).toEqual(stored);
  });

  test('one of several concurrent measurements is stored', async () => {
    const { strategyCosts } = (await queueScene(engine, 1)).deps;
    for (const [before, ms] of [[undefined, 60_000] as const, [{ ms: 60_000, rows }, 1_000] as const]) {
      // All have read before one of them writes.
      const racing = { get: async () => before, put: strategyCosts.put.bind(strategyCosts) };
      const runs = [1, 2, 3, 4].map(() => recordCost({ strategyCosts: racing }, completed(ms)));
      await Promise.all(runs);
    }
    expect(await strategyCosts.get('abc')).toEqual({ ms: 49_000, rows: 1.8 * rows });
  });

  test.each([
    { kind: 'validation' },
    { registered: { model_name: 'm' } },
    { config: { ...CONFIG, ml_engine: {} } },
    { status: 'failed' },
    { strategy_digest: undefined },
  ])('nothing is recorded for %j', async (changes) => {
    const { strategyCosts } = (await queueScene(engine, 1)).deps;
    await recordCost({ strategyCosts }, completed(1_000, changes));
    expect(await strategyCosts.get('abc')).toBeUndefined();
  });

  test('end of a backtest records its cost', async () => {
    const { deps, jobs, submit, executions } = await queueScene(engine, 1);
    await submit('bt-1', { strategy_digest: 'def' });
    const at = '2025-03-01T00:00:05.000Z';
    await jobs.claim('bt-1', 'lambda-1', at);
    const timing = { ...SOME_TIMING, total_ms: 7_000 };
    const outcome = { result: SOME_RESULT, results: SOME_RESULTS, timing, warnings: [] };
    await jobs.complete('bt-1', 1, outcome, at);
    executions.states.set('bt-1-1', 'succeeded');
    await endExecutions(deps, ['bt-1-1']);
    // A month of 5m candles.
    expect(await deps.strategyCosts.get('def')).toEqual({ ms: 7_000, rows: 31 * 288 });
  });
});

/** Scene with slots of both lanes. */
async function scene({ backtest = 1, fast = 1 } = {}) {
  const base = await queueScene(engine, backtest);
  const deps = { ...base.deps, maxRunning: { backtest, fast, hyperopt: 1 } };
  const submit = async (id: string, lane: 'fast' | 'backtest', changes: Partial<JobIn<'pending'>> = {}) => {
    const job = base.newJob(id, changes);
    const queued = { ...job, queue: { ...job.queue, lane } };
    return enqueue<StoredBacktestJob>(deps, laneOfBacktest(deps, queued), queued, () =>
      base.jobs.create(queued),
    );
  };
  return { ...base, deps, submit };
}

describe('queue of the fast lane', () => {
  test('each lane has its own slots', async () => {
    const { submit, started, queue, deps } = await scene();
    await submit('bt-1', 'fast');
    await submit('bt-2', 'fast');
    await submit('bt-3', 'backtest');
    expect(started()).toEqual(['bt-1', 'bt-3']);
    expect(await queue.slots('fast')).toMatchObject([{ job_id: 'bt-1' }]);
    expect(await queue.slots('backtest')).toMatchObject([{ job_id: 'bt-3' }]);
    expect(await measureQueue(deps)).toMatchObject({
      waiting: { backtest: 0, fast: 1, hyperopt: 0 },
      running: { backtest: 1, fast: 1, hyperopt: 0 },
    });
  });

  test('execution learns the lane of its job', async () => {
    const { submit, deps } = await scene({ fast: 2 });
    const inputs: unknown[] = [];
    deps.executions.start = async (input: unknown) => void inputs.push(input);
    await submit('bt-1', 'fast');
    await submit('bt-2', 'backtest');
    expect(inputs).toMatchObject([
      { job_id: 'bt-1', lane: 'fast' },
      { job_id: 'bt-2', lane: 'backtest' },
    ]);
  });

  test('slot of an execution that ended goes to the next job of its lane', async () => {
    const { submit, started, end, queue } = await scene();
    await submit('bt-1', 'fast');
    await submit('bt-2', 'fast');
    await submit('bt-3', 'backtest');
    await submit('bt-4', 'backtest');
    await end('bt-1');
    expect(started()).toEqual(['bt-1', 'bt-3', 'bt-2']);
    await end('bt-3');
    expect(started()).toEqual(['bt-1', 'bt-3', 'bt-2', 'bt-4']);
    expect(await queue.slots('fast')).toHaveLength(1);
  });

  test('repair frees the slot of an execution that died, and fails its job', async () => {
    const { submit, jobs, clock, executions, deps, queue, started } = await scene();
    await submit('bt-1', 'fast');
    await jobs.claim('bt-1', 'lambda-1', new Date(clock.time).toISOString());
    await submit('bt-2', 'fast');
    executions.states.set('bt-1-1', 'failed');
    clock.time += 3 * MINUTE;
    const { failed, dispatched } = await repairQueue(deps);
    expect({ failed, dispatched }).toEqual({ failed: ['bt-1'], dispatched: ['bt-2'] });
    expect(started()).toEqual(['bt-1', 'bt-2']);
    expect(await queue.slots('fast')).toMatchObject([{ job_id: 'bt-2' }]);
  });

  test.each(['failed', 'been cancelled'])('slot of a job that has %s in a function is freed', async (end) => {
    const { submit, jobs, clock, executions, deps, queue, errors } = await scene();
    // ECS knows no run of a function.
    const ecs = mockClient(ECSClient).on(StopTaskCommand).rejects(new Error('Cluster not found'));
    const own = { ...deps, tasks: new EcsTaskControl(new ECSClient({ region: 'us-east-1' })) };
    await submit('bt-1', 'fast');
    const at = new Date(clock.time).toISOString();
    await jobs.claim('bt-1', 'lambda-1', at);
    if (end === 'failed') await jobs.fail('bt-1', 1, { code: 'VAL006', message: 'no signals' }, at);
    else await cancelBacktest(own, 'bt-1', 'ann');
    executions.states.set('bt-1-1', 'succeeded');
    await endExecutions(own, ['bt-1-1']);
    expect(await queue.slots('fast')).toEqual([]);
    expect(errors).toEqual([]);
    ecs.restore();
  });

  test('job that lacked capacity on Fargate waits in the fast lane again', async () => {
    const { submit, jobs, clock, executions, deps, queue } = await scene();
    await submit('bt-1', 'fast');
    const job = (await jobs.get('bt-1'))!;
    jobs.get = async () => ({ ...job, shortage: { execution: 'bt-1-1', reason: 'no vCPU' } });
    executions.states.set('bt-1-1', 'succeeded');
    await endExecutions(deps, ['bt-1-1']);
    expect(await queue.slots('fast')).toEqual([]);
    expect(await queue.order('fast', 'anonymous', 10)).toEqual(['bt-1']);
    clock.time += 10 * MINUTE;
    expect(await dispatch(deps, fastLane(deps))).toEqual(['bt-1']);
  });

  test('job that a function had claimed waits while Fargate lacks capacity', async () => {
    const { table, submit, jobs, clock, executions, deps, queue } = await scene();
    await submit('bt-1', 'fast');
    const at = new Date(clock.time).toISOString();
    await jobs.claim('bt-1', 'lambda-1', at);
    await engine.client.send(
      new UpdateCommand({
        TableName: table,
        Key: { job_id: 'bt-1', item: 'JOB' },
        UpdateExpression: 'SET shortage = :shortage',
        ExpressionAttributeValues: { ':shortage': { execution: 'bt-1-1', reason: 'no vCPU' } },
      }),
    );
    executions.states.set('bt-1-1', 'succeeded');
    await endExecutions(deps, ['bt-1-1']);
    expect(await queue.slots('fast')).toEqual([]);
    const waiting = (await jobs.get('bt-1'))!;
    expect(waiting).toMatchObject({ status: 'running', attempt: 1 });
    const states = await queueStates(deps, 'backtest', [waiting]);
    expect(states.get('bt-1')).toMatchObject({ position: 1, waiting_for: 'capacity', reason: 'no vCPU' });
    clock.time += 10 * MINUTE;
    expect(await dispatch(deps, fastLane(deps))).toEqual(['bt-1']);
    expect(executions.started.at(-1)).toBe('bt-1-2');
    expect(await queueStates(deps, 'backtest', [(await jobs.get('bt-1'))!])).toEqual(new Map());
    // The function may still run: its writes name the earlier attempt.
    expect(await jobs.claim('bt-1', 'arn:task', at)).toMatchObject({ job: { attempt: 2 } });
    const outcome = { result: SOME_RESULT, results: SOME_RESULTS, timing: SOME_TIMING, warnings: [] };
    expect(await jobs.complete('bt-1', 1, outcome, at)).toBe(false);
    expect(await jobs.complete('bt-1', 2, outcome, at)).toBe(true);
  });

  test('cancelled job leaves its own lane', async () => {
    const { submit, deps, queue } = await scene();
    await submit('bt-1', 'fast');
    await submit('bt-2', 'fast');
    await cancelBacktest(deps, 'bt-2', 'ann');
    expect(await queue.owners('fast')).toMatchObject([{ waiting: 0 }]);
    expect(await queue.owners('backtest')).toEqual([]);
  });

  test('position is that in the lane of the job', async () => {
    const { submit, queue } = await scene();
    for (const id of ['bt-1', 'bt-2', 'bt-3']) await submit(id, 'fast');
    for (const id of ['bt-4', 'bt-5']) await submit(id, 'backtest');
    const jobs = ['bt-3', 'bt-5'].map((job_id) => ({
      ...pendingJob(job_id),
      queue: {
        lane: job_id === 'bt-3' ? ('fast' as const) : ('backtest' as const),
        since: '2025-03-01T00:00:00.000Z',
        deferrals: 0,
      },
    }));
    const states = await queueStates({ queue }, 'backtest', jobs);
    expect([...states].map(([id, { position }]) => [id, position])).toEqual([
      ['bt-3', 2],
      ['bt-5', 1],
    ]);
  });

  test('jobs that wait in the fast lane still start when it has no slots any more', async () => {
    const { submit, deps, started } = await scene();
    await submit('bt-1', 'fast');
    await submit('bt-2', 'fast');
    const without = { ...deps, maxRunning: { backtest: 1, fast: 0, hyperopt: 1 } };
    await deps.queue.free((await deps.queue.slots('fast'))[0]!);
    await repairQueue(without);
    expect(started()).toEqual(['bt-1', 'bt-2']);
  });

  test('job without a lane belongs to the lane of backtests', async () => {
    const { deps } = await scene();
    expect(laneOfBacktest(deps, pendingJob('bt-1'))).toEqual(backtestLane(deps));
  });
});
