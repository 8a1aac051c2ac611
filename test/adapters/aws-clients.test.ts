import { DynamoDBClient, ListTablesCommand, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { ECSClient, InvalidParameterException, StopTaskCommand } from '@aws-sdk/client-ecs';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import {
  DescribeExecutionCommand,
  ExecutionAlreadyExists,
  ExecutionDoesNotExist,
  SFNClient,
  StartExecutionCommand,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn';
import {
  BatchGetCommand,
  DynamoDBDocumentClient,
  GetCommand,
  TransactWriteCommand,
} from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, describe, expect, test } from 'vitest';
import { createEcsClient, EcsTaskControl } from '#adapters/aws/ecs-tasks.ts';
import { createLambdaClient, lambdaDataProxy } from '#adapters/aws/lambda-data-proxy.ts';
import { createSfnClient, SfnExecutions } from '#adapters/aws/sfn-executions.ts';
import { DataProxyClient } from '#adapters/data-proxy-client.ts';
import { createDocumentClient } from '#adapters/dynamo/client.ts';
import { DynamoSeriesStore } from '#adapters/dynamo/series-stores.ts';
import { isUnavailable, reportUnavailable } from '#adapters/dynamo/unavailable-errors.ts';
import { pendingJob } from '../support/jobs.ts';

process.env.AWS_REGION ??= 'us-east-1';

const meta = { $metadata: {}, message: 'x' };

describe('SfnExecutions', () => {
  const sfn = mockClient(SFNClient);
  const machine = 'arn:aws:states:eu-west-1:123456789012:stateMachine:touchstone-backtest';
  const execution = 'arn:aws:states:eu-west-1:123456789012:execution:touchstone-backtest:bt-1';
  const executions = new SfnExecutions(createSfnClient(), machine);
  const input = pendingJob('bt-1').execution_input;
  afterEach(() => sfn.reset());

  test('start names the execution after its run and passes the stored input', async () => {
    sfn.on(StartExecutionCommand).resolves({});
    await executions.start(input, 'bt-1-1');
    expect(sfn.commandCalls(StartExecutionCommand)[0]!.args[0].input).toEqual({
      stateMachineArn: machine,
      name: 'bt-1-1',
      input: JSON.stringify(input),
    });
  });

  test('start rejects with the name of an error that every repetition would return', async () => {
    const denied = Object.assign(new Error('not allowed'), { name: 'AccessDeniedException' });
    sfn.on(StartExecutionCommand).rejects(denied);
    await expect(executions.start(input, 'bt-1-1')).rejects.toMatchObject({
      name: 'ExecutionRejected',
      message: 'AccessDeniedException',
    });
  });

  test('start succeeds when the execution already exists', async () => {
    sfn.on(StartExecutionCommand).rejects(new ExecutionAlreadyExists(meta));
    await executions.start(input, 'bt-1-1');
    sfn.on(StartExecutionCommand).rejects(new Error('AccessDenied'));
    await expect(executions.start(input, 'bt-1-1')).rejects.toThrow('AccessDenied');
  });

  test.each([
    ['RUNNING', 'running'],
    ['PENDING_REDRIVE', 'running'],
    ['SUCCEEDED', 'succeeded'],
    ['FAILED', 'failed'],
    ['ABORTED', 'aborted'],
    ['TIMED_OUT', 'timed_out'],
  ] as const)('execution state %s maps to %s', async (status, expected) => {
    sfn.on(DescribeExecutionCommand, { executionArn: execution }).resolves({ status });
    expect(await executions.state('bt-1')).toEqual({ status: expected });
  });

  test('unknown execution has no state, and stopping it succeeds', async () => {
    sfn.on(DescribeExecutionCommand).rejects(new ExecutionDoesNotExist(meta));
    sfn.on(StopExecutionCommand).rejects(new ExecutionDoesNotExist(meta));
    expect(await executions.state('bt-1')).toBeUndefined();
    await executions.stop('bt-1', 'why');
  });

  test('stop sends the execution ARN and the cause', async () => {
    sfn.on(StopExecutionCommand).resolves({});
    await executions.stop('bt-1', 'Cancelled by the user');
    expect(sfn.commandCalls(StopExecutionCommand)[0]!.args[0].input).toEqual({
      executionArn: execution,
      cause: 'Cancelled by the user',
    });
  });
});

describe('EcsTaskControl', () => {
  const ecs = mockClient(ECSClient);
  const control = new EcsTaskControl(createEcsClient());
  const task = 'arn:aws:ecs:eu-west-1:123456789012:task/touchstone/0a1b2c';
  afterEach(() => ecs.reset());

  test("stop sends the task's cluster and truncates the reason to 255 characters", async () => {
    ecs.on(StopTaskCommand).resolves({});
    await control.stop(task, 'r'.repeat(300));
    expect(ecs.commandCalls(StopTaskCommand)[0]!.args[0].input).toEqual({
      cluster: 'touchstone',
      task,
      reason: 'r'.repeat(255),
    });
  });

  test('stop succeeds for an unknown task and throws other errors', async () => {
    ecs
      .on(StopTaskCommand)
      .rejects(new InvalidParameterException({ ...meta, message: 'The referenced task was not found.' }));
    await control.stop(task, 'why');
    ecs.on(StopTaskCommand).rejects(new InvalidParameterException({ ...meta, message: 'Bad reason' }));
    await expect(control.stop(task, 'why')).rejects.toThrow('Bad reason');
  });

  test.each(['lambda-8f5d1c', 'process-12', ''])(
    'stop leaves run %j, which is no task of ECS',
    async (run) => {
      await control.stop(run, 'why');
      expect(ecs.commandCalls(StopTaskCommand)).toEqual([]);
    },
  );
});

describe('DataProxyClient', () => {
  const lambda = mockClient(LambdaClient);
  const proxy = new DataProxyClient(lambdaDataProxy(createLambdaClient(), 'touchstone-data-proxy:live'));
  const response = (payload: unknown, FunctionError?: string) =>
    lambda.on(InvokeCommand).resolves({
      Payload: Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload)) as never,
      ...(FunctionError && { FunctionError }),
    });
  const params = { symbols: ['BTC/USDT:USDT'] };
  const call = () => proxy.call({ operation: 'check-freshness', params, correlationId: 'c-1' });
  const sent = () => {
    const { FunctionName, Payload } = lambda.commandCalls(InvokeCommand)[0]!.args[0].input;
    return { FunctionName, event: JSON.parse(String(Payload)) };
  };
  const data = { operation: 'check-freshness', result: { all_fresh: true, stale_symbols: [] } };
  afterEach(() => lambda.reset());

  test('data proxy call sends a deadline of 25 s and returns the result', async () => {
    response({ statusCode: 200, body: { success: true, data } });
    expect(await call()).toEqual(data.result);
    expect(sent()).toEqual({
      FunctionName: 'touchstone-data-proxy:live',
      event: {
        operation: 'check-freshness',
        params,
        correlation_id: 'c-1',
        deadline_ms: 25_000,
        safe: false,
      },
    });
  });

  test('data proxy probe sends a deadline of 1.5 s and rejects when the proxy is down', async () => {
    response({ statusCode: 200, body: { success: true, data: { operation: 'health', result: {} } } });
    await proxy.probe();
    expect(sent().event).toEqual({ operation: 'health', deadline_ms: 1_500, safe: false });
    const error = { code: 'SVC004', message: 'down', field: '' };
    response({
      statusCode: 503,
      body: { success: false, data: { operation: 'health', result: null }, error },
    });
    await expect(proxy.probe()).rejects.toMatchObject({ code: 'SVC004' });
  });

  test.each([
    ['SVC004', { code: 'SVC004', message: 'no address', field: '' }],
    ['VAL005', { code: 'VAL005', message: 'limit', field: 'limit' }],
    ['SVC002', { code: 'NEW999', message: 'unheard of', field: '' }],
    ['SVC002', { code: 'toString', message: 'not a code', field: '' }],
  ])('data proxy rejection is thrown as %s', async (code, error) => {
    response({ statusCode: 400, body: { success: false, data: { ...data, result: null }, error } });
    await expect(call()).rejects.toMatchObject({ code, message: error.message, field: error.field });
  });

  test.each([
    ['a function error', '{"errorMessage":"boom"}', 'Unhandled'],
    ['invalid JSON', 'not json', undefined],
    ['another shape', '{"statusCode":"200"}', undefined],
    ['a failure without an error', { statusCode: 200, body: { success: false, data } }, undefined],
    ['an empty payload', '', undefined],
  ])(
    'data proxy response with %s is SVC002 without the original message',
    async (_, payload, functionError) => {
      response(payload, functionError);
      await expect(call()).rejects.toMatchObject({
        code: 'SVC002',
        message: 'Bad gateway: upstream returned an invalid response',
      });
    },
  );
});

