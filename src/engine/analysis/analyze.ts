import { nearestName } from '#contract/values/nearest-name.ts';
import type { Candles } from '../candles.ts';
import { alignInformative, resampleCandles } from '../indicators/resample.ts';
import { allOf, predictedAbove, predictedBelow } from '../indicators/signals.ts';
import { ownColumn, ownColumns, ownFlags } from '../own-columns.ts';
import { MAX_REASON_LENGTH } from '../simulator/loop/return-values.ts';
import type {
  Columns,
  InformativeColumns,
  ParameterValues,
  PredictionColumns,
  Signals,
  StrategyDefinition,
} from '../strategy.ts';
import { describeThrown, reportActivity } from '../strategy-errors.ts';
import { TIMEFRAME_MS } from '../timeframe.ts';
import { giveCandles } from './candle-checks.ts';
import { firstAbove } from './flag-columns.ts';
import { type InformativeCandles, type InformativeSeries, informativeSeries } from './informative.ts';
import { KeptArrays } from './kept-arrays.ts';

/** Columns and signals of a strategy for one pair. Every column is as long as the candles. */
export interface Analysis {
  readonly columns: Columns;
  /** By timeframe, and by pair and timeframe. */
  readonly informative: Readonly<Record<string, Columns>>;
  readonly signals: Signals;
  /** What the strategy returned, where models have dropped entries of it; absent: `signals`. */
  readonly returned?: Signals;
  /** Of a strategy with callbacks: all arrays that it may have kept, those of its own candles first. */
  readonly kept?: readonly KeptArrays[];
}

/** The columns of {@link Signals}, without the tag strings. */
export const SIGNAL_COLUMNS = [
  'enterLong',
  'exitLong',
  'enterShort',
  'exitShort',
  'enterTag',
  'exitTag',
] as const;

/** A strategy cannot run on these candles, or returned something that is not one value per candle. */
export class StrategyRunError extends Error {
  override readonly name = 'StrategyRunError';
}

/** Columns of a strategy before its signals. */
export interface Computed extends Pick<Analysis, 'columns' | 'informative' | 'kept'> {
  readonly pair: string;
  readonly rows: number;
  /** The columns as the strategy gets them: of one with callbacks arrays of their own, because it may keep them. */
  readonly given?: Pick<Analysis, 'columns' | 'informative'>;
}

/** Pair of an analysis, and its informative candles. Timeframes that are not given are aggregated from the pair's candles. */
export interface AnalyzedSeries {
  readonly pair: string;
  readonly informative: readonly InformativeCandles[];
  /** Absent: every series is computed for the pair. */
  readonly shared?: SharedColumns | undefined;
  /** The candles of the pair as the strategy got them. Absent: without callbacks nothing that it keeps matters. */
  readonly kept?: KeptArrays | undefined;
}

/** Columns of informative series by their {@link InformativeCandles.origin}, of one strategy with one set of parameters. */
export type SharedColumns = Map<Candles, Columns>;

function soleSeries({ pairs }: StrategyDefinition): AnalyzedSeries {
  return { pair: pairs[0]!, informative: [] };
}

/** Predictions of the models for every candle of a pair. */
interface Predictions {
  readonly columns: PredictionColumns;
  /** Minimum probability of an entry; null for a strategy that reads the predictions itself. */
  readonly gate: number | null;
}

/**
 * Runs a strategy over the candles of one pair: indicators on its timeframe, indicators on each informative timeframe, then
 * signals. Informative columns are aligned so that a row contains closed candles only. Trains no model: prediction columns are
 * empty.
 *
 * @param candles of the strategy's timeframe, startup candles included
 * @param rows number of candles; reading a column's length would copy the column, see `giveCandles`
 * @param series default: the strategy's first pair, without informative candles
 * @throws StrategyRunError when the strategy throws, a column has the wrong type or length, or an informative timeframe is
 *   shorter than the strategy's
 */
