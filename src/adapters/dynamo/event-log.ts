import { type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import type { PlatformEvent } from '#contract/platform/events.ts';
import { EVENT_LOG_DAYS } from '#contract/values/event-types.ts';
import { PLATFORM } from '#contract/values/names.ts';
import { EVENT_LOG_PARTITION } from '#contract/values/tables.ts';
import type { EventLog, LoggedEvent } from '#domain/events/event-log.ts';
import type { Clock } from '#domain/ports.ts';
import { parseStoredJson, queryFirst } from './stored-items.ts';

/** The event log: one partition of the Jobs table, ordered by the time at which an event was added. */
export class DynamoEventLog implements EventLog {
  readonly #client: DynamoDBDocumentClient;
  readonly #table: string;
  readonly #clock: Clock;
  /** Time of the last events. */
  #last = 0;

  constructor(client: DynamoDBDocumentClient, table: string, clock: Clock) {
    this.#client = client;
    this.#table = table;
    this.#clock = clock;
  }

  async append(events: readonly PlatformEvent[]): Promise<void> {
    // After a clock was set back, readers are at a later place: they would never get the events before it.
    const now = Math.max(this.#clock.now(), this.#last);
    this.#last = now;
    for (const [index, event] of events.entries()) {
      await this.#client.send(
        new PutCommand({
          TableName: this.#table,
          Item: {
            job_id: EVENT_LOG_PARTITION,
            // Events of one time keep their order.
            item: `${new Date(now).toISOString()}#${String(index).padStart(4, '0')}#${event.id}`,
            event: JSON.stringify(event),
            expires_at: Math.ceil(now / 1_000) + EVENT_LOG_DAYS * 24 * 60 * 60,
          },
        }),
      );
    }
  }

  async after(position: string, limit: number): Promise<readonly LoggedEvent[]> {
    const items = await queryFirst(
      this.#client,
      {
        TableName: this.#table,
        ConsistentRead: true,
        KeyConditionExpression: 'job_id = :log AND #item > :position',
        ExpressionAttributeNames: { '#item': 'item' },
        ExpressionAttributeValues: { ':log': EVENT_LOG_PARTITION, ':position': position },
      },
      limit,
    );
    const now = this.#clock.now() / 1_000;
    return items
      .filter(({ expires_at }) => Number(expires_at) > now)
      .map(({ item, event }) => ({
        position: String(item),
        event: withActor(parseStoredJson(event, () => `The logged event ${String(item)}`)),
      }));
  }
}

/** Events of before 2026-11-29 do not name who changed the resource. */
function withActor(event: unknown): PlatformEvent {
  return { actor: PLATFORM, ...(event as Omit<PlatformEvent, 'actor'>) } as PlatformEvent;
}
