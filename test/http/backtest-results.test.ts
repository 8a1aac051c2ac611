import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FileObjectStore } from '#adapters/local/file-object-store.ts';
import { ObjectResultStore } from '#adapters/objects/result-store.ts';
import type { StoredBacktestJob } from '#contract/backtests/backtest.ts';
import { LocalDownloads } from '../../src/local/downloads.ts';
import { START, tableOf, trade } from '../engine/metrics/samples.ts';
import { backendOver, fakeBackendDeps } from '../support/backend.ts';
import { pendingJob, SOME_RESULT, SOME_TIMING } from '../support/jobs.ts';

/** Parts of a stored result over HTTP: the real store with files of written results. */

const DAY = 86_400_000;
const COUNT = 2_500;
const PAIRS = ['BTC/USDT:USDT', 'ETH/USDT:USDT', 'SOL/USDT:USDT'];
const REASONS = ['roi', 'stop_loss', 'sold, at last'];

/** Trade `id` is opened a day before it is closed, on day `id`. Its profit is different from those of all others. */
const TRADES = Array.from({ length: COUNT }, (_, index) =>
  trade(((index * 7_919) % COUNT) - 1_000, index + 1, {
    pair: PAIRS[index % 3]!,
    side: index % 2 === 0 ? 'long' : 'short',
    exitReason: REASONS[index % 3]!,
    enterTag: index % 5 === 0 ? null : `tag ${index % 5}`,
    openedAt: START + index * DAY,
    liquidationPrice: index % 4 === 0 ? null : 50,
  }),
);
const profits = TRADES.map(({ profit }) => profit);

/** Begins that a spreadsheet takes for a formula, also in full width and after a line feed. */
const FORMULAS = ['=HYPERLINK("https://a.example")', '@x,"', '＝1,"', '\n=1,"', '\t=1,"'];

/** 1,000 hours from the second one on. The account falls at 300 and 600, the market only at 450. */
const HOURS = 1_000;
const HOUR = 3_600_000;
const CURVE = {
  start: START + HOUR,
  step: HOUR,
  wallet: 1_000,
  equity: Float64Array.from({ length: HOURS }, (_, row) =>
    row === 300 ? 700 : row === 600 ? 900 : 1_000 + row,
  ),
  market: Float64Array.from({ length: HOURS }, (_, row) => (row === 450 ? 500 : 1_000)),
};
const DAILY = {
  dates: Array.from({ length: 42 }, (_, day) => new Date(START + day * DAY).toISOString().slice(0, 10)),
  equity: Array.from({ length: 42 }, (_, day) => 1_000 + day),
  drawdown: Array.from({ length: 42 }, (_, day) => (day === 0 ? 0 : -day / 3)),
  monthly_returns: {},
};

const folder = mkdtempSync(join(tmpdir(), 'touchstone-parts-'));
const results = new ObjectResultStore(new FileObjectStore(folder));
let job: StoredBacktestJob = pendingJob('bt-1');
beforeAll(async () => {
  const stored = await results.write('bt-1', 1, {
    result: '{}',
    equity: JSON.stringify(DAILY),
    report: '{"note":"a report"}',
    curve: CURVE,
    trades: tableOf(TRADES),
    tradesParquet: Buffer.from('PAR1'),
  });
  job = {
    ...pendingJob('bt-1'),
    status: 'completed',
    attempt: 1,
    finished_at: job.created_at,
    task: 'task',
    result: { ...SOME_RESULT, total_trades: COUNT },
    results: stored,
    timing: SOME_TIMING,
  } as unknown as StoredBacktestJob;
});
afterAll(() => rmSync(folder, { recursive: true }));

let now = START;
let isDeleted = false;
const downloads = new LocalDownloads({ now: () => now }, async () => !isDeleted);
const deps = { ...fakeBackendDeps({ get: async () => job }), results, downloads };
const app = backendOver(deps);

/** Opens an address as a browser does: without a token. */
const open = async (url: string) => downloads.infront(app).fetch(new Request(`http://localhost${url}`));

async function get(path: string): Promise<{ status: number; body: any }> {
  const response = await app.request(`/api/v1/backtests/bt-1${path}`);
  return { status: response.status, body: await response.json() };
}
const ids = (body: { items: readonly { id: number }[] }) => body.items.map(({ id }) => id);
const encoded = encodeURIComponent;

