import { beforeEach, describe, expect, it } from 'vitest';
import { CodedError } from '#contract/values/errors.ts';
import { describeOutcomes } from '#domain/data/describe-outcomes.ts';
import { NO_CHANGES } from '#domain/data/fill-chunk.ts';
import { createCandles } from '#engine/candles.ts';
import { collectFixture, END, START, STEP } from './collect-candles-fixture.ts';
import { allFresh, at, BTC, candlesAt, DAY, ETH, grid, HOUR, INSTRUMENT } from './market.ts';

const fixture = collectFixture();
const { collect, read } = fixture;

describe('collectCandles: requests', () => {
  it('collectCandles fetches each month in one request, and only once', async () => {
    const [outcome] = await collect();
    expect(fixture.exchange.asked()).toEqual([
      `${BTC} 2024-01-10T00:00 2024-02-01T00:00`,
      `${BTC} 2024-02-01T00:00 2024-03-01T00:00`,
      `${BTC} 2024-03-01T00:00 2024-03-05T00:00`,
    ]);
    const days = 22 + 29 + 4;
    expect(outcome).toEqual({
      symbol: BTC,
      timeframe: '5m',
      candles: days * 288,
      funding: days * 3 + 1,
      changes: NO_CHANGES,
      served: null,
      corrupt: [],
      noInstrument: null,
      error: null,
    });
    expect(await read()).toEqual(candlesAt(grid(START, END, STEP), STEP));
    const [again] = await collect();
    expect(fixture.exchange.calls).toEqual([]);
    expect(again).toMatchObject({ candles: 0, funding: 0, error: null });
  });

  it('collectCandles requests no funding rates of a spot pair', async () => {
    const [outcome] = await collect({ symbols: ['BTC/USDT'] });
    expect(outcome).toMatchObject({ symbol: 'BTC/USDT', candles: 55 * 288, funding: 0, noInstrument: null });
    expect(fixture.exchange.asked('funding')).toEqual([]);
  });

  it('collectCandles fetches longer intervals for long timeframes', async () => {
    await collect({ timeframe: '1d', start: at('2020-01-01'), end: at('2024-01-01') });
    expect(fixture.exchange.asked()).toEqual([`${BTC} 2020-01-01T00:00 2024-01-01T00:00`]);
    await collect({ timeframe: '1h', start: at('2022-01-01'), end: at('2024-01-01') });
    expect(fixture.exchange.asked()).toEqual([
      `${BTC} 2022-01-01T00:00 2023-02-01T00:00`,
      `${BTC} 2023-02-01T00:00 2024-01-01T00:00`,
    ]);
  });

  it('collectCandles fetches only the missing range before, after and between stored candles', async () => {
    await collect({ start: at('2024-02-10'), end: at('2024-02-12') });
    await collect({ start: at('2024-02-20'), end: at('2024-02-21') });
    fixture.exchange.asked();
    await collect({ start: at('2024-02-05'), end: at('2024-02-11') });
    expect(fixture.exchange.asked()).toEqual([`${BTC} 2024-02-05T00:00 2024-02-10T00:00`]);
    await collect({ start: at('2024-02-11'), end: at('2024-02-25') });
    expect(fixture.exchange.asked()).toEqual([`${BTC} 2024-02-12T00:00 2024-02-25T00:00`]);
    const info = await fixture.market.series.getMany('test', [{ symbol: BTC, timeframe: '5m' }]);
    expect(info.get(`${BTC}#5m`)).toMatchObject({
      first: '2024-02-05T00:00:00.000Z',
      last: '2024-02-24T23:55:00.000Z',
      count: 20 * 288,
      gap_count: 0,
    });
  });

  it('collectCandles stores only candles that open within a range off the grid', async () => {
    await collect({ start: at('2024-02-01T00:01'), end: at('2024-02-01T00:11') });
    expect([...(await read()).timestamp].map((time) => new Date(time).toISOString().slice(11, 16))).toEqual([
      '00:05',
      '00:10',
    ]);
  });

  it('collectCandles fetches nothing for an empty or future range', async () => {
    await collect({ start: at('2024-05-31T23:58'), end: at('2024-07-01') });
    await collect({ start: at('2025-01-01'), end: at('2025-02-01') });
    expect(fixture.exchange.calls).toEqual([]);
  });
});

