import { describe, expect, it } from 'vitest';
import { fetchLeverageTiers } from '#adapters/exchange/ccxt-tiers.ts';
import { importLeverageTiers } from '#adapters/import/leverage-tiers.ts';
import type { InstrumentRecord } from '#contract/market-data/stored-market-data.ts';
import { CodedError } from '#contract/values/errors.ts';
import { InstrumentCollector, instrumentOf } from '#domain/data/collect-instruments.ts';
import type { Exchange } from '#domain/data/exchange-ports.ts';
import type { InstrumentStore } from '#domain/data/instrument-ports.ts';
import { readLeverageTiers } from '#domain/data/leverage-tiers.ts';
import type { Instrument } from '#engine/instrument.ts';

const tier = (min: number, max: number, leverage: number, rate: number, cum?: string) => ({
  minNotional: min,
  maxNotional: max,
  maxLeverage: leverage,
  maintenanceMarginRate: rate,
  ...(cum !== undefined && { info: { cum } }),
});
/** The first tiers of BTC/USDT:USDT in freqtrade's file. */
const BTC = [
  tier(0, 50_000, 125, 0.004, '0.0'),
  tier(50_000, 500_000, 100, 0.005, '50.0'),
  tier(500_000, 10_000_000, 50, 0.01, '2550.0'),
];

describe('leverage tiers', () => {
  it('amounts that are stated equal those that follow from the rates', () => {
    const stated = readLeverageTiers(BTC);
    expect(stated.map(({ maintenanceAmount }) => maintenanceAmount)).toEqual([0, 50, 2550]);
    const own = readLeverageTiers(BTC.map(({ info: _, ...rest }) => rest));
    for (const [index, { maintenanceAmount }] of own.entries())
      expect(maintenanceAmount).toBeCloseTo(stated[index]!.maintenanceAmount, 8);
  });

  it.each([
    [[], 'must be a list'],
    [{}, 'must be a list'],
    [[tier(5, 10, 5, 0.01)], 'leverage tier 1: begins at 5, not at 0'],
    [[BTC[0], BTC[2]], 'leverage tier 2: begins at 500000, not at 50000'],
    [[tier(0, 0, 5, 0.01)], 'leverage tier 1: ends at 0'],
    [[tier(0, 9, 5, 0.01), tier(9, 20, 4, 0.005)], 'leverage tier 2: rate 0.005 is below'],
    [[tier(0, 9, 5, 0.01), tier(9, 20, 6, 0.02)], 'leverage tier 2: maximum leverage 6 is above'],
    [[tier(0, 9, 0.5, 0.01)], 'leverage tier 1: maximum leverage 0.5 is below 1'],
    [[tier(0, 9, 5, 1)], 'leverage tier 1: rate 1'],
    [[{ minNotional: 0, maxNotional: 9 }], 'leverage tier 1: a number is missing'],
    [[null], 'leverage tier 1: a number is missing'],
    [
      [tier(0, 9, 5, 0.01, '1')],
      'leverage tier 1: amount 1 lets the margin jump at 0; it is continuous with 0',
    ],
    // Margins of an exchange that states 0 for each tier, and of one with amounts in another unit.
    [
      [BTC[0], tier(50_000, 500_000, 100, 0.005, '0')],
      'leverage tier 2: amount 0 lets the margin jump at 50000',
    ],
    [[BTC[0], BTC[1], tier(500_000, 1e7, 50, 0.01, '2.55')], 'it is continuous with 2550'],
  ])('tiers %j are rejected', (given, problem) => {
    expect(() => readLeverageTiers(given)).toThrow(problem);
  });
});

const PLAIN: Instrument = {
  amountStep: 0.001,
  minAmount: null,
  maxAmount: null,
  minCost: 5,
  maxCost: null,
  contractSize: 1,
  priceTick: 0.1,
};
const NOW = Date.UTC(2026, 0, 5);
const clock = { now: () => NOW };

/** Instruments in memory. */
function storeOf(
  symbols: readonly string[],
): InstrumentStore & { readonly all: Map<string, InstrumentRecord> } {
  const record: InstrumentRecord = {
    amount_step: 0.001,
    min_amount: null,
    max_amount: null,
    min_cost: 5,
    max_cost: null,
    contract_size: 1,
    price_tick: 0.1,
    collected_at: '2026-01-01T00:00:00.000Z',
  };
  const all = new Map(symbols.map((symbol) => [symbol, record]));
  return {
    all,
    getMany: async () => all,
    list: async () => all,
    history: async () => [],
    record: async (_exchange, symbol, each) => void all.set(symbol, each),
  };
}

it('amounts that an exchange rounds are kept', () => {
  const rounded = [BTC[0], tier(50_000, 500_000, 100, 0.005, '51')];
  expect(readLeverageTiers(rounded)[1]!.maintenanceAmount).toBe(51);
});

