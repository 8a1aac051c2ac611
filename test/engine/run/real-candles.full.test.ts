import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { analyze } from '#engine/analysis/analyze.ts';
import { fillGaps } from '#engine/analysis/candle-checks.ts';
import { type Candles, createCandles, sliceCandles } from '#engine/candles.ts';
import { defaultParameters } from '#engine/definitions/parameters.ts';
import { builtInStrategies } from '#engine/strategies/built-in.ts';
import { TIMEFRAME_MS } from '#engine/timeframe.ts';

const DATA = join(import.meta.dirname, '../../../../shared/data');
const present = existsSync(DATA);
if (!present) console.warn(`Skipped: no real candles in ${DATA}`);

const COLUMNS = ['timestamp', 'open', 'high', 'low', 'close', 'volume'] as const;
const PRICES = ['open', 'high', 'low', 'close'] as const;

function readCandles(file: string): Candles {
  const text = gunzipSync(readFileSync(join(DATA, `candles/${file}.csv.gz`))).toString();
  const lines = text.trim().split('\n').slice(1);
  const candles = createCandles(lines.length);
  for (const [row, line] of lines.entries())
    for (const [at, value] of line.split(',').slice(0, COLUMNS.length).entries())
      candles[COLUMNS[at]!][row] = Number(value);
  return candles;
}

describe.skipIf(!present)('real candles', () => {
  it('fillGaps fills gaps flat at the previous close', () => {
    const candles = readCandles('XRP_ETH-5m');
    const { candles: full, filled } = fillGaps(candles, TIMEFRAME_MS['5m']);
    expect(filled).toBe(6);
    const rows = new Map([...candles.timestamp].map((time, row) => [time, row]));
    let before = 0;
    for (const [row, time] of full.timestamp.entries()) {
      expect(time).toBe(candles.timestamp[0]! + row * TIMEFRAME_MS['5m']);
      const known = rows.get(time);
      const expected = PRICES.map((name) =>
        known === undefined ? candles.close[before]! : candles[name][known]!,
      );
      expect(PRICES.map((name) => full[name][row])).toEqual(expected);
      before = known ?? before;
    }
  });

  it.each(builtInStrategies.map((strategy) => [strategy.name, strategy] as const))(
    'signals of %s do not change when later candles are removed',
    (_, strategy) => {
      const params = defaultParameters(strategy.parameters);
      const candles = readCandles('ETH_USDT_USDT-15m');
      const full = analyze({ ...strategy, timeframe: '15m' }, params, candles);
      const rows = candles.timestamp.length;
      for (let known = 700; known <= rows; known += 149) {
        const cut = analyze({ ...strategy, timeframe: '15m' }, params, sliceCandles(candles, 0, known));
        for (const name of ['enterLong', 'exitLong', 'enterShort', 'exitShort'] as const) {
          const computed = cut.signals[name];
          if (computed === undefined) continue;
          // Look-ahead would change the last rows.
          expect([...computed], `${name} of ${known} candles`).toEqual([
            ...(full.signals[name] as Uint8Array).subarray(0, known),
          ]);
        }
      }
    },
  );
});