export function analyze(
  strategy: StrategyDefinition,
  params: ParameterValues,
  candles: Candles,
  rows = candles.timestamp.length,
  series = soleSeries(strategy),
): Analysis {
  const predictions = strategy.mlEngine && { columns: noPredictions(rows), gate: null };
  const computed = computeColumns(strategy, params, candles, rows, series);
  return decide(strategy, params, candles, computed, predictions);
}

/** First half of {@link analyze}: all columns. Throws the same errors. */
export function computeColumns(
  strategy: StrategyDefinition,
  params: ParameterValues,
  candles: Candles,
  rows = candles.timestamp.length,
  { pair, informative: given, shared, kept }: AnalyzedSeries = soleSeries(strategy),
): Computed {
  const { timeframe } = strategy;
  // The strategy may change those of its candles, which would shift its informative columns.
  const timestamp = ownColumn(candles.timestamp);
  const columns = withErrorContext('indicators()', () =>
    strategy.indicators(candles, { ...params }, { pair, timeframe }),
  );
  checkColumns(strategy.name, INDICATORS, columns, rows);
  const all = kept && [kept];
  const informative: Record<string, Columns> = {};
  for (const each of informativeSeries(strategy, pair)) {
    const stored = given.find(({ key }) => key === each.key);
    const own = { stored, shared, kept: all, timestamp };
    informative[each.key] = alignedColumns(strategy, params, candles, each, own);
  }
  if (!kept) return { columns, informative, pair, rows };
  const kinds = Object.entries(informative).map(([key, aligned]) => [key, kept.keep(aligned)] as const);
  return {
    columns: kept.keep(columns),
    informative: Object.fromEntries(kinds),
    pair,
    rows,
    kept: all!,
    given: { columns, informative },
  };
}

/** Second half of {@link analyze}: signals, with predictions if given. Throws the same errors. */
export function decide(
  strategy: StrategyDefinition,
  params: ParameterValues,
  candles: Candles,
  { columns, informative, pair, rows, kept, given = { columns, informative } }: Computed,
  predictions?: Predictions,
): Analysis {
  const { timeframe } = strategy;
  // Copies: the report measures the predictions after the strategy has had them.
  const shown = predictions && ownColumns({ ...predictions.columns });
  const read: Columns = shown ? { ...given.columns, ...shown } : given.columns;
  const returned = withErrorContext('signals()', () =>
    strategy.signals(candles, read, { ...params }, given.informative as InformativeColumns, {
      pair,
      timeframe,
    }),
  );
  const signals = ownSignals(strategy.name, returned, rows);
  if (!predictions) return { columns, informative, signals, ...(kept && { kept }) };
  const gated = gateEntries(signals, predictions);
  const { columns: predicted } = predictions;
  const decided = { informative, signals: gated, ...(gated !== signals && { returned: signals }) };
  if (!kept) return { columns: { ...columns, ...predicted }, ...decided };
  const own = new KeptArrays(kept[0]!.timestamp.subarray(0, rows), kept[0]!.stepMs);
  return {
    columns: { ...columns, ...own.keep(shown!) },
    ...decided,
    kept: [...kept, own],
  };
}

/** Runs code of a strategy; its errors name the part, `what`. */
export function withErrorContext<T>(what: string, action: () => T): T {
  reportActivity(what.replace('()', ''));
  try {
    return action();
  } catch (error) {
    throw new StrategyRunError(`${what} threw: ${describeThrown(error)}`, { cause: error });
  }
}

