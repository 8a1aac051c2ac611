import { describe, expect, it } from 'vitest';
import { type BacktestInput, runBacktest } from '#engine/backtest.ts';
import { mlClassifier } from '#engine/strategies/ml-classifier.ts';
import type { StrategyCallbacks, StrategyDefinition } from '#engine/strategy.ts';
import { CONFIG, SAMPLE_STRATEGY, sampleInput, sha256 } from './backtest-sample.ts';
import { learningInput } from './walk-forward/sample.ts';

/** A strategy cannot change the data of its run by what it was given or has returned. */

function run(input: BacktestInput) {
  const { timing, ...outcome } = runBacktest(input, { digest: sha256 });
  return JSON.stringify(outcome);
}

describe('strategy with callbacks', () => {
  const running = (callbacks: StrategyCallbacks, changes: Partial<StrategyDefinition> = {}) =>
    run(
      sampleInput({
        strategy: { ...SAMPLE_STRATEGY, maxAdjustments: 1, callbacks, ...changes },
        config: { ...CONFIG, minimal_roi: {} },
      }),
    );
  /** Objects that a value leads to by its properties, those of classes included. */
  function reached(root: object): object[] {
    const found = new Set<object>([root]);
    for (const object of found) {
      for (const key of Reflect.ownKeys(object)) {
        const { value } = Reflect.getOwnPropertyDescriptor(object, key)!;
        if (typeof value === 'object' && value !== null && !ArrayBuffer.isView(value)) found.add(value);
      }
    }
    return [...found];
  }

  it('limits of an adjustment lead to no object of the run', () => {
    let seen: object[] = [];
    const adjustPosition: StrategyCallbacks['adjustPosition'] = (_, __, ___, ____, limits) => {
      seen = reached(limits);
      for (const object of seen)
        for (const [key, value] of Object.entries(object))
          if (typeof value === 'number') Reflect.set(object, key, value / 2);
      return null;
    };
    expect(running({ adjustPosition })).toBe(running({ adjustPosition: () => null }));
    expect(seen).toHaveLength(1);
  });

  it('candles of a callback are not those that the run trades on', () => {
    const customExit: StrategyCallbacks['customExit'] = ({ candles, index }) => {
      for (const column of Object.values(candles) as Float64Array[]) {
        for (const each of [column, new Float64Array(column.buffer)]) each.fill(each[index]! * 2, index);
      }
      return null;
    };
    expect(running({ customExit })).toBe(running({ customExit: () => null }));
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8])('callbacks that are shown after %i reads get copies too', (hidden) => {
    const shown = (customExit: NonNullable<StrategyCallbacks['customExit']>) => {
      let reads = 0;
      const strategy = Object.defineProperty({ ...SAMPLE_STRATEGY }, 'callbacks', {
        get: () => (reads++ < hidden ? undefined : { customExit }),
        enumerable: true,
      });
      return run(sampleInput({ strategy, config: { ...CONFIG, minimal_roi: {} } }));
    };
    const changed = shown(({ candles, index }) => {
      for (const column of Object.values(candles) as Float64Array[]) column.fill(column[index]! * 2, index);
      return null;
    });
    expect(changed).toBe(shown(() => null));
  });

  it('arrays with methods of the strategy do not get the memory of the candles', () => {
    const take = (source: Float64Array) => void new Float64Array(source.buffer).fill(1);
    const indicators: StrategyDefinition['indicators'] = (candles, ...others) => {
      const columns = SAMPLE_STRATEGY.indicators(candles, ...others);
      for (const column of [candles.open, candles.close, columns.mean!]) Reflect.set(column, 'set', take);
      return columns;
    };
    // Many rows between two callbacks are copied at once.
    const signals: StrategyDefinition['signals'] = ({ close }) => ({
      enterLong: Uint8Array.from(close, (_, row) => (row % 50 === 0 ? 1 : 0)),
    });
    const customExit = () => 'at once';
    expect(running({ customExit }, { signals, indicators })).toBe(running({ customExit }, { signals }));
  });
});

