import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { BundledTask } from '../../bin/build/bundled-task.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

const RANGE = { start: '2026-03-01T00:00:00Z', end: '2026-03-08T00:00:00Z' };

const STRATEGIES = {
  // Keeps state in what all modules share: a run that finds it differs from its repetition, which is a finding.
  'keeps.ts': `import { crossedAbove, crossedBelow, defineStrategy, ema } from 'touchstone/engine';
import { periods } from './shared/periods.ts';
const leave = () => { try { return ((ema as any).left ??= []); } catch { return []; } };
const left = leave();
export default defineStrategy({
  name: 'keeps', description: 'x', timeframe: '1h', pairs: ['BTC/USDT:USDT'], stakeAmount: 100, stoploss: -0.1, parameters: {}, startupCandles: () => 60,
  indicators: ({ close }) => ({ fast: ema(close, periods[0]), slow: ema(close, periods[1] + left.push(1) - 1) }),
  signals: (_, { fast, slow }) => ({ enterLong: crossedAbove(fast, slow), exitLong: crossedBelow(fast, slow) }),
});
`,
  'shared/periods.ts': 'export const periods = [12, 26];\n',
  'throws.ts': `import { defineStrategy } from 'touchstone/engine';
export default defineStrategy({
  name: 'throws', description: 'x', timeframe: '1h', pairs: ['BTC/USDT:USDT'], stakeAmount: 100, stoploss: -0.1, parameters: {}, startupCandles: () => 0,
  indicators: () => { throw new Error('division by the moon'); }, signals: () => ({}),
});
`,
};

const folder = mkdtempSync(join(tmpdir(), 'touchstone-bundled-'));
const task = new BundledTask();
let asked = 0;
let bundled: TestPlatform;
let plain: TestPlatform;
/** Runs built-in strategies in this process. */
let inside: TestPlatform;

beforeAll(async () => {
  expect(await task.open()).toBeUndefined();
  mkdirSync(join(folder, 'shared'));
  for (const [file, text] of Object.entries(STRATEGIES)) writeFileSync(join(folder, file), text);
  const file = () => {
    asked++;
    return task.file();
  };
  const strategies = { strategiesDirectory: folder };
  [bundled, plain, inside] = await Promise.all([
    startTestPlatform({ ...strategies, processes: true, bundledTask: file }),
    startTestPlatform({ ...strategies, processes: true }),
    startTestPlatform({ ...strategies, processes: false }),
  ]);
}, 120_000);
afterAll(async () => {
  await Promise.all([bundled.stop(), plain.stop(), inside.stop(), task.stop()]);
  rmSync(folder, { recursive: true });
});

it.each(['keeps', 'ema_crossover', 'ml_classifier'])(
  'a run of the bundled task has the result of one from sources and of one in this process: %s',
  async (strategy) => {
    const config = { strategy, date_range: RANGE };
    const before = asked;
    const jobs = await Promise.all([bundled, plain, inside].map((each) => each.run(config)));
    const [own, ...others] = jobs.map(({ result, look_ahead }) => ({
      result,
      findings: look_ahead.findings,
    }));
    expect([jobs[0]!.error, own, own]).toEqual([null, ...others]);
    expect([asked - before, task.file()]).toEqual([1, expect.stringMatching(/backtest\.mjs$/)]);
  },
);

it('an error in the bundled task names the file and the line of the strategy', async () => {
  const job = await bundled.run({ strategy: 'throws', date_range: RANGE });
  expect(job.error).toBe(
    'Strategy throws failed on BTC/USDT:USDT: indicators() threw: division by the moon (throws.ts:4)',
  );
});
