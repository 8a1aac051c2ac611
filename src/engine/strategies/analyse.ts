import type { Candles } from '../candles.ts';
import { alignInformative } from '../indicators/informative.ts';
import { resampleCandles } from '../indicators/resample.ts';
import type {
  Columns,
  InformativeColumns,
  ParameterValues,
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

/** The strategy returned something that is not one value per candle. */
export class StrategyOutputError extends Error {
  override readonly name = 'StrategyOutputError';
}

/**
 * Runs a strategy over the candles of one pair: indicators on its timeframe, indicators on each informative timeframe
 * (aggregated from the same candles and aligned so that a row holds closed candles only), then signals.
 *
 * @param candles of the strategy's timeframe, startup candles included
 * @throws StrategyOutputError when a column has the wrong type or length
 */
export function analyse(strategy: StrategyDefinition, params: ParameterValues, candles: Candles): Analysis {
  const columns = strategy.indicators(candles, params);
  checkColumns(strategy.name, columns, candles.timestamp.length);
  const informative: Partial<Record<Timeframe, Columns>> = {};
  for (const timeframe of strategy.informativeTimeframes ?? []) {
    informative[timeframe] = informativeColumns(strategy, params, candles, timeframe);
  }
  const signals = strategy.signals(candles, columns, params, informative);
  checkSignals(strategy.name, signals, candles.timestamp.length);
  return { columns, informative, signals };
}

function informativeColumns(
  strategy: StrategyDefinition,
  params: ParameterValues,
  candles: Candles,
  timeframe: Timeframe,
): Columns {
  const baseMs = TIMEFRAME_MS[strategy.timeframe];
  const informativeMs = TIMEFRAME_MS[timeframe];
  const higher = resampleCandles(candles, baseMs, informativeMs);
  const columns = strategy.indicators(higher, params);
  checkColumns(`${strategy.name} on ${timeframe}`, columns, higher.timestamp.length);
  const aligned: Record<string, Float64Array> = {};
  for (const [name, column] of Object.entries(columns)) {
    aligned[name] = alignInformative(candles.timestamp, baseMs, higher.timestamp, informativeMs, column);
  }
  return aligned;
}

function checkColumns(strategy: string, columns: Columns, length: number): void {
  for (const [name, column] of Object.entries(columns)) {
    if (!(column instanceof Float64Array) || column.length !== length) {
      throw new StrategyOutputError(
        `Strategy ${strategy}: indicator column "${name}" must be a Float64Array of ${length} values.`,
      );
    }
  }
}

function checkSignals(strategy: string, signals: Signals, length: number): void {
  for (const name of SIGNAL_COLUMNS) {
    const column = signals[name];
    if (column !== undefined && (!(column instanceof Uint8Array) || column.length !== length)) {
      throw new StrategyOutputError(
        `Strategy ${strategy}: signal column "${name}" must be a Uint8Array of ${length} values.`,
      );
    }
  }
}
