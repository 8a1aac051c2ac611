import type { JobIn } from '#contract/backtests/backtest.ts';
import type { ColumnsManifest, ColumnsPair, ColumnsStatus } from '#contract/backtests/backtest-columns.ts';
import type { Trade } from '#contract/backtests/report.ts';
import { StoredReasons, type StoredTradeReasons } from '#contract/backtests/trade-reasons.ts';
import { TRADES_PER_PAGE } from '#contract/values/backtest-limits.ts';
import { CodedError } from '#contract/values/errors.ts';
import { columnsFile, readColumns } from './column-files.ts';
import { type ColumnsJobDeps, columnsJob } from './columns-job.ts';
import { getCompletedBacktest } from './get-backtest.ts';
import { isTagColumn, readManifest } from './get-backtest-columns.ts';
import { indexInFile, reasonsFile } from './reason-files.ts';
import { readTradePages, tradesOf } from './stored-trades.ts';

/** Values of a row by the names of the columns; null is NaN or no tag. */
export type RowValues = Readonly<Record<string, number | string | null>>;

/** A trade of a completed backtest, with what a columns job has found out about it. */
export interface ComputedTrade {
  readonly backtest: JobIn<'completed'>;
  readonly trade: Trade;
  readonly reasons: StoredTradeReasons;
  readonly pair: ColumnsPair;
  readonly changed: ColumnsManifest['changed_candles'];
  /** Values of the rows [from, to) of the columns with these names; default: of all. Rows outside of the run have none. */
  readonly rows: (from: number, to: number, names?: readonly string[]) => Promise<readonly RowValues[]>;
}

/**
 * A trade by its `id`, once its columns job has ended.
 *
 * Throws RES001, RES005 (not completed, another source or engine, the computation failed, or candles changed so that the trade is
 * another one), RES006, VAL005 for an unknown trade, HTTP429, DATA005.
 */
export async function computedTrade(
  deps: ColumnsJobDeps,
  jobId: string,
  id: number,
  correlationId: string,
): Promise<ComputedTrade | ColumnsStatus> {
  const backtest = await getCompletedBacktest(deps, jobId);
  const { total_trades: max } = backtest.result;
  if (id < 1 || id > max) {
    throw new CodedError('VAL005', {
      message: `The backtest has no trade ${id}: it has ${max}`,
      field: 'trade_id',
      context: { value: id, min: Math.min(1, max), max },
    });
  }
  const state = await columnsJob(deps, backtest, correlationId);
  if (state.status !== 'completed') return { status: state.status };
  const { job } = state;
  const [manifest, trade, reasons] = await Promise.all([
    readManifest(deps.results, job),
    readTrade(deps, backtest, id),
    readReasons(deps, job, id),
  ]);
  const index = manifest.pairs.findIndex(({ pair }) => pair === trade.pair);
  const pair = manifest.pairs[index];
  if (!pair || !reasons || !isSame(trade, reasons)) throw otherTrade(id, manifest);
  const read = (file: number) => deps.results.readFile(job.results, columnsFile(index, file));
  return {
    backtest,
    trade,
    reasons,
    pair,
    changed: manifest.changed_candles,
    rows: (from, to, names = pair.names) => readRows(read, pair, names, { from, to }),
  };
}

async function readTrade(
  { results }: Pick<ColumnsJobDeps, 'results'>,
  { results: location }: JobIn<'completed'>,
  id: number,
): Promise<Trade> {
  const page = Math.ceil(id / TRADES_PER_PAGE);
  for await (const each of readTradePages(results, location, [page])) {
    const found = tradesOf(each).find((trade) => trade.id === id);
    if (found) return found;
  }
  throw new CodedError('DATA005', { message: 'The stored results are missing', context: { trade_id: id } });
}

/** Undefined when the run of the columns job has fewer trades. */
async function readReasons(
  { results }: Pick<ColumnsJobDeps, 'results'>,
  { results: location, result }: JobIn<'completed'>,
  id: number,
): Promise<StoredTradeReasons | undefined> {
  if (id > result.total_trades) return undefined;
  const stored = await results.readFile(location, reasonsFile(id));
  return StoredReasons.parse(JSON.parse(new TextDecoder().decode(stored))).trades[indexInFile(id)];
}

function isSame(trade: Trade, reasons: StoredTradeReasons): boolean {
  return (
    trade.pair === reasons.pair &&
    trade.side === reasons.side &&
    trade.exit_reason === reasons.exit_reason &&
    Date.parse(trade.opened_at) === reasons.opened_at &&
    Date.parse(trade.closed_at) === reasons.closed_at
  );
}

function otherTrade(id: number, { changed_candles }: ColumnsManifest): CodedError {
  return new CodedError('RES005', {
    message: `Trade ${id} is another one on the present candles, which changed since the backtest. Run the backtest again: touchstone rerun`,
    field: 'trade_id',
    context: { reason: 'candles_changed', changed_candles },
  });
}

async function readRows(
  read: (file: number) => Promise<Uint8Array>,
  pair: ColumnsPair,
  names: readonly string[],
  range: { readonly from: number; readonly to: number },
): Promise<RowValues[]> {
  const from = Math.max(0, range.from);
  const to = Math.min(pair.rows, range.to);
  if (from >= to) return [];
  const indices = names.map((name) => pair.names.indexOf(name));
  const columns = await readColumns(read, pair, indices, { from, to });
  return Array.from({ length: to - from }, (_, row) =>
    Object.fromEntries(names.map((name, at) => [name, cellOf(pair, name, columns[at]![row]!)])),
  );
}

function cellOf({ tags }: ColumnsPair, name: string, value: number): number | string | null {
  if (isTagColumn(name)) return value === 0 ? null : (tags[value] ?? null);
  return Number.isFinite(value) ? value : null;
}
