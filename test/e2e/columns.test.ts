import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tableFromIPC } from 'apache-arrow';
import { readParquet } from 'parquet-wasm';
import { describe, expect, it } from 'vitest';
import { openMarketStores } from '#adapters/open-market-stores.ts';
import { openStores } from '#adapters/open-stores.ts';
import { removeColumns } from '#domain/retention/remove-columns.ts';
import { runInProcess } from '../support/command.ts';
import { poll } from '../support/poll.ts';
import { strategyFilesFixture, weekOf } from './strategy-files-fixture.ts';

/** Columns of a run, computed again by a task, over HTTP. */

const HOUR = 3_600;
const START = Date.parse('2026-03-01T00:00:00Z') / 1_000;
const ROWS = 7 * 24;

/**
 * Columns whose values follow from the candles: every name that another column has, and texts that are hostile to JSON, HTML and
 * objects. Both sides are entered in the same row, so the simulator drops them; `columns` has them nevertheless.
 */
const NAMED = `
export default {
  name: 'named', description: 'Columns with every kind of name.', timeframe: '1h',
  pairs: ['BTC/USDT:USDT', 'ETH/USDT:USDT'], stakeAmount: 100, parameters: {}, startupCandles: () => 3, stoploss: -0.5, canShort: true,
  informativeTimeframes: ['4h'], informative: [{ pair: 'BTC/{stake}', timeframe: '1d' }],
  indicators({ close, timestamp }) {
    const own = {
      double: close.map((price) => 2 * price), close: close.map((price) => -price),
      gap: close.map((price, row) => (row % 2 === 0 ? price : NaN)), inf: close.map(() => Infinity),
      '4h:double': close.map(() => 4), 'signal:enter_long': close.map(() => 5), '<img src=x onerror=alert(1)>': close.map(() => 6),
    };
    Object.defineProperty(own, '__proto__', { value: close.map(() => 7), enumerable: true });
    return own;
  },
  signals({ timestamp }) {
    const every = (n, at) => Uint8Array.from(timestamp, (time) => Number((time / 3_600_000) % n === at));
    return {
      enterLong: every(24, 2), enterShort: every(48, 2), exitLong: every(24, 8), exitShort: every(24, 8),
      enterTag: every(24, 2).map((flag) => flag * 1), tags: ['', '"; <b>tag</b>'],
    };
  },
};
`;

const SHIFTED = NAMED.replace("name: 'named'", "name: 'replaced'");
const EDITED = NAMED.replace("name: 'named'", "name: 'edited'");

/** It throws once a candle has the volume 12345. */
const FAILING = `
export default {
  name: 'failing', description: 'Throws in a columns job.', timeframe: '1h', pairs: ['SOL/USDT:USDT'], stakeAmount: 100,
  parameters: {}, startupCandles: () => 1, stoploss: -0.5,
  indicators({ volume }) { if (volume.includes(12345)) throw new Error('no such volume'); return {}; },
  signals: ({ timestamp }) => ({ enterLong: new Uint8Array(timestamp.length) }),
};
`;

const fixture = strategyFilesFixture({
  'named.ts': NAMED,
  'replaced.ts': SHIFTED,
  'edited.ts': EDITED,
  'failing.ts': FAILING,
});

const pathOf = (job: string, query = '') => `/api/v1/backtests/${job}/columns${query}`;
const get = (job: string, query = '') => fixture.platform.get(pathOf(job, query));
const BTC = `pair=${encodeURIComponent('BTC/USDT:USDT')}`;
const ETH = `pair=${encodeURIComponent('ETH/USDT:USDT')}`;

/** Response after the computation. */
const computed = async (job: string, query: string) =>
  poll(
    () => get(job, query),
    ({ status }) => status !== 202,
    'the columns',
  );

async function run(strategy: string, more: Record<string, unknown> = {}): Promise<string> {
  const job = await fixture.platform.run({ ...weekOf(strategy), ...more });
  if (job.status !== 'completed') throw new Error(job.error);
  return job.job_id;
}

