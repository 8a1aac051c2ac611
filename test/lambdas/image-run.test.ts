import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { imageRunProgress } from '#adapters/images/image-run-progress.ts';
import type { JobIn } from '#contract/backtests/backtest.ts';
import { LOOK_AHEAD_STATES } from '#contract/config/look-ahead.ts';
import { LAMBDA_CONTEXT } from '../support/gateway.ts';
import { type ImageRunFixture, imageRunFixture, taskArn } from '../support/image-run.ts';
import { FUNCTION_ENVIRONMENT } from '../support/lambda-environment.ts';

type ImageRun = typeof import('#lambdas/image-run.ts');
let fixture: ImageRunFixture;
let lambda: ImageRun;
/** Job and task of an image that holds Touchstone's own task. */
const HONEST = { job: 'bt-honest', task: taskArn(1) };
let input: string;

beforeAll(async () => {
  fixture = await imageRunFixture();
  for (const [name, value] of Object.entries({ ...FUNCTION_ENVIRONMENT, ...fixture.env })) {
    vi.stubEnv(name, value);
  }
  lambda = await import('#lambdas/image-run.ts');
  await fixture.create(HONEST.job);
  input = await prepare(HONEST.job);
  const { status, stderr } = fixture.runTask('image-backtest', fixture.imageEnvironment(HONEST.task, input));
  expect(status, stderr).toBe(0);
  expect(await record(HONEST)).toEqual({ outcome: 'recorded' });
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await fixture.stop();
});

const call = (event: object): Promise<any> =>
  lambda.handler({ correlation_id: 'c-1', ...event }, LAMBDA_CONTEXT);
const prepare = async (job: string): Promise<string> =>
  (await call({ operation: 'prepare', job_id: job })).input;
const record = ({ job, task }: { job: string; task: string }) =>
  call({ operation: 'record', job_id: job, task });
const taskStarted = (job: string, task: string) =>
  call({ 'detail-type': 'ECS Task State Change', detail: { taskArn: task, group: job } });
const jobOf = async (jobId: string): Promise<any> => fixture.stores.jobs.get(jobId);

describe('image that holds the task of this release', () => {
  test('its results have the bytes of the platform’s own task', async () => {
    const own = 'bt-own';
    await fixture.create(own);
    const { status, stderr } = fixture.runTask('backtest', {
      ...fixture.env,
      JOB_ID: own,
      TASK_ID: 'own',
    });
    expect(status, stderr).toBe(0);
    const [honest, expected] = [await jobOf(HONEST.job), await jobOf(own)];
    expect(honest).toMatchObject({ status: 'completed', attempt: 1, task: HONEST.task, progress: 1 });
    expect(honest.result.total_trades).toBeGreaterThan(5);
    expect(honest.result).toEqual(expected.result);
    expect({ ...honest.results, prefix: '' }).toEqual({ ...expected.results, prefix: '' });
    // Equal digests are one trial, whoever ran them.
    expect(honest.trial_record).toMatchObject({ owner: 1, strategy: 1, session: null });
    expect(expected.trial_record).toEqual(honest.trial_record);
    // Not the platform's own: the sampled part depends on the processor time that a task gets.
    const outcome = readFileSync(`${fixture.folderOf(HONEST.task)}/outcome.json`, 'utf8');
    expect(honest.look_ahead).toEqual(JSON.parse(outcome).look_ahead);
    expect(LOOK_AHEAD_STATES).toContain(honest.look_ahead.state);
    expect(fixture.resultFiles(HONEST.job, 1)).toEqual(fixture.resultFiles(own, 1));
  });

  test('a run is compared with stored bitcoin as in the platform’s own task', async () => {
    const { config } = await jobOf(HONEST.job);
    const date_range = { start: '2025-01-15T00:00:00.000Z', end: '2025-04-20T00:00:00.000Z' };
    const pair = 'ETH/USDT:USDT';
    await fixture.store(pair, '1h', 120 * 24);
    await fixture.store('BTC/USDT:USDT', '1d', 120);
    const changes = { config: { ...config, pairs: [pair], date_range } };
    const run = { job: 'bt-compared', task: taskArn(9) };
    for (const job of [run.job, 'bt-compared-own']) await fixture.create(job, changes);
    const environment = fixture.imageEnvironment(run.task, await prepare(run.job));
    expect(fixture.runTask('image-backtest', environment).status).toBe(0);
    await record(run);
    fixture.runTask('backtest', { ...fixture.env, JOB_ID: 'bt-compared-own', TASK_ID: 'own' });
    expect((await jobOf(run.job)).status).toBe('completed');
    expect(fixture.resultFiles(run.job, 1)).toEqual(fixture.resultFiles('bt-compared-own', 1));
    const stored = JSON.parse(readFileSync(`${fixture.folder}/runs/inputs/${environment.RUN_INPUT}`, 'utf8'));
    expect(stored.months.map(({ symbol }: { symbol: string }) => symbol)).toEqual(
      expect.arrayContaining(['BTC/USDT:USDT']),
    );
  });

  test('its input has a random key and neither owner nor grants', async () => {
    expect(input).toMatch(/^[0-9a-f]{32}\.json$/);
    expect(await prepare('bt-own').catch((error: Error) => error.message)).toBe('bt-own is completed');
    const stored = JSON.parse(readFileSync(`${fixture.folder}/runs/inputs/${input}`, 'utf8'));
    expect(Object.keys(stored.job)).not.toEqual(expect.arrayContaining(['owner']));
    expect(JSON.stringify(stored)).not.toMatch(/owner|shared_with|request_digest/);
    await fixture.create('bt-again');
    expect(await prepare('bt-again')).not.toBe(await prepare('bt-again'));
  });

  test('a failure of the strategy fails the job with the error of the task', async () => {
    const run = { job: 'bt-unknown', task: taskArn(2) };
    const { config } = await jobOf(HONEST.job);
    await fixture.create(run.job, { config: { ...config, strategy: 'nobody' } });
    const environment = fixture.imageEnvironment(run.task, await prepare(run.job));
    expect(fixture.runTask('image-backtest', environment).status).toBe(0);
    expect(await record(run)).toEqual({ outcome: 'recorded' });
    expect(await jobOf(run.job)).toMatchObject({
      status: 'failed',
      error_code: 'RES002',
      error: expect.stringContaining('Strategy nobody is missing'),
    });
  });
});

