import { promisify } from 'node:util';
import { constants, zstdCompressSync, zstdDecompress } from 'node:zlib';
import type { ResultsLocation } from '#contract/backtests/backtest.ts';
import { CodedError } from '#contract/values/errors.ts';
import type { ObjectStore, ResultFiles, ResultStore, TradePage } from '#domain/ports.ts';
import type { CandleCurve } from '#engine/report/candle-curve.ts';
import { sha256 } from '../sha256.ts';
import { decodeCurve, encodeCurve } from './curve-file.ts';
import { decodeTradePage, pageCount, readTradePage, writeTradePage } from './trade-pages.ts';

const decompress = promisify(zstdDecompress);
const ZSTD = 'application/zstd';
/** Compression level. It is fixed, so equal results have equal bytes. Comparison with gzip: docs/decisions/022. */
const ZSTD_PARAMS = { [constants.ZSTD_c_compressionLevel]: 1 };
/** Minimum size of the output buffer, bytes. It holds the smallest part and its zstd frame. */
const MIN_CHUNK = 1_024;
/** Concurrent writes: twice the four threads of Node that sync files. */
const CONCURRENT_WRITES = 8;
/** Key prefix of the exports of a job. In AWS they expire after a day. */
export const exportsPrefix = (jobId: string) => `exports/${jobId}`;

/** Key of the curve in the results of an attempt. */
export const CURVE_KEY = 'curve.columns.zst';
export const WHOLE_PARTS = ['result', 'equity', 'report'] as const;

/** Key prefix of the results of all attempts of a job. */
export const resultsPrefix = (jobId: string) => `results/${jobId}`;

/**
 * Stores results as JSON and trades by column, compressed with zstd, under `results/{job_id}/{attempt}/`. The key contains
 * the attempt, so a task that lost its job cannot overwrite the results of a later attempt. The job stores the prefix and
 * the digest of parts and pages. The curve is not in the digest: it follows from trades and candles, and results of earlier
 * releases have none.
 */
export class ObjectResultStore implements ResultStore {
  readonly #objects: ObjectStore;

  constructor(objects: ObjectStore) {
    this.#objects = objects;
  }

  async write(jobId: string, attempt: number, files: ResultFiles): Promise<ResultsLocation> {
    const prefix = attemptPrefix(jobId, attempt);
    const digests: string[] = [];
    const parts = partsOf(files);
    // The writers share the generator: one builds the next page while others store theirs.
    const writer = async () => {
      for (const part of parts) {
        digests.push(digestOf(part));
        await this.#put(prefix, part);
      }
    };
    const writing = Promise.all(Array.from({ length: CONCURRENT_WRITES }, writer));
    const curve = this.#put(prefix, [CURVE_KEY, encodeCurve(files.curve)]);
    await Promise.all([writing, curve, this.#putTrades(prefix, files.tradesParquet)]);
    return locationOf(prefix, digests);
  }

  /**
   * Stores checked parts of a run, in order: the whole parts, then the pages of trades. Equal parts have the digest of
   * {@link write}.
   *
   * @param rest called after the last page; a curve of undefined is not stored
   */
  async adopt(
    jobId: string,
    attempt: number,
    parts: AsyncIterable<readonly [key: string, bytes: Buffer]>,
    rest: () => Promise<{ readonly tradesParquet: Uint8Array; readonly curve: Buffer | undefined }>,
  ): Promise<ResultsLocation> {
    const prefix = attemptPrefix(jobId, attempt);
    const digests: string[] = [];
    for await (const part of parts) {
      digests.push(digestOf(part));
      await this.#put(prefix, part);
    }
    const { tradesParquet, curve } = await rest();
    await this.#putTrades(prefix, tradesParquet);
    if (curve) await this.#put(prefix, [CURVE_KEY, curve]);
    return locationOf(prefix, digests);
  }

  async writeFiles(
    jobId: string,
    attempt: number,
    files: Iterable<readonly [name: string, bytes: Uint8Array]>,
  ): Promise<ResultsLocation> {
    const prefix = attemptPrefix(jobId, attempt);
    let digest: string | undefined;
    const queue = files[Symbol.iterator]();
    const writer = async () => {
      for (let next = queue.next(); !next.done; next = queue.next()) {
        const [name, bytes] = next.value;
        digest ??= sha256(bytes);
        await this.#put(prefix, [
          fileKey(name),
          Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
        ]);
      }
    };
    await Promise.all(Array.from({ length: CONCURRENT_WRITES }, writer));
    return { prefix, digest: digest ?? sha256(''), trade_pages: 0 };
  }