describe('listBacktestTrades', () => {
  it('pages cover all trades once, in the order of closing', async () => {
    const seen: number[] = [];
    for (let page = 1; page <= 4; page++) {
      const { body } = await get(`/trades?limit=800&page=${page}`);
      expect(body).toMatchObject({ page, pages: 4, total: COUNT });
      seen.push(...ids(body));
    }
    expect(seen).toEqual(TRADES.map((_, index) => index + 1));
    expect(ids((await get('/trades')).body)).toHaveLength(1_000);
    expect((await get('/trades?limit=800&page=5')).body.detail).toMatchObject({
      code: 'VAL005',
      field: 'page',
      context: { value: 5, min: 1, max: 4 },
    });
    expect((await get('/trades?limit=5001')).body.detail).toMatchObject({ code: 'VAL005', field: 'limit' });
  });

  it('trades are sorted by any field, over all pages', async () => {
    const byProfit = TRADES.map((_, index) => index + 1).sort((a, b) => profits[b - 1]! - profits[a - 1]!);
    expect(ids((await get('/trades?sort=-profit&limit=7&page=3')).body)).toEqual(byProfit.slice(14, 21));
    expect(ids((await get('/trades?sort=profit_pct&limit=5')).body)).toEqual(byProfit.slice(-5).reverse());
    expect(ids((await get('/trades?sort=-id&limit=2')).body)).toEqual([2_500, 2_499]);
    // Equal values in the order of closing, in both directions; no tag is last.
    expect(ids((await get('/trades?sort=pair&limit=3')).body)).toEqual([1, 4, 7]);
    expect(ids((await get('/trades?sort=-pair&limit=3')).body)).toEqual([3, 6, 9]);
    for (const [sort, first] of [
      ['enter_tag', 2],
      ['-enter_tag', 5],
    ] as const) {
      expect(ids((await get(`/trades?sort=${sort}&limit=1`)).body)).toEqual([first]);
      expect(ids((await get(`/trades?sort=${sort}&limit=500&page=5`)).body)[0]).toBe(1);
    }
    expect((await get('/trades?sort=nothing')).body.detail).toMatchObject({ code: 'VAL005', field: 'sort' });
  });

  it('filters select trades and keep their ids', async () => {
    const matching = (passes: (index: number) => boolean) =>
      TRADES.flatMap((_, index) => (passes(index) ? [index + 1] : []));
    const cases: [string, number[]][] = [
      [`pair=${encoded(PAIRS[1]!)}`, matching((index) => index % 3 === 1)],
      [
        `pair=${encoded(PAIRS[0]!)},${encoded(PAIRS[2]!)}&side=short`,
        matching((i) => i % 3 !== 1 && i % 2 === 1),
      ],
      [`exit_reason=${encoded(REASONS[2]!)}`, matching((index) => index % 3 === 2)],
      ['enter_tag=tag 3', matching((index) => index % 5 === 3)],
      ['enter_tag=(none)', matching((index) => index % 5 === 0)],
      ['enter_tag=none', []],
      // Trade 1 is closed on January 2.
      ['from=2024-01-03&to=2024-01-05', [2, 3]],
      ['from=2024-01-03&to=2024-01-05&time=opened_at', [3, 4]],
      ['from=2024-01-03&to=2024-01-05&time=held', [2, 3, 4]],
      ['to=2024-01-04T00:00:00Z', [1, 2]],
    ];
    for (const [query, expected] of cases) {
      const { status, body } = await get(`/trades?limit=5000&${query}`);
      expect([query, status, body.total, ids(body)]).toEqual([query, 200, expected.length, expected]);
    }
    const { body } = await get('/trades?side=long&sort=-profit&limit=1');
    expect(body.items[0].profit).toBe(Math.max(...profits.filter((_, index) => index % 2 === 0)));
    expect(body.total).toBe(COUNT / 2);
    for (const query of ['from=yesterday', 'from=2024-02-01&to=2024-01-01']) {
      expect((await get(`/trades?${query}`)).body.detail).toMatchObject({ code: 'VAL001', field: 'from' });
    }
  });

  it('page over 5 MB is rejected with a limit whose pages are not', async () => {
    const completed = job;
    const long = Array.from({ length: 1_100 }, (_, day) =>
      trade(-1, day, { exitReason: `${'"'.repeat(2_000)} ${day}` }),
    );
    const stored = await results.write('bt-1', 3, {
      result: '{}',
      equity: '{}',
      report: '{}',
      curve: CURVE,
      trades: tableOf(long),
      tradesParquet: Buffer.from('PAR1'),
    });
    job = { ...completed, results: stored } as unknown as StoredBacktestJob;
    (job as any).result = { ...SOME_RESULT, total_trades: 1_100 };
    for (const format of ['items', 'columns']) {
      const { status, body } = await get(`/trades?format=${format}`);
      // As text of JSON in a string of JSON, a quote has four bytes: 8 MB.
      expect([status, body.detail.code, body.detail.field]).toEqual([400, 'VAL005', 'limit']);
      const { value, min, max } = body.detail.context;
      expect([value, min]).toEqual([1_000, 1]);
      expect(max).toBeGreaterThan(200);
      expect((await get(`/trades?format=${format}&limit=${max}`)).status).toBe(200);
      expect(body.detail.message).toContain(`at most ${max}`);
    }
    job = completed;
  });

  it('columns hold the fields of the items, with times in seconds, in half the size', async () => {
    const { items, ...page } = (await get('/trades?limit=300&page=4')).body;
    const { columns, ...same } = (await get('/trades?limit=300&page=4&format=columns')).body;
    expect(same).toEqual(page);
    expect(Object.keys(columns)).toEqual(Object.keys(items[0]));
    const rebuilt = columns.id.map((_: number, row: number) => {
      const record = Object.fromEntries(
        Object.entries(columns as Record<string, unknown[]>).map(([name, column]) => [name, column[row]]),
      );
      for (const name of ['opened_at', 'closed_at'])
        record[name] = new Date((record[name] as number) * 1_000).toISOString();
      return record;
    });
    expect(rebuilt).toEqual(items);
    expect(JSON.stringify(columns).length).toBeLessThan(JSON.stringify(items).length / 2);
  });
});

