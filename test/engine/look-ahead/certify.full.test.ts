import { describe, expect, it } from 'vitest';
import type { StrategyCallbacks } from '#engine/strategy.ts';
import { certify, KINDS, withCallbacks } from './certify-fixture.ts';

const STEP = 3_600_000;

describe('causal strategies', () => {
  it.each(KINDS.filter(([, { mlEngine }]) => mlEngine))(
    'certification finds nothing in %s',
    async (_name, strategy) => {
      const rows = strategy.mlEngine ? 300 : 800;
      const { findings, entrySignals, cuts } = await certify(() => strategy, { seeds: [1, 2, 3], rows });
      expect(findings).toEqual([]);
      expect(entrySignals).toBeGreaterThan(0);
      expect(cuts).toBeGreaterThanOrEqual(20);
    },
  );

  /** Callbacks that use slices, lengths, reductions and iterators of the past. */
  const careful: StrategyCallbacks = {
    customExit: ({ candles, columns, index, pair }, trade, price, profit) => {
      const past = candles.close.slice(0, index);
      if (past.length < 30) return null;
      const recent = candles.high.subarray(index - 10, index);
      const top = Math.max(...recent);
      let sum = 0;
      for (const close of candles.close.slice(index - 5, index)) sum += close;
      const average = columns.average!.slice(0, index).at(-1)!;
      const known = candles.close instanceof Float64Array && candles.open[index] === price;
      const gap = candles.open.slice(0, index + 1).at(-1)! - past.at(-1)!;
      const since = candles.timestamp[index]! - trade.openedAt;
      if (!known || pair !== trade.pair || Math.abs(gap) > price) return 'never';
      return profit > 0.02 && price < top && sum / 5 < average && since > 0 ? 'faded' : null;
    },
    customStoploss: ({ columns, candles, index }, _trade, best, profit) =>
      profit > 0.01 ? Math.abs(best - columns.average![index - 1]!) / candles.close[index - 1]! : null,
    customStake: ({ candles, index }, _side, proposed) =>
      proposed * (candles.volume.subarray(index - 3, index).reduce((a, b) => a + b, 0) > 100 ? 1 : 0.5),
    confirmEntry: ({ candles: { close, open }, index }) =>
      [...open.subarray(index - 2, index)].every((price, i) => price < 1.05 * close[index - 2 + i]!),
    leverage: ({ time }) => 1 + (Math.floor(time / STEP) % 3),
    customRoi: (_context, _trade, minutes) => (minutes > 600 ? 0.01 : null),
    customEntryPrice: ({ candles, index }, side, proposed) =>
      side === 'long' ? Math.min(proposed, candles.close[index - 1]! * 0.999) : proposed,
    adjustEntryPrice: ({ candles, index }, _trade, price) =>
      candles.open[index]! > price * 1.02 ? null : price,
    customExitPrice: ({ candles, index }, _trade, proposed) => Math.max(proposed, candles.close[index - 1]!),
    confirmExit: ({ index, candles }, _trade, price) => price > 0.5 * candles.close[index - 1]!,
    adjustPosition: ({ candles, index }, trade, price) => {
      if (trade.entries + trade.exits > 3) return null;
      if (price < 0.995 * candles.close[index - 2]!) return { stake: 0.5 * trade.stake, tag: 'dip' };
      return price > 1.005 * candles.close[index - 2]! ? -0.4 * trade.stake : null;
    },
    afterFill: ({ candles, index }, _trade, price) => (price > candles.close[index - 1]! ? 0.09 : null),
  };

  it.each([
    ['freqtrade fills', {}],
    ['conservative fills', { fill_model: 'conservative' as const }],
    ['one slot', { max_open_trades: 1 }],
    ['a stake of the whole wallet', { stake_amount: 'unlimited' as const }],
    ['detail candles', { timeframe_detail: '15m' as const, rows: 250 }],
    ['other markets', { seeds: [5, 6, 7, 8] }],
    [
      'a ROI table and a trailing stop',
      { minimal_roi: { 0: 0.05, 120: 0.01 }, trailing: { positive: 0.01 } },
    ],
  ])('certification finds nothing in callbacks that read only the past, with %s', async (_, options) => {
    const { findings, calls } = await certify(withCallbacks(careful), options);
    expect(findings).toEqual([]);
    for (const [name, count] of Object.entries(calls)) expect(count, name).toBeGreaterThan(0);
  });
});
