import { join } from 'node:path';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { EventCursor } from '#adapters/local/event-cursor.ts';
import { StreamRecords } from '#adapters/local/stream-records.ts';
import { enableStreams, TableStreams } from '#adapters/local/table-streams.ts';
import type { PlatformEvent } from '#contract/platform/events.ts';
import type { EventLog } from '#domain/events/event-log.ts';
import { eventsOf } from '#domain/events/event-of-change.ts';
import type { Log } from '#runtime/log.ts';
import { LOCAL_TABLES } from './platform-info.ts';

/** Pause after a pass that found nothing. */
const PAUSE_MS = 500;
/** Pause after a pass that failed. */
const RETRY_MS = 2_000;

export interface LocalEventsOptions {
  readonly dynamo: DynamoDBDocumentClient;
  readonly endpoint: string;
  /** Folder of the file with the position. */
  readonly folder: string;
  /** File of the embedded engine; undefined with another engine, which deletes old records itself. */
  readonly dbPath: string | undefined;
  /** CloudEvents' `source` of this platform. */
  readonly source: string;
  readonly events: EventLog;
  /** Passes events on. When it throws, it gets them again. */
  readonly deliver: (events: readonly PlatformEvent[]) => Promise<void>;
  readonly log: Log;
}

/**
 * Derives events from the streams of the tables, adds them to the log and passes them on, until it is stopped. The position is
 * stored after the events: an event may be delivered twice, and none is lost.
 */
export async function startEvents(options: LocalEventsOptions): Promise<{ stop(): Promise<void> }> {
  const tables = Object.values(LOCAL_TABLES);
  const arns = await enableStreams(options.dynamo, tables).catch((error: Error) => {
    // Not every DynamoDB-compatible server has streams. The platform works without events.
    if (options.dbPath !== undefined) throw error;
    options.log.warn('no events: the database at DYNAMODB_ENDPOINT has no streams', { error });
  });
  if (!arns) return { stop: async () => undefined };
  const reader = new Reader(
    options,
    tables.map((table, index) => ({ table, arn: arns[index]! })),
  );
  const stopping = new AbortController();
  const ended = reader.run(stopping.signal);
  return {
    stop: async () => {
      stopping.abort();
      await ended;
      reader.close();
    },
  };
}

interface Stream {
  readonly table: string;
  readonly arn: string;
}

class Reader {
  readonly #options: LocalEventsOptions;
  readonly #streams: readonly Stream[];
  readonly #client: TableStreams;
  readonly #cursor: EventCursor;
  readonly #records: StreamRecords | undefined;

  constructor(options: LocalEventsOptions, streams: readonly Stream[]) {
    this.#options = options;
    this.#streams = streams;
    this.#client = new TableStreams(options.endpoint);
    this.#cursor = new EventCursor(join(options.folder, 'events-cursor.json'));
    this.#records = options.dbPath === undefined ? undefined : new StreamRecords(options.dbPath);
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      let pause = PAUSE_MS;
      try {
        const changes = await Promise.all(this.#streams.map((stream) => this.#pass(stream)));
        if (changes.some((count) => count > 0)) pause = 0;
      } catch (error) {
        if (signal.aborted) return;
        pause = RETRY_MS;
        this.#options.log.warn('failed to read table streams, retrying', { error: error as Error });
      }
      if (pause > 0) await paused(pause, signal);
    }
  }

  close(): void {
    this.#records?.close();
  }

  /** Handles the next changes of a table and returns their number. */
  async #pass({ table, arn }: Stream): Promise<number> {
    const shards = await this.#client.shards(arn);
    const streams = this.#streams.map((stream) => stream.arn);
    let count = 0;
    for (const shard of shards) {
      const after = this.#cursor.get(arn, shard);
      if (after === 'done') continue;
      const { changes, position } = await this.#client.read(arn, shard, after);
      count += changes.length;
      const events = eventsOf(this.#options.source, changes, (error, { keys }) =>
        this.#options.log.error('failed to derive an event', { error: error as Error, keys }),
      );
      if (events.length > 0) {
        await this.#options.events.append(events);
        await this.#options.deliver(events);
      }
      if (position === undefined || position === after) continue;
      this.#cursor.set(arn, shard, position, { streams, shards });
      if (position !== 'done') this.#records?.deleteUpTo(table, position);
    }
    return count;
  }
}

function paused(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}
