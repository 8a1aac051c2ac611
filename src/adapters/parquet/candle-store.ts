import type { Calendar } from '#contract/values/calendars.ts';
import { MINUTE_MS } from '#contract/values/durations.ts';
import { CodedError } from '#contract/values/errors.ts';
import { monthBounds } from '#domain/data/calendar-months.ts';
import type { CopyOutcome, SeriesKeeper, SymbolKey, UndoneImport } from '#domain/data/series-ports.ts';
import {
  type CandleStore,
  type Clock,
  type KeptImport,
  type ObjectStore,
  type OnCorrupt,
  type SeriesInfo,
  type SeriesKey,
  type SeriesMonth,
  type SeriesOrigin,
  SeriesReplacedError,
  type SeriesState,
  type SeriesStates,
  type SeriesStore,
} from '#domain/ports.ts';
import { CANDLE_COLUMNS, type Candles, indexAtOrAfter } from '#engine/candles.ts';
import type { FundingEvents } from '#engine/simulator/types.ts';
import { floorToGrid, TIMEFRAME_MS } from '#engine/timeframe.ts';
import { KeyedLock } from '../keyed-lock.ts';
import { changesAt, daysOf, describeMonth, mergeChanges, summarizeMonths } from '../series-months.ts';
import { candlesPrefix, exchangeOfFolder, fundingPrefix, monthOf, replacedPrefix } from './keys.ts';
import {
  type BeforeReplace,
  keepRows,
  type MergedMonth,
  MonthFiles,
  mergeRows,
  type Rows,
  restoreRows,
} from './month-files.ts';

/** Usual interval between funding events. */
const FUNDING_MS = 8 * 3_600_000;

export interface CandleStoreDeps {
  readonly objects: ObjectStore;
  readonly series: SeriesStore & SeriesStates;
  readonly clock: Clock;
}

/** A write begins again when the series was deleted, renamed or undone meanwhile. */
const WRITE_ATTEMPTS = 5;

/** Reads candles and funding events from monthly Parquet files. */
export class ParquetCandleReader implements Pick<CandleStore, 'read' | 'readFunding'> {
  protected readonly candles: MonthFiles;
  protected readonly funding: MonthFiles;
  readonly #series: Pick<SeriesStore, 'months'>;

  constructor(objects: ObjectStore, series: Pick<SeriesStore, 'months'>) {
    this.candles = new MonthFiles(objects, CANDLE_COLUMNS);
    this.funding = new MonthFiles(objects, ['timestamp', 'rate', 'mark_price']);
    this.#series = series;
  }

