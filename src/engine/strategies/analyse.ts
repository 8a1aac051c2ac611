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

/** A strategy cannot run on these candles, or returned something that is not one value per candle. */
export class StrategyRunError extends Error {
  override readonly name = 'StrategyRunError';
}

/**
 * Runs a strategy over the candles of one pair: indicators on its timeframe, indicators on each informative timeframe
 * (aggregated from the same candles and aligned so that a row holds closed candles only), then signals.
 *
 * @param candles of `timeframe`, startup candles included
 * @param timeframe the run's timeframe when it is not the strategy's own
 * @throws StrategyRunError when a column has the wrong type or length, or an informative timeframe is shorter than
 *   the run's
 */
export function analyse(
  strategy: StrategyDefinition,
  params: ParameterValues,
  candles: Candles,
  timeframe: Timeframe = strategy.timeframe,
): Analysis {
  const columns = strategy.indicators(candles, params);
  checkColumns(strategy.name, columns, candles.timestamp.length);
  const informative: Partial<Record<Timeframe, Columns>> = {};
  for (const higher of strategy.informativeTimeframes ?? []) {
    informative[higher] = informativeColumns(strategy, params, candles, timeframe, higher);
  }
  const signals = strategy.signals(candles, columns, params, informative);
  checkSignals(strategy.name, signals, candles.timestamp.length);
  return { columns, informative, signals };
}

/**
 * Candles to load before a run so that its first signal can be trusted. `startupCandles` counts candles of the
 * strategy's own timeframe; a strategy with informative timeframes needs the same time span on a shorter one.
 */
export function startupCandlesFor(
  strategy: StrategyDefinition,
  params: ParameterValues,
  timeframe: Timeframe,
): number {
  const own = strategy.startupCandles(params);
  if (!strategy.informativeTimeframes?.length) return own;
  return Math.ceil(own * Math.max(1, TIMEFRAME_MS[strategy.timeframe] / TIMEFRAME_MS[timeframe]));
}

function informativeColumns(
  strategy: StrategyDefinition,
  params: ParameterValues,
  candles: Candles,
  timeframe: Timeframe,
  higher: Timeframe,
): Columns {
  const baseMs = TIMEFRAME_MS[timeframe];
  const higherMs = TIMEFRAME_MS[higher];
  if (higherMs < baseMs) {
    throw new StrategyRunError(
      `Strategy ${strategy.name} reads ${higher} candles and cannot run on ${timeframe}: use ${higher} or shorter.`,
    );
  }
  const resampled = resampleCandles(candles, baseMs, higherMs);
  const columns = strategy.indicators(resampled, params);
  checkColumns(`${strategy.name} on ${higher}`, columns, resampled.timestamp.length);
  const aligned: Record<string, Float64Array> = {};
  for (const [name, column] of Object.entries(columns)) {
    aligned[name] = alignInformative(candles.timestamp, baseMs, resampled.timestamp, higherMs, column);
  }
  return aligned;
}

function checkColumns(strategy: string, columns: Columns, length: number): void {
  for (const [name, column] of Object.entries(columns)) {
    if (!(column instanceof Float64Array) || column.length !== length) {
      throw new StrategyRunError(
        `Strategy ${strategy}: indicator column "${name}" must be a Float64Array of ${length} values.`,
      );
    }
  }
}

function checkSignals(strategy: string, signals: Signals, length: number): void {
  for (const name of SIGNAL_COLUMNS) {
    const column = signals[name];
    if (column !== undefined && (!(column instanceof Uint8Array) || column.length !== length)) {
      throw new StrategyRunError(
        `Strategy ${strategy}: signal column "${name}" must be a Uint8Array of ${length} values.`,
      );
    }
  }
}
