import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';
import { commandFixture, RAW } from './cli-fixture.ts';

/** Command line in separate processes, with plain output. */

const { home, run, touchstone } = commandFixture();

describe('touchstone without a running platform', () => {
  it('jobs lists the backtest afterwards', async () => {
    const range = ['--start', '2026-03-01', '--end', '2026-03-08'];
    await touchstone('backtest', 'ema_crossover', ...range, '--experiment', 'by hand');
    const { code, out } = await touchstone('jobs', '--experiment', 'by hand');
    expect(code).toBe(0);
    expect(out).toMatch(/bt-[0-9A-Z]{26}.*completed.*ema_crossover.*by hand/);
    expect((await touchstone('jobs', '--status', 'failed')).out).toContain('No backtest passes the filters');
  });

  it('copy of the data folder is a backup: it works elsewhere, without the original', async () => {
    const backup = `${home}-backup`;
    const restored = `${home}-restored`;
    const original = join(home, 'original');
    const inFolder = (folder: string, ...args: string[]) =>
      run('bin/touchstone.ts', args, { TOUCHSTONE_HOME: folder });
    try {
      const range = ['--start', '2026-03-01', '--end', '2026-03-08'];
      const { out } = await inFolder(original, 'backtest', 'ema_crossover', ...range);
      const [id = ''] = /bt-[0-9A-Z]{26}/.exec(out) ?? [];
      // The command of docs/data.md.
      execFileSync('cp', ['-a', original, backup]);
      rmSync(original, { recursive: true });
      renameSync(backup, restored);
      expect((await inFolder(restored, 'jobs')).out).toContain(id);
      // It reads the report of the backtest.
      const registered = await inFolder(restored, 'register', 'ema_crossover', '--run', id);
      expect(registered).toMatchObject({ code: 0, err: '' });
      expect((await inFolder(restored, 'backtest', 'ema_crossover', ...range)).code).toBe(0);
    } finally {
      for (const folder of [backup, restored]) rmSync(folder, { recursive: true, force: true });
    }
  });

  it.each([
    [['backtest', 'ema_crossover', '--timeframe', '3m'], 'VAL003'],
    [['backtest', 'ema_crossover', '--param', 'fast=900'], 'VAL005'],
    [['strategies', 'nothing'], 'RES004'],
  ])('%j exits with 1 and prints the error code', async (args, text) => {
    const { code, err } = await touchstone(...args);
    expect(code).toBe(1);
    expect(err).toContain(text);
    expect(err).not.toMatch(RAW);
  });

  it.each([
    [['backtest', 'ema_crossover', '--stake', 'abc'], 'Pass a number above 0, such as 100, or unlimited.'],
    [['backtest', 'ema_crossover', '--stakes', '5'], 'Did you mean --stake?'],
    [['backtest', 'ema_crossover', '--wallet', '-5'], 'Pass a number above 0, such as 100.'],
    [['backtest', 'ema_crossover', '--priority', '11'], 'Pass an integer from 1 to 10.'],
    [['backtest', 'ema_crossover', '--param', 'fast'], 'Pass name=value, such as fast=10.'],
    [
      ['backtest', 'ema_crossover', '--protection', '{"method":"CooldownPeriod"}'],
      'Pass method,name=value, such as CooldownPeriod,stop_duration=60.',
    ],
    [['backtest', 'ema_crossover', '--config', '/nope.json'], 'File /nope.json does not exist'],
    [['backtest', 'ema_crossover', '--config', 'README.md'], 'README.md is not valid JSON'],
    [['jobs', '--limit', '1000'], 'Pass an integer from 1 to 100.'],
    [['--url', 'http://127.0.0.1:1', 'import', '.'], 'Leave out --url'],
    [['proxy', '{'], 'The event is not JSON'],
  ])('%j exits with 2 and prints the correct usage', async (args, text) => {
    const { code, err } = await touchstone(...args);
    expect([code, err]).toEqual([2, expect.stringContaining(text)]);
    expect(err).not.toMatch(RAW);
  });

  it('empty environment variable counts as absent; an invalid one prints the valid values', async () => {
    const empty = { BACKEND_PORT: '', DEFAULT_EXCHANGE: '', LOG_LEVEL: '' };
    expect(await run('bin/touchstone.ts', ['strategies'], empty)).toMatchObject({ code: 0, err: '' });
    const { code, err } = await run('bin/touchstone.ts', ['strategies'], { BACKEND_PORT: 'abc' });
    expect([code, err]).toEqual([
      1,
      expect.stringContaining('BACKEND_PORT is malformed: must be an integer'),
    ]);
  });

  it.each([
    ['package.json', 'package.json cannot be created: it is a file. Choose another with TOUCHSTONE_HOME.'],
    ['package.json/x', 'package.json/x cannot be created: a part of its path is a file.'],
    // Node's recursive mkdir does not terminate for this path.
    ['/proc/x/y', '/proc/x/y cannot be created: folders cannot be created there.'],
    ['/proc', 'The data folder /proc cannot be written to: unable to open database file.'],
  ])('data folder at %s prints why it cannot be used', async (folder, text) => {
    const { code, err } = await run('bin/local.ts', [], { TOUCHSTONE_HOME: folder });
    expect([code, err]).toEqual([1, expect.stringContaining(text)]);
    expect(err).not.toMatch(RAW);
  });

  it('commands at once, of which each would start a platform, all succeed', async () => {
    const home = mkdtempSync(join(tmpdir(), 'touchstone-at-once-'));
    const at = () => run('bin/touchstone.ts', ['strategies', '--json'], { TOUCHSTONE_HOME: home });
    const ended = await Promise.all([at(), at(), at()]);
    expect(ended.map(({ code, err }) => [code, err])).toEqual(Array(3).fill([0, '']));
    rmSync(home, { recursive: true });
  });

  it('npm start names the option and the variable of a port that is in use', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const flags = ['--home', join(home, 'other'), '--backend-port', '0', '--data-collection-port', '0'];
    const { code, err } = await run('bin/local.ts', [...flags, '--strategy-port', String(port)]);
    taken.close();
    expect(code).toBe(1);
    expect(err).toMatch(
      new RegExp(
        `^Port ${port} of the Touchstone strategy service is in use.* --strategy-port \\d+, or STRATEGY_PORT=`,
      ),
    );
  });

  it('npm start -- --help prints the options and starts nothing', async () => {
    const { code, out, err } = await run('bin/local.ts', ['--help'], { TOUCHSTONE_HOME: '/proc' });
    expect([code, err]).toEqual([0, '']);
    for (const text of ['--auth', '--backend-port', 'BACKEND_PORT', '--home']) expect(out).toContain(text);
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
      /Found in .*: 3 files[\s\S]*│ candles .*│ CSV +│ +2[\s\S]*│ not for import .*│ +1 /,
    );
    expect(imported.out).toMatch(/SINE\/USDT:USDT.*1h.*2,000.*2026-01-01 00:00/);
    expect(imported.out).toMatch(/│ failed .*│ BAD_USDT_USDT-1h\.csv/);
    expect(imported.out).toMatch(/│ skipped .*│ notes\.txt/);
    expect(imported.out).toContain('1 of 3 files imported as binanceusdm');
    expect(imported.code).toBe(1);
    const { code, out } = await touchstone(
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
    );
    expect(out).toContain('SINE/USDT:USDT on binanceusdm');
    expect(code).toBe(0);
  });

  it('import rejects --exchange sim', async () => {
    const { code, err } = await touchstone('import', folder, '--exchange', 'sim');
    expect([code, err]).toEqual([1, expect.stringContaining('simulated')]);
  });

  it('import reads a data folder of freqtrade for the exchange in its name', async () => {
    const data = join(home, 'user_data/data/bybit');
    const futures = join(data, 'futures');
    mkdirSync(futures, { recursive: true });
    const fixtures = join(import.meta.dirname, '../adapters/fixtures/import');
    const start = Date.UTC(2025, 2, 1);
    const hour = 3_600_000;
    const json = (name: string, rows: unknown) =>
      writeFileSync(
        join(futures, name),
        name.endsWith('.gz') ? gzipSync(JSON.stringify(rows)) : JSON.stringify(rows),
      );
    copyFileSync(join(fixtures, 'lz4.feather'), join(futures, 'BTC_USDT_USDT-5m-futures.feather'));
    copyFileSync(join(fixtures, 'zstd.feather'), join(futures, 'ETH_USDT-5m-futures.feather'));
    copyFileSync(join(fixtures, 'snappy.parquet'), join(futures, 'SOL_USDT_USDT-5m-futures.parquet'));
    json('BTC_USDT_USDT-1h-funding_rate.json', [[start + 17, 0.0001, 0, 0, 0, 0]]);
    json('BTC_USDT_USDT-1h-mark.json.gz', [[start, 100, 101, 99, 100, null]]);
    json(
      'XRP_USDT_USDT-1h-futures.json.gz',
      [0, 3, 1, 1, 20].map((i) => [start + i * hour, 1, 2, 0.5, 1.5, 9]),
    );
    for (const name of ['BTC_USDT_USDT-45m-futures', 'BTC_USDT_USDT-8h-index', 'BTC_USDT_USDT-trades']) {
      writeFileSync(join(futures, `${name}.feather`), '');
    }
    copyFileSync(join(fixtures, 'lz4.feather'), join(data, 'BTC-5m.feather'));
    writeFileSync(join(futures, 'BTC_USDT_USDT-\u001b[2J-1h-futures.feather'), '');

    const { code, out } = await touchstone('import', data);
    const lines = out.split('\n');
    expect(lines[0]).toContain('Found in ');
    for (const row of [
      /freqtrade +│ candles .*BTC\/USDT:USDT, ETH\/USDT:USDT │ 5m +│ Feather │ +2 /,
      /freqtrade +│ candles .*XRP\/USDT:USDT +│ 1h +│ JSON +│ +1 /,
      /freqtrade +│ candles .*SOL\/USDT:USDT +│ 5m +│ Parquet │ +1 /,
      /freqtrade +│ funding rates .*│ JSON +│ +1 /,
      /freqtrade +│ mark prices .*│ JSON +│ +1 /,
      /freqtrade +│ not for import .*│ +4 /,
      /Candles +│ series named in the rows .*│ BTC +│ 5m +│ Feather +│ +1 /,
      /BTC\/USDT:USDT │ 5m +│ +1 │ +200 │ +200 │ 2025-03-01 00:00 │ 2025-03-01 16:35 │ +0 │ +0 │ +0 │/,
      /BTC\/USDT:USDT │ funding │ +1 │ +1 │/,
      /ETH\/USDT:USDT │ 5m +│ +1 │ +200 │/,
      /SOL\/USDT:USDT │ 5m +│ +1 │ +200 │/,
      /XRP\/USDT:USDT │ 1h +│ +1 │ +4 │ +4 │ 2025-03-01 00:00 │ 2025-03-01 20:00 │ +2 │ +17 │ +0 │ +1 │/,
      /^note: futures\/XRP_USDT_USDT-1h-futures.json.gz: rows were not in time order: sorted$/,
      /skipped │ the file does not say whether BTC is spot.*│ BTC-5m.feather/,
      /skipped │ timeframe 45m is not one of .*│ futures\/BTC_USDT_USDT-45m-futures.feather/,
      /skipped │ candles of type index.*│ futures\/BTC_USDT_USDT-8h-index.feather/,
      /skipped │ trades; .*│ futures\/BTC_USDT_USDT-trades.feather/,
      /skipped │ .*│ futures\/BTC_USDT_USDT-\\u\{1b\}\[2J-1h-futures.feather/,
      /^5 of 10 files imported as bybit in /,
    ]) {
      expect(lines).toContainEqual(expect.stringMatching(row));
    }
    expect(out).not.toContain('failed');
    expect(out).not.toContain('\u001b');
    expect(code).toBe(0);
  });

  it('import prints why it stored no file', async () => {
    const empty = join(home, 'empty');
    mkdirSync(empty);
    const nothing = await touchstone('import', empty);
    expect([nothing.code, nothing.out]).toEqual([1, expect.stringContaining(': 0 files')]);
    const absent = await touchstone('import', join(home, 'absent'));
    expect([absent.code, absent.err]).toEqual([1, expect.stringContaining('absent does not exist')]);
  });
});

describe('touchstone with a running platform', () => {
  let platform: TestPlatform;
  beforeAll(async () => {
    // Left by a platform that was killed.
    writeFileSync(join(home, 'platform.json'), '{}', { mode: 0o644 });
    platform = await startTestPlatform({ home });
  });
  afterAll(() => platform.stop());

  it('commands use the running platform', async () => {
    const file = join(home, 'platform.json');
    // It names the address of the database.
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const info = JSON.parse(readFileSync(file, 'utf8'));
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
    const without = await touchstone('strategies', 'buy_and_hold');
    expect(without.out).toMatch(/\nParameters: none\n$/);
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

  it('error prints what its message does not state; --verbose adds the whole context as lines', async () => {
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

it('command ends without an error when the reader of its output closes the pipe', async () => {
  const child = spawn(process.execPath, ['bin/touchstone.ts', 'strategies'], {
    env: { TOUCHSTONE_HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.destroy();
  let err = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const [code] = await once(child, 'close');
  expect([code, err]).toEqual([0, '']);
});
