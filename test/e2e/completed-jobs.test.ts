import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FILE_CANDLES_MARK, FILE_DATA_MARK, FILE_PAGE_NAME } from '#contract/backtests/report-file.ts';
import { StaticFiles } from '#runtime/static-files.ts';
import { HYPEROPT_REQUEST, startHyperopt } from '../support/hyperopt-jobs.ts';
import { startTestPlatform, TERMINAL, type TestPlatform } from '../support/platform.ts';
import { poll } from '../support/poll.ts';

/** Bytes of completed jobs: from the read that first says so, the same at every later read while nothing about the job changes. */

const CONFIG = {
  strategy: 'rsi_mean_reversion',
  pairs: ['BTC/USDT:USDT', 'ETH/USDT:USDT'],
  timeframe: '1h',
  date_range: { start: '2026-01-01T00:00:00Z', end: '2026-01-20T00:00:00Z' },
  params: { oversold: 40, exit_level: 52 },
};
const LATER = { start: '2026-01-20T00:00:00Z', end: '2026-02-10T00:00:00Z' };

const built = mkdtempSync(join(tmpdir(), 'touchstone-page-'));
writeFileSync(join(built, FILE_PAGE_NAME), `<!doctype html>${FILE_CANDLES_MARK}|${FILE_DATA_MARK}`);

let platform: TestPlatform;
beforeAll(async () => {
  const files = await StaticFiles.read(built);
  platform = await startTestPlatform({ dashboard: () => ({ status: 'ready', files }) });
});
afterAll(async () => {
  await platform?.stop();
  rmSync(built, { recursive: true });
});

async function read(path: string): Promise<string> {
  const service = path.startsWith('/api/v1/hyperopt') ? platform.strategy : platform;
  const response = await service.request(path);
  const text = await response.text();
  expect([path, response.status], text.slice(0, 300)).toEqual([path, 200]);
  return text;
}

/** The bytes that first say that the job has ended. */
async function untilEnded(path: string): Promise<string> {
  const text = await poll(
    () => read(path),
    (each) => TERMINAL.includes(JSON.parse(each).status),
  );
  expect(JSON.parse(text)).toMatchObject({ status: 'completed' });
  return text;
}

const submit = async (config: object) => {
  const { body } = await platform.post('/api/v1/backtests', { config, experiment_name: 'one' });
  return body.job_id as string;
};

/** An equal job, and one of other parameters on later candles of the same pairs. */
async function runOthers(): Promise<void> {
  for (const config of [CONFIG, { ...CONFIG, date_range: LATER, params: { oversold: 35 } }]) {
    await untilEnded(`/api/v1/backtests/${await submit(config)}`);
  }
}

async function readAll(paths: readonly string[]): Promise<Record<string, string>> {
  return Object.fromEntries(await Promise.all(paths.map(async (path) => [path, await read(path)])));
}

describe('a completed job', () => {
  it('has the same bytes after other jobs on other candles of its pairs', async () => {
    const backtest = `/api/v1/backtests/${await submit(CONFIG)}`;
    const search = `/api/v1/hyperopt/${await startHyperopt(platform, { ...HYPEROPT_REQUEST, n_trials: 5 })}`;
    const ended = { [backtest]: await untilEnded(backtest), [search]: await untilEnded(search) };
    const parts = ['equity', 'report-data', 'trades', 'curve', 'export?format=json', 'export?format=html'];
    const run = backtest.split('/').at(-1);
    const paths = [
      ...Object.keys(ended),
      ...parts.map((part) => `${backtest}/${part}`),
      ...['result', 'trials'].map((part) => `${search}/${part}`),
      `/api/2.0/mlflow/runs/get?run_id=${run}`,
      `/api/2.0/mlflow-artifacts/artifacts/${run}/report.json`,
    ];
    const before = await readAll(paths);
    expect(before).toMatchObject(ended);

    await runOthers();

    const after = await readAll(paths);
    expect(paths.filter((path) => after[path] !== before[path])).toEqual([]);
  });

  it('has a page with the candles of its range only, although later ones are stored', async () => {
    const id = await submit(CONFIG);
    await untilEnded(`/api/v1/backtests/${id}`);
    await runOthers();
    const page = await read(`/api/v1/backtests/${id}/export?format=html`);
    const data = JSON.parse(gunzipSync(Buffer.from(page.split('|')[1]!, 'base64')).toString());
    const times: number[] = data.candles.flatMap((each: { times: number[] }) => each.times);
    const [start, end] = Object.values(CONFIG.date_range).map((time) => Date.parse(time) / 1_000);
    expect(Math.min(...times)).toBeGreaterThanOrEqual(start!);
    expect(Math.max(...times)).toBeLessThan(end!);
    // Around the last trade, which the end of the candles closed or which ended shortly before.
    expect(Math.max(...times)).toBe(end! - 3_600);
  });
});
