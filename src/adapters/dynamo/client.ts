import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { ErrorCode } from '#contract/values/errors.ts';
import { throwIfStopped } from '#domain/shared/request-stop.ts';
import { reportUnavailable } from './unavailable-errors.ts';

export interface DynamoClientOptions {
  /** Address of a local DynamoDB engine, which accepts any credentials. Absent: AWS. */
  readonly endpoint?: string | undefined;
  /** Code of the error that commands throw when DynamoDB is unavailable. Default DATA005. */
  readonly unavailable?: ErrorCode;
}

/**
 * Document client of all tables. Worst case of one call: 3 attempts of 5 s and up to 0.3 s between them, about 15 s, half
 * of API Gateway's limit. An unreachable host costs 3 s per attempt. That limit includes the wait for one of 50 sockets,
 * so a burst of some thousands of calls succeeds. The client rejects NaN and Infinity and reads all numbers as doubles.
 */
export function createDocumentClient({
  endpoint,
  unavailable = 'DATA005',
}: DynamoClientOptions = {}): DynamoDBDocumentClient {
  const client = new DynamoDBClient({
    ...(endpoint
      ? { endpoint, region: 'us-east-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }
      : {}),
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 3_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
  });
  // This middleware copies each request and response, even without a logger.
  client.middlewareStack.remove('loggerMiddleware');
  // A list reads page after page: it ends with the request.
  client.middlewareStack.add(
    (next) => async (args) => {
      throwIfStopped();
      return next(args);
    },
    { step: 'initialize', priority: 'high', name: 'endWithRequest' },
  );
  return DynamoDBDocumentClient.from(reportUnavailable(client, unavailable), {
    marshallOptions: { removeUndefinedValues: true, allowImpreciseNumbers: true },
    unmarshallOptions: { wrapNumbers: Number },
  });
}