describe('collectCandles: stored candles', () => {
  it('collectCandles omits the candle that is still open', async () => {
    fixture.market.setNow(at('2024-02-01T12:03'));
    // Some exchanges return the open candle even when it is not requested.
    fixture.exchange.change = (candles) =>
      candlesAt(
        [...candles.timestamp, candles.timestamp.at(-1)! + STEP, candles.timestamp.at(-1)! + 2 * STEP],
        STEP,
      );
    await collect({ start: at('2024-02-01'), end: at('2024-02-02') });
    expect((await read()).timestamp.at(-1)).toBe(at('2024-02-01T11:55'));
  });

  it('collectCandles drops invalid candles and stores each timestamp once, in order', async () => {
    fixture.exchange.change = (candles) => {
      if (candles.timestamp.length < 288) return createCandles(0);
      const order = [...candles.timestamp].reverse();
      const given = candlesAt([...order, order[0]!, order[1]! + 1000], STEP);
      const last = given.timestamp.length - 1;
      given.low[last - 20] = given.open[last - 20]! + 1;
      given.close[last - 21] = Number.NaN;
      given.volume[last - 22] = -1;
      given.low[last - 23] = 0;
      given.high[last - 24] = Number.POSITIVE_INFINITY;
      return given;
    };
    const [outcome] = await collect({ start: at('2024-02-01'), end: at('2024-02-02') });
    expect(outcome).toMatchObject({
      candles: 288 - 5,
      changes: { rejected: 5, moved: 1, merged: 1 },
      error: null,
    });
    const { timestamp } = await read();
    expect([...timestamp]).toEqual([...timestamp].sort((a, b) => a - b));
    expect(new Set(timestamp).size).toBe(288 - 5);
    expect(describeOutcomes([outcome!]).message).toBe(
      '283 candles stored, 5 invalid ones skipped (first: 2024-02-01T01:30:00.000Z), 1 off the grid moved back to it (first: 2024-02-01T23:50:01.000Z), 1 merged with another one of the same time (first: 2024-02-01T23:50:00.000Z)',
    );
  });

  it('an exchange that serves only its newest candles is not complete before them', async () => {
    Object.defineProperty(fixture.exchange, 'name', { value: 'kraken' });
    fixture.market.setNow(END);
    fixture.exchange.listed = END - 720 * HOUR;
    const [outcome] = await collect({ timeframe: '1h', end: END });
    expect(outcome).toMatchObject({ candles: 720, served: 720 });
    const key = { exchange: 'kraken', symbol: BTC, timeframe: '1h' } as const;
    const info = (await fixture.market.series.getMany('kraken', [key])).get(`${BTC}#1h`);
    expect(info!.complete_from ?? info!.first).toBe(info!.first);
    expect(describeOutcomes([outcome!]).message).toContain('only the newest 720 are served');
  });

  it('collectCandles refetches only gaps and keeps stored candles', async () => {
    for (const from of ['2024-02-10T10:00', '2024-02-10T12:00']) {
      for (const time of grid(at(from), at(from) + HOUR, STEP)) fixture.exchange.missing.add(time);
    }
    await collect({ start: at('2024-02-01'), end: at('2024-03-01') });
    fixture.exchange.asked();
    fixture.exchange.missing.clear();
    fixture.exchange.change = (candles) => {
      candles.volume.fill(77);
      return candles;
    };
    await collect({ start: at('2024-02-01'), end: at('2024-03-01') });
    expect(fixture.exchange.asked()).toEqual([`${BTC} 2024-02-10T10:00 2024-02-10T13:00`]);
    const { timestamp, volume } = await read();
    expect(timestamp.length).toBe(29 * 288);
    expect(volume.filter((each) => each === 77)).toHaveLength(24);
  });

  it('collectCandles retries a few new gaps within a run, but not many', async () => {
    const gap = grid(at('2024-02-10T10:00'), at('2024-02-10T11:00'), STEP);
    for (const time of [...gap, at('2024-02-11')]) fixture.exchange.missing.add(time);
    // The first page lacks these candles; the exchange has them.
    fixture.exchange.before = () => fixture.exchange.calls.length === 4 && fixture.exchange.missing.clear();
    await collect({ start: at('2024-02-10'), end: at('2024-02-12') });
    expect(fixture.exchange.asked()).toEqual([
      `${BTC} 2024-02-10T00:00 2024-02-12T00:00`,
      `${BTC} 2024-02-10T10:00 2024-02-10T11:00`,
      `${BTC} 2024-02-11T00:00 2024-02-11T00:05`,
    ]);
    expect((await read()).timestamp).toHaveLength(2 * 288);
    fixture.exchange.before = () => {};
    for (let i = 0; i < 6; i++) fixture.exchange.missing.add(at('2024-03-01T05:00') + 2 * i * STEP);
    await collect({ start: at('2024-03-01'), end: at('2024-03-02') });
    expect(fixture.exchange.asked()).toHaveLength(1);
  });

  describe('month with many gaps', () => {
    const february = { start: at('2024-02-01'), end: at('2024-03-01') };
    beforeEach(async () => {
      // Every hour lacks its third candle.
      for (const time of grid(at('2024-02-01T00:10'), at('2024-03-01'), HOUR))
        fixture.exchange.missing.add(time);
      await collect(february);
      fixture.exchange.asked();
    });

    it('collectCandles doubles the interval between refetches of a month with many gaps', async () => {
      const asked = async (now: string) => {
        fixture.market.setNow(at(now));
        await collect(february);
        return fixture.exchange.asked();
      };
      expect(await asked('2024-03-01T01:00')).toEqual([`${BTC} 2024-02-01T00:10 2024-02-29T23:15`]);
      expect(await asked('2024-03-01T02:00')).toEqual([]);
      expect(await asked('2024-03-02T00:59')).toEqual([]);
      expect(await asked('2024-03-03T00:00')).toHaveLength(1);
      // The refetch interval doubles: first 2 days after the month, then 2 days later, then 4.
      expect(await asked('2024-03-04T23:00')).toEqual([]);
      expect(await asked('2024-03-05T00:05')).toHaveLength(1);
      expect(await asked('2024-03-08T23:00')).toEqual([]);
      expect(await asked('2024-03-09T00:15')).toHaveLength(1);
    });

    it('collectCandles fills many gaps when the exchange has the candles later', async () => {
      fixture.exchange.missing.clear();
      await collect(february);
      expect((await read()).timestamp).toHaveLength(29 * 288);
      expect((await fixture.market.series.list('test'))[0]).toMatchObject({ gap_count: 0, gaps: [] });
    });

    it('collectCandles fetches new candles without refetching known gaps', async () => {
      await collect(february);
      fixture.exchange.asked();
      await collect({ start: at('2024-01-31'), end: at('2024-03-02') });
      expect(fixture.exchange.asked()).toEqual([
        `${BTC} 2024-01-31T00:00 2024-02-01T00:00`,
        `${BTC} 2024-03-01T00:00 2024-03-02T00:00`,
      ]);
      // Current month: its end is fetched, its gaps are not refetched.
      const march = { start: at('2024-03-01'), end: at('2024-03-10') };
      for (const time of grid(at('2024-03-01T00:10'), at('2024-03-12'), HOUR))
        fixture.exchange.missing.add(time);
      fixture.market.setNow(at('2024-03-10'));
      await collect(march);
      await collect(march);
      fixture.exchange.asked();
      for (const [from, to] of [
        ['2024-03-10T00:00', '2024-03-10T20:00'],
        ['2024-03-10T20:00', '2024-03-10T21:00'],
      ] as const) {
        fixture.market.setNow(at(to));
        await collect({ ...march, end: at(to) });
        expect(fixture.exchange.asked()).toEqual([`${BTC} ${from} ${to}`]);
      }
    });
  });

  it('collectCandles records `complete_from` when the symbol was listed after the range starts', async () => {
    fixture.exchange.listed = at('2024-02-20');
    const fresh = async (start: string) => {
      const query = { exchange: 'test', symbols: [BTC], timeframe: '5m', start, end: '2024-03-05' };
      return await allFresh(fixture.market, query);
    };
    const info = async () => (await fixture.market.series.list('test'))[0]!;
    await collect({ start: at('2024-02-10'), end: END });
    expect([(await info()).first, (await info()).complete_from]).toEqual([
      '2024-02-20T00:00:00.000Z',
      '2024-02-10T00:00:00.000Z',
    ]);
    expect(await fresh('2024-02-10')).toBe(true);
    expect(await fresh('2024-01-10')).toBe(false);
    // A longer range is requested again; a shorter one changes nothing.
    await collect();
    expect(await fresh('2024-01-10')).toBe(true);
    await collect({ start: at('2024-02-15'), end: END });
    expect((await info()).complete_from).toBe('2024-01-10T00:00:00.000Z');
  });

  it('collectCandles leaves `complete_from` unset when the range ends before the first candle', async () => {
    fixture.exchange.listed = at('2024-02-20');
    const info = async () => (await fixture.market.series.list('test'))[0]!;
    await collect({ start: at('2024-03-01'), end: END });
    await collect({ start: at('2024-01-10'), end: at('2024-01-20') });
    expect((await info()).complete_from).toBeUndefined();
    const query = {
      exchange: 'test',
      symbols: [BTC],
      timeframe: '5m',
      start: '2024-02-22',
      end: '2024-02-24',
    };
    expect(await allFresh(fixture.market, query)).toBe(false);
    // Adjacent ranges count as one.
    await collect({ start: at('2024-02-10'), end: END });
    await collect({ start: at('2024-01-10'), end: at('2024-02-10') });
    expect((await info()).complete_from).toBe('2024-01-10T00:00:00.000Z');
  });

  it('collectCandles leaves `complete_from` unset when the exchange fails', async () => {
    fixture.exchange.listed = at('2024-02-20');
    fixture.exchange.before = ({ from }) => {
      if (from.startsWith('2024-03')) throw new CodedError('DATA004');
    };
    await collect();
    expect((await fixture.market.series.list('test'))[0]).not.toHaveProperty('complete_from');
  });

  it('collectCandles repairs the series record from files when a writer died before the update', async () => {
    const key = { exchange: 'test', symbol: BTC, timeframe: '5m' } as const;
    const early = grid(at('2024-02-01'), at('2024-02-05'), STEP);
    await fixture.market.candles.write(key, candlesAt(early, STEP));
    // The file is written, the series record is not.
    const recorded = fixture.market.series.record.bind(fixture.market.series);
    fixture.market.series.record = () => Promise.reject(new CodedError('DATA005'));
    const late = grid(at('2024-02-05'), at('2024-02-09'), STEP);
    await expect(fixture.market.candles.write(key, candlesAt(late, STEP))).rejects.toThrow();
    fixture.market.series.record = recorded;
    await collect({ start: at('2024-02-01'), end: at('2024-02-09') });
    expect(fixture.exchange.asked()).toEqual([]);
    const info = (await fixture.market.series.getMany('test', [key])).get(`${BTC}#5m`)!;
    expect([info.last, info.count]).toEqual(['2024-02-08T23:55:00.000Z', 8 * 288]);
  });
});

