import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Protection } from '#contract/config/protections.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import type { Instrument } from '#engine/instrument.ts';
import { simulate } from '#engine/simulator/simulate.ts';
import type { PairInput, Simulation, SimulationSettings } from '#engine/simulator/types.ts';
import type { DailyCosts } from '#engine/slippage/daily-costs.ts';
import type { CallbackContext, StrategyCallbacks } from '#engine/strategy.ts';
import { START } from './market.ts';
import { pairs, settings, withDetail } from './random-pairs.ts';

const TIERS: Instrument['leverageTiers'] = [
  { minNotional: 0, maxNotional: 500, maxLeverage: 20, maintenanceRate: 0.005, maintenanceAmount: 0 },
  { minNotional: 500, maxNotional: 2_000, maxLeverage: 10, maintenanceRate: 0.02, maintenanceAmount: 7.5 },
  { minNotional: 2_000, maxNotional: 50_000, maxLeverage: 4, maintenanceRate: 0.1, maintenanceAmount: 167.5 },
];

const instrument = fc.option(
  fc.record({
    amountStep: fc.constantFrom(null, 0.001, 0.1),
    minAmount: fc.constantFrom(null, 0.1),
    maxAmount: fc.constantFrom(null, 20),
    minCost: fc.constantFrom(null, 5, 60),
    maxCost: fc.constantFrom(null, 500),
    contractSize: fc.constantFrom(1, 0.5),
    priceTick: fc.constantFrom(null, 0.5, 1),
    leverageTiers: fc.constantFrom(undefined, TIERS),
  }),
  { nil: undefined },
);

const days = 12;
const costs: fc.Arbitrary<DailyCosts | undefined> = fc.constantFrom(
  undefined,
  {
    firstDay: START / DAY_MS,
    spread: new Float64Array(days).fill(0.002),
    impact: new Float64Array(days).fill(0.001),
  },
  {
    firstDay: START / DAY_MS,
    spread: Float64Array.from({ length: days }, (_, day) => (day % 2 === 0 ? Number.NaN : 0.01)),
    impact: null,
  },
);

const protection: fc.Arbitrary<Protection> = fc.constantFrom<Protection>(
  { method: 'CooldownPeriod', stop_duration_candles: 2, lookback_period_candles: 5 },
  { method: 'StoplossGuard', trade_limit: 1, lookback_period_candles: 20, stop_duration: 90 },
  {
    method: 'StoplossGuard',
    trade_limit: 2,
    only_per_side: true,
    only_per_pair: true,
    lookback_period_candles: 40,
    unlock_at: '13:30',
  },
  { method: 'LowProfitPairs', trade_limit: 1, lookback_period_candles: 10, stop_duration_candles: 6 },
  {
    method: 'MaxDrawdown',
    trade_limit: 1,
    lookback_period_candles: 30,
    max_allowed_drawdown: 0.0005,
    calculation_mode: 'equity',
    stop_duration_candles: 4,
  },
);

/** Inputs with everything that a pair may have. */
const inputs: fc.Arbitrary<PairInput[]> = fc
  .tuple(
    pairs(3),
    fc.array(fc.tuple(instrument, costs, fc.constantFrom(0, 1, 30, 1e6)), { minLength: 3, maxLength: 3 }),
  )
  .map(([plain, extras]) =>
    plain.map((input, at) => {
      const [own, daily, volume] = extras[at]!;
      input.candles.volume.fill(volume);
      return {
        ...input,
        ...(own && { instrument: own as Instrument }),
        ...(daily && { costs: daily }),
      };
    }),
  );

const run: fc.Arbitrary<SimulationSettings> = fc
  .tuple(
    settings,
    fc.record(
      {
        tradableBalanceRatio: fc.constantFrom(0.5, 0.99, 1),
        availableCapital: fc.constantFrom(50, 400, 5_000),
        amendLastStakeAmount: fc.boolean(),
        lastStakeAmountMinRatio: fc.constantFrom(0, 0.5),
        unfilledTimeout: fc.constantFrom({ entry: 60 }, { exit: 30 }, { entry: 300, exit: 300 }),
        ignoreEntryAfterCandles: fc.constantFrom(1, 2),
        positionStacking: fc.boolean(),
        maxAdjustments: fc.constantFrom(0, 1, 3),
        participation: fc.constantFrom(0.01, 0.1, 1),
        protections: fc.array(protection, { maxLength: 3 }),
      },
      { requiredKeys: [] },
    ),
    fc.constantFrom('isolated', 'cross'),
    fc.constantFrom(200, 1_000, 100_000),
  )
  .map(([base, extra, marginMode, startingBalance]) => ({
    ...base,
    ...extra,
    startingBalance,
    liquidation: { ...base.liquidation, marginMode },
  }));

