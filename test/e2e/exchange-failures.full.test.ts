import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ExchangeServer, startExchangeServer } from '../support/exchange-server.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

const at = (text: string) => Date.parse(`${text}Z`);
const RANGE = { start: '2026-03-01T00:00:00Z', end: '2026-04-15T00:00:00Z' };
const BASE = '/api/v1/backtests';

let server: ExchangeServer;
let platform: TestPlatform;
beforeAll(async () => {
  server = await startExchangeServer();
  const aliases = ['UNSEEN', 'YOUNG', 'BRIEF', 'BARE'];
  server.aliases.push(...aliases.map((base) => `${base}/USDT:USDT`));
  platform = await startTestPlatform({
    exchange: 'binanceusdm',
    exchangeUrl: server.url,
    exchangeIntervalMs: 1,
  });
});
afterAll(async () => {
  await platform.stop();
  await server.stop();
});
afterEach(() => {
  server.failing = undefined;
});

const run = (pair: string, changes: object = {}) =>
  platform.run({
    strategy: 'ema_crossover',
    pairs: [`${pair}/USDT:USDT`],
    timeframe: '1h',
    date_range: RANGE,
    // Fixed, because the default differs between the first run of a pair and later runs.
    precision: 'none',
    ...changes,
  });
const report = async (job: any) => (await platform.get(`${BASE}/${job.job_id}/report-data`)).body;
const requests = () => server.requests.splice(0).length;
/** Permanent rejection: no retry delays the test. */
const rejectRequests = () => {
  server.failing = () => ({ kind: 'status', status: 400, body: '{"code":-1102,"msg":"no"}' });
};

describe('stale candles', () => {
  it('backtest runs on stored candles and warns when collection fails', async () => {
    await run('ETH', { date_range: { start: RANGE.start, end: '2026-04-01T00:00:00Z' } });
    rejectRequests();
    const job = await run('ETH');
    expect(job).toMatchObject({ status: 'completed', collection: { status: 'failed' } });
    const warning = expect.stringMatching(/^Collecting market data failed: .*DATA004 binanceusdm rejected/);
    expect(job.warnings).toContainEqual(warning);
    expect((await report(job)).warnings).toContainEqual(warning);
    expect((await report(job)).data[0].candles).toBe(31 * 24);
  });

  it('candles of a symbol listed after the start are collected once', async () => {
    server.listed.set('YOUNG/USDT:USDT', at('2026-03-20T10:00'));
    const job = await run('YOUNG');
    expect(job).toMatchObject({ status: 'completed', collection: { status: 'completed' } });
    requests();
    expect(await run('YOUNG')).toMatchObject({ status: 'completed', collection: null });
    expect(requests()).toBe(0);
    const url = platform.info.data_collection_url;
    const { series } = (await (await fetch(`${url}/api/v1/status`)).json()) as { series: any[] };
    expect(series.find(({ symbol }) => symbol.startsWith('YOUNG'))).toMatchObject({
      first: '2026-03-20T10:00:00.000Z',
      complete_from: '2026-02-18T14:00:00.000Z',
    });
  });
});

describe('instruments', () => {
  const instruments = async () => {
    const url = `${platform.info.data_collection_url}/api/v1/instruments`;
    return ((await (await fetch(url)).json()) as { instruments: any[] }).instruments;
  };
  const byDefault = { precision: undefined };

  it('collection stores candles and omits inconsistent instruments with a warning', async () => {
    server.failing = ({ endpoint }) =>
      endpoint === 'exchangeInfo' ? { kind: 'rows', change: withCrossedLimits } : undefined;
    const job = await run('BARE', byDefault);
    expect(job).toMatchObject({ status: 'completed', collection: { status: 'completed' } });
    expect(job.collection.message).toMatch(
      /^1330 candles stored, instruments not collected: BARE\/USDT:USDT \(SVC002 .*minimum amount 5 is above/,
    );
    expect((await instruments()).map(({ symbol }) => symbol)).not.toContain('BARE/USDT:USDT');
    expect((await run('BARE', byDefault)).config.precision).toBe('none');
  });
});

function withCrossedLimits(info: unknown) {
  const { symbols, ...rest } = info as { symbols: { filters: { filterType: string }[] }[] };
  const crossed = (filter: { filterType: string }) =>
    filter.filterType === 'LOT_SIZE' ? { ...filter, minQty: '5', maxQty: '2' } : filter;
  return { ...rest, symbols: symbols.map((each) => ({ ...each, filters: each.filters.map(crossed) })) };
}

describe('check for sufficient candles', () => {
  it('run without candles fails with DATA001 and the reason', async () => {
    rejectRequests();
    const job = await run('UNSEEN');
    expect(job).toMatchObject({ status: 'failed', error_code: 'DATA001', collection: { status: 'failed' } });
    expect(job.error).toMatch(/No 1h candles of UNSEEN.*DATA004 binanceusdm rejected the request/);
  });

  it('run with too few candles for range and startup fails with DATA001', async () => {
    server.listed.set('BRIEF/USDT:USDT', at('2026-04-14T12:00'));
    const job = await run('BRIEF');
    expect(job).toMatchObject({
      status: 'failed',
      error_code: 'DATA001',
      collection: { status: 'completed' },
    });
  });

  it('run on an unlisted symbol fails with DATA003', async () => {
    const job = await run('UNLISTED');
    expect(job).toMatchObject({
      status: 'failed',
      error_code: 'DATA003',
      collection: { status: 'failed', unlisted: ['UNLISTED/USDT:USDT'] },
    });
    expect(job.error).toContain('UNLISTED/USDT:USDT is not listed on binanceusdm');
  });
});
