import { DescribeTableCommand, UpdateTableCommand } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { TableChange } from '#domain/events/event-of-change.ts';
import { changeOf, type StreamRecord } from '../dynamo/table-change.ts';

/** A shard's position: the sequence number after which to continue. `done`: the shard is closed and was read to its end. */
export type ShardPosition = string | 'done';

export interface ChangeBatch {
  readonly changes: readonly TableChange[];
  readonly position: ShardPosition | undefined;
}

/** Records per read: an image of a job is some 10 KB. */
const RECORDS_PER_READ = 100;
const TIMEOUT_MS = 10_000;

/** Turns on the streams of tables that have none. Returns the ARN of each stream. */
export async function enableStreams(
  client: DynamoDBDocumentClient,
  tables: readonly string[],
): Promise<readonly string[]> {
  return Promise.all(
    tables.map(async (TableName) => {
      const { Table: found } = await client.send(new DescribeTableCommand({ TableName }));
      if (found?.LatestStreamArn && found.StreamSpecification?.StreamEnabled) return found.LatestStreamArn;
      const { TableDescription } = await client.send(
        new UpdateTableCommand({
          TableName,
          StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
        }),
      );
      return TableDescription!.LatestStreamArn!;
    }),
  );
}

/** Reads the streams of a local engine, which accepts any signature: four calls are no reason for another client of the SDK. */
export class TableStreams {
  readonly #endpoint: string;

  constructor(endpoint: string) {
    this.#endpoint = endpoint;
  }

  /** IDs of a stream's shards, parents before their children. */
  async shards(streamArn: string): Promise<readonly string[]> {
    const { StreamDescription } = await this.#call<{
      readonly StreamDescription: { readonly Shards: readonly { readonly ShardId: string }[] };
    }>('DescribeStream', { StreamArn: streamArn });
    return StreamDescription.Shards.map(({ ShardId }) => ShardId);
  }

  /** Next changes of a shard after a position; from its oldest record if there is none, or if its record has been deleted. */
  async read(streamArn: string, shard: string, after: ShardPosition | undefined): Promise<ChangeBatch> {
    try {
      return await this.#read(streamArn, shard, after);
    } catch (error) {
      if (after === undefined || !String(error).includes('TrimmedDataAccessException')) throw error;
      return this.#read(streamArn, shard, undefined);
    }
  }

  async #read(streamArn: string, shard: string, after: ShardPosition | undefined): Promise<ChangeBatch> {
    const from =
      after === undefined
        ? { ShardIteratorType: 'TRIM_HORIZON' }
        : { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber: after };
    const { ShardIterator } = await this.#call<{ readonly ShardIterator: string }>('GetShardIterator', {
      StreamArn: streamArn,
      ShardId: shard,
      ...from,
    });
    const { Records, NextShardIterator } = await this.#call<{
      readonly Records: readonly StreamRecord[];
      readonly NextShardIterator?: string;
    }>('GetRecords', { ShardIterator, Limit: RECORDS_PER_READ });
    const last = Records.at(-1)?.dynamodb.SequenceNumber ?? after;
    return { changes: Records.map(changeOf), position: NextShardIterator ? last : 'done' };
  }

  async #call<T>(operation: string, body: unknown): Promise<T> {
    const response = await fetch(this.#endpoint, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': `DynamoDBStreams_20120810.${operation}`,
        'x-amz-date': '20260101T000000Z',
        authorization:
          'AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date, Signature=local',
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.ok) return (await response.json()) as T;
    throw new Error(`${operation}: HTTP status ${response.status}: ${(await response.text()).slice(0, 500)}`);
  }
}
