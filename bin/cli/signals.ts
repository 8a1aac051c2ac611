import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import type { Command } from 'commander';
import type * as z from 'zod';
import type { Signals, SignalsList, SignalsUpload } from '#contract/market-data/signals-api.ts';
import { PAGE_LIMITS } from '#contract/values/request-limits.ts';
import { SIGNALS_LIMITS, SIGNALS_STRATEGY } from '#contract/values/signals-limits.ts';
import type { ApiClient } from './client.ts';
import { boundsText, integer, JSON_OPTION, queryOf, UsageError } from './options.ts';
import { number, second, table } from './output.ts';
import { sessionWith } from './session.ts';

const PATH = '/api/v1/signals';
/** Time limit of an upload, ms. */
const UPLOAD_MS = 300_000;

export function addSignalsCommands(program: Command): void {
  const signals = program
    .command('signals')
    .description('files of signals that backtests trade (docs/signals.md)');
  const session = sessionWith(program);
  signals
    .command('upload')
    .description('upload a file, and print the ID for --signals')
    .argument('<file>', 'CSV or Parquet')
    .option(...JSON_OPTION)
    .action((file: string, { json }: { json?: boolean }) =>
      session(async ({ client }) => {
        const { signals_id, ...rest } = await upload(client, readSignalsFile(file));
        console.log(json ? JSON.stringify({ signals_id, ...rest }) : signals_id);
      }),
    );
  signals
    .command('list')
    .description('your files, newest first')
    .option('--limit <n>', boundsText(PAGE_LIMITS), integer(PAGE_LIMITS), PAGE_LIMITS.default)
    .option(...JSON_OPTION)
    .action(({ limit, json }: { limit: number; json?: boolean }) =>
      session(async ({ client }) => {
        const page = await client.get<z.infer<typeof SignalsList>>(`${PATH}?${queryOf({ limit })}`);
        console.log(json ? JSON.stringify(page) : listText(page.items));
      }),
    );
  signals
    .command('delete')
    .description('delete a file; backtests keep their results')
    .argument('<signals>', 'sg-<id>')
    .option(...JSON_OPTION)
    .action((id: string, { json }: { json?: boolean }) =>
      session(async ({ client }) => {
        await client.send('DELETE', `${PATH}/${encodeURIComponent(id)}`);
        console.log(json ? JSON.stringify({ deleted: id }) : `Deleted ${id}`);
      }),
    );
}

function listText(items: readonly Signals[]): string {
  if (items.length === 0) return 'No files of signals.';
  return table(
    ['Signals', 'Name', 'Format', 'Bytes', 'SHA-256', 'Uploaded (UTC)', 'Last used (UTC)'],
    items.map((each) => [
      each.signals_id,
      each.name ?? '-',
      each.format,
      number(each.bytes, 0),
      each.sha256.slice(0, 12),
      second(each.created_at),
      each.last_used_at === null ? '-' : second(each.last_used_at),
    ]),
  );
}

interface SignalsFile {
  readonly name: string;
  readonly bytes: Buffer<ArrayBuffer>;
}

/** Throws UsageError for a file that cannot be read, is empty or is too large. */
function readSignalsFile(path: string): SignalsFile {
  return { name: basename(path).slice(0, SIGNALS_LIMITS.name), bytes: readFile(path) };
}

/** Throws UsageError for a path that is no file of 1 byte to the size of an upload. */
export function readFile(path: string): Buffer<ArrayBuffer> {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) throw new UsageError(`${path} does not exist: pass a file`);
  if (!stats.isFile()) throw new UsageError(`${path} is not a file`);
  const { max } = SIGNALS_LIMITS.bytes;
  if (stats.size === 0) throw new UsageError(`${path} is empty`);
  if (stats.size > max)
    throw new UsageError(`${path} has ${stats.size} bytes, more than ${max}: split it by pair or time`);
  return readFileSync(path);
}

/** Uploads a file and returns its record. */
export async function upload(
  client: ApiClient,
  { name, bytes }: SignalsFile,
): Promise<z.infer<typeof SignalsUpload>> {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const format = bytes.subarray(0, 4).toString('latin1') === 'PAR1' ? 'parquet' : 'csv';
  const created = await client.post<z.infer<typeof SignalsUpload>>(
    PATH,
    { name, format, bytes: bytes.length, sha256 },
    // One record for the same bytes, however often they are run.
    `${format}-${sha256}`,
  );
  // The address is a permission of its own: the token is not sent.
  const response = await fetch(new URL(created.upload_url, `${client.baseUrl}/`), {
    method: 'PUT',
    headers: created.upload_headers,
    body: bytes,
    signal: AbortSignal.timeout(UPLOAD_MS),
  });
  if (!response.ok)
    throw new Error(`The upload of ${name} failed with status ${response.status}: ${await response.text()}`);
  return created;
}

/**
 * Configuration of a run of a file, which is checked and uploaded first. Its pairs and first row are the defaults of pairs and start.
 *
 * @param source path, or the ID of an uploaded file
 * @throws UsageError for a file that is not valid, with the first wrong row
 */
export async function withSignalsFile(
  client: ApiClient,
  source: string,
  config: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> {
  if (/^sg-[0-9A-Z]+$/.test(source)) return { ...config, strategy: SIGNALS_STRATEGY, signals: source };
  const file = readSignalsFile(source);
  const { parseSignals } = await import('#adapters/signals/read-signals.ts');
  const rows = parseSignals(file.bytes, file.name);
  if (rows.rows === 0) throw new UsageError(`${source} has no rows`);
  const range = config.date_range as { readonly start?: string } | undefined;
  const first = rows.timestamp.reduce((a, b) => Math.min(a, b));
  const { signals_id } = await upload(client, file);
  return {
    pairs: rows.pairs,
    ...config,
    date_range: { start: new Date(first).toISOString(), ...range },
    strategy: SIGNALS_STRATEGY,
    signals: signals_id,
  };
}
