import type { JobIn } from '#contract/backtests/backtest.ts';
import {
  type BacktestColumns,
  type BacktestColumnsQuery,
  ColumnsManifest,
  type ColumnsPair,
  type ColumnsStatus,
} from '#contract/backtests/backtest-columns.ts';
import type { ExportLink } from '#contract/backtests/backtest-export.ts';
import { COLUMNS_LIMITS, SIGNAL_NAMES } from '#contract/values/columns-limits.ts';
import { CodedError } from '#contract/values/errors.ts';
import { nearestName } from '#contract/values/nearest-name.ts';
import { parseRange, type TimeRange } from '../data/time-range.ts';
import type { ResultStore } from '../ports.ts';
import type { Cursors } from '../shared/cursors.ts';
import { COLUMNS_MANIFEST, columnsFile, readColumns } from './column-files.ts';
import { type ColumnsJobDeps, columnsJob } from './columns-job.ts';
import { type Downloads, fileName } from './export-backtest.ts';
import { getCompletedBacktest } from './get-backtest.ts';

/** Columns with their names; `times` are Unix ms, tags are indices of `tags`. */
export interface NamedColumns {
  readonly times: Float64Array;
  readonly columns: readonly (readonly [name: string, values: Float64Array])[];
  readonly tags: readonly string[];
}

export interface BacktestColumnsDeps extends ColumnsJobDeps {
  readonly cursors: Cursors;
  readonly downloads: Downloads;
  /** Bytes of a Parquet file of columns. */
  readonly encodeColumns: (columns: NamedColumns) => Promise<Uint8Array>;
}

type ColumnsResponse =
  | { readonly status: ColumnsStatus }
  | { readonly page: BacktestColumns }
  | { readonly link: ExportLink };

/** Names of tag columns: their values are strings. */
const TAG_NAMES: readonly string[] = [SIGNAL_NAMES.enterTag, SIGNAL_NAMES.exitTag];

/**
 * Columns, signals and candles of one pair of a completed backtest, computed by a task at the first call.
 *
 * Throws RES001, RES005 (not completed, another source or engine, or the computation failed), RES006, VAL001 for invalid times, VAL004
 * without a pair in a run of several, VAL005 for an unknown pair or name and for a file that would be too large, VAL006 for a cursor of
 * other filters, HTTP429, DATA005.
 */
export async function getBacktestColumns(
  deps: BacktestColumnsDeps,
  jobId: string,
  query: BacktestColumnsQuery & { readonly correlationId: string },
): Promise<ColumnsResponse> {
  const range = parseRange({ start: query.from, end: query.to }, ['from', 'to']);
  const backtest = await getCompletedBacktest(deps, jobId);
  const pair = checkPair(backtest, query.pair);
  const state = await columnsJob(deps, backtest, query.correlationId);
  if (state.status !== 'completed') return { status: { status: state.status } };
  const { results } = state.job;
  const manifest = await readManifest(deps.results, state.job);
  const index = manifest.pairs.findIndex((each) => each.pair === pair);
  if (index < 0) throw unknownPair(pair, manifest.pairs);
  const described = manifest.pairs[index]!;
  const names = checkNames(described, query.names);
  const read = (rows: Rows) => readNamed(deps.results, { results, index, described }, names, rows);
  const whole = rowsIn(described, range);
  if (query.format === 'parquet')
    return { link: await offer(deps, backtest, { described, names, whole, read }) };
  const scope = { job_id: jobId, pair, from: query.from ?? null, to: query.to ?? null, names: names.join() };
  const from = query.cursor ? positionOf(deps.cursors.decode(query.cursor, scope, 1), whole) : whole.from;
  const most = Math.max(1, Math.floor(COLUMNS_LIMITS.page_values / names.length));
  const to = Math.min(whole.to, from + Math.min(query.limit, most));
  const { times, columns, tags } = await read({ from, to });
  return {
    page: {
      pair,
      timeframe: described.timeframe,
      times: Array.from(times, (time) => time / 1_000),
      columns: Object.fromEntries(columns.map(([name, values]) => [name, valuesOf(name, values, tags)])),
      rows: whole.to - whole.from,
      next_cursor: to < whole.to ? deps.cursors.encode([String(to)], scope) : null,
      changed_candles: manifest.changed_candles,
      plot: (await deps.strategies.find(backtest.config.strategy))?.definition.plot ?? null,
    },
  };
}

/** The pair of a request; the only one of the run without. */
export function checkPair({ config: { pairs } }: JobIn<'completed'>, pair: string | undefined): string {
  if (pair === undefined) {
    if (pairs.length === 1) return pairs[0]!;
    throw new CodedError('VAL004', {
      message: `pair is required: the backtest has ${pairs.length} pairs`,
      field: 'pair',
      context: { known: pairs },
    });
  }
  if (!pairs.includes(pair))
    throw unknownPair(
      pair,
      pairs.map((each) => ({ pair: each })),
    );
  return pair;
}

