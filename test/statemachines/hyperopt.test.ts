import aslValidator from 'asl-validator';
import { describe, expect, test } from 'vitest';
import { ERROR_SUMMARY_LENGTH } from '#contract/values/tables.ts';
import { pendingHyperopt } from '../support/hyperopt-workers.ts';
import { allStates, fail, HYPEROPT_ASL, readDefinition, runAsl, type Step } from '../support/run-asl.ts';
import { lostWorkersFixture, resultOf } from './lost-workers-fixture.ts';
import { FINAL_START_FAILURES, PASSING_PULL_FAILURES } from './pull-failures.ts';

const definition = readDefinition(HYPEROPT_ASL);
const states = allStates(definition);
const text = JSON.stringify(definition);

const inputOf = (jobId: string, workers: number) => pendingHyperopt(jobId, { workers }).execution_input;
const response = (all_fresh: unknown) => () => ({
  Payload: { statusCode: 200, body: { success: true, data: { result: { all_fresh } } } },
});
const fresh = response(true);
const ok: Step = () => ({});
/** Response of the table for a finished hyperopt job. */
const ended: Step = () => fail('DynamoDB.ConditionalCheckFailedException');

describe('hyperopt workflow definition', () => {
  test('definition is valid ASL in JSONPath without variables', () => {
    const { isValid, errorsText } = aslValidator(definition, { checkArn: false, checkPaths: true });
    expect(errorsText()).toBe('');
    expect(isValid).toBe(true);
    expect(text).not.toMatch(/JSONata|"Assign"|"Arguments"|"Output"|\{%/);
  });

  test('every task has a time limit with its reason, and the machine exceeds its longest path', () => {
    const tasks = states.filter(([, state]) => state.Type === 'Task');
    expect(tasks.map(([name]) => name).sort()).toEqual([
      'CheckFreshness',
      'CollectData',
      'NoteCollectionShortage',
      'NoteShortage',
      'RecordFailure',
      'RunWorker',
      'RunWorkerOnDemand',
    ]);
    for (const [name, state] of tasks) {
      expect(state.TimeoutSeconds, name).toBeGreaterThan(0);
      expect(state.Comment, name).toMatch(/\d/);
      expect(state.Catch?.length, name).toBeGreaterThan(0);
    }
    const seconds = Object.fromEntries(tasks.map(([name, { TimeoutSeconds }]) => [name, TimeoutSeconds!]));
    const longest =
      4 * seconds.CheckFreshness! +
      14 +
      seconds.CollectData! +
      6 * seconds.NoteCollectionShortage! +
      31 +
      seconds.RunWorker! +
      3 * seconds.RunWorkerOnDemand! +
      30 +
      6 * seconds.NoteShortage! +
      31 +
      6 * seconds.RecordFailure! +
      31;
    expect(definition.TimeoutSeconds).toBeGreaterThan(longest);
  });

  test('no state stores the cause of a failure, and error messages fit a list row', () => {
    const readers = states.filter(([, state]) => JSON.stringify(state).includes('$.failure.Cause'));
    expect(readers.map(([name]) => name)).toEqual([
      'ClassifyCollectionFailure',
      'Workers',
      'ClassifyFailure',
    ]);
    for (const index of [0, 2]) expect(readers[index]![1].Type).toBe('Choice');
    const messages = text.match(/(?<="message(\.\$)?":")[^$"]+/g) ?? [];
    expect(messages.length).toBeGreaterThanOrEqual(4);
    for (const message of messages) expect(message.length + 60).toBeLessThan(ERROR_SUMMARY_LENGTH);
  });
});

describe('hyperopt workflow', () => {
  test('each worker has a task on Spot with its number', async () => {
    const { calls, failure } = await runAsl(HYPEROPT_ASL, inputOf('ho-1', 3), {
      CheckFreshness: fresh,
      RunWorker: ok,
      RecordFailure: ended,
    });
    expect(failure).toBeUndefined();
    const workers = calls.filter(({ state }) => state === 'RunWorker').map(({ parameters }) => parameters);
    expect(workers.map((each) => each.Overrides!.ContainerOverrides[0]!.Environment)).toEqual(
      ['0', '1', '2'].map((worker) => [
        { Name: 'JOB_ID', Value: 'ho-1' },
        { Name: 'CORRELATION_ID', Value: 'c-1' },
        { Name: 'WORKER', Value: worker },
      ]),
    );
    expect(workers[0]).toMatchObject({
      TaskDefinition: 'HyperoptTask',
      CapacityProviderStrategy: [{ CapacityProvider: 'FARGATE_SPOT', Weight: 1 }],
    });
    expect(calls.filter(({ state }) => state === 'RecordFailure')).toHaveLength(1);
  });

  test.each<[string | undefined, string[]]>([
    ['never', ['ChooseCollection', 'Workers']],
    ['always', ['ChooseCollection', 'CollectData']],
    ['if_stale', ['ChooseCollection', 'CheckFreshness']],
    [undefined, ['ChooseCollection', 'CheckFreshness']],
  ])('collection follows the input: %s', async (collect, first) => {
    const input = { ...inputOf('ho-1', 1), ...(collect && { collect }) };
    const steps = { CheckFreshness: fresh, CollectData: ok, RunWorker: ok, RecordFailure: ended };
    const { path, failure } = await runAsl(HYPEROPT_ASL, input, steps);
    expect(failure).toBeUndefined();
    expect(path.slice(0, 2)).toEqual(first);
  });

  test.each<[string, string[]]>([
    ['if_stale', ['ChooseCollection', 'CollectData', 'Workers']],
    ['never', ['ChooseCollection', 'Workers']],
  ])('stale informative series are collected without a check, with collect: %s', async (collect, first) => {
    // A freshness check would say that the candles of the pairs are fresh.
    const { path, calls, failure } = await runAsl(
      HYPEROPT_ASL,
      { ...inputOf('ho-1', 1), collect, informative_stale: true },
      { CheckFreshness: fresh, CollectData: ok, RunWorker: ok, RecordFailure: ended },
    );
    expect(failure).toBeUndefined();
    expect(path.slice(0, first.length)).toEqual(first);
    expect(path.at(-1)).toBe('Done');
    expect(calls.map(({ state }) => state)).not.toContain('CheckFreshness');
  });

  test.each<[string, Step]>([
    ['stale', response(false)],
    ['a string', response('true')],
    ['an empty payload', () => ({ Payload: null })],
    ['unknown because the proxy fails', () => fail('Lambda.Unknown')],
  ])('candles that are %s are collected, and the job runs when that fails', async (_, step) => {
    const { path, failure } = await runAsl(HYPEROPT_ASL, inputOf('ho-1', 1), {
      CheckFreshness: step,
      CollectData: () => fail('States.Timeout'),
      RunWorker: ok,
      RecordFailure: ended,
    });
    expect(failure).toBeUndefined();
    expect(path).toContain('CollectData');
    expect(path.at(-1)).toBe('Done');
  });

  test('job that lacks capacity for its collection waits, and collects later', async () => {
    const { path, calls, failure } = await runAsl(HYPEROPT_ASL, inputOf('ho-1', 1), {
      CheckFreshness: response(false),
      CollectData: () => fail('ECS.AmazonECSException', 'RESOURCE:CPU'),
      NoteCollectionShortage: ok,
    });
    expect(failure).toBeUndefined();
    expect(path.slice(-4)).toEqual([
      'CollectData',
      'ClassifyCollectionFailure',
      'NoteCollectionShortage',
      'Done',
    ]);
    expect(calls.at(-1)!.parameters.ExpressionAttributeValues).toMatchObject({
      ':shortage': {
        M: { reason: { S: 'ECS could not start the collection (ECS.AmazonECSException)' } },
      },
    });
  });

  test('job uses stored candles when the shortage of its collection cannot be stored', async () => {
    const { path, failure } = await runAsl(HYPEROPT_ASL, inputOf('ho-1', 1), {
      CheckFreshness: response(false),
      CollectData: () => fail('ECS.AmazonECSException', 'RESOURCE:CPU'),
      NoteCollectionShortage: () => fail('DynamoDB.AmazonDynamoDBException'),
      RunWorker: ok,
      RecordFailure: ended,
    });
    expect(failure).toBeUndefined();
    expect(path).toContain('RunWorker');
    expect(path.at(-1)).toBe('Done');
  });

  test('shortage is stored when the workers lack capacity on demand too', async () => {
    const shortage: Step = () => fail('ECS.AmazonECSException', 'RESOURCE:CPU');
    const { path, calls, failure } = await runAsl(HYPEROPT_ASL, inputOf('ho-1', 1), {
      CheckFreshness: fresh,
      RunWorker: shortage,
      RunWorkerOnDemand: shortage,
      NoteShortage: ok,
      RecordFailure: ok,
    });
    expect(failure).toMatch(/All workers ended/);
    expect(path).toContain('WorkerWithoutCapacity');
    expect(calls.filter(({ state }) => state === 'NoteShortage')).toHaveLength(1);
    expect(calls.at(-1)!.parameters.ExpressionAttributeValues![':reason']).toEqual({
      S: 'ECS could not start the workers: AWS had no capacity, or the registry did not deliver their image.',
    });
  });

  test.each(PASSING_PULL_FAILURES)(
    'job waits while the image of its workers cannot be pulled: %s',
    async (cause) => {
      const asl = await runAsl(HYPEROPT_ASL, inputOf('ho-1', 1), {
        CheckFreshness: fresh,
        RunWorker: () => fail('States.TaskFailed', cause),
        RunWorkerOnDemand: () => fail('States.TaskFailed', cause),
        NoteShortage: ok,
        RecordFailure: ok,
      });
      expect(asl.path).toContain('WorkerWithoutCapacity');
      const [noted, ...others] = asl.calls.filter(({ state }) => state === 'NoteShortage');
      expect(others).toEqual([]);
      expect(noted!.parameters.ExpressionAttributeValues).toMatchObject({
        ':shortage': { M: { reason: { S: 'ECS could not start a worker (CannotPullContainerError)' } } },
      });
    },
  );

  test.each(FINAL_START_FAILURES)('worker that can never start is not retried: %s', async (cause) => {
    const { path, calls } = await runAsl(HYPEROPT_ASL, inputOf('ho-1', 1), {
      CheckFreshness: fresh,
      RunWorker: () => fail('States.TaskFailed', cause),
      RecordFailure: ok,
    });
    expect(path).toContain('StartRejected');
    expect(calls.map(({ state }) => state)).not.toContain('RunWorkerOnDemand');
  });

  test.each([
    [PASSING_PULL_FAILURES[0]!, 'NoteCollectionShortage'],
    [FINAL_START_FAILURES[0]!, 'RunWorker'],
  ])('collection whose image cannot be pulled leads to the right state: %s', async (cause, next) => {
    const { calls, failure } = await runAsl(HYPEROPT_ASL, inputOf('ho-1', 1), {
      CheckFreshness: response(false),
      CollectData: () => fail('States.TaskFailed', cause),
      NoteCollectionShortage: ok,
      RunWorker: ok,
      RecordFailure: ended,
    });
    expect(failure).toBeUndefined();
    const after = calls.findLastIndex(({ state }) => state === 'CollectData') + 1;
    expect(calls[after]!.state).toBe(next);
  });

  test('worker that was interrupted on Spot finishes on demand', async () => {
    const { path, failure } = await runAsl(HYPEROPT_ASL, inputOf('ho-1', 1), {
      CheckFreshness: fresh,
      RunWorker: () => fail('States.TaskFailed', 'SpotInterruption'),
      RunWorkerOnDemand: ok,
      RecordFailure: ended,
    });
    expect(failure).toBeUndefined();
    expect(path.slice(-4)).toEqual(['RunWorkerOnDemand', 'WorkerFinished', 'RecordFailure', 'Done']);
  });

  test('job continues without a lost worker, which is retried three times on demand', async () => {
    const isFirst: Step = ({ Overrides }) => {
      const { Value } = Overrides!.ContainerOverrides[0]!.Environment[2] as unknown as { Value: string };
      return Value === '0' ? fail('States.TaskFailed') : {};
    };
    const { calls, failure } = await runAsl(HYPEROPT_ASL, inputOf('ho-1', 2), {
      CheckFreshness: fresh,
      RunWorker: isFirst,
      RunWorkerOnDemand: isFirst,
      RecordFailure: ended,
    });
    expect(failure).toBeUndefined();
    expect(calls.filter(({ state }) => state === 'RunWorker')).toHaveLength(2);
    expect(calls.filter(({ state }) => state === 'RunWorkerOnDemand')).toHaveLength(3);
  });
});

describe('hyperopt job with lost workers', () => {
  const fixture = lostWorkersFixture();
  const { deps, newHyperopt, read, executions, killedAt, finishing } = fixture;

  test('repeatedly killed workers give the same result as an undisturbed job', async () => {
    const jobId = await newHyperopt();
    let kills = 0;
    const names = await executions(jobId, () => (++kills > 24 ? finishing(jobId) : killedAt(jobId, 2)));
    expect(names).toHaveLength(7);
    expect(resultOf(await read(jobId))).toEqual(resultOf(fixture.one));
  });

  test.each([
    ['secret internals', /The workers failed \(States\.TaskFailed\)/],
    ['OutOfMemoryError: container killed', /more memory/],
  ])(
    'job fails after five executions without a finished trial, with the reason: %s',
    async (cause, reason) => {
      const jobId = await newHyperopt();
      const names = await executions(jobId, () => fail('States.TaskFailed', cause));
      expect(names).toHaveLength(5);
      const { job } = await read(jobId);
      expect(job).toMatchObject({
        status: 'failed',
        error_code: 'SVC001',
        error: expect.stringMatching(reason),
      });
      expect(JSON.stringify(job)).not.toContain(cause);
      const { items } = await deps().hyperoptJobs.list({ status: 'failed' }, 10, null);
      expect(items.find(({ job_id }) => job_id === jobId)!.error).toMatch(reason);
    },
  );

  test.each([FINAL_START_FAILURES[0]!, FINAL_START_FAILURES.at(-1)!])(
    'job whose workers ECS rejects fails after one execution, without a retry: %s',
    async (cause) => {
      const jobId = await newHyperopt();
      let starts = 0;
      const names = await executions(jobId, () => {
        starts++;
        return fail('ECS.TaskFailed', cause);
      });
      expect([names.length, starts]).toEqual([1, 1]);
      const { job } = await read(jobId);
      expect(job).toMatchObject({
        status: 'failed',
        error: expect.stringMatching(/could not pull the image of the workers/),
      });
    },
  );

  test('job that finished or was cancelled is unchanged', async () => {
    const jobId = await newHyperopt();
    await deps().hyperoptJobs.cancel(jobId, '2025-03-02T00:00:00.000Z');
    const before = await read(jobId);
    expect(await executions(jobId, () => fail('States.TaskFailed', 'late'))).toEqual([]);
    expect(await read(jobId)).toEqual(before);
  });
});
