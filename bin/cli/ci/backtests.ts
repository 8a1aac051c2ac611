import { cpSync, existsSync, linkSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDataFolder } from '#adapters/local/data-folder.ts';
import type { LocalEnv } from '#contract/env/env.ts';
import { CANDLES_BUCKET } from '../../../src/local/candles-of-check.ts';
import { startPlatform } from '../../../src/local/platform.ts';
import { PLATFORM_FILE } from '../../../src/local/platform-info.ts';
import { platformOptions } from '../../../src/local/platform-options.ts';
import { ApiClient } from '../client.ts';
import { statusWithError } from '../output.ts';
import { allTrades } from '../reports/all-trades.ts';
import { backtestPath, type Job, loadResults } from '../reports/load-results.ts';
import type { Run } from './compare-runs.ts';

/** A completed backtest, or why there is none. */
export type RunOutcome = Run | { readonly error: string };

const POLL_MS = 50;

/** Runs one backtest of each configuration, on a platform of its own with this data folder and these strategies. */
export async function runBacktests(
  env: LocalEnv,
  folders: { readonly home: string; readonly strategies: string },
  configs: readonly Readonly<Record<string, unknown>>[],
  onEnd: () => void,
): Promise<RunOutcome[]> {
  const platform = await startPlatform({
    ...platformOptions(env),
    home: folders.home,
    strategiesDirectory: folders.strategies,
    auth: false,
    ports: { backend: 0, strategy: 0, dataCollection: 0 },
  });
  try {
    const client = new ApiClient(platform.info.backend_url);
    const ended = configs.map(async (config) => {
      const outcome = await runOne(client, config).catch((error: Error) => ({ error: error.message }));
      onEnd();
      return outcome;
    });
    return await Promise.race([Promise.all(ended), platform.failed]);
  } finally {
    await platform.stop();
  }
}

async function runOne(client: ApiClient, config: Readonly<Record<string, unknown>>): Promise<RunOutcome> {
  const { job_id } = await client.post<{ job_id: string }>('/api/v1/backtests', { config });
  for (;;) {
    const job = await client.get<Job>(backtestPath(job_id));
    if (job.status === 'completed') {
      return { results: await loadResults(client, job), trades: await allTrades(client, job_id) };
    }
    if (job.status !== 'pending' && job.status !== 'running') return { error: statusWithError(job) };
    await sleep(POLL_MS);
  }
}

/**
 * Copies a data folder for runs that leave no trace in it: its records, and links to its candles, which are replaced as whole files.
 *
 * @param target in the same file system
 * @throws Error when a platform uses the folder
 */
export function copyCandles(home: string, target: string): void {
  const folder = openDataFolder(home);
  try {
    mkdirSync(target, { recursive: true });
    for (const entry of readdirSync(folder.path, { withFileTypes: true })) {
      const isRecord = entry.isFile() && entry.name !== PLATFORM_FILE && !entry.name.includes('.lock');
      if (isRecord) cpSync(join(folder.path, entry.name), join(target, entry.name));
    }
    const candles = join(folder.objectsPath, CANDLES_BUCKET);
    // Absent before the first collection: the runs then name the candles that are missing.
    if (existsSync(candles)) linkFiles(candles, join(target, 'objects', CANDLES_BUCKET));
  } catch (error) {
    rmSync(target, { recursive: true, force: true });
    throw error;
  } finally {
    folder.release();
  }
}

function linkFiles(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) linkFiles(source, target);
    else linkSync(source, target);
  }
}
