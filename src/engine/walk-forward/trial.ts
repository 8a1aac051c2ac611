import type { BacktestResult } from '#contract/backtests/backtest.ts';
import type { Provenance } from '#contract/backtests/report.ts';
import type { Metrics } from '#contract/backtests/report-metrics.ts';
import type { Digest } from '#contract/values/digest.ts';
import type { BacktestInput } from '../backtest.ts';

/** A backtest whose configuration has `ml_engine`. The first window begins at `date_range.start`. */
export type WalkForwardInput = BacktestInput;

/** One window of a walk-forward run, out of sample. */
export interface WindowValue {
  /** 0 for the first. */
  readonly index: number;
  /** First predicted candle and end (exclusive), ISO 8601. */
  readonly from: string;
  readonly to: string;
  /** Objective of the window on its own, from a full wallet; null where undefined, such as a ratio without trades. */
  readonly value: number | null;
  /** Mean of the window's daily returns, as a ratio. Always finite, so windows can be compared in pairs. */
  readonly meanDailyReturn: number;
}

/** In-sample result of a window: its models on their own training range. */
export interface InSampleWindow {
  readonly index: number;
  /** Start and end (exclusive) of the training range, ISO 8601. */
  readonly from: string;
  readonly to: string;
  readonly value: number | null;
  readonly returnPct: number;
  /** `returnPct` * 365 / days of the range. Not compounded: that would exaggerate the return of a few weeks. */
  readonly annualizedReturnPct: number;
  readonly trades: number;
}

/** Result of a finished window. If `onWindow` returns `prune`, the run ends there, unless it was the last window. */
export interface WindowReport extends WindowValue {
  /** Number of windows of the run. */
  readonly of: number;
}

/**
 * Caches values that trials over the same data share. Columns, features and labels of a pair are keyed by the strategy
 * parameters, binned matrices of training rows by their content. A cache serves one study: one strategy, one set of pairs
 * with their candles, one range. It does not change results.
 */
export interface WindowCache {
  /** Value under `key`, made at the first call. `bytes` returns its size in memory. */
  get<T>(key: string, make: () => T, bytes: (value: T) => number): T;
}

export interface WalkForwardOptions {
  readonly digest: Digest;
  /** A name of {@link OBJECTIVES}. */
  readonly objective: string;
  /** Called after every window, so that the host can do other work. If it throws, the run ends. */
  readonly pause?: () => Promise<void>;
  readonly onWindow?: (window: WindowReport) => 'continue' | 'prune';
  readonly cache?: WindowCache;
}

/** Depends only on the input. The host measures durations. */
export type WalkForwardOutcome = CompleteWalkForward | PrunedWalkForward;

interface PrunedWalkForward {
  readonly state: 'pruned';
  /** A pruned run has no value. */
  readonly value: null;
  /** Windows up to and including the one at which the run was pruned. */
  readonly windows: readonly WindowValue[];
}

export interface CompleteWalkForward {
  readonly state: 'complete';
  /** Objective of all windows joined into one run. Null when undefined: the trial then counts as failed. */
  readonly value: number | null;
  readonly windows: readonly WindowValue[];
  readonly inSample: readonly InSampleWindow[];
  /** Return of the joined run in percent of the wallet, annualized as in {@link InSampleWindow}. */
  readonly annualizedReturnPct: number;
  /**
   * Walk-forward efficiency (Pardo 2008): annualized return of the joined run divided by the mean annualized in-sample
   * return; null unless that mean is above 0.
   */
  readonly efficiency: number | null;
  /** Daily returns of the joined run as ratios, one per UTC day from `firstDay`. */
  readonly dailyReturns: Float64Array;
  /** `YYYY-MM-DD`. */
  readonly firstDay: string;
  /** Equity of the joined run at the end of each of these days, quote currency. */
  readonly equity: Float64Array;
  readonly metrics: Metrics;
  readonly result: BacktestResult;
  readonly provenance: Provenance;
  /** Warnings about the data and the windows, as sentences. */
  readonly warnings: readonly string[];
}

/** Sufficient for several sets of strategy parameters over a year of 5m candles of a few pairs. */
const DEFAULT_BYTES = 256 * 1024 * 1024;

/**
 * LRU cache of at most `maxBytes` for one study. A dropped value is made again on its next use.
 */
export function createWindowCache(maxBytes = DEFAULT_BYTES): WindowCache {
  const entries = new Map<string, { readonly value: unknown; readonly bytes: number }>();
  let held = 0;
  const drop = (key: string, bytes: number) => {
    entries.delete(key);
    held -= bytes;
  };
  return {
    get<T>(key: string, make: () => T, bytesOf: (value: T) => number): T {
      const known = entries.get(key);
      if (known) {
        // A Map keeps the insertion order: a used entry moves to its end.
        entries.delete(key);
        entries.set(key, known);
        return known.value as T;
      }
      const value = make();
      const bytes = bytesOf(value);
      entries.set(key, { value, bytes });
      held += bytes;
      for (const [oldest, entry] of entries) {
        if (held <= maxBytes || oldest === key) break;
        drop(oldest, entry.bytes);
      }
      return value;
    },
  };
}
