import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { PlatformEvent } from '#contract/platform/events.ts';
import { BUS_SOURCE } from '#contract/values/event-types.ts';
import { signedCall } from './signed-call.ts';

/** Limit of PutEvents. */
const MAX_ENTRIES = 10;

/** Puts events on the EventBridge bus. */
export class EventBus {
  readonly #name: string;
  readonly #client: DynamoDBDocumentClient;
  readonly #endpoint: string | undefined;

  /**
   * @param client its region and credentials are used
   * @param endpoint default: EventBridge in the client's region
   */
  constructor(name: string, client: DynamoDBDocumentClient, endpoint?: string) {
    this.#name = name;
    this.#client = client;
    this.#endpoint = endpoint;
  }

  /** Puts all events. Throws when the bus has not accepted one of them; others may be on the bus by then. */
  async put(events: readonly PlatformEvent[]): Promise<void> {
    for (let start = 0; start < events.length; start += MAX_ENTRIES) {
      await this.#put(events.slice(start, start + MAX_ENTRIES));
    }
  }

  async #put(events: readonly PlatformEvent[]): Promise<void> {
    const region = await this.#client.config.region();
    const url = new URL(this.#endpoint ?? `https://events.${region}.amazonaws.com`);
    const body = JSON.stringify({
      Entries: events.map((event) => ({
        EventBusName: this.#name,
        Source: BUS_SOURCE,
        DetailType: event.type,
        Detail: JSON.stringify(event),
        Time: Math.floor(Date.parse(event.time) / 1_000),
      })),
    });
    const text = await signedCall(this.#client, url, {
      service: 'events',
      target: 'AWSEvents.PutEvents',
      version: '1.1',
      body,
    });
    const { FailedEntryCount, Entries } = JSON.parse(text) as {
      readonly FailedEntryCount: number;
      readonly Entries: readonly { readonly ErrorCode?: string; readonly ErrorMessage?: string }[];
    };
    if (FailedEntryCount === 0) return;
    const { ErrorCode, ErrorMessage } = Entries.find((entry) => entry.ErrorCode)!;
    throw new Error(
      `PutEvents: the bus ${this.#name} rejected ${FailedEntryCount} events: ${ErrorCode}: ${ErrorMessage}`,
    );
  }
}
