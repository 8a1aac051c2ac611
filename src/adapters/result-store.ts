import { promisify } from 'node:util';
import { constants, zstdCompressSync, zstdDecompress } from 'node:zlib';
import type { ResultsLocation } from '#contract/backtest.ts';
import { CodedError } from '#contract/errors.ts';
import type { Trade } from '#contract/report.ts';
import type { ObjectStore, ResultFiles, ResultStore } from '#domain/ports.ts';
import { tradeRecord } from '#engine/report/trades.ts';
import {
  type TextColumn,
  TRADE_NUMBERS,
  type TradeNumber,
  type TradeTable,
} from '#engine/simulator/trade-table.ts';
import { sha256 } from './ids.ts';

const decompress = promisify(zstdDecompress);
const ZSTD = 'application/zstd';
/** Compression level. It is fixed, so equal results have equal bytes. Comparison with gzip: docs/decisions/022. */
const ZSTD_PARAMS = { [constants.ZSTD_c_compressionLevel]: 1 };
/** Minimum size of the output buffer, bytes. It holds the smallest part and its zstd frame. */
const MIN_CHUNK = 1_024;
/** Concurrent writes: twice the four threads of Node that sync files. */
const CONCURRENT_WRITES = 8;
const WHOLE_PARTS = ['result', 'equity', 'report'] as const;

/** Key prefix of the results of all attempts of a job. */
export const resultsPrefix = (jobId: string) => `results/${jobId}`;

/**
 * Stores results as JSON and trades by column, compressed with zstd, under `results/{job_id}/{attempt}/`. The key contains
 * the attempt, so a task that lost its job cannot overwrite the results of a later attempt. The job stores the prefix and
 * the digest of all files.
 */
export class ObjectResultStore implements ResultStore {
  readonly #objects: ObjectStore;

  constructor(objects: ObjectStore) {
    this.#objects = objects;
  }

