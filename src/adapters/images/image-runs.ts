import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import type { JobRun } from '#contract/backtests/backtest.ts';
import type { ImageRunInput } from '#contract/backtests/image-run.ts';
import {
  IMAGE_INPUT_PREFIX,
  IMAGE_RUN_LIMITS,
  IMAGE_RUN_OBJECTS,
  imageRunPrefix,
} from '#contract/backtests/image-run-keys.ts';
import { TRADES_PER_PAGE } from '#contract/values/backtest-limits.ts';
import { equitySparkline } from '#domain/backtests/equity-sparkline.ts';
import { checkCurve, checkParts, checkTrades } from '#domain/image-runs/check-image-run.ts';
import {
  type AdoptedRun,
  type ClaimedResults,
  type ImageRuns,
  InvalidRunError,
} from '#domain/image-runs/image-run-ports.ts';
import { type ObjectStore, ObjectTooLargeError } from '#domain/ports.ts';
import type { TradeTable } from '#engine/simulator/trade-table.ts';
import { decodeCurve } from '../objects/curve-file.ts';
import {
  CURVE_KEY,
  type ObjectResultStore,
  pageKey,
  partKey,
  resultsPrefix,
  WHOLE_PARTS,
} from '../objects/result-store.ts';
import { decodeTradePage, encodeTradePage, joinTradePages } from '../objects/trade-pages.ts';
import { writeTradesParquet } from '../parquet/trades.ts';

const decompress = promisify(zstdDecompress);
const { bytes: MAX_BYTES } = IMAGE_RUN_LIMITS;

export interface ImageRunsDeps {
  /** Objects of the runs' bucket below a prefix. */
  readonly open: (prefix: string) => ObjectStore;
  /** ID of the role of registered images, with which the names of their sessions begin. */
  readonly roleId: string;
  /** Name of an input that cannot be guessed. */
  readonly secret: () => string;
}

/**
 * Runs of registered images as the platform sees them. Code of others writes everything below a run's prefix, at any time: each
 * object is read once, with a limit, and only what was checked is stored.
 */
export class ObjectImageRuns implements ImageRuns {
  readonly #deps: ImageRunsDeps;
  readonly #results: Pick<ObjectResultStore, 'adopt'>;

  constructor(deps: ImageRunsDeps, results: Pick<ObjectResultStore, 'adopt'>) {
    this.#deps = deps;
    this.#results = results;
  }

  async writeInput(input: ImageRunInput): Promise<string> {
    const name = `${this.#deps.secret()}.json`;
    const body = Buffer.from(JSON.stringify(input));
    await this.#deps.open(IMAGE_INPUT_PREFIX).put(name, body, 'application/json');
    return name;
  }

  async readOutcome(task: string): Promise<unknown> {
    const stored = await this.#get(task, IMAGE_RUN_OBJECTS.outcome, MAX_BYTES.outcome);
    return stored && parseJson(stored, 'outcome').value;
  }

  async adoptResults(job: JobRun, task: string, claimed: ClaimedResults): Promise<AdoptedRun> {
    const [result, equity, report] = await Promise.all(
      WHOLE_PARTS.map(async (part) =>
        parseJson(await this.#part(job, task, partKey(part), MAX_BYTES[part]), part),
      ),
    );
    const checked = checkParts({ result: result!.value, equity: equity!.value, report: report!.value }, job);
    const pages: TradeTable[] = [];
    const results = await this.#results.adopt(
      job.job_id,
      job.attempt,
      this.#parts(job, task, { whole: [result!, equity!, report!], claimed, pages }),
      async () => {
        const trades = joinTradePages(pages);
        if (trades.length !== checked.result.total_trades) {
          throw new InvalidRunError(
            `${checked.result.total_trades} trades are reported, ${trades.length} are stored`,
          );
        }
        return { tradesParquet: writeTradesParquet(trades), curve: await this.#curve(job, task) };
      },
    );
    if (results.digest !== claimed.digest) throw new InvalidRunError('the digest of the results is another');
    const sparkline = equitySparkline(job.config.dry_run_wallet, checked.equity);
    return { completed: { result: checked.result, results, sparkline }, equity: checked.equity };
  }

  /** Parts as this platform writes them. Adds the trades of each page to `pages`. */
  async *#parts(
    job: JobRun,
    task: string,
    run: {
      readonly whole: readonly Json[];
      readonly claimed: ClaimedResults;
      readonly pages: TradeTable[];
    },
  ): AsyncGenerator<readonly [string, Buffer]> {
    for (const [index, part] of WHOLE_PARTS.entries()) {
      yield [partKey(part), Buffer.from(run.whole[index]!.text)];
    }
    const { trade_pages } = run.claimed;
    for (let page = 1; page <= trade_pages; page++) {
      const bytes = await this.#part(job, task, pageKey(page), MAX_BYTES.trade_page);
      const table = decodePage(bytes, page, page === trade_pages);
      checkTrades(table, job.config.pairs);
      run.pages.push(table);
      yield [pageKey(page), encodeTradePage((page - 1) * TRADES_PER_PAGE, table)];
    }
  }

