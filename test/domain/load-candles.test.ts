import { beforeEach, expect, it, vi } from 'vitest';
import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type { InstrumentRecord } from '#contract/market-data/stored-market-data.ts';
import { loadTrialData } from '#domain/hyperopt/load-trial-data.ts';
import { loadCandles } from '#domain/inputs/load-candles.ts';
import { finalFailure } from '#domain/shared/final-failure.ts';
import { emaCrossover } from '#engine/strategies/ema-crossover.ts';
import { fileEngine } from '../support/file-engine.ts';
import { pendingHyperopt } from '../support/hyperopt-workers.ts';
import { pendingJob } from '../support/jobs.ts';
import { at, BTC, candlesAt, ETH, grid, HOUR, INSTRUMENT, type Market, openMarket } from './data/market.ts';

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
