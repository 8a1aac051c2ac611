import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { runInProcess } from '../support/command.ts';

/** Strategy folder of a test file, and the check command on it. */
export function checkFixture() {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-check-'));
  const strategies = join(folder, 'strategies');
  mkdirSync(join(strategies, 'shared'), { recursive: true });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Strategy file that trades price crossings of an average. `more` is appended to the definition, `before` precedes it. */
  function strategy(name: string, more = '', before = ''): string {
    const file = join(strategies, `${name}.ts`);
    writeFileSync(
      file,
      `import { crossedAbove, crossedBelow, sma } from '#engine/indicators/index.ts';
${before}
export default {
  name: '${name}', description: 'For the check.', timeframe: '1h', pairs: ['BTC/USDT:USDT'], stakeAmount: 100,
  parameters: {}, startupCandles: () => 20, stoploss: -0.2,
  indicators: ({ close }) => ({ average: sma(close, 20) }),
  signals: ({ close }, { average }) => ({ enterLong: crossedAbove(close, average), exitLong: crossedBelow(close, average) }),
  ${more}
};
`,
    );
    return file;
  }

  const check = (...args: string[]) =>
    runInProcess(join(folder, 'home'), ['check', ...args], {
      STRATEGIES_DIRECTORY: strategies,
    });
  return { strategies, strategy, check };
}
