import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { TASK_VARIABLES, TaskFunction, type TaskFunctionOptions } from '#adapters/aws/task-function.ts';
import { openMarketStores } from '#adapters/open-market-stores.ts';
import { openStores, type Stores } from '#adapters/open-stores.ts';
import type { JobIn } from '#contract/backtests/backtest.ts';
import { BacktestTaskEnv, CollectTaskEnv } from '#contract/env/env.ts';
import { isoTime } from '#domain/shared/iso-time.ts';
import { startEngine, type TestEngine } from '../support/engine.ts';
import { waitingAt } from '../support/gates.ts';
import { pendingJob } from '../support/jobs.ts';
import { hasMoto, startMoto } from '../support/moto.ts';
import { poll } from '../support/poll.ts';
import { isAlive } from '../support/processes.ts';
import { MisbehavingStrategies } from '../support/strategies.ts';

const ENTRY = join(import.meta.dirname, '../../src/tasks/backtest.ts');
const HOUR_MS = 3_600_000;
const START = Date.parse('2025-01-01T00:00:00.000Z');
const RANGE = { start: '2025-01-06T00:00:00.000Z', end: '2025-01-11T00:00:00.000Z' };

const home = mkdtempSync(join(tmpdir(), 'touchstone-function-'));
const temporary = join(home, 'tmp');
const objects = join(home, 'objects');
const strategies = new MisbehavingStrategies();
let engine: TestEngine;
let stores: Stores;
let environment: Record<string, string>;
let lines: string[];

beforeAll(async () => {
  for (const folder of [temporary, objects]) mkdirSync(folder);
  engine = await startEngine();
  environment = {
    ENVIRONMENT: 'test',
    LOG_LEVEL: 'INFO',
    DYNAMODB_ENDPOINT: engine.endpoint,
    JOBS_TABLE: engine.tables.jobs,
    SERIES_TABLE: engine.tables.series,
    OBJECTS_DIRECTORY: objects,
    RESULTS_BUCKET: 'results',
    CANDLES_BUCKET: 'candles',
    STRATEGIES_DIRECTORY: strategies.folder,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'x',
    AWS_SECRET_ACCESS_KEY: 'x',
  };
  stores = openStores(environment as never);
  await storeCandles(openMarketStores(environment as never, stores.dynamo));
});

async function storeCandles({ candles }: ReturnType<typeof openMarketStores>): Promise<void> {
  const hours = Array.from({ length: 240 }, (_, hour) => 100 + 10 * Math.sin(hour / 5));
  const column = (change: number) => Float64Array.from(hours, (price) => price + change);
  await candles.write(
    { exchange: 'sim', symbol: 'BTC/USDT:USDT', timeframe: '1h' },
    {
      timestamp: Float64Array.from(hours, (_, hour) => START + hour * HOUR_MS),
      open: column(0),
      high: column(1),
      low: column(-1),
      close: column(0.5),
      volume: column(0),
    },
  );
}
afterAll(async () => {
  stores?.dynamo.destroy();
  await engine?.stop();
  for (const folder of [home, strategies.folder]) rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  lines = [];
});

const invocation = (remainingMs = 120_000) => ({
  awsRequestId: 'request-1',
  getRemainingTimeInMillis: () => remainingMs,
});

const functionOf = (options: Partial<TaskFunctionOptions> = {}) =>
  new TaskFunction({
    entry: ENTRY,
    environment,
    temporary,
    onOutput: (line) => lines.push(line),
    sandbox: { write: [objects], strategies: strategies.folder },
    ...options,
  });

let jobs = 0;
async function submit(strategy: string): Promise<string> {
  const id = `bt-fast${jobs++}`;
  const params: Record<string, number> = strategy === 'ema_crossover' ? { fast: 5, slow: 20 } : {};
  const config = { ...pendingJob(id).config, strategy, timeframe: '1h' as const, date_range: RANGE, params };
  const execution_input = {
    ...pendingJob(id).execution_input,
    timeframe: '1h',
    ...RANGE,
    start: isoTime(START),
  };
  await stores.jobs.create(pendingJob(id, { config, execution_input }));
  return id;
}

