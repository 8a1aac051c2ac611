import type { TestPlatform } from '../../support/platform.ts';

/** Pairs of the simulated market that the tests use. */
const PAIRS = ['BTC/USDT:USDT', 'ETH/USDT:USDT'] as const;

/** Runs a backtest of `strategy` on the simulated market: a year of hourly candles, some hundred trades. */
export async function seedBacktest(
  platform: TestPlatform,
  config: Record<string, unknown> = {},
  more: Record<string, unknown> = {},
): Promise<string> {
  const job = await platform.run(
    {
      strategy: 'ema_crossover',
      pairs: PAIRS,
      timeframe: '1h',
      date_range: { start: '2024-01-01T00:00:00Z', end: '2025-01-01T00:00:00Z' },
      ...config,
    },
    more,
  );
  if (job.status !== 'completed') throw new Error(`${job.job_id} is ${job.status}: ${job.error}`);
  return job.job_id;
}