  async write(jobId: string, attempt: number, files: ResultFiles): Promise<ResultsLocation> {
    const prefix = `${resultsPrefix(jobId)}/${attempt}`;
    const digests: string[] = [];
    const parts = partsOf(files);
    // The writers share the generator: one builds the next page while others store theirs.
    const writer = async () => {
      for (const [name, bytes] of parts) {
        digests.push(`${name} ${sha256(bytes)}\n`);
        await this.#objects.put(`${prefix}/${name}`, compressed(bytes), ZSTD);
      }
    };
    const writing = Promise.all(Array.from({ length: CONCURRENT_WRITES }, writer));
    await Promise.all([writing, this.#putTrades(`${prefix}/trades.parquet`, files)]);
    const digest = sha256(digests.join(''));
    return { prefix, digest, trade_pages: digests.length - WHOLE_PARTS.length };
  }

  async #putTrades(key: string, files: ResultFiles): Promise<void> {
    await this.#objects.put(key, files.tradesParquet, 'application/vnd.apache.parquet');
  }

  async remove(jobId: string): Promise<void> {
    for await (const key of this.#objects.list(`${resultsPrefix(jobId)}/`)) await this.#objects.delete(key);
  }

  async read(location: ResultsLocation, part: 'result' | 'equity' | 'report'): Promise<unknown> {
    return this.#read(`${location.prefix}/${partKey(part)}`, (stored) => JSON.parse(stored.toString('utf8')));
  }

  async readTrades(location: ResultsLocation, page: number): Promise<readonly unknown[]> {
    return this.#read(`${location.prefix}/${pageKey(page)}`, readTradePage);
  }

  async #read<T>(key: string, make: (stored: Buffer) => T): Promise<T> {
    const object = await this.#objects.get(key);
    if (!object)
      throw new CodedError('DATA005', { message: 'The stored results are missing', context: { key } });
    try {
      return make(await decompress(object.body));
    } catch (cause) {
      throw new CodedError('DATA005', { message: 'The stored results are corrupt', context: { key }, cause });
    }
  }
}

/** Compresses synchronously: passing a page to another thread takes as long as compressing it. */
function compressed(bytes: Buffer): Buffer {
  return zstdCompressSync(bytes, { params: ZSTD_PARAMS, chunkSize: Math.max(bytes.length, MIN_CHUNK) });
}

/** Keys and bytes of the parts. Pages of trades are built on demand. */
function* partsOf(files: ResultFiles): Generator<readonly [key: string, bytes: Buffer]> {
  for (const part of WHOLE_PARTS) yield [partKey(part), Buffer.from(files[part])];
  const pages = pageCount(files.trades);
  for (let page = 1; page <= pages; page++) yield [pageKey(page), writeTradePage(files.trades, page)];
}

function partKey(part: (typeof WHOLE_PARTS)[number]): string {
  return `${part}.json.zst`;
}

function pageKey(page: number): string {
  return `trades/${String(page).padStart(4, '0')}.columns.zst`;
}

/**
 * Stored format of trades, by page: a JSON head padded to a multiple of 8 bytes, then the columns as in memory. JSON for
 * the same numbers takes five times as long.
 */

/** Trades on one page. */
const TRADES_PER_PAGE = 1000;

/** Maximum number of strings that each page stores for a whole column. Above it, a page stores only its own strings. */
const FEW_TEXTS = 256;

/** String columns: each row is an index into `texts`. */
const TEXTS = ['pair', 'side', 'enterTag', 'exitReason'] as const;
type TextName = (typeof TEXTS)[number];

/** Head of a page. */
interface Head {
  /** Row of the first trade in the whole table. */
  readonly first: number;
  readonly length: number;
  readonly texts: { readonly [Name in TextName]: TradeTable[Name]['texts'] };
}

const WORD = 8;
const LENGTH_BYTES = 4;

function pageCount({ length }: TradeTable): number {
  return Math.ceil(length / TRADES_PER_PAGE);
}

/** Bytes of a page for {@link readTradePage}. Pages start at 1. */
function writeTradePage(table: TradeTable, page: number): Buffer {
  const first = (page - 1) * TRADES_PER_PAGE;
  const end = Math.min(first + TRADES_PER_PAGE, table.length);
  const columns = TEXTS.map((name) => [name, textsOfPage(table[name], first, end)] as const);
  const texts = Object.fromEntries(columns.map(([name, column]) => [name, column.texts])) as Head['texts'];
  const parts = [
    ...TRADE_NUMBERS.map((name) => table[name].subarray(first, end)),
    ...columns.map(([, { index }]) => index),
    table.leftOpen.subarray(first, end),
  ];
  return Buffer.concat([writeHead({ first, length: end - first, texts }), ...parts.map(bytesOf)]);
}

/** Rows [first, end) of a column. */
function textsOfPage(
  { texts, index }: TextColumn<string | null>,
  first: number,
  end: number,
): TextColumn<string | null> {
  const rows = index.subarray(first, end);
  if (texts.length <= FEW_TEXTS) return { texts, index: rows };
  const positions = new Map([...new Set(rows)].map((row, position) => [row, position]));
  return {
    texts: [...positions.keys()].map((row) => texts[row]!),
    index: rows.map((row) => positions.get(row)!),
  };
}

/**
 * Trade records of a page.
 *
 * @throws Error when the bytes are not a page
 */
function readTradePage(bytes: Uint8Array): Trade[] {
  const { head, start } = readHead(bytes);
  const { first, length, texts } = head;
  let at = start;
  const take = (bytesOfEach: number): ArrayBuffer => {
    const from = at;
    at += length * bytesOfEach;
    if (at > bytes.length) throw new Error('A page of trades is truncated');
    // Copies, because typed arrays need an aligned offset and the page can start at any.
    return Uint8Array.prototype.slice.call(bytes, from, at).buffer;
  };
  const numbers = TRADE_NUMBERS.map((name) => [name, new Float64Array(take(8))]);
  const columns = TEXTS.map((name) => [name, { texts: texts[name], index: new Uint32Array(take(4)) }]);
  const table: TradeTable = {
    length,
    ...(Object.fromEntries(numbers) as Record<TradeNumber, Float64Array>),
    ...(Object.fromEntries(columns) as { [Name in TextName]: TradeTable[Name] & TextColumn }),
    leftOpen: new Uint8Array(take(1)),
  };
  return Array.from({ length }, (_, row) => tradeRecord(table, row, first + row + 1));
}

/** Length of the JSON, the JSON, and spaces up to a multiple of 8 bytes. */
function writeHead(head: Head): Buffer {
  const text = JSON.stringify(head);
  const bytes = Buffer.byteLength(text);
  const padded = Math.ceil((LENGTH_BYTES + bytes) / WORD) * WORD;
  const buffer = Buffer.alloc(padded, ' ');
  buffer.writeUInt32LE(padded - LENGTH_BYTES);
  buffer.write(text, LENGTH_BYTES);
  return buffer;
}

function readHead(page: Uint8Array): { readonly head: Head; readonly start: number } {
  const buffer = Buffer.from(page.buffer, page.byteOffset, page.byteLength);
  const start = LENGTH_BYTES + buffer.readUInt32LE();
  return { head: JSON.parse(buffer.toString('utf8', LENGTH_BYTES, start)) as Head, start };
}

function bytesOf({ buffer, byteOffset, byteLength }: Float64Array | Uint32Array | Uint8Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
