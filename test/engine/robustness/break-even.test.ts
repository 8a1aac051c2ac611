import { describe, expect, it } from 'vitest';
import { DAY_MS } from '#contract/values/durations.ts';
import { tradeColumns } from '#engine/metrics/trade-metrics.ts';
import { createRandom } from '#engine/random.ts';
import { breakEven, costsKeepTrades, simulateAtCost } from '#engine/robustness/break-even.ts';
import { simulate } from '#engine/simulator/simulate.ts';
import type { PairInput, SimulationSettings } from '#engine/simulator/types.ts';
import { MINUTE, walk } from '../run/candles.ts';

const STEP = 5 * MINUTE;
const ROWS = 3_000;

/** A random walk whose later candles a strategy with foresight buys now and then, so that it earns more than its costs. */
function pairs(seed: number, edge = 0.8): PairInput[] {
  return [1, 2].map((number) => {
    const candles = walk(ROWS, STEP, seed * 10 + number, 0);
    const random = createRandom(seed * 100 + number);
    const enterLong = new Uint8Array(ROWS);
    const exitLong = new Uint8Array(ROWS);
    for (let row = 0; row + 12 < ROWS; row += 20 + Math.floor(random() * 20)) {
      const rises = candles.open[row + 11]! > candles.open[row + 1]!;
      if (random() < edge ? rises : !rises) enterLong[row] = 1;
      exitLong[row + 10] = 1;
    }
    return { pair: `P${number}/USDT:USDT`, candles, signals: { enterLong, exitLong } };
  });
}

const MECHANICAL: SimulationSettings = {
  timeframeMs: STEP,
  startingBalance: 10_000,
  stake: { kind: 'fixed', amount: 500 },
  maxOpenTrades: 2,
  fee: 0.0005,
  slippage: 0,
  leverage: 1,
  canShort: false,
  stoploss: -0.03,
  useExitSignal: true,
  exitProfitOnly: false,
  exitProfitOffset: 0,
  ignoreRoiIfEntrySignal: false,
  fillModel: 'freqtrade',
  liquidation: { maintenanceMarginRate: 0.005, buffer: 0.05, closingFee: 0 },
};

function find(inputs: PairInput[], settings: SimulationSettings, thorough = false) {
  const trades = tradeColumns(simulate(inputs, settings).table);
  return breakEven({ pairs: inputs, settings, trades, thorough });
}

const profitAt = (inputs: PairInput[], settings: SimulationSettings, cost: number) =>
  simulateAtCost(inputs, settings, cost).finalBalance - settings.startingBalance;