describe('columns', () => {
  it('of a run are its own candles, indicators, informative series and signals', async () => {
    const job = await run('named');
    const first = await fixture.platform.request(pathOf(job, `?${BTC}`));
    expect([first.status, first.headers.get('retry-after')]).toEqual([202, '1']);
    expect(['pending', 'running']).toContain(((await first.json()) as { status: string }).status);
    const { status, body } = await computed(job, `?${BTC}`);
    expect(status).toBe(200);
    expect(Object.keys(body).sort()).toEqual(
      ['pair', 'timeframe', 'times', 'columns', 'rows', 'next_cursor', 'changed_candles', 'plot'].sort(),
    );
    expect(body).toMatchObject({
      pair: 'BTC/USDT:USDT',
      timeframe: '1h',
      rows: ROWS,
      next_cursor: null,
      changed_candles: [],
    });
    expect(body.times).toEqual(Array.from({ length: ROWS }, (_, row) => START + row * HOUR));
    const { columns } = body;
    const shared = [
      'double',
      'close',
      'gap',
      'inf',
      '4h:double',
      'signal:enter_long',
      '<img src=x onerror=alert(1)>',
    ];
    expect(Object.keys(columns).sort()).toEqual(
      [
        'open',
        'high',
        'low',
        'close',
        'volume',
        'signal:enter_long',
        'signal:exit_long',
        'signal:enter_short',
        'signal:exit_short',
        'signal:enter_tag',
        'signal:exit_tag',
        // The indicators: those with the name of another column begin with columns:.
        'double',
        'columns:close',
        'gap',
        'inf',
        'columns:4h:double',
        'columns:signal:enter_long',
        '<img src=x onerror=alert(1)>',
        'columns:__proto__',
        ...shared.map((name) => `4h:${name}`),
        ...shared.map((name) => `BTC/{stake} 1d:${name}`),
      ].sort(),
    );
    expect(columns.double).toEqual(columns.close.map((price: number) => 2 * price));
    expect(columns['columns:close']).toEqual(columns.close.map((price: number) => -price));
    expect(columns.inf).toEqual(Array(ROWS).fill(null));
    expect(columns.gap.filter((value: unknown) => value === null)).toHaveLength(ROWS / 2);
    expect(columns['columns:4h:double'][0]).toBe(4);
    // Row 3 is the last candle of the first four hours.
    expect(columns['4h:double'].slice(2, 8)).toEqual(
      [-1, 3, 3, 3, 3, 7].map((row) => (row < 0 ? columns['4h:double'][2] : 2 * columns.close[row])),
    );
    const enters = (name: string) =>
      columns[name].flatMap((flag: number, row: number) => (flag === 1 ? [row] : []));
    expect(enters('signal:enter_long')).toEqual([2, 26, 50, 74, 98, 122, 146]);
    expect(enters('signal:enter_short')).toHaveLength(
      enters('signal:enter_long').length > 0 ? 4 - ((START / HOUR / 24) % 2) : 0,
    );
    expect(columns['signal:enter_tag'].slice(0, 4)).toEqual([null, null, '"; <b>tag</b>', null]);
    expect(new Set(columns['signal:exit_tag'])).toEqual(new Set([null]));
  });

  it('are pages of rows between from, inclusive, and to, exclusive', async () => {
    const job = await run('named');
    await computed(job, `?${BTC}`);
    const at = (row: number) => new Date((START + row * HOUR) * 1_000).toISOString();
    const query = `?${ETH}&names=close,double&from=${at(10)}&to=${at(20)}`;
    const { body } = await get(job, query);
    expect(body.times).toEqual(Array.from({ length: 10 }, (_, row) => START + (10 + row) * HOUR));
    expect(Object.keys(body.columns)).toEqual(['close', 'double']);
    const seen: number[] = [];
    let cursor = '';
    do {
      const page = (await get(job, `${query}&limit=3${cursor && `&cursor=${cursor}`}`)).body;
      expect(page.rows).toBe(10);
      seen.push(...page.columns.close);
      cursor = page.next_cursor;
    } while (cursor);
    expect(seen).toEqual(body.columns.close);
    expect((await get(job, `?${ETH}&from=2027-01-01`)).body).toMatchObject({
      times: [],
      rows: 0,
      next_cursor: null,
    });
    const { next_cursor } = (await get(job, `${query}&limit=3`)).body;
    for (const other of [`?${BTC}&names=close,double&limit=3`, `${query}&names=open`])
      expect((await get(job, `${other}&cursor=${next_cursor}`)).body.detail).toMatchObject({
        code: 'VAL006',
      });
  });

  it('names what is wrong with a request', async () => {
    const job = await run('named');
    expect((await get(job)).body.detail).toMatchObject({ code: 'VAL004', field: 'pair' });
    expect((await get(job, '?pair=DOGE')).body.detail).toMatchObject({
      code: 'VAL005',
      field: 'pair',
      context: { known: ['BTC/USDT:USDT', 'ETH/USDT:USDT'] },
    });
    expect((await get(job, `?${BTC}&from=2026-03-02&to=2026-03-01`)).body.detail.code).toBe('VAL001');
    expect((await get(job, `?${BTC}&from=soon`)).body.detail.code).toBe('VAL001');
    const unknown = (await computed(job, `?${BTC}&names=close,dubble`)).body.detail;
    expect(unknown).toMatchObject({ code: 'VAL005', field: 'names', context: { value: 'dubble' } });
    expect(unknown.context.known).toContain('double');
    expect((await get(job, `?${BTC}&limit=5001`)).body.detail.code).toBe('VAL005');
    expect((await get('bt-unknown', `?${BTC}`)).body.detail.code).toBe('RES001');
  });

  it('of concurrent calls start one computation, whose job is in no list', async () => {
    const job = await run('named');
    const calls = await Promise.all(Array.from({ length: 8 }, () => get(job, `?${BTC}`)));
    // The last may come after its end.
    expect(calls.filter(({ status }) => status !== 202 && status !== 200)).toEqual([]);
    await computed(job, `?${BTC}`);
    const { items } = (await fixture.platform.get('/api/v1/backtests?limit=100')).body;
    expect(items.filter(({ job_id }: { job_id: string }) => !job_id.startsWith('bt-'))).toEqual([]);
  });

  it('as Parquet are a file with times, nulls and tags', async () => {
    const job = await run('named');
    await computed(job, `?${BTC}`);
    const query = `?${BTC}&names=close,gap,signal:enter_tag`;
    const { status, body } = await get(job, `${query}&format=parquet`);
    expect(status).toBe(201);
    expect(body.file_name).toBe(`named-${job}-BTC-USDT-USDT-columns.parquet`);
    const file = await fetch(new URL(body.url, fixture.platform.info.backend_url));
    const page = (await get(job, query)).body;
    const table = tableFromIPC(readParquet(new Uint8Array(await file.arrayBuffer())).intoIPCStream());
    expect(table.schema.fields.map(({ name }) => name)).toEqual(['time', 'close', 'gap', 'signal:enter_tag']);
    const values = (name: string) => [...table.getChild(name)!];
    expect(values('time').map(Number)).toEqual(page.times.map((time: number) => time * 1_000));
    for (const [name, expected] of Object.entries(page.columns)) expect(values(name)).toEqual(expected);
  });

  it('of another source are not computed: 409 with both digests', async () => {
    const job = await run('edited');
    fixture.add('edited.ts', EDITED.replace('2 * price', '3 * price'));
    const { status, body } = await get(job, `?${BTC}`);
    expect([status, body.detail.code, body.detail.context.reason]).toEqual([409, 'RES005', 'source_changed']);
    const { strategy_digest: before, present_strategy_digest: now } = body.detail.context;
    expect(before).toMatch(/^[0-9a-f]{64}$/);
    expect(now).toMatch(/^[0-9a-f]{64}$/);
    expect(now).not.toBe(before);
    fixture.add('edited.ts', EDITED);
    expect((await computed(job, `?${BTC}`)).status).toBe(200);
    fixture.remove('edited.ts');
    expect((await get(job, `?${BTC}`)).body.detail.context.present_strategy_digest).toBe(null);
  });

  it('of a task that failed are 409 with its error, and the next call computes them again', async () => {
    const job = await run('failing');
    const { candles } = openMarketStores(fixture.platform.info.storage as never);
    const key = { exchange: 'sim', symbol: 'SOL/USDT:USDT', timeframe: '1h' } as const;
    const from = (START + 50 * HOUR) * 1_000;
    const read = await candles.read(key, from, from + HOUR * 1_000);
    await candles.write(key, { ...read, volume: Float64Array.of(12345) });
    const failed = await computed(job, '');
    expect([failed.status, failed.body.detail.code]).toEqual([409, 'RES005']);
    expect(failed.body.detail.context).toMatchObject({ status: 'failed', error_code: 'VAL006' });
    expect(failed.body.detail.message).toContain('no such volume');
    await candles.write(key, read);
    expect((await get(job)).status).toBe(202);
    const { body } = await computed(job, '');
    expect(body.rows).toBe(ROWS);
    // The same values again: the digest decides, not the time of the change.
    expect(body.changed_candles).toEqual([]);
  });

  it('are kept for an hour', async () => {
    const job = await run('named');
    await computed(job, `?${BTC}`);
    const { storage } = fixture.platform.info;
    const { jobs, jobRetention: retention, results, resultObjects } = openStores(storage as never);
    const files = async () => {
      const keys = [];
      for await (const key of resultObjects.list('results/bc-')) keys.push(key);
      return keys;
    };
    const remove = (minutes: number) =>
      removeColumns(
        { jobs, retention, results, clock: { now: () => Date.now() + minutes * 60_000 } },
        (_, error) => {
          throw error;
        },
      );
    await remove(59);
    expect((await get(job, `?${BTC}`)).status).toBe(200);
    expect(await files()).not.toEqual([]);
    await remove(61);
    expect(await files()).toEqual([]);
    expect((await get(job, `?${BTC}`)).status).toBe(202);
    expect((await computed(job, `?${BTC}`)).status).toBe(200);
  });

  it('are printed and saved by the command', async () => {
    const job = await run('named');
    const { home, info } = fixture.platform;
    const cli = (...args: string[]) =>
      runInProcess(home, ['--url', info.backend_url, 'columns', job, ...args]);
    const names = [
      '--pair',
      'ETH/USDT:USDT',
      '--names',
      'close,signal:enter_tag',
      '--from',
      '2026-03-01T02:00',
    ];
    const { body } = await computed(job, `?${ETH}`);
    const shown = await cli(...names, '--limit', '2');
    expect(shown.out).toContain('2026-03-01 02:00');
    expect(shown.out).toContain('"; <b>tag</b>');
    expect(shown.out).toContain('2 of 166 rows of ETH/USDT:USDT, 1h. All of them: --csv or --parquet');
    expect(JSON.parse((await cli(...names, '--json')).out).times).toHaveLength(50);
    const file = join(home, 'columns.csv');
    expect((await cli(...names, '--csv', '--out', file)).err).toBe('');
    const lines = readFileSync(file, 'utf8').split('\r\n');
    expect(lines.slice(0, 3)).toEqual([
      'time,close,signal:enter_tag',
      `2026-03-01T02:00:00.000Z,${body.columns.close[2]},"""; <b>tag</b>"`,
      `2026-03-01T03:00:00.000Z,${body.columns.close[3]},`,
    ]);
    // A header, 166 rows, and what follows the last line.
    expect(lines).toHaveLength(168);
    expect((await cli('--pair', 'ETH/USDT:USDT', '--parquet', '--out', file)).code).toBe(0);
    expect(readFileSync(file).toString('latin1', 0, 4)).toBe('PAR1');
    expect((await cli('--csv', '--parquet')).err).toContain('Pass either --csv or --parquet.');
  });

  it('names candles that were replaced since the run', async () => {
    const job = await run('replaced');
    const { storage } = fixture.platform.info;
    const { candles } = openMarketStores(storage as never);
    const key = { exchange: 'sim', symbol: 'ETH/USDT:USDT', timeframe: '1h' } as const;
    const from = (START + 50 * HOUR) * 1_000;
    const read = await candles.read(key, from, from + 2 * HOUR * 1_000);
    await candles.write(key, { ...read, volume: read.volume.map((volume) => volume + 1) });
    const { status, body } = await computed(job, `?${ETH}`);
    expect(status).toBe(200);
    // The days that were written are known, not the hours: rows 50 and 51 are of the third day.
    expect(body.changed_candles).toEqual([
      {
        pair: 'ETH/USDT:USDT',
        timeframe: '1h',
        first: '2026-03-03T00:00:00.000Z',
        last: '2026-03-03T23:00:00.000Z',
      },
    ]);
  });
});
