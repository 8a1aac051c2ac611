import type { Candles } from '../candles.ts';
import { firstAbove } from '../digest.ts';
import { resampleCandles } from '../indicators/resample.ts';
import { allOf, predictedAbove, predictedBelow } from '../indicators/signals.ts';
import { nearestName } from '../nearest-name.ts';
import { describeThrown, enter } from '../run/strategy-errors.ts';
import { MAX_REASON_LENGTH } from '../simulator/loop/return-values.ts';
import type {
  Columns,
  InformativeColumns,
  ParameterValues,
  PredictionColumns,
  Signals,
  StrategyDefinition,
} from '../strategy.ts';
import { TIMEFRAME_MS, type Timeframe } from '../timeframe.ts';

/** What a strategy computes for one pair. Every column is as long as the candles. */
export interface Analysis {
  readonly columns: Columns;
  readonly informative: InformativeColumns;
  readonly signals: Signals;
}

/** The columns of {@link Signals}, without the tag texts. */
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

/** What a strategy computes before it decides. */
export interface Computed extends Pick<Analysis, 'columns' | 'informative'> {
  readonly rows: number;
}

/** What models predict for every candle of a pair. */
interface Predictions {
  readonly columns: PredictionColumns;
  /** Probability that entries need; null for a strategy that reads the predictions itself. */
  readonly gate: number | null;
}

/**
 * Runs a strategy over the candles of one pair: indicators on its timeframe, indicators on each informative timeframe
 * (aggregated from the same candles and aligned so that a row holds closed candles only), then signals. It trains nothing:
 * a strategy that reads predictions finds none.
 *
 * @param candles of the strategy's timeframe, startup candles included
 * @param rows their number, for candles of which each column that is reached for is told
 * @throws StrategyRunError when the strategy throws, a column has the wrong type or length, or an informative timeframe is shorter than
 *   the strategy's
 */
export function analyze(
  strategy: StrategyDefinition,
  params: ParameterValues,
  candles: Candles,
  rows = candles.timestamp.length,
): Analysis {
  const nothing = strategy.mlEngine && { columns: noPredictions(rows), gate: null };
  return decide(strategy, params, candles, computeColumns(strategy, params, candles, rows), nothing);
}

/** The first half of {@link analyze}: all columns. Errors as there. */
export function computeColumns(
  strategy: StrategyDefinition,
  params: ParameterValues,
  candles: Candles,
  rows = candles.timestamp.length,
): Computed {
  const columns = withErrorContext('indicators()', () => strategy.indicators(candles, params));
  checkColumns(strategy.name, INDICATORS, columns, rows);
  const informative: Partial<Record<Timeframe, Columns>> = {};
  for (const higher of strategy.informativeTimeframes ?? []) {
    informative[higher] = informativeColumns(strategy, params, candles, higher);
  }
  return { columns, informative, rows };
}

/** The second half of {@link analyze}: signals, from what models predict too. Errors as there. */
export function decide(
  strategy: StrategyDefinition,
  params: ParameterValues,
  candles: Candles,
  { columns: computed, informative, rows }: Computed,
  predictions?: Predictions,
): Analysis {
  const columns: Columns = predictions ? { ...computed, ...predictions.columns } : computed;
  const signals = withErrorContext('signals()', () =>
    strategy.signals(candles, columns, params, informative),
  );
  checkSignals(strategy.name, signals, rows);
  return { columns, informative, signals: predictions ? gateEntries(signals, predictions) : signals };
}

/** Runs code of a strategy; an error that it throws names the part, `what`. */
export function withErrorContext<T>(what: string, action: () => T): T {
  enter(what.replace('()', ''));
  try {
    return action();
  } catch (error) {
    throw new StrategyRunError(`${what} threw: ${describeThrown(error)}`, { cause: error });
  }
}

function informativeColumns(
  strategy: StrategyDefinition,
  params: ParameterValues,
  candles: Candles,
  higher: Timeframe,
): Columns {
  const baseMs = TIMEFRAME_MS[strategy.timeframe];
  const higherMs = TIMEFRAME_MS[higher];
  if (higherMs < baseMs) {
    throw new StrategyRunError(
      `Strategy ${strategy.name} reads ${higher} candles and cannot run on ${strategy.timeframe}: use ${higher} or shorter.`,
    );
  }
  const resampled = resampleCandles(candles, baseMs, higherMs);
  const columns = withErrorContext(`indicators() on ${higher}`, () => strategy.indicators(resampled, params));
  checkColumns(`${strategy.name} on ${higher}`, INDICATORS, columns, resampled.timestamp.length);
  const aligned: Record<string, Float64Array> = {};
  for (const [name, column] of Object.entries(columns)) {
    aligned[name] = alignInformative(candles.timestamp, baseMs, resampled.timestamp, higherMs, column);
  }
  return aligned;
}

const INDICATORS = { from: 'indicators()', column: 'indicator column' } as const;

/**
 * @param answer which function answered, and what its columns are called
 * @throws StrategyRunError unless they are an object of Float64Arrays of `length` values
 */
