import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ulids } from '#adapters/ids.ts';
import { CodedError } from '#contract/values/errors.ts';
import { IMPORT_LIMITS } from '#contract/values/import-limits.ts';
import { LocalFileImports } from '../../src/local/file-imports.ts';
import { accessClaims, openIssuerKey, signToken, type TokenOptions } from '../../src/local/issuer-key.ts';
import { memoryLog } from '../support/backend.ts';
import { runInProcess } from '../support/command.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';
import { poll } from '../support/poll.ts';

const DATA = '/services/data-collection';
const IMPORTS = `${DATA}/api/v1/imports`;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const START = Date.UTC(2024, 0, 1);

/** Lines of candles. */
const csv = (rows: number, { head = 'timestamp,open,high,low,close,volume', step = HOUR } = {}) =>
  [
    head,
    ...Array.from({ length: rows }, (_, row) => [START + row * step, 100, 101, 99, 100, 1 + row].join()),
  ].join('\n');

type Files = Readonly<Record<string, string | Buffer>>;
type Query = Readonly<Record<string, string | number>>;

const bytesOf = (files: Files) =>
  Object.values(files).reduce((sum, content) => sum + Buffer.byteLength(content), 0);

/** What a page does with files, on a platform. */
function uploader(platform: TestPlatform) {
  const put = async (url: string, query: Query, body: BodyInit | null, headers = {}) => {
    const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
    const init = { method: 'PUT', body, headers, duplex: 'half' } as RequestInit;
    const response = await platform.request(`${DATA}${url}?${search}`, init);
    const text = await response.text();
    return { status: response.status, detail: text === '' ? null : JSON.parse(text).detail };
  };
  const announce = async (files: number, bytes: number) => {
    const { status, body } = await platform.post(IMPORTS, { files, bytes });
    expect([status, body.status]).toEqual([201, 'receiving']);
    return body as { import_id: string; upload_url: string };
  };
  const create = async (files: Files) => {
    const created = await announce(Object.keys(files).length, bytesOf(files));
    // At the same time, as a page sends them.
    const sent = Object.entries(files).map(([path, content]) =>
      put(created.upload_url, { path }, content as BodyInit),
    );
    for (const { status } of await Promise.all(sent)) expect(status).toBe(204);
    return created.import_id;
  };
  const get = async (id: string) => (await platform.get(`${IMPORTS}/${id}`)).body;
  const call = (id: string, what: 'preview' | 'start' | 'cancel', body?: object) =>
    platform.post(`${IMPORTS}/${id}/${what}`, body);
  const run = async (id: string, what: 'preview' | 'start', body: object = {}) => {
    expect((await call(id, what, body)).status).toBe(202);
    return poll(
      () => get(id),
      ({ status }) => status !== 'previewing' && status !== 'importing',
    );
  };
  return { put, announce, create, get, call, run };
}

let platform: TestPlatform;
let home: string;
let upload: ReturnType<typeof uploader>;
const filesOf = (id: string) => join(home, 'imports', id);

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'touchstone-imports-'));
  platform = await startTestPlatform({ home, keepHome: true });
  upload = uploader(platform);
});
afterAll(async () => {
  await platform?.stop();
  rmSync(home, { recursive: true, force: true });
});

