import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import {
  type Computed,
  computeColumns,
  decide,
  noPredictions,
  type SharedColumns,
} from '../analysis/analyze.ts';
import { type GivenCandles, giveCandles } from '../analysis/candle-checks.ts';
import type { KeptArrays } from '../analysis/kept-arrays.ts';
import { type Candles, sliceCandles } from '../candles.ts';
import { canonicalJson } from '../digest.ts';
import type { BinnedMatrix, FeatureMatrix } from '../ml/features.ts';
import { fitWindow, type MlRun, predictRows, type WindowFit } from '../ml/fit-window.ts';
import { type TrainingInputs, trainingInputsOf } from '../ml/training-inputs.ts';
import type { Window } from '../ml/windows.ts';
import type { PairHistory } from '../run/history.ts';
import { atTimeframe, cutRows, keptOf, mlRunOf, onCandles, seriesOf } from '../run/prepare-pair.ts';
import type { FittedWindow } from '../run/warnings.ts';
import type { PairInput } from '../simulator/types.ts';
import type { Columns, ParameterValues, PredictionColumns, StrategyDefinition } from '../strategy.ts';
import type { WindowCache } from './trial.ts';

/** One pair of a walk-forward run, trained and traded window by window. */
export class TrialPair {
  readonly history: PairHistory;
  /** Results of the finished windows, without their models, to free memory. */
  readonly fits: FittedWindow[] = [];
  readonly #strategy: StrategyDefinition;
  readonly #params: ParameterValues;
  readonly #run: MlRun;
  readonly #computed: Computed;
  readonly #trainingInputs: TrainingInputs;
  readonly #predictions: PredictionColumns;
  readonly #cache: WindowCache;