function alignedColumns(
  strategy: StrategyDefinition,
  params: ParameterValues,
  candles: Candles,
  series: InformativeSeries,
  {
    stored: given,
    shared,
    kept,
    timestamp,
  }: {
    stored: InformativeCandles | undefined;
    shared: SharedColumns | undefined;
    kept: KeptArrays[] | undefined;
    /** That of the candles, which the strategy does not have. */
    timestamp: Float64Array;
  },
): Columns {
  const { key, pair, timeframe: higher } = series;
  const baseMs = TIMEFRAME_MS[strategy.timeframe];
  const higherMs = TIMEFRAME_MS[higher];
  if (higherMs < baseMs) {
    throw new StrategyRunError(
      `Strategy ${strategy.name} reads ${higher} candles and cannot run on ${strategy.timeframe}: use ${higher} or shorter.`,
    );
  }
  if (!given && key !== higher) {
    throw new StrategyRunError(
      `Strategy ${strategy.name} reads ${higher} candles of ${pair}, which are not given.`,
    );
  }
  const read = given?.candles ?? resampleCandles(candles, baseMs, higherMs);
  const known = given?.origin && shared?.get(given.origin);
  // Candles of the same timeframe are those of the pair, which are among the kept ones already.
  const own = kept && !known && read !== candles ? new KeptArrays(read.timestamp, higherMs) : undefined;
  if (own) kept!.push(own);
  const opened = ownColumn(read.timestamp);
  const reading = { candles: read, isGiven: given !== undefined, kept: own };
  const columns = known ?? informativeColumns(strategy, params, series, reading);
  if (given?.origin) shared?.set(given.origin, columns);
  const aligned: Record<string, Float64Array> = {};
  for (const [name, column] of Object.entries(columns)) {
    aligned[name] = alignInformative(timestamp, baseMs, opened, higherMs, column);
  }
  return aligned;
}

/** Candles of an informative series, as `indicators()` gets them. */
interface InformativeReading {
  readonly candles: Candles;
  /** False: made of the pair's own candles. */
  readonly isGiven: boolean;
  readonly kept: KeptArrays | undefined;
}

function informativeColumns(
  strategy: StrategyDefinition,
  params: ParameterValues,
  { key, pair, timeframe }: InformativeSeries,
  { candles, isGiven, kept }: InformativeReading,
): Columns {
  const rows = candles.timestamp.length;
  // Given candles are shared by pairs and runs: the strategy must not write into them.
  const watched = kept?.lend(candles) ?? (isGiven ? giveCandles(candles) : undefined);
  const columns = withErrorContext(`indicators() on ${key}`, () =>
    strategy.indicators(watched?.candles ?? candles, { ...params }, { pair, timeframe }),
  );
  if (watched?.changed()) {
    throw new StrategyRunError(
      `indicators() on ${key} wrote into its candles; write into columns of its own`,
    );
  }
  checkColumns(`${strategy.name} on ${key}`, INDICATORS, columns, rows);
  kept?.keep(columns);
  return columns;
}

const INDICATORS = { from: 'indicators()', column: 'indicator column' } as const;

/**
 * @param source function that returned the columns, and the name of such a column
 * @throws StrategyRunError unless `columns` is an object of Float64Arrays of `length` values. Reports and findings have their names
 */
export function checkColumns(
  strategy: string,
  source: { readonly from: string; readonly column: string },
  columns: Columns,
  length: number,
): void {
  if (typeof columns !== 'object' || columns === null) {
    throw new StrategyRunError(`Strategy ${strategy}: ${source.from} must return an object of columns.`);
  }
  for (const [name, column] of Object.entries(columns)) {
    if (name.length > MAX_REASON_LENGTH) {
      throw new StrategyRunError(
        `Strategy ${strategy}: the name of ${source.column} "${name.slice(0, 20)}…" has ${name.length} characters: use at most ${MAX_REASON_LENGTH}.`,
      );
    }
    if (!ArrayBuffer.isView(column) || !(column instanceof Float64Array) || column.length !== length) {
      throw new StrategyRunError(
        `Strategy ${strategy}: ${source.column} "${name}" must be a Float64Array of ${length} values.`,
      );
    }
  }
}

/**
 * Signals that the strategy cannot change: copies of what it returned, which are checked. Each of its properties is read once, because
 * a getter or a proxy may answer differently each time.
 */
