import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type { InstrumentRecord } from '#contract/market-data/stored-market-data.ts';
import { loadTrialData } from '#domain/hyperopt/load-trial-data.ts';
import { loadCandles } from '#domain/inputs/load-candles.ts';
import { finalFailure } from '#domain/shared/final-failure.ts';
import type { Candles } from '#engine/candles.ts';
import { emaCrossover } from '#engine/strategies/ema-crossover.ts';
import { fileEngine } from '../support/file-engine.ts';
import { pendingHyperopt } from '../support/hyperopt-workers.ts';
import { pendingJob } from '../support/jobs.ts';
import {
  at,
  BTC,
  candlesAt,
  DAY,
  ETH,
  grid,
  HOUR,
  INSTRUMENT,
  type Market,
  openMarket,
} from './data/market.ts';

const engine = fileEngine();
let market: Market;
const [START, END] = [at('2024-05-01'), at('2024-05-02')];
const RECORD: InstrumentRecord = {
  amount_step: 0.001,
  min_amount: 0.001,
  max_amount: 1000,
  min_cost: 100,
  max_cost: null,
  contract_size: 1,
  price_tick: 0.1,
  collected_at: '2024-05-03T00:00:00.000Z',
};
beforeEach(async () => {
  market = await openMarket(engine);
  for (const symbol of [BTC, ETH]) {
    const key = { exchange: 'test', symbol, timeframe: '1h' } as const;
    await market.candles.write(key, candlesAt(grid(START, END, HOUR), HOUR));
  }
  await market.instruments.record('test', BTC, RECORD);
  return () => market.stop();
});

const load = (changes: Partial<ResolvedBacktestConfig>) => {
  const config = {
    ...pendingJob('bt-1').config,
    exchange: 'test',
    timeframe: '1h' as const,
    pairs: [BTC],
    date_range: { start: new Date(START).toISOString(), end: new Date(END).toISOString() },
    ...changes,
  };
  return loadCandles(market, config, START, { collection: null });
};

it('loadCandles returns the currently stored instrument when precision is exchange', async () => {
  expect((await load({ precision: 'exchange' }))[0]!.instrument).toEqual(INSTRUMENT);
  await market.instruments.record('test', BTC, { ...RECORD, contract_size: 0.1, min_cost: null });
  expect(await load({ precision: 'exchange' })).toMatchObject([
    { pair: BTC, instrument: { ...INSTRUMENT, contractSize: 0.1, minCost: null } },
  ]);
});

it('loadCandles omits the instrument when precision is none', async () => {
  const [pair] = await load({ precision: 'none' });
  expect(pair).not.toHaveProperty('instrument');
});

it('loadCandles fails with DATA001 when an instrument is no longer stored', async () => {
  const rejected = await load({ precision: 'exchange', pairs: [BTC, ETH] }).catch((error: unknown) => error);
  expect(rejected).toMatchObject({ code: 'DATA001', context: { exchange: 'test', missing: [ETH] } });
  expect(finalFailure(rejected)).toMatchObject({ code: 'DATA001', message: expect.stringContaining(ETH) });
});

it('loadTrialData uses the instruments recorded when the hyperopt job was created', async () => {
  const job = pendingHyperopt('ho-1');
  const range = { start: new Date(START).toISOString(), end: new Date(END).toISOString() };
  const base = { ...job.base, exchange: 'test', timeframe: '1h' as const, pairs: [BTC], date_range: range };
  const running = {
    ...job,
    status: 'running' as const,
    started_at: range.end,
    base: { ...base, precision: 'exchange' as const },
    execution_input: { ...job.execution_input, ...range },
  };
  const findStrategy = async () => ({
    definition: emaCrossover,
    digest: 's',
    load: async () => emaCrossover,
  });
  const trials = async (instruments?: Record<string, InstrumentRecord>) => {
    const data = await loadTrialData(
      { ...market, findStrategy },
      { ...running, ...(instruments && { instruments }) },
    );
    return data.pairs[0]!.instrument;
  };
  await market.instruments.record('test', BTC, { ...RECORD, contract_size: 0.1 });
  expect(await trials({ [BTC]: RECORD })).toEqual(INSTRUMENT);
  // Jobs of an earlier version stored no instruments.
  expect(await trials()).toEqual({ ...INSTRUMENT, contractSize: 0.1 });
});

it('loadCandles reads the months of all pairs in one read', async () => {
  const single = vi.spyOn(market.series, 'months');
  const loaded = await load({ pairs: [BTC, ETH] });
  expect(loaded.map(({ candles }) => candles.timestamp.length)).toEqual([24, 24]);
  expect(single).not.toHaveBeenCalled();
});