export function checkColumns(
  strategy: string,
  answer: { readonly from: string; readonly column: string },
  columns: Columns,
  length: number,
): void {
  if (typeof columns !== 'object' || columns === null) {
    throw new StrategyRunError(`Strategy ${strategy}: ${answer.from} must answer an object of columns.`);
  }
  for (const [name, column] of Object.entries(columns)) {
    if (!(column instanceof Float64Array) || column.length !== length) {
      throw new StrategyRunError(
        `Strategy ${strategy}: ${answer.column} "${name}" must be a Float64Array of ${length} values.`,
      );
    }
  }
}

function checkSignals(strategy: string, signals: Signals, length: number): void {
  if (typeof signals !== 'object' || signals === null) {
    throw new StrategyRunError(`Strategy ${strategy}: signals() must answer an object of columns.`);
  }
  checkTags(strategy, signals.tags ?? []);
  const checked = new Set<Uint8Array>();
  for (const [name, column] of Object.entries(signals)) {
    if (name === 'tags' || column === undefined) continue;
    if (!SIGNAL_COLUMNS.some((known) => known === name)) throw unknownSignal(strategy, name);
    if (!(column instanceof Uint8Array) || column.length !== length) {
      throw new StrategyRunError(
        `Strategy ${strategy}: signal column "${name}" must be a Uint8Array of ${length} values.`,
      );
    }
    const isTag = name === 'enterTag' || name === 'exitTag';
    // What closes one side often opens the other: one column for both.
    if (!isTag && checked.has(column)) continue;
    checkValues(strategy, name, column, isTag, signals.tags);
    if (!isTag) checked.add(column);
  }
}

function unknownSignal(strategy: string, name: string): StrategyRunError {
  const nearest = nearestName(name, SIGNAL_COLUMNS);
  return new StrategyRunError(
    `Strategy ${strategy}: signals() answered "${name}", which is not a signal` +
      `${nearest ? `; did you mean ${nearest}?` : `: there are ${SIGNAL_COLUMNS.join(', ')} and tags.`}`,
  );
}

/** Texts that trades can carry. The first one stands for none and is never read. */
function checkTags(strategy: string, tags: readonly unknown[]): void {
  if (!Array.isArray(tags))
    throw new StrategyRunError(`Strategy ${strategy}: tags must be an array of texts.`);
  for (let place = 1, { length } = tags; place < length; place++) {
    const tag: unknown = tags[place];
    if (typeof tag === 'string' && tag.length <= MAX_REASON_LENGTH) continue;
    throw new StrategyRunError(
      `Strategy ${strategy}: tags[${place}] must be a text of at most ${MAX_REASON_LENGTH} characters.`,
    );
  }
}

/** A signal is 0 or 1, a tag the place of its text: anything else would be passed over in silence. */
function checkValues(
  strategy: string,
  name: string,
  column: Uint8Array,
  isTag: boolean,
  tags: Signals['tags'],
): void {
  const most = isTag ? Math.max(0, (tags?.length ?? 0) - 1) : 1;
  const row = firstAbove(column, most);
  if (row === column.length) return;
  throw new StrategyRunError(
    `Strategy ${strategy}: signal column "${name}" holds ${column[row]} in row ${row}: ` +
      (isTag ? `tags has ${tags?.length ?? 0} texts.` : 'a signal is 0 or 1.'),
  );
}

/** Prediction columns in which nothing is predicted yet. */
export function noPredictions(rows: number): PredictionColumns {
  return { ml_probability: new Float64Array(rows).fill(Number.NaN), do_predict: new Float64Array(rows) };
}

/**
 * Lets through the entries that a model agrees with: a long on a row predicted with at least the threshold, a short with at
 * most 1 less it; on a row that is not predicted there is no entry. Exits are never held back. Without a threshold all
 * signals stay as they are.
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

/**
 * A column of a higher timeframe, spread over base candles without looking ahead: base row `i` holds the value of the
 * newest informative candle that has closed when base candle `i` closes, and keeps it until the next one closes.
 * So the value of the 1h candle that opens at 14:00 first appears on the 5m candle that opens at 14:55.
 * `NaN` before the first informative candle has closed. Equal timeframes are not shifted.
 *
 * @param baseTimestamps open times of the base candles, ms, ascending
 * @param baseMs length of a base candle, ms
 * @param informativeTimestamps open times of the informative candles, ms, ascending
 * @param informativeMs length of an informative candle, ms: at least `baseMs`
 * @param column one value per informative candle
 * @throws RangeError when the informative timeframe is shorter than the base, or `column` has another length
 */
export function alignInformative(
  baseTimestamps: Float64Array,
  baseMs: number,
  informativeTimestamps: Float64Array,
  informativeMs: number,
  column: Float64Array,
): Float64Array {
  if (informativeMs < baseMs) {
    throw new RangeError(
      `An informative timeframe of ${informativeMs} ms is shorter than the base of ${baseMs} ms.`,
    );
  }
  const count = informativeTimestamps.length;
  if (column.length !== count) {
    throw new RangeError(`The informative column has ${column.length} values for ${count} candles.`);
  }
  const shift = informativeMs - baseMs;
  const out = new Float64Array(baseTimestamps.length);
  let next = 0;
  let value = Number.NaN;
  for (let row = 0, { length } = out; row < length; row++) {
    while (next < count && informativeTimestamps[next]! + shift <= baseTimestamps[row]!) {
      value = column[next]!;
      next++;
    }
    out[row] = value;
  }
  return out;
}