  /** @throws BacktestError `strategy` when the strategy cannot run on the candles */
  constructor(
    strategy: StrategyDefinition,
    config: ResolvedBacktestConfig,
    history: PairHistory,
    cache: WindowCache,
    shared: SharedColumns,
  ) {
    this.history = history;
    this.#strategy = atTimeframe(strategy, config);
    this.#params = config.params as ParameterValues;
    this.#run = mlRunOf(config, history)!;
    this.#cache = cache;
    const params = `${history.data.pair} ${history.startup} ${canonicalJson(config.params)}`;
    // Default features and labels do not depend on the parameters.
    const hasOwnInputs = strategy.mlFeatures || strategy.mlLabel;
    const inputsKey = hasOwnInputs ? params : `${history.data.pair} ${history.startup}`;
    this.#computed = cache.get(
      `${params} columns`,
      () => {
        const kept = keptOf(strategy, history);
        const series = { ...seriesOf(history, shared), kept };
        const rows = history.candles.timestamp.length;
        return this.#onCandles(this.#given(kept), (candles) =>
          computeColumns(this.#strategy, this.#params, candles, rows, series),
        );
      },
      ({ columns, informative }) => [columns, ...Object.values(informative)].map(bytesOf).reduce(add, 0),
    );
    this.#trainingInputs = cache.get(
      `${inputsKey} training inputs`,
      () =>
        this.#onCandles(this.#given(this.#computed.kept?.[0]), (candles) =>
          trainingInputsOf(this.#strategy, this.#params, candles, this.#computed),
        ),
      ({ features, labels }) => features.rows * features.columns.length * 8 + labels.byteLength,
    );
    this.#predictions = noPredictions(history.candles.timestamp.length);
  }

  /** Trains the model of a window and predicts its candles. */
  train(window: Window): WindowFit {
    const { max_bins } = this.#run.config;
    // Keyed by content, so trials share bins when their parameters do not change the features.
    const binned = (features: FeatureMatrix, make: () => BinnedMatrix) =>
      this.#cache.get(
        `${max_bins} bins ${contentKey(features)}`,
        make,
        ({ bins }) => bins.length * (bins[0]?.byteLength ?? 0),
      );
    const fit = fitWindow(this.#trainingInputs, this.history.candles.timestamp, window, this.#run, binned);
    predictRows(fit, this.#trainingInputs, this.#predictions);
    const { model: _, ...fitted } = fit;
    this.fits.push(fitted);
    return fit;
  }

  /** Simulation input of the rows of a window, with their predictions. */
  outOfSample({ from, to }: WindowFit): PairInput {
    return this.#traded(this.#predictions, from, to);
  }

  /** Simulation input of the training rows of a window, predicted by the window's model. */
  inSample(fit: WindowFit): PairInput {
    const predictions = noPredictions(fit.from);
    predictRows(fit, this.#trainingInputs, predictions, fit.trainFrom, fit.from);
    return this.#traded(predictions, fit.trainFrom, fit.from);
  }

  /** Simulation input of the whole run. */
  joined(): PairInput {
    return this.#traded(this.#predictions, this.history.from, this.history.candles.timestamp.length);
  }

  /** Computes signals only from rows before `to`. Later rows would not change them. */
  #traded(predictions: PredictionColumns, from: number, to: number): PairInput {
    const { kept, given } = this.#computed;
    const known: Computed = {
      rows: to,
      pair: this.history.data.pair,
      ...firstComputed(this.#computed, to),
      ...(kept && given && { kept, given: firstComputed(given, to) }),
    };
    const predicted = {
      columns: firstRows({ ...predictions }, to) as Columns & PredictionColumns,
      gate: this.#run.config.entry_threshold,
    };
    const analysis = this.#onCandles(this.#given(kept?.[0], to), (candles) =>
      decide(this.#strategy, this.#params, candles, known, predicted),
    );
    return cutRows(this.#strategy, this.history, analysis, from, to);
  }

  #onCandles<T>(given: GivenCandles, action: (candles: Candles) => T): T {
    return onCandles(this.#strategy, this.history.data.pair, given, action);
  }

  /** Rows before `to` for the strategy: of one with callbacks the copies that it may keep. */
  #given(kept: KeptArrays | undefined, to = this.history.candles.timestamp.length): GivenCandles {
    const { candles } = this.history;
    const lent = kept?.lend(candles);
    if (!lent) return giveCandles(sliceCandles(candles, 0, to));
    return { ...lent, candles: sliceCandles(lent.candles, 0, to) };
  }
}

function firstComputed({ columns, informative }: Pick<Computed, 'columns' | 'informative'>, rows: number) {
  return {
    columns: firstRows(columns, rows),
    informative: Object.fromEntries(
      Object.entries(informative).map(([key, each]) => [key, firstRows(each, rows)]),
    ),
  };
}

function firstRows(columns: Columns, rows: number): Columns {
  return Object.fromEntries(
    Object.entries(columns).map(([name, column]) => [name, column.subarray(0, rows)]),
  );
}

function bytesOf(columns: Columns): number {
  return Object.values(columns).reduce((total, column) => total + column.byteLength, 0);
}

const add = (a: number, b: number) => a + b;

/** Factors of MurmurHash3. They are odd, so no step of the hash loses a bit. */
const LOW_FACTOR = 0x85ebca6b;
const HIGH_FACTOR = 0xc2b2ae35;

/** Content key: equal for matrices of equal names and values, otherwise different except with probability 2^-64. */
export function contentKey({ names, columns, rows }: FeatureMatrix): string {
  let low = rows;
  let high = columns.length;
  for (const column of columns) {
    const words = new Uint32Array(column.buffer, column.byteOffset, rows * 2);
    for (let word = 0; word < words.length; word += 2) {
      // Multiplication moves bits only to higher positions. The shift brings the high bits, in which small integers differ, down again.
      low = Math.imul(low ^ high ^ words[word]!, LOW_FACTOR);
      low ^= low >>> 15;
      high = Math.imul(high ^ low ^ words[word + 1]!, HIGH_FACTOR);
      high ^= high >>> 13;
    }
  }
  return `${names.join()} ${low >>> 0}.${high >>> 0}`;
}
