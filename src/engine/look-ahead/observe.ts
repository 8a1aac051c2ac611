import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type { Analysis } from '../analysis/analyze.ts';
import type { MlAnalysis } from '../ml/fit-window.ts';
import { ownColumns, ownRows } from '../own-columns.ts';
import { createRandom, hash32, type Random } from '../random.ts';
import type { PairHistory } from '../run/history.ts';
import type { TradeTable } from '../simulator/trade-table.ts';
import type { Columns, StrategyCallbacks, StrategyDefinition } from '../strategy.ts';
import { drawSignals, nearEnd, nearSignals, type PairSignals, signalTimes } from './cuts.ts';
import type { Acted } from './findings.ts';
import { type Call, type RecordedTimes, recordingCallbacks } from './guard.ts';
import type { PairAnalysis } from './runs.ts';

/** Candles before the drawn cut whose calls are compared: recording all of them would take longer than they do. */
const CALL_ROWS = 200;

/** What a run did, as far as its cuts are compared with it. */
export interface ObservedRun extends Acted {
  readonly strategy: StrategyDefinition;
  readonly histories: readonly PairHistory[];
  /** Of a strategy without callbacks the first rows only, but for the drawn pair: the others would fill the memory. */
  readonly analyses: ReadonlyMap<string, PairAnalysis>;
  /** Of the times near the start, and of those before the drawn cut. */
  readonly calls: readonly Call[];
  /** Error of the strategy with the known rows of kept arrays only; undefined without one. */
  readonly failure: unknown;
  /** Open times of the candles that are forming at the cuts near the start, ms. */
  readonly near: readonly number[];
  /** End of the times near the start, ms. */
  readonly nearEnd: number;
  readonly drawn: DrawnCut;
  /** Seed of the choice of cuts. */
  readonly seed: number;
}

/** The cut just after a signal that is drawn over the whole run. */
export interface DrawnCut {
  readonly pair: string;
  readonly time: number;
  /** Calls from this time on are known, ms. */
  readonly callsFrom: number;
}

/** Keeps what the cuts of a run are compared with while it runs. */
export class RunObserver {
  readonly #strategy: StrategyDefinition;
  readonly #random: Random;
  readonly #seed: number;
  readonly #drawnPair: string;
  readonly #pairs: PairSignals[] = [];
  readonly #analyses = new Map<string, PairAnalysis>();
  readonly #calls: Call[] = [];
  #near: readonly number[] = [];
  #nearEnd = Number.NEGATIVE_INFINITY;
  #drawn: DrawnCut | undefined;

  /** @param digest of the strategy's source: other code is cut at other rows */
  constructor(strategy: StrategyDefinition, { pairs, seed }: ResolvedBacktestConfig, digest: string) {
    this.#strategy = strategy;
    this.#seed = seed ^ hash32(digest);
    this.#random = createRandom(this.#seed);
    this.#drawnPair = pairs[Math.floor(this.#random() * pairs.length)]!;
  }

  /** Keeps the analysis of the next pair. */
  keep(history: PairHistory, analysis: Analysis | MlAnalysis): void {
    const { pair } = history.data;
    const near = nearSignals(analysis.signals, history);
    this.#pairs.push({ history, near });
    // Callbacks need all columns anyway. Without a drawn pair, the first one takes its place.
    const isWhole = this.#strategy.callbacks || pair === this.#drawnPair || this.#pairs.length === 1;
    this.#analyses.set(pair, isWhole ? ownAnalysis(analysis) : firstRows(analysis, near.rows));
  }

  /** The callbacks of the run, recorded at the times of its cuts. Call it when all pairs are kept. */
  recording(callbacks: StrategyCallbacks): StrategyCallbacks {
    const { callsFrom, time } = this.#choose();
    const { stepMs } = this.#pairs[0]!.history;
    const times: RecordedTimes[] = [
      { from: Number.NEGATIVE_INFINITY, to: this.#nearEnd },
      { from: callsFrom, to: time + stepMs },
    ];
    return recordingCallbacks(callbacks, this.#calls, times);
  }

  #choose(): DrawnCut {
    if (this.#drawn) return this.#drawn;
    const { history } =
      this.#pairs.find(({ history: { data } }) => data.pair === this.#drawnPair) ?? this.#pairs[0]!;
    const { candles, from, stepMs, data } = history;
    const { signals } = this.#analyses.get(data.pair)!;
    const anywhere = Math.floor(this.#random() * (candles.timestamp.length - from - 1));
    const [time = candles.timestamp[from + 1 + anywhere]!] = drawSignals(signals, history, this.#random);
    this.#near = signalTimes(this.#pairs);
    this.#nearEnd = Math.max(nearEnd(this.#pairs), (this.#near.at(-1) ?? 0) + stepMs);
    this.#drawn = { pair: data.pair, time, callsFrom: time - CALL_ROWS * stepMs };
    return this.#drawn;
  }

  /** Forgets the calls so far: the simulation begins again. */
  restart(): void {
    this.#calls.length = 0;
  }

  observed(table: TradeTable, failure: unknown): ObservedRun {
    const drawn = this.#choose();
    return {
      strategy: this.#strategy,
      drawn,
      table,
      failure,
      histories: this.#pairs.map(({ history }) => history),
      analyses: this.#analyses,
      callbacks: Object.keys(this.#strategy.callbacks ?? {}),
      calls: this.#calls,
      near: this.#near,
      nearEnd: this.#nearEnd,
      seed: this.#seed,
    };
  }
}

/** Of a strategy with callbacks the engine's own arrays already. */
const ownAnalysis = (analysis: Analysis | MlAnalysis): PairAnalysis =>
  analysis.kept ? analysis : { ...analysis, columns: ownColumns(analysis.columns) };

function firstRows(analysis: Analysis | MlAnalysis, rows: number): PairAnalysis {
  const first = (columns: Columns) =>
    Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, ownRows(column, rows)]));
  const { signals } = analysis;
  const shortened = {
    ...analysis,
    columns: first(analysis.columns),
    informative: Object.fromEntries(
      Object.entries(analysis.informative).map(([key, columns]) => [key, first(columns)]),
    ),
    signals,
  };
  if (!('trainingInputs' in analysis)) return shortened;
  const { trainingInputs, predictions } = analysis;
  const { features, labels } = trainingInputs;
  return {
    ...shortened,
    fits: analysis.fits,
    predictions: first({ ...predictions }) as unknown as MlAnalysis['predictions'],
    trainingInputs: {
      ...trainingInputs,
      labels: labels.slice(0, rows),
      features: { ...features, rows, columns: features.columns.map((column) => column.slice(0, rows)) },
    },
  };
}
