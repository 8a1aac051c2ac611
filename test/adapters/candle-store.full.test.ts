import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { candleStoreFixture, HOUR, range, T0 } from './candle-store-fixture.ts';

const fixture = candleStoreFixture();

describe('ParquetCandleStore candles', () => {
  test('concurrent writers in several processes keep every candle of a month', async () => {
    const script = join(import.meta.dirname, 'fixtures', 'write-candles.ts');
    const exits = await Promise.all(
      range(0, 3).map(async (part) => {
        const args = [script, fixture.engine.endpoint, fixture.table, fixture.root, String(part)];
        const child = spawn(process.execPath, args, { stdio: 'inherit' });
        return (await once(child, 'exit'))[0];
      }),
    );
    expect(exits).toEqual([0, 0, 0]);
    const read = await fixture.store.read(HOUR, 0, T0 * 2);
    expect(read.timestamp).toHaveLength(60);
    const [info] = await fixture.series.list('sim');
    expect(info).toMatchObject({ count: 60, gap_count: 0 });
  });
});
