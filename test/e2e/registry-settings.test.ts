import { afterAll, beforeAll, expect, it } from 'vitest';
import { LocalEnv } from '#contract/env/env.ts';
import { readEnv } from '#runtime/env.ts';
import { platformOptions } from '../../src/local/platform-options.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

let platform: TestPlatform;

beforeAll(async () => {
  const env = readEnv(LocalEnv, {
    REQUIRE_FOUR_EYES: 'true',
    REQUIRE_ROLLBACK_REASON: 'true',
    CHALLENGE_MIN_TRADES: '250',
    CHALLENGE_MIN_HOURS: '12',
    CHALLENGE_MIN_ASSIGNMENTS: 'min_trades',
    CHALLENGE_REQUIRE_ASSIGNMENT: 'true',
    POLICY_MIN_TRADES: '2',
  });
  platform = await startTestPlatform({ rules: platformOptions(env).rules! });
}, 60_000);
afterAll(() => platform?.stop());

it('local mode applies four eyes, reasons, conditions and a policy from its settings', async () => {
  const job = await platform.run({
    strategy: 'buy_and_hold',
    pairs: ['BTC/USDT:USDT'],
    timeframe: '1h',
  });
  await platform.strategy.post('/api/v1/strategies/buy_and_hold/register', {
    backtest_run_id: job.job_id,
    container_image_uri: 'touchstone:1',
  });
  const strategies = '/api/v1/strategies/buy_and_hold';
  // The strategy buys once.
  const rejected = await platform.post(`${strategies}/stage`, { version: 1, skip_validation: true });
  expect(rejected.body.detail.context.checks).toContainEqual(
    expect.objectContaining({ name: 'min_trades', status: 'failed', value: 1, threshold: 2 }),
  );
  const waive = { checks: ['min_trades'], reason: 'It buys and holds' };
  const staged = await platform.post(`${strategies}/stage`, { version: 1, skip_validation: true, waive });
  expect(staged).toMatchObject({ status: 200, body: { new_stage: 'Staging' } });
  const report = (await platform.get(`/api/v1/backtests/${job.job_id}/report-data`)).body;
  const { evidence } = (await platform.get('/api/v1/models/buy_and_hold/versions/1')).body;
  expect(evidence.from).toBe(report.settings.first_candle);
  // The last candle opens an hour before the candles end.
  expect(Date.parse(evidence.to) - Date.parse(report.settings.last_candle)).toBe(3_600_000);
  expect(await platform.post(`${strategies}/promote`, { version: 1 })).toMatchObject({
    status: 403,
    body: { detail: { code: 'AUTH004', context: { rule: 'four_eyes' } } },
  });
  expect(await platform.post('/api/v1/models/buy_and_hold/rollback', { version: 1 })).toMatchObject({
    status: 400,
    body: { detail: { code: 'VAL004', field: 'reason' } },
  });
  await platform.strategy.post('/api/v1/strategies/buy_and_hold/register', {
    backtest_run_id: job.job_id,
    container_image_uri: 'touchstone:2',
  });
  const challenge = { champion_version: '1', challenger_version: '2', min_trades: 120 };
  expect(await platform.strategy.post('/api/v1/models/buy_and_hold/challenges', challenge)).toMatchObject({
    status: 201,
    body: {
      min_trades: 120,
      effective_min_trades: 250,
      min_hours: 12,
      min_assignments: 250,
      require_assignment: true,
    },
  });
}, 60_000);