describe('writes of the job', () => {
  /** A job whose task has written an honest run. */
  async function written(number: number) {
    const run = { job: `bt-w${number}`, task: taskArn(100 + number) };
    await fixture.create(run.job);
    return { ...run, ...fixture.copyRun(HONEST, run) };
  }

  test('the start of a task makes the job running, once', async () => {
    const { job, task } = await written(1);
    await taskStarted(job, task);
    await taskStarted(job, task);
    expect(await jobOf(job)).toMatchObject({ status: 'running', attempt: 1, task, progress: 0 });
    await record({ job, task });
    expect(await jobOf(job)).toMatchObject({ status: 'completed', attempt: 1 });
    await taskStarted(job, taskArn(999));
    expect(await jobOf(job)).toMatchObject({ status: 'completed', attempt: 1, task });
  });

  test('a recording that died before the job was written is repeated with the same end', async () => {
    const { job, task } = await written(2);
    const { jobs } = fixture.deps;
    const { recordImageRun } = await import('#domain/image-runs/record-image-run.ts');
    const died = {
      ...fixture.deps,
      jobs: {
        get: (id: string) => jobs.get(id),
        claim: (id: string, by: string, at: string) => jobs.claim(id, by, at),
        fail: () => Promise.reject(new Error('not expected')),
        complete: () => Promise.reject(new Error('died')),
      },
    };
    await expect(recordImageRun(died, { jobId: job, task })).rejects.toThrow('died');
    expect(await jobOf(job)).toMatchObject({ status: 'running', attempt: 1 });
    expect(await record({ job, task })).toEqual({ outcome: 'recorded' });
    expect(await record({ job, task })).toEqual({ outcome: 'not_mine' });
    expect(await jobOf(job)).toMatchObject({ status: 'completed', attempt: 1 });
    expect(fixture.resultFiles(job, 1)).toEqual(fixture.resultFiles(HONEST.job, 1));
  });

  test('a late event of another task during the recording loses no result', async () => {
    const { job, task } = await written(3);
    const { recordImageRun } = await import('#domain/image-runs/record-image-run.ts');
    let late = true;
    const { runs } = fixture.deps;
    const readOutcome = async (own: string) => {
      if (late) await taskStarted(job, taskArn(998));
      late = false;
      return runs.readOutcome(own);
    };
    const deps = { ...fixture.deps, runs: { readOutcome, adoptResults: runs.adoptResults.bind(runs) } };
    expect(await recordImageRun(deps, { jobId: job, task })).toBe('recorded');
    expect(await jobOf(job)).toMatchObject({ status: 'completed', attempt: 3, task });
    expect(fixture.resultFiles(job, 3)).toEqual(fixture.resultFiles(HONEST.job, 1));
  });

  test('a cancelled job keeps its status', async () => {
    const { job, task } = await written(4);
    await fixture.stores.jobs.cancel(job, '2025-03-02T00:00:00.000Z');
    expect(await record({ job, task })).toEqual({ outcome: 'not_mine' });
    expect((await jobOf(job)).status).toBe('cancelled');
  });
});

