import {
  type DynamoDBDocumentClient,
  GetCommand,
  paginateQuery,
  QueryCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { StoredApproval } from '#contract/registry/stored-approval.ts';
import { APPROVAL_PARTITION } from '#contract/values/tables.ts';
import type { Page } from '#domain/ports.ts';
import type { IdempotencyKey, IdempotencyRecord } from '#domain/transitions/apply-transition.ts';
import type {
  ApprovalChange,
  ApprovalListing,
  ApprovalStore,
  ApprovalWrite,
} from '#domain/transitions/approval-store.ts';
import { decodeCursor, encodeCursor, invalidCursor } from './cursor.ts';
import {
  approvalKey,
  approvalListKey,
  idempotencyKey,
  MODEL_APPROVAL_PREFIX,
  modelKey,
  partitionOf,
  readItem,
} from './registry-item.ts';
import {
  endApproval,
  openApprovalsAs,
  putIdempotencyRecord,
  putNew,
  type RegistryTable,
  readIdempotencyRecord,
  saveIdempotencyRecord,
} from './registry-transaction.ts';
import { batchGet } from './stored-items.ts';
import { transact, unlessConditionFails } from './transactions.ts';

/** Requests per read of a list, and maximum per page, of up to 6 KB each. */
const PART = 100;
const MAX_READ = 1_000;

/**
 * Requests for approval in the Registry table. One partition has those of all models by ID; an item of the model's partition per
 * request lists its own.
 */
export class DynamoApprovalStore implements ApprovalStore {
  readonly #store: Pick<RegistryTable, 'client' | 'table'>;
  readonly #client: DynamoDBDocumentClient;
  readonly #table: string;

  /** @param client throws SVC005 when DynamoDB is unavailable */
  constructor(client: DynamoDBDocumentClient, table: string) {
    this.#store = { client, table };
    this.#client = client;
    this.#table = table;
  }

  async read(id: string): Promise<StoredApproval | undefined> {
    const { Item } = await this.#client.send(
      new GetCommand({ TableName: this.#table, Key: { ...approvalKey(id) }, ConsistentRead: true }),
    );
    return Item && readItem(StoredApproval, Item);
  }

  async find(id: string, key: IdempotencyKey | null) {
    const items = await this.#get([approvalKey(id), ...(key ? [idempotencyKey(key)] : [])]);
    const found: { approval?: StoredApproval; record?: IdempotencyRecord } = {};
    for (const item of items) {
      if (item.pk === APPROVAL_PARTITION) found.approval = readItem(StoredApproval, item);
      else found.record = readIdempotencyRecord(item);
    }
    return { approval: found.approval, idempotencyRecord: found.record };
  }

  async ofModel(model: string, { limit, cursor, passes }: ApprovalListing): Promise<Page<StoredApproval>> {
    const scope = { list: 'approvals', model };
    const after = cursor === null ? null : decodeCursor(cursor, scope, 1)[0]!;
    if (after !== null && !after.startsWith(MODEL_APPROVAL_PREFIX)) throw invalidCursor();
    const pageAfter = (id: string) => encodeCursor([approvalListKey(model, id).sk], scope);
    const items: StoredApproval[] = [];
    let read = 0;
    for await (const ids of this.#idsOfModel(model, after)) {
      const found = await this.#get(ids.map(approvalKey));
      const byId = new Map(found.map((item) => [item.approval_id, readItem(StoredApproval, item)]));
      for (const id of ids) {
        const approval = byId.get(id);
        if (!approval || !passes(approval)) continue;
        if (items.length === limit) return { items, next: pageAfter(items.at(-1)!.approval_id) };
        items.push(approval);
      }
      read += ids.length;
      if (read >= MAX_READ) return { items, next: pageAfter(ids.at(-1)!) };
    }
    return { items, next: null };
  }

  async *#idsOfModel(model: string, after: string | null): AsyncGenerator<string[]> {
    let from: Record<string, unknown> | undefined =
      after === null ? undefined : { pk: partitionOf(model), sk: after };
    do {
      const { Items = [], LastEvaluatedKey } = await this.#client.send(
        new QueryCommand({
          TableName: this.#table,
          ConsistentRead: true,
          ScanIndexForward: false,
          KeyConditionExpression: 'pk = :model AND begins_with(sk, :prefix)',
          ExpressionAttributeValues: { ':model': partitionOf(model), ':prefix': MODEL_APPROVAL_PREFIX },
          ExclusiveStartKey: from,
          Limit: PART,
        }),
      );
      if (Items.length > 0) yield Items.map(({ approval_id }) => String(approval_id));
      from = LastEvaluatedKey;
    } while (from);
  }

  async *rows(below: string | null): AsyncGenerator<StoredApproval> {
    const pages = paginateQuery(
      { client: this.#client, pageSize: PART },
      {
        TableName: this.#table,
        ConsistentRead: true,
        ScanIndexForward: false,
        KeyConditionExpression: `pk = :all${below === null ? '' : ' AND sk < :below'}`,
        ExpressionAttributeValues: {
          ':all': APPROVAL_PARTITION,
          ...(below !== null && { ':below': below }),
        },
      },
    );
    for await (const { Items = [] } of pages) for (const item of Items) yield readItem(StoredApproval, item);
  }

  commit(
    write: ApprovalWrite & { readonly idempotencyRecord?: IdempotencyRecord | null },
  ): Promise<'done' | 'conflict'> {
    const { model, openApprovals, created, changes, idempotencyRecord } = write;
    const unchanged = openApprovalsAs(model.open_approvals);
    const actions = [
      {
        Update: {
          TableName: this.#table,
          Key: { ...modelKey(model.model_name) },
          UpdateExpression: 'SET open_approvals = :open',
          // A transition in between may be the requested one.
          ConditionExpression: `events = :events AND ${unchanged.condition}`,
          ExpressionAttributeValues: { ':open': openApprovals, ':events': model.events, ...unchanged.values },
        },
      },
      ...(created
        ? [
            putNew(approvalKey(created.approval_id), created, this.#table),
            putNew(
              approvalListKey(created.model_name, created.approval_id),
              { approval_id: created.approval_id },
              this.#table,
            ),
          ]
        : []),
      ...changes.map((change) => endApproval(change, this.#table)),
      ...(idempotencyRecord ? [{ Put: putIdempotencyRecord(idempotencyRecord, this.#table) }] : []),
    ];
    return transact(this.#client, actions, 'SVC005', { attempts: 1 });
  }

  saveIdempotencyRecord(record: IdempotencyRecord): Promise<'done' | 'conflict'> {
    return saveIdempotencyRecord(this.#store, record);
  }

  end(change: ApprovalChange): Promise<boolean> {
    return unlessConditionFails(
      this.#client.send(new UpdateCommand(endApproval(change, this.#table).Update)),
    );
  }

  #get(keys: readonly { readonly pk: string; readonly sk: string }[]) {
    const wanted = keys.map((key) => ({ ...key }));
    return batchGet({ client: this.#client, table: this.#table, keys: wanted, busy: 'SVC005' });
  }
}
