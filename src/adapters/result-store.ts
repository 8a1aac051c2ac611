import { promisify } from 'node:util';
import { constants, zstdCompressSync, zstdDecompress } from 'node:zlib';
import type { ResultsLocation } from '#contract/backtest.ts';
import { CodedError } from '#contract/errors.ts';
import type { ObjectStore, ResultFiles, ResultStore } from '#domain/ports.ts';
import { sha256 } from './ids.ts';
import { pageCount, readTradePage, writeTradePage } from './trade-pages.ts';

const decompress = promisify(zstdDecompress);
const ZSTD = 'application/zstd';
/** A fixed level keeps equal results equal to the byte. Why not gzip: docs/decisions/022. */
const ZSTD_PARAMS = { [constants.ZSTD_c_compressionLevel]: 1 };
/** More than what the smallest part and the frame around it take. */
const MIN_CHUNK = 1_024;
/** While Node's four threads sync some, others wait for them. */
const WRITES_AT_ONCE = 8;
const WHOLE_PARTS = ['result', 'equity', 'report'] as const;

/** Under which the results of a job's attempts are. */
export const resultsPrefix = (jobId: string) => `results/${jobId}`;

/**
 * Results as JSON and trades by column, compressed with zstd, under `results/{job_id}/{attempt}/`. The attempt is in the key so that a task
 * that lost its job can never write over what a later attempt recorded; the job names the prefix and the digest of all
 * files.
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
    // While some are stored, the next page is made.
    const writer = async () => {
      for (const [name, bytes] of parts) {
        digests.push(`${name} ${sha256(bytes)}\n`);
        await this.#objects.put(`${prefix}/${name}`, compressed(bytes), ZSTD);
      }
    };
    const writing = Promise.all(Array.from({ length: WRITES_AT_ONCE }, writer));
    await Promise.all([writing, this.#putTrades(`${prefix}/trades.parquet`, files)]);
    const digest = sha256(digests.join(''));
    return { prefix, digest, trade_pages: digests.length - WHOLE_PARTS.length };
  }

  async #putTrades(key: string, files: ResultFiles): Promise<void> {
    await this.#objects.put(key, files.tradesParquet, 'application/vnd.apache.parquet');
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
      throw new CodedError('DATA005', { message: 'The stored results are broken', context: { key }, cause });
    }
  }
}

/** At once: handing a page to another thread takes as long as compressing it. */
function compressed(bytes: Buffer): Buffer {
  return zstdCompressSync(bytes, { params: ZSTD_PARAMS, chunkSize: Math.max(bytes.length, MIN_CHUNK) });
}

/** Keys and bytes of the parts; pages of trades are made as they are asked for. */
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
