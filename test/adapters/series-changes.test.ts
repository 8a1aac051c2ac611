import { describe, expect, test } from 'vitest';
import type { DynamoSeriesStore } from '#adapters/dynamo/series-stores.ts';
import type { FileObjectStore } from '#adapters/local/file-object-store.ts';
import { ParquetCandleStore } from '#adapters/parquet/candle-store.ts';
import type { SeriesKey } from '#domain/ports.ts';
import { type Candles, createCandles } from '#engine/candles.ts';
import { candleStoreFixture, HOUR, range, T0 } from './candle-store-fixture.ts';

/** Changes of whole series. Each is repeated with a process that dies before and after each of its writes. */

const fixture = candleStoreFixture();
const HOUR_MS = 3_600_000;
const clock = { now: () => Date.UTC(2025, 6, 2) };
const TARGET: SeriesKey = { exchange: 'other', symbol: 'ETH/USDT:USDT', timeframe: '1h' };

const candlesAt = (rows: readonly number[], level = 100): Candles => {
  const candles = createCandles(rows.length);
  rows.forEach((row, i) => {
    candles.timestamp[i] = T0 + row * HOUR_MS;
    candles.open[i] = candles.close[i] = level + row / 1_000;
    candles.high[i] = level + 1;
    candles.low[i] = level - 1;
    candles.volume[i] = row;
  });
  return candles;
};
/** Stored in January and February. */
const STORED = range(0, 72);
/** Opens by row of the hourly grid. */
const opensOf = async (series: SeriesKey = HOUR) => {
  const { timestamp, open } = await fixture.store.read(series, 0, T0 + 100_000 * HOUR_MS);
  return [...timestamp].map((time, i) => [(time - T0) / HOUR_MS, open[i]]);
};
const expected = (rows: readonly number[], level = 100) => rows.map((row) => [row, level + row / 1_000]);
const files = async (prefix: string) => {
  const found: string[] = [];
  for await (const key of fixture.objects.list(prefix)) found.push(key);
  return found;
};
const listed = async (exchange: string) =>
  (await fixture.series.list(exchange)).map(({ symbol, count }) => [symbol, count]);

const WRITES = ['put', 'putIf', 'delete', 'record', 'change', 'changeBoth'];

class Death extends Error {}

/** Runs an action with stores that stop working at the given write: before it, or after it. Returns whether it came that far. */
async function diesAt(
  write: number,
  when: 'before' | 'after',
  action: (store: ParquetCandleStore) => Promise<unknown>,
): Promise<boolean> {
  let left = write;
  let dead = false;
  const mortal = <T extends FileObjectStore | DynamoSeriesStore>(target: T): T =>
    new Proxy(target, {
      get: (_, name) => {
        const member = Reflect.get(target, name) as unknown;
        if (typeof member !== 'function') return member;
        const call = (args: unknown[]) => Reflect.apply(member, target, args) as unknown;
        if (!WRITES.includes(String(name)))
          return (...args: unknown[]) => {
            if (dead) throw new Death();
            return call(args);
          };
        return async (...args: unknown[]) => {
          if (dead) throw new Death();
          dead = left-- === 0;
          if (dead && when === 'before') throw new Death();
          const result = await call(args);
          if (dead) throw new Death();
          return result;
        };
      },
    });
  const store = new ParquetCandleStore({
    objects: mortal(fixture.objects),
    series: mortal(fixture.series),
    clock,
  });
  try {
    await action(store);
    return false;
  } catch (error) {
    if (!(error instanceof Death)) throw error;
    return true;
  }
}

/** Repeats a scene on fresh series for every write of its action, dying before and after it. */
async function everyDeath(
  action: (store: ParquetCandleStore, series: SeriesKey) => Promise<unknown>,
  prepare: (series: SeriesKey) => Promise<unknown>,
  check: (series: SeriesKey) => Promise<void>,
): Promise<void> {
  let deaths = 0;
  for (const when of ['before', 'after'] as const) {
    for (let write = 0; ; write++) {
      const series = { ...HOUR, symbol: `S${when.toUpperCase()}${write}/USDT:USDT` };
      await prepare(series);
      const died = await diesAt(write, when, (store) => action(store, series));
      await check(series);
      if (!died) break;
      deaths++;
    }
  }
  expect(deaths).toBeGreaterThan(4);
}

