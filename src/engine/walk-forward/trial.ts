import type { BacktestResult } from '#contract/backtest.ts';
import type { Provenance } from '#contract/report.ts';
import type { Metrics } from '#contract/report-metrics.ts';
import type { BacktestInput } from '#engine/backtest.ts';
import type { Digest } from '#engine/digest.ts';

/** A backtest whose configuration has `ml_engine`: `date_range.start` is where the first window is predicted. */
export type WalkForwardInput = BacktestInput;

/** One window of a walk-forward run, out of sample. */
export interface WindowValue {
  /** 0 for the first. */
  readonly index: number;
  /** First candle predicted, and the end (exclusive), ISO 8601. */
  readonly from: string;
  readonly to: string;
  /** The objective of the window traded on its own, from a full wallet; null where it is undefined, such as a ratio without trades. */
  readonly value: number | null;
  /** Mean of the window's daily returns, as a ratio: finite whatever was traded, so that windows can be paired. */
  readonly meanDailyReturn: number;
}

/** The same window's model on its own training range: what it promised. */
export interface InSampleWindow {
  readonly index: number;
  /** First and end (exclusive) of the training range, ISO 8601. */
  readonly from: string;
  readonly to: string;
  readonly value: number | null;
  readonly returnPct: number;
  /** `returnPct` times 365 over the window's days: not compounded, which would blow up weeks to any number. */
  readonly annualizedReturnPct: number;
  readonly trades: number;
}

/** What is told of a window when it has been traded; the answer `prune` ends the run there, unless it was the last. */
export interface WindowReport extends WindowValue {
  /** Windows of the whole run. */
  readonly of: number;
}

/**
 * Keeps what trials over the same data have in common: columns, features and labels of a pair for the same strategy
 * parameters, and the binned matrices of training rows, by their values. A cache holds one study's data: one strategy, one
 * set of pairs and their candles, one range. It never changes a result.
 */
export interface WindowCache {
  /** The value under `key`, made at the first call. `bytes` says what keeping it takes. */
  get<T>(key: string, make: () => T, bytes: (value: T) => number): T;
}

export interface WalkForwardOptions {
  readonly digest: Digest;
  /** A name of {@link OBJECTIVES}. */
  readonly objective: string;
  /** Called after every window, so that the host can do other work; one that throws ends the run. */
  readonly pause?: () => Promise<void>;
  readonly onWindow?: (window: WindowReport) => 'continue' | 'prune';
  readonly cache?: WindowCache;
}

/** Milliseconds are the host's to measure: everything here is a function of the input alone. */
export type WalkForwardOutcome = CompleteWalkForward | PrunedWalkForward;

interface PrunedWalkForward {
  readonly state: 'pruned';
  /** A run that was cut short has no value. */
  readonly value: null;
  /** The windows up to the one at which it was pruned. */
  readonly windows: readonly WindowValue[];
}

export interface CompleteWalkForward {
  readonly state: 'complete';
  /** The objective of the windows joined into one run; null when undefined, which makes the trial a failed one. */
  readonly value: number | null;
  readonly windows: readonly WindowValue[];
  readonly inSample: readonly InSampleWindow[];
  /** Return of the joined run in percent of the wallet, annualized as in {@link InSampleWindow}. */
  readonly annualizedReturnPct: number;
  /**
   * Walk-forward efficiency (Pardo 2008): the annualized return of the joined run over the mean of those in sample; null
   * unless the latter is above 0.
   */
  readonly efficiency: number | null;
  /** Of the joined run, one a UTC day, as ratios; the first is that of `firstDay`. */
  readonly dailyReturns: Float64Array;
  /** `YYYY-MM-DD`. */
  readonly firstDay: string;
  /** Of the joined run at the end of each of the same days, quote currency. */
  readonly equity: Float64Array;
  readonly metrics: Metrics;
  readonly result: BacktestResult;
  readonly provenance: Provenance;
  /** What a reader must know of the data and the windows, as sentences. */
  readonly warnings: readonly string[];
}

/** Enough for some sets of strategy parameters over a year of 5m candles of a few pairs. */
const DEFAULT_BYTES = 256 * 1024 * 1024;

/**
 * A cache of bounded size for one study: beyond `mostBytes` what was used longest ago is dropped and made again when it is
 * asked for.
 */
export function createWindowCache(mostBytes = DEFAULT_BYTES): WindowCache {
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
        // A Map keeps the order of insertion: what is used moves to its end.
        entries.delete(key);
        entries.set(key, known);
        return known.value as T;
      }
      const value = make();
      const bytes = bytesOf(value);
      entries.set(key, { value, bytes });
      held += bytes;
      for (const [oldest, entry] of entries) {
        if (held <= mostBytes || oldest === key) break;
        drop(oldest, entry.bytes);
      }
      return value;
    },
  };
}