type Run = ReturnType<ImageRunFixture['copyRun']>;

/** Changes JSON of a part of the results. */
const part = (name: string, change: (json: string) => string | Buffer) => (run: Run) => {
  const path = run.results(`${name}.json.zst`);
  writeFileSync(path, zstdCompressSync(change(zstdDecompressSync(readFileSync(path)).toString())));
};
const edit = (name: string, change: (value: any) => void) =>
  part(name, (json) => {
    const value = JSON.parse(json);
    change(value);
    return JSON.stringify(value);
  });
const page = (change: (bytes: Buffer) => Buffer) => (run: Run) => {
  const path = run.results('trades/0001.columns.zst');
  writeFileSync(path, zstdCompressSync(change(zstdDecompressSync(readFileSync(path)))));
};
const head = (change: (head: any) => void) =>
  page((bytes) => {
    const length = bytes.readUInt32LE();
    const value = JSON.parse(bytes.toString('utf8', 4, 4 + length));
    change(value);
    const text = Buffer.from(JSON.stringify(value));
    const size = Buffer.alloc(4);
    size.writeUInt32LE(text.length);
    return Buffer.concat([size, text, bytes.subarray(4 + length)]);
  });
/** Overwrites `openedAt` of the first trade, which follows the head. */
const firstTime = (time: number) =>
  page((bytes) => {
    bytes.writeDoubleLE(time, 4 + bytes.readUInt32LE());
    return bytes;
  });
/** Changes the curve; null: bytes that are not zstd. */
const curve = (change: (bytes: Buffer) => Buffer | null) => (run: Run) => {
  const path = run.results('curve.columns.zst');
  const changed = change(zstdDecompressSync(readFileSync(path)));
  writeFileSync(path, changed ? zstdCompressSync(changed) : 'curve');
};
const outcome = (change: (value: any) => void) => (run: Run) => {
  const value = JSON.parse(JSON.stringify(run.outcome));
  change(value);
  run.write('outcome.json', JSON.stringify(value));
};