describe('deletion of a series', () => {
  test('removes its candles from storage and lists, and later candles are a new series', async () => {
    await fixture.store.write(HOUR, candlesAt(STORED));
    expect(await fixture.store.remove(HOUR)).toBe(true);
    expect(await listed('sim')).toEqual([]);
    expect(await files('')).toEqual([]);
    expect(await opensOf()).toEqual([]);
    expect(await fixture.store.remove(HOUR)).toBe(false);
    const info = await fixture.store.write(HOUR, candlesAt([5, 6], 200));
    expect(info).toMatchObject({ count: 2, first: '2025-01-30T05:00:00.000Z' });
    expect(await opensOf()).toEqual(expected([5, 6], 200));
  });

  test('that a crash interrupted is finished by the next deletion', async () => {
    const remove = (store: ParquetCandleStore, series: SeriesKey) => store.remove(series);
    await everyDeath(
      remove,
      (series) => fixture.store.write(series, candlesAt(STORED)),
      async (series) => {
        await fixture.store.remove(series);
        expect(await fixture.series.list('sim')).toEqual([]);
        expect(await files('')).toEqual([]);
      },
    );
  });

  test('that a crash interrupted brings no deleted candle back with the next write', async () => {
    await everyDeath(
      (store, series) => store.remove(series),
      (series) => fixture.store.write(series, candlesAt(STORED)),
      async (series) => {
        const isStored = (await fixture.series.state(series)).months.length > 0;
        await fixture.store.write(series, candlesAt([100], 200));
        expect(await opensOf(series)).toEqual([
          ...(isStored ? expected(STORED) : []),
          ...expected([100], 200),
        ]);
      },
    );
  });
});

describe('renaming of a series', () => {
  const move = (store: ParquetCandleStore, series: SeriesKey) => store.copy(series, TARGET, { move: true });

  test('moves candles and summary', async () => {
    const before = await fixture.store.write(HOUR, candlesAt(STORED));
    expect(await move(fixture.store, HOUR)).toBe('done');
    expect(await opensOf(TARGET)).toEqual(expected(STORED));
    expect(await listed('sim')).toEqual([]);
    expect(await fixture.series.list('other')).toMatchObject([
      { ...before, ...TARGET, updated_at: expect.any(String) },
    ]);
    expect(await files('candles/exchange=sim')).toEqual([]);
    expect(await move(fixture.store, HOUR)).toBe('absent');
  });

  test('rejects a target that exists, and one name only', async () => {
    await fixture.store.write(HOUR, candlesAt(STORED));
    await fixture.store.write(TARGET, candlesAt([1]));
    expect(await move(fixture.store, HOUR)).toBe('exists');
    expect(await fixture.store.copy(HOUR, HOUR, { move: true })).toBe('exists');
    expect(await opensOf()).toEqual(expected(STORED));
  });

  test('that a crash interrupted loses no candle and is finished by the next call', async () => {
    await everyDeath(
      move,
      async (series) => {
        await fixture.store.remove(TARGET);
        await fixture.store.write(series, candlesAt(STORED));
      },
      async (series) => {
        const [source, target] = [await fixture.series.state(series), await fixture.series.state(TARGET)];
        expect([source, target].filter(({ months }) => months.length > 0)).toHaveLength(1);
        await move(fixture.store, series);
        expect(await opensOf(TARGET)).toEqual(expected(STORED));
        expect(await opensOf(series)).toEqual([]);
        expect(await listed('other')).toEqual([[TARGET.symbol, STORED.length]]);
      },
    );
  });

  test('a copy that a crash interrupted leaves nothing in a series that is written instead', async () => {
    await everyDeath(
      (store, series) => store.copy(series, TARGET, { move: false }),
      async (series) => {
        await fixture.store.remove(TARGET);
        await fixture.store.write(series, candlesAt(STORED));
      },
      async (series) => {
        const isCopied = (await fixture.series.state(TARGET)).months.length > 0;
        await fixture.store.write(TARGET, candlesAt([100], 200));
        expect(await opensOf(TARGET)).toEqual([
          ...(isCopied ? expected(STORED) : []),
          ...expected([100], 200),
        ]);
        expect(await opensOf(series)).toEqual(expected(STORED));
      },
    );
  });
});