  async readFile({ prefix }: ResultsLocation, name: string): Promise<Uint8Array> {
    return this.#read(`${prefix}/${fileKey(name)}`, (stored) => stored);
  }

  async #put(prefix: string, [name, bytes]: readonly [string, Buffer]): Promise<void> {
    await this.#objects.put(`${prefix}/${name}`, compressed(bytes), ZSTD);
  }

  async #putTrades(prefix: string, parquet: Uint8Array): Promise<void> {
    await this.#objects.put(tradesKey(prefix), parquet, 'application/vnd.apache.parquet');
  }

  async remove(jobId: string): Promise<void> {
    for (const prefix of [resultsPrefix(jobId), exportsPrefix(jobId)]) {
      for await (const key of this.#objects.list(`${prefix}/`)) await this.#objects.delete(key);
    }
  }

  async read(location: ResultsLocation, part: 'result' | 'equity' | 'report'): Promise<unknown> {
    return this.#read(`${location.prefix}/${partKey(part)}`, (stored) => JSON.parse(stored.toString('utf8')));
  }

  async readTrades(location: ResultsLocation, page: number): Promise<readonly unknown[]> {
    return this.#read(`${location.prefix}/${pageKey(page)}`, readTradePage);
  }

  async readTradeTable(location: ResultsLocation, page: number): Promise<TradePage> {
    return this.#read(`${location.prefix}/${pageKey(page)}`, decodeTradePage);
  }

  async readCurve(location: ResultsLocation): Promise<CandleCurve | undefined> {
    return this.#readIfStored(`${location.prefix}/${CURVE_KEY}`, decodeCurve);
  }

  async tradesFile({ prefix }: ResultsLocation) {
    const key = tradesKey(prefix);
    return {
      key,
      read: async () => {
        const object = await this.#objects.get(key);
        if (object) return object.body;
        throw missing(key);
      },
    };
  }

  async #read<T>(key: string, make: (stored: Buffer) => T): Promise<T> {
    const read = await this.#readIfStored(key, make);
    if (read !== undefined) return read;
    throw missing(key);
  }

  async #readIfStored<T>(key: string, make: (stored: Buffer) => T): Promise<T | undefined> {
    const object = await this.#objects.get(key);
    if (!object) return undefined;
    try {
      return make(await decompress(object.body));
    } catch (cause) {
      throw new CodedError('DATA005', { message: 'The stored results are corrupt', context: { key }, cause });
    }
  }
}

const fileKey = (name: string) => `${name}.zst`;

function missing(key: string): CodedError {
  return new CodedError('DATA005', { message: 'The stored results are missing', context: { key } });
}

function tradesKey(prefix: string): string {
  return `${prefix}/trades.parquet`;
}

function attemptPrefix(jobId: string, attempt: number): string {
  return `${resultsPrefix(jobId)}/${attempt}`;
}

function digestOf([name, bytes]: readonly [string, Buffer]): string {
  return `${name} ${sha256(bytes)}\n`;
}

function locationOf(prefix: string, digests: readonly string[]): ResultsLocation {
  return { prefix, digest: sha256(digests.join('')), trade_pages: digests.length - WHOLE_PARTS.length };
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

export function partKey(part: (typeof WHOLE_PARTS)[number]): string {
  return `${part}.json.zst`;
}

export function pageKey(page: number): string {
  return `trades/${String(page).padStart(4, '0')}.columns.zst`;
}
