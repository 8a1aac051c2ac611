import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Table as ArrowTable,
  makeVector,
  TimestampNanosecond,
  tableToIPC,
  Utf8,
  vectorFromArray,
} from 'apache-arrow';
import { Table, writeParquet } from 'parquet-wasm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, uploadSignals } from '../../src/client/index.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

const PAIRS = ['BTC/USDT:USDT', 'ETH/USDT:USDT'];
const RUN = {
  pairs: PAIRS,
  timeframe: '1h',
  stoploss: -0.99,
  minimal_roi: {},
  trailing: null,
  date_range: { start: '2026-01-05T00:00:00Z', end: '2026-02-16T00:00:00Z' },
};
const HOUR = 3_600_000;

interface Trade {
  readonly pair: string;
  readonly side: 'long' | 'short';
  readonly opened_at: string;
  readonly closed_at: string;
  readonly exit_reason: string;
  readonly stake: number;
}

interface Row {
  readonly timestamp: string;
  readonly pair: string;
  readonly [column: string]: string | number;
}

const home = mkdtempSync(join(tmpdir(), 'touchstone-signals-'));
let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform({ home, rules: { releasePolicy: { lookAheadCertificate: true } } });
});
afterAll(async () => {
  await platform?.stop();
  rmSync(home, { recursive: true, force: true });
});

const requestFor = (file: Uint8Array, format = 'csv') => ({
  format,
  bytes: file.length,
  name: `cross.${format}`,
  sha256: createHash('sha256').update(file).digest('hex'),
});

async function upload(content: string | Uint8Array, format = 'csv') {
  const file = Buffer.from(content);
  const { status, body } = await platform.post('/api/v1/signals', requestFor(file, format));
  expect(status).toBe(201);
  const put = await platform.request(body.upload_url, {
    method: 'PUT',
    headers: body.upload_headers,
    body: file,
  });
  expect([put.status, await put.text()]).toEqual([200, '']);
  return body as { signals_id: string; sha256: string };
}

const tradesOf = async (jobId: string): Promise<Trade[]> =>
  (await platform.get(`/api/v1/backtests/${jobId}/trades?limit=5000`)).body.items;

const csvOf = (rows: readonly Row[], columns: readonly string[]) =>
  [columns.join(','), ...rows.map((row) => columns.map((name) => row[name] ?? '').join(','))].join('\n');

/** The rows that make these trades: each signal acts at the open of the candle after its own. */
function rowsOf(trades: readonly Trade[]): Row[] {
  const rows = new Map<string, Row>();
  const set = (pair: string, at: string, more: Readonly<Record<string, string | number>>) => {
    const timestamp = new Date(Date.parse(at) - HOUR).toISOString();
    const key = `${timestamp} ${pair}`;
    rows.set(key, { ...rows.get(key), timestamp, pair, ...more });
  };
  for (const { pair, side, opened_at, closed_at, exit_reason } of trades) {
    set(pair, opened_at, { [`enter_${side}`]: 1, enter_tag: `${side}, "given"` });
    if (exit_reason !== 'force_exit') set(pair, closed_at, { [`exit_${side}`]: 1 });
  }
  return [...rows.values()];
}

const COLUMNS = ['timestamp', 'pair', 'enter_long', 'exit_long', 'enter_short', 'exit_short'];