describe('breakEven', () => {
  it.each([1, 2, 3, 4, 5])('a simulation at the closed form earns nothing (seed %i)', (seed) => {
    const inputs = pairs(seed);
    const { cost, method, simulations, paid } = find(inputs, MECHANICAL);
    expect({ method, simulations, paid }).toEqual({ method: 'closed_form', simulations: 0, paid: 0.0005 });
    expect(cost).toBeGreaterThan(0.0005);
    // Profits are rounded to 8 decimals.
    expect(Math.abs(profitAt(inputs, MECHANICAL, cost!))).toBeLessThan(1e-5);
  });

  it('the closed form holds with leverage and a conservative fill model', () => {
    const settings: SimulationSettings = { ...MECHANICAL, leverage: 3, fillModel: 'conservative' };
    const inputs = pairs(7);
    const { cost, method } = find(inputs, settings);
    expect(method).toBe('closed_form');
    expect(Math.abs(profitAt(inputs, settings, cost!))).toBeLessThan(1e-5);
  });

  it.each<[string, Partial<SimulationSettings>]>([
    ['a return table', { minimalRoi: { 0: 0.01 } }],
    ['a trailing stop', { trailing: { positive: 0.02, offset: 0.03, only_offset_is_reached: true } }],
    ['a compounding stake', { stake: { kind: 'unlimited' } }],
    ['slippage', { slippage: 0.0003 }],
    ['a wallet that pays for one stake only', { startingBalance: 600 }],
    ['protections', { protections: [{ method: 'CooldownPeriod', stop_duration_candles: 2 }] }],
  ])('with %s the cost is simulated, and the profit there is near 0', (_name, change) => {
    const settings = { ...MECHANICAL, ...change };
    const inputs = pairs(3);
    const { volume } = tradeColumns(simulate(inputs, settings).table);
    const turnover = volume.reduce((sum, each) => sum + each, 0);
    const quick = find(inputs, settings);
    expect(quick.method).toBe('simulated');
    expect(quick.simulations).toBe(1);
    // Within three basis points of the turnover: exits that change make the profit jump.
    expect(Math.abs(profitAt(inputs, settings, quick.cost!))).toBeLessThan(0.0003 * turnover);
    const thorough = find(inputs, settings, true);
    expect(thorough.simulations).toBeLessThanOrEqual(20);
    expect(Math.abs(profitAt(inputs, settings, thorough.cost!))).toBeLessThan(0.00002 * turnover);
  });

  it('spread and impact of a model are part of the cost, not paid beside it', () => {
    const days = 12;
    const firstDay = Math.floor(pairs(3)[0]!.candles.timestamp[0]! / DAY_MS);
    const costs = { firstDay, spread: new Float64Array(days).fill(0.0006), impact: null };
    const plain = pairs(3);
    const modelled = plain.map((pair) => ({ ...pair, costs }));
    const found = find(modelled, MECHANICAL, true);
    expect(found.method).toBe('simulated');
    // All exits but stops are orders at the open; half of the spread a side, as a share of the price with it.
    expect(found.paid).toBeCloseTo(0.0005 + 0.0003, 6);
    expect(found.cost).toBeCloseTo(find(plain, MECHANICAL).cost!, 9);
    expect(simulateAtCost(modelled, MECHANICAL, 0.001).finalBalance).toBe(
      simulateAtCost(plain, MECHANICAL, 0.001).finalBalance,
    );
  });

  it.each<[string, Partial<SimulationSettings>]>([
    ['a limit of participation', { participation: 0.5 }],
    ['stacked trades in more slots than pairs', { positionStacking: true, maxOpenTrades: 30 }],
    ['margin of the whole account', { liquidation: { ...MECHANICAL.liquidation, marginMode: 'cross' } }],
  ])('%s excludes the closed form', (_name, change) => {
    const inputs = pairs(3);
    const settings = { ...MECHANICAL, ...change };
    const trades = tradeColumns(simulate(inputs, settings).table);
    expect(costsKeepTrades({ pairs: inputs, settings: MECHANICAL, trades }, 0.001)).toBe(true);
    expect(costsKeepTrades({ pairs: inputs, settings, trades }, 0.001)).toBe(false);
  });

  it('with exits in profit only the cost is simulated', () => {
    const found = find(pairs(3), { ...MECHANICAL, exitProfitOnly: true });
    expect(found).toMatchObject({ method: 'simulated', simulations: 1 });
    expect(found.cost).toBeGreaterThan(0.0005);
  });

  it.each([2, 3, 5])('a wallet that high costs empty says nothing about no costs (seed %i)', (seed) => {
    const inputs = pairs(seed, 0.5);
    const { cost, reason, method } = find(inputs, { ...MECHANICAL, startingBalance: 1_100, fee: 0.1 });
    expect(method).toBe('simulated');
    const free = profitAt(inputs, { ...MECHANICAL, startingBalance: 1_100 }, 0);
    if (free < 0)
      expect({ cost, reason }).toEqual({ cost: null, reason: 'The trades lose without any costs.' });
    else expect(cost).toBeGreaterThan(0);
  });

  it('a run with callbacks keeps its trades unless the cost sweep is asked for', () => {
    const settings: SimulationSettings = { ...MECHANICAL, callbacks: { customExit: () => null } };
    const inputs = pairs(4);
    expect(find(inputs, settings)).toMatchObject({ method: 'same_trades', simulations: 0 });
    expect(find(inputs, settings, true).method).toBe('simulated');
  });

  it('trades that lose without costs, and a run without trades, have no break-even cost', () => {
    const losing = find(pairs(5, 0.2), MECHANICAL);
    expect(losing).toMatchObject({
      cost: null,
      method: 'closed_form',
      reason: 'The trades lose without any costs.',
    });
    const withTable = { ...MECHANICAL, minimalRoi: { 0: 0.5 } };
    expect(find(pairs(5, 0.1), withTable)).toMatchObject({
      cost: null,
      method: 'same_trades',
      simulations: 0,
    });
    expect(find(pairs(5, 0.1), withTable, true)).toMatchObject({ cost: null, method: 'simulated' });
    const none = pairs(5).map((pair) => ({ ...pair, signals: {} }));
    expect(find(none, MECHANICAL)).toEqual({
      cost: null,
      paid: 0.0005,
      method: null,
      simulations: 0,
      reason: 'The run has no trades.',
    });
  });

  it('a liquidation price that contains the fee excludes the closed form', () => {
    const inputs = pairs(2);
    const settings = {
      ...MECHANICAL,
      leverage: 2,
      liquidation: { maintenanceMarginRate: 0.005, buffer: 0.05 },
    };
    const trades = tradeColumns(simulate(inputs, settings).table);
    expect(costsKeepTrades({ pairs: inputs, settings, trades }, 0.001)).toBe(false);
    const apart = { ...settings, liquidation: MECHANICAL.liquidation };
    expect(costsKeepTrades({ pairs: inputs, settings: apart, trades }, 0.001)).toBe(true);
  });
});
