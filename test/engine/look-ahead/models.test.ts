import { describe, expect, it } from 'vitest';
import { certifyLookAhead } from '#engine/look-ahead/certify.ts';
import { riseLabel } from '#engine/ml/labels.ts';
import { mlEngineOf } from '#engine/ml/windows.ts';
import { emaCrossover } from '#engine/strategies/ema-crossover.ts';
import { mlClassifier } from '#engine/strategies/ml-classifier.ts';
import type { StrategyDefinition } from '#engine/strategy.ts';
import { SMALL, swinging } from '../walk-forward/sample.ts';
import { searchedRun } from './every-run.ts';
import { lookAheadSubject } from './look-ahead-subject.ts';

function subjectOf(changes: Partial<StrategyDefinition> = {}, strategy: StrategyDefinition = mlClassifier) {
  const changed = { ...strategy, ...changes };
  const options = {
    seeds: [1],
    rows: 12 * 24,
    timeframe: '1h',
    ml_engine: mlEngineOf(changed, SMALL),
  } as const;
  const subject = lookAheadSubject(() => changed, options);
  const candles = swinging(subject.pairs[0]!.candles.timestamp.length, Date.UTC(2024, 0, 1));
  return { ...subject, pairs: subject.pairs.map((each) => ({ ...each, candles })) };
}

const search = (
  changes: Partial<StrategyDefinition> = {},
  strategy: StrategyDefinition = mlClassifier,
  histories = 24,
) => certifyLookAhead(subjectOf(changes, strategy), { histories, cuts: 4 });

const columnsOf = ({ findings }: Awaited<ReturnType<typeof search>>) => findings.map(({ column }) => column);

describe('look-ahead analysis with models', () => {
  it('certification finds nothing in a causal strategy that enters on predictions', async () => {
    const certificate = await search();
    expect(certificate.findings).toEqual([]);
    expect(certificate.histories).toBeGreaterThanOrEqual(24);
    expect(certificate.entrySignals).toBeGreaterThan(50);
  });

  it('certification finds nothing in a strategy whose entries are gated by models', async () => {
    expect((await search({}, { ...emaCrossover, startupCandles: () => 50 })).findings).toEqual([]);
  });

  it('certification finds a look-ahead feature and its predictions', async () => {
    const certificate = await search({
      mlFeatures: ({ close }) => ({ ahead: close.map((value, row) => (close[row + 1] ?? value) / value) }),
    });
    expect(columnsOf(certificate)).toContain('features.ahead');
    expect(columnsOf(certificate)).toContain('columns.ml_probability');
  });

  it('certification finds a label beyond its horizon and the predictions trained on it', async () => {
    const mlLabel: StrategyDefinition['mlLabel'] = (candles) => ({ ...riseLabel(candles, 24), horizon: 2 });
    const certificate = await search({ mlLabel });
    expect(columnsOf(certificate)).toContain('label');
    expect(columnsOf(certificate)).toContain('columns.ml_probability');
  });

  it('certification finds a label normalized over the whole series', async () => {
    const mlLabel: StrategyDefinition['mlLabel'] = ({ close }) => {
      const mean = close.reduce((total, value) => total + value, 0) / close.length;
      return { labels: Uint8Array.from(close, (value) => (value > mean ? 1 : 0)), horizon: 1 };
    };
    expect(columnsOf(await search({ mlLabel }))).toContain('label');
  });

  it('certification reports features that are not repeatable', async () => {
    let calls = 0;
    const certificate = await search({
      mlFeatures: ({ close }) => ({ noise: close.map(() => calls++ % 97) }),
    });
    expect(certificate.findings.map(({ kind, column }) => [kind, column])).toContainEqual([
      'not_repeatable',
      'features.noise',
    ]);
  });

  it('a backtest with models is searched with the models of the run', async () => {
    const options = { seeds: [1, 2], rows: 12 * 24, ml_engine: mlEngineOf(mlClassifier, SMALL) };
    const { sample } = await searchedRun(() => mlClassifier, options);
    expect(sample).toMatchObject({ findings: [], pairs: ['M1/USDT:USDT', 'M2/USDT:USDT'] });
    const leaking = { ...mlClassifier, mlFeatures: looksAhead };
    const found = await searchedRun(() => leaking, options);
    expect(found.sample.findings.map(({ column }) => column)).toContain('features.ahead');
  });
});

const looksAhead: StrategyDefinition['mlFeatures'] = ({ close }) => ({
  ahead: close.map((value, row) => (close[row + 1] ?? value) / value),
});