describe('given signals', () => {
  let trades: Trade[];
  let rows: Row[];
  beforeAll(async () => {
    const job = await platform.run({ ...RUN, strategy: 'ema_crossover' });
    trades = await tradesOf(job.job_id);
    rows = rowsOf(trades);
  });

  it('file with the signals of a strategy trades as the strategy', async () => {
    expect(trades.length).toBeGreaterThan(20);
    const { signals_id, sha256 } = await upload(csvOf(rows, COLUMNS));
    const job = await platform.run({ ...RUN, strategy: 'signals', signals: signals_id });
    expect(job).toMatchObject({
      status: 'completed',
      config: { signals: signals_id, signals_digest: sha256 },
      look_ahead: { state: 'not_checked', message: 'not_checked (signals were given)' },
    });
    const pick = (all: readonly any[]) =>
      all.map(({ pair, side, opened_at, closed_at, profit, stake }) => [
        pair,
        side,
        opened_at,
        closed_at,
        profit,
        stake,
      ]);
    expect(pick(await tradesOf(job.job_id))).toEqual(pick(trades));
    const report = (await platform.get(`/api/v1/backtests/${job.job_id}/report-data`)).body;
    expect(report.settings).toMatchObject({ signals: signals_id, signals_digest: sha256 });
    const biases = report.biases.map(({ text }: { text: string }) => text).join();
    expect(biases).toContain('signals were given in a file');
    // Without stakes in the file no code runs in the simulation.
    expect([report.settings.callbacks, biases]).toEqual([[], expect.not.stringContaining('Callbacks')]);
    expect(report.robustness.break_even.method).not.toBe('same_trades');
    const listed = (await platform.get('/api/v1/signals')).body.items;
    expect(listed[0]).toMatchObject({ signals_id, name: 'cross.csv', last_used_at: expect.any(String) });
    // The same configuration runs again with the same file and leaves the same bytes.
    const again = await platform.run(job.config);
    const digestOf = async (id: string) =>
      (await platform.get(`/api/v1/backtests/${id}/report-data`)).body.provenance.digest;
    expect(await digestOf(again.job_id)).toBe(await digestOf(job.job_id));
  });

  it('Parquet of pandas trades as CSV, with tags and stakes', async () => {
    const columns = [...COLUMNS, 'enter_tag', 'stake_ratio'];
    const quoted = rows.map((row) => ({
      ...row,
      stake_ratio: 0.5,
      ...(row.enter_tag !== undefined && { enter_tag: `"${String(row.enter_tag).replaceAll('"', '""')}"` }),
    }));
    const flags = (name: string) => rows.map((row) => row[name] === 1);
    const table = new ArrowTable({
      timestamp: vectorFromArray(
        rows.map((row) => Date.parse(row.timestamp)),
        new TimestampNanosecond('UTC'),
      ),
      pair: vectorFromArray(
        rows.map((row) => row.pair),
        new Utf8(),
      ),
      ...Object.fromEntries(COLUMNS.slice(2).map((name) => [name, vectorFromArray(flags(name))])),
      enter_tag: vectorFromArray(
        rows.map((row) => (row.enter_tag as string) ?? null),
        new Utf8(),
      ),
      stake_ratio: makeVector(Float64Array.from(rows, () => 0.5)),
      __index_level_0__: makeVector(Int32Array.from(rows, (_, index) => index)),
    });
    const parquet = writeParquet(Table.fromIPCStream(tableToIPC(table, 'stream')));
    const files = [
      await upload(csvOf(quoted, columns).replaceAll('\n', '\r\n')),
      await upload(parquet, 'parquet'),
    ];
    const runs = [];
    for (const { signals_id } of files) {
      const job = await platform.run({ ...RUN, strategy: 'signals', signals: signals_id });
      expect(job.error).toBe(null);
      runs.push(await tradesOf(job.job_id));
    }
    expect(runs[1]).toEqual(runs[0]);
    expect(runs[0]![0]).toMatchObject({ enter_tag: `${trades[0]!.side}, "given"` });
    expect(runs[0]![0]!.stake / trades[0]!.stake).toBeCloseTo(0.5, 9);
  });

  it('rows that cannot be used are refused by their numbers', async () => {
    const at = (text: string, pair = PAIRS[0]!, enter = 1) => ({ timestamp: text, pair, enter_long: enter });
    const { signals_id } = await upload(
      csvOf(
        [
          at('2026-01-01T00:00:00Z'),
          at('2026-01-06 00:00:00+00:00'),
          at('2026-01-06T00:30:00Z'),
          at('1767657600'),
          at('2026-01-07T00:00:00Z', '../etc'),
        ],
        ['timestamp', 'pair', 'enter_long'],
      ),
    );
    const job = await platform.run({ ...RUN, strategy: 'signals', signals: signals_id });
    expect(job).toMatchObject({ status: 'failed', error_code: 'VAL005' });
    for (const part of [
      '"../etc" is not in config.pairs (row 5)',
      'not the open time of a candle (row 3, 2026-01-06T00:30:00.000Z)',
      'another row has the same timestamp and pair (row 4)',
    ]) {
      expect(job.error).toContain(part);
    }
    const broken = await upload(
      csvOf([at('2026-01-06T00:00:00Z'), at('soon')], ['timestamp', 'pair', 'enter_long']),
    );
    const failed = await platform.run({ ...RUN, strategy: 'signals', signals: broken.signals_id });
    expect(failed.error).toContain('row 2 has the timestamp "soon"');
  });

  it('legs of a spread are one position in trades, positions, CSV and the report', async () => {
    const row = (day: number, pair: number, enter: number, tag = '') => ({
      timestamp: `2026-01-${String(day).padStart(2, '0')}T00:00:00Z`,
      pair: PAIRS[pair]!,
      enter_long: enter,
      exit_long: 1 - enter,
      enter_tag: tag,
    });
    const csv = csvOf(
      [
        row(6, 0, 1, 'spread:btc'),
        row(6, 1, 1, 'spread:eth'),
        row(8, 0, 0),
        row(9, 1, 0),
        row(12, 0, 1, 'spread:btc'),
        row(13, 0, 0),
        row(12, 1, 1, 'alone'),
        row(14, 1, 0),
      ],
      ['timestamp', 'pair', 'enter_long', 'exit_long', 'enter_tag'],
    );
    const { signals_id } = await upload(csv);
    const job = await platform.run({ ...RUN, strategy: 'signals', signals: signals_id });
    expect(job).toMatchObject({ status: 'completed' });
    const list = async (query: string) =>
      (await platform.get(`/api/v1/backtests/${job.job_id}/${query}`)).body.items;
    const trades = await list('trades?limit=100');
    const legs = (each: any) => [each.enter_tag, each.group, each.position];
    expect(trades.map(legs)).toEqual([
      ['spread:btc', 'spread', 1],
      ['spread:eth', 'spread', 1],
      ['spread:btc', 'spread', 2],
      ['alone', null, null],
    ]);
    expect(await list('trades?group=spread&sort=-id')).toEqual(trades.slice(0, 3).reverse());
    const [first, second] = await list('positions');
    const [btc, eth] = trades;
    expect(first).toEqual({
      position: 1,
      group: 'spread',
      pairs: [PAIRS[0], PAIRS[1]],
      opened_at: btc.opened_at,
      closed_at: eth.closed_at,
      legs: 2,
      trades: [1, 2],
      stake: btc.stake + eth.stake,
      profit: expect.closeTo(btc.profit + eth.profit, 8),
      profit_pct: expect.closeTo(((btc.profit + eth.profit) / (btc.stake + eth.stake)) * 100, 8),
    });
    expect(second).toMatchObject({ position: 2, legs: 1, trades: [3] });
    expect(await list('positions?group=other')).toEqual([]);
    expect(await list('positions?limit=1&page=2')).toEqual([second]);
    const exported = await (
      await platform.request(`/api/v1/backtests/${job.job_id}/export?format=csv`)
    ).text();
    const lines = exported.trim().split('\r\n');
    expect(lines.map((line) => line.split(',').slice(-2).join())).toEqual([
      'group,position',
      'spread,1',
      'spread,1',
      'spread,2',
      ',',
    ]);
    const report = (await platform.get(`/api/v1/backtests/${job.job_id}/report-data`)).body;
    expect(report.tables.per_group.map(({ key, total_trades }: any) => [key, total_trades]).sort()).toEqual([
      ['(none)', 1],
      ['TOTAL', 4],
      ['spread', 3],
    ]);
  });

  it('compact dates and times are those of ISO 8601, in bodies and in parameters', async () => {
    const job = await platform.run({
      ...RUN,
      strategy: 'ema_crossover',
      date_range: { start: '20260105', end: '20260120T0630' },
    });
    expect(job.config.date_range).toMatchObject({
      start: '2026-01-05T00:00:00.000Z',
      end: '2026-01-20T06:30:00.000Z',
    });
    const closed = async (query: string) =>
      (await platform.get(`/api/v1/backtests/${job.job_id}/trades?limit=100&${query}`)).body.items;
    const compact = await closed('from=20260110&to=20260115T0630');
    expect(compact).toEqual(await closed('from=2026-01-10&to=2026-01-15T06:30:00Z'));
    expect(compact.length).toBeGreaterThan(0);
    expect(compact.length).toBeLessThan((await closed('')).length);
  });

  it('rows before the start, and at or after the end, are left out and counted in one warning', async () => {
    const at = (timestamp: string) => ({ timestamp, pair: PAIRS[0]!, enter_long: 1 });
    const start = `${RUN.date_range.start.slice(0, 10)}T00:00:00Z`;
    const end = `${RUN.date_range.end.slice(0, 10)}T00:00:00Z`;
    const hour = (time: string, hours: number) =>
      new Date(Date.parse(time) + hours * 3_600_000).toISOString();
    const times = [hour(start, -1), start, hour(end, -1), end, hour(end, 5_000)];
    const { signals_id } = await upload(csvOf(times.map(at), ['timestamp', 'pair', 'enter_long']));
    const job = await platform.run({ ...RUN, strategy: 'signals', signals: signals_id });
    expect(job).toMatchObject({ status: 'completed' });
    const left = job.warnings.filter((warning: string) => warning.startsWith('Rows of the signals'));
    expect(left).toEqual([
      `Rows of the signals outside of the run, before ${hour(start, 0)} or from ${hour(end, 0)} on, were left out: 3`,
    ]);
  });

  it('client of programs uploads the same bytes to one ID', async () => {
    const connection = connect(platform.info.backend_url);
    const file = new Uint8Array(Buffer.from(csvOf(rows.slice(0, 2), COLUMNS)));
    const created = await uploadSignals(connection, file, { name: 'first.csv' });
    const again = await uploadSignals(connection, file, { name: 'second.csv' });
    expect(again).toMatchObject({ signals_id: created.signals_id, name: 'first.csv' });
    const { signals_id: signals } = created;
    const job = await platform.run({ ...RUN, strategy: 'signals', signals });
    expect([job.status, job.config.signals_digest]).toEqual(['completed', created.sha256]);
    // A deleted file can be uploaded again, and its backtests run again.
    expect((await platform.request(`/api/v1/signals/${signals}`, { method: 'DELETE' })).status).toBe(204);
    const deleted = await platform.post('/api/v1/backtests', { config: job.config });
    expect(deleted.body.detail.code).toBe('SIG001');
    await uploadSignals(connection, file);
    expect((await platform.run(job.config)).status).toBe('completed');
  });

  it('upload accepts the bytes of its request only', async () => {
    const file = Buffer.from('timestamp,pair,enter_long\n');
    const { body } = await platform.post('/api/v1/signals', requestFor(file));
    const put = (content: Uint8Array, path = body.upload_url) =>
      platform.request(path, { method: 'PUT', body: Buffer.from(content) });
    expect((await put(Buffer.alloc(file.length, 'x'))).status).toBe(400);
    expect((await put(Buffer.alloc(file.length + 1))).status).toBe(400);
    expect((await put(file, '/uploads/../signals/x')).status).toBe(404);
    expect((await put(file, '/uploads/0')).status).toBe(404);
    const submit = (config: object) => platform.post('/api/v1/backtests', { config: { ...RUN, ...config } });
    const codeOf = async (config: object) => (await submit(config)).body.detail.code;
    const { signals_id: signals } = body;
    expect(await codeOf({ strategy: 'signals', signals })).toBe('RES005');
    expect((await put(file)).status).toBe(200);
    expect(await codeOf({ strategy: 'ema_crossover', signals })).toBe('VAL005');
    expect(await codeOf({ strategy: 'signals' })).toBe('VAL005');
    const search = await platform.strategy.post('/api/v1/hyperopt', { strategy: 'signals', n_trials: 2 });
    expect([search.status, search.body.detail.message]).toEqual([
      400,
      expect.stringContaining('no parameters to search'),
    ]);
    expect(await codeOf({ strategy: 'signals', signals: 'sg-../../x' })).toBe('VAL005');
    expect(await codeOf({ strategy: 'signals', signals: `sg-${'0'.repeat(26)}` })).toBe('SIG001');
    expect(await codeOf({ strategy: 'signals', signals, signals_digest: '0'.repeat(64) })).toBe('VAL005');
    expect((await platform.request(`/api/v1/signals/${signals}`, { method: 'DELETE' })).status).toBe(204);
    expect((await platform.get(`/api/v1/signals/${signals}`)).status).toBe(404);
    expect(await codeOf({ strategy: 'signals', signals })).toBe('SIG001');
  });

  it('version with signals is rejected by a policy that asks for a certificate, and keeps its file', async () => {
    const { signals_id } = await upload(csvOf(rows, COLUMNS));
    const job = await platform.run({ ...RUN, strategy: 'signals', signals: signals_id });
    const registered = await platform.strategy.post('/api/v1/strategies/signals/register', {
      backtest_run_id: job.job_id,
      container_image_uri: 'registry.example/none:1',
    });
    expect([registered.status, registered.body.validation.checks.map((each: any) => each.message)]).toEqual([
      201,
      expect.arrayContaining(['not_checked (signals were given)']),
    ]);
    const { version } = registered.body;
    await platform.post('/api/v1/strategies/signals/stage', { version });
    const { status, checks } = await platform.validated('signals', version);
    const statusOf = (name: string) => checks.find((each: any) => each.name === name)?.status;
    expect([statusOf('smoke_run'), statusOf('determinism'), statusOf('code')]).toEqual([
      'passed',
      'passed',
      'passed',
    ]);
    expect(checks.map((each: any) => each.message)).toContain('not_checked (signals were given)');
    const promoted = await platform.post('/api/v1/strategies/signals/promote', { version });
    expect([status, promoted.status, promoted.body.detail.code]).toEqual(['passed', 409, 'RES005']);
    expect(promoted.body.detail.message).toContain('misses the release policy. look_ahead:');
    const removed = await platform.request(`/api/v1/signals/${signals_id}`, { method: 'DELETE' });
    expect([removed.status, (await removed.json()).detail.message]).toEqual([
      409,
      expect.stringContaining('which is its evidence'),
    ]);
  });
});