describe('isUnavailable', () => {
  const keys = { region: 'us-east-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } };

  test.each([
    ['throttling', Object.assign(new Error('x'), { name: 'ThrottlingException' }), true],
    ['a rejected connection', Object.assign(new Error('x'), { code: 'ECONNREFUSED' }), true],
    ['a time-out', Object.assign(new Error('x'), { name: 'TimeoutError' }), true],
    ['a 500', Object.assign(new Error('x'), { $metadata: { httpStatusCode: 503 } }), true],
    ['a 400', Object.assign(new Error('x'), { $metadata: { httpStatusCode: 400 } }), false],
    ['a bug', new TypeError('x'), false],
    ['a string', 'x', false],
  ])('isUnavailable classifies %s', (_, error, expected) => expect(isUnavailable(error)).toBe(expected));

  test("unavailable service is reported with the client's code and cause", async () => {
    const client = new DynamoDBClient({ endpoint: 'http://127.0.0.1:1', maxAttempts: 1, ...keys });
    reportUnavailable(client, 'SVC005');
    const error = await client.send(new ListTablesCommand({})).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: 'SVC005', cause: { code: 'ECONNREFUSED' } });
  });
});

describe('busy DynamoDB', () => {
  const dynamo = mockClient(DynamoDBDocumentClient);
  afterEach(() => dynamo.reset());
  const store = new DynamoSeriesStore(createDocumentClient({ endpoint: 'http://127.0.0.1:1' }), 'series');
  const summary = {
    schema_version: 3,
    first: '2025-01-01T00:00:00.000Z',
    last: '2025-01-01T01:00:00.000Z',
    count: 2,
    gap_count: 0,
    gaps: [],
    longest_omitted_gap: 0,
    updated_at: '2025-01-02T00:00:00.000Z',
  };
  const item = (series: string) => ({ series, '1h': JSON.stringify(summary) });

  test('getMany retries unprocessed keys', async () => {
    const left = { Keys: [{ exchange: 'sim', series: 'B' }] };
    dynamo
      .on(BatchGetCommand)
      .resolvesOnce({ Responses: { series: [item('A')] }, UnprocessedKeys: { series: left } })
      .resolvesOnce({ Responses: { series: [item('B')] } });
    const found = await store.getMany('sim', [
      { symbol: 'A', timeframe: '1h' },
      { symbol: 'B', timeframe: '1h' },
    ]);
    expect([...found.keys()]).toEqual(['A#1h', 'B#1h']);
    expect(dynamo.commandCalls(BatchGetCommand)[1]!.args[0].input.RequestItems?.series?.Keys).toEqual(
      left.Keys,
    );
  });

  const key = { exchange: 'sim', symbol: 'A', timeframe: '1h' } as const;
  const month = {
    month: '2025-01',
    first: Date.UTC(2025, 0),
    last: Date.UTC(2025, 0, 1, 1),
    count: 2,
    gap_count: 0,
    gaps: [],
    longest_omitted_gap: 0,
  };
  const cancelled = (Code: string) =>
    new TransactionCanceledException({
      message: 'Transaction cancelled',
      $metadata: {},
      CancellationReasons: [{ Code: 'None' }, { Code }],
    });

  test('series write retries after a transaction conflict', async () => {
    dynamo.on(GetCommand).resolves({});
    dynamo.on(TransactWriteCommand).rejectsOnce(cancelled('TransactionConflict')).resolvesOnce({});
    const { schema_version: _, ...info } = summary;
    const missing = { closed: 0, no_trades: 0, damage: 0 };
    expect(await store.record(key, [month], info.updated_at)).toEqual({ ...key, ...info, missing });
    expect(dynamo.commandCalls(TransactWriteCommand)).toHaveLength(2);
  });

  test('series write does not retry other transaction errors', async () => {
    dynamo.on(GetCommand).resolves({});
    dynamo.on(TransactWriteCommand).rejects(cancelled('ValidationError'));
    await expect(store.record(key, [month], summary.updated_at)).rejects.toThrow('cancelled');
    expect(dynamo.commandCalls(TransactWriteCommand)).toHaveLength(1);
  });
});
