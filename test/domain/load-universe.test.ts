import { beforeEach, expect, it } from 'vitest';
import { loadCandles } from '#domain/inputs/load-candles.ts';
import { loadUniverse } from '#domain/inputs/load-universe.ts';
import { fileEngine } from '../support/file-engine.ts';
import { pendingJob } from '../support/jobs.ts';
import { at, candlesAt, DAY, grid, HOUR, type Market, openMarket } from './data/market.ts';

const engine = fileEngine();
let market: Market;
beforeEach(async () => {
  market = await openMarket(engine);
  return () => market.stop();
});

const [FIRST, START, END] = [at('2024-04-01'), at('2024-05-01'), at('2024-05-08')];
/** The largest volume first. */
const NAMES = ['A', 'B', 'C', 'D', 'E', 'F'];
const CORRUPT = ['A', 'B', 'D'];
const symbolOf = (name: string) => `${name}/USDT:USDT`;
const fundingOf = (name: string) => `funding/exchange=test/symbol=${name}_USDT_USDT/2024-05.parquet`;

it('pairs that come in for those with corrupt funding are read once, and so are the others', async () => {
  for (const [rank, name] of NAMES.entries()) {
    const candles = candlesAt(grid(FIRST, END, HOUR), HOUR);
    candles.volume.fill(100 - rank);
    await market.candles.write({ exchange: 'test', symbol: symbolOf(name), timeframe: '1h' }, candles);
    await market.candles.writeFunding('test', symbolOf(name), {
      timestamp: Float64Array.of(START + DAY),
      rate: Float64Array.of(0.0001),
      markPrice: Float64Array.of(1000),
    });
  }
  for (const name of CORRUPT) await market.damage(fundingOf(name));
  const read: string[] = [];
  const deps = {
    ...market,
    candles: {
      read: market.candles.read.bind(market.candles),
      readFunding: (...given: Parameters<Market['candles']['readFunding']>) => {
        read.push(given[1]);
        return market.candles.readFunding(...given);
      },
    },
  };
  const config = {
    ...pendingJob('bt-1').config,
    exchange: 'test',
    timeframe: '1h' as const,
    pairs: NAMES.map(symbolOf),
    precision: 'none' as const,
    date_range: { start: new Date(START).toISOString(), end: new Date(END).toISOString() },
    universe: {
      rule: 'top_volume' as const,
      n: 3,
      lookback_days: 7,
      rebalance: 'weekly' as const,
      min_age_days: 0,
      delisting_haircut: 0.05,
      candidates: NAMES.map(symbolOf),
    },
  };
  const reads = { facts: { ownFeatures: false }, startup: 0 };
  const universe = await loadUniverse(
    deps,
    config,
    reads,
    async () => {},
    (each, known) => loadCandles(deps, each, START, { collection: null, strategy: reads }, known),
  );

  expect(universe.config.pairs).toEqual(['C', 'E', 'F'].map(symbolOf));
  expect(universe.loaded.map(({ pair }) => pair)).toEqual(['C', 'E', 'F'].map(symbolOf));
  expect(universe.plan!.leftOut).toEqual(
    CORRUPT.map((name) => ({ pair: symbolOf(name), reason: 'corrupt_file', missing: fundingOf(name) })),
  );
  // Two are corrupt of the first three, and one of the two that come in for them.
  expect(read).toEqual(NAMES.map(symbolOf));
});
