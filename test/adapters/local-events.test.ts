import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, test } from 'vitest';
import { createDocumentClient } from '#adapters/dynamo/client.ts';
import { createTables } from '#adapters/dynamo/create-tables.ts';
import { DynamoEventLog } from '#adapters/dynamo/event-log.ts';
import { DynamoJobStore } from '#adapters/dynamo/job-store.ts';
import { startDatabase } from '#adapters/local/dynoxide.ts';
import type { PlatformEvent } from '#contract/platform/events.ts';
import { startEvents } from '../../src/local/events.ts';
import { LOCAL_TABLES } from '../../src/local/platform-info.ts';
import { memoryLog } from '../support/backend.ts';
import { pendingJob } from '../support/jobs.ts';
import { poll } from '../support/poll.ts';

const folder = mkdtempSync(join(tmpdir(), 'touchstone-events-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const dbPath = join(folder, 'database.sqlite');
const AT = new Date().toISOString();

/** Process of the engine with this file. */
function enginePid(): number {
  for (const entry of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    try {
      const args = readFileSync(`/proc/${entry}/cmdline`, 'utf8').split('\0');
      if (args[0]?.endsWith('dynoxide') && args.includes(dbPath)) return Number(entry);
    } catch {
      // The process ended meanwhile.
    }
  }
  throw new Error('The engine does not run');
}

/** An engine on the same file with the tables, and what reads its streams. */
async function open() {
  const database = await startDatabase({ dbPath });
  const dynamo = createDocumentClient({ endpoint: database.endpoint });
  await createTables(dynamo, LOCAL_TABLES);
  const { log, lines } = memoryLog();
  const jobs = new DynamoJobStore(dynamo, LOCAL_TABLES.jobs);
  const events = new DynamoEventLog(dynamo, LOCAL_TABLES.jobs, Date);
  const start = (append = events.append.bind(events)) =>
    startEvents({
      dynamo,
      endpoint: database.endpoint,
      folder,
      source: 'touchstone/local/1',
      dbPath,
      log,
      events: { append, after: events.after.bind(events) },
      deliver: async () => undefined,
    });
  const logged = async () => (await events.after('2000', 1_000)).map(({ event }) => event);
  return { database, dynamo, jobs, start, logged, lines };
}

const shown = (events: readonly PlatformEvent[]) => events.map(({ type, subject }) => `${type} ${subject}`);
const startJob = async (jobs: DynamoJobStore, id: string) => {
  await jobs.create(pendingJob(id, { created_at: AT }));
  await jobs.claim(id, 'task', AT);
};
const reads = async (logged: () => Promise<readonly PlatformEvent[]>, count: number) =>
  shown(await poll(logged, (events) => events.length >= count, `${count} events`));

// Linux only: it finds the engine in /proc.
test.runIf(process.platform === 'linux')(
  'each change becomes an event, when the log fails, the reader stops and the engine is killed',
  async () => {
    const first = await open();
    let failures = 0;
    const append = async (events: readonly PlatformEvent[]) => {
      if (failures++ === 0) throw new Error('no log');
      await appendOf(events);
    };
    const log = new DynamoEventLog(first.dynamo, LOCAL_TABLES.jobs, Date);
    const appendOf = log.append.bind(log);
    const running = await first.start(append);
    await startJob(first.jobs, 'bt-1');
    expect(await reads(first.logged, 1)).toEqual(['backtest.started backtests/bt-1']);
    expect(failures).toBeGreaterThan(1);
    await running.stop();

    // Nobody reads the streams, and the engine is killed with the changes in them.
    await startJob(first.jobs, 'bt-2');
    await first.jobs.fail('bt-1', 1, { code: 'SVC001', message: 'why' }, AT);
    process.kill(enginePid(), 'SIGKILL');
    await first.database.lost;
    first.dynamo.destroy();

    const second = await open();
    const again = await second.start();
    expect(await reads(second.logged, 3)).toEqual([
      'backtest.started backtests/bt-1',
      'backtest.started backtests/bt-2',
      'backtest.failed backtests/bt-1',
    ]);
    const [started, , failed] = await second.logged();
    expect(failed!.sequence).toBeGreaterThan(started!.sequence);
    expect(failed!.data).toMatchObject({ job_id: 'bt-1', error: { code: 'SVC001', message: 'why' } });

    // Records that were read are deleted: each write would look at all of them.
    const sqlite = new DatabaseSync(dbPath, { timeout: 5_000 });
    const records = () => Number(sqlite.prepare('SELECT count(*) AS n FROM _stream_records').get()!.n);
    await poll(
      async () => records(),
      (count) => count <= Object.keys(LOCAL_TABLES).length,
      'deleted records',
    );
    sqlite.close();
    await second.jobs.cancel('bt-2', AT);
    expect((await reads(second.logged, 4)).at(-1)).toBe('backtest.cancelled backtests/bt-2');
    await again.stop();
    second.dynamo.destroy();
    await second.database.stop();
  },
);
