import { promisify } from 'node:util';
import { gunzip, gzipSync } from 'node:zlib';
import type { ResultsLocation } from '#contract/backtest.ts';
import { CodedError } from '#contract/errors.ts';
import type { ObjectStore, ResultFiles, ResultStore } from '#domain/ports.ts';
import { sha256 } from './ids.ts';

const unzip = promisify(gunzip);
const JSON_GZ = 'application/gzip';

/**
 * Results as gzip'd JSON under `results/{job_id}/{attempt}/`. The attempt is in the key so that a task that lost its
 * job can never write over what a later attempt recorded; the job names the prefix and the digest of all files.
 */
export class ObjectResultStore implements ResultStore {
  readonly #objects: ObjectStore;

  constructor(objects: ObjectStore) {
    this.#objects = objects;
  }

  async write(jobId: string, attempt: number, files: ResultFiles): Promise<ResultsLocation> {
    const prefix = `results/${jobId}/${attempt}`;
    const parts: [string, string][] = [
      ['result', files.result],
      ['equity', files.equity],
      ['report', files.report],
      ...files.tradePages.map((page, index): [string, string] => [tradePage(index + 1), page]),
    ];
    for (const [name, json] of parts) {
      // The fixed level and a header without a time keep equal results equal to the byte.
      await this.#objects.put(`${prefix}/${name}.json.gz`, gzipSync(json, { level: 6 }), JSON_GZ);
    }
    await this.#objects.put(
      `${prefix}/trades.parquet`,
      files.tradesParquet,
      'application/vnd.apache.parquet',
    );
    const digest = sha256(parts.map(([name, json]) => `${name} ${sha256(json)}\n`).join(''));
    return { prefix, digest, trade_pages: files.tradePages.length };
  }

  async read(location: ResultsLocation, part: 'result' | 'equity' | 'report'): Promise<unknown> {
    return this.#readJson(`${location.prefix}/${part}.json.gz`);
  }

  async readTrades(location: ResultsLocation, page: number): Promise<readonly unknown[]> {
    return (await this.#readJson(`${location.prefix}/${tradePage(page)}.json.gz`)) as readonly unknown[];
  }

  async #readJson(key: string): Promise<unknown> {
    const object = await this.#objects.get(key);
    if (!object)
      throw new CodedError('DATA005', { message: 'The stored results are missing', context: { key } });
    try {
      return JSON.parse((await unzip(object.body)).toString('utf8'));
    } catch (cause) {
      throw new CodedError('DATA005', { message: 'The stored results are broken', context: { key }, cause });
    }
  }
}

function tradePage(page: number): string {
  return `trades/${String(page).padStart(4, '0')}`;
}