it('loadCandles fails with DATA005 when the file of a recorded month is missing', async () => {
  const month = { month: '2024-05', first: START, last: END - HOUR, count: 24 };
  const summary = { ...month, gap_count: 0, gaps: [], longest_omitted_gap: 0 };
  const key = { exchange: 'test', symbol: 'SOL/USDT:USDT', timeframe: '1h' } as const;
  await market.series.record(key, [summary], '2024-05-03T00:00:00.000Z');
  await expect(load({ pairs: [BTC, key.symbol] })).rejects.toMatchObject({
    code: 'DATA005',
    message: expect.stringContaining('2024-05.parquet is missing'),
  });
});

it('loadCandles says why candles are missing', async () => {
  const key = { exchange: 'kraken', symbol: BTC, timeframe: '1h' } as const;
  const times = grid(START, END, HOUR).filter(
    (time) => time !== START + 5 * HOUR && time !== START + 6 * HOUR,
  );
  await market.candles.import(key, candlesAt(times, HOUR), '01J');
  expect(await load({ exchange: 'kraken' })).toMatchObject([
    { missing: { damage: [], no_trades: [[START + 5 * HOUR, 2]] } },
  ]);
  expect((await load({}))[0]).not.toHaveProperty('missing');
});

describe('candles of 3d', () => {
  const key = { exchange: 'binanceusdm', symbol: BTC, timeframe: '1d' } as const;
  const days = (...dates: string[]) => dates.map((date) => new Date(at(`2023-08-${date}`)).toISOString());
  const run = {
    exchange: 'binanceusdm',
    date_range: { start: '2023-08-14T00:00:00.000Z', end: '2023-08-25T12:00:00.000Z' },
  };
  const facts = { ownFeatures: false, informativeTimeframes: ['3d'] } as const;
  const loadWith = async (changes: Partial<ResolvedBacktestConfig>, startup = 1) => {
    const config = {
      ...pendingJob('bt-1').config,
      timeframe: '1d' as const,
      pairs: [BTC],
      ...run,
      ...changes,
    };
    const strategy = { facts: config.timeframe === '3d' ? { ownFeatures: false } : facts, startup };
    const collected = { collection: null, strategy };
    const [pair] = await loadCandles(market, config, Date.parse(config.date_range.start), collected);
    return pair!;
  };
  beforeEach(() => market.candles.write(key, candlesAt(grid(at('2023-08-01'), at('2023-08-27'), DAY), DAY)));

  // 2023-08-14 is day 19,583 since 1970, 3 * 6,527 + 2. That candle lasted two days.
  it('open when those of Binance do, on the days before and after it moved them', async () => {
    const { informative } = await loadWith({});
    const [{ candles, source }] = informative as unknown as [{ candles: Candles; source: string }];
    expect(source).toBe('1d');
    expect([...candles.timestamp].map((time) => new Date(time).toISOString())).toEqual(
      days('05', '08', '11', '14', '16', '19', '22'),
    );
    const [moved] = [candles.timestamp.indexOf(at('2023-08-14'))];
    expect([candles.volume[moved - 1], candles.volume[moved], candles.volume[moved + 1]]).toEqual([
      15, 10, 15,
    ]);
    expect(candles.close[moved]).toBe(candles.open[moved + 1]);
  });

  it('open at multiples of three days on other exchanges', async () => {
    await market.candles.write(
      { ...key, exchange: 'bybit' },
      candlesAt(grid(at('2023-08-01'), at('2023-08-27'), DAY), DAY),
    );
    const { informative } = await loadWith({ exchange: 'bybit', timeframe: '1d' });
    // Made of the candles that are traded.
    expect(informative).toBeUndefined();
  });

  it('are traded on the common grid, and their funding and detail with them', async () => {
    const events = grid(at('2023-08-01'), at('2023-08-27'), 8 * HOUR);
    await market.candles.writeFunding('binanceusdm', BTC, {
      timestamp: Float64Array.from(events),
      rate: new Float64Array(events.length).fill(0.0001),
      markPrice: new Float64Array(events.length).fill(1000),
    });
    const traded = await loadWith({
      timeframe: '3d',
      timeframe_detail: '1d',
      date_range: { start: '2023-08-12T00:00:00.000Z', end: '2023-08-24T00:00:00.000Z' },
    });
    const { candles, detail, funding } = traded;
    for (const [row, time] of candles.timestamp.entries()) {
      expect(time % (3 * DAY)).toBe(0);
      const inside = [...detail!.timestamp].filter((each) => each >= time && each < time + 3 * DAY);
      const first = detail!.timestamp.indexOf(inside[0]!);
      if (time < at('2023-08-12')) continue;
      expect(detail!.open[first]).toBe(candles.open[row]);
      expect(detail!.close[first + inside.length - 1]).toBe(candles.close[row]);
      const paid = [...funding!.timestamp].filter((each) => each >= time && each < time + 3 * DAY);
      expect(paid).toHaveLength(inside.length * 3);
    }
  });
});
