/** Drives a platform by the types of openapi-typescript. The test runs it beside what was generated. */
import createClient, { type Middleware } from 'openapi-fetch';
import type { paths as BackendPaths } from './fetch/backend.ts';
import type { paths as DataPaths } from './fetch/data-collection.ts';
import type { paths as StrategyPaths } from './fetch/strategy.ts';

declare const process: { readonly env: Readonly<Record<string, string>> };
const { BACKEND_URL, STRATEGY_SERVICE_URL, DATA_COLLECTION_URL } = process.env;
const rejected: Middleware = {
  onResponse: async ({ response }) => {
    if (!response.ok && response.status !== 400) throw new Error(`${response.url}: ${await response.text()}`);
  },
};
const backend = createClient<BackendPaths>({ baseUrl: BACKEND_URL! });
const strategy = createClient<StrategyPaths>({ baseUrl: STRATEGY_SERVICE_URL! });
const candles = createClient<DataPaths>({ baseUrl: DATA_COLLECTION_URL! });
for (const client of [backend, strategy, candles]) client.use(rejected);
const pause = () => new Promise((resolve) => setTimeout(resolve, 100));
const date_range = { start: '2024-01-01T00:00:00Z', end: '2024-02-01T00:00:00Z' };

async function runBacktest(): Promise<string> {
  const config = { strategy: 'ema_crossover', timeframe: '1h', date_range, params: { fast: 10 } } as const;
  const submitted = await backend.POST('/api/v1/backtests', { body: { config } });
  const job_id = submitted.data!.job_id;
  for (;;) {
    const { data } = await backend.GET('/api/v1/backtests/{job_id}', { params: { path: { job_id } } });
    if (data!.status === 'failed') throw new Error(String(data!.error));
    if (data!.status === 'completed') break;
    await pause();
  }
  const { data } = await backend.GET('/api/v1/backtests/{job_id}/trades', {
    params: { path: { job_id }, query: { limit: 3 } },
  });
  console.log('trades', 'items' in data! ? data.items.map(({ profit_pct }) => profit_pct).length : 0);
  return job_id;
}

async function runHyperopt(): Promise<void> {
  const submitted = await strategy.POST('/api/v1/hyperopt', {
    body: { strategy: 'ema_crossover', timeframe: '1h', models: 'none', n_trials: 2, date_range },
  });
  const path = { job_id: submitted.data!.job_id };
  for (;;) {
    const { data } = await strategy.GET('/api/v1/hyperopt/{job_id}', { params: { path } });
    if (data!.status === 'failed') throw new Error(JSON.stringify(data));
    if (data!.status === 'completed') break;
    await pause();
  }
  const { data } = await strategy.GET('/api/v1/hyperopt/{job_id}/trials', { params: { path } });
  console.log('trials', data!.items.length);
}

async function runChallenge(backtest_run_id: string): Promise<void> {
  const versions: string[] = [];
  for (const image of ['touchstone:1', 'touchstone:2']) {
    const { data } = await strategy.POST('/api/v1/strategies/{name}/register', {
      params: { path: { name: 'ema_crossover' } },
      body: { backtest_run_id, container_image_uri: `registry.example/${image}` },
    });
    versions.push(data!.version);
  }
  const created = await strategy.POST('/api/v1/models/{model_name}/challenges', {
    params: { path: { model_name: 'ema_crossover' } },
    body: { champion_version: versions[0]!, challenger_version: versions[1]!, min_trades: 10 },
  });
  const path = { challenge_id: created.data!.challenge_id };
  const logged = await strategy.POST('/api/v1/challenges/{challenge_id}/trades', {
    params: { path },
    body: {
      trades: [
        { trade_id: 't-1', variant: 'champion', profit_pct: 0.4 },
        { trade_id: 't-2', version: versions[1]!, profit_pct: 0.9 },
      ],
    },
  });
  const { data } = await strategy.GET('/api/v1/challenges/{challenge_id}/evaluate', { params: { path } });
  console.log('logged', 'items' in logged.data! ? logged.data.items.length : 0, data!.recommendation);
  await strategy.POST('/api/v1/challenges/{challenge_id}/rollback', {
    params: { path },
    body: { reason: 'done' },
  });
}

await runChallenge(await runBacktest());
await runHyperopt();
const symbols = await candles.GET('/api/v1/symbols', {});
console.log('symbols', symbols.data !== undefined);
const wrong = await backend.POST('/api/v1/backtests', {
  body: { config: { strategy: 'ema_crossover', max_open_trades: 0 } },
});
console.log('rejected', wrong.error && 'detail' in wrong.error ? JSON.stringify(wrong.error.detail) : '');
