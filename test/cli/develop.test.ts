import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, expect, it } from 'vitest';
import { runInProcess, runScript } from '../support/command.ts';
import type { TestPlatform } from '../support/platform.ts';
import { platformFixture } from './platform-fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'touchstone-develop-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let platform: TestPlatform;
platformFixture('touchstone-develop-', { strategiesDirectory: folder }, async (started) => {
  platform = started;
});
const environment = { STRATEGIES_DIRECTORY: folder };
const touchstone = (...args: string[]) => runInProcess(platform.home, args, environment);
/** In a process: the script names the program that prints it. */
const completionOf = async (shell: string) =>
  (await runScript(platform.home, 'bin/touchstone.ts', ['completion', shell])).out;

it('new makes a strategy that check certifies, and keeps a file that exists', async () => {
  const { code, out } = await touchstone('new', 'first_steps', '--json');
  const file = join(folder, 'first_steps.ts');
  expect([code, JSON.parse(out)]).toEqual([0, { strategy: 'first_steps', file }]);
  const source = readFileSync(file, 'utf8');
  expect(await touchstone('check', 'first_steps')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/certified/),
  });
  const again = await touchstone('new', 'first_steps');
  expect([again.code, again.err]).toEqual([2, `${file} exists. Choose another name.\n`]);
  expect(readFileSync(file, 'utf8')).toBe(source);
  expect(await touchstone('new', 'ema_crossover')).toMatchObject({ code: 2 });
  expect(await touchstone('new', '../x')).toMatchObject({ code: 2 });
});