function ownSignals(strategy: string, returned: Signals, length: number): Signals {
  if (typeof returned !== 'object' || returned === null) {
    throw new StrategyRunError(`Strategy ${strategy}: signals() must return an object of columns.`);
  }
  const { tags: given, ...columns } = returned;
  const tags = given === undefined || given === null ? undefined : ownTags(strategy, given);
  // One column may serve both sides: the exit of one is often the entry of the other.
  const checked = new Map<Uint8Array, Uint8Array>();
  const own: Record<string, Uint8Array> = {};
  for (const [name, column] of Object.entries(columns)) {
    if (column === undefined) continue;
    if (!SIGNAL_COLUMNS.some((known) => known === name)) throw unknownSignal(strategy, name);
    const isTag = name === 'enterTag' || name === 'exitTag';
    const before = isTag ? undefined : checked.get(column);
    const copy = before ?? ownFlags(column);
    if (copy?.length !== length) {
      throw new StrategyRunError(
        `Strategy ${strategy}: signal column "${name}" must be a Uint8Array of ${length} values.`,
      );
    }
    own[name] = copy;
    if (before) continue;
    checkValues(strategy, name, copy, isTag, tags);
    if (!isTag) checked.set(column, copy);
  }
  return { ...own, ...(tags && { tags }) };
}

function unknownSignal(strategy: string, name: string): StrategyRunError {
  const nearest = nearestName(name, SIGNAL_COLUMNS);
  return new StrategyRunError(
    `Strategy ${strategy}: signals() returned "${name}", which is not a signal` +
      `${nearest ? `; did you mean ${nearest}?` : `: there are ${SIGNAL_COLUMNS.join(', ')} and tags.`}`,
  );
}

/** Copies the tag strings, which trades store. Index 0 means "no tag" and is not read. */
function ownTags(strategy: string, tags: readonly unknown[]): readonly string[] {
  if (!Array.isArray(tags))
    throw new StrategyRunError(`Strategy ${strategy}: tags must be an array of strings.`);
  const { length } = tags as readonly unknown[];
  const own: string[] = length > 0 ? [''] : [];
  for (let index = 1; index < length; index++) {
    const tag: unknown = tags[index];
    if (typeof tag !== 'string' || tag.length > MAX_REASON_LENGTH) {
      throw new StrategyRunError(
        `Strategy ${strategy}: tags[${index}] must be a string of at most ${MAX_REASON_LENGTH} characters.`,
      );
    }
    own.push(tag);
  }
  return own;
}

/** A signal is 0 or 1, a tag the index of its string. The simulator would silently ignore other values. */
function checkValues(
  strategy: string,
  name: string,
  column: Uint8Array,
  isTag: boolean,
  tags: Signals['tags'],
): void {
  const max = isTag ? Math.max(0, (tags?.length ?? 0) - 1) : 1;
  const row = firstAbove(column, max);
  if (row === column.length) return;
  throw new StrategyRunError(
    `Strategy ${strategy}: signal column "${name}" holds ${column[row]} in row ${row}: ` +
      (isTag ? `tags has ${tags?.length ?? 0} strings.` : 'a signal is 0 or 1.'),
  );
}

/** Prediction columns without a prediction. */
export function noPredictions(rows: number): PredictionColumns {
  return { ml_probability: new Float64Array(rows).fill(Number.NaN), do_predict: new Float64Array(rows) };
}

/**
 * Keeps the entries that a model supports: a long at a probability of at least the gate, a short at 1 - gate or below. Removes
 * entries on rows without a prediction. Exits are unchanged; without a gate entries are too.
 */
function gateEntries(
  signals: Signals,
  { columns, gate }: { readonly columns: PredictionColumns; readonly gate: number | null },
): Signals {
  if (gate === null) return signals;
  const { enterLong, enterShort } = signals;
  return {
    ...signals,
    ...(enterLong && { enterLong: allOf(enterLong, predictedAbove(columns, gate)) }),
    ...(enterShort && { enterShort: allOf(enterShort, predictedBelow(columns, 1 - gate)) }),
  };
}