/** What code of others wrote, and what the job says of it. */
const HOSTILE: readonly (readonly [string, (run: Run) => void, RegExp])[] = [
  ['outcome of another job', outcome((each) => (each.job_id = HONEST.job)), /outcome is of another job/],
  [
    'outcome of 200 KB',
    outcome((each) => each.warnings.push('x'.repeat(200_000))),
    /outcome\.json has 20\d{4} bytes/,
  ],
  ['outcome that is not JSON', (run) => run.write('outcome.json', '{"status":'), /outcome is not valid JSON/],
  [
    'outcome in another encoding',
    (run) => run.write('outcome.json', Buffer.from([0xff, 0xfe])),
    /outcome is not valid JSON/,
  ],
  [
    'outcome with a lone surrogate',
    outcome((each) => (each.warnings = ['\ud800'])),
    /outcome is not valid JSON/,
  ],
  ['outcome with another status', outcome((each) => (each.status = 'cancelled')), /outcome: status/],
  [
    'a code that is none of a run',
    outcome((each) => Object.assign(each, { status: 'failed', error: { code: 'AUTH001', message: 'x' } })),
    /outcome: error\.code/,
  ],
  [
    'a corrupt file of another series',
    outcome((each) =>
      Object.assign(each, {
        status: 'failed',
        error: { code: 'DATA005', message: 'x' },
        corrupt: { symbol: 'ETH/USDT:USDT', timeframe: '1h', month: '2025-01' },
      }),
    ),
    /series that the job does not read/,
  ],
  ['staging checks of a backtest', outcome((each) => (each.checks = [])), /no staging checks/],
  ['more pages than allowed', outcome((each) => (each.trade_pages = 1e6)), /outcome: trade_pages/],
  [
    'a page that is missing',
    outcome((each) => (each.trade_pages = 2)),
    /page 1 of the trades has other trades/,
  ],
  ['another digest', outcome((each) => (each.digest = '0'.repeat(64))), /digest of the results is another/],
  [
    'a timing that is infinite',
    (run) =>
      run.write('outcome.json', JSON.stringify(run.outcome).replace(/"total_ms":[\d.]+/, '"total_ms":1e999')),
    /outcome: timing\.total_ms/,
  ],
  [
    'a result that says NaN',
    part('result', (json) => json.replace(/"sharpe_ratio":[-\d.]+/, '"sharpe_ratio":NaN')),
    /result is not valid JSON/,
  ],
  [
    'a result that is infinite',
    part('result', (json) => json.replace(/"sharpe_ratio":[-\d.]+/, '"sharpe_ratio":1e999')),
    /result: sharpe_ratio/,
  ],
  ['a result with nested values', edit('result', (each) => (each.more = { deep: [] })), /result: more/],
  [
    'a result of 100 KB',
    edit('result', (each) => (each['x'.repeat(100_000)] = 1)),
    /has more than 16384 bytes/,
  ],
  ['a result with other trades', edit('result', (each) => (each.total_trades += 1)), /trades are reported/],
  [
    'a key __proto__',
    part('result', (json) => json.replace('{', '{"__proto__":{"isAdmin":true},')),
    /result is not valid JSON/,
  ],
  [
    'a decompression bomb',
    part('report', () => Buffer.alloc(64 * 1024 * 1024, ' ')),
    /has more than 8388608 bytes/,
  ],
  ['a report of a million values', part('report', () => `[${'0,'.repeat(1e6)}0]`), /more than 500000 values/],
  [
    'a report of 60,000 empty objects',
    edit('report', (each) => (each.data = Array(60_000).fill({}))),
    /more than 50000 objects/,
  ],
  [
    'a report that is nested a million times',
    part('report', () => '['.repeat(1e6) + ']'.repeat(1e6)),
    /report is not valid JSON|report: /,
  ],
  [
    'a report of another strategy',
    edit('report', (each) => (each.settings.strategy = 'other')),
    /another strategy than the job/,
  ],
  [
    'a report of other dates',
    edit('report', (each) => (each.settings.date_range.start = '2025-01-21T00:00:00.000Z')),
    /another date_range/,
  ],
  [
    'a report of other pairs',
    edit('report', (each) => each.settings.pairs.push('ETH/USDT:USDT')),
    /other pairs/,
  ],
  ['a report without provenance', edit('report', (each) => delete each.provenance), /report: provenance/],
  [
    'an equity without days',
    edit('equity', (each) => {
      for (const name of ['dates', 'equity', 'drawdown']) each[name] = [];
    }),
    /dates of the equity are not consecutive/,
  ],
  [
    'an equity at no time',
    edit('equity', (each) => (each.dates[0] = '2025-02-30')),
    /dates of the equity are not consecutive/,
  ],
  [
    'an equity that leaves out a day',
    edit('equity', (each) => (each.dates[1] = each.dates[2])),
    /dates of the equity are not consecutive/,
  ],
  ['an equity of unequal columns', edit('equity', (each) => each.equity.pop()), /columns of the equity/],
  [
    'a part that is not zstd',
    (run) => writeFileSync(run.results('equity.json.zst'), 'equity'),
    /equity\.json\.zst is not zstd/,
  ],
  [
    'a part of 5 MB',
    (run) => writeFileSync(run.results('equity.json.zst'), Buffer.alloc(5 * 1024 * 1024)),
    /equity\.json\.zst has 5242880 bytes/,
  ],
  ['a page without bytes', page(() => Buffer.alloc(0)), /page 1 of the trades has another format/],
  [
    'a page with another column',
    page((bytes) => Buffer.concat([bytes, Buffer.alloc(8)])),
    /page 1 of the trades has another format/,
  ],
  [
    'a page of a billion trades',
    head((each) => (each.length = 1e9)),
    /page 1 of the trades has another format/,
  ],
  [
    'a page with a length of text',
    head((each) => (each.length = String(each.length))),
    /page 1 of the trades has another format/,
  ],
  ['a page of later trades', head((each) => (each.first = 1_000)), /page 1 of the trades has other trades/],
  ['a trade of another pair', head((each) => (each.texts.pair = ['ETH/USDT:USDT'])), /no valid pair/],
  ['a trade of another side', head((each) => (each.texts.side = ['up', 'down'])), /no valid side/],
  [
    'a trade with an endless tag',
    head((each) => (each.texts.enterTag = ['x'.repeat(2_000)])),
    /no valid enterTag/,
  ],
  ['a trade without exit reason', head((each) => (each.texts.exitReason = [])), /a trade has no exitReason/],
  ['a curve that is not zstd', curve(() => null), /curve\.columns\.zst is not zstd/],
  ['a truncated curve', curve((bytes) => bytes.subarray(0, -2)), /the curve has another format/],
  [
    'a curve of other candles',
    curve((bytes) => Buffer.from(bytes.toString('latin1').replace('"step":3', '"step":6'), 'latin1')),
    /curve is of other candles/,
  ],
  ['a trade at no time', firstTime(Number.NaN), /no valid openedAt/],
  ['a trade in a million years', firstTime(1e16), /no valid openedAt/],
];

