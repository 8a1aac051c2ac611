import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { OPERATIONS } from '#contract/operations/operations.ts';
import { isoTime } from '#engine/report/trades.ts';
import { startTestPlatform, TERMINAL, type TestPlatform } from '../support/platform.ts';
import { poll } from '../support/poll.ts';

/** Reads per resource. The database reorders map keys on each read: two keys agree in half of the reads. */
const READS = 12;

const MODEL = 'rsi_mean_reversion';
const RANGE = { start: '2026-01-01T00:00:00Z', end: '2026-01-20T00:00:00Z' };
const CONFIG = {
  strategy: MODEL,
  pairs: ['BTC/USDT:USDT', 'ETH/USDT:USDT'],
  date_range: RANGE,
  params: { trend_period: 30, rsi_period: 10, oversold: 40, exit_level: 52 },
  trailing: { positive: 0.01, offset: 0.02, only_offset_is_reached: true },
  ml_engine: { model_type: 'logistic_regression', train_period_days: 10 },
};
const SEARCH = {
  strategy: 'ml_classifier',
  pairs: ['BTC/USDT:USDT'],
  timeframe: '4h',
  n_trials: 4,
  train_period_days: 20,
  backtest_period_days: 10,
  date_range: { start: '2026-01-01T00:00:00Z', end: '2026-02-20T00:00:00Z' },
  model_types: ['logistic_regression'],
  search: { horizon: {}, enter_probability: {}, exit_probability: {} },
  objective_metric: 'total_profit_pct',
  workers: 2,
};
const GRANTS = { shared_with: [{ principal: 'user:zoe' }, { principal: 'group:desk', level: 'write' }] };

/** Paths whose responses are not stored: machine state and documents. */
const NOT_STORED = /\/(health|docs|openapi\.json)(\/|$)|^\/api\/v1\/events$/;

const home = mkdtempSync(join(tmpdir(), 'touchstone-same-bytes-'));
let platform: TestPlatform;
/** Paths by operation ID. */
let paths: Record<string, string[]>;
beforeAll(async () => {
  platform = await startTestPlatform({ home });
  paths = await storeEverything();
});
afterAll(async () => {
  await platform?.stop();
  rmSync(home, { recursive: true, force: true });
});

async function done<T = any>(answer: Promise<{ status: number; body: T }>): Promise<T> {
  const { status, body } = await answer;
  expect(status, JSON.stringify(body)).toBeLessThan(300);
  return body;
}

async function send(
  { request }: Pick<TestPlatform, 'request'>,
  method: string,
  path: string,
  body: unknown,
): Promise<{ status: number; body: any }> {
  const headers = { 'content-type': 'application/json' };
  const response = await request(path, { method, headers, body: JSON.stringify(body) });
  return { status: response.status, body: await response.json() };
}

async function until(read: () => Promise<{ body: any }>): Promise<void> {
  const { body } = await poll(read, ({ body: { status } }) => TERMINAL.includes(status));
  if (body.status !== 'completed') throw new Error(JSON.stringify(body));
}

const collector = {
  request: (path: string, init?: RequestInit) => fetch(`${platform.info.data_collection_url}${path}`, init),
};