describe('import of uploaded files', () => {
  it('gives the report of `touchstone import` for the same files, previewed and stored', async () => {
    const files: Files = {
      'binance/BTC_USDT-1h.csv': csv(100),
      'binance/ETH_USDT-1h.csv': csv(50),
      'binance/futures/BTC_USDT_USDT-1h-futures.csv': csv(80),
      'binance/notes.pdf': 'no candles',
      'binance/SOL_USDT-1h.csv': csv(10).replace('101', '1'),
      'binance/XRP_USDT-1h.csv.zst': zstdCompressSync(Buffer.alloc(2 ** 24, '0')),
    };
    const id = await upload.create(files);
    const preview = await upload.run(id, 'preview');
    expect(preview).toMatchObject({ status: 'previewed', received_files: 6, error: null });
    const folder = mkdtempSync(join(tmpdir(), 'touchstone-imports-cli-'));
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
    }
    const command = async (...args: string[]) =>
      JSON.parse((await runInProcess(home, ['import', folder, '--json', ...args])).out);
    const dry = await command('--dry-run');
    expect(preview.report.previews).toEqual(dry.dry_run);
    expect(preview.report.series.every(({ stored }: { stored: null }) => stored === null)).toBe(true);

    const imported = await upload.run(id, 'start');
    expect(imported).toMatchObject({
      status: 'completed',
      error: null,
      report: { files: 6, imported_files: 3 },
    });
    const stored = await command();
    rmSync(folder, { recursive: true, force: true });
    expect(imported.report.series).toEqual(
      stored.series.map(({ files: of, gaps, ...series }: any) => ({
        ...series,
        files: of.length,
        gaps: gaps.count,
        missing: gaps.missing,
      })),
    );
    const first = ({ symbols, ...kind }: any) => ({
      ...kind,
      symbol_count: symbols.length,
      symbols: symbols.slice(0, 3),
    });
    expect(imported.report.recognized).toEqual(stored.recognized.map(first));
    const reasons = (list: any[]) => list.map(({ outcome, reason }) => `${outcome} ${reason}`).sort();
    expect(reasons(imported.report.rejected)).toEqual(
      reasons(stored.files.filter(({ outcome }: any) => outcome !== 'imported')),
    );
    expect(imported.report.next.join()).toContain('backtest');
    await poll(() => !existsSync(filesOf(id)));
    const { body: trail } = await platform.get('/api/v1/audit?limit=20');
    expect(trail.items).toContainEqual(
      expect.objectContaining({ operation: 'startImport', resource: { kind: 'imports', id } }),
    );
  });

  it('of a file that says nothing names the option that helps, and follows it', async () => {
    const head = 'when,open,high,low,close,traded';
    const rows = csv(30, { head }).replaceAll(/^\d+/gm, (time) =>
      new Date(Number(time)).toISOString().slice(0, 19),
    );
    const id = await upload.create({ 'prices.csv': rows });
    const first = await upload.run(id, 'preview');
    expect(first.report).toMatchObject({ imported_files: 0, series: [] });
    expect(first.report.rejected[0]).toMatchObject({ names: ['prices.csv'] });
    expect(first.report.rejected[0].reason).toContain('--');
    const options = {
      symbols: 'BTC/USDT',
      exchange: 'kraken',
      columns: 'time=when,volume=traded',
      time_zone: 'Europe/Athens',
    };
    const second = await upload.run(id, 'preview', options);
    expect(second.options).toEqual(options);
    expect(second.report.previews).toMatchObject([
      {
        exchange: 'kraken',
        symbol: 'BTC/USDT',
        timeframe: '1h',
        rows: { 0: [START - 2 * HOUR, 100, 101, 99, 100, 1] },
      },
    ]);
    const { report } = await upload.run(id, 'start', options);
    expect(report.series).toMatchObject([
      { exchange: 'kraken', symbol: 'BTC/USDT', series: '1h', stored: 30 },
    ]);
    const { body } = await platform.get(`${DATA}/api/v1/series?exchange=kraken`);
    expect(body.items).toMatchObject([{ symbol: 'BTC/USDT', timeframe: '1h', count: 30 }]);
  });

  it('of a file with 1,500 series returns the first 1,000, and their number', async () => {
    const names = Array.from({ length: 1_500 }, (_, series) => `C${series}/USDT:USDT`);
    const rows = names.flatMap((name) =>
      csv(2)
        .split('\n')
        .slice(1)
        .map((row) => `${name},1h,${row}`),
    );
    const text = ['symbol,timeframe,timestamp,open,high,low,close,volume', ...rows].join('\n');
    const id = await upload.create({ 'all.csv': text });
    const { error, report } = await upload.run(id, 'preview');
    expect([error, report.series_count, report.series.length, report.previews.length]).toEqual([
      null,
      1_500,
      1_000,
      50,
    ]);
    await upload.call(id, 'cancel');
  });

  it('keeps the time of a file, which says whether its last candle was open', async () => {
    const content = csv(3, { head: 'time,open,high,low,close,Volume' }).replaceAll(/^(\d{10})000/gm, '$1');
    const name = 'BINANCE_BTCUSDT, 60.csv';
    for (const [modified, rows] of [
      [START + 2.5 * HOUR, 2],
      [START + 4 * HOUR, 3],
    ] as const) {
      const { import_id, upload_url } = await upload.announce(1, content.length);
      await upload.put(upload_url, { path: name, modified }, content);
      const { report } = await upload.run(import_id, 'preview');
      expect(report.series).toMatchObject([{ symbol: 'BTC/USDT', rows }]);
      await upload.call(import_id, 'cancel');
    }
  });

  it('receives a file in pieces, of which one that breaks off leaves nothing', async () => {
    const content = csv(100);
    const { import_id, upload_url } = await upload.announce(1, content.length);
    const path = 'a/BTC_USDT-1h.csv';
    expect((await upload.put(upload_url, { path, offset: 0 }, content.slice(0, 50))).status).toBe(204);
    const broken = new ReadableStream({
      start: (to) => to.enqueue(Buffer.from('xxx')),
      pull: (to) => to.error(new Error('gone')),
    });
    await expect(upload.put(upload_url, { path, offset: 50 }, broken)).rejects.toThrow();
    const wrong = await poll(
      () => upload.put(upload_url, { path, offset: 60 }, 'x'),
      ({ detail }) => detail.context.received === 50,
    );
    expect([wrong.status, wrong.detail.code]).toEqual([409, 'RES005']);
    const early = await upload.call(import_id, 'preview', {});
    expect([early.status, early.body.detail.message]).toEqual([409, expect.stringContaining('50 of')]);
    await poll(
      () => upload.put(upload_url, { path, offset: 50 }, content.slice(50)),
      ({ status }) => status === 204,
    );
    expect(readFileSync(join(filesOf(import_id), path), 'utf8')).toBe(content);
    // From the beginning, since the file has changed.
    expect((await upload.put(upload_url, { path, offset: 0 }, content)).status).toBe(204);
    expect((await upload.get(import_id)).received_bytes).toBe(content.length);
    await upload.call(import_id, 'cancel');
  });

  it.each([
    '',
    '.',
    '..',
    '../a.csv',
    'a/../../b.csv',
    '/etc/passwd',
    'a//b.csv',
    'a/./b.csv',
    'a\\b.csv',
    'a\0b.csv',
    'a\nb.csv',
    `${'n'.repeat(256)}.csv`,
    `${'d/'.repeat(16)}a.csv`,
    `${'long/'.repeat(15)}${'é'.repeat(500)}`,
  ])('rejects the path %j', async (path) => {
    const { import_id, upload_url } = await upload.announce(1, 10);
    const { status, detail } = await upload.put(upload_url, { path }, 'x');
    expect([status, detail.code, detail.field]).toEqual([400, 'VAL005', 'path']);
    expect(readdirSync(filesOf(import_id))).toEqual([]);
    await upload.call(import_id, 'cancel');
  });

  it('takes no more than was announced, and no more than the limits', async () => {
    const { import_id, upload_url } = await upload.announce(2, 10);
    const put = (path: string, body: string | Buffer, headers = {}) =>
      upload.put(upload_url, { path }, body as BodyInit, headers).then(({ status }) => status);
    expect(await put('a.csv', '12345678901')).toBe(413);
    expect(await put('a.csv', '12345')).toBe(204);
    expect(await put('a.csv/b.csv', '12345')).toBe(400);
    expect(await put('b.csv', '12345', { 'content-encoding': 'gzip' })).toBe(415);
    expect(await put('b/c.csv', '12345')).toBe(204);
    expect(await put('b', '')).toBe(413);
    expect(await put('d.csv', '')).toBe(413);
    expect((await upload.put(upload_url, { path: 'a.csv', offset: '1e9' }, 'x')).status).toBe(400);
    expect((await upload.put('/uploads/none', { path: 'a.csv' }, 'x')).status).toBe(404);
    // Fetch may not send the origin of another page.
    const { hostname, port } = new URL(platform.info.backend_url);
    const foreign = request({ hostname, port, method: 'PUT', path: `${DATA}${upload_url}?path=a.csv` });
    foreign.setHeader('origin', 'https://other.example').end('12345');
    const [{ statusCode }] = await once(foreign, 'response');
    expect(statusCode).toBe(403);
    await upload.call(import_id, 'cancel');
    expect(await put('a.csv', '12345')).toBe(409);
    expect(existsSync(filesOf(import_id))).toBe(false);
    const large = await upload.announce(1, IMPORT_LIMITS.bytes.max);
    const piece = Buffer.alloc(IMPORT_LIMITS.piece + 1);
    expect((await upload.put(large.upload_url, { path: 'a' }, piece)).status).toBe(413);
    const second = await upload.announce(1, IMPORT_LIMITS.bytes.max);
    const third = await platform.post(IMPORTS, { files: 1, bytes: 1 });
    expect([third.status, third.body.detail.code]).toEqual([409, 'RES005']);
    for (const id of [large.import_id, second.import_id]) await upload.call(id, 'cancel');
    for (const [files, bytes] of [
      [0, 1],
      [10_001, 1],
      [1, IMPORT_LIMITS.bytes.max + 1],
      [1, -1],
    ]) {
      const { status, body } = await platform.post(IMPORTS, { files, bytes });
      expect([status, body.detail.code]).toEqual([400, 'VAL005']);
    }
  });

  it('rejects options that mean nothing at their field, and what does not exist', async () => {
    const id = await upload.create({ 'BTC_USDT-1h.csv': csv(3) });
    for (const [options, field] of [
      [{ exchange: 'sim' }, 'exchange'],
      [{ exchange: '../x' }, 'exchange'],
      [{ timeframe: '7m' }, 'timeframe'],
      [{ calendar: 'MOON' }, 'calendar'],
      [{ columns: 'time' }, 'columns'],
      [{ symbols: 'BTCUSDT' }, 'symbols'],
      [{ time_zone: 'Mars/Olympus' }, 'time_zone'],
      [{ columns: 'x'.repeat(10_001) }, 'columns'],
    ] as const) {
      const { status, body } = await upload.call(id, 'start', options);
      expect([status, body.detail.field]).toEqual([400, field]);
    }
    await upload.call(id, 'cancel');
    for (const what of ['preview', 'start', 'cancel'] as const) {
      expect((await upload.call('im-none', what, {})).body.detail.code).toBe('IMP001');
      expect((await upload.call(id, what, {})).body.detail.code).toBe('RES005');
    }
    expect((await platform.get(`${IMPORTS}/im-none`)).status).toBe(404);
  });

  it('runs one after another; a waiting one and a running one can be cancelled', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 40 }, (_, file) => [`bybit/C${file}_USDT-1m.csv`, csv(1_000, { step: 60_000 })]),
    );
    const [first, second, third] = [
      await upload.create(files),
      await upload.create({ 'bybit/A_USDT-1h.csv': csv(10) }),
      await upload.create({ 'bybit/B_USDT-1h.csv': csv(10) }),
    ];
    for (const id of [first, second, third]) await upload.call(id, 'start', {});
    expect((await upload.call(first, 'start', {})).status).toBe(409);
    expect(await upload.get(second)).toMatchObject({ status: 'importing', progress: null });
    expect((await upload.call(second, 'cancel')).body).toMatchObject({ status: 'cancelled', error: null });
    await poll(
      () => upload.get(first),
      ({ progress }) => progress !== null && progress > 0,
    );
    expect((await platform.get('/api/v1/health')).status).toBe(200);
    const cancelled = await upload.call(first, 'cancel');
    expect(cancelled.body).toMatchObject({
      status: 'cancelled',
      error: expect.stringContaining('are stored'),
    });
    expect(
      (
        await poll(
          () => upload.get(third),
          ({ status }) => status === 'completed',
        )
      ).report,
    ).toMatchObject({
      imported_files: 1,
    });
    await poll(() => ![first, second, third].some((id) => existsSync(filesOf(id))));
    const { body } = await platform.get(IMPORTS);
    expect(body.items.slice(0, 3).map(({ import_id }: any) => import_id)).toEqual([third, second, first]);
  });
});

