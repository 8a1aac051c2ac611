import { describe, expect, it } from 'vitest';
import { analyzeLookAhead } from '#engine/look-ahead/analysis.ts';
import { riseLabel } from '#engine/ml/labels.ts';
import { mlEngineOf } from '#engine/ml/windows.ts';
import { emaCrossover } from '#engine/strategies/ema-crossover.ts';
import { mlClassifier } from '#engine/strategies/ml-classifier.ts';
import { defaultParameters } from '#engine/strategies/parameters.ts';
import type { StrategyDefinition } from '#engine/strategy.ts';
import { SMALL, swinging } from '../walk-forward/sample.ts';

/** Startup candles, training and windows to predict. */
const CANDLES = swinging(50 + 240 + 12 * 24, Date.UTC(2024, 0, 1));

function search(
  changes: Partial<StrategyDefinition> = {},
  strategy: StrategyDefinition = mlClassifier,
  histories = 24,
) {
  const changed = { ...strategy, ...changes };
  const params = defaultParameters(strategy.parameters);
  const ml = { config: mlEngineOf(changed, SMALL) };
  return analyzeLookAhead(changed, params, new Map([['BTC/USDT:USDT', CANDLES]]), { histories, ml });
}

const columnsOf = ({ findings }: ReturnType<typeof search>) => findings.map(({ column }) => column).sort();

describe('look-ahead analysis with models', () => {
  it('look-ahead analysis finds nothing in a causal strategy that enters on predictions', () => {
    const report = search();
    expect(report.findings).toEqual([]);
    expect(report.histories).toBeGreaterThan(24);
    expect(report.entrySignals).toBeGreaterThan(50);
  });

  it('look-ahead analysis finds nothing in a strategy whose entries are gated by models', () => {
    const parameters = { ...emaCrossover.parameters };
    const strategy = { ...emaCrossover, parameters, startupCandles: () => 50 };
    expect(search({}, strategy).findings).toEqual([]);
  });

  it('look-ahead analysis finds a look-ahead feature and its predictions', () => {
    const report = search({
      mlFeatures: ({ close }) => ({ ahead: close.map((value, row) => (close[row + 1] ?? value) / value) }),
    });
    expect(columnsOf(report)).toContain('features.ahead');
    expect(columnsOf(report)).toContain('columns.ml_probability');
  });

  it('look-ahead analysis finds a label beyond its horizon and the predictions trained on it', () => {
    const mlLabel: StrategyDefinition['mlLabel'] = (candles) => ({ ...riseLabel(candles, 24), horizon: 2 });
    // Few histories: those that end where a window begins suffice.
    const report = search({ mlLabel }, mlClassifier, 2);
    expect(columnsOf(report)).toContain('label');
    expect(columnsOf(report)).toContain('columns.ml_probability');
    const found = report.findings.find(({ column }) => column === 'columns.ml_probability')!;
    expect(found).toMatchObject({ kind: 'look_ahead', known: found.row + 1 });
  });

  it('look-ahead analysis finds a label normalized over the whole series', () => {
    const mlLabel: StrategyDefinition['mlLabel'] = ({ close }) => {
      const mean = close.reduce((total, value) => total + value, 0) / close.length;
      return { labels: Uint8Array.from(close, (value) => (value > mean ? 1 : 0)), horizon: 1 };
    };
    expect(columnsOf(search({ mlLabel }))).toContain('label');
  });

  it('look-ahead analysis reports features that are not repeatable', () => {
    let calls = 0;
    const { findings } = search({ mlFeatures: ({ close }) => ({ noise: close.map(() => calls++ % 97) }) });
    expect(findings.map(({ kind, column }) => [kind, column])).toContainEqual([
      'not_repeatable',
      'features.noise',
    ]);
  });

  it('look-ahead analysis rejects fewer candles than a training period', () => {
    const short = new Map([['BTC/USDT:USDT', swinging(200, Date.UTC(2024, 0, 1))]]);
    const ml = { config: mlEngineOf(mlClassifier, SMALL) };
    const params = defaultParameters(mlClassifier.parameters);
    expect(() => analyzeLookAhead(mlClassifier, params, short, { ml })).toThrow(
      'BTC/USDT:USDT has 200 candles; searching ml_classifier for look-ahead needs 294.',
    );
  });
});