async function run(strategy: string, fastLane = functionOf()) {
  const job_id = await submit(strategy);
  await fastLane.run({ job_id, correlation_id: 'c-1' }, invocation());
  return (await stores.jobs.get(job_id))!;
}

const filesOf = ({ results }: JobIn<'completed'>) => {
  const folder = join(objects, 'results', results.prefix);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  return Object.fromEntries(
    files.map(({ parentPath, name }) => [
      relative(folder, join(parentPath, name)),
      readFileSync(join(parentPath, name)),
    ]),
  );
};

test('function claims and completes a job, and prints the lines of its task', async () => {
  const job = await run('ema_crossover');
  expect(job).toMatchObject({ status: 'completed', attempt: 1, task: 'lambda-request-1' });
  expect(lines.map((line) => JSON.parse(line))).toContainEqual(
    expect.objectContaining({ message: 'backtest ended', job_id: job.job_id, correlation_id: 'c-1' }),
  );
  expect(readdirSync(temporary)).toEqual([]);
});

test('results of the function and of a task on its own have the same bytes', async () => {
  const fast = (await run('ema_crossover')) as JobIn<'completed'>;
  const id = await submit('ema_crossover');
  // As the container runs it.
  const { status } = spawnSync(process.execPath, [ENTRY], { env: { ...environment, JOB_ID: id } });
  expect(status).toBe(0);
  const task = (await stores.jobs.get(id)) as JobIn<'completed'>;
  expect(task.status).toBe('completed');
  expect(fast.results.digest).toBe(task.results.digest);
  expect(filesOf(fast)).toEqual(filesOf(task));
  expect(Object.keys(filesOf(fast)).length).toBeGreaterThan(3);
  expect(fast.result).toEqual(task.result);
});

test.skipIf(!hasMoto())('function reads and writes S3 with the credentials of its role', async () => {
  const moto = await startMoto();
  const { OBJECTS_DIRECTORY: _, ...withoutFolder } = environment;
  const others = { ...withoutFolder, AWS_ENDPOINT_URL_S3: moto.endpoint, AWS_SESSION_TOKEN: 'x' };
  for (const [name, value] of Object.entries(others)) vi.stubEnv(name, value);
  try {
    for (const bucket of ['candles', 'results']) await fetch(`${moto.endpoint}/${bucket}`, { method: 'PUT' });
    await storeCandles(openMarketStores(others as never));
    const job = await run('ema_crossover', functionOf({ environment: others, sandbox: {} }));
    expect(job).toMatchObject({ status: 'completed', attempt: 1 });
    const listed = await (await fetch(`${moto.endpoint}/results?list-type=2`)).text();
    expect(listed).toContain(`results/${job.job_id}/1/`);
  } finally {
    vi.unstubAllEnvs();
    await moto.stop();
  }
});

test('nothing that a strategy leaves is there for the next job', async () => {
  strategies.add(
    'litters',
    `for (const leave of [
       () => { (globalThis as any).left = 1; },
       () => { (Array.prototype as any).left = 1; },
       () => { (process.env as any).LEFT = '1'; },
     ]) {
       let done = true;
       try { leave(); } catch { done = false; }
       if (done) throw new Error('not denied: ' + leave);
     }
     setInterval(() => {}, 1_000);`,
  );
  strategies.add(
    'looks',
    `const found = ['left'].filter((name) => name in globalThis || name in Array.prototype || process.env.LEFT);
     if (found.length > 0) throw new Error('found ' + found);`,
  );
  const fastLane = functionOf();
  expect(await run('litters', fastLane)).toMatchObject({ status: 'completed' });
  expect(readdirSync(temporary)).toEqual([]);
  expect(await run('looks', fastLane)).toMatchObject({ status: 'completed' });
});

