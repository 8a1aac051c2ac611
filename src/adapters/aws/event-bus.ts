import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { SignatureV4 } from '@smithy/signature-v4';
import type { PlatformEvent } from '#contract/events.ts';

/** Limit of PutEvents. */
const MAX_ENTRIES = 10;
/** Limit of one request, ms. The stream sends the batch again after a failure. */
const TIMEOUT_MS = 5_000;

/** The signature's hash, by the name that its library expects. */
class Sha256 {
  readonly #hash: Hash | Hmac;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret));
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(bytesOf(data));
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }
}

function bytesOf(data: string | ArrayBuffer | ArrayBufferView): Uint8Array {
  if (typeof data === 'string') return Buffer.from(data);
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}

/** Puts events on the EventBridge bus. One call is signed with the SDK's library: EventBridge's client is no dependency for it. */
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
    const { credentials, region } = this.#client.config;
    const url = new URL(this.#endpoint ?? `https://events.${await region()}.amazonaws.com`);
    const body = JSON.stringify({
      Entries: events.map((event) => ({
        EventBusName: this.#name,
        Source: event.source,
        DetailType: event.type,
        Detail: JSON.stringify(event),
        Time: Math.floor(Date.parse(event.time) / 1_000),
      })),
    });
    const signer = new SignatureV4({ service: 'events', region, credentials, sha256: Sha256 });
    const { headers } = await signer.sign({
      ...{ method: 'POST', protocol: url.protocol, hostname: url.hostname, path: '/', body },
      headers: {
        host: url.host,
        'content-type': 'application/x-amz-json-1.1',
        'x-amz-target': 'AWSEvents.PutEvents',
      },
    });
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(url, { method: 'POST', headers, body, signal });
    const text = await response.text();
    if (!response.ok) throw new Error(`PutEvents: HTTP status ${response.status}: ${text.slice(0, 500)}`);
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
