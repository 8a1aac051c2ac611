import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

export const RANGE = { start: '2026-03-01T00:00:00Z', end: '2026-03-08T00:00:00Z' };

/** Writes a strategy file that enters once; `parts` replace members of the definition. */
type AddStrategy = (name: string, parts: string, before?: string) => void;

/** Platform whose folder of strategies has these, and one for each thrown value: `throws_` and its name. */
export function hostileFixture(
  thrown: Readonly<Record<string, string>>,
  addOthers: (strategy: AddStrategy) => void,
) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'touchstone-hostile-')));
  const fixture = { platform: undefined as unknown as TestPlatform };
  const strategy: AddStrategy = (name, parts, before = '') =>
    writeFileSync(
      join(folder, `${name}.ts`),
      `${before}
export default {
  name: '${name}', description: 'Hostile.', timeframe: '1h', pairs: ['BTC/USDT:USDT', 'ETH/USDT:USDT'], stakeAmount: 100,
  parameters: {}, startupCandles: () => 1, stoploss: -0.99, indicators: () => ({}),
  signals(candles) {
    const enterLong = new Uint8Array(candles.timestamp.length);
    enterLong[1] = 1;
    return { enterLong };
  },
  ${parts}
};
`,
    );
  beforeAll(async () => {
    for (const [name, what] of Object.entries(thrown)) {
      strategy(
        `throws_${name}`,
        `callbacks: { customExit(context) { if (context.index > 3) throw ${what}; return null; } },`,
      );
    }
    addOthers(strategy);
    fixture.platform = await startTestPlatform({ strategiesDirectory: folder });
  });
  afterAll(async () => {
    await fixture.platform.stop();
    rmSync(folder, { recursive: true });
  });
  return fixture;
}
