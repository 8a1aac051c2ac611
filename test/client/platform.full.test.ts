import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as client from '../../src/client/index.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';
import { hasChromium, launchChromium } from '../web/support/chromium.ts';

/** The same program in Node and in a browser, against a platform. */

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform();
});
afterAll(() => platform?.stop());

type Client = typeof client;

/** Runs in the browser too, so it uses nothing from around it. */
async function program({ connect, ...client }: Client, address: string) {
  const touchstone = connect(address);
  const date_range = { start: '2024-01-01T00:00:00Z', end: '2024-02-01T00:00:00Z' };
  const body = { config: { strategy: 'ema_crossover', timeframe: '1h', date_range, params: { fast: 10 } } };
  const key = { idempotencyKey: crypto.randomUUID() };
  const { job_id } = await client.submitBacktest(touchstone, { body }, key);
  const again = await client.submitBacktest(touchstone, { body }, key);

  const events = new Set<string>();
  for await (const { name, data } of client.watchJobs(touchstone, { types: 'backtest.*' })) {
    events.add(name);
    if (name === 'backtest.completed' && data.subject.endsWith(job_id)) break;
  }
  const seen: string[] = [];
  const onRead = ({ status }: { readonly status: string }) => seen.push(status);
  const job = await client.waitFor(touchstone, client.getBacktest, { job_id }, { onRead });
  const ids: number[] = [];
  for await (const { id } of client.items(touchstone, client.listBacktestTrades, { job_id, limit: 10 }))
    ids.push(id);
  const file = await client.exportBacktest(touchstone, { job_id, format: 'csv' });
  const lines = (await file.text()).trim().split('\n').length;

  const search = { strategy: 'ema_crossover', timeframe: '1h', models: 'none', n_trials: 2, date_range };
  const { job_id: hyperopt } = await client.startHyperopt(touchstone, { body: search });
  const trials: number[] = [];
  for await (const { name, data } of client.watchHyperopt(touchstone, { job_id: hyperopt })) {
    if (name === 'trial') trials.push(data.number);
  }
  const error = await client
    .getBacktest(touchstone, { job_id: 'bt-unknown' })
    .catch((thrown: unknown) => thrown);
  return {
    repeated: again.job_id === job_id,
    status: job.status,
    trades: ids.length,
    lines,
    seen,
    total: job.result?.total_trades,
    distinct: new Set(ids).size,
    trials: trials.sort(),
    events: [...events],
    error: error instanceof client.NotFoundError && error.code,
  };
}

function expectOutcome(outcome: Awaited<ReturnType<typeof program>>): void {
  const { trades, total, distinct, lines, events, ...rest } = outcome;
  expect(rest).toEqual({
    repeated: true,
    status: 'completed',
    seen: ['completed'],
    trials: [0, 1],
    error: 'RES001',
  });
  // More than one page of them.
  expect(trades).toBeGreaterThan(10);
  expect([total, distinct, lines]).toEqual([trades, trades, trades + 1]);
  expect(events).toContain('backtest.completed');
}

describe('client against a platform', () => {
  it('runs jobs and follows them in Node', async () => {
    expectOutcome(await program(client, platform.info.backend_url));
  });

  it.skipIf(!hasChromium)('runs jobs and follows them in a browser', async () => {
    const { outputFiles } = await build({
      entryPoints: ['src/client/index.ts'],
      bundle: true,
      minify: true,
      write: false,
      format: 'iife',
      globalName: 'touchstoneClient',
      platform: 'browser',
      target: 'es2022',
    });
    const browser = await launchChromium();
    try {
      const page = await browser.newPage();
      await page.goto(`${platform.info.backend_url}/docs`);
      // A declaration would stay within the evaluated text.
      await page.evaluate(
        `globalThis.touchstoneClient = (() => { ${outputFiles[0]!.text}; return touchstoneClient; })()`,
      );
      const outcome = await page.evaluate(`(${program})(touchstoneClient, location.origin)`);
      expectOutcome(outcome as Awaited<ReturnType<typeof program>>);
    } finally {
      await browser.close();
    }
  });
});
