import { expect, it } from 'vitest';
import { runBacktest } from '#engine/backtest.ts';
import { CONFIG, SAMPLE_STRATEGY, STEP, sampleInput, sha256 } from '../backtest-sample.ts';
import { START } from '../run/candles.ts';

/** Signals an entry on every row, and leaves at once. */
const ALWAYS = {
  ...SAMPLE_STRATEGY,
  canShort: false,
  signals: ({ close }: { close: Float64Array }) => ({ enterLong: new Uint8Array(close.length).fill(1) }),
};

it('entries act from the first time of an interval to the last candle before its end', () => {
  const sample = sampleInput();
  const [pair] = sample.pairs;
  const members = [
    { from: START + 50 * STEP, to: START + 80 * STEP },
    { from: START + 200 * STEP, to: START + 201 * STEP },
  ];
  const opened = (minutes: number) => {
    const { table } = runBacktest(
      {
        ...sample,
        strategy: ALWAYS,
        config: { ...CONFIG, pairs: [pair!.pair], minimal_roi: { [minutes]: -1 }, trailing: null },
        pairs: [{ ...pair!, members }],
      },
      { digest: sha256 },
    );
    return [...table.openedAt].sort((a, b) => a - b).map((time) => (time - START) / STEP);
  };
  const rows = opened(5);
  expect(rows[0]).toBe(50);
  expect(rows.every((row) => (row >= 50 && row < 80) || row === 200)).toBe(true);
  expect(rows.some((row) => row >= 78)).toBe(true);
  expect(rows.at(-1)).toBe(200);
});
