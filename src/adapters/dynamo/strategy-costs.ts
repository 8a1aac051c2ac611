import { type DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import type { StrategyCost, StrategyCosts } from '#domain/queue/choose-lane.ts';
import { unlessConditionFails } from './transactions.ts';

/** Measured costs of strategies in the Jobs table: item `COST` of the partition `#costs#<digest>`. */
export class DynamoStrategyCosts implements StrategyCosts {
  readonly #client: DynamoDBDocumentClient;
  readonly #table: string;

  constructor(client: DynamoDBDocumentClient, table: string) {
    this.#client = client;
    this.#table = table;
  }

  async get(digest: string): Promise<StrategyCost | undefined> {
    const { Item } = await this.#client.send(new GetCommand({ TableName: this.#table, Key: keyOf(digest) }));
    return Item && { ms: Item.ms as number, rows: Item.row_count as number };
  }

  async put(digest: string, cost: StrategyCost, before: StrategyCost | undefined): Promise<void> {
    await unlessConditionFails(
      this.#client.send(
        new PutCommand({
          TableName: this.#table,
          Item: { ...keyOf(digest), ms: cost.ms, row_count: cost.rows },
          ...(before
            ? {
                ConditionExpression: 'ms = :ms AND row_count = :rows',
                ExpressionAttributeValues: { ':ms': before.ms, ':rows': before.rows },
              }
            : { ConditionExpression: 'attribute_not_exists(job_id)' }),
        }),
      ),
    );
  }
}

const keyOf = (digest: string) => ({ job_id: `#costs#${digest}`, item: 'COST' });
