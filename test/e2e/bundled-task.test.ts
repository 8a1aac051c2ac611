import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { BundledTask, hasTaskCode } from '../../bin/build/bundled-task.ts';
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
  'forges.ts': `import { defineStrategy } from 'touchstone/engine';
export default defineStrategy({
  name: 'forges', description: 'x', timeframe: '1h', pairs: ['BTC/USDT:USDT'], stakeAmount: 100, stoploss: -0.1, parameters: {}, startupCandles: () => 0,
  indicators: () => process.getBuiltinModule('node:fs').writeFileSync('CODE_CACHE', ''), signals: () => ({}),
});
`,
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
let bundle = '';
let bundled: TestPlatform;
let plain: TestPlatform;

beforeAll(async () => {
  expect(await task.open()).toBeUndefined();
  bundle = dirname(task.file()!);
  mkdirSync(join(folder, 'shared'));
  for (const [file, text] of Object.entries(STRATEGIES)) {
    writeFileSync(join(folder, file), text.replace('CODE_CACHE', join(bundle, 'backtest.cache')));
  }
  const file = () => {
    asked++;
    return join(bundle, 'backtest.mjs');
  };
  [bundled, plain] = await Promise.all([
    startTestPlatform({ strategiesDirectory: folder, bundledTask: file }),
    startTestPlatform({ strategiesDirectory: folder }),
  ]);
}, 120_000);
afterAll(async () => {
  await Promise.all([bundled.stop(), plain.stop(), task.stop()]);
  rmSync(folder, { recursive: true });
});

it('a run of the bundled task has the result of one from sources, also when it is repeated', async () => {
  for (const strategy of ['keeps', 'ema_crossover', 'ml_classifier']) {
    const config = { strategy, date_range: RANGE };
    const jobs = await Promise.all([bundled, plain].map((each) => each.run(config)));
    const [own, other] = jobs.map(({ result, look_ahead }) => ({ result, findings: look_ahead.findings }));
    expect([jobs[0]!.error, own]).toEqual([null, other]);
  }
  expect([asked, task.file()]).toEqual([3, expect.stringMatching(/backtest\.mjs$/)]);
});

it('the bundled task has a code cache, which a strategy cannot write', async () => {
  expect(await hasTaskCode(bundle)).toBe(true);
  const { error } = await bundled.run({ strategy: 'forges', date_range: RANGE });
  expect(error).toContain('process.getBuiltinModule is not a function');
  expect(await hasTaskCode(bundle)).toBe(true);
});

it('a run of the bundled task with a damaged code cache has the same result', async () => {
  const intact = bundle;
  bundle = `${intact}-damaged`;
  try {
    cpSync(intact, bundle, { recursive: true });
    const code = readFileSync(join(bundle, 'backtest.cache'));
    code[code.length >> 1]! ^= 1;
    writeFileSync(join(bundle, 'backtest.cache'), code);
    expect(await hasTaskCode(bundle)).toBe(false);
    const config = { strategy: 'ema_crossover', date_range: RANGE };
    const jobs = await Promise.all([bundled, plain].map((each) => each.run(config)));
    expect([jobs[0]!.error, jobs[0]!.result]).toEqual([null, jobs[1]!.result]);
  } finally {
    rmSync(bundle, { recursive: true });
    bundle = intact;
  }
});

it('an error in the bundled task names the file and the line of the strategy', async () => {
  const job = await bundled.run({ strategy: 'throws', date_range: RANGE });
  expect(job.error).toBe(
    'Strategy throws failed on BTC/USDT:USDT: indicators() threw: division by the moon (throws.ts:4)',
  );
});
