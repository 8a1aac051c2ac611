import { TransactionCanceledException, TransactionConflictException } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { DynamoJobStore } from '#adapters/aws/dynamo-job-store.ts';
import { transact } from '#adapters/aws/transactions.ts';
import { pendingJob } from '../support/jobs.ts';

/** What the embedded database never answers, since it does one thing after another. */

const dynamo = mockClient(DynamoDBDocumentClient);
const client = dynamo as unknown as DynamoDBDocumentClient;
beforeEach(() => dynamo.reset());
afterAll(() => dynamo.restore());

const details = { message: '', $metadata: {} };
const cancelled = (...codes: string[]) =>
  new TransactionCanceledException({ ...details, CancellationReasons: codes.map((Code) => ({ Code })) });

it.each([
  ['waits for other writes', [cancelled('None', 'TransactionConflict')], 'done', 2],
  ['conflicts by a condition', [cancelled('ConditionalCheckFailed', 'TransactionConflict')], 'conflict', 1],
  ['conflicts while the items stay in use', Array(9).fill(cancelled('TransactionConflict')), 'conflict', 6],
])('a transaction %s', async (_, errors, outcome, sent) => {
  const writes = dynamo.on(TransactWriteCommand);
  for (const error of errors) writes.rejectsOnce(error);
  writes.resolves({});
  expect(await transact(client, [], 'DATA005')).toBe(outcome);
  expect(dynamo.commandCalls(TransactWriteCommand)).toHaveLength(sent);
});

it('transaction error states that the table is throttled', async () => {
  dynamo.on(TransactWriteCommand).rejects(cancelled('None', 'ThrottlingError'));
  await expect(transact(client, [], 'DATA005')).rejects.toMatchObject({ code: 'DATA005' });
  const invalid = cancelled('ValidationError');
  dynamo.on(TransactWriteCommand).rejects(invalid);
  await expect(transact(client, [], 'DATA005')).rejects.toBe(invalid);
});

it('job continues while its grants are stored', async () => {
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
