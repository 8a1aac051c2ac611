import { describe, expect, it } from 'vitest';
import { CodedError } from '#contract/values/errors.ts';
import { describeOutcomes } from '#domain/data/describe-outcomes.ts';
import { NO_CHANGES } from '#domain/data/fill-chunk.ts';
import { recordCorruption } from '#domain/shared/corrupt-file.ts';
import { collectFixture, END, START, STEP } from './collect-candles-fixture.ts';
import { allFresh, at, BTC, candlesAt, DAY, ETH, grid, HOUR } from './market.ts';

const fixture = collectFixture();
const { collect, read } = fixture;

describe('corrupt file', () => {
  const file = 'candles/exchange=test/symbol=BTC_USDT_USDT/timeframe=5m/2024-02.parquet';
  const query = { exchange: 'test', symbols: [BTC], timeframe: '5m', start: '2024-01-10', end: '2024-03-05' };
  const key = { exchange: 'test', symbol: BTC, timeframe: '5m' } as const;
  const isFresh = () => allFresh(fixture.market, query);
  const readAs = (run: () => Promise<unknown>) => recordCorruption(fixture.market, key, run);

  it('corrupt file is rejected on read, makes the series stale and is collected again', async () => {
    await collect();
    expect(await isFresh()).toBe(true);
    await fixture.market.damage(file);
    await expect(readAs(() => read())).rejects.toMatchObject({
      code: 'DATA005',
      message: expect.stringContaining(file),
    });
    expect(await isFresh()).toBe(false);
    expect((await fixture.market.series.list('test'))[0]).toMatchObject({
      corrupt: ['2024-02'],
      count: (22 + 4) * 288,
      gaps: [[at('2024-02-01'), 29 * 288]],
    });
    fixture.exchange.asked();
    const [outcome] = await collect();
    expect(fixture.exchange.asked()).toEqual([`${BTC} 2024-02-01T00:00 2024-03-01T00:00`]);
    expect(outcome).toMatchObject({ candles: 29 * 288, corrupt: [file], error: null });
    expect(describeOutcomes([outcome!]).message).toBe(`8352 candles stored, corrupt files: ${file}`);
    expect(await isFresh()).toBe(true);
    expect(await readAs(() => read())).toEqual(candlesAt(grid(START, END, STEP), STEP));
    expect((await fixture.market.series.list('test'))[0]).not.toHaveProperty('corrupt');
  });

  it('corrupt file stays marked when the exchange fails to return it', async () => {
    await collect();
    await fixture.market.damage(file);
    await readAs(() => read()).catch(() => undefined);
    fixture.exchange.before = () => {
      throw new CodedError('DATA004');
    };
    await collect();
    expect(await isFresh()).toBe(false);
    await expect(read()).rejects.toMatchObject({ code: 'DATA005' });
  });

  it('collector clears `complete_from` when the first month is corrupt', async () => {
    fixture.exchange.listed = at('2024-02-10');
    await collect();
    await fixture.market.damage(file);
    await readAs(() => read()).catch(() => undefined);
    await collect({ start: at('2024-02-20') });
    expect(await isFresh()).toBe(false);
    await collect();
    expect(await isFresh()).toBe(true);
    expect((await read()).timestamp).toHaveLength((20 + 4) * 288);
  });

  it('corrupt funding file is collected again, including the month after the last candle', async () => {
    await collect({ end: at('2024-03-01') });
    await fixture.market.damage('funding/exchange=test/symbol=BTC_USDT_USDT/2024-03.parquet');
    const funding = () => fixture.market.candles.readFunding('test', BTC, START, at('2024-03-01'));
    await expect(readAs(funding)).rejects.toMatchObject({ code: 'DATA005' });
    expect(await allFresh(fixture.market, { ...query, end: '2024-03-01' })).toBe(false);
    fixture.exchange.asked();
    const [outcome] = await collect({ end: at('2024-03-01') });
    // Replaced from the first of January.
    expect(outcome).toMatchObject({ candles: 0, funding: (9 + 31) * 3 });
    expect(await allFresh(fixture.market, { ...query, end: '2024-03-01' })).toBe(true);
    expect((await funding()).timestamp).toHaveLength(51 * 3 + 1);
  });

  it('corrupt funding file is replaced for its entire month up to now', async () => {
    await collect();
    const funding = async () =>
      (await fixture.market.candles.readFunding('test', BTC, 0, at('2030-01-01'))).timestamp;
    const all = await funding();
    await fixture.market.damage('funding/exchange=test/symbol=BTC_USDT_USDT/2024-02.parquet');
    const part = { start: at('2024-02-10'), end: at('2024-02-12') };
    await readAs(() => fixture.market.candles.readFunding('test', BTC, part.start, part.end)).catch(
      () => undefined,
    );
    fixture.market.setNow(at('2024-02-28'));
    await collect(part);
    expect([...(await funding())]).toEqual(
      [...all, ...grid(at('2024-02-01'), at('2024-02-10'), 8 * HOUR)]
        .filter((time, i, times) => times.indexOf(time) === i)
        .filter((time) => time <= at('2024-02-28') || time >= at('2024-03-01'))
        .sort((a, b) => a - b),
    );
  });
});

