import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMarketStores } from '#adapters/open-market-stores.ts';
import { zipOf } from '../adapters/zip-fixture.ts';
import { runScript } from '../support/command.ts';
import { startTestPlatform } from '../support/platform.ts';
import { poll } from '../support/poll.ts';

const root = mkdtempSync(join(tmpdir(), 'touchstone-import-killed-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const MINUTES_5 = 300_000;
const START = Date.UTC(2023, 0, 1);
const HEADER = 'timestamp_ms,open,high,low,close,volume';
const candle = (row: number, price = 100 + (row % 1_000)) =>
  `${START + row * MINUTES_5},${price},${price + 1},${price - 1},${price},${row}`;

describe('killed import', () => {
  const home = join(root, 'killed');
  const folder = join(root, 'years');
  const rows = 200_000;
  const bases = ['A', 'B', 'C', 'D'];

  /** Stored months of a pair. */
  function monthsOf(base: string): number {
    try {
      const paths = readdirSync(join(home, 'objects'), { recursive: true, encoding: 'utf8' });
      return paths.filter((path) => path.includes(`symbol=${base}_`) && path.endsWith('.parquet')).length;
    } catch {
      return 0;
    }
  }

  async function stored(base: string) {
    const platform = await startTestPlatform({ home, keepHome: true });
    try {
      const { candles, series } = openMarketStores(platform.info.storage);
      const symbol = `${base}/USDT:USDT`;
      const key = { exchange: 'binanceusdm', symbol, timeframe: '5m' } as const;
      const known = await series.getMany(key.exchange, [key]);
      return { ...(await candles.read(key, 0, Date.now())), known: known.get(`${symbol}#5m`)?.count };
    } finally {
      await platform.stop();
    }
  }

  it('killed import leaves complete months, and the next import completes the rest', async () => {
    mkdirSync(folder);
    const csv = [HEADER, ...Array.from({ length: rows }, (_, row) => candle(row))].join('\n');
    for (const base of bases) writeFileSync(join(folder, `${base}_USDT_USDT-5m.csv`), csv);
    const child = spawn(process.execPath, ['bin/touchstone.ts', 'import', folder], {
      env: { TOUCHSTONE_HOME: home, TMPDIR: tmpdir() },
      stdio: 'ignore',
    });
    const ended = once(child, 'exit');
    await poll(() => monthsOf('B') >= 2 || child.exitCode !== null);
    child.kill('SIGKILL');
    expect((await ended)[1]).toBe('SIGKILL');

    const first = await stored('A');
    expect([first.timestamp.length, first.known]).toEqual([rows, rows]);
    // The kill may come after the end of B on a busy machine.
    const lengths: number[] = [];
    for (const base of ['B', 'C', 'D']) {
      if (monthsOf(base) === 0) continue;
      const { timestamp, volume } = await stored(base);
      expect(timestamp.every((time, row) => time === START + row * MINUTES_5)).toBe(true);
      expect(volume.every((each, row) => each === row)).toBe(true);
      lengths.push(timestamp.length);
    }
    expect(lengths[0]).toBeGreaterThan(0);
    expect(lengths.filter((length) => length === rows).length).toBeLessThan(3);

    const { out, code } = await runScript(home, 'bin/touchstone.ts', ['import', folder]);
    expect(code).toBe(0);
    expect(out).toContain('4 of 4 files imported');
    const whole = await stored('B');
    expect([whole.timestamp.length, whole.known]).toEqual([rows, rows]);
    expect(whole.volume.every((volume, row) => volume === row)).toBe(true);
  });

  it('import of a page that dies with its platform is failed after the next start, and importing again stores the rest', async () => {
    const pairs = ['E', 'F', 'G', 'H'];
    const content = [HEADER, ...Array.from({ length: 60_000 }, (_, row) => candle(row))].join('\n');
    const { child, url } = startLocal(home);
    const ended = once(child, 'exit');
    let first: string;
    try {
      first = await upload((await url)!, pairs, content);
      await poll(() => monthsOf('F') >= 1);
    } finally {
      child.kill('SIGKILL');
      await ended;
    }

    const platform = await startTestPlatform({ home, keepHome: true });
    try {
      const again = platform.info.data_collection_url;
      expect(await importOf(again, first)).toMatchObject({
        status: 'failed',
        error: expect.stringContaining('import the files again'),
      });
      expect(readdirSync(join(home, 'imports'))).toEqual([`${first}.json`]);
      const second = await upload(again, pairs, content);
      const stored = await poll(
        () => importOf(again, second),
        ({ status }) => status !== 'importing',
      );
      expect(stored).toMatchObject({ status: 'completed', report: { imported_files: 4 } });
    } finally {
      await platform.stop();
    }
    for (const base of pairs) {
      const { timestamp, volume, known } = await stored(base);
      expect([timestamp.length, known]).toEqual([60_000, 60_000]);
      expect(volume.every((each, row) => each === row)).toBe(true);
    }
  });
});

/** A platform in a process of its own, which can be killed, and the address of its data collection. */
function startLocal(home: string): { child: ChildProcess; url: Promise<string | undefined> } {
  const child = spawn(process.execPath, ['bin/local.ts'], {
    env: { TOUCHSTONE_HOME: home, BACKEND_PORT: '0', DATA_COLLECTION_PORT: '0', STRATEGY_PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const url = poll(() => /data collection +(http:\S+)\/docs/.exec(output)?.[1], Boolean);
  return { child, url };
}

const importOf = async (url: string, id: string): Promise<any> =>
  (await fetch(`${url}/api/v1/imports/${id}`)).json();

/** Sends a file of 5m candles for each pair, as a page does, and starts their import. Returns its ID. */
async function upload(url: string, bases: readonly string[], content: string): Promise<string> {
  const post = async (path: string, body: object) => {
    const response = await fetch(`${url}/api/v1/imports${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return [response.status, await response.json()] as [number, any];
  };
  const [, created] = await post('', { files: bases.length, bytes: bases.length * content.length });
  for (const base of bases) {
    const path = encodeURIComponent(`${base}_USDT_USDT-5m.csv`);
    const sent = await fetch(`${url}${created.upload_url}?path=${path}`, { method: 'PUT', body: content });
    expect(sent.status).toBe(204);
  }
  expect((await post(`/${created.import_id}/start`, {}))[0]).toBe(202);
  return created.import_id;
}

describe('terminal output of an import', () => {
  const home = join(root, 'home');
  const folder = join(root, 'mixed');
  const importInto = (home: string, path: string) => runScript(home, 'bin/touchstone.ts', ['import', path]);
  beforeAll(() => {
    mkdirSync(folder);
    mkdirSync(join(root, 'empty'));
    const put = (name: string, ...lines: string[]) => writeFileSync(join(folder, name), lines.join('\n'));
    put('BTC_USDT_USDT-5m.csv', HEADER, ...[0, 1, 1, 4, 9].map((row) => candle(row)));
    put('A_USDT_USDT-5m.csv', HEADER, candle(0), `${START},1,0x10,1,1,1`);
    put('B_USDT_USDT-5m.csv');
    put('ETH_BTC-5m.csv', HEADER, candle(0));
    put('\u001b[31mnotes.txt', 'x');
    mkdirSync(join(folder, 'symbol=\u001b[31mX/timeframe=\u001b[2J'), { recursive: true });
    put('symbol=\u001b[31mX/timeframe=\u001b[2J/data.parquet', 'x');
    put('\u001b[2JUSDT-1m-2025-03.zip', 'x');
  });

  it('output in a pipe has no control characters', async () => {
    const { out, err } = await importInto(home, folder);
    expect(out + err).not.toMatch(/[\p{Cc}--\n]/v);
    expect(out).not.toContain('Importing [');
  });

  it.each([
    ['absent', '', 'absent does not exist\n'],
    ['empty', 'empty: 0 files\n', ''],
  ])('import exits with 1 for a folder that is %s', async (path, out, err) => {
    expect(await importInto(home, join(root, path))).toEqual({
      code: 1,
      out: out && `Found in ${join(root, out)}`,
      err: err && join(root, err),
    });
  });

  it('import --json prints what was recognized, also of a zip that cannot be read', async () => {
    const download = join(root, 'download');
    const klines = join(download, 'data/spot/monthly/klines/ETHBTC/1m');
    mkdirSync(klines, { recursive: true });
    const rows = '1740787200000000,1,2,0.5,1.5,10,1740787259999999,5,3,1,2,0\n';
    const zip = zipOf([{ name: 'ETHBTC-1m-2025-03.csv', content: rows }]);
    writeFileSync(join(klines, 'ETHBTC-1m-2025-03.zip'), zip);
    writeFileSync(join(klines, 'ETHBTC-1m-2025-04.zip'), zip.subarray(0, 100));
    const { out, err, code } = await runScript(home, 'bin/touchstone.ts', ['import', download, '--json']);
    expect([code, err]).toEqual([1, '']);
    const { recognized, files, series, spot_exchange } = JSON.parse(out);
    expect(recognized).toEqual([
      {
        recognizer: 'Binance public data',
        content: 'candles',
        market: 'spot',
        symbols: ['ETH/BTC'],
        timeframes: ['1m'],
        format: 'CSV',
        files: 2,
        bytes: zip.length + 100,
      },
    ]);
    expect(files).toMatchObject([
      { outcome: 'imported', symbol: 'ETH/BTC', rows: 1, notes: ['times are in microseconds'] },
      { outcome: 'failed', reason: 'is not a zip file, or is truncated' },
    ]);
    expect([series.length, spot_exchange]).toEqual([1, 'binance']);
  });
});
