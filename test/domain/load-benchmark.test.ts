import { beforeEach, expect, it } from 'vitest';
import { DAY_MS } from '#contract/values/durations.ts';
import { CodedError } from '#contract/values/errors.ts';
import { loadBenchmark } from '#domain/inputs/load-benchmark.ts';
import { CorruptFileError } from '#domain/shared/corrupt-file.ts';
import { TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';
import { fileEngine } from '../support/file-engine.ts';
import { at, BTC, candlesAt, ETH, grid, type Market, openMarket } from './data/market.ts';

const engine = fileEngine();
let market: Market;
beforeEach(async () => {
  market = await openMarket(engine);
  return () => market.stop();
});

const START = at('2024-01-01');
const DAYS = 100;
const END = START + DAYS * DAY_MS;

const store = (timeframe: Timeframe, from = START, to = END, symbol = BTC) =>
  market.candles.write(
    { exchange: 'test', symbol, timeframe },
    candlesAt(grid(from, to, TIMEFRAME_MS[timeframe]), TIMEFRAME_MS[timeframe]),
  );

const RUN = {
  exchange: 'test',
  timeframe: '1h' as const,
  pairs: [ETH],
  date_range: { start: new Date(START).toISOString(), end: new Date(END).toISOString() },
};

it('reads the whole days of stored bitcoin, computed of shorter candles', async () => {
  await store('4h', START - 5 * DAY_MS, END + 5 * DAY_MS);
  const benchmark = await loadBenchmark(market, RUN);
  expect(benchmark).toMatchObject({ pair: BTC, source: '4h' });
  const { timestamp } = (benchmark as { candles: { timestamp: Float64Array } }).candles;
  expect([timestamp[0], timestamp.length]).toEqual([START, DAYS]);
  expect(benchmark).toHaveProperty('funding');
});

it('reads nothing for a run that trades bitcoin, is short, or without stored bitcoin', async () => {
  expect(await loadBenchmark(market, RUN)).toBeUndefined();
  await store('1d');
  expect(await loadBenchmark(market, { ...RUN, pairs: [ETH, BTC] })).toBeUndefined();
  const week = { ...RUN.date_range, end: new Date(START + 7 * DAY_MS).toISOString() };
  expect(await loadBenchmark(market, { ...RUN, date_range: week })).toBeUndefined();
  expect(await loadBenchmark(market, { ...RUN, exchange: 'other' })).toBeUndefined();
  expect(await loadBenchmark(market, { ...RUN, pairs: ['ETH/BTC'], trading_mode: 'spot' })).toBeUndefined();
});

it('reads spot bitcoin for a spot run', async () => {
  await store('1d', START, END, 'BTC/USDT');
  const benchmark = await loadBenchmark(market, { ...RUN, pairs: ['ETH/USDT'], trading_mode: 'spot' });
  expect(benchmark).toMatchObject({ pair: 'BTC/USDT', source: '1d' });
  expect(benchmark).not.toHaveProperty('funding');
});

it('many short candles would take too long', async () => {
  await store('1m', START, START + DAY_MS);
  expect(await loadBenchmark(market, RUN)).toEqual({
    pair: BTC,
    reason: `The stored candles of ${BTC} are too short for ${DAYS} days. Collect its 1h candles to compare with it.`,
  });
});

it('a corrupt file and wide gaps are the reason, and an outage is not', async () => {
  await store('1d');
  const failing = (error: unknown) => ({
    ...market,
    candles: {
      read: async () => Promise.reject(error),
      readFunding: market.candles.readFunding.bind(market.candles),
    },
  });
  const corrupt = await loadBenchmark(failing(new CorruptFileError('2024-01.parquet', '2024-01')), RUN);
  expect(corrupt).toMatchObject({ pair: BTC, reason: expect.stringContaining('2024-01.parquet is corrupt') });
  await expect(loadBenchmark(failing(new CodedError('DATA005', {})), RUN)).rejects.toThrow();
  const gaps = candlesAt([START, START + 50 * DAY_MS, END - DAY_MS], DAY_MS);
  const lacking = { ...market, candles: { ...failing(null).candles, read: async () => gaps } };
  expect(await loadBenchmark(lacking, RUN)).toMatchObject({
    reason: expect.stringContaining('1d candles of BTC/USDT:USDT are missing, more than 10 %'),
  });
});