function unknownPair(pair: string, pairs: readonly { readonly pair: string }[]): CodedError {
  const known = pairs.map((each) => each.pair);
  const nearest = nearestName(pair, known);
  return new CodedError('VAL005', {
    message: `The backtest did not trade ${JSON.stringify(pair)}${nearest ? `; did you mean ${nearest}?` : ''}`,
    field: 'pair',
    context: { value: pair, known },
  });
}

/** Names of a request, each once; all without. Throws VAL005 for an unknown one. */
function checkNames({ names: known }: ColumnsPair, given: readonly string[] | undefined): readonly string[] {
  if (!given) return known;
  const all = new Set(known);
  const unknown = given.find((name) => !all.has(name));
  if (unknown === undefined) return [...new Set(given)];
  const nearest = nearestName(unknown, known);
  throw new CodedError('VAL005', {
    message: `The run has no column ${JSON.stringify(unknown)}${nearest ? `; did you mean ${nearest}?` : ''}`,
    field: 'names',
    context: { value: unknown, known },
  });
}

/** Shape of the computed columns. */
export async function readManifest(
  results: Pick<ResultStore, 'readFile'>,
  job: JobIn<'completed'>,
): Promise<ColumnsManifest> {
  const stored = await results.readFile(job.results, COLUMNS_MANIFEST);
  return ColumnsManifest.parse(JSON.parse(new TextDecoder().decode(stored)));
}

interface Rows {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

function rowsIn({ first, step, rows }: ColumnsPair, { start, end }: TimeRange): Rows {
  // First row at or after a time.
  const rowAt = (time: number) => Math.min(rows, Math.max(0, Math.ceil((time - first) / step)));
  const from = start === undefined ? 0 : rowAt(start);
  return { from, to: Math.max(from, end === undefined ? rows : rowAt(end)) };
}

/** Row of a cursor. It is signed, and bound to its filters; the computation may be another one by now. */
function positionOf([row]: readonly string[], { from, to }: Rows): number {
  const position = Number(row);
  return Number.isSafeInteger(position) ? Math.min(to, Math.max(from, position)) : from;
}

/** Some columns of a pair with their times. */
async function readNamed(
  results: Pick<ResultStore, 'readFile'>,
  stored: {
    readonly results: JobIn<'completed'>['results'];
    readonly index: number;
    readonly described: ColumnsPair;
  },
  names: readonly string[],
  { from, to }: Rows,
): Promise<NamedColumns> {
  const { described, index } = stored;
  const indices = names.map((name) => described.names.indexOf(name));
  const read = (file: number) => results.readFile(stored.results, columnsFile(index, file));
  const values = await readColumns(read, described, indices, { from, to });
  return {
    times: Float64Array.from(
      { length: to - from },
      (_, row) => described.first + (from + row) * described.step,
    ),
    columns: names.map((name, at) => [name, values[at]!]),
    tags: described.tags,
  };
}

function valuesOf(name: string, values: Float64Array, tags: readonly string[]): (number | string | null)[] {
  if (isTagColumn(name)) return Array.from(values, (index) => (index === 0 ? null : (tags[index] ?? null)));
  return Array.from(values, (value) => (Number.isFinite(value) ? value : null));
}

export const isTagColumn = (name: string) => TAG_NAMES.includes(name);

async function offer(
  { downloads, encodeColumns }: Pick<BacktestColumnsDeps, 'downloads' | 'encodeColumns'>,
  backtest: JobIn<'completed'>,
  {
    described,
    names,
    whole,
    read,
  }: {
    readonly described: ColumnsPair;
    readonly names: readonly string[];
    readonly whole: Rows;
    readonly read: (rows: Rows) => Promise<NamedColumns>;
  },
): Promise<ExportLink> {
  const values = (whole.to - whole.from) * names.length;
  const max = COLUMNS_LIMITS.file_values;
  if (values > max) {
    throw new CodedError('VAL005', {
      message: `The file would have ${values.toLocaleString('en-US')} values, at most ${max.toLocaleString('en-US')} may be: name fewer columns in names, or narrow from and to`,
      field: 'names',
      context: { value: values, max },
    });
  }
  const name = fileName(backtest, `${described.pair.replaceAll(/[^A-Za-z0-9]+/g, '-')}-columns.parquet`);
  const file = {
    name,
    contentType: 'application/vnd.apache.parquet',
    chunks: async function* () {
      yield await encodeColumns(await read(whole));
    },
  };
  return { ...(await downloads.offer(backtest.job_id, file)), file_name: name };
}
