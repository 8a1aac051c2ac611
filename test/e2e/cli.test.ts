import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runScript } from '../support/command.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

/** Command line in separate processes, with plain output. */

const home = mkdtempSync(join(tmpdir(), 'touchstone-cli-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const run = (
  script: string,
  args: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
) => runScript(home, script, args, environment);

/** Stack traces and Node's system error codes, which messages must not contain. */
const RAW = / at .*\.ts:\d+|ENOENT|EEXIST|ENOTDIR|EACCES/;

const touchstone = (...args: string[]) => run('bin/touchstone.ts', args);

describe('touchstone without a running platform', () => {
  it('backtest runs on candles of sim and prints the result', async () => {
    const { code, out, err } = await touchstone(
      ...['backtest', 'ema_crossover', '--pairs', 'BTC/USDT:USDT,ETH/USDT:USDT', '--timeframe', '1h'],
      ...['--start', '2026-03-01', '--end', '2026-04-01', '--param', 'fast=10', '--experiment', 'by hand'],
    );
    expect(err).not.toMatch(/Error/);
    expect(code).toBe(0);
    expect(out).toMatch(/Submitted bt-[0-9A-Z]{26}/);
    expect(out).toContain(
      'BTC/USDT:USDT, ETH/USDT:USDT on sim, 1h, 2026-03-01 00:00 to 2026-04-01 00:00 UTC',
    );
    for (const label of [
      'Total profit',
      'Sharpe ratio (daily equity)',
      'Max drawdown',
      'Win rate',
      'TOTAL',
      '┤',
    ]) {
      expect(out).toContain(label);
    }
    expect(out).not.toMatch(/NaN|undefined|\[object/);
  });

  it('jobs lists the backtest afterwards', async () => {
    const { code, out } = await touchstone('jobs', '--experiment', 'by hand');
    expect(code).toBe(0);
    expect(out).toMatch(/bt-[0-9A-Z]{26}.*completed.*ema_crossover.*by hand/);
    expect((await touchstone('jobs', '--status', 'failed')).out).toContain('No backtests');
  });

  it.each([
    [['fly'], 'unknown command'],
    [['backtest', 'ema_crossover', '--stake', 'abc'], 'Pass a number above 0, such as 100, or unlimited.'],
    [['backtest', 'ema_crossover', '--stak', '5'], 'Did you mean --stake?'],
  ])('%j exits with 2 and prints the correct usage', async (args, text) => {
    const { code, err } = await touchstone(...args);
    expect([code, err]).toEqual([2, expect.stringContaining(text)]);
    expect(err).not.toMatch(RAW);
  });

  it.each([
    ['package.json', 'package.json cannot be created: it is a file. Choose another with TOUCHSTONE_HOME.'],
  ])('data folder at %s prints why it cannot be used', async (folder, text) => {
    const { code, err } = await run('bin/local.ts', [], { TOUCHSTONE_HOME: folder });
    expect([code, err]).toEqual([1, expect.stringContaining(text)]);
    expect(err).not.toMatch(RAW);
  });

  it('--help and --version exit with 0', async () => {
    expect(await touchstone('--help')).toMatchObject({ code: 0, err: '' });
    expect((await touchstone('--version')).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe('touchstone import', () => {
  const folder = join(home, 'candles');
  beforeAll(() => {
    mkdirSync(folder, { recursive: true });
    const start = Date.UTC(2026, 0, 1);
    const rows = Array.from({ length: 2_000 }, (_, i) => {
      const price = 100 + 10 * Math.sin(i / 40);
      return `${start + i * 3_600_000},${price},${price + 1},${price - 1},${price + 0.5},10`;
    });
    writeFileSync(
      join(folder, 'SINE_USDT_USDT-1h.csv'),
      `timestamp_ms,open,high,low,close,volume\n${rows.join('\n')}\n`,
    );
    writeFileSync(
      join(folder, 'BAD_USDT_USDT-1h.csv'),
      'timestamp_ms,open,high,low,close,volume\n1,2,1,3,2,1\n',
    );
    writeFileSync(join(folder, 'notes.txt'), 'nothing');
  });

  it('import stores valid files, lists the others, and a backtest runs on the candles', async () => {
    const imported = await touchstone('import', folder);
    expect(imported.out).toMatch(
      /Found in .*: 3 files[\s\S]*candles +│ CSV +│ +2[\s\S]*not for import +│ +│ +1/,
    );
    expect(imported.out).toMatch(/SINE\/USDT:USDT.*1h.*2,000.*2026-01-01 00:00/);
    expect(imported.out).toMatch(/failed: .*BAD_USDT_USDT-1h\.csv/);
    expect(imported.out).toMatch(/skipped: .*notes\.txt/);
    expect(imported.out).toContain('1 of 3 files imported as binanceusdm');
    expect(imported.code).toBe(1);
    const { code, out } = await touchstone(
      ...[
        'backtest',
        'rsi_mean_reversion',
        '--exchange',
        'binanceusdm',
        '--pairs',
        'SINE/USDT:USDT',
        '--timeframe',
        '1h',
        // Within the imported candles including startup: no request to an exchange.
        '--start',
        '2026-02-20',
        '--end',
        '2026-03-20',
      ],
    );
    expect(out).toContain('SINE/USDT:USDT on binanceusdm');
    expect(code).toBe(0);
  });

  it('import rejects --exchange sim', async () => {
    const { code, err } = await touchstone('import', folder, '--exchange', 'sim');
    expect([code, err]).toEqual([1, expect.stringContaining('simulated')]);
  });
});

describe('touchstone with a running platform', () => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await startTestPlatform({ home });
  });
  afterAll(() => platform.stop());

  it('commands use the running platform', async () => {
    const info = JSON.parse(readFileSync(join(home, 'platform.json'), 'utf8'));
    expect(info.backend_url).toBe(platform.info.backend_url);
    const { out } = await touchstone(
      'backtest',
      'buy_and_hold',
      '--no-wait',
      '--start',
      '2026-03-01',
      '--end',
      '2026-03-05',
    );
    const id = /bt-[0-9A-Z]{26}/.exec(out)![0];
    expect(await platform.until(id, 'completed')).toBeTruthy();
  });

  it('strategies lists all strategies and prints one with its parameters', async () => {
    expect((await touchstone('strategies')).out).toMatch(
      /supertrend.*\n?.*macd_momentum|macd_momentum[\s\S]*supertrend/,
    );
    const { out } = await touchstone('strategies', 'ema_crossover');
    expect(out).toMatch(/fast +│ +20/);
  });

  it.each([[['backtest', 'get_rich'], 'RES002']])(
    '%j exits with 1 and prints the error code',
    async (args, text) => {
      const { code, err } = await touchstone(...args);
      expect(code).toBe(1);
      expect(err).toContain(text);
      expect(err).not.toMatch(RAW);
    },
  );

  it('--url selects another platform', async () => {
    const { code, out } = await touchstone('--url', platform.info.backend_url, 'jobs');
    expect([code, out]).toEqual([0, expect.stringContaining('buy_and_hold')]);
  });

  it('error prints its message and correlation ID; --verbose adds the context as lines', async () => {
    const args = ['backtest', 'ema_crossover', '--param', 'fast=900'];
    const [plain, verbose] = await Promise.all([touchstone(...args), touchstone(...args, '--verbose')]);
    expect(plain.err).toMatch(/^VAL005: .*fast.*\nCorrelation ID: [0-9a-f-]{36}\n$/);
    const lines = verbose.err.trimEnd().split('\n');
    expect(lines.length).toBeGreaterThan(2);
    for (const line of lines.slice(1)) expect(line).toMatch(/^[\w .]+: [^{]*$/);
    expect(lines.at(-1)).toMatch(/^Correlation ID: /);
  });

  it('error of a command with --json is one line of JSON', async () => {
    const { code, out, err } = await touchstone('hyperopt', 'status', 'ho-none', '--json');
    expect([code, out]).toEqual([1, '']);
    expect(JSON.parse(err).error).toMatchObject({
      message: expect.stringContaining('OPT001'),
      correlation_id: expect.any(String),
    });
  });
});

it('address without a service prints how to start one', async () => {
  const { code, err } = await touchstone('--url', 'http://127.0.0.1:9', 'jobs');
  expect([code, err]).toEqual([1, expect.stringContaining('No response from http://127.0.0.1:9')]);
});

it('npm run demo prints a backtest from request to report', async () => {
  const { code, out } = await run('bin/demo.ts');
  expect(code).toBe(0);
  for (const text of ['POST http', 'Total profit', 'TOTAL', '/docs', 'Done in']) expect(out).toContain(text);
});
