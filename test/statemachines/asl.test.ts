import { readFileSync } from 'node:fs';
import aslValidator from 'asl-validator';
import { describe, expect, test } from 'vitest';
import { ERROR_SUMMARY_LENGTH } from '#contract/values/tables.ts';
import {
  type AslRun,
  BACKTEST_ASL,
  fail,
  HYPEROPT_ASL,
  readDefinition,
  runAsl,
  type Step,
} from '../support/run-asl.ts';
import { FINAL_START_FAILURES, PASSING_PULL_FAILURES } from './pull-failures.ts';

const definition = readDefinition(BACKTEST_ASL);
const states = Object.entries(definition.States);
const tasks = states.filter(([, state]) => state.Type === 'Task');
const text = JSON.stringify(definition);

const INPUT = {
  job_id: 'bt-01J',
  kind: 'backtest',
  list: 'backtest#2',
  correlation_id: 'c-1',
  on_demand: false,
  exchange: 'sim',
  symbols: ['BTC/USDT:USDT', 'ETH/USDT:USDT'],
  timeframe: '5m',
  start: '2025-01-01T00:00:00.000Z',
  end: '2025-02-01T00:00:00.000Z',
};

const response = (all_fresh: unknown) => () => ({
  StatusCode: 200,
  Payload: {
    statusCode: 200,
    body: {
      success: true,
      data: { operation: 'check-freshness', result: { all_fresh, stale_symbols: [] } },
    },
  },
});
const fresh = response(true);
const ok: Step = () => ({ Containers: [{ ExitCode: 0 }] });
const crash = (cause?: string) => () => fail('States.TaskFailed', cause);

