import { expect, it } from 'vitest';
import { type Models, modelsText } from '../../bin/cli/reports/report-text.ts';

const quality = { rows: 100, auc: 0.6, log_loss: 0.65, base_log_loss: 0.69, brier: 0.24 };
const undefinedQuality = { rows: 0, auc: null, log_loss: null, base_log_loss: null, brier: null };
const btc = { pair: 'BTC/USDT:USDT', skipped: null };

/** Printed fields. */
const MODELS = {
  model_kind: 'leafwise_gbdt',
  features: 20,
  horizon: 12,
  trained: 2,
  windows: [
    { ...btc, quality },
    { ...btc, quality: { ...quality, rows: 300, auc: 0.5 } },
    { ...btc, quality: undefinedQuality },
    { pair: 'ETH/USDT:USDT', skipped: 'too few rows', quality: undefinedQuality },
  ],
  quality: { ...quality, rows: 400, auc: 0.53 },
  importances: [
    { feature: 'return_1', gain: 0.416 },
    { feature: 'body', gain: 0.2 },
  ],
} as unknown as Models;

it('modelsText prints the mean quality of each pair, weighted by predictions, and the most used features', () => {
  const lines = modelsText(MODELS).split('\n');
  expect(lines[0]).toBe('ML models out of sample: leafwise_gbdt, 20 features, labels known after 12 candles');
  const row = (name: string) => lines.find((line) => line.includes(name))!.match(/-?\d[\d.,]*|-/g);
  // 0.6 x 100 + 0.5 x 300 over 400; the window without predictions counts only as a model.
  expect(row('BTC')).toEqual(['3', '0.525', '0.650', '0.690', '0.240', '400']);
  expect(row('ETH')).toEqual(['0', '-', '-', '-', '-', '0']);
  expect(row('All predictions')).toEqual(['2', '0.530', '0.650', '0.690', '0.240', '400']);
  expect(lines.at(-1)).toBe('Most used: return_1 42 %, body 20 %');
});
