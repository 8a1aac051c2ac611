import { expect, it } from 'vitest';
import { runBacktest } from '#engine/backtest.ts';
import { type Candles, sliceCandles } from '#engine/candles.ts';
import { CONFIG, ROWS, STARTUP, sampleInput, sha256 } from '../backtest-sample.ts';
import { MINUTE, walk } from './candles.ts';

/** Detail warnings of a run whose first pair has the changed detail; the input is all 1m candles of the range. */
function warningsWith(change: (all: Candles) => Candles | undefined): string[] {
  const input = sampleInput();
  const [btc] = input.pairs;
  const first = btc!.candles.timestamp[STARTUP]!;
  const all = walk(ROWS * 5, MINUTE, 3, first);
  const detail = change(all);
  const config = { ...CONFIG, pairs: [btc!.pair], timeframe_detail: '1m' as const };
  const pairs = [{ ...btc!, ...(detail && { detail }) }];
  const { report } = runBacktest({ ...input, config, pairs }, { digest: sha256 });
  return report.warnings.filter((warning) => warning.includes('detail'));
}

const text = (share: string) => [
  `${share} % of the 1m candles of BTC/USDT:USDT are missing. The affected 5m candles are simulated without detail.`,
];

it('backtest warns when more than 1 % of the detail candles are missing', () => {
  expect(warningsWith((all) => all)).toEqual([]);
  expect(warningsWith((all) => sliceCandles(all, 0, Math.ceil(ROWS * 5 * 0.99)))).toEqual([]);
  expect(warningsWith((all) => sliceCandles(all, 0, ROWS * 5 * 0.75))).toEqual(text('25.00'));
  expect(warningsWith(() => undefined)).toEqual(text('100.00'));
});
