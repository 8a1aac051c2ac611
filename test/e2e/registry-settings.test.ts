import { afterAll, beforeAll, expect, it } from 'vitest';
import { LocalEnv } from '#contract/env.ts';
import { platformOptions } from '../../src/local/platform.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

let platform: TestPlatform;

beforeAll(async () => {
  const env = LocalEnv.parse({
    REQUIRE_FOUR_EYES: 'true',
    REQUIRE_REASON: 'true',
    CHALLENGE_MIN_TRADES: '250',
  });
  const {
    fourEyesRequired = false,
    rollbackReasonRequired = false,
    challengeMinTrades = 0,
  } = platformOptions(env);
  platform = await startTestPlatform({ fourEyesRequired, rollbackReasonRequired, challengeMinTrades });
}, 60_000);
afterAll(() => platform?.stop());

it('one machine asks for four eyes, reasons and trades when its settings say so', async () => {
  const job = await platform.run({ strategy: 'buy_and_hold', pairs: ['BTC/USDT:USDT'] });
  await platform.strategy.post('/api/v1/strategies/buy_and_hold/register', {
    backtest_run_id: job.job_id,
    container_image_uri: 'touchstone:1',
  });
  const strategies = '/api/v1/strategies/buy_and_hold';
  await platform.post(`${strategies}/stage`, { version: 1, skip_validation: true });
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
    body: { min_trades: 120, effective_min_trades: 250 },
  });
}, 60_000);
