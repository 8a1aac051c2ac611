import aslValidator from 'asl-validator';
import { describe, expect, test } from 'vitest';
import { ERROR_SUMMARY_LENGTH } from '#contract/tables.ts';
import { type AslRun, BACKTEST_ASL, fail, readDefinition, runAsl, type Step } from '../support/run-asl.ts';

const definition = readDefinition(BACKTEST_ASL);
const states = Object.entries(definition.States);
const tasks = states.filter(([, state]) => state.Type === 'Task');
const text = JSON.stringify(definition);

const INPUT = {
  job_id: 'bt-01J',
  kind: 'backtest',
  correlation_id: 'c-1',
  on_demand: false,
  exchange: 'sim',
  symbols: ['BTC/USDT:USDT', 'ETH/USDT:USDT'],
  timeframe: '5m',
  start: '2025-01-01T00:00:00.000Z',
  end: '2025-02-01T00:00:00.000Z',
};

const answer = (all_fresh: unknown) => () => ({
  StatusCode: 200,
  Payload: {
    statusCode: 200,
    body: {
      success: true,
      data: { operation: 'check-freshness', result: { all_fresh, stale_symbols: [] } },
    },
  },
});
const fresh = answer(true);
const ok: Step = () => ({ Containers: [{ ExitCode: 0 }] });
const crash = (cause?: string) => () => fail('States.TaskFailed', cause);