test.skipIf(process.platform !== 'linux')(
  'processes that a task leaves are ended, in its process group and out of it',
  async () => {
    const entry = join(home, 'leaves.mjs');
    const sleeper = "['-e', 'setInterval(() => {}, 1000)']";
    writeFileSync(
      entry,
      `import { spawn } from 'node:child_process';
       import { writeFileSync } from 'node:fs';
       const left = [false, true].map((detached) =>
         spawn(process.execPath, ${sleeper}, { detached, stdio: ['ignore', 'inherit', 'inherit'] }));
       writeFileSync(process.env.TMPDIR + '/../left', 'x');
       console.log(JSON.stringify(left.map(({ pid }) => pid)));
       process.exit(0);`,
    );
    const fastLane = new TaskFunction({
      entry,
      environment,
      temporary,
      onOutput: (line) => lines.push(line),
    });
    await fastLane.run({ job_id: 'bt-1', correlation_id: 'c-1' }, invocation());
    const pids: number[] = JSON.parse(lines[0]!);
    expect(pids).toHaveLength(2);
    await poll(
      async () => pids.filter(isAlive),
      (alive) => alive.length === 0,
    );
    expect(readdirSync(temporary)).toEqual([]);
  },
);

test.skipIf(process.platform !== 'linux')(
  'function fails when its task crashes, and another attempt completes the job',
  async () => {
    strategies.addGated('crashes');
    const event = { job_id: await submit('crashes'), correlation_id: 'c-1' };
    const failed = expect(functionOf().run(event, invocation())).rejects.toThrow(/ended with SIGKILL/);
    const [pid] = await poll(
      () => waitingAt('crashes', `=${temporary}/`),
      ({ length }) => length > 0,
    );
    process.kill(pid!, 'SIGKILL');
    await failed;
    expect(await stores.jobs.get(event.job_id)).toMatchObject({ status: 'running', attempt: 1 });
    strategies.open('crashes');
    await functionOf().run(event, { ...invocation(), awsRequestId: 'request-2' });
    expect(await stores.jobs.get(event.job_id)).toMatchObject({ status: 'completed', attempt: 2 });
  },
);

test('task is ended before Lambda ends the function, and the function fails', async () => {
  strategies.add('loops', 'for (;;);');
  const job_id = await submit('loops');
  const event = { job_id, correlation_id: 'c-1' };
  // 15 s are reserved for the end: 2 s are left to the task.
  await expect(functionOf().run(event, invocation(17_000))).rejects.toThrow('ended after 2 s');
  expect(readdirSync(temporary)).toEqual([]);
});

test('task gets every variable of the entry points, and no other variable of the function', async () => {
  const own = ['JOB_ID', 'CORRELATION_ID', 'TASK_ID', 'WATCH_MARK', 'ECS_CONTAINER_METADATA_URI_V4'];
  const used = { ...BacktestTaskEnv.variables, ...CollectTaskEnv.variables };
  // The data collection service's address: a collection calls the exchanges itself.
  const unused = ['DATA_COLLECTION_URL', 'SERVICE_DISCOVERY_NAMESPACE'];
  const named = Object.keys(used).filter((name) => ![...own, ...unused].includes(name));
  expect(TASK_VARIABLES).toEqual(expect.arrayContaining(named));

  const entry = join(home, 'prints.mjs');
  writeFileSync(entry, 'console.log(JSON.stringify(Object.keys(process.env)))');
  const fastLane = new TaskFunction({
    entry,
    temporary,
    onOutput: (line) => lines.push(line),
    environment: { ...environment, AWS_LAMBDA_RUNTIME_API: 'x', AWS_LAMBDA_FUNCTION_NAME: 'x', SECRET: 'x' },
  });
  await fastLane.run({ job_id: 'bt-1', correlation_id: 'c-1' }, invocation());
  const given: string[] = JSON.parse(lines[0]!);
  expect(given).toEqual(expect.arrayContaining(Object.keys(environment)));
  expect(given.filter((name) => /LAMBDA|SECRET$/.test(name))).toEqual([]);
});
