import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** Strategy that reads the close of the next candle. */
const SEER = `export default {
  name: 'seer', description: 'Reads the next close.', timeframe: '1h', pairs: ['BTC/USDT:USDT'],
  stakeAmount: 100, stoploss: -0.5, startupCandles: () => 1,
  parameters: { rise: { kind: 'number', default: 0.001, min: 0, max: 0.004, description: 'Least rise' } },
  indicators: ({ close }) => ({ next: Float64Array.from(close, (now, i) => (close[i + 1] ?? now) / now - 1) }),
  signals: (_, { next }, { rise }) => ({
    enterLong: Uint8Array.from(next, (each) => Number(each > rise)),
    exitLong: Uint8Array.from(next, (each) => Number(each < 0)),
  }),
};
`;

/** Folder with the strategy `seer`, which has look-ahead bias; removed after the tests of the file. */
export function seerFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-seer-'));
  writeFileSync(join(folder, 'seer.ts'), SEER);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A month of one pair, for a run or a search of it. */
export const SEER_MARKET = {
  pairs: ['BTC/USDT:USDT'],
  timeframe: '1h',
  date_range: { start: '2026-01-01T00:00:00Z', end: '2026-02-01T00:00:00Z' },
};
