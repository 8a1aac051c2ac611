import { TransactionCanceledException, TransactionConflictException } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { DynamoJobStore } from '#adapters/dynamo/job-store.ts';
import { transact } from '#adapters/dynamo/transactions.ts';
import { DynamoTrialLedger } from '#adapters/dynamo/trial-ledger.ts';
import { pendingJob } from '../support/jobs.ts';

/** Responses that the embedded database never gives, because it runs requests one at a time. */

const dynamo = mockClient(DynamoDBDocumentClient);
const client = dynamo as unknown as DynamoDBDocumentClient;
beforeEach(() => dynamo.reset());
afterAll(() => dynamo.restore());

const details = { message: '', $metadata: {} };
const cancelled = (...codes: string[]) =>
  new TransactionCanceledException({ ...details, CancellationReasons: codes.map((Code) => ({ Code })) });

it.each([
  ['retries while other writes hold its items', [cancelled('None', 'TransactionConflict')], 'done', 2],
  [
    'returns conflict when a condition fails',
    [cancelled('ConditionalCheckFailed', 'TransactionConflict')],
    'conflict',
    1,
  ],
  [
    'returns conflict after 6 attempts on busy items',
    Array(9).fill(cancelled('TransactionConflict')),
    'conflict',
    6,
  ],
])('transaction %s', async (_, errors, outcome, sent) => {
  const writes = dynamo.on(TransactWriteCommand);
  for (const error of errors) writes.rejectsOnce(error);
  writes.resolves({});
  expect(await transact(client, [], 'DATA005')).toBe(outcome);
  expect(dynamo.commandCalls(TransactWriteCommand)).toHaveLength(sent);
});

it.each([
  [
    'is written when busy workers let go of the job',
    Array(7).fill(['None', 'TransactionConflict']),
    'recorded',
    8,
  ],
  ['stays as another worker wrote it', [['ConditionalCheckFailed', 'None']], 'recorded', 1],
  ['of an ended job is refused', [['ConditionalCheckFailed', 'ConditionalCheckFailed']], 'stopped', 1],
])('record of a permuted search %s', async (_, conflicts, outcome, sent) => {
  const writes = dynamo.on(TransactWriteCommand);
  for (const codes of conflicts) writes.rejectsOnce(cancelled(...codes));
  writes.resolves({});
  const search = { schema_version: 1 as const, job_id: 'ho-1', number: 0, value: 1, error: null };
  const ledger = new DynamoTrialLedger(client, 'jobs');
  expect(await ledger.endPermutedSearch({ ...search, finished_at: '2025-01-01T00:00:00.000Z' })).toBe(
    outcome,
  );
  expect(dynamo.commandCalls(TransactWriteCommand)).toHaveLength(sent);
});

it('throttled transaction is an availability error', async () => {
  dynamo.on(TransactWriteCommand).rejects(cancelled('None', 'ThrottlingError'));
  await expect(transact(client, [], 'DATA005')).rejects.toMatchObject({ code: 'DATA005' });
  const invalid = cancelled('ValidationError');
  dynamo.on(TransactWriteCommand).rejects(invalid);
  await expect(transact(client, [], 'DATA005')).rejects.toBe(invalid);
});

it('setProgress retries while a transaction holds the item', async () => {
  const Attributes = {
    ...pendingJob('bt-1'),
    status: 'running',
    task: 't',
    started_at: 'now',
    progress: 0.5,
  };
  const conflict = new TransactionConflictException(details);
  dynamo.on(UpdateCommand).rejectsOnce(conflict).rejectsOnce(conflict).resolves({ Attributes });
  expect(await new DynamoJobStore(client, 'jobs').setProgress('bt-1', 1, 0.5, 'now')).toBe(true);
  expect(dynamo.commandCalls(UpdateCommand)).toHaveLength(3);
});
