import { beforeEach, describe, expect, it } from 'vitest';
import { BTC, HOUR } from '../domain/data/market.ts';
import { COLLECTION, dataCollectionFixture, hours } from './data-collection-fixture.ts';

const fixture = dataCollectionFixture();
const { store, times, start, ended } = fixture;

describe('GET /api/v1/ohlcv', () => {
  beforeEach(() => store(BTC, '1h', hours('2024-01-31T20:00', '2024-02-01T04:00'), HOUR));

  it('ohlcv returns 1000 candles by default and up to 10000', async () => {
    await store(BTC, '1h', hours('2022-01-01T00:00', '2023-06-01T00:00'), HOUR);
    expect(await times('')).toHaveLength(1000);
    expect(await times('&limit=10000')).toHaveLength(10_000);
  });
});

describe('collections', () => {
  it('collections run sequentially, with at most 20 unfinished', async () => {
    const ids: string[] = [];
    let go = () => {};
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    fixture.exchange.during = () => gate;
    for (let i = 0; i < 20; i++) {
      const { status, body } = await start({
        ...COLLECTION,
        start: `2024-01-${10 + i}`,
        end: `2024-01-${11 + i}`,
      });
      expect(status).toBe(201);
      ids.push(body.collection_id!);
    }
    const rejected = await start(COLLECTION);
    expect([rejected.status, rejected.response.headers.get('Retry-After')]).toEqual([429, '1']);
    expect(rejected.body).toMatchObject({ detail: { code: 'HTTP429', context: { max: 20 } } });
    go();
    await ended(ids.at(-1)!);
    expect(fixture.exchange.asked()).toHaveLength(20);
    expect((await start(COLLECTION)).status).toBe(201);
  });
});
