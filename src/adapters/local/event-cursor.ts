import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import * as z from 'zod';
import type { ShardPosition } from './table-streams.ts';

/** Positions by stream ARN, then by shard. */
const Positions = z.record(z.string(), z.record(z.string(), z.string()));

/** How far the tables' streams have been read, in a file of the data folder. A process that is killed continues there. */
export class EventCursor {
  readonly #path: string;
  #positions: Record<string, Record<string, ShardPosition>>;

  constructor(path: string) {
    this.#path = path;
    this.#positions = existsSync(path) ? Positions.parse(JSON.parse(readFileSync(path, 'utf8'))) : {};
  }

  get(stream: string, shard: string): ShardPosition | undefined {
    return this.#positions[stream]?.[shard];
  }

  /** Stores a position, and forgets the streams and shards that no longer exist. */
  set(
    stream: string,
    shard: string,
    position: ShardPosition,
    existing: { streams: readonly string[]; shards: readonly string[] },
  ): void {
    const shards = { ...this.#positions[stream], [shard]: position };
    const kept = Object.entries(shards).filter(([id]) => existing.shards.includes(id));
    const streams = Object.entries({ ...this.#positions, [stream]: Object.fromEntries(kept) });
    this.#positions = Object.fromEntries(streams.filter(([arn]) => existing.streams.includes(arn)));
    const temporary = `${this.#path}.tmp`;
    const file = openSync(temporary, 'w');
    try {
      writeSync(file, `${JSON.stringify(this.#positions)}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, this.#path);
  }
}