  async read(
    series: SeriesKey,
    start: number,
    end: number,
    onCorrupt?: OnCorrupt,
    months?: readonly SeriesMonth[],
  ): Promise<Candles> {
    const step = TIMEFRAME_MS[series.timeframe];
    // Read before the files: a month is recorded after its file was written, so each recorded month had a file.
    const recorded = (months ?? (await this.#series.months(series)))
      .filter(({ count, first, last }) => count > 0 && first < end && last >= start)
      .map(({ month }) => month);
    const checks = { onCorrupt, recorded };
    const rows = await this.candles.read(candlesPrefix(series), { start, end }, step, checks);
    const [timestamp, open, high, low, close, volume] = rows as [...Float64Array[]] & { length: 6 };
    return { timestamp: timestamp!, open: open!, high: high!, low: low!, close: close!, volume: volume! };
  }

  async readFunding(
    exchange: string,
    symbol: string,
    start: number,
    end: number,
    onCorrupt?: OnCorrupt,
  ): Promise<FundingEvents> {
    const prefix = fundingPrefix(exchange, symbol);
    const range = { start, end: end + 1 };
    const rows = await this.funding.read(prefix, range, FUNDING_MS, { onCorrupt });
    const [timestamp, rate, markPrice] = rows;
    return { timestamp: timestamp!, rate: rate!, markPrice: markPrice! };
  }
}

/**
 * Candles and funding events as monthly Parquet files, and their summaries in the series store. A month's file is
 * replaced only if it is unchanged since the merge, so concurrent writers lose no candles. Within this process, writers
 * of one series wait for each other instead of retrying. After a crash between file and series, the series is
 * understated until its candles are written again.
 *
 * A change that removes candles is recorded in the series (`pending`, with a new `generation`) before its first file, and ends with
 * another record. Whoever writes or changes the series next finishes it first. Each step looks whether the change is still pending, so a
 * process that was suspended does not repeat what another has finished.
 */
export class ParquetCandleStore extends ParquetCandleReader implements CandleStore, SeriesKeeper {
  readonly #objects: ObjectStore;
  readonly #series: SeriesStore & SeriesStates;
  readonly #clock: Clock;
  readonly #writers = new KeyedLock();
  /** Rows that imports replaced, see {@link MergedMonth.lost}. */
  readonly #replaced: MonthFiles;

  constructor({ objects, series, clock }: CandleStoreDeps) {
    super(objects, series);
    this.#objects = objects;
    this.#series = series;
    this.#clock = clock;
    this.#replaced = new MonthFiles(objects, CANDLE_COLUMNS);
  }

  /**
   * A candle replaces the stored one of its place on the grid: it may open later than that, as stocks do.
   *
   * @throws RangeError for candles that are not ascending, have a place on the grid in common or are not finite
   */
  async write(series: SeriesKey, candles: Candles): Promise<SeriesInfo> {
    return this.#write(series, candles, undefined);
  }

  async import(
    series: SeriesKey,
    candles: Candles,
    importId: string,
    calendar?: Calendar,
  ): Promise<SeriesInfo> {
    return this.#write(series, candles, importId, { imported: true, ...(calendar && { calendar }) });
  }

  async #write(
    series: SeriesKey,
    candles: Candles,
    importId: string | undefined,
    origin?: SeriesOrigin,
  ): Promise<SeriesInfo> {
    const step = TIMEFRAME_MS[series.timeframe];
    const rows = CANDLE_COLUMNS.map((name) => candles[name]);
    checkRows(rows, step);
    const prefix = candlesPrefix(series);
    return this.#writers.run(prefix, async () => {
      for (let attempt = 0; attempt < WRITE_ATTEMPTS; attempt++) {
        const { generation = 0 } = await this.#settled(series);
        const keep = importId === undefined ? undefined : await this.#keep(series, rows[0]!, importId);
        const merged = await this.candles.merge(prefix, rows, keep, step);
        try {
          const months = merged.map((month) => this.#describe(month, step));
          return await this.#series.record(series, months, this.#now(), generation, origin);
        } catch (error) {
          if (!(error instanceof SeriesReplacedError)) throw error;
        }
      }
      throw replacedMeanwhile(series);
    });
  }