/** Creates one of each stored resource and returns the paths that read it. */
async function storeEverything(): Promise<Record<string, string[]>> {
  const { strategy } = platform;
  const hyperopt = await done(strategy.post('/api/v1/hyperopt', SEARCH));
  const job = await platform.run(CONFIG, { experiment_name: 'again' });
  expect(job.status, job.error).toBe('completed');

  for (const version of ['1', '2']) {
    await done(
      strategy.post(`/api/v1/strategies/${MODEL}/register`, {
        backtest_run_id: job.job_id,
        container_image_uri: `registry.example/touchstone:${version}`,
        thresholds: { min_sharpe: -1e6, max_drawdown: 100 },
      }),
    );
    await done(platform.post(`/api/v1/strategies/${MODEL}/stage`, { version, skip_validation: true }));
  }
  await done(platform.post(`/api/v1/strategies/${MODEL}/promote`, { version: '1' }));
  const versions = { champion_version: '1', challenger_version: '2' };
  const challenge = await done(strategy.post(`/api/v1/models/${MODEL}/challenges`, versions));
  const ofChallenge = `/api/v1/challenges/${challenge.challenge_id}`;
  await done(strategy.post(`${ofChallenge}/assignments`, { assignment_key: 'k' }));
  const trades = ['champion', 'challenger'].flatMap((variant) =>
    [1, -2, 3].map((profit_pct, i) => ({ trade_id: `${variant}-${i}`, variant, profit_pct })),
  );
  await done(strategy.post(`${ofChallenge}/trades`, { trades }));
  await done(strategy.post(`${ofChallenge}/hold`, { note: 'for good' }));

  const labels = { aliases: ['shadow'], tags: ['desk=fx', 'b', 'a'] };
  await done(send(platform, 'PATCH', `/api/v1/models/${MODEL}/versions/1`, labels));

  const quiet = { url: 'https://hooks.example/', types: ['data.gap'] };
  const promotion = { action: 'promote', version: 2, reason: 'Won' };
  const { approval_id } = await done(platform.post(`/api/v1/models/${MODEL}/approvals`, promotion));
  const { webhook_id } = await done(platform.post('/api/v1/webhooks', quiet));
  const ofWebhook = `/api/v1/webhooks/${webhook_id}`;
  const file = { format: 'csv', bytes: 1, sha256: '0'.repeat(64) };
  const { signals_id } = await done(platform.post('/api/v1/signals', file));
  const ofSignals = `/api/v1/signals/${signals_id}`;
  const ofHyperopt = `/api/v1/hyperopt/${hyperopt.job_id}`;
  await until(() => strategy.get(ofHyperopt));
  const ofJob = `/api/v1/backtests/${job.job_id}`;
  const columns = `${ofJob}/columns?pair=${encodeURIComponent('BTC/USDT:USDT')}&limit=50`;
  await poll(
    () => platform.get(columns),
    ({ status }) => status === 200,
  );
  const ofModel = `/api/v1/models/${MODEL}`;
  for (const path of [ofJob, ofModel]) await done(send(platform, 'PUT', `${path}/sharing`, GRANTS));
  await done(send(strategy, 'PUT', `${ofHyperopt}/sharing`, GRANTS));

  const wanted = { symbols: ['SOL/USDT:USDT', 'BTC/USDT:USDT'], timeframe: '1d', ...RANGE };
  const collection = await done(send(collector, 'POST', '/api/v1/collections', wanted));
  const ofCollection = `/api/v1/collections/${collection.collection_id}`;
  await until(async () => ({ body: await (await collector.request(ofCollection)).json() }));

  const dropped = { files: 1, bytes: 10 };
  const { import_id } = await done(send(collector, 'POST', '/api/v1/imports', dropped));
  const ofImport = `/api/v1/imports/${import_id}`;
  // One that has not ended fails at a restart.
  await done(send(collector, 'POST', `${ofImport}/cancel`, {}));

  // Without these the responses contain the time of the call.
  const now = Date.now();
  const hour = `from=${isoTime(now - 3_600_000)}&to=${isoTime(now + 1)}`;
  const mlflow = '/api/2.0/mlflow';
  const artifacts = '/api/2.0/mlflow-artifacts/artifacts';
  return {
    // All calls on one page: a cursor has the time of the request.
    listAudit: ['/api/v1/audit?limit=100', `/api/v1/audit?limit=3&${hour}`],
    listExperiments: ['/api/v1/experiments'],
    listBacktests: ['/api/v1/backtests', '/api/v1/backtests?status=completed&limit=1'],
    getBacktest: [ofJob],
    getBacktestEquity: [`${ofJob}/equity`],
    getBacktestReport: [`${ofJob}/report-data`],
    listBacktestTrades: [`${ofJob}/trades?sort=-profit`, `${ofJob}/trades?format=columns`],
    listBacktestPositions: [`${ofJob}/positions`],
    getBacktestCurve: [`${ofJob}/curve`, `${ofJob}/curve?resolution=candle&points=100`],
    getBacktestColumns: [columns],
    explainTrade: [`${ofJob}/trades/1/why`],
    getTradePath: [`${ofJob}/trades/1/path`],
    exportBacktest: [`${ofJob}/export`, `${ofJob}/export?format=json`],
    mlflowSearchModels: [`${mlflow}/registered-models/search`],
    mlflowGetModel: [`${mlflow}/registered-models/get?name=${MODEL}`],
    mlflowGetVersionByAlias: ['champion', 'shadow'].map(
      (alias) => `${mlflow}/registered-models/alias?name=${MODEL}&alias=${alias}`,
    ),
    mlflowSearchVersions: [`${mlflow}/model-versions/search`],
    mlflowGetVersion: [`${mlflow}/model-versions/get?name=${MODEL}&version=2`],
    mlflowLatestVersions: [`${mlflow}/registered-models/get-latest-versions?name=${MODEL}`],
    mlflowListExperiments: [`${mlflow}/experiments/search`],
    mlflowGetDownloadUri: [`${mlflow}/model-versions/get-download-uri?name=${MODEL}&version=2`],
    mlflowGetExperiment: [`${mlflow}/experiments/get?experiment_id=e-again`],
    mlflowGetExperimentByName: [`${mlflow}/experiments/get-by-name?experiment_name=again`],
    mlflowGetRun: [job.job_id, hyperopt.job_id, `${hyperopt.job_id}_0`].map(
      (id) => `${mlflow}/runs/get?run_id=${id}`,
    ),
    mlflowGetMetricHistory: [
      `${mlflow}/metrics/get-history?run_id=${job.job_id}&metric_key=total_profit_pct`,
    ],
    mlflowListArtifacts: [`${artifacts}?path=${job.job_id}`],
    mlflowGetModelFile: [`${artifacts}/${job.job_id}/model/MLmodel`],
    mlflowGetArtifact: ['trades.csv', 'report.json', 'trades.parquet'].map(
      (file) => `${artifacts}/${job.job_id}/${file}`,
    ),
    listWebhooks: ['/api/v1/webhooks'],
    getWebhook: [ofWebhook],
    listDeliveries: [`${ofWebhook}/deliveries`],
    listSignals: ['/api/v1/signals'],
    getSignals: [ofSignals],
    getSignalsSharing: [`${ofSignals}/sharing`],
    getMe: ['/api/v1/me'],
    getOverview: ['/api/v1/overview'],
    getBacktestSharing: [`${ofJob}/sharing`],
    listStrategies: ['/api/v1/strategies'],
    getStrategy: [`/api/v1/strategies/${MODEL}`],
    listSymbols: ['/api/v1/data/symbols'],
    checkFreshness: ['/api/v1/data/freshness?symbols=BTC/USDT:USDT&symbols=ETH/USDT:USDT'],
    listCatalog: ['/api/v1/catalog/strategies', '/api/v1/catalog/strategies?sort_field=sharpe&limit=1'],
    compareVersions: [`/api/v1/catalog/strategies/${MODEL}/compare?version_a=1&version_b=2`],
    listVersions: [`${ofModel}/versions`],
    getVersion: [`${ofModel}/versions/1`],
    getHistory: [`${ofModel}/history`],
    getProduction: [
      `${ofModel}/production?at=${isoTime(now)}`,
      `${ofModel}/production?from=2025-01-01&to=${isoTime(now)}`,
    ],
    listModelApprovals: [`${ofModel}/approvals`, `${ofModel}/approvals?status=requested`],
    listApprovals: ['/api/v1/approvals', '/api/v1/approvals?waiting_for=me'],
    getApproval: [`/api/v1/approvals/${approval_id}`],
    getReleaseRules: ['/api/v1/release-rules'],
    getModelSharing: [`${ofModel}/sharing`],
    listAllChallenges: ['/api/v1/challenges', '/api/v1/challenges?status=active&limit=1'],
    listChallenges: [`${ofModel}/challenges`],
    routeKey: [`${ofModel}/route?key=k`],
    getChallenge: [ofChallenge],
    listChallengeTrades: [`${ofChallenge}/trades`],
    evaluateChallenge: [`${ofChallenge}/evaluate`],
    listChallengeEvaluations: [`${ofChallenge}/evaluations`],
    listChallengeEvents: [`${ofChallenge}/events`],
    listHyperopts: ['/api/v1/hyperopt'],
    getHyperopt: [ofHyperopt],
    getHyperoptResult: [`${ofHyperopt}/result`],
    listHyperoptTrials: [`${ofHyperopt}/trials`],
    watchHyperopt: [`${ofHyperopt}/events`],
    getHyperoptSharing: [`${ofHyperopt}/sharing`],
    getOhlcv: ['/api/v1/ohlcv?symbol=BTC/USDT:USDT&timeframe=1d'],
    getCandles: ['/api/v1/candles?symbol=BTC/USDT:USDT&timeframe=1d'],
    listDataSymbols: ['/api/v1/symbols'],
    getDataStatus: ['/api/v1/status'],
    getCoverage: ['/api/v1/coverage', '/api/v1/coverage?symbol=BTC/USDT:USDT'],
    getDataFreshness: ['/api/v1/freshness?symbols=BTC/USDT:USDT&symbols=ETH/USDT:USDT'],
    listInstruments: ['/api/v1/instruments'],
    listSeries: ['/api/v1/series', '/api/v1/series?exchange=sim'],
    getSeries: ['/api/v1/series/details?symbol=BTC/USDT:USDT&timeframe=1d'],
    getSeriesCondition: ['/api/v1/series/condition?symbol=BTC/USDT:USDT&timeframe=1d'],
    getInstrumentHistory: ['/api/v1/instruments/history?symbol=BTC/USDT:USDT'],
    getCollection: [ofCollection],
    listImports: ['/api/v1/imports'],
    getImport: [ofImport],
    listCollections: ['/api/v1/collections', '/api/v1/collections?status=completed&limit=1'],
  };
}

