import { describe, expect, it } from 'vitest';
import { createRandom } from '#engine/random.ts';
import { simulate } from '#engine/simulator/simulate.ts';
import type { SimulatedTrade } from '#engine/simulator/trade-table.ts';
import type { SimulationSettings } from '#engine/simulator/types.ts';
import type { StrategyCallbacks } from '#engine/strategy.ts';
import { candlesOf, fundingOf, HOUR, pairOf, type Row, settingsOf } from './market.ts';

const RUNS = 200;
const ROWS = 60;
/** Of sums of profits that are each rounded to 8 decimals. */
const ROUNDING = 1e-6;

/** Random runs with gaps far beyond liquidation prices, funding that can exceed a stake, additions and partial exits. */
function randomRun(seed: number, marginMode: 'isolated' | 'cross') {
  const random = createRandom(seed);
  const of = <T>(...values: readonly T[]) => values[Math.floor(random() * values.length)]!;
  const between = (from: number, to: number) => from + random() * (to - from);
  const hasDetail = random() < 0.3;
  const adjusts = random() < 0.6;
  const settings: Partial<SimulationSettings> = {
    fillModel: of('freqtrade', 'conservative'),
    leverage: of(1, 2, 5, 10, 25, 100),
    fee: of(0, 0.0005, 0.005),
    slippage: of(0, 0.002),
    stoploss: -of(0.05, 0.5, 0.99, 5),
    maxOpenTrades: 3,
    liquidation: { marginMode, maintenanceMarginRate: of(0.004, 0.05), buffer: of(0, 0.05) },
    ...(random() < 0.3 && { minimalRoi: { 0: 0.3 } }),
    ...(random() < 0.3 && { trailing: { positive: 0.2, offset: 0.3, only_offset_is_reached: true } }),
    ...(marginMode === 'cross' && { stake: { kind: 'unlimited' as const } }),
    ...(hasDetail && { detailTimeframeMs: HOUR / 2 }),
    ...(adjusts && { callbacks: adjustmentsOf(between(-1, 1)) }),
  };
  const pairs = ['A', 'B', 'C'].map((pair) => {
    const size = of(0.01, 0.05);
    let before = 100;
    const halves = Array.from({ length: 2 * ROWS }, (): Row => {
      const open = before * (1 + (random() < 0.06 ? between(-0.4, 0.4) : 0));
      const close = open * (1 + between(-1, 1) * size);
      before = close;
      const high = Math.max(open, close) * (1 + random() * size);
      return [open, high, Math.min(open, close) * (1 - random() * size), close];
    });
    const rows = Array.from({ length: ROWS }, (_, row): Row => {
      const [first, second] = halves.slice(2 * row, 2 * row + 2) as [Row, Row];
      return [first[0], Math.max(first[1], second[1]), Math.min(first[2], second[2]), second[3]];
    });
    const some = (share: number) => rows.flatMap((_, row) => (random() < share ? [row] : []));
    const rate = of(0, 0.0005, 0.01);
    const events = some(0.2).map((hour) => ({
      hour,
      rate: between(-1, 1) * rate,
      markPrice: rows[hour]![0],
    }));
    return pairOf({
      pair,
      rows,
      enterLong: some(0.4),
      enterShort: some(0.4),
      exitLong: some(0.05),
      exitShort: some(0.05),
      funding: fundingOf(events),
      ...(hasDetail && { detail: candlesOf(halves, HOUR / 2) }),
    });
  });
  return simulate(pairs, settingsOf(settings));
}

/** Adds or takes out a part now and then, now and then at a limit price; `lean` is the share of additions, from -1 to 1. */
const adjustmentsOf = (lean: number): StrategyCallbacks => ({
  adjustPosition: ({ index }, { stake, entries }) => {
    if (index % 3 === 0 && lean > -0.5 && entries < 5) return stake * (0.4 + lean / 4);
    return index % 4 === 1 ? -stake * (0.4 - lean / 4) : null;
  },
  customEntryPrice: ({ index }, side, price) =>
    index % 2 === 0 ? price : price * (side === 'long' ? 0.97 : 1.03),
  customExitPrice: ({ index }, { side }, price) =>
    index % 5 > 0 ? price : price * (side === 'long' ? 1.02 : 0.98),
});

/** Collateral of all entries. */
function collateralOf({ orders, stake, leverage }: SimulatedTrade): number {
  if (!orders) return stake;
  const entries = orders.filter(({ side }) => side === 'entry');
  return entries.reduce((sum, { amount, price }) => sum + (amount * price) / leverage, 0);
}

/** An exchange does not lend to a long without leverage: its fees come on top. */
const hasMargin = ({ side, leverage }: SimulatedTrade) => side === 'short' || leverage > 1;

describe('losses of random trades with leverage', () => {
  it('no isolated trade loses more than its collateral', () => {
    const counts = { trades: 0, lost: 0, adjusted: 0, conservative: 0 };
    const wrong: string[] = [];
    for (let seed = 1; seed <= RUNS; seed++) {
      for (const trade of randomRun(seed, 'isolated').trades.filter(hasMargin)) {
        const collateral = collateralOf(trade);
        if (trade.profit < -collateral - ROUNDING)
          wrong.push(`seed ${seed}: ${trade.profit} of ${collateral} by ${trade.exitReason}`);
        counts.trades++;
        if (trade.profit < -0.999 * collateral) counts.lost++;
        if (trade.orders) counts.adjusted++;
      }
    }
    expect(wrong.slice(0, 5), `${wrong.length} trades`).toEqual([]);
    // The bound is reached, with and without adjustments.
    expect(counts.trades).toBeGreaterThan(5_000);
    expect(counts.lost).toBeGreaterThan(200);
    expect(counts.adjusted).toBeGreaterThan(1_000);
  });

  it('no run in cross margin loses more than its account', () => {
    let ruined = 0;
    for (let seed = 1; seed <= RUNS; seed++) {
      const { curve, finalBalance } = randomRun(seed, 'cross');
      expect(Math.min(...curve!.balance, finalBalance), `seed ${seed}`).toBeGreaterThan(-ROUNDING);
      if (finalBalance < 1) ruined++;
    }
    expect(ruined).toBeGreaterThan(20);
  });
});
