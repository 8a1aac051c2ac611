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

/** Registers a backtest as the next version of `ema_crossover`. */
export async function seedVersion(platform: TestPlatform, backtest: string): Promise<string> {
  const { status, body } = await platform.strategy.post('/api/v1/strategies/ema_crossover/register', {
    backtest_run_id: backtest,
    container_image_uri: 'registry.example/touchstone:1.0.0',
    description: 'A version of the tests',
    thresholds: { max_drawdown: 99 },
  });
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body.version;
}

async function move(platform: TestPlatform, step: 'stage' | 'promote', version: string): Promise<void> {
  const { status, body } = await platform.post(`/api/v1/strategies/ema_crossover/${step}`, { version });
  if (status !== 200) throw new Error(`${step}: ${status} ${JSON.stringify(body)}`);
  await platform.validated('ema_crossover', version);
}

/** Registers a backtest as the next version of `ema_crossover`, and stages it. */
export async function seedStaged(platform: TestPlatform, backtest: string): Promise<string> {
  const version = await seedVersion(platform, backtest);
  await move(platform, 'stage', version);
  return version;
}

/** Registers a backtest as the next version of `ema_crossover`, stages it and promotes it. */
export async function seedProduction(platform: TestPlatform, backtest: string): Promise<string> {
  const version = await seedStaged(platform, backtest);
  await move(platform, 'promote', version);
  return version;
}

/**
 * Starts a challenge of a staged version of `ema_crossover` against the one in Production, with logged trades of both. The
 * profits are fixed: the challenger's are better by 0.3 percentage points, or by so much that it has won.
 */
export async function seedChallenge(
  platform: TestPlatform,
  challenger: string,
  { isWon = false }: { readonly isWon?: boolean } = {},
): Promise<string> {
  const { strategy } = platform;
  const created = await strategy.post('/api/v1/models/ema_crossover/challenges', {
    champion_version: 'champion',
    challenger_version: challenger,
    enable_canary: !isWon,
  });
  if (created.status !== 201) throw new Error(`${created.status} ${JSON.stringify(created.body)}`);
  const id: string = created.body.challenge_id;
  for (let batch = 0; batch < (isWon ? 12 : 6); batch++) {
    const trades = Array.from({ length: 20 }, (_, index) => ({
      trade_id: `trade-${batch}-${index}`,
      variant: index % 2 === 0 ? 'champion' : 'challenger',
      profit_pct: Math.sin(batch * 20 + index) + (isWon ? 1 : 0) + (index % 2 === 0 ? 0 : isWon ? 3 : 0.3),
    }));
    const { status, body } = await strategy.post(`/api/v1/challenges/${id}/trades`, { trades });
    if (status >= 400) throw new Error(`${status} ${JSON.stringify(body)}`);
  }
  return id;
}