/** Every callback, with answers that depend on time and pair only. */
function callbacksOf(seed: number): Required<StrategyCallbacks> {
  const wish = (time: number, pair: string, salt: number) => {
    let hash = (Math.imul((time / 60_000) | 0, 2_654_435_761) ^ Math.imul(seed + salt, 40_503)) >>> 0;
    for (const char of pair) hash = Math.imul(hash ^ char.charCodeAt(0), 16_777_619) >>> 0;
    return ((hash ^ (hash >>> 13)) >>> 3) % 100;
  };
  const away = [0, 0, 0.005, 0.02, 0.05];
  return {
    leverage: ({ time, pair }, _side, proposed) => [proposed, 1, 5, 25][wish(time, pair, 1) % 4]!,
    customStake: ({ time, pair }, _side, proposed) =>
      [proposed, proposed / 3, 7, 1e5][wish(time, pair, 2) % 4]!,
    customEntryPrice: ({ time, pair }, side, open) =>
      open * (1 - (side === 'long' ? 1 : -1) * away[wish(time, pair, 3) % 5]!),
    customExitPrice: ({ time, pair }, { side }, open) =>
      open * (1 + (side === 'long' ? 1 : -1) * away[wish(time, pair, 4) % 5]!),
    adjustEntryPrice: ({ time, pair }, _trade, price) =>
      [price, price * 1.01, price * 0.99, null][wish(time, pair, 5) % 4]!,
    adjustExitPrice: ({ time, pair }, _trade, price) =>
      [price, price * 1.01, price * 0.99, null][wish(time, pair, 6) % 4]!,
    checkEntryTimeout: ({ time, pair }) => wish(time, pair, 7) < 10,
    checkExitTimeout: ({ time, pair }) => wish(time, pair, 8) < 10,
    confirmEntry: ({ time, pair }) => wish(time, pair, 9) < 90,
    confirmExit: ({ time, pair }) => wish(time, pair, 10) < 90,
    customStoploss: ({ time, pair }) => (wish(time, pair, 11) < 20 ? 0.03 : null),
    afterFill: ({ time, pair }) => (wish(time, pair, 12) < 50 ? 0.08 : null),
    customRoi: ({ time, pair }) => (wish(time, pair, 13) < 20 ? 0.01 : null),
    customExit: ({ time, pair }) => (wish(time, pair, 14) < 10 ? 'mine' : null),
    adjustPosition: ({ time, pair }, { stake }, _price, _profit, { maxStake }) => {
      const choice = wish(time, pair, 15);
      if (choice < 15) return Math.min(50, maxStake);
      if (choice < 20) return { stake: 1e9, tag: 'all' };
      if (choice < 30) return -stake / 3;
      if (choice < 33) return { stake: -2 * stake, tag: 'out' };
      return choice < 36 ? -0.0001 : null;
    },
    orderFilled: ({ state }, { data }, { amount, price, kind }) => {
      if (!(amount > 0 && price > 0 && Number.isFinite(amount * price)))
        throw new Error(`filled ${amount} at ${price}`);
      data.set('fills', [...(data.get<string[]>('fills') ?? []), kind]);
      state.set('fills', (state.get<number>('fills') ?? 0) + 1);
    },
    loopStart: ({ time, state }) => {
      const before = state.get<number>('time');
      if (before !== undefined && time - before !== 3_600_000) throw new Error('skipped');
      state.set('time', time);
    },
  };
}

const NAMES = Object.keys(callbacksOf(0)) as (keyof StrategyCallbacks)[];
/** Any of the callbacks. */
const callbacks: fc.Arbitrary<StrategyCallbacks> = fc
  .tuple(fc.nat(1000), fc.subarray(NAMES))
  .map(([seed, names]) => {
    const all = callbacksOf(seed);
    return Object.fromEntries(names.map((name) => [name, all[name]]));
  });

/** Numbers that a trade may lack. */
const OPTIONAL = new Set(['liquidationPrice']);