  #describe({ month, times, lost }: MergedMonth, step: number): SeriesMonth {
    const described = describeMonth(month, times, step);
    const [changed, opens] = [lost[0]!, lost[1]!];
    if (changed.length === 0) return described;
    const replaced = opens.every(Number.isNaN)
      ? opens.subarray(0, 0)
      : changed.filter((_, row) => !Number.isNaN(opens[row]));
    const revisions = [
      ...[...daysOf(changed)].map((day) => [day, false] as const),
      ...[...daysOf(replaced)].map((day) => [day, true] as const),
    ];
    return { ...described, changes: changesAt(this.#clock.now(), revisions) };
  }

  /**
   * Keeps what an import replaces. The months that it begins are recorded before they are written. Replaced rows are stored before the
   * file that replaces them; what the import before replaced is then deleted.
   */
  async #keep(series: SeriesKey, times: Float64Array, id: string): Promise<BeforeReplace> {
    const stored = await this.candles.months(candlesPrefix(series));
    const created = extentsOf(times).filter(({ month }) => !stored.includes(month));
    let begun = false;
    const begin = async () => {
      if (begun) return;
      begun = true;
      const at = this.#now();
      await this.#series.change(series, at, (state) => {
        const { imported, calendar } = state;
        const begun = { id, at, created: [], before: { imported, calendar } };
        const known = state.kept_import?.id === id ? state.kept_import : begun;
        return { ...state, kept_import: { ...known, created: [...known.created, ...created] } };
      });
      await this.#forget(series, id);
    };
    if (created.length > 0) await begin();
    return async (month, lost) => {
      await begin();
      // A row that the import replaces again was its own.
      await this.#replaced.rewrite(importPrefix(series, id), month, (rows) => mergeRows(lost, rows) ?? lost);
    };
  }

  async undoImport(series: SeriesKey): Promise<UndoneImport | undefined> {
    return this.#writers.run(candlesPrefix(series), async () => {
      const before = await this.#series.state(series);
      const isBegun = before.pending === 'undo';
      const { kept_import: kept } = isBegun ? before : await this.#settled(series);
      if (!kept) return undefined;
      if (!isBegun) {
        const prefix = importPrefix(series, kept.id);
        for (const month of await this.#replaced.months(prefix))
          await this.#replaced.readMonth(prefix, month);
        await this.#begin(series, 'undo', (state) => state.kept_import?.id === kept.id && state);
      }
      const { months, complete_from, imported, calendar } = await this.#settled(series);
      const summary =
        months.length > 0 && summarizeMonths(series, months, this.#now(), { imported, calendar });
      return {
        import: kept,
        info: summary ? { ...summary, ...(complete_from && { complete_from }) } : undefined,
      };
    });
  }

  async remove(series: SeriesKey): Promise<boolean> {
    return this.#writers.run(candlesPrefix(series), async () => {
      const { pending } = await this.#series.state(series);
      const begun = await this.#begin(series, 'delete', ({ months, kept_import }) =>
        months.length > 0 || kept_import ? { months: [] } : undefined,
      );
      await this.#settled(series);
      return begun || pending === 'delete';
    });
  }

  async copy(from: SeriesKey, to: SeriesKey, { move }: { readonly move: boolean }): Promise<CopyOutcome> {
    const [source, target] = [candlesPrefix(from), candlesPrefix(to)];
    if (source === target) return 'exists';
    const [first, second] = source < target ? [source, target] : [target, source];
    return this.#writers.run(first, () => this.#writers.run(second, () => this.#copy(from, to, move)));
  }

  async #copy(from: SeriesKey, to: SeriesKey, move: boolean): Promise<CopyOutcome> {
    const { pending } = await this.#series.state(from);
    for (let attempt = 0; attempt < WRITE_ATTEMPTS; attempt++) {
      const state = await this.#settled(from);
      if (state.months.length === 0) {
        // A move that died after its transaction is now finished.
        const isMoved = move && pending === 'delete' && (await this.#series.state(to)).months.length > 0;
        return isMoved ? 'done' : 'absent';
      }
      if ((await this.#settled(to)).months.length > 0) return 'exists';
      // Files without a record are of a write that died.
      await this.#begin(to, 'copy', ({ months }) => (months.length === 0 ? { months } : undefined));
      const begun = await this.#series.state(to);
      if (begun.pending !== 'copy') continue;
      await this.#removeFiles(to, begun);
      if (!(await this.#copyFiles(from, to, begun))) continue;
      const isSame = (now: SeriesState) => JSON.stringify(now) === JSON.stringify(state);
      const done = await this.#series.changeBoth([from, to], this.#now(), ([source, target]) => {
        if (!isSame(source) || !isPending(target, begun)) return undefined;
        const { months, complete_from, imported, calendar } = source;
        const generation = (source.generation ?? 0) + 1;
        return [
          move ? { months: [], generation, pending: 'delete' } : source,
          { months, complete_from, imported, calendar, generation: target.generation },
        ];
      });
      if (!done) continue;
      if (move) await this.#settled(from);
      return 'done';
    }
    throw replacedMeanwhile(from);
  }

  /** False when another process wrote the target. */
  async #copyFiles(from: SeriesKey, to: SeriesKey, begun: SeriesState): Promise<boolean> {
    const [source, target] = [candlesPrefix(from), candlesPrefix(to)];
    for (const month of await this.candles.months(source)) {
      if (!isPending(await this.#series.state(to), begun)) return false;
      if (!(await this.candles.copy(source, target, month))) return false;
    }
    return true;
  }

  /** Records that a change has begun. False, and nothing recorded, when `change` returns nothing. */
  async #begin(
    series: SeriesKey,
    pending: NonNullable<SeriesState['pending']>,
    change: (state: SeriesState) => SeriesState | false | undefined,
  ): Promise<boolean> {
    const begun = await this.#series.change(series, this.#now(), (state) => {
      const changed = !state.pending && change(state);
      return changed ? { ...changed, pending, generation: (state.generation ?? 0) + 1 } : undefined;
    });
    return begun !== undefined;
  }

  /** The state of a series, after a change that has begun was finished. A copy to it is undone. */
  async #settled(series: SeriesKey): Promise<SeriesState> {
    for (let attempt = 0; attempt < WRITE_ATTEMPTS; attempt++) {
      const state = await this.#series.state(series);
      if (!state.pending) return state;
      try {
        if (state.pending === 'undo') await this.#finishUndo(series, state);
        else await this.#finishRemoval(series, state);
      } catch (error) {
        // Another process has finished it.
        if (!(error instanceof SeriesReplacedError)) throw error;
      }
    }
    throw replacedMeanwhile(series);
  }

  async #finishRemoval(series: SeriesKey, begun: SeriesState): Promise<void> {
    await this.#removeFiles(series, begun);
    await this.#forget(series, undefined);
    await this.#series.change(series, this.#now(), (state) =>
      isPending(state, begun) ? { months: [], generation: begun.generation } : undefined,
    );
  }

  /** Deletes the files of a series. */
  async #removeFiles(series: SeriesKey, begun: SeriesState): Promise<void> {
    const prefix = candlesPrefix(series);
    for (const month of await this.candles.months(prefix)) {
      await this.#checkPending(series, begun);
      await this.candles.rewrite(prefix, month, noRows);
    }
  }

  async #finishUndo(series: SeriesKey, begun: SeriesState): Promise<void> {
    const { id, created, before: stated = begun } = begun.kept_import!;
    const step = TIMEFRAME_MS[series.timeframe];
    const prefix = importPrefix(series, id);
    const touched = new Set([...(await this.#replaced.months(prefix)), ...created.map(({ month }) => month)]);
    const undone = new Map<string, SeriesMonth | undefined>();
    for (const month of touched) {
      await this.#checkPending(series, begun);
      // It was readable when the undo began.
      const lost = await this.#replaced.readMonth(prefix, month);
      const imported = created.filter((each) => each.month === month);
      let before: Rows = [];
      const times = await this.candles.rewrite(candlesPrefix(series), month, (rows) => {
        before = rows;
        const restored = lost ? restoreRows(rows, lost) : rows;
        const isImported = (time: number) =>
          imported.some(({ first, last }) => first <= time && time <= last);
        return imported.length > 0 ? keepRows(restored, (row) => !isImported(restored[0]![row]!)) : restored;
      });
      const known = begun.months.find((each) => each.month === month);
      const changed = changesAt(
        this.#clock.now(),
        [...daysOf(lost?.[0] ?? before[0]!)].map((day) => [day, true] as const),
      );
      const changes = mergeChanges(known?.changes, changed);
      undone.set(month, times.length > 0 ? { ...describeMonth(month, times, step), changes } : undefined);
    }
    await this.#series.change(series, this.#now(), (state) => {
      if (!isPending(state, begun)) throw new SeriesReplacedError();
      const kept = state.months.filter(({ month }) => !undone.has(month));
      const months = [...kept, ...[...undone.values()].filter((month) => month !== undefined)];
      months.sort((a, b) => (a.month < b.month ? -1 : 1));
      const isSameStart = months[0]?.first === state.months[0]?.first;
      const { imported, calendar } = stated;
      return {
        months,
        generation: (state.generation ?? 0) + 1,
        ...(months.length > 0 && { imported, calendar }),
        // It says that nothing is missing before the first candle.
        ...(isSameStart && { complete_from: state.complete_from }),
      };
    });
    await this.#forget(series, undefined);
  }

  /** Deletes what the imports of a series replaced, except of one. */
  async #forget(series: SeriesKey, id: string | undefined): Promise<void> {
    const prefix = `${replacedPrefix(series)}/`;
    for await (const key of this.#objects.list(prefix)) {
      if (id === undefined || !key.startsWith(`${prefix}${id}/`)) await this.#objects.delete(key);
    }
  }

  /** @throws SeriesReplacedError when another process has finished the change */
  async #checkPending(series: SeriesKey, begun: SeriesState): Promise<void> {
    if (!isPending(await this.#series.state(series), begun)) throw new SeriesReplacedError();
  }

  async exchanges(): Promise<readonly string[]> {
    const folders = await this.#objects.folders('candles/');
    return folders.map(exchangeOfFolder).filter((name) => name !== undefined);
  }

  /** @throws RangeError for events that are not ascending or not finite */
  async writeFunding(exchange: string, symbol: string, events: FundingEvents): Promise<void> {
    const rows = [events.timestamp, events.rate, events.markPrice];
    checkRows(rows, 1);
    const prefix = fundingPrefix(exchange, symbol);
    await this.#writers.run(prefix, () => this.funding.merge(prefix, rows));
  }

  async hasFunding(exchange: string, symbol: string): Promise<boolean> {
    return (await this.funding.months(fundingPrefix(exchange, symbol))).length > 0;
  }

  async removeFunding(exchange: string, symbol: string): Promise<void> {
    const prefix = fundingPrefix(exchange, symbol);
    await this.#writers.run(prefix, async () => {
      for (const month of await this.funding.months(prefix))
        await this.funding.rewrite(prefix, month, noRows);
    });
  }

  async copyFunding(from: SymbolKey, to: SymbolKey): Promise<boolean> {
    const [source, target] = [from, to].map(({ exchange, symbol }) => fundingPrefix(exchange, symbol));
    const months = await this.funding.months(source!);
    const rowsOf = async (prefix: string, month: string) => (await this.funding.readMonth(prefix, month))!;
    const stored = await this.funding.months(target!);
    for (const month of months.filter((each) => stored.includes(each))) {
      if (differ(await rowsOf(source!, month), await rowsOf(target!, month))) return false;
    }
    await this.#writers.run(target!, async () => {
      for (const month of months) await this.funding.merge(target!, await rowsOf(source!, month));
    });
    return true;
  }

  #now(): string {
    return new Date(this.#clock.now()).toISOString();
  }
}

