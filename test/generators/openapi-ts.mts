/** Drives a platform by the client of @hey-api/openapi-ts. The test runs it beside what was generated. */

import { client as backendClient } from './hey/backend/client.gen.ts';
import * as backend from './hey/backend/index.ts';
import { client as candlesClient } from './hey/data-collection/client.gen.ts';
import * as candles from './hey/data-collection/index.ts';
import { client as strategyClient } from './hey/strategy/client.gen.ts';
import * as strategy from './hey/strategy/index.ts';

declare const process: { readonly env: Readonly<Record<string, string>> };
const { BACKEND_URL, STRATEGY_SERVICE_URL, DATA_COLLECTION_URL } = process.env;
backendClient.setConfig({ baseUrl: BACKEND_URL! });
strategyClient.setConfig({ baseUrl: STRATEGY_SERVICE_URL! });
candlesClient.setConfig({ baseUrl: DATA_COLLECTION_URL! });
const pause = () => new Promise((resolve) => setTimeout(resolve, 100));
const date_range = { start: '2024-01-01T00:00:00Z', end: '2024-02-01T00:00:00Z' };
const throwOnError = true;

async function runBacktest(): Promise<string> {
  const { data } = await backend.submitBacktest({
    throwOnError,
    body: { config: { strategy: 'ema_crossover', timeframe: '1h', date_range, params: { fast: 10 } } },
  });
  const path = { job_id: data.job_id };
  for (;;) {
    const { data: job } = await backend.getBacktest({ throwOnError, path });
    if (job.status === 'failed') throw new Error(String(job.error));
    if (job.status === 'completed') break;
    await pause();
  }
  const { data: page } = await backend.listBacktestTrades({ throwOnError, path, query: { limit: 3 } });
  console.log('trades', 'items' in page ? page.items.map(({ profit_pct }) => profit_pct).length : 0);
  const { data: file } = await backend.exportBacktest({ throwOnError, path, query: { format: 'csv' } });
  console.log('file', file !== undefined);
  return data.job_id;
}

async function runHyperopt(): Promise<void> {
  const { data } = await strategy.startHyperopt({
    throwOnError,
    body: { strategy: 'ema_crossover', timeframe: '1h', models: 'none', n_trials: 2, date_range },
  });
  const path = { job_id: data.job_id };
  for (;;) {
    const { data: job } = await strategy.getHyperopt({ throwOnError, path });
    if (!job || job.status === 'failed') throw new Error(JSON.stringify(job));
    if (job.status === 'completed') break;
    await pause();
  }
  const { data: trials } = await strategy.listHyperoptTrials({ throwOnError, path });
  console.log('trials', trials.items.length);
}

async function runChallenge(backtest_run_id: string): Promise<void> {
  const versions: string[] = [];
  for (const image of ['touchstone:1', 'touchstone:2']) {
    const { data } = await strategy.registerStrategy({
      throwOnError,
      path: { name: 'ema_crossover' },
      body: { backtest_run_id, container_image_uri: `registry.example/${image}` },
    });
    versions.push(data.version);
  }
  const created = await strategy.createChallenge({
    throwOnError,
    path: { model_name: 'ema_crossover' },
    body: { champion_version: versions[0]!, challenger_version: versions[1]!, min_trades: 10 },
  });
  const path = { challenge_id: created.data.challenge_id };
  const { data: logged } = await strategy.logTrades({
    throwOnError,
    path,
    body: {
      trades: [
        { trade_id: 't-1', variant: 'champion', profit_pct: 0.4 },
        { trade_id: 't-2', version: versions[1]!, profit_pct: 0.9 },
      ],
    },
  });
  const { data: evaluation } = await strategy.evaluateChallenge({ throwOnError, path });
  console.log('logged', 'items' in logged ? logged.items.length : 0, evaluation.recommendation);
  await strategy.rollBackChallenge({ throwOnError, path, body: { reason: 'done' } });
}

await runChallenge(await runBacktest());
await runHyperopt();
const { data: symbols } = await candles.listDataSymbols({ throwOnError });
console.log('symbols', symbols !== undefined);
const wrong = await backend.submitBacktest({
  body: { config: { strategy: 'ema_crossover', max_open_trades: 0 } },
});
console.log('rejected', wrong.error && 'detail' in wrong.error ? JSON.stringify(wrong.error.detail) : '');