describe('backtest workflow definition', () => {
  test('definition is valid ASL', () => {
    const { isValid, errorsText } = aslValidator(definition, { checkArn: false, checkPaths: true });
    expect(errorsText()).toBe('');
    expect(isValid).toBe(true);
  });

  test('both files repeat one rule for starts that fail in the same way each time', () => {
    const rules: unknown[] = [];
    for (const file of [BACKTEST_ASL, HYPEROPT_ASL]) {
      JSON.parse(readFileSync(file, 'utf8'), (_, value) => {
        if (value?.And && value.Next && JSON.stringify(value).includes('manifest unknown'))
          rules.push(value.And);
        return value;
      });
    }
    expect(rules).toHaveLength(4);
    for (const rule of rules) expect(rule).toEqual(rules[0]);
  });

  test('definition uses JSONPath without variables, which every interpreter supports', () => {
    expect(text).not.toMatch(/JSONata|"Assign"|"Arguments"|"Output"|\{%/);
  });

  test('every task has a time limit with its reason', () => {
    for (const [name, state] of tasks) {
      expect(state.TimeoutSeconds, name).toBeGreaterThan(0);
      expect(state.Comment, name).toMatch(/\d/);
      expect(state.Catch?.length, name).toBeGreaterThan(0);
    }
  });

  test('time limit of the machine exceeds its longest path', () => {
    const worst = (name: string) => {
      const { TimeoutSeconds = 0, Retry = [] } = definition.States[name]!;
      const pauses = Retry.flatMap(({ MaxAttempts, IntervalSeconds = 1, BackoffRate = 2 }) =>
        Array.from({ length: MaxAttempts }, (_, n) => IntervalSeconds * BackoffRate ** n),
      );
      return (1 + pauses.length) * TimeoutSeconds + pauses.reduce((sum, pause) => sum + pause, 0);
    };
    const backtest = definition.States.RunBacktestOnDemand!.TimeoutSeconds!;
    // A retried CollectData or RunBacktest failed to start or crashed, so it did not use its time limit.
    const longest =
      worst('CheckFreshness') +
      definition.States.CollectDataFast!.TimeoutSeconds! +
      definition.States.CollectData!.TimeoutSeconds! +
      definition.States.RunBacktestFast!.TimeoutSeconds! +
      definition.States.RunBacktest!.TimeoutSeconds! +
      3 * backtest +
      (10 + 20) +
      worst('PrepareImage') +
      worst('PrepareImageRun') +
      worst('RecordImageRun') +
      worst('MarkFailed');
    expect(definition.TimeoutSeconds).toBeGreaterThan(longest);
  });

  test('tasks receive only IDs, those of registered images only the key of their input', () => {
    const variables = (environment: unknown) =>
      (environment as { readonly Name: string }[]).map(({ Name }) => Name);
    const passed = states.flatMap(([, { Resource, Parameters }]) => {
      if (!Resource?.includes('ecs:runTask')) return [];
      const [override] = Parameters!.Overrides!.ContainerOverrides;
      const given = (override as { 'Environment.$'?: string })['Environment.$'];
      return [given ?? variables(override!.Environment)];
    });
    expect(passed).toEqual([['JOB_ID', 'CORRELATION_ID'], '$.task.environment', '$.task.environment']);
    const { UsePlatformImage, UseRegisteredImage } = definition.States as Record<string, any>;
    expect(variables(UsePlatformImage.Parameters.environment)).toEqual(['JOB_ID', 'CORRELATION_ID']);
    expect(variables(UseRegisteredImage.Parameters.environment)).toEqual(['RUN_INPUT', 'CORRELATION_ID']);
  });

  test('no state stores the cause of a failure, which contains internals', () => {
    const readers = states.filter(([, state]) => JSON.stringify(state).includes('$.failure.Cause'));
    expect(readers.map(([, state]) => state.Type)).toEqual(['Choice', 'Choice']);
  });

  test('error messages fit a list row', () => {
    const messages = JSON.stringify(definition).match(/(?<="message(\.\$)?":")[^"]+/g) ?? [];
    expect(messages).toHaveLength(7);
    // {} is replaced by the error name.
    for (const message of messages) expect(message.length + 60).toBeLessThan(ERROR_SUMMARY_LENGTH);
  });
});

/** States up to the result of the freshness check. */
const CHECKED = ['ChooseCollection', 'CheckFreshness', 'IsFresh'];
/** States between collection and run for a job without a registered image. */
const OWN_IMAGE = ['ChooseImage', 'UsePlatformImage', 'ChooseCapacity'];
/** States after a task that has recorded its outcome itself. */
const ENDED = ['ChooseRecording', 'Done'];

/** Causes of ECS errors and of stopped tasks when AWS lacks capacity. */
const SHORTAGES = [
  'RESOURCE:ENI',
  '{"StopCode":"TaskFailedToStart","StoppedReason":"Capacity is unavailable at this time."}',
  "You've reached the limit on the number of vCPUs you can run concurrently",
  'Rate exceeded (Service: AmazonECS; Status Code: 400; Error Code: ThrottlingException)',
];

describe('freshness check', () => {
  const run = (CheckFreshness: Step) =>
    runAsl(BACKTEST_ASL, INPUT, { CheckFreshness, CollectData: ok, RunBacktest: ok });

  test('fresh candles are not collected', async () => {
    const { path, calls } = await run(fresh);
    expect(path).toEqual([...CHECKED, ...OWN_IMAGE, 'RunBacktest', ...ENDED]);
    expect(calls[0]!.parameters).toEqual({
      FunctionName: 'DataProxy',
      Payload: {
        operation: 'check-freshness',
        correlation_id: 'c-1',
        // The proxy reads the fields that it knows; trading_mode is one of them, and absent in futures.
        params: INPUT,
      },
    });
  });

  test.each<[string, Step]>([
    ['stale', response(false)],
    ['missing', response(undefined)],
    ['a string', response('true')],
    ['a number', response(1)],
    ['null', response(null)],
    ['an error result', () => ({ Payload: { statusCode: 503, body: { success: false, error: {} } } })],
    ['an envelope without a body', () => ({ Payload: { statusCode: 200 } })],
    ['a string body', () => ({ Payload: { statusCode: 200, body: '{"data":{}}' } })],
    ['an empty payload', () => ({ Payload: null })],
  ])('candles are collected for a freshness result that is %s', async (_, step) => {
    const { path, failure } = await run(step);
    expect(failure).toBeUndefined();
    expect(path).toEqual([...CHECKED, 'CollectData', ...OWN_IMAGE, 'RunBacktest', ...ENDED]);
  });

  test('candles are collected after retries when the proxy fails', async () => {
    const { path, calls } = await run(() => fail('Lambda.TooManyRequestsException'));
    expect(path).toEqual([
      'ChooseCollection',
      'CheckFreshness',
      'CollectData',
      ...OWN_IMAGE,
      'RunBacktest',
      ...ENDED,
    ]);
    expect(calls.filter(({ state }) => state === 'CheckFreshness')).toHaveLength(4);
    expect((await run(() => fail('TypeError'))).calls.map(({ state }) => state)).toEqual([
      'CheckFreshness',
      'CollectData',
      'RunBacktest',
    ]);
  });
});

describe('collection step', () => {
  const run = (input: object) =>
    runAsl(BACKTEST_ASL, { ...INPUT, ...input }, { CheckFreshness: fresh, CollectData: ok, RunBacktest: ok });

  test('collect: never skips the freshness check and the collection', async () => {
    const { path } = await run({ collect: 'never' });
    expect(path).toEqual(['ChooseCollection', ...OWN_IMAGE, 'RunBacktest', ...ENDED]);
  });

  test('collect: always skips the freshness check', async () => {
    const { path } = await run({ collect: 'always' });
    expect(path).toEqual(['ChooseCollection', 'CollectData', ...OWN_IMAGE, 'RunBacktest', ...ENDED]);
  });

  test('stale informative series are collected without a check of the own candles', async () => {
    const { path } = await run({ informative_stale: true });
    expect(path).toEqual(['ChooseCollection', 'CollectData', ...OWN_IMAGE, 'RunBacktest', ...ENDED]);
  });

  test('collect: never also skips stale informative series', async () => {
    const { path } = await run({ collect: 'never', informative_stale: true });
    expect(path).toEqual(['ChooseCollection', ...OWN_IMAGE, 'RunBacktest', ...ENDED]);
  });

  test.each([{ collect: 'if_stale' }, {}, { collect: null }, { collect: 7 }])(
    'only stale candles are collected with %j',
    async (input) => {
      const { path } = await run(input);
      expect(path).toEqual([...CHECKED, ...OWN_IMAGE, 'RunBacktest', ...ENDED]);
    },
  );

  test.each([
    ['crashed', 'States.TaskFailed', 3],
    ['timed out', 'States.Timeout', 1],
    ['was rejected by ECS', 'ECS.AmazonECSException', 3],
  ])('backtest runs when the collection %s', async (_, name, attempts) => {
    const { path, calls, failure } = await runAsl(BACKTEST_ASL, INPUT, {
      CheckFreshness: response(false),
      CollectData: () => fail(name),
      RunBacktest: ok,
    });
    expect(failure).toBeUndefined();
    expect(path).toEqual([
      ...CHECKED,
      'CollectData',
      'ClassifyCollectionFailure',
      ...OWN_IMAGE,
      'RunBacktest',
      ...ENDED,
    ]);
    expect(calls.filter(({ state }) => state === 'CollectData')).toHaveLength(attempts);
  });

  test.each(SHORTAGES)('job waits when the collection lacks capacity: %s', async (cause) => {
    const { path, failure } = await runAsl(BACKTEST_ASL, INPUT, {
      CheckFreshness: response(false),
      CollectData: () => fail('ECS.AmazonECSException', cause),
      NoteShortage: ok,
    });
    expect(failure).toBeUndefined();
    expect(path.slice(-4)).toEqual(['CollectData', 'ClassifyCollectionFailure', 'NoteShortage', 'Done']);
  });

  test.each(PASSING_PULL_FAILURES)(
    'job waits while the image of its collection cannot be pulled: %s',
    async (cause) => {
      const { path, failure } = await runAsl(BACKTEST_ASL, INPUT, {
        CheckFreshness: response(false),
        CollectData: () => fail('States.TaskFailed', cause),
        NoteShortage: ok,
      });
      expect(failure).toBeUndefined();
      expect(path.slice(-4)).toEqual(['ClassifyCollectionFailure', 'ImageNotPulled', 'NoteShortage', 'Done']);
    },
  );

  test.each(FINAL_START_FAILURES)(
    'backtest uses stored candles when its collection can never start: %s',
    async (cause) => {
      const { path, failure } = await runAsl(BACKTEST_ASL, INPUT, {
        CheckFreshness: response(false),
        CollectData: () => fail('States.TaskFailed', cause),
        RunBacktest: ok,
      });
      expect(failure).toBeUndefined();
      expect(path.slice(-7)).toEqual(['ClassifyCollectionFailure', ...OWN_IMAGE, 'RunBacktest', ...ENDED]);
    },
  );

  test('backtest uses stored candles when the shortage of the collection cannot be stored', async () => {
    const { path, failure } = await runAsl(BACKTEST_ASL, INPUT, {
      CheckFreshness: response(false),
      CollectData: () => fail('ECS.AmazonECSException', SHORTAGES[0]),
      NoteShortage: () => fail('DynamoDB.AmazonDynamoDBException'),
      RunBacktest: ok,
    });
    expect(failure).toBeUndefined();
    expect(path.slice(-8)).toEqual(['NoteShortage', 'ChooseRetry', ...OWN_IMAGE, 'RunBacktest', ...ENDED]);
  });
});

describe('capacity', () => {
  test('task runs on Spot with the IDs of the job', async () => {
    const { calls } = await runAsl(BACKTEST_ASL, INPUT, { CheckFreshness: fresh, RunBacktest: ok });
    expect(calls[1]!.parameters).toMatchObject({
      Cluster: 'Cluster',
      TaskDefinition: 'BacktestTask',
      CapacityProviderStrategy: [{ CapacityProvider: 'FARGATE_SPOT', Weight: 1 }],
      Group: 'bt-01J',
      Overrides: {
        ContainerOverrides: [
          {
            Name: 'task',
            Environment: [
              { Name: 'JOB_ID', Value: 'bt-01J' },
              { Name: 'CORRELATION_ID', Value: 'c-1' },
            ],
          },
        ],
      },
    });
  });

  test('task runs on demand when requested', async () => {
    const input = { ...INPUT, on_demand: true };
    const { path, calls } = await runAsl(BACKTEST_ASL, input, {
      CheckFreshness: fresh,
      RunBacktestOnDemand: ok,
    });
    expect(path).toEqual([...CHECKED, ...OWN_IMAGE, 'RunBacktestOnDemand', ...ENDED]);
    expect(calls[1]!.parameters.CapacityProviderStrategy).toEqual([
      { CapacityProvider: 'FARGATE', Weight: 1 },
    ]);
  });

  test.each([undefined, 'true', null])('task runs on Spot when on_demand is %s', async (on_demand) => {
    const input = { ...INPUT, on_demand };
    const { path } = await runAsl(BACKTEST_ASL, input, { CheckFreshness: fresh, RunBacktest: ok });
    expect(path).toContain('RunBacktest');
  });

  test('task runs on demand after Spot fails', async () => {
    const steps = { CheckFreshness: fresh, RunBacktest: crash('spot'), RunBacktestOnDemand: ok };
    const { path, failure } = await runAsl(BACKTEST_ASL, INPUT, steps);
    expect(failure).toBeUndefined();
    expect(path.slice(3)).toEqual([
      ...OWN_IMAGE,
      'RunBacktest',
      'ClassifyFailure',
      'ChooseRetry',
      'RetryOnDemand',
      'RunBacktestOnDemand',
      ...ENDED,
    ]);
  });

  test.each(SHORTAGES)('job waits when neither Spot nor on-demand has capacity: %s', async (cause) => {
    const steps = { CheckFreshness: fresh, RunBacktest: crash(cause), RunBacktestOnDemand: crash(cause) };
    const asl = await runAsl(BACKTEST_ASL, INPUT, { ...steps, NoteShortage: ok });
    expect(asl.failure).toBeUndefined();
    expect(asl.path.slice(-4)).toEqual(['RunBacktestOnDemand', 'ClassifyFailure', 'NoteShortage', 'Done']);
    const { parameters } = asl.calls.at(-1)!;
    expect(parameters).toMatchObject({ ConditionExpression: '#status IN (:pending, :running)' });
    expect(JSON.stringify(parameters)).not.toContain(cause);
  });

  test('execution of a job that was cancelled while capacity was lacking ends', async () => {
    const { path } = await runAsl(
      BACKTEST_ASL,
      { ...INPUT, on_demand: true },
      {
        CheckFreshness: fresh,
        RunBacktestOnDemand: crash(SHORTAGES[0]),
        NoteShortage: () => fail('DynamoDB.ConditionalCheckFailedException'),
      },
    );
    expect(path.slice(-4)).toEqual(['RunBacktestOnDemand', 'ClassifyFailure', 'NoteShortage', 'Done']);
  });

  test.each(FINAL_START_FAILURES)('job fails at once when ECS cannot start any task: %s', async (cause) => {
    const asl = await runAsl(BACKTEST_ASL, INPUT, {
      CheckFreshness: fresh,
      RunBacktest: crash(cause),
      MarkFailed: ok,
    });
    expect(asl.path.slice(-4)).toEqual(['ClassifyFailure', 'StartRejected', 'MarkFailed', 'Done']);
  });

  test.each(PASSING_PULL_FAILURES)('job waits while its image cannot be pulled: %s', async (cause) => {
    const asl = await runAsl(BACKTEST_ASL, INPUT, {
      CheckFreshness: fresh,
      RunBacktest: crash(cause),
      RunBacktestOnDemand: crash(cause),
      NoteShortage: ok,
    });
    expect(asl.failure).toBeUndefined();
    expect(asl.path.slice(-5)).toEqual([
      'RunBacktestOnDemand',
      'ClassifyFailure',
      'ImageNotPulled',
      'NoteShortage',
      'Done',
    ]);
    expect(asl.calls.filter(({ state }) => state === 'RunBacktestOnDemand')).toHaveLength(1);
    expect(asl.calls.at(-1)!.parameters.ExpressionAttributeValues).toMatchObject({
      ':shortage': { M: { reason: { S: 'ECS could not start the task (CannotPullContainerError)' } } },
    });
  });

  test('task on demand is retried twice', async () => {
    let attempts = 0;
    const { path, failure } = await runAsl(BACKTEST_ASL, INPUT, {
      CheckFreshness: fresh,
      RunBacktest: crash(),
      RunBacktestOnDemand: () => (++attempts < 3 ? fail('States.TaskFailed') : {}),
    });
    expect(failure).toBeUndefined();
    expect(path.at(-1)).toBe('Done');
    expect(attempts).toBe(3);
  });
});

/** Error message that a run stored in its job. */
const messageOf = ({ calls }: AslRun) => calls.at(-1)!.parameters.ExpressionAttributeValues![':error']!.S;

describe('task image', () => {
  const image = `registry.example/touchstone@sha256:${'ab'.repeat(32)}`;
  const run = (input: object, steps: Record<string, Step>) =>
    runAsl(BACKTEST_ASL, { ...INPUT, ...input }, { CheckFreshness: fresh, RunBacktest: ok, ...steps });
  const definitionOf = ({ calls }: AslRun) =>
    calls
      .filter(({ state }) => state.startsWith('RunBacktest'))
      .map(({ parameters }) => parameters.TaskDefinition);

  const prepared = {
    PrepareImage: () => ({ Payload: { task_definition: 'arn:own:7' } }),
    PrepareImageRun: () => ({ Payload: { input: 'key.json' } }),
    RecordImageRun: () => ({ Payload: { outcome: 'recorded' } }),
  };
  const ended: Step = () => ({ TaskArn: 'arn:task', Containers: [{ ExitCode: 0 }] });

  test('registered image runs with its input, and the platform records what it wrote', async () => {
    const asl = await run({ image }, { ...prepared, RunBacktest: ended });
    expect(asl.path.slice(3)).toEqual([
      'ChooseImage',
      'PrepareImage',
      'PrepareImageRun',
      'UseRegisteredImage',
      'ChooseCapacity',
      'RunBacktest',
      'ChooseRecording',
      'RecordImageRun',
      'Done',
    ]);
    const parametersOf = (name: string) => asl.calls.find(({ state }) => state === name)!.parameters;
    expect(parametersOf('PrepareImage')).toEqual({
      FunctionName: 'TaskImage',
      Payload: { image, correlation_id: 'c-1' },
    });
    expect(parametersOf('PrepareImageRun')).toEqual({
      FunctionName: 'ImageRun',
      Payload: { operation: 'prepare', job_id: 'bt-01J', correlation_id: 'c-1' },
    });
    expect(parametersOf('RunBacktest')).toMatchObject({
      TaskDefinition: 'arn:own:7',
      Group: 'bt-01J',
      Overrides: {
        ContainerOverrides: [
          {
            Environment: [
              { Name: 'RUN_INPUT', Value: 'key.json' },
              { Name: 'CORRELATION_ID', Value: 'c-1' },
            ],
          },
        ],
      },
    });
    expect(parametersOf('RecordImageRun')).toEqual({
      FunctionName: 'ImageRun',
      Payload: { operation: 'record', job_id: 'bt-01J', task: 'arn:task', correlation_id: 'c-1' },
    });
  });

  test('registered image runs on demand after Spot, with the same input', async () => {
    const steps = { ...prepared, RunBacktest: () => fail('States.TaskFailed'), RunBacktestOnDemand: ended };
    const asl = await run({ image }, steps);
    expect(definitionOf(asl)).toEqual(['arn:own:7', 'arn:own:7']);
    expect(asl.calls.filter(({ state }) => state === 'PrepareImageRun')).toHaveLength(1);
    expect(asl.path.slice(-3)).toEqual(['ChooseRecording', 'RecordImageRun', 'Done']);
  });

  test.each([
    ['PrepareImageRun', 'RunPreparationFailed', /input of the registered image could not be stored/],
    ['RecordImageRun', 'RecordingFailed', /result of the registered image could not be recorded/],
  ])('job fails with a reason when %s fails four times', async (state, next, reason) => {
    const broken = { [state]: () => fail('CodedError'), MarkFailed: () => ({}) };
    const asl = await run({ image }, { ...prepared, RunBacktest: ended, ...broken });
    expect(asl.path.slice(-4)).toEqual([state, next, 'MarkFailed', 'Done']);
    expect(asl.calls.filter((each) => each.state === state)).toHaveLength(4);
    expect(messageOf(asl)).toMatch(reason);
  });

  test.each([{ image: null }, {}, { image: 7 }])('default image runs for %j', async (input) => {
    expect(definitionOf(await run(input, {}))).toEqual(['BacktestTask']);
  });

  test('job fails when its registered image cannot be prepared, and no other image runs', async () => {
    const asl = await run({ image }, { PrepareImage: () => fail('CodedError'), MarkFailed: () => ({}) });
    expect(asl.path.slice(-4)).toEqual(['PrepareImage', 'ImagePreparationFailed', 'MarkFailed', 'Done']);
    expect(asl.calls.filter(({ state }) => state === 'PrepareImage')).toHaveLength(4);
    expect(messageOf(asl)).toMatch(/registered image cannot run/);
  });
});

describe('failed backtest', () => {
  const run = (steps: Record<string, Step>) =>
    runAsl(BACKTEST_ASL, INPUT, { CheckFreshness: fresh, MarkFailed: () => ({}), ...steps });
  test('job is marked failed after the last attempt', async () => {
    const asl = await run({ RunBacktest: crash(), RunBacktestOnDemand: crash('secret internals') });
    expect(asl.failure).toBeUndefined();
    const onceMore = ['RunBacktestOnDemand', 'ClassifyFailure', 'ChooseRetry', 'Backoff', 'CountRetry'];
    expect(asl.path.slice(6)).toEqual([
      'RunBacktest',
      'ClassifyFailure',
      'ChooseRetry',
      'RetryOnDemand',
      ...onceMore,
      ...onceMore,
      'RunBacktestOnDemand',
      'ClassifyFailure',
      'ChooseRetry',
      'TaskFailed',
      'MarkFailed',
      'Done',
    ]);
    expect(asl.calls.filter(({ state }) => state === 'RunBacktestOnDemand')).toHaveLength(3);
    expect(messageOf(asl)).toContain('(States.TaskFailed)');
    expect(JSON.stringify(asl.calls.at(-1))).not.toContain('secret internals');
  });

  describe.each([
    ['{"Containers":[{"ExitCode":137,"Reason":"OutOfMemoryError: container killed due to memory usage"}]}'],
    ['{"Containers":[{"ExitCode":137,"Name":"task"}],"StopCode":"EssentialContainerExited"}'],
    ['{"Containers":[{"ExitCode":134,"Name":"task"}],"StopCode":"EssentialContainerExited"}'],
    ['The task ran out of memory'],
  ])('out of memory: %s', (cause) => {
    test('out of memory is not retried on Spot or on demand', async () => {
      for (const on_demand of [false, true]) {
        const first = on_demand ? 'RunBacktestOnDemand' : 'RunBacktest';
        const steps = { CheckFreshness: fresh, MarkFailed: () => ({}), [first]: crash(cause) };
        const asl = await runAsl(BACKTEST_ASL, { ...INPUT, on_demand }, steps);
        expect(asl.path.slice(6)).toEqual([first, 'ClassifyFailure', 'OutOfMemory', 'MarkFailed', 'Done']);
        expect(messageOf(asl)).toMatch(/more memory than its task has/);
      }
    });

    test('out of memory after another failure is not retried', async () => {
      const asl = await run({ RunBacktest: crash(), RunBacktestOnDemand: crash(cause) });
      expect(asl.calls.filter(({ state }) => state === 'RunBacktestOnDemand')).toHaveLength(1);
      expect(messageOf(asl)).toMatch(/more memory than its task has/);
    });
  });

  test('Spot interruption is retried on demand despite its exit code', async () => {
    const cause = '{"Containers":[{"ExitCode":137,"Name":"task"}],"StopCode":"SpotInterruption"}';
    const { path } = await run({ RunBacktest: crash(cause), RunBacktestOnDemand: ok });
    expect(path.slice(6)).toEqual([
      'RunBacktest',
      'ClassifyFailure',
      'ChooseRetry',
      'RetryOnDemand',
      'RunBacktestOnDemand',
      ...ENDED,
    ]);
  });

  test.each(['RunBacktest', 'RunBacktestOnDemand'])('time-out of %s is not retried', async (state) => {
    const asl = await run({
      RunBacktest: crash(),
      RunBacktestOnDemand: crash(),
      [state]: () => fail('States.Timeout'),
    });
    expect(asl.path.slice(-4)).toEqual([state, 'TimedOut', 'MarkFailed', 'Done']);
    expect(asl.calls.filter((call) => call.state === state)).toHaveLength(1);
    expect(messageOf(asl)).toMatch(/limit of 6 hours/);
  });

  test('end that the job already has is kept', async () => {
    const asl = await run({
      RunBacktest: crash(),
      RunBacktestOnDemand: crash(),
      MarkFailed: () => fail('DynamoDB.ConditionalCheckFailedException'),
    });
    expect(asl.failure).toBeUndefined();
    expect(asl.path.at(-1)).toBe('Done');
    expect(asl.calls.filter(({ state }) => state === 'MarkFailed')).toHaveLength(1);
  });

  test('execution fails when the table is unavailable, so that repair finds it', async () => {
    const asl = await run({
      RunBacktest: crash(),
      RunBacktestOnDemand: crash(),
      MarkFailed: () => fail('DynamoDB.InternalServerErrorException'),
    });
    expect(asl.failure).toBeDefined();
    expect(asl.calls.filter(({ state }) => state === 'MarkFailed')).toHaveLength(6);
  });
});