describe('getBacktestCurve', () => {
  const seconds = (row: number) => (CURVE.start + row * HOUR) / 1_000;

  it('candles have equity, market and drawdown since the start of the run', async () => {
    const { status, body } = await get('/curve?resolution=candle');
    expect(status).toBe(200);
    expect(body).toMatchObject({ resolution: 'candle', step_seconds: 3_600, decimated: false, total: HOURS });
    expect(body.times).toEqual(Array.from({ length: HOURS }, (_, row) => seconds(row)));
    expect(body.equity).toEqual([...CURVE.equity]);
    expect(body.market).toEqual([...CURVE.market]);
    // Of the peak of 1,299.
    expect(body.drawdown[300]).toBe(-46.1124);
    expect(body.drawdown.filter((each: number) => each < 0)).toHaveLength(2);
  });

  it('decimated curve keeps the smallest and largest values and both ends, at their times', async () => {
    const { body } = await get('/curve?resolution=candle&points=50');
    expect(body).toMatchObject({ decimated: true, total: HOURS });
    expect(body.times.length).toBeLessThanOrEqual(50);
    const rows = body.times.map((time: number) => (time - seconds(0)) / 3_600);
    expect([rows[0], rows.at(-1)]).toEqual([0, HOURS - 1]);
    expect(rows).toEqual(expect.arrayContaining([300, 450, 600]));
    expect(rows).toEqual([...rows].sort((a, b) => a - b));
    expect(body.equity).toEqual(rows.map((row: number) => CURVE.equity[row]));
    expect(body.market).toEqual(rows.map((row: number) => CURVE.market[row]));
    expect(Math.min(...body.drawdown)).toBe(-46.1124);
  });

  it('range is cut, and its drawdown still refers to the whole run', async () => {
    const [from, to] = [seconds(290), seconds(310)].map((time) => new Date(time * 1_000).toISOString());
    const { body } = await get(`/curve?resolution=candle&from=${from}&to=${to}&points=20`);
    expect(body).toMatchObject({ decimated: false, total: 20 });
    expect([body.times[0], body.times.at(-1)]).toEqual([seconds(290), seconds(309)]);
    expect(body.drawdown[10]).toBe(-46.1124);
    expect((await get('/curve?from=2030-01-01')).body).toMatchObject({
      total: 0,
      times: [],
      decimated: false,
    });
    expect((await get('/curve?from=2025-01-01&to=2024-01-01')).body.detail).toMatchObject({ code: 'VAL001' });
    expect((await get('/curve?points=20001')).body.detail).toMatchObject({ code: 'VAL005', field: 'points' });
  });

  it('days are those of the equity, with the market at their last candle', async () => {
    const { body } = await get('/curve');
    expect(body).toMatchObject({ resolution: 'day', step_seconds: 86_400, decimated: false, total: 42 });
    expect(body.times).toEqual(DAILY.dates.map((date) => Date.parse(date) / 1_000));
    expect(body.equity).toEqual(DAILY.equity);
    expect(body.drawdown[2]).toBe(-0.6667);
    // Row 450 is in the middle of a day.
    expect(body.market).toEqual(DAILY.dates.map(() => 1_000));
    expect((await get('/curve?from=2024-01-03&to=2024-01-05')).body.equity).toEqual([1_002, 1_003]);
  });

  it('result without a stored curve has its days only, and says so', async () => {
    const path = join(folder, 'results/bt-1/1/curve.columns.zst');
    const stored = readFileSync(path);
    rmSync(path);
    const days = (await get('/curve')).body;
    expect(days.market).toBeNull();
    expect((await get('/curve?resolution=candle')).body).toEqual(days);
    writeFileSync(path, 'broken');
    expect((await get('/curve')).body.detail).toMatchObject({ code: 'DATA005' });
    writeFileSync(path, stored);
  });
});