describe('collectCandles: failures', () => {
  it('collectCandles keeps stored months and resumes after an exchange failure', async () => {
    fixture.exchange.before = ({ from }) => {
      if (from.startsWith('2024-02')) throw new CodedError('DATA004', { message: 'too busy' });
    };
    const [outcome] = await collect();
    expect(outcome).toMatchObject({ candles: 22 * 288, error: { code: 'DATA004' } });
    fixture.exchange.asked();
    fixture.exchange.before = () => {};
    expect((await collect())[0]).toMatchObject({ candles: 33 * 288, error: null });
    expect(fixture.exchange.asked()).toEqual([
      `${BTC} 2024-02-01T00:00 2024-03-01T00:00`,
      `${BTC} 2024-03-01T00:00 2024-03-05T00:00`,
    ]);
  });

  it('series stays stale when only its funding fails', async () => {
    fixture.exchange.before = ({ what }) => {
      if (what === 'funding') throw new CodedError('DATA004', { message: 'too busy' });
    };
    expect((await collect())[0]).toMatchObject({ error: { code: 'DATA004' } });
    const range = { start: '2024-01-10', end: '2024-03-05' };
    const query = { exchange: 'test', symbols: [BTC], timeframe: '5m', ...range };
    expect(await allFresh(fixture.market, query)).toBe(false);
    fixture.exchange.before = () => {};
    expect((await collect())[0]).toMatchObject({ funding: 55 * 3 + 1, error: null });
    expect(await allFresh(fixture.market, query)).toBe(true);
  });

  it('collectCandles reports an unlisted symbol and collects the others', async () => {
    fixture.exchange.before = ({ symbol }) => {
      if (symbol === BTC) throw new CodedError('DATA003', { message: `${symbol} is not listed` });
    };
    const outcomes = await collect({ symbols: [BTC, ETH], end: START + DAY });
    expect(outcomes.map(({ symbol, candles }) => [symbol, candles])).toEqual([
      [BTC, 0],
      [ETH, 288],
    ]);
    expect(describeOutcomes(outcomes)).toEqual({
      status: 'failed',
      message: `1 of 2 series failed: ${BTC} 5m: DATA003 ${BTC} is not listed. 288 candles stored.`,
      unlisted: [BTC],
    });
  });

  it('collectCandles skips the remaining symbols after 3 consecutive exchange failures', async () => {
    const symbols = Array.from({ length: 9 }, (_, i) => `S${i}/USDT:USDT`);
    const down = new Set(['S0', 'S1', 'S3', 'S4', 'S5', 'S7']);
    fixture.exchange.before = ({ symbol }) => {
      if (down.has(symbol.split('/')[0]!)) throw new CodedError('DATA004', { message: 'is not available' });
    };
    const outcomes = await collect({ symbols, end: START + DAY });
    expect(new Set(fixture.exchange.asked('funding').map((call) => call.slice(0, 2)))).toEqual(
      new Set(['S0', 'S1', 'S2', 'S3', 'S4', 'S5']),
    );
    expect(outcomes.map(({ symbol, candles }) => [symbol, candles])).toEqual(
      symbols.map((symbol) => [symbol, symbol.startsWith('S2/') ? 288 : 0]),
    );
    expect(describeOutcomes(outcomes).message).toContain(
      'S6/USDT:USDT 5m, S7/USDT:USDT 5m, S8/USDT:USDT 5m: DATA004 skipped: the exchange failed 3 symbols in a row',
    );
  });

  it('describeOutcomes lists 10 failed series and counts the rest', () => {
    const error = new CodedError('DATA004', { message: 'no' });
    const failed = Array.from({ length: 12 }, (_, i) => ({
      symbol: `S${i}`,
      timeframe: '5m' as const,
      candles: 0,
      funding: 0,
      changes: NO_CHANGES,
      served: null,
      corrupt: [],
      noInstrument: null,
      error,
    }));
    expect(describeOutcomes(failed).message).toMatch(/S9 5m and 2 more: DATA004 no\. 0 candles stored\.$/);
    const different = failed.map((each, i) => ({
      ...each,
      error: new CodedError('DATA004', { message: `no ${i}.` }),
    }));
    expect(describeOutcomes(different).message).toMatch(
      /S9 5m: DATA004 no 9; and 2 more\. 0 candles stored\.$/,
    );
  });

  it('collectCandles rejects on a storage failure and on a bug', async () => {
    fixture.market.candles.write = () => Promise.reject(new CodedError('DATA005'));
    await expect(collect()).rejects.toMatchObject({ code: 'DATA005' });
    fixture.exchange.before = () => {
      throw new TypeError('bug');
    };
    await expect(collect()).rejects.toThrow(TypeError);
  });

  it('collectCandles stops between two fetches when aborted', async () => {
    const stop = new AbortController();
    fixture.exchange.before = ({ what }) => what === 'candles' && stop.abort(new Error('stopped'));
    await expect(collect({ signal: stop.signal })).rejects.toThrow('stopped');
    expect(fixture.exchange.asked()).toHaveLength(1);
    expect((await read()).timestamp.length).toBe(22 * 288);
  });
});