describe('import of uploaded files across processes', () => {
  it('a restart says what became of an import, and removes its files', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'touchstone-imports-again-'));
    const started = await startTestPlatform({ home: folder, keepHome: true });
    const before = uploader(started);
    const done = await before.create({ 'kraken/BTC_USDT-1h.csv': csv(3) });
    await before.run(done, 'start');
    const [open, importing] = [await before.create({ 'a.csv': 'x' }), await before.create({ 'b.csv': 'y' })];
    await started.stop();
    // As after a crash.
    const file = join(folder, 'imports', `${importing}.json`);
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), status: 'importing' }));
    writeFileSync(join(folder, 'imports', 'im-broken.json'), '{');
    const next = await startTestPlatform({ home: folder, keepHome: true });
    const after = uploader(next);
    expect(await after.get(done)).toMatchObject({ status: 'completed', report: { imported_files: 1 } });
    expect(await after.get(open)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('nothing was stored'),
    });
    expect(await after.get(importing)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('Months that were complete by then are stored'),
    });
    expect(readdirSync(join(folder, 'imports')).sort()).toEqual(
      [done, open, importing].map((id) => `${id}.json`).sort(),
    );
    await next.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('files that nobody imports go after a day; 50 ended imports are listed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'touchstone-imports-age-'));
    let now = START;
    const imports = new LocalFileImports({
      folder,
      storage: platform.info.storage,
      platformExchange: 'sim',
      clock: { now: () => now },
      ids: ulids,
      log: memoryLog().log,
    });
    const { state } = await imports.create(1, 10);
    now += DAY - 1;
    await imports.create(1, 10);
    expect(imports.get(state.import_id)?.status).toBe('receiving');
    now += 1;
    for (let each = 0; each < IMPORT_LIMITS.ended + 5; each++) {
      const { import_id } = (await imports.create(1, 10)).state;
      await imports.cancel(import_id);
    }
    expect(imports.list()).toHaveLength(IMPORT_LIMITS.ended + 1);
    expect(imports.get(state.import_id)).toBeUndefined();
    await poll(() => !existsSync(join(folder, state.import_id)));
    await imports.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('a full disk rejects an import before it begins', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'touchstone-imports-full-'));
    const imports = new LocalFileImports({
      folder,
      storage: platform.info.storage,
      platformExchange: 'sim',
      clock: Date,
      ids: ulids,
      log: memoryLog().log,
    });
    // More than any disk of a test.
    await expect(imports.create(1, 2 ** 62)).rejects.toThrow(CodedError);
    await imports.stop();
    rmSync(folder, { recursive: true, force: true });
  });
});

it('with --auth only an admin imports; others see what was imported', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-imports-auth-'));
  const secured = await startTestPlatform({ home: folder, keepHome: true, auth: true });
  const as = (role: TokenOptions['role']) => {
    const claims = accessClaims({ user: role, role, lifetime: 600, now: Date.now() });
    return { authorization: `Bearer ${signToken(openIssuerKey(folder), claims)}` };
  };
  const create = (role: TokenOptions['role']) => secured.post(IMPORTS, { files: 1, bytes: 1 }, as(role));
  for (const role of ['viewer', 'researcher', 'approver'] as const) {
    expect((await create(role)).body.detail.code).toBe('AUTH004');
  }
  const { body } = await create('admin');
  const read = await secured.request(`${IMPORTS}/${body.import_id}`, { headers: as('viewer') });
  const text = await read.text();
  expect([read.status, text.includes(body.upload_url)]).toEqual([200, false]);
  expect((await secured.get(IMPORTS)).status).toBe(401);
  await secured.stop();
  rmSync(folder, { recursive: true, force: true });
});