  /** Checked curve; undefined when the image is of a release that writes none. */
  async #curve(job: JobRun, task: string): Promise<Buffer | undefined> {
    const stored = await this.#stored(job, task, CURVE_KEY, MAX_BYTES.curve);
    if (!stored) return undefined;
    const bytes = await inflate(stored, CURVE_KEY, MAX_BYTES.curve);
    checkCurve(
      decoded(() => decodeCurve(bytes), 'the curve'),
      job,
    );
    return bytes;
  }

  /** Decompressed part of the results. */
  async #part(job: JobRun, task: string, name: string, maxBytes: number): Promise<Buffer> {
    const stored = await this.#stored(job, task, name, maxBytes);
    if (!stored) throw new InvalidRunError(`${name} is missing`);
    return inflate(stored, name, maxBytes);
  }

  #stored(job: JobRun, task: string, name: string, maxBytes: number): Promise<Uint8Array | undefined> {
    // The task runs before its attempt has a number.
    return this.#get(task, `${resultsPrefix(job.job_id)}/0/${name}`, maxBytes);
  }

  async #get(task: string, name: string, maxBytes: number): Promise<Uint8Array | undefined> {
    const objects = this.#deps.open(imageRunPrefix(this.#deps.roleId, task));
    try {
      return (await objects.get(name, maxBytes))?.body;
    } catch (error) {
      if (error instanceof ObjectTooLargeError) throw new InvalidRunError(error.message);
      throw error;
    }
  }
}

/** A value and its JSON as `JSON.stringify` writes it. */
interface Json {
  readonly value: unknown;
  readonly text: string;
}

const COMMA = 0x2c;
const BRACE = 0x7b;
/** A lone surrogate as `JSON.stringify` writes it. */
const LONE_SURROGATE = /(?<!\\)(?:\\\\)*\\ud[89a-f]/;

/** Throws InvalidRunError for anything but JSON in UTF-8 with valid Unicode and without the key `__proto__`. */
function parseJson(bytes: Uint8Array, name: string): Json {
  // Each further value follows a comma.
  if (countOf(COMMA, bytes) > IMAGE_RUN_LIMITS.values) {
    throw new InvalidRunError(`${name} has more than ${IMAGE_RUN_LIMITS.values} values`);
  }
  if (countOf(BRACE, bytes) > IMAGE_RUN_LIMITS.objects) {
    throw new InvalidRunError(`${name} has more than ${IMAGE_RUN_LIMITS.objects} objects`);
  }
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    const text = JSON.stringify(value);
    if (!LONE_SURROGATE.test(text) && !text.includes('"__proto__"')) return { value, text };
  } catch {
    // Reported below, without what the code of others wrote.
  }
  throw new InvalidRunError(`${name} is not valid JSON`);
}

function countOf(wanted: number, bytes: Uint8Array): number {
  return bytes.reduce((count, byte) => count + Number(byte === wanted), 0);
}

async function inflate(stored: Uint8Array, name: string, maxBytes: number): Promise<Buffer> {
  try {
    return await decompress(stored, { maxOutputLength: maxBytes });
  } catch {
    throw new InvalidRunError(`${name} is not zstd, or has more than ${maxBytes} bytes`);
  }
}

function decodePage(bytes: Uint8Array, page: number, isLast: boolean): TradeTable {
  const { first, table } = decoded(() => decodeTradePage(bytes), `page ${page} of the trades`);
  const { length } = table;
  const fits = isLast ? length > 0 && length <= TRADES_PER_PAGE : length === TRADES_PER_PAGE;
  if (first !== (page - 1) * TRADES_PER_PAGE || !fits) {
    throw new InvalidRunError(`page ${page} of the trades has other trades than its number says`);
  }
  return table;
}

function decoded<T>(decode: () => T, name: string): T {
  try {
    return decode();
  } catch {
    throw new InvalidRunError(`${name} has another format`);
  }
}
