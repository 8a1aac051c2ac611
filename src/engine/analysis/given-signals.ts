import { SIGNALS_STRATEGY } from '#contract/values/signals-limits.ts';
import type { Candles } from '../candles.ts';
import type { Columns, Signals, StrategyDefinition } from '../strategy.ts';
import { type Analysis, SIGNAL_COLUMNS } from './analyze.ts';

/** Rows of a file of signals for one pair: ascending, each at the open time of a candle of the run. */
export interface GivenSignals {
  /** Open time of the candle that decides the row, ms. */
  readonly timestamp: Float64Array;
  /** A value per row, as a strategy would return it per candle. */
  readonly signals: Signals;
  /** Factor of the stake of an entry on the row; absent: 1 on all rows. */
  readonly stakeRatio?: Float64Array;
}

/** Column with the factor of the stake of each candle's entry. */
export const STAKE_RATIO = 'stake_ratio';

/**
 * The strategy of a run. A file without stakes needs no callback: it would slow the simulations, leave the break-even cost without its
 * closed form, and be listed as a bias.
 */
export function strategyOfRun(
  strategy: StrategyDefinition,
  pairs: readonly { readonly given?: GivenSignals }[],
): StrategyDefinition {
  if (strategy.name !== SIGNALS_STRATEGY || pairs.some(({ given }) => given?.stakeRatio)) return strategy;
  const { callbacks: _, ...without } = strategy;
  return without;
}

/** The rows at their candles, as if a strategy had returned them. Candles without a row have no signal. */
export function givenAnalysis(given: GivenSignals, { timestamp }: Candles, stepMs: number): Analysis {
  const { length } = timestamp;
  // Gaps are filled: the candles are a grid.
  const rows = Int32Array.from(given.timestamp, (time) => Math.round((time - timestamp[0]!) / stepMs));
  const placed: Record<string, Uint8Array> = {};
  for (const name of SIGNAL_COLUMNS) {
    const column = given.signals[name];
    if (column) placed[name] = place(column, rows, new Uint8Array(length));
  }
  const { tags } = given.signals;
  const columns: Columns = given.stakeRatio
    ? { [STAKE_RATIO]: place(given.stakeRatio, rows, new Float64Array(length).fill(1)) }
    : {};
  return { columns, informative: {}, signals: { ...placed, ...(tags && { tags }) } };
}

function place<T extends Uint8Array | Float64Array>(values: T, rows: Int32Array, into: T): T {
  for (let at = 0, { length } = rows; at < length; at++) into[rows[at]!] = values[at]!;
  return into;
}