describe('what a strategy returns', () => {
  /** Answers once as `honest` does, later with properties of `others`. */
  const changing = <T extends object>(honest: T, others: Partial<Record<keyof T, unknown>>): T => {
    const read = new Set<PropertyKey>();
    return new Proxy(honest, {
      get(target, key) {
        const isFirst = !read.has(key);
        read.add(key);
        return !isFirst && key in others ? Reflect.get(others, key) : Reflect.get(target, key);
      },
    });
  };
  const returning = (signals: StrategyDefinition['signals']) =>
    run(sampleInput({ strategy: { ...SAMPLE_STRATEGY, signals } }));
  const honest = returning(SAMPLE_STRATEGY.signals);

  it('signals that differ at a second read change no result', () => {
    const long = 'x'.repeat(10_000);
    const changed = returning((...given) => {
      const signals = SAMPLE_STRATEGY.signals(...given);
      return changing(signals, {
        tags: ['', long, long],
        enterLong: { slice: () => ({ subarray: () => new Uint8Array(5).fill(255) }) },
      });
    });
    expect(changed).toBe(honest);
  });

  it('tags that differ at a second read change no result', () => {
    const changed = returning((...given) => {
      const { tags, ...signals } = SAMPLE_STRATEGY.signals(...given);
      return { ...signals, tags: changing(tags!, { 1: { toJSON: () => 888 } }) };
    });
    expect(changed).toBe(honest);
  });

  it('methods of signal columns are not called', () => {
    const changed = returning((...given) => {
      const signals = SAMPLE_STRATEGY.signals(...given);
      const other = () => new Uint8Array(given[0].close.length).fill(1);
      for (const name of ['slice', 'subarray']) Reflect.set(signals.enterLong!, name, other);
      return signals;
    });
    expect(changed).toBe(honest);
  });

  it('parameters that a function changes stay those of the run', () => {
    const strategy = (change: (params: Record<string, number>) => void): StrategyDefinition => ({
      ...SAMPLE_STRATEGY,
      parameters: { n: { kind: 'integer', default: 5, min: 1, max: 900, description: 'n' } },
      startupCandles: (params) => {
        change(params as Record<string, number>);
        return 20;
      },
      indicators: (candles, params, info) => {
        change(params as Record<string, number>);
        return SAMPLE_STRATEGY.indicators(candles, params, info);
      },
      signals: (candles, columns, params, ...others) => {
        change(params as Record<string, number>);
        return SAMPLE_STRATEGY.signals(candles, columns, params, ...others);
      },
    });
    const running = (change: (params: Record<string, number>) => void) =>
      run(sampleInput({ strategy: strategy(change), config: { ...CONFIG, params: { n: 5 } } }));
    const changed = running((params) => {
      params.n = 777;
    });
    expect(changed).toBe(running(() => undefined));
    expect(changed).not.toContain('"n":777');
  });
});

describe('strategy with models', () => {
  const running = (changes: Partial<StrategyDefinition>) =>
    run(learningInput({ strategy: { ...mlClassifier, ...changes } }));
  const signals: StrategyDefinition['signals'] = ({ close }) => ({
    enterLong: new Uint8Array(close.length).fill(1),
  });
  const mlFeatures: NonNullable<StrategyDefinition['mlFeatures']> = ({ open, close }) => ({
    change: close.map((price, row) => price / open[row]!),
    trend: close.map((price, row) => price / close[Math.max(0, row - 12)]!),
  });
  const honest = running({ signals, mlFeatures });

  it('predictions and labels that it changes after the training change no measure of the models', () => {
    const kept: Uint8Array[] = [];
    const features: Float64Array[] = [];
    const changed = running({
      mlFeatures: (...given) => {
        const columns = mlFeatures(...given);
        features.push(...Object.values(columns));
        return columns;
      },
      mlLabel: (candles, params) => {
        const label = mlClassifier.mlLabel!(candles, params);
        kept.push(label.labels);
        return label;
      },
      signals: (candles, columns, ...others) => {
        for (const name of ['ml_probability', 'do_predict'] as const) columns[name]?.fill(0.99);
        for (const labels of kept) labels.fill(1);
        for (const column of features) column.fill(0);
        return signals(candles, columns, ...others);
      },
    });
    expect(changed).toBe(honest);
  });
});
