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
  const intervals = [
    { from: START + 50 * STEP, to: START + 80 * STEP },
    { from: START + 200 * STEP, to: START + 201 * STEP },
  ];
  const opened = (minutes: number) => {
    const { table } = runBacktest(
      {
        ...sample,
        strategy: ALWAYS,
        config: { ...CONFIG, pairs: [pair!.pair], minimal_roi: { [minutes]: -1 }, trailing: null },
        pairs: [{ ...pair!, membership: { intervals } }],
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

/** The whole report of a run of one pair that is in from row 50 to row 80, with signals by their rows. */
function runWithin(signals: Record<'enterLong' | 'exitLong', (row: number) => boolean>) {
  const sample = sampleInput();
  const [pair] = sample.pairs;
  const column = (isSet: (row: number) => boolean, { timestamp }: { timestamp: Float64Array }) =>
    Uint8Array.from(timestamp, (time) => Number(isSet((time - START) / STEP)));
  const strategy = {
    ...SAMPLE_STRATEGY,
    canShort: false,
    signals: (candles: { timestamp: Float64Array }) => ({
      enterLong: column(signals.enterLong, candles),
      exitLong: column(signals.exitLong, candles),
    }),
  };
  const exits = { stoploss: -0.9, minimal_roi: { 0: 10 }, trailing: null };
  const config = { ...CONFIG, ...exits, pairs: [pair!.pair], robustness: { cost_sweep: true as const } };
  return runBacktest(
    { ...sample, strategy, config, pairs: [{ ...pair!, membership: { intervals: WITHIN } }] },
    { digest: sha256 },
  );
}
const WITHIN = [{ from: START + 50 * STEP, to: START + 80 * STEP }];

it('entry signals after a pair left still hold back its exits', () => {
  const signals = {
    enterLong: (row: number) => row === 60 || (row >= 85 && row < 95),
    exitLong: (row: number) => row >= 85,
  };
  const { table } = runWithin(signals);
  const rows = (times: Float64Array) => Array.from(times, (time) => (time - START) / STEP);
  expect([rows(table.openedAt), rows(table.closedAt)]).toEqual([[61], [96]]);
});

it('entries of the cost sweep that come too late for the universe are left out', () => {
  const signals = {
    enterLong: (row: number) => row === 60 || row === 77,
    exitLong: (row: number) => row === 70,
  };
  const { report } = runWithin(signals);
  const trades = report.robustness!.cost_sweep!.cells.map(({ delay, total_trades }) => [delay, total_trades]);
  expect(trades).toContainEqual([1, 2]);
  expect(trades).toContainEqual([2, 1]);
});
