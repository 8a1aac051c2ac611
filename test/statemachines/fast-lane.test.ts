import { describe, expect, test } from 'vitest';
import { BACKTEST_ASL, fail, runAsl, type Step } from '../support/run-asl.ts';

const INPUT = {
  job_id: 'bt-01J',
  kind: 'backtest',
  list: 'backtest#2',
  lane: 'fast',
  image: null,
  correlation_id: 'c-1',
  on_demand: false,
  exchange: 'sim',
  symbols: ['BTC/USDT:USDT'],
  timeframe: '5m',
  start: '2025-01-01T00:00:00.000Z',
  end: '2025-02-01T00:00:00.000Z',
};
const IDS = { job_id: 'bt-01J', correlation_id: 'c-1' };
const ok: Step = () => ({});

const freshness =
  (result: object): Step =>
  () => ({ Payload: { statusCode: 200, body: { success: true, data: { result } } } });
const fresh = freshness({ all_fresh: true, missing_candles: 0 });

const run = (input: object, steps: Readonly<Record<string, Step>>) =>
  runAsl(BACKTEST_ASL, { ...INPUT, ...input }, { CheckFreshness: fresh, ...steps });

describe('backtest in the fast lane', () => {
  test('function runs the backtest with nothing but its IDs, and no task starts', async () => {
    const { path, calls, failure } = await run({}, { RunBacktestFast: ok });
    expect(failure).toBeUndefined();
    expect(path).toEqual([
      'ChooseCollection',
      'CheckFreshness',
      'IsFresh',
      'ChooseImage',
      'RunBacktestFast',
      'Done',
    ]);
    expect(calls.at(-1)!.parameters).toEqual({ FunctionName: 'BacktestFunction', Payload: IDS });
  });

  test.each([
    ['crashed', 'Runtime.ExitError', 1],
    ['ran out of time', 'Sandbox.Timedout', 1],
    ['threw an error', 'Error', 1],
    ['got no response', 'States.Timeout', 1],
    ['was throttled', 'Lambda.TooManyRequestsException', 3],
  ])('backtest runs on Fargate in the same execution when the function %s', async (_, error, attempts) => {
    const { path, calls, failure } = await run(
      {},
      { RunBacktestFast: () => fail(error, 'internals'), RunBacktest: ok },
    );
    expect(failure).toBeUndefined();
    expect(path.slice(path.indexOf('RunBacktestFast'))).toEqual([
      'RunBacktestFast',
      'UsePlatformImage',
      'ChooseCapacity',
      'RunBacktest',
      'ChooseRecording',
      'Done',
    ]);
    expect(calls.filter(({ state }) => state === 'RunBacktestFast')).toHaveLength(attempts);
  });

  test('job that neither lane can run is marked failed after the attempts on Fargate', async () => {
    const crash: Step = () => fail('States.TaskFailed');
    const steps = { RunBacktestFast: crash, RunBacktest: crash, RunBacktestOnDemand: crash, MarkFailed: ok };
    const { path, calls } = await run({}, steps);
    expect(path.slice(-3)).toEqual(['TaskFailed', 'MarkFailed', 'Done']);
    expect(calls.filter(({ state }) => state === 'RunBacktestFast')).toHaveLength(1);
  });

  test('job waits when its function is throttled and Fargate has no capacity', async () => {
    const full: Step = () => fail('ECS.AmazonECSException', 'RESOURCE:ENI');
    const steps = { RunBacktest: full, RunBacktestOnDemand: full, NoteShortage: ok };
    const { path } = await run(
      {},
      { RunBacktestFast: () => fail('Lambda.TooManyRequestsException'), ...steps },
    );
    expect(path.slice(-3)).toEqual(['ClassifyFailure', 'NoteShortage', 'Done']);
  });

  test('registered image never runs in the function, whatever the lane', async () => {
    const image = `registry.example/touchstone@sha256:${'ab'.repeat(32)}`;
    const { path } = await run(
      { image },
      { PrepareImage: () => ({ Payload: { task_definition: 'arn:own:7' } }), MarkFailed: ok },
    );
    expect(path.slice(3, 5)).toEqual(['ChooseImage', 'PrepareImage']);
    expect(path).not.toContain('RunBacktestFast');
  });

  test.each([{ lane: 'backtest' }, { lane: undefined }, { lane: null }, { lane: 1 }])(
    'task runs the backtest with %j',
    async (input) => {
      const { path } = await run(input, { RunBacktest: ok });
      expect(path.slice(3)).toEqual([
        'ChooseImage',
        'UsePlatformImage',
        'ChooseCapacity',
        'RunBacktest',
        'ChooseRecording',
        'Done',
      ]);
    },
  );
});

describe('collection in the fast lane', () => {
  const collected = async (result: object, steps: Readonly<Record<string, Step>>, input: object = {}) =>
    run(input, {
      CheckFreshness: freshness({ all_fresh: false, ...result }),
      RunBacktestFast: ok,
      RunBacktest: ok,
      ...steps,
    });

  test('function collects stale informative series without a check of the own candles', async () => {
    const { path } = await collected({}, { CollectDataFast: ok }, { informative_stale: true });
    expect(path).toEqual(['ChooseCollection', 'CollectDataFast', 'ChooseImage', 'RunBacktestFast', 'Done']);
  });

  test.each([0, 1, 50_000])('function collects %i missing candles', async (missing_candles) => {
    const { path, calls } = await collected({ missing_candles }, { CollectDataFast: ok });
    expect(path.slice(2)).toEqual(['IsFresh', 'CollectDataFast', 'ChooseImage', 'RunBacktestFast', 'Done']);
    expect(calls[1]!.parameters).toEqual({ FunctionName: 'CollectFunction', Payload: IDS });
  });

  test.each([{ missing_candles: 50_001 }, {}, { missing_candles: null }, { missing_candles: '7' }])(
    'task collects candles for the freshness result %j',
    async (result) => {
      const { path } = await collected(result, { CollectData: ok });
      expect(path.slice(2)).toEqual(['IsFresh', 'CollectData', 'ChooseImage', 'RunBacktestFast', 'Done']);
    },
  );

  test('task collects candles of a job outside the fast lane', async () => {
    const { path } = await collected({ missing_candles: 1 }, { CollectData: ok }, { lane: 'backtest' });
    expect(path.slice(2, 4)).toEqual(['IsFresh', 'CollectData']);
  });

  test.each([
    ['Runtime.ExitError', 1],
    ['Lambda.TooManyRequestsException', 3],
  ])('task collects the candles when the function fails with %s', async (error, attempts) => {
    const steps = { CollectDataFast: () => fail(error), CollectData: ok };
    const { path, calls } = await collected({ missing_candles: 1 }, steps);
    expect(path.slice(2, 6)).toEqual(['IsFresh', 'CollectDataFast', 'CollectData', 'ChooseImage']);
    expect(calls.filter(({ state }) => state === 'CollectDataFast')).toHaveLength(attempts);
  });
});
