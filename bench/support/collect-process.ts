/** Process that collects candles as the task does, but without a job, and prints the number of stored candles. */
import { openExchanges } from '#adapters/exchange/exchanges.ts';
import { openMarketStores } from '#adapters/open-market-stores.ts';
import { collectCandles } from '#domain/data/collect-candles.ts';

const env = process.env as Record<'SERIES_TABLE' | 'CANDLES_BUCKET', string> & NodeJS.ProcessEnv;
const outcomes = await collectCandles(
  { ...openMarketStores(env), clock: Date },
  {
    exchange: await openExchanges({ url: env.EXCHANGE_URL, intervalMs: 1 }).open('binanceusdm'),
    symbols: env.SYMBOLS!.split(','),
    timeframe: '1m',
    start: Number(env.START),
    end: Number(env.END),
  },
);
const failed = outcomes.find((outcome) => outcome.error);
if (failed) throw failed.error;
console.log(outcomes.reduce((sum, outcome) => sum + outcome.candles, 0));
process.exit();
