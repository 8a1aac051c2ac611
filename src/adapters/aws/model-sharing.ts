import { type DynamoDBDocumentClient, GetCommand, paginateQuery } from '@aws-sdk/lib-dynamodb';
import type { Grant } from '#contract/sharing.ts';
import { StoredModel } from '#contract/stored-registry.ts';
import type { OwnedResource } from '#domain/access.ts';
import type { ModelSharing } from '#domain/transitions/registry-store.ts';
import { modelKey, readItem } from './registry-item.ts';
import { transact } from './transactions.ts';

/** Whose models are, and for each principal with whom some are shared the list of them: `ACCESS#principal` / `MODEL#name`. */
export class DynamoModelSharing implements ModelSharing {
  readonly #client: DynamoDBDocumentClient;
  readonly #table: string;

  constructor(client: DynamoDBDocumentClient, table: string) {
    this.#client = client;
    this.#table = table;
  }

  async find(model: string): Promise<OwnedResource | undefined> {
    const { Item } = await this.#client.send(
      new GetCommand({ TableName: this.#table, Key: { ...modelKey(model) }, ConsistentRead: true }),
    );
    return Item && readItem(StoredModel, Item);
  }

  async sharedWith(principals: readonly string[]): Promise<ReadonlySet<string>> {
    const found = await Promise.all(principals.map((principal) => this.#sharedWith(principal)));
    return new Set(found.flat());
  }

  async share(
    model: string,
    before: readonly Grant[],
    after: readonly Grant[],
  ): Promise<'done' | 'conflict'> {
    const kept = new Set(after.map(({ principal }) => principal));
    const removed = before.filter(({ principal }) => !kept.has(principal));
    return transact(
      this.#client,
      [
        {
          Update: {
            TableName: this.#table,
            Key: { ...modelKey(model) },
            UpdateExpression: 'SET shared_with = :after',
            // A stage transition writes back what it read: it has the same condition.
            ConditionExpression: 'shared_with = :before',
            ExpressionAttributeValues: { ':before': before, ':after': after },
          },
        },
        ...after.map(({ principal }) => ({
          Put: { TableName: this.#table, Item: { ...accessKey(principal, model), model_name: model } },
        })),
        // Names no model any more. Not deleted: who may delete such rows may delete models.
        ...removed.map(({ principal }) => ({
          Put: { TableName: this.#table, Item: accessKey(principal, model) },
        })),
      ],
      'SVC005',
    );
  }

  async #sharedWith(principal: string): Promise<string[]> {
    const pages = paginateQuery(
      { client: this.#client },
      {
        TableName: this.#table,
        ConsistentRead: true,
        KeyConditionExpression: 'pk = :principal',
        ExpressionAttributeValues: { ':principal': `ACCESS#${principal}` },
      },
    );
    const models: string[] = [];
    for await (const { Items = [] } of pages) {
      for (const { model_name } of Items) if (model_name) models.push(String(model_name));
    }
    return models;
  }
}

function accessKey(principal: string, model: string) {
  return { pk: `ACCESS#${principal}`, sk: `MODEL#${model}` };
}