describe('undo of an import', () => {
  /** Replaces two days of January and February, and begins March. */
  const IMPORTED = [...range(30, 60), ...range(72, 80), ...range(720, 724)];
  const imported = (series: SeriesKey, store = fixture.store, id = 'A') =>
    store.import(series, candlesAt(IMPORTED, 200), id);
  const after = [
    ...expected(range(0, 30)),
    ...expected(range(30, 60), 200),
    ...expected(range(60, 72)),
    ...expected([...range(72, 80), ...range(720, 724)], 200),
  ];

  test('restores replaced candles, and removes those that were not stored', async () => {
    await fixture.store.write(HOUR, candlesAt(STORED));
    await imported(HOUR);
    expect(await opensOf()).toEqual(after);
    const undone = await fixture.store.undoImport(HOUR);
    expect(undone).toMatchObject({
      import: { id: 'A' },
      info: { count: 72, last: '2025-02-01T23:00:00.000Z' },
    });
    expect(await opensOf()).toEqual(expected(STORED));
    expect(await files('replaced/')).toEqual([]);
    expect(await fixture.store.undoImport(HOUR)).toBeUndefined();
  });

  test('restores what was stated of the series: that files hold it, and its calendar', async () => {
    await fixture.store.import(HOUR, candlesAt(STORED), 'A', 'XNYS');
    await fixture.store.import(HOUR, candlesAt([3], 200), 'B', '24/7');
    expect(await fixture.store.undoImport(HOUR)).toMatchObject({
      info: { imported: true, calendar: 'XNYS' },
    });
    await fixture.store.import(HOUR, candlesAt([3], 200), 'C');
    expect(await fixture.store.undoImport(HOUR)).toMatchObject({
      info: { imported: true, calendar: 'XNYS' },
    });
    const collected: SeriesKey = { ...HOUR, symbol: 'ETH/USDT:USDT' };
    await fixture.store.write(collected, candlesAt(STORED));
    await fixture.store.import(collected, candlesAt([3], 200), 'D', '24/7');
    const undone = await fixture.store.undoImport(collected);
    expect(undone!.info).not.toHaveProperty('imported', true);
    expect(undone!.info).not.toHaveProperty('calendar', '24/7');
  });

  test('of a new series removes it', async () => {
    await imported(HOUR);
    expect(await fixture.store.undoImport(HOUR)).toMatchObject({ info: undefined });
    expect(await listed('sim')).toEqual([]);
    expect(await files('')).toEqual([]);
  });

  test('covers all writes of one import, and the next import that changes the series replaces it', async () => {
    await fixture.store.write(HOUR, candlesAt(STORED));
    await imported(HOUR);
    await fixture.store.import(HOUR, candlesAt(range(40, 50), 300), 'A');
    await fixture.store.import(HOUR, candlesAt(range(724, 730), 300), 'A');
    // Changes nothing, so it replaces nothing.
    await fixture.store.import(HOUR, candlesAt(range(0, 10)), 'B');
    await fixture.store.undoImport(HOUR);
    expect(await opensOf()).toEqual(expected(STORED));
    await imported(HOUR, fixture.store, 'C');
    await fixture.store.import(HOUR, candlesAt([0], 300), 'D');
    await fixture.store.undoImport(HOUR);
    expect(await opensOf()).toEqual(after);
    expect(await fixture.store.undoImport(HOUR)).toBeUndefined();
  });

  test('keeps candles that were collected since', async () => {
    await fixture.store.write(HOUR, candlesAt(STORED));
    await imported(HOUR);
    await fixture.store.write(HOUR, candlesAt([80, 81, 724, 725], 300));
    await fixture.store.undoImport(HOUR);
    expect(await opensOf()).toEqual([...expected(STORED), ...expected([80, 81, 724, 725], 300)]);
    expect(await listed('sim')).toEqual([[HOUR.symbol, 76]]);
  });

  test('restores what was stored after a crash of the import, which another import completes', async () => {
    await everyDeath(
      (store, series) => imported(series, store),
      (series) => fixture.store.write(series, candlesAt(STORED)),
      async (series) => {
        await fixture.store.undoImport(series);
        expect(await opensOf(series)).toEqual(expected(STORED));
        await imported(series, fixture.store, 'B');
        expect(await opensOf(series)).toEqual(after);
      },
    );
  });

  test('that a crash interrupted is finished by the next undo, and by the next write', async () => {
    for (const finish of ['undo', 'write'] as const) {
      await everyDeath(
        (store, series) => store.undoImport(series),
        async (series) => {
          await fixture.store.remove(series);
          await fixture.store.write(series, candlesAt(STORED));
          await imported(series);
        },
        async (series) => {
          const { pending, kept_import } = await fixture.series.state(series);
          if (finish === 'undo') await fixture.store.undoImport(series);
          else await fixture.store.write(series, candlesAt([0]));
          // An undo that had not begun is not continued by a write.
          const isUndone = finish === 'undo' || pending === 'undo' || !kept_import;
          expect(await opensOf(series)).toEqual(isUndone ? expected(STORED) : after);
        },
      );
    }
  });
});

describe('changes of a day', () => {
  test('record when candles of a day changed, and whether stored ones were replaced', async () => {
    await fixture.store.write(HOUR, candlesAt(range(0, 30)));
    const later = new ParquetCandleStore({ ...fixture, clock });
    await later.write(HOUR, candlesAt([...range(24, 30)], 200));
    await later.write(HOUR, candlesAt(range(48, 50)));
    const [first, second] = [Date.UTC(2025, 6, 1), clock.now()];
    const { months } = await fixture.series.state(HOUR);
    expect(months.map(({ month, changes }) => [month, changes])).toEqual([
      [
        '2025-01',
        [
          [30, 30, first, 0],
          [31, 31, second, 1],
        ],
      ],
      ['2025-02', [[1, 1, second, 0]]],
    ]);
  });
});

test('exchanges are those with candles', async () => {
  await fixture.store.write(HOUR, candlesAt([0]));
  await fixture.store.write(TARGET, candlesAt([0]));
  expect(await fixture.store.exchanges()).toEqual(['other', 'sim']);
});