describe('code of others', () => {
  test.each(HOSTILE)('job fails for %s', async (name, attack, reason) => {
    const index = HOSTILE.findIndex(([each]) => each === name);
    const run = { job: `bt-h${index}`, task: taskArn(200 + index) };
    await fixture.create(run.job);
    attack(fixture.copyRun(HONEST, run));
    expect(await record(run)).toEqual({ outcome: 'recorded' });
    const job: JobIn<'failed'> = await jobOf(run.job);
    expect(job).toMatchObject({ status: 'failed', error_code: 'VAL006', task: run.task });
    expect(job.error).toMatch(
      /^The registered image wrote an invalid result: .+\. Register the version again/,
    );
    expect(job.error).toMatch(reason);
    expect(job.error.length).toBeLessThan(600);
  });

  test('unchanged copy of the run is accepted', async () => {
    const run = { job: 'bt-copy', task: taskArn(300) };
    await fixture.create(run.job);
    fixture.copyRun(HONEST, run);
    await record(run);
    expect(await jobOf(run.job)).toMatchObject({ status: 'completed' });
  });

  test('run of an image that writes no curve is accepted', async () => {
    const run = { job: 'bt-nocurve', task: taskArn(305) };
    await fixture.create(run.job);
    rmSync(fixture.copyRun(HONEST, run).results('curve.columns.zst'));
    await record(run);
    expect(await jobOf(run.job)).toMatchObject({ status: 'completed' });
    expect(Object.keys(fixture.resultFiles(run.job, 1))).not.toContain('/curve.columns.zst');
  });

  test("what lies under a neighbour's prefix is not believed", async () => {
    const [job, task, neighbour] = ['bt-neighbour', taskArn(301), taskArn(302)];
    await fixture.create(job);
    fixture.copyRun(HONEST, { job, task: neighbour });
    await record({ job, task });
    expect((await jobOf(job)).error).toContain('invalid result: there is none');
    await fixture.create('bt-path');
    await expect(record({ job: 'bt-path', task: '../../inputs' })).rejects.toThrow('Not the ARN of a task');
  });

  test('validation without all of its checks fails', async () => {
    const run = { job: 'va-forged', task: taskArn(303) };
    await fixture.create(run.job, { kind: 'validation' });
    const { write, outcome: honest } = fixture.copyRun(HONEST, run);
    const { look_ahead: _, ...rest } = honest as Record<string, unknown>;
    const passed = { status: 'passed', message: 'fine', value: null, threshold: null };
    const checks = ['code', 'smoke_run', 'look_ahead'].map((name) => ({ name, ...passed }));
    write('outcome.json', JSON.stringify({ ...rest, checks }));
    await record(run);
    expect((await jobOf(run.job)).error).toMatch(/staging checks are not code, smoke_run, determinism/);
  });

  test.each([
    ['0.5', 0.5],
    ['-1', undefined],
    ['1e9', undefined],
    ['NaN', undefined],
    ['[]', undefined],
    ['{}', undefined],
    [`0.5${' '.repeat(200)}`, undefined],
  ])('progress %j reads as %s', async (text, progress) => {
    const task = taskArn(304);
    fixture.copyRun(HONEST, { job: 'bt-p', task }).write('progress.json', text);
    expect(await imageRunProgress(fixture.env)(task)).toBe(progress);
  });
});