it('collectCandles reports progress after each fetch', async () => {
  const seen: [number, number][] = [];
  await collect({
    symbols: [BTC, ETH],
    start: at('2024-01-31'),
    end: at('2024-02-02'),
    onProgress: ({ done, candles }) => seen.push([done, candles]),
  });
  expect(seen).toEqual([
    [0.25, 288],
    [0.5, 576],
    [0.75, 864],
    [1, 1152],
  ]);
});

describe('funding rates', () => {
  const funding = async (start: string, end: string) => {
    await collect({ start: at(start), end: at(end) });
    return fixture.exchange.asked('funding');
  };

  it('collectCandles stores funding at both ends of the range', async () => {
    await funding('2024-02-01', '2024-02-02');
    const events = await fixture.market.candles.readFunding('test', BTC, 0, at('2030-01-01'));
    expect([...events.timestamp]).toEqual(grid(at('2024-02-01'), at('2024-02-02') + 1, 8 * HOUR));
  });

  it('collectCandles fetches only missing funding after, before and between stored events', async () => {
    expect(await funding('2024-02-05', '2024-02-06')).toEqual([`${BTC} 2024-02-05T00:00 2024-02-06T00:00`]);
    // The event after 00:00 is at 08:00.
    expect(await funding('2024-02-05', '2024-02-06T07:55')).toEqual([]);
    expect(await funding('2024-02-05', '2024-02-06T08:00')).toEqual([
      `${BTC} 2024-02-06T00:00 2024-02-06T08:00`,
    ]);
    expect(await funding('2024-02-04', '2024-02-06')).toEqual([`${BTC} 2024-02-04T00:00 2024-02-04T23:59`]);
    expect(await funding('2024-02-10', '2024-02-11')).toEqual([`${BTC} 2024-02-10T00:00 2024-02-11T00:00`]);
    expect(await funding('2024-02-04', '2024-02-11')).toEqual([`${BTC} 2024-02-06T08:00 2024-02-09T23:59`]);
    expect(await funding('2024-02-04', '2024-02-11')).toEqual([]);
  });

  it('collectCandles checks for new funding hourly when the funding interval is 1 hour', async () => {
    fixture.exchange.fundingHours = 1;
    await funding('2024-02-05', '2024-02-06');
    expect(await funding('2024-02-05', '2024-02-06T00:55')).toEqual([]);
    expect(await funding('2024-02-05', '2024-02-06T01:00')).toEqual([
      `${BTC} 2024-02-06T00:00 2024-02-06T01:00`,
    ]);
  });
});