const READABLE = OPERATIONS.filter(({ method, path }) => method === 'GET' && !NOT_STORED.test(path));

/** Body without the time at which it was computed, and without what grows with it. */
async function read(service: string, path: string): Promise<string> {
  const { backend_url, strategy_service_url, data_collection_url } = platform.info;
  const bases: Record<string, string> = {
    backend: backend_url,
    strategy: strategy_service_url,
    data_collection: data_collection_url,
  };
  const response = await fetch(`${bases[service]}${path}`);
  const text = await response.text();
  expect([path, response.status], text.slice(0, 300)).toEqual([path, 200]);
  // The overview leaves out a part that takes longer than 4 s, as on a busy machine.
  if (path === '/api/v1/overview' && JSON.parse(text).missing.length > 0) return read(service, path);
  return text.replaceAll(/"evaluated_at":"[^"]*"|"age_hours":[\d.]+|"hours":\{[^}]*\}/g, '');
}

async function readAll(): Promise<Map<string, Set<string>>> {
  const seen = new Map<string, Set<string>>();
  for (const { id, service } of READABLE) {
    for (const path of paths[id] ?? []) {
      const bodies = Array.from({ length: READS }, () => read(service, path));
      seen.set(`${id} ${path}`, new Set(await Promise.all(bodies)));
    }
  }
  return seen;
}

it('repeated reads return identical bytes, also after a restart', async () => {
  expect(READABLE.map(({ id }) => id).sort()).toEqual(Object.keys(paths).sort());
  const before = await readAll();
  await platform.stop();
  platform = await startTestPlatform({ home });
  const after = await readAll();
  const orders = [...before].map(([name, bodies]) => [name, new Set([...bodies, ...after.get(name)!]).size]);
  expect(orders.filter(([, count]) => count !== 1)).toEqual([]);
});