describe('import of leverage tiers', () => {
  it('tiers are stored with the instruments, and the invalid ones named', async () => {
    const instruments = storeOf(['BTC/USDT:USDT', 'ETH/USDT:USDT', 'SOL/USDT:USDT']);
    const jumping = [BTC[0], tier(50_000, 500_000, 100, 0.005, '0')];
    const text = JSON.stringify({ 'BTC/USDT:USDT': BTC, 'ETH/USDT:USDT': jumping, 'XRP/USDT:USDT': BTC });
    expect(await importLeverageTiers(text, 'binanceusdm', { instruments, clock })).toEqual({
      imported: ['BTC/USDT:USDT'],
      missing: ['SOL/USDT:USDT'],
      failed: [
        {
          symbol: 'ETH/USDT:USDT',
          reason: 'leverage tier 2: amount 0 lets the margin jump at 50000; it is continuous with 50',
        },
      ],
    });
    const { leverageTiers, tiersSource } = instrumentOf(instruments.all.get('BTC/USDT:USDT')!);
    expect(leverageTiers).toEqual(readLeverageTiers(BTC));
    expect(tiersSource).toBe('import');
    expect(instruments.all.get('ETH/USDT:USDT')).not.toHaveProperty('leverage_tiers');
  });

  it.each([
    ['{', 'not valid JSON'],
    ['[]', 'does not hold an object'],
  ])('the text %j is rejected', async (text, problem) => {
    const instruments = storeOf(['BTC/USDT:USDT']);
    await expect(importLeverageTiers(text, 'binanceusdm', { instruments, clock })).rejects.toThrow(problem);
  });

  it('an exchange without stored instruments is rejected', async () => {
    const instruments = storeOf([]);
    await expect(importLeverageTiers('{}', 'binanceusdm', { instruments, clock })).rejects.toThrow(
      'No instrument of binanceusdm is stored',
    );
  });
});

describe('collected leverage tiers', () => {
  const caller = { call: <T>(work: () => Promise<T>) => work() };
  const fetch = (exchange: string, has: unknown, given: () => unknown, symbol = 'BTC/USDT:USDT') =>
    fetchLeverageTiers(
      { has: { fetchMarketLeverageTiers: has }, fetchMarketLeverageTiers: async () => given() },
      caller,
      exchange,
      symbol,
    );

  it('tiers are asked only of exchanges that publish them in quote currency', async () => {
    expect(await fetch('bybit', true, () => BTC)).toEqual(readLeverageTiers(BTC));
    expect(await fetch('bybit', true, () => BTC, 'BTC/USDT')).toBeUndefined();
    expect(await fetch('binanceusdm', 'emulated', () => BTC)).toBeUndefined();
    expect(await fetch('okx', true, () => BTC)).toBeUndefined();
    expect(await fetch('gate', true, () => [BTC[1]])).toBeUndefined();
    const down = new CodedError('DATA004', { context: {} });
    expect(
      await fetch('bitget', true, () => {
        throw down;
      }),
    ).toBeUndefined();
    const stopped = new Error('stopped');
    const abort = fetch('bybit', true, () => {
      throw stopped;
    });
    await expect(abort).rejects.toBe(stopped);
  });

  const collect = async (instruments: InstrumentStore, instrument: Instrument) => {
    const exchange = {
      name: 'bybit',
      fetchInstrument: async () => instrument,
    } as Partial<Exchange> as Exchange;
    const collector = await InstrumentCollector.open({ instruments, clock }, exchange, ['BTC/USDT:USDT']);
    await collector.collect('BTC/USDT:USDT');
  };

  it("an exchange's tiers replace imported ones, which stay where it gives none", async () => {
    const instruments = storeOf(['BTC/USDT:USDT']);
    const text = JSON.stringify({ 'BTC/USDT:USDT': BTC.slice(0, 1) });
    await importLeverageTiers(text, 'bybit', { instruments, clock });
    await collect(instruments, PLAIN);
    const kept = instruments.all.get('BTC/USDT:USDT')!;
    expect(kept.collected_at).toBe('2026-01-05T00:00:00.000Z');
    expect(kept.leverage_tiers).toMatchObject({ source: 'import', tiers: [{ max_notional: 50_000 }] });
    instruments.all.set('BTC/USDT:USDT', { ...kept, collected_at: '2026-01-01T00:00:00.000Z' });
    await collect(instruments, { ...PLAIN, leverageTiers: readLeverageTiers(BTC) });
    expect(instruments.all.get('BTC/USDT:USDT')!.leverage_tiers).toMatchObject({
      source: 'exchange',
      at: '2026-01-05T00:00:00.000Z',
      tiers: [{}, {}, { min_notional: 500_000, maintenance_rate: 0.01, maintenance_amount: 2550 }],
    });
  });
});
