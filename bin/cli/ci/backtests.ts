import { cpSync, existsSync, linkSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DeleteTableCommand } from '@aws-sdk/client-dynamodb';
import { createDocumentClient } from '#adapters/dynamo/client.ts';
import { openDataFolder } from '#adapters/local/data-folder.ts';
import { startDatabase } from '#adapters/local/dynoxide.ts';
import type { LocalEnv } from '#contract/env/env.ts';
import { CANDLES_BUCKET } from '../../../src/local/candles-of-check.ts';
import { startPlatform } from '../../../src/local/platform.ts';
import { LOCAL_TABLES } from '../../../src/local/platform-info.ts';
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
 * Copies a data folder for runs that leave no trace in it: the records of its series and instruments, and links to its candles, which are
 * replaced as whole files. Jobs, models, webhooks and keys stay behind: the copy would run the jobs, and send events.
 *
 * @param target in the same file system
 * @throws Error when a platform uses the folder
 */
export async function copyCandles(home: string, target: string): Promise<void> {
  const folder = openDataFolder(home);
  try {
    mkdirSync(target, { recursive: true });
    const names = readdirSync(folder.path).filter((name) => DATABASE_FILES.test(name));
    for (const name of names) cpSync(join(folder.path, name), join(target, name));
    const candles = join(folder.objectsPath, CANDLES_BUCKET);
    // Absent before the first collection: the runs then name the candles that are missing.
    if (existsSync(candles)) linkFiles(candles, join(target, 'objects', CANDLES_BUCKET));
    await removeOtherTables(join(target, basename(folder.dbPath)));
  } catch (error) {
    rmSync(target, { recursive: true, force: true });
    throw error;
  } finally {
    folder.release();
  }
}

/** Database of a data folder, with its log, and the layout of both. */
const DATABASE_FILES = /^(database\.sqlite(-\w+)?|layout-version)$/;

/** Leaves the table of series. The platform creates the others anew. */
async function removeOtherTables(dbPath: string): Promise<void> {
  if (!existsSync(dbPath)) return;
  const database = await startDatabase({ endpoint: undefined, dbPath });
  try {
    const client = createDocumentClient({ endpoint: database.endpoint });
    for (const table of [LOCAL_TABLES.jobs, LOCAL_TABLES.registry])
      await client.send(new DeleteTableCommand({ TableName: table }));
  } finally {
    await database.stop();
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