it('dev runs a strategy after each save, compares it with the last one and counts different runs', async () => {
  await touchstone('new', 'developed');
  const file = join(folder, 'developed.ts');
  const source = readFileSync(file, 'utf8');
  const range = ['--start', '2024-01-01T00:00:00Z', '--end', '2024-01-21T00:00:00Z'];
  const child = spawn(process.execPath, ['bin/touchstone.ts', 'dev', 'developed', ...range, '--json'], {
    env: { ...environment, TOUCHSTONE_HOME: platform.home, TMPDIR: tmpdir() },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const next = async () => JSON.parse((await lines.next()).value!);
  // In one step, as editors save: a file that is half written is a change of its own.
  const save = (text: string) => {
    writeFileSync(`${file}.tmp`, text);
    renameSync(`${file}.tmp`, file);
  };
  try {
    const first = await next();
    expect(first).toMatchObject({ trials: 1, changes: null });
    save(source.replace('default: 20', 'default: 10'));
    const second = await next();
    expect(second).toMatchObject({
      trials: 2,
      changes: { a: first.job_id, b: second.job_id, settings: [{ name: 'params.fast', a: 20, b: 10 }] },
    });
    save(source.replace('-0.08', '0.08'));
    expect((await next()).error).toMatch(/VAL006.*developed\.ts:\d+: stoploss must be above -1 and below 0/);
    // The run of the first source is no further trial.
    save(source);
    expect(await next()).toMatchObject({ trials: 2, digest: first.digest, changes: { a: second.job_id } });
  } finally {
    child.kill('SIGINT');
  }
  expect(await new Promise((resolve) => child.once('close', resolve))).toBe(0);
}, 60_000);

it('dev escapes control characters of the name in a file', async () => {
  const file = join(folder, 'named.ts');
  writeFileSync(file, "export default defineStrategy({ name: 'named\x1b]0;title\x07\u202e' });");
  const child = spawn(process.execPath, ['bin/touchstone.ts', 'dev', 'named'], {
    env: { ...environment, TOUCHSTONE_HOME: platform.home, TMPDIR: tmpdir() },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const { value } = await createInterface(child.stdout)[Symbol.asyncIterator]().next();
  child.kill('SIGINT');
  await ended;
  rmSync(file);
  expect(value).toContain('for changes of named');
  expect(value).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});

it('data prints what is stored, what is stale, and what a run without collecting lacks', async () => {
  const range = { start: '2024-01-01T00:00:00Z', end: '2024-01-03T00:00:00Z' };
  await platform.run({
    strategy: 'buy_and_hold',
    pairs: ['SOL/USDT:USDT'],
    timeframe: '1h',
    date_range: range,
  });
  const coverage = await touchstone('data', 'coverage', 'SOL/USDT:USDT');
  expect(coverage.out).toMatch(/SOL\/USDT:USDT │ 1h .*2024-01/);
  expect(coverage.out).toMatch(/Source: candles of sim, data folder /);
  const stale = await touchstone('data', 'freshness', 'SOL/USDT:USDT');
  expect(stale.code).toBe(1);
  expect(stale.out).toContain('To collect: npx --no-install touchstone collect SOL/USDT:USDT --timeframe 1h');
  const offline = (...more: string[]) =>
    touchstone('data', 'offline', 'SOL/USDT:USDT', '--timeframe', '1h', '--start', range.start, ...more);
  expect(await offline('--end', range.end)).toMatchObject({ code: 0 });
  // Commands that are printed are for the market that was asked about.
  await platform.run({
    strategy: 'buy_and_hold',
    pairs: ['SOL/USDT'],
    trading_mode: 'spot',
    exchange: 'sim',
    timeframe: '4h',
    date_range: range,
  });
  const options = ['--exchange', 'sim', '--trading-mode', 'spot'];
  const { out } = await touchstone('data', 'freshness', 'SOL/USDT', ...options);
  expect(out).toContain('collect SOL/USDT --exchange sim --trading-mode spot --timeframe 4h\n');
  const covered = await offline('--end', range.end, '--exchange', 'sim');
  expect(covered.out).toContain(
    `backtest <strategy> --offline --exchange sim --pairs SOL/USDT:USDT --timeframe 1h\n`,
  );
  const lacking = await offline('--end', '2024-02-01T00:00:00Z', '--json');
  expect(lacking.code).toBe(1);
  expect(JSON.parse(lacking.out)).toMatchObject({ all_fresh: false, stale_symbols: ['SOL/USDT:USDT'] });
});

it('completion completes commands, options, their values and strategies', async () => {
  const words = async (...typed: string[]) =>
    (await touchstone('__complete', '--', ...typed)).out.trim().split('\n');
  expect(await words('hyper')).toEqual(['hyperopt']);
  const data = ['list', 'show', 'delete', 'rename', 'copy', 'undo', 'coverage', 'freshness', 'offline'];
  expect(await words('data', '')).toEqual([...data, 'collect', 'help']);
  expect(await words('rerun', 'last', '--fill')).toEqual(['--fill-model']);
  expect(await words('backtest', 'x', '--fill-model', '')).toEqual(['freqtrade', 'conservative']);
  expect(await words('backtest', 'x', '--fill-model=c')).toEqual(['--fill-model=conservative']);
  expect(await words('collect', 'BTC/USDT:USDT', '--timeframe', '1')).toEqual(['1m', '15m', '1h', '1d']);
  expect(await words('backtest', 'ema')).toEqual(['ema_crossover']);
  // A shell inserts a name as it is.
  for (const name of ['emacs;touch here;#.ts', 'ema x.ts']) writeFileSync(join(folder, name), '');
  expect(await words('backtest', 'ema')).toEqual(['ema_crossover']);
  expect(await words('diff', 'last', '')).toEqual(['last']);
});

/** Around the script of each shell: commands that print what it completes after `touchstone stra`. */
const SHELLS = {
  bash: ['', `COMP_LINE='touchstone stra'; COMP_POINT=15; _touchstone; echo "\${COMPREPLY[@]}"`],
  // The line editor of zsh needs a terminal: here the function gets its words, and its matches are printed.
  zsh: [
    `compdef() { : }; compadd() { print -l -- "\${(@P)2}" }`,
    'words=(touchstone stra); CURRENT=2; _touchstone',
  ],
  fish: ['', "complete -C 'touchstone stra'"],
} as const;

it.each([
  // Bash has six words here, and replaces those after the last sign.
  ['backtest --pairs BTC/USDT:USDT --param fast=9 ema', 'ema_crossover'],
  ['backtest ema_crossover --fill-model=c', 'conservative'],
  ['--url http://127.0.0.1:1 data co', 'copy coverage collect'],
])('bash completes a line with colons and equals signs: %s', async (typed, expected) => {
  const script = await completionOf('bash');
  const line = `touchstone ${typed}`;
  const { stdout } = spawnSync(
    'bash',
    ['-c', `${script}\nCOMP_LINE='${line}'; COMP_POINT=${line.length}; _touchstone; echo "\${COMPREPLY[*]}"`],
    { encoding: 'utf8' },
  );
  expect(stdout.trim()).toBe(expected);
});

for (const [shell, [before, after]] of Object.entries(SHELLS)) {
  const isMissing = spawnSync(shell, ['--version']).status !== 0;
  if (isMissing) console.warn(`Skipped: completion in ${shell}, which is not installed.`);
  it.skipIf(isMissing)(`the script of ${shell} loads there and completes a command`, async () => {
    const script = await completionOf(shell);
    const { stdout, stderr } = spawnSync(shell, ['-c', [before, script, after].join('\n')], {
      encoding: 'utf8',
    });
    expect([stdout, stderr]).toEqual(['strategies\n', '']);
  });
}