function check(
  { trades, finalBalance, curve, locks, counters }: Simulation,
  settings: SimulationSettings,
): void {
  let balance = settings.startingBalance;
  for (const trade of trades) {
    balance += trade.profit;
    for (const [name, value] of Object.entries(trade))
      if (typeof value === 'number' && !OPTIONAL.has(name))
        expect(Number.isFinite(value), `${name} ${value}`).toBe(true);
    expect(trade.amount).toBeGreaterThan(0);
    expect(trade.stake).toBeGreaterThan(0);
    expect(trade.leverage).toBeGreaterThanOrEqual(1);
    expect(trade.exitPrice).toBeGreaterThan(0);
    expect(trade.closedAt).toBeGreaterThanOrEqual(trade.openedAt);
    if (!trade.orders) continue;
    let held = 0;
    let filled = Number.NEGATIVE_INFINITY;
    for (const { side, amount, price, fee, filledAt, placedAt } of trade.orders) {
      expect(amount).toBeGreaterThan(0);
      expect(price).toBeGreaterThan(0);
      expect(fee).toBeGreaterThanOrEqual(0);
      expect(filledAt).toBeGreaterThanOrEqual(placedAt);
      expect(filledAt).toBeGreaterThanOrEqual(trade.leftOpen ? Number.NEGATIVE_INFINITY : filled);
      filled = filledAt;
      held += side === 'entry' ? amount : -amount;
      expect(held).toBeGreaterThan(-1e-9 * (1 + amount));
    }
    expect(Math.abs(held)).toBeLessThan(1e-6);
  }
  const tolerance = 1e-6 + 1e-9 * Math.abs(balance);
  expect(Math.abs(finalBalance - balance)).toBeLessThan(tolerance);
  if (curve && curve.equity.length > 0) {
    expect(curve.equity.at(-1)).toBe(finalBalance);
    expect(curve.balance.at(-1)).toBe(finalBalance);
    for (const value of curve.equity) expect(Number.isFinite(value)).toBe(true);
    for (const value of curve.openTrades) expect(value).toBeLessThanOrEqual(settings.maxOpenTrades);
  }
  for (const value of Object.values(counters)) expect(value).toBeGreaterThanOrEqual(0);
  const forced = new Set(trades.filter(({ leftOpen }) => leftOpen).map(({ closedAt }) => closedAt));
  for (const { pair, side, from, until } of locks) {
    expect(until).toBeGreaterThan(from);
    // Made at the end of the run, in retrospect.
    if (forced.has(from)) continue;
    for (const trade of trades) {
      const isLocked = (pair === null || pair === trade.pair) && (side === null || side === trade.side);
      // Entries of the closing candle may have been ordered before the exit.
      if (isLocked && trade.openedAt > from) expect(trade.openedAt).toBeGreaterThanOrEqual(until);
    }
  }
}

describe('simulation with everything switched on', () => {
  it('cash is the start plus profits, amounts are positive, numbers finite and locks kept', () => {
    fc.assert(
      fc.property(inputs, run, callbacks, fc.boolean(), (pairs, base, own, detail) => {
        const given = detail ? pairs.map(withDetail) : pairs;
        const settings = {
          ...base,
          callbacks: own,
          ...(detail && { detailTimeframeMs: base.timeframeMs / 2 }),
        };
        check(simulate(given, settings), settings);
      }),
      { numRuns: 1_000 },
    );
  });

  it('run that does not depend on the fill model has the same trades under the other one', () => {
    let independent = 0;
    fc.assert(
      fc.property(inputs, run, callbacks, fc.boolean(), (pairs, base, own, detail) => {
        const { customStoploss: _, ...still } = own;
        const { trailing: __, ...untrailed } = base;
        const settings: SimulationSettings = {
          ...untrailed,
          callbacks: still,
          ...(detail && { detailTimeframeMs: base.timeframeMs / 2 }),
        };
        const given = detail ? pairs.map(withDetail) : pairs;
        const models = (['freqtrade', 'conservative'] as const).map((fillModel) =>
          simulate(given, { ...settings, fillModel }),
        );
        if (models.some(({ dependsOnFillModel }) => dependsOnFillModel)) {
          expect(models.map(({ dependsOnFillModel }) => dependsOnFillModel)).toEqual([true, true]);
          return;
        }
        independent++;
        expect(models[1]!.trades).toEqual(models[0]!.trades);
      }),
      { numRuns: 1_000 },
    );
    expect(independent).toBeGreaterThan(100);
  });

  it('skipping candles and pairs does not change the result', () => {
    fc.assert(
      fc.property(inputs, run, callbacks, (pairs, settings, own) => {
        const { loopStart: _, ...skipping } = own;
        const play = (more: StrategyCallbacks) => {
          const calls: string[] = [];
          const noted = Object.entries(skipping).map(([name, callback]) => [
            name,
            (context: CallbackContext, ...args: unknown[]) => {
              const shown = args.map((each) => (typeof each === 'object' ? '' : each));
              calls.push([name, context.time, context.pair, context.state.get('fills'), ...shown].join(' '));
              return (callback as (...args: unknown[]) => unknown)(context, ...args);
            },
          ]);
          const callbacks: StrategyCallbacks = { ...Object.fromEntries(noted), ...more };
          return { ...simulate(pairs, { ...settings, callbacks }), calls };
        };
        const plain = play({});
        expect(play({ loopStart: () => {} })).toEqual(plain);
        if (!('customRoi' in skipping)) expect(play({ customRoi: () => null })).toEqual(plain);
      }),
      { numRuns: 1_000 },
    );
  });
});