describe('the definition', () => {
  test('is valid ASL', () => {
    const { isValid, errorsText } = aslValidator(definition, { checkArn: false, checkPaths: true });
    expect(errorsText()).toBe('');
    expect(isValid).toBe(true);
  });

  test('uses JSONPath without variables, which every interpreter runs', () => {
    expect(text).not.toMatch(/JSONata|"Assign"|"Arguments"|"Output"|\{%/);
  });

  test('bounds every task and says why', () => {
    for (const [name, state] of tasks) {
      expect(state.TimeoutSeconds, name).toBeGreaterThan(0);
      expect(state.Comment, name).toMatch(/\d/);
      expect(state.Catch?.length, name).toBeGreaterThan(0);
    }
  });

  test('gives the machine more time than its longest path needs', () => {
    const worst = (name: string) => {
      const { TimeoutSeconds = 0, Retry = [] } = definition.States[name]!;
      const pauses = Retry.flatMap(({ MaxAttempts, IntervalSeconds = 1, BackoffRate = 2 }) =>
        Array.from({ length: MaxAttempts }, (_, n) => IntervalSeconds * BackoffRate ** n),
      );
      return (1 + pauses.length) * TimeoutSeconds + pauses.reduce((sum, pause) => sum + pause, 0);
    };
    const backtest = definition.States.RunBacktestOnDemand!.TimeoutSeconds!;
    // A retried CollectData or RunBacktest was refused at its start or crashed: it did not use up its time before.
    const longest =
      worst('CheckFreshness') +
      definition.States.CollectData!.TimeoutSeconds! +
      definition.States.RunBacktest!.TimeoutSeconds! +
      3 * backtest +
      (10 + 20) +
      worst('MarkFailed');
    expect(definition.TimeoutSeconds).toBeGreaterThan(longest);
  });

  test('passes nothing but ids to tasks', () => {
    for (const [name, { Resource, Parameters }] of tasks) {
      if (!Resource!.includes('ecs:runTask')) continue;
      const variables = Parameters!.Overrides!.ContainerOverrides[0]!.Environment;
      expect(
        variables.map(({ Name }) => Name),
        name,
      ).toEqual(['JOB_ID', 'CORRELATION_ID']);
    }
  });

  test('shows no cause of a failure to anyone: causes hold internals', () => {
    const readers = states.filter(([, state]) => JSON.stringify(state).includes('$.failure.Cause'));
    expect(readers.map(([, state]) => state.Type)).toEqual(['Choice']);
  });

  test('words errors that fit a list row', () => {
    const messages = JSON.stringify(definition).match(/(?<="message(\.\$)?":")[^"]+/g) ?? [];
    expect(messages).toHaveLength(4);
    // The name of the error takes the place of {}.
    for (const message of messages) expect(message.length + 60).toBeLessThan(ERROR_SUMMARY_LENGTH);
  });
});

/** The states between the candles and the run of a job without a registered image. */
const OWN_IMAGE = ['ChooseImage', 'UsePlatformImage', 'ChooseCapacity'];

describe('freshness', () => {
  const run = (CheckFreshness: Step) =>
    runAsl(BACKTEST_ASL, INPUT, { CheckFreshness, CollectData: ok, RunBacktest: ok });

  test('fresh candles are not collected', async () => {
    const { path, calls } = await run(fresh);
    expect(path).toEqual([
      'ChooseCollection',
      'CheckFreshness',
      'IsFresh',
      ...OWN_IMAGE,
      'RunBacktest',
      'Done',
    ]);
    expect(calls[0]!.parameters).toEqual({
      FunctionName: 'DataProxy',
      Payload: {
        operation: 'check-freshness',
        correlation_id: 'c-1',
        params: {
          exchange: 'sim',
          symbols: INPUT.symbols,
          timeframe: '5m',
          start: INPUT.start,
          end: INPUT.end,
        },
      },
    });
  });

  test.each<[string, Step]>([
    ['stale', answer(false)],
    ['without the field', answer(undefined)],
    ['a text', answer('true')],
    ['a number', answer(1)],
    ['null', answer(null)],
    ['an error result', () => ({ Payload: { statusCode: 503, body: { success: false, error: {} } } })],
    ['an envelope without a body', () => ({ Payload: { statusCode: 200 } })],
    ['a body that is text', () => ({ Payload: { statusCode: 200, body: '{"data":{}}' } })],
    ['an empty payload', () => ({ Payload: null })],
  ])('%s: collects', async (_, step) => {
    const { path, failure } = await run(step);
    expect(failure).toBeUndefined();
    expect(path).toEqual([
      'ChooseCollection',
      'CheckFreshness',
      'IsFresh',
      'CollectData',
      ...OWN_IMAGE,
      'RunBacktest',
      'Done',
    ]);
  });

  test('a proxy that fails: collects, after retries of what may pass', async () => {
    const { path, calls } = await run(() => fail('Lambda.TooManyRequestsException'));
    expect(path).toEqual([
      'ChooseCollection',
      'CheckFreshness',
      'CollectData',
      ...OWN_IMAGE,
      'RunBacktest',
      'Done',
    ]);
    expect(calls.filter(({ state }) => state === 'CheckFreshness')).toHaveLength(4);
    expect((await run(() => fail('TypeError'))).calls.map(({ state }) => state)).toEqual([
      'CheckFreshness',
      'CollectData',
      'RunBacktest',
    ]);
  });
});

describe('collection', () => {
  const run = (input: object) =>
    runAsl(BACKTEST_ASL, { ...INPUT, ...input }, { CheckFreshness: fresh, CollectData: ok, RunBacktest: ok });

  test('is left out where the input says never, with the question whether it is needed', async () => {
    const { path } = await run({ collect: 'never' });
    expect(path).toEqual(['ChooseCollection', ...OWN_IMAGE, 'RunBacktest', 'Done']);
  });

  test('comes first where the input says always', async () => {
    const { path } = await run({ collect: 'always' });
    expect(path).toEqual(['ChooseCollection', 'CollectData', ...OWN_IMAGE, 'RunBacktest', 'Done']);
  });

  test.each([{ collect: 'if_stale' }, {}, { collect: null }, { collect: 7 }])(
    'is for stale candles alone with %j',
    async (input) => {
      const { path } = await run(input);
      expect(path).toEqual([
        'ChooseCollection',
        'CheckFreshness',
        'IsFresh',
        ...OWN_IMAGE,
        'RunBacktest',
        'Done',
      ]);
    },
  );

  test.each([
    ['crashed', 'States.TaskFailed', 3],
    ['ran out of time', 'States.Timeout', 1],
    ['was refused by ECS', 'ECS.AmazonECSException', 3],
  ])('that %s does not fail the backtest', async (_, name, attempts) => {
    const { path, calls, failure } = await runAsl(BACKTEST_ASL, INPUT, {
      CheckFreshness: answer(false),
      CollectData: () => fail(name),
      RunBacktest: ok,
    });
    expect(failure).toBeUndefined();
    expect(path).toEqual([
      'ChooseCollection',
      'CheckFreshness',
      'IsFresh',
      'CollectData',
      ...OWN_IMAGE,
      'RunBacktest',
      'Done',
    ]);
    expect(calls.filter(({ state }) => state === 'CollectData')).toHaveLength(attempts);
  });
});

describe('lanes', () => {
  test('Spot, with the ids of the job', async () => {
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

  test('on demand when asked for', async () => {
    const input = { ...INPUT, on_demand: true };
    const { path, calls } = await runAsl(BACKTEST_ASL, input, {
      CheckFreshness: fresh,
      RunBacktestOnDemand: ok,
    });
    expect(path).toEqual([
      'ChooseCollection',
      'CheckFreshness',
      'IsFresh',
      ...OWN_IMAGE,
      'RunBacktestOnDemand',
      'Done',
    ]);
    expect(calls[1]!.parameters.CapacityProviderStrategy).toEqual([
      { CapacityProvider: 'FARGATE', Weight: 1 },
    ]);
  });

  test.each([undefined, 'true', null])('Spot when on_demand is %s', async (on_demand) => {
    const input = { ...INPUT, on_demand };
    const { path } = await runAsl(BACKTEST_ASL, input, { CheckFreshness: fresh, RunBacktest: ok });
    expect(path).toContain('RunBacktest');
  });

  test('on demand after Spot failed', async () => {
    const steps = { CheckFreshness: fresh, RunBacktest: crash('spot'), RunBacktestOnDemand: ok };
    const { path, failure } = await runAsl(BACKTEST_ASL, INPUT, steps);
    expect(failure).toBeUndefined();
    expect(path.slice(3)).toEqual([
      ...OWN_IMAGE,
      'RunBacktest',
      'ClassifyFailure',
      'RetryOnDemand',
      'RunBacktestOnDemand',
      'Done',
    ]);
  });

  test('on demand tries twice more', async () => {
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

/** Message with which a run marked its job. */
const messageOf = ({ calls }: AslRun) => calls.at(-1)!.parameters.ExpressionAttributeValues![':error']!.S;

describe('the image', () => {
  const image = `registry.example/touchstone@sha256:${'ab'.repeat(32)}`;
  const run = (input: object, steps: Record<string, Step>) =>
    runAsl(BACKTEST_ASL, { ...INPUT, ...input }, { CheckFreshness: fresh, RunBacktest: ok, ...steps });
  const definitionOf = ({ calls }: AslRun) =>
    calls
      .filter(({ state }) => state.startsWith('RunBacktest'))
      .map(({ parameters }) => parameters.TaskDefinition);

  test('of a registered version runs, on either lane', async () => {
    const PrepareImage: Step = () => ({ Payload: { task_definition: 'arn:own:7' } });
    const asl = await run({ image }, { PrepareImage });
    expect(asl.path).toEqual([
      'ChooseCollection',
      'CheckFreshness',
      'IsFresh',
      'ChooseImage',
      'PrepareImage',
      'ChooseCapacity',
      'RunBacktest',
      'Done',
    ]);
    expect(asl.calls.find(({ state }) => state === 'PrepareImage')!.parameters).toEqual({
      FunctionName: 'TaskImage',
      Payload: { image, correlation_id: 'c-1' },
    });
    expect(definitionOf(asl)).toEqual(['arn:own:7']);
    const onDemand = await run({ image, on_demand: true }, { PrepareImage, RunBacktestOnDemand: ok });
    expect(definitionOf(onDemand)).toEqual(['arn:own:7']);
  });

  test.each([{ image: null }, {}, { image: 7 }])('is the platform’s own for %j', async (input) => {
    expect(definitionOf(await run(input, {}))).toEqual(['BacktestTask']);
  });

  test('that cannot be prepared fails the job, and nothing else runs in its place', async () => {
    const asl = await run({ image }, { PrepareImage: () => fail('CodedError'), MarkFailed: () => ({}) });
    expect(asl.path.slice(-4)).toEqual(['PrepareImage', 'ImagePreparationFailed', 'MarkFailed', 'Done']);
    expect(asl.calls.filter(({ state }) => state === 'PrepareImage')).toHaveLength(4);
    expect(messageOf(asl)).toMatch(/registered image cannot run/);
  });
});

describe('a backtest that cannot be run', () => {
  const run = (steps: Record<string, Step>) =>
    runAsl(BACKTEST_ASL, INPUT, { CheckFreshness: fresh, MarkFailed: () => ({}), ...steps });
  test('is marked failed, once every attempt has failed', async () => {
    const asl = await run({ RunBacktest: crash(), RunBacktestOnDemand: crash('secret internals') });
    expect(asl.failure).toBeUndefined();
    const onceMore = ['RunBacktestOnDemand', 'ClassifyFailure', 'Backoff', 'CountRetry'];
    expect(asl.path.slice(6)).toEqual([
      'RunBacktest',
      ...['ClassifyFailure', 'RetryOnDemand'],
      ...onceMore,
      ...onceMore,
      ...['RunBacktestOnDemand', 'ClassifyFailure'],
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
  ])('for want of memory: %s', (cause) => {
    test('is not tried again, on Spot and on demand', async () => {
      for (const on_demand of [false, true]) {
        const first = on_demand ? 'RunBacktestOnDemand' : 'RunBacktest';
        const steps = { CheckFreshness: fresh, MarkFailed: () => ({}), [first]: crash(cause) };
        const asl = await runAsl(BACKTEST_ASL, { ...INPUT, on_demand }, steps);
        expect(asl.path.slice(6)).toEqual([first, 'ClassifyFailure', 'OutOfMemory', 'MarkFailed', 'Done']);
        expect(messageOf(asl)).toMatch(/more memory than its task has/);
      }
    });

    test('is not tried again after an attempt that ended otherwise', async () => {
      const asl = await run({ RunBacktest: crash(), RunBacktestOnDemand: crash(cause) });
      expect(asl.calls.filter(({ state }) => state === 'RunBacktestOnDemand')).toHaveLength(1);
      expect(messageOf(asl)).toMatch(/more memory than its task has/);
    });
  });

  test('is tried again when Spot took its task back, which kills it too', async () => {
    const cause = '{"Containers":[{"ExitCode":137,"Name":"task"}],"StopCode":"SpotInterruption"}';
    const { path } = await run({ RunBacktest: crash(cause), RunBacktestOnDemand: ok });
    expect(path.slice(6)).toEqual([
      'RunBacktest',
      'ClassifyFailure',
      'RetryOnDemand',
      'RunBacktestOnDemand',
      'Done',
    ]);
  });

  test.each(['RunBacktest', 'RunBacktestOnDemand'])(
    'is not tried again after a time-out of %s',
    async (state) => {
      const asl = await run({
        RunBacktest: crash(),
        RunBacktestOnDemand: crash(),
        [state]: () => fail('States.Timeout'),
      });
      expect(asl.path.slice(-4)).toEqual([state, 'TimedOut', 'MarkFailed', 'Done']);
      expect(asl.calls.filter((call) => call.state === state)).toHaveLength(1);
      expect(messageOf(asl)).toMatch(/limit of 6 hours/);
    },
  );

  test('keeps the end it has found meanwhile', async () => {
    const asl = await run({
      RunBacktest: crash(),
      RunBacktestOnDemand: crash(),
      MarkFailed: () => fail('DynamoDB.ConditionalCheckFailedException'),
    });
    expect(asl.failure).toBeUndefined();
    expect(asl.path.at(-1)).toBe('Done');
    expect(asl.calls.filter(({ state }) => state === 'MarkFailed')).toHaveLength(1);
  });

  test('fails its execution when the table stays away, for reconcile to find', async () => {
    const asl = await run({
      RunBacktest: crash(),
      RunBacktestOnDemand: crash(),
      MarkFailed: () => fail('DynamoDB.InternalServerErrorException'),
    });
    expect(asl.failure).toBeDefined();
    expect(asl.calls.filter(({ state }) => state === 'MarkFailed')).toHaveLength(6);
  });
});
