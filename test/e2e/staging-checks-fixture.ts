import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

export const IMAGE = 'registry.example/touchstone:1.0.0';

export const check = (validation: any, name: string) =>
  validation.checks.find((each: any) => each.name === name);

/** Platform with the staging dry run, and the folder of its strategy files. */
export function stagingFixture() {
  const strategies = mkdtempSync(join(tmpdir(), 'touchstone-staging-'));
  const fixture = {
    platform: undefined as unknown as TestPlatform,
    strategies,
    /** Strategy file with `body` as its signals; `body` reads `candles` and sets `enterLong`. */
    strategy(name: string, body: string): void {
      writeFileSync(
        join(strategies, `${name}.ts`),
        `export default {
  name: '${name}', description: 'For staging checks.', timeframe: '1h', pairs: ['BTC/USDT:USDT'], stakeAmount: 100,
  parameters: {}, startupCandles: () => 5, stoploss: -0.99,
  indicators: () => ({}),
  signals({ close, open }) {
    const length = close.length;
    const enterLong = new Uint8Array(length);
    const exitLong = new Uint8Array(length);
    for (let row = 1; row < length; row++) { ${body} }
    return { enterLong, exitLong };
  },
};
`,
      );
    },
    /**
     * Runs and registers a backtest of a strategy. Returns the version. A run with a found look-ahead bias cannot be registered: the
     * search of a strategy that leaks is forgotten, as if an earlier release had run it.
     */
    async register(name: string, on?: TestPlatform): Promise<string> {
      const platform = on ?? fixture.platform;
      const config = { strategy: name, date_range: { start: '2025-01-01', end: '2025-03-01' } };
      const job = await platform.run(config);
      expect(job.status, job.error).toBe('completed');
      if (job.look_ahead.state === 'found') await platform.forgetSearch(job.job_id);
      const { status, body } = await platform.strategy.post(`/api/v1/strategies/${name}/register`, {
        backtest_run_id: job.job_id,
        container_image_uri: IMAGE,
        thresholds: { max_drawdown: 100 },
      });
      expect(status, JSON.stringify(body)).toBe(201);
      return body.version;
    },
    stage: (name: string, version: string) =>
      fixture.platform.post(`/api/v1/strategies/${name}/stage`, { version }),
  };
  fixture.strategy('honest', 'if (close[row] > close[row - 1]) enterLong[row] = 1; else exitLong[row] = 1;');
  beforeAll(async () => {
    fixture.platform = await startTestPlatform({
      strategiesDirectory: strategies,
      rules: { stagingDryRunRequired: true },
    });
  });
  afterAll(async () => {
    await fixture.platform.stop();
    rmSync(strategies, { recursive: true, force: true });
  });
  return fixture;
}
