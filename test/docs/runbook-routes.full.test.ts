import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

/** Calls each route of docs/runbook.md on a running platform, with the resource in the state for which the runbook names it. */

const runbook = readFileSync(new URL('../../docs/runbook.md', import.meta.url), 'utf8');
const ROUTES = [
  ...new Set([...runbook.matchAll(/`((?:GET|POST|PUT|PATCH|DELETE) [^` ]+)`/g)].map(([, route]) => route!)),
];

const MODEL = 'ema_crossover';
const CONFIG = {
  strategy: MODEL,
  exchange: 'sim',
  pairs: ['BTC/USDT:USDT'],
  timeframe: '1h',
  date_range: { start: '2024-01-01T00:00:00Z', end: '2024-01-20T00:00:00Z' },
};
const SEARCH = {
  strategy: MODEL,
  pairs: ['BTC/USDT:USDT'],
  timeframe: '1h',
  date_range: { start: '2024-01-01T00:00:00Z', end: '2024-02-20T00:00:00Z' },
  train_period_days: 20,
  backtest_period_days: 10,
  n_trials: 1000,
};

let platform: TestPlatform;
let backtest: string;
let challenge: string;
beforeAll(async () => {
  platform = await startTestPlatform();
  const job = await platform.run(CONFIG);
  expect(job.status, job.error).toBe('completed');
  backtest = job.job_id;
  for (const version of ['1', '2']) {
    await done(
      platform.strategy.post(`/api/v1/strategies/${MODEL}/register`, {
        backtest_run_id: backtest,
        container_image_uri: `registry.example/touchstone:${version}`,
        thresholds: { min_sharpe: -1e6, max_drawdown: 100 },
      }),
    );
    await done(platform.post(`/api/v1/strategies/${MODEL}/stage`, { version, skip_validation: true }));
  }
  await done(platform.post(`/api/v1/strategies/${MODEL}/promote`, { version: '1' }));
  const created = await done(
    platform.strategy.post(`/api/v1/models/${MODEL}/challenges`, {
      champion_version: '1',
      challenger_version: '2',
      enable_canary: true,
    }),
  );
  challenge = created.challenge_id;
});
afterAll(() => platform?.stop());

async function done<T = any>(answer: Promise<{ status: number; body: T }>): Promise<T> {
  const { status, body } = await answer;
  expect(status, JSON.stringify(body)).toBeLessThan(300);
  return body;
}

/** Starts a hyperopt job. */
const hyperopt = async () => (await done(platform.strategy.post('/api/v1/hyperopt', SEARCH))).job_id;

/** Calls of the routes by the runbook's text. */
const CALLS: Readonly<Record<string, (path: (id: string) => string) => Promise<void>>> = {
  'GET /api/v1/health': async (path) => {
    const response = await fetch(`${platform.info.data_collection_url}${path('')}`);
    expect(response.status).toBe(200);
  },
  'GET /api/v1/backtests/{job_id}': async (path) => {
    // A job that waits says for what.
    const { job_id } = await done(platform.post('/api/v1/backtests', { config: CONFIG }));
    const { queue } = await done(platform.get(path(job_id)));
    expect(queue === null || 'waiting_for' in queue).toBe(true);
  },
  'GET /api/v1/hyperopt/{job_id}': async (path) => {
    const { updated_at } = await done(platform.strategy.get(path(await hyperopt())));
    expect(Date.parse(updated_at)).toBeGreaterThan(0);
  },
  'GET /api/v1/hyperopt/{job_id}/trials': async (path) => {
    expect((await done(platform.strategy.get(path(await hyperopt())))).items).toBeInstanceOf(Array);
  },
  'POST /api/v1/hyperopt/{job_id}/resume': async (path) => {
    const jobId = await hyperopt();
    await done(platform.strategy.post(`/api/v1/hyperopt/${jobId}/cancel`));
    await platform.until(jobId, 'cancelled');
    await done(platform.strategy.post(path(jobId)));
  },
  'GET /challenges/{challenge_id}/evaluate': async (path) => {
    const { champion_mean, challenger_mean } = await done(platform.strategy.get(path(challenge)));
    expect([champion_mean, challenger_mean]).toHaveLength(2);
  },
  'GET /challenges/{challenge_id}/trades': async (path) => {
    expect((await done(platform.strategy.get(path(challenge)))).items).toEqual([]);
  },
  'POST /challenges/{challenge_id}/advance': async (path) => {
    expect((await done(platform.strategy.post(path(challenge)))).canary_stage).toBe('stage_2');
  },
  'POST /challenges/{challenge_id}/resume': async (path) => {
    await done(platform.strategy.post(`/api/v1/challenges/${challenge}/hold`, { note: 'to be resumed' }));
    expect((await done(platform.strategy.post(path(challenge)))).hold).toBeNull();
  },
};

test('each route is called', () => {
  expect(ROUTES.toSorted()).toEqual(Object.keys(CALLS).toSorted());
});

test.each(ROUTES)('%s', async (route) => {
  const [, path] = route.split(' ') as [string, string];
  await CALLS[route]!((id) => path.replace(/\{\w+\}/, id));
});