describe('instruments', () => {
  const NOW = '2024-06-01T00:00:00.000Z';
  const stored = async (...symbols: string[]) => [
    ...(await fixture.market.instruments.getMany('test', symbols.length > 0 ? symbols : [BTC])),
  ];
  const recorded = (changes: object = {}) => ({
    amount_step: 0.001,
    min_amount: 0.001,
    max_amount: 1000,
    min_cost: 100,
    max_cost: null,
    contract_size: 1,
    price_tick: 0.1,
    collected_at: NOW,
    ...changes,
  });
  const oneDay = { end: START + DAY };

  it('instruments are stored before the candles that decide freshness', async () => {
    fixture.exchange.before = ({ what }) => {
      // Simulates a crash at this point.
      if (what === 'candles') throw new TypeError('killed');
    };
    await expect(collect(oneDay)).rejects.toThrow('killed');
    expect(await stored()).toEqual([[BTC, recorded()]]);
    expect(await fixture.market.series.list('test')).toEqual([]);
  });

  it('instruments are fetched again and replaced after one day', async () => {
    await collect({ ...oneDay, symbols: [BTC, ETH] });
    expect(fixture.exchange.asked('instrument')).toHaveLength(2);
    fixture.exchange.instrument = { ...INSTRUMENT, amountStep: 1, maxAmount: null };
    fixture.market.setNow(Date.parse(NOW) + DAY - 1);
    await collect(oneDay);
    expect(fixture.exchange.calls).toEqual([]);
    fixture.market.setNow(Date.parse(NOW) + DAY);
    await collect(oneDay);
    expect(fixture.exchange.calls.splice(0)).toMatchObject([{ what: 'instrument', symbol: BTC }]);
    const changed = { amount_step: 1, max_amount: null, collected_at: '2024-06-02T00:00:00.000Z' };
    expect(new Map(await stored(BTC, ETH))).toEqual(
      new Map([
        [BTC, recorded(changed)],
        [ETH, recorded()],
      ]),
    );
  });

  it.each(['DATA003', 'DATA004', 'SVC002'] as const)(
    'instrument failure (%s) keeps the stored instrument and all candles',
    async (code) => {
      await collect(oneDay);
      fixture.market.setNow(Date.parse(NOW) + DAY);
      fixture.exchange.before = ({ what }) => {
        if (what === 'instrument') throw new CodedError(code, { message: 'no rules' });
      };
      const outcomes = await collect({ end: START + 2 * DAY, symbols: [BTC] });
      expect(outcomes).toMatchObject([{ candles: 288, error: null, noInstrument: { code } }]);
      expect(describeOutcomes(outcomes)).toEqual({
        status: 'completed',
        message: `288 candles stored, instruments not collected: ${BTC}: ${code} no rules`,
      });
      expect(await stored()).toEqual([[BTC, recorded()]]);
    },
  );

  it('instrument requests stop after an exchange failure (DATA004) but not after SVC002', async () => {
    const asked = async (code: 'DATA004' | 'SVC002') => {
      fixture.exchange.before = ({ what }) => {
        if (what === 'instrument') throw new CodedError(code);
      };
      const outcomes = await collect({ ...oneDay, symbols: [BTC, ETH] });
      expect(outcomes.map(({ noInstrument }) => noInstrument?.code)).toEqual([code, code]);
      return fixture.exchange.asked('instrument').length;
    };
    expect(await asked('DATA004')).toBe(1);
    expect(await asked('SVC002')).toBe(2);
  });

  it('collectCandles stores no instrument when the exchange has none', async () => {
    fixture.exchange.instrument = undefined;
    expect(await collect(oneDay)).toMatchObject([{ candles: 288, noInstrument: null }]);
    expect(await stored()).toEqual([]);
  });

  it('collectCandles rejects when instrument storage fails', async () => {
    fixture.market.instruments.record = () => Promise.reject(new CodedError('DATA005'));
    await expect(collect(oneDay)).rejects.toMatchObject({ code: 'DATA005' });
  });
});
