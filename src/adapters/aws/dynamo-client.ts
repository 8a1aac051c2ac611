import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { ErrorCode } from '#contract/errors.ts';
import { reportUnavailable } from './unavailable.ts';

export interface DynamoClientOptions {
  /** An engine beside the platform. It takes any credentials, so none are looked up. Absent: AWS. */
  readonly endpoint?: string | undefined;
  /** What a command throws when the database cannot answer. Default DATA005. */
  readonly unavailable?: ErrorCode;
}

/**
 * The document client of every table. Worst case of one call: 3 attempts of 5 s and at most 0.3 s between them, about
 * 15 s, half of what API Gateway waits; a host that does not answer costs 3 s each. That limit includes the wait for one
 * of 50 sockets, so a burst of some thousands of calls passes.
 * It refuses NaN and Infinity, and reads back every number as a double, large ones too.
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
  // It copies all that is sent and received, also where there is no logger to tell.
  client.middlewareStack.remove('loggerMiddleware');
  return DynamoDBDocumentClient.from(reportUnavailable(client, unavailable), {
    marshallOptions: { removeUndefinedValues: true, allowImpreciseNumbers: true },
    unmarshallOptions: { wrapNumbers: Number },
  });
}
