import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startTestPlatform } from '../support/platform.ts';
import { poll } from '../support/poll.ts';
import { check, stagingFixture } from './staging-checks-fixture.ts';

const fixture = stagingFixture();
const { strategies, strategy, register, stage } = fixture;

/** Enters at every chance and exits on a later close: look-ahead that every truncation detects. */
writeFileSync(
  join(strategies, 'medium.ts'),
  `export default {
  name: 'medium', description: 'Reads ahead.', timeframe: '1h', pairs: ['BTC/USDT:USDT'], stakeAmount: 100,
  parameters: {}, startupCandles: () => 5, stoploss: -0.99,
  indicators: () => ({}),
  signals: ({ close }) => ({ enterLong: new Uint8Array(close.length).fill(1) }),
  callbacks: {
    customExit: ({ candles, index }) =>
      candles.close[index + 3] > 0 ? 'known' : null,
  },
};
`,
);

strategy('gambler', 'if (Math.random() > 0.5) enterLong[row] = 1; else exitLong[row] = 1;');
strategy('sleeper', '');

describe('staged version', () => {
  it('staged version fails validation when a callback reads later candles, after a warning of its backtest', async () => {
    const job = await fixture.platform.run({
      strategy: 'medium',
      date_range: { start: '2025-01-01', end: '2025-03-01' },
    });
    const { look_ahead: found, warnings } = job;
    expect(found).toMatchObject({
      state: 'found',
      pairs: ['BTC/USDT:USDT'],
      findings: [expect.any(String)],
    });
    expect(found.cuts).toBeGreaterThan(0);
    expect(found.rows).toBeGreaterThan(0);
    expect(found.message).toMatch(
      /^found: \d+ histories that end earlier and \d+ with changed later candles, in \d+ candles of BTC.*Look-ahead bias was found\.$/,
    );
    expect(found.findings[0]).toMatch(/^look_ahead: customExit of BTC\/USDT:USDT in the candle of 2025-/);
    expect(warnings[0]).toMatch(/^LOOK-AHEAD BIAS: .* customExit of BTC/);
    const { body: report } = await fixture.platform.get(`/api/v1/backtests/${job.job_id}/report-data`);
    expect(report).toMatchObject({ look_ahead: found, warnings });

    // As evidence of a release that did not search every run.
    const version = await register('medium');
    const { body: registered } = await fixture.platform.get(`/api/v1/models/medium/versions/${version}`);
    expect(registered).toMatchObject({ stage: 'None', look_ahead: 'not_checked' });
    await stage('medium', version);
    const validation = await fixture.platform.validated('medium', version);
    expect(check(validation, 'look_ahead')).toMatchObject({
      status: 'failed',
      message: expect.stringMatching(
        /^look_ahead: customExit of BTC\/USDT:USDT in the candle of 20.* read candles\.close\[\d+\]: 3 rows beyond index \(\d+\) \(medium\.ts:8\)/,
      ),
    });
  });

  it('staged version fails validation when two runs differ', async () => {
    const version = await register('gambler');
    await stage('gambler', version);
    const validation = await fixture.platform.validated('gambler', version);
    expect(validation.status).toBe('failed');
    expect(check(validation, 'determinism')).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('Two runs gave different orders'),
    });
  });

  it('version without trades cannot be registered: its undefined drawdown satisfies no threshold', async () => {
    await expect(register('sleeper')).rejects.toThrow('max_drawdown_pct undefined (no trades)');
  });
});

it('registry records the end of a validation with an event', async () => {
  const version = await register('honest');
  await stage('honest', version);
  await fixture.platform.validated('honest', version);
  const read = async (): Promise<string[]> => {
    const { body } = await fixture.platform.get('/api/v1/models/honest/history');
    return body.items.filter((each: any) => each.version === version).map((each: any) => each.action);
  };
  const actions = await poll(read, (found) => found.includes('validate'));
  expect(actions).toEqual(['validate', 'stage', 'register']);
});

it('validation resumes after a restart of the platform', async () => {
  const home = mkdtempSync(join(tmpdir(), 'touchstone-staging-home-'));
  const first = await startTestPlatform({ home, strategiesDirectory: strategies });
  const version = await register('honest', first);
  const { body } = await first.post('/api/v1/strategies/honest/stage', { version });
  expect(body.validation.status).toBe('pending');
  await first.stop();
  const second = await startTestPlatform({ home, strategiesDirectory: strategies });
  try {
    expect((await second.validated('honest', version)).status).toBe('passed');
  } finally {
    await second.stop();
    rmSync(home, { recursive: true, force: true });
  }
});

it('backtest lists exclude validation jobs', async () => {
  const all = await fixture.platform.get('/api/v1/backtests?limit=100');
  const completed = await fixture.platform.get('/api/v1/backtests?limit=100&status=completed');
  expect(all.body.items.length).toBeGreaterThan(3);
  for (const { body } of [all, completed]) {
    expect(body.items.filter((each: any) => !each.job_id.startsWith('bt-'))).toEqual([]);
  }
});
