import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import { CodedError } from '#contract/values/errors.ts';
import { formatInteger } from '#contract/values/format-count.ts';
import { listNames } from '#contract/values/list-names.ts';
import { SIGNALS_LIMITS } from '#contract/values/signals-limits.ts';
import { SIGNAL_COLUMNS } from '#engine/analysis/analyze.ts';
import type { GivenSignals } from '#engine/analysis/given-signals.ts';
import type { PairData } from '#engine/run/history.ts';
import { TIMEFRAME_MS, tradedRange } from '#engine/timeframe.ts';
import { isoTime } from '../shared/iso-time.ts';
import type { ReadSignals, SignalTable } from './signal-table.ts';

/** Pairs of a run with the rows of its file, and what was left out. */
export interface PlacedSignals {
  readonly pairs: readonly PairData[];
  readonly warnings: readonly string[];
}

/**
 * The pairs of a run with the signals of its file; those of another run as they are.
 * Throws VAL005 for rows that cannot be used, by their numbers, and for a file that was deleted; DATA005.
 */
export async function withSignals(
  read: ReadSignals | undefined,
  config: ResolvedBacktestConfig,
  pairs: readonly PairData[],
): Promise<PlacedSignals> {
  const { signals: id, signals_digest: digest } = config;
  if (id === undefined || digest === undefined) return { pairs, warnings: [] };
  const table = await read?.(id, digest);
  if (!table) {
    throw new CodedError('VAL005', {
      message: `The file of ${id} was deleted: upload it again and submit the backtest with the new signals_id`,
      field: 'config.signals',
    });
  }
  return placeSignals(table, config, pairs);
}

/** Throws VAL005 for rows that cannot be used, by their numbers. */
function placeSignals(
  table: SignalTable,
  config: ResolvedBacktestConfig,
  pairs: readonly PairData[],
): PlacedSignals {
  const step = TIMEFRAME_MS[config.timeframe];
  const { start, end } = tradedRange(config);
  const problems = new Problems(config.signals!);
  const rowsOf = table.pairs.map((): number[] => []);
  for (let row = 0; row < table.rows; row++) rowsOf[table.pair[row]!]!.push(row);
  for (const [index, pair] of table.pairs.entries()) {
    if (pairs.some((each) => each.pair === pair)) continue;
    for (const row of rowsOf[index]!) problems.add(`${quoted(pair)} is not in config.pairs`, row);
  }
  let outside = 0;
  const placed = pairs.map((data) => {
    const rows = rowsOf[table.pairs.indexOf(data.pair)] ?? [];
    const used = sortedRows(
      table,
      rows.filter((row) => table.timestamp[row]! >= start && table.timestamp[row]! < end),
    );
    outside += rows.length - used.length;
    checkRows(table, used, data, step, problems);
    return { ...data, given: takeRows(table, used) };
  });
  problems.throwIfAny();
  const range = `before ${isoTime(start)} or from ${isoTime(end)} on`;
  const warning = `Rows of the signals outside of the run, ${range}, were left out: ${formatInteger(outside)}`;
  return { pairs: placed, warnings: outside > 0 ? [warning] : [] };
}

/** Rows by time, those of one time in the order of the file. A file may be sorted by pair, by time or not at all. */
function sortedRows({ timestamp }: SignalTable, rows: number[]): number[] {
  const isSorted = rows.every((row, at) => at === 0 || timestamp[rows[at - 1]!]! <= timestamp[row]!);
  return isSorted ? rows : rows.sort((a, b) => timestamp[a]! - timestamp[b]! || a - b);
}

function checkRows(
  { timestamp: times }: SignalTable,
  rows: readonly number[],
  { pair, candles }: PairData,
  step: number,
  problems: Problems,
): void {
  const first = candles.timestamp[0]!;
  const last = candles.timestamp.at(-1)!;
  for (const [at, row] of rows.entries()) {
    const time = times[row]!;
    const previous = rows[at - 1];
    if ((time - first) % step !== 0)
      problems.add(`the timestamp is not the open time of a candle`, row, isoTime(time));
    else if (time < first)
      problems.add(`${pair} has no candle yet: its first opens at ${isoTime(first)}`, row);
    else if (time > last)
      problems.add(
        `the timestamp is in the future of the run: the last candle of ${pair} opens at ${isoTime(last)}`,
        row,
      );
    else if (previous !== undefined && times[previous] === time)
      problems.add(`another row has the same timestamp and pair`, row);
  }
}

function takeRows(table: SignalTable, rows: readonly number[]): GivenSignals {
  const signals: Record<string, Uint8Array> = {};
  for (const name of SIGNAL_COLUMNS) {
    const column = table.signals[name];
    if (column) signals[name] = Uint8Array.from(rows, (row) => column[row]!);
  }
  const { tags } = table.signals;
  const { stakeRatio } = table;
  return {
    timestamp: Float64Array.from(rows, (row) => table.timestamp[row]!),
    signals: { ...signals, ...(tags && { tags }) },
    ...(stakeRatio && { stakeRatio: Float64Array.from(rows, (row) => stakeRatio[row]!) }),
  };
}

/** Rows that cannot be used, by the kind of their problem. */
class Problems {
  readonly #signals: string;
  readonly #found = new Map<string, { count: number; rows: number[]; example: string | undefined }>();

  constructor(signals: string) {
    this.#signals = signals;
  }

  /** @param row index from 0 */
  add(kind: string, row: number, example?: string): void {
    const found = this.#found.get(kind) ?? { count: 0, rows: [], example };
    this.#found.set(kind, found);
    found.count++;
    if (found.rows.length < SIGNALS_LIMITS.reportedRows) found.rows.push(row + 1);
  }

  throwIfAny(): void {
    if (this.#found.size === 0) return;
    const kinds = [...this.#found].slice(0, MAX_KINDS).map(([kind, { count, rows, example }]) => {
      const numbers = rows.sort((a, b) => a - b).map(String);
      const shown = example === undefined ? '' : `, ${example}`;
      return `${kind} (row ${listNames(numbers, { shown: numbers.length, count })}${shown})`;
    });
    throw new CodedError('VAL005', {
      message: `The signals ${this.#signals} have rows that cannot be used: ${kinds.join('; ')}. Row 1 is the first after the header`,
      field: 'config.signals',
    });
  }
}

/** Kinds of problems that a message lists. */
const MAX_KINDS = 5;

/** A pair is text of a file. */
function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 60));
}