const noRows = (rows: Rows): Rows => keepRows(rows, () => false);

function importPrefix(series: SeriesKey, id: string): string {
  return `${replacedPrefix(series)}/${id}`;
}

/** True while the change that a state has begun is not finished. */
function isPending(state: SeriesState, begun: SeriesState): boolean {
  return (
    state.pending !== undefined && state.pending === begun.pending && state.generation === begun.generation
  );
}

function replacedMeanwhile({ symbol, timeframe }: SeriesKey): CodedError {
  return new CodedError('DATA005', {
    message: `${symbol} ${timeframe} was changed by others during ${WRITE_ATTEMPTS} attempts. Retry the request.`,
  });
}

/** First and last of ascending times in each month. */
function extentsOf(times: Float64Array): KeptImport['created'][number][] {
  const extents: KeptImport['created'][number][] = [];
  for (let from = 0; from < times.length; ) {
    const month = monthOf(times[from]!);
    const to = indexAtOrAfter(times, monthBounds(month).end);
    extents.push({ month, first: times[from]!, last: times[to - 1]! });
    from = to;
  }
  return extents;
}

/** True when rows of one time have other values. */
function differ(rows: Rows, others: Rows): boolean {
  const known = new Map([...others[0]!].map((time, row) => [time, row]));
  return rows[0]!.some((time, row) => {
    const other = known.get(time);
    return other !== undefined && rows.some((column, index) => column[row] !== others[index]![other]);
  });
}

function checkRows(rows: Rows, stepMs: number): void {
  const times = rows[0]!;
  if (rows.some((column) => column.length !== times.length)) throw new RangeError('Columns differ in length');
  let before = Number.NEGATIVE_INFINITY;
  for (let row = 0, { length } = times; row < length; row++) {
    const time = times[row]!;
    // Most candles follow each other: a division a row would take most of the time.
    if (stepMs > 1 && time - before !== stepMs && time % MINUTE_MS !== 0)
      throw new RangeError(`Row ${row}: ${time} is not on a minute`);
    if (time <= before) throw new RangeError(`Row ${row}: times do not ascend`);
    if (time - before < stepMs && floorToGrid(time, stepMs) === floorToGrid(before, stepMs))
      throw new RangeError(`Row ${row}: the candle before is in the same ${stepMs} ms`);
    before = time;
  }
  for (const column of rows) {
    // A call for each value would make an object of it.
    for (let row = 0, { length } = column; row < length; row++)
      if (!Number.isFinite(column[row])) throw new RangeError(`Row ${row}: not finite`);
  }
}