describe('exportBacktest', () => {
  const lines = async (response: Response) => (await response.text()).split('\r\n');

  it('csv has a line for each trade, and a file name', async () => {
    const response = await app.request('/api/v1/backtests/bt-1/export');
    expect(response.status).toBe(200);
    expect(response.headers.get('Content-Type')).toBe('text/csv; charset=utf-8');
    expect(response.headers.get('Content-Disposition')).toBe(
      'attachment; filename="ema_crossover-bt-1-trades.csv"',
    );
    const [header, first, , third, ...rest] = await lines(response);
    expect([rest.length, rest.at(-1)]).toEqual([COUNT - 2, '']);
    const { items } = (await get('/trades?limit=3')).body;
    expect(header!.split(',')).toEqual(Object.keys(items[0]));
    expect(first!.split(',')).toEqual(Object.values(items[0]).map((value) => String(value ?? '')));
    expect(third).toContain(',"sold, at last",');
  });

  it('json has the report, daily equity, and all trades as columns', async () => {
    const response = await app.request('/api/v1/backtests/bt-1/export?format=json');
    expect(response.headers.get('Content-Type')).toBe('application/json');
    const body: any = await response.json();
    expect(body).toMatchObject({ job_id: 'bt-1', equity: DAILY, timing: SOME_TIMING, note: 'a report' });
    const { columns } = (await get('/trades?limit=5000&format=columns')).body;
    expect(body.trades).toEqual(columns);
  });

  it('parquet is the stored file, at an address that needs no token and expires', async () => {
    const { status, body } = await get('/export?format=parquet');
    expect(status).toBe(201);
    expect(body).toMatchObject({ file_name: 'ema_crossover-bt-1-trades.parquet' });
    const opened = await open(body.url);
    expect(await opened.text()).toBe('PAR1');
    expect(opened.headers.get('Content-Disposition')).toBe(
      'attachment; filename="ema_crossover-bt-1-trades.parquet"',
    );
    expect(opened.headers.get('X-Content-Type-Options')).toBe('nosniff');
    expect((await open(`${body.url}x`)).status).toBe(404);
    isDeleted = true;
    expect((await open(body.url)).status).toBe(404);
    isDeleted = false;
    expect(Date.parse(body.expires_at)).toBe(now + 300_000);
    now += 300_000;
    expect((await open(body.url)).status).toBe(404);
  });

  it('file over 5 MB is offered at an address, with strategy texts that no spreadsheet calculates', async () => {
    const completed = job;
    const long = Array.from({ length: 1_100 }, (_, day) =>
      trade(-1, day, {
        exitReason: `${'x'.repeat(5_000)} ${day}`,
        enterTag: FORMULAS[day % FORMULAS.length]!,
      }),
    );
    const stored = await results.write('bt-1', 2, {
      result: '{}',
      equity: '{}',
      report: '{}',
      curve: CURVE,
      trades: tableOf(long),
      tradesParquet: Buffer.from('PAR1'),
    });
    job = { ...completed, results: stored } as unknown as StoredBacktestJob;
    const { status, body } = await get('/export?format=csv');
    expect([status, body.file_name]).toEqual([201, 'ema_crossover-bt-1-trades.csv']);
    const text = await (await open(body.url)).text();
    const all = text.split('\r\n');
    expect(all).toHaveLength(1_102);
    for (const formula of FORMULAS) expect(text).toContain(`,"'${formula.replaceAll('"', '""')}",`);
    // Numbers are not changed.
    expect(all[1]).toContain(',-1,');
    const json = await get('/export?format=json');
    expect(JSON.parse(await (await open(json.body.url)).text()).trades.id).toHaveLength(1_100);
    job = completed;
  });

  it('format that does not exist is rejected', async () => {
    expect((await get('/export?format=xls')).body.detail).toMatchObject({ code: 'VAL005', field: 'format' });
  });
});

it.each(['/trades', '/curve', '/export'])(
  '%s of a backtest that is not completed is a conflict',
  async (path) => {
    const completed = job;
    job = pendingJob('bt-1');
    expect(await get(path)).toMatchObject({
      status: 409,
      body: { detail: { code: 'RES005', context: { status: 'pending' } } },
    });
    job = completed;
  },
);
