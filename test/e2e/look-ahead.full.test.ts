import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { CAUSAL } from '../engine/look-ahead/causal-strategies.ts';
import { LEAKS } from '../engine/look-ahead/leaking-strategies.ts';
import { runScript } from '../support/command.ts';
import { check, stagingFixture } from './staging-checks-fixture.ts';

const fixture = stagingFixture();
const ENGINE_TESTS = join(import.meta.dirname, '../engine/look-ahead');
const home = mkdtempSync(join(tmpdir(), 'touchstone-look-ahead-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

mkdirSync(join(fixture.strategies, 'shared'));
for (const file of ['leaking-strategies.ts', 'causal-strategies.ts', 'crossing-fixture.ts'])
  copyFileSync(join(ENGINE_TESTS, file), join(fixture.strategies, 'shared', file));

/** Strategy files of a table of definitions: the strategy's name by what it does. */
function filesOf(prefix: string, table: string, file: string, does: readonly string[]) {
  return does.map((each, index) => {
    const name = `${prefix}_${index}`;
    writeFileSync(
      join(fixture.strategies, `${name}.ts`),
      `import { ${table} } from './shared/${file}';\n` +
        `export default { ...${table}[${JSON.stringify(each)}](), name: '${name}' };\n`,
    );
    return [each, name] as const;
  });
}

const leaks = filesOf('leak', 'LEAKS', 'leaking-strategies.ts', [
  'close averaged over five rows before and after',
  'backfilled values of every sixth row',
  'the next close',
  'the largest close of the whole series',
  'a z-score by the mean of the whole series',
  'close kept in indicators, read at the forming candle',
  'the largest close of indicators in a module variable',
  'a 4h candle joined by its open time',
]);
const clean = filesOf('clean', 'CAUSAL', 'causal-strategies.ts', Object.keys(CAUSAL));

it('the tables have what is run here', () => {
  expect(Object.keys(LEAKS)).toEqual(expect.arrayContaining(leaks.map(([does]) => does)));
  expect(clean.length).toBeGreaterThanOrEqual(12);
});

/** A backtest of two years at 1h with four pairs. */
async function backtest(strategy: string) {
  const job = await fixture.platform.run({
    strategy,
    pairs: ['BTC/USDT:USDT', 'ETH/USDT:USDT', 'SOL/USDT:USDT', 'BNB/USDT:USDT'],
    timeframe: '1h',
    date_range: { start: '2023-01-01', end: '2025-01-01' },
    max_open_trades: 4,
    dry_run_wallet: 10_000,
    stake_amount: 100,
  });
  expect(job.status, job.error).toBe('completed');
  return job;
}

const checked = (strategy: string) =>
  runScript(home, 'bin/touchstone.ts', ['check', strategy], { STRATEGIES_DIRECTORY: fixture.strategies });

async function staged(strategy: string) {
  const version = await fixture.register(strategy);
  await fixture.stage(strategy, version);
  return check(await fixture.platform.validated(strategy, version), 'look_ahead');
}

describe('strategies that use candles before they are known', () => {
  it.each(leaks)('backtest finds %s', async (_, strategy) => {
    const { look_ahead: found, warnings } = await backtest(strategy);
    expect(found.state, found.message).toBe('found');
    expect(found.findings[0]).toMatch(/^look_ahead: /);
    expect(warnings[0]).toMatch(/^LOOK-AHEAD BIAS: /);
  });
  it.each(leaks)('check finds %s', async (_, strategy) => {
    const { code, err } = await checked(strategy);
    expect([code, err]).toEqual([1, expect.stringMatching(/^look-ahead: /)]);
  });
  it.each(leaks)('the staging check finds %s', async (_, strategy) => {
    expect(await staged(strategy)).toMatchObject({
      status: 'failed',
      value: 'found',
      message: expect.stringMatching(/^look_ahead: /),
    });
  });
});

describe('strategies that use the past only', () => {
  it.each(clean)('backtest accuses no %s', async (_, strategy) => {
    const { look_ahead: searched } = await backtest(strategy);
    expect(searched).toMatchObject({ state: 'sampled', findings: [] });
  });
  it.each(clean)('check accuses no %s', async (_, strategy) => {
    const { code, err } = await checked(strategy);
    expect([code, err]).toEqual([0, '']);
  });
  it.each(clean)('the staging check accuses no %s', async (_, strategy) => {
    expect(await staged(strategy)).toMatchObject({ status: 'passed', value: 'certified' });
  });
});
