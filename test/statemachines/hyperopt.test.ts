import {
  ConditionalCheckFailedException,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import aslValidator from 'asl-validator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DynamoStudyStore } from '#adapters/aws/dynamo-study-store.ts';
import { ERROR_SUMMARY_LENGTH } from '#contract/tables.ts';
import { startEngine, type TestEngine } from '../support/engine.ts';
import { pendingStudy } from '../support/studies.ts';
import { allStates, fail, HYPEROPT_ASL, readDefinition, type Step, walk } from '../support/walk.ts';

const definition = readDefinition(HYPEROPT_ASL);
const states = allStates(definition);
const text = JSON.stringify(definition);

const inputOf = (jobId: string, workers: number) => pendingStudy(jobId, { workers }).execution_input;
const answer = (all_fresh: unknown) => () => ({
  Payload: { statusCode: 200, body: { success: true, data: { result: { all_fresh } } } },
});
const fresh = answer(true);
const ok: Step = () => ({});

describe('the definition', () => {
  test('is valid ASL in JSONPath without variables', () => {
    const { isValid, errorsText } = aslValidator(definition, { checkArn: false, checkPaths: true });
    expect(errorsText()).toBe('');
    expect(isValid).toBe(true);
    expect(text).not.toMatch(/JSONata|"Assign"|"Arguments"|"Output"|\{%/);
  });

  test('bounds every task and says why, and the machine more than its longest path', () => {
    const tasks = states.filter(([, state]) => state.Type === 'Task');
    expect(tasks.map(([name]) => name).sort()).toEqual([
      ...['CheckFreshness', 'CollectData', 'FinishStudy', 'RunWorker', 'RunWorkerOnDemand'],
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
      seconds.RunWorker! +
      3 * seconds.RunWorkerOnDemand! +
      30 +
      6 * seconds.FinishStudy! +
      31;
    expect(definition.TimeoutSeconds).toBeGreaterThan(longest);
  });

  test('shows no cause of a failure to anyone, and words errors that fit a list row', () => {
    const readers = states.filter(([, state]) => JSON.stringify(state).includes('$.failure.Cause'));
    expect(readers.map(([name]) => name)).toEqual(['Workers', 'WhyStopped']);
    expect(readers[1]![1].Type).toBe('Choice');
    const messages = text.match(/(?<="message(\.\$)?":")[^$"]+/g) ?? [];
    expect(messages.length).toBeGreaterThanOrEqual(4);
    for (const message of messages) expect(message.length + 60).toBeLessThan(ERROR_SUMMARY_LENGTH);
  });
});

describe('a study', () => {
  test('has a task for each worker, told who it is, on Spot', async () => {
    const { calls, failure } = await walk(HYPEROPT_ASL, inputOf('ho-1', 3), {
      CheckFreshness: fresh,
      RunWorker: ok,
      FinishStudy: () => fail('DynamoDB.ConditionalCheckFailedException'),
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
    expect(calls.filter(({ state }) => state === 'FinishStudy')).toHaveLength(1);
  });

  test.each<[string, Step]>([
    ['stale', answer(false)],
    ['a text', answer('true')],
    ['nothing', () => ({ Payload: null })],
    ['no proxy', () => fail('Lambda.Unknown')],
  ])('whose candles are %s collects them; that this fails does not fail the study', async (_, step) => {
    const { path, failure } = await walk(HYPEROPT_ASL, inputOf('ho-1', 1), {
      CheckFreshness: step,
      CollectData: () => fail('States.Timeout'),
      RunWorker: ok,
      FinishStudy: ok,
    });
    expect(failure).toBeUndefined();
    expect(path).toContain('CollectData');
    expect(path.at(-1)).toBe('Done');
  });

  test('goes on without a worker that gave up: each is tried three times more on demand', async () => {
    const isFirst: Step = ({ Overrides }) => {
      const { Value } = Overrides!.ContainerOverrides[0]!.Environment[2] as unknown as { Value: string };
      return Value === '0' ? fail('States.TaskFailed') : {};
    };
    const { calls, failure } = await walk(HYPEROPT_ASL, inputOf('ho-1', 2), {
      CheckFreshness: fresh,
      RunWorker: isFirst,
      RunWorkerOnDemand: isFirst,
      FinishStudy: () => fail('DynamoDB.ConditionalCheckFailedException'),
    });
    expect(failure).toBeUndefined();
    expect(calls.filter(({ state }) => state === 'RunWorker')).toHaveLength(2);
    expect(calls.filter(({ state }) => state === 'RunWorkerOnDemand')).toHaveLength(3);
  });
});

describe('FinishStudy', () => {
  let engine: TestEngine;
  let store: DynamoStudyStore;
  beforeAll(async () => {
    engine = await startEngine();
    store = new DynamoStudyStore(engine.client, engine.tables.jobs);
  });
  afterAll(() => engine.stop());

  /** The state's real write on a real table. */
  const FinishStudy: Step = async (parameters) => {
    const input = { ...(parameters as UpdateItemCommandInput), TableName: engine.tables.jobs };
    await engine.client.send(new UpdateItemCommand(input)).catch((error: unknown) => {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      fail('DynamoDB.ConditionalCheckFailedException');
    });
  };
  const crashing = (cause: string) => ({
    ...{ CheckFreshness: fresh, FinishStudy },
    RunWorker: () => fail('States.TaskFailed', cause),
    RunWorkerOnDemand: () => fail('States.TaskFailed', cause),
  });

  test('fails a study that all workers gave up on, with the reason', async () => {
    await store.create(pendingStudy('ho-lost'));
    await walk(HYPEROPT_ASL, inputOf('ho-lost', 2), crashing('secret internals'));
    const lost = await store.get('ho-lost');
    expect(lost).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/could not be run to their end \(States\.TaskFailed\)/),
    });
    await store.create(pendingStudy('ho-large'));
    await store.begin('ho-large', 0, 'arn:task', '2025-03-02T00:00:00.000Z');
    await walk(HYPEROPT_ASL, inputOf('ho-large', 1), crashing('OutOfMemoryError: container killed'));
    expect(await store.get('ho-large')).toMatchObject({ error: expect.stringMatching(/more memory/) });
    const { items } = await store.list({ status: 'failed' }, 10, null);
    expect(items.map(({ job_id }) => job_id).sort()).toEqual(['ho-large', 'ho-lost']);
    expect(items[0]!.error).toBeTruthy();
  });

  test('leaves a study as its workers or a user ended it', async () => {
    await store.create(pendingStudy('ho-cancelled'));
    await store.cancel('ho-cancelled', '2025-03-02T00:00:00.000Z');
    const before = await store.get('ho-cancelled');
    const { failure } = await walk(HYPEROPT_ASL, inputOf('ho-cancelled', 1), crashing('late'));
    expect(failure).toBeUndefined();
    expect(await store.get('ho-cancelled')).toEqual(before);
  });
});
