import type { TestPlatform } from '../../support/platform.ts';

/** Starts a search of `ema_crossover` on the simulated market: 40 trials of a quarter, some of them pruned. */
export async function seedHyperopt(
  platform: TestPlatform,
  more: Record<string, unknown> = {},
): Promise<string> {
  const { body, status } = await platform.strategy.post('/api/v1/hyperopt', {
    strategy: 'ema_crossover',
    pairs: ['BTC/USDT:USDT', 'ETH/USDT:USDT'],
    timeframe: '1h',
    models: 'none',
    spaces: ['params', 'stoploss', 'trailing'],
    date_range: { start: '2024-01-01T00:00:00Z', end: '2024-04-01T00:00:00Z' },
    n_trials: 40,
    experiment_name: 'Averages and exits',
    ...more,
  });
  if (status !== 200) throw new Error(`The hyperopt job was rejected: ${JSON.stringify(body)}`);
  return body.job_id;
}
