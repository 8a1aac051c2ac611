import { afterEach, describe, expect, it } from 'vitest';
import { at, exchangeFixture, RANGE } from './exchange-fixture.ts';

const fixture = exchangeFixture(['UNSEEN', 'YOUNG', 'BRIEF', 'BARE']);
const { run, report, requests, instruments } = fixture;
afterEach(() => {
  fixture.server.failing = undefined;
});

/** Permanent rejection: no retry delays the test. */
const rejectRequests = () => {
  fixture.server.failing = () => ({ kind: 'status', status: 400, body: '{"code":-1102,"msg":"no"}' });
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
    fixture.server.listed.set('YOUNG/USDT:USDT', at('2026-03-20T10:00'));
    const job = await run('YOUNG');
    expect(job).toMatchObject({ status: 'completed', collection: { status: 'completed' } });
    requests();
    expect(await run('YOUNG')).toMatchObject({ status: 'completed', collection: null });
    expect(requests()).toBe(0);
    const url = fixture.platform.info.data_collection_url;
    const { series } = (await (await fetch(`${url}/api/v1/status`)).json()) as { series: any[] };
    expect(series.find(({ symbol }) => symbol.startsWith('YOUNG'))).toMatchObject({
      first: '2026-03-20T10:00:00.000Z',
      complete_from: '2026-02-18T14:00:00.000Z',
    });
  });
});

describe('instruments', () => {
  const byDefault = { precision: undefined };

  it('collection stores candles and omits inconsistent instruments with a warning', async () => {
    fixture.server.failing = ({ endpoint }) =>
      endpoint === 'exchangeInfo' ? { kind: 'rows', change: withCrossedLimits } : undefined;
    const job = await run('BARE', byDefault);
    expect(job).toMatchObject({ status: 'completed', collection: { status: 'completed' } });
    expect(job.collection.message).toMatch(
      /^1330 candles stored, instruments not collected: BARE\/USDT:USDT: SVC002 .*minimum amount 5 is above/,
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
    fixture.server.listed.set('BRIEF/USDT:USDT', at('2026-04-14T12:00'));
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
