import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';
import { runInProcess, runScript } from '../support/command.ts';

/** `touchstone import` in separate processes with piped output. */

const root = mkdtempSync(join(tmpdir(), 'touchstone-import-cli-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const MINUTES_5 = 300_000;
const START = Date.UTC(2023, 0, 1);
const HEADER = 'timestamp_ms,open,high,low,close,volume';
const candle = (row: number, price = 100 + (row % 1_000)) =>
  `${START + row * MINUTES_5},${price},${price + 1},${price - 1},${price},${row}`;

const importInto = (home: string, path: string) => runScript(home, 'bin/touchstone.ts', ['import', path]);

describe('terminal output of an import', () => {
  const home = join(root, 'home');
  const folder = join(root, 'mixed');
  beforeAll(() => {
    mkdirSync(join(folder, 'more'), { recursive: true });
    const put = (name: string, ...lines: string[]) => writeFileSync(join(folder, name), lines.join('\n'));
    put('BTC_USDT_USDT-5m.csv', HEADER, ...[0, 1, 1, 4, 9].map((row) => candle(row)));
    put('more/BTC_USDT_USDT-5m.csv', HEADER, ...[9, 10].map((row) => candle(row)));
    put('more/ETH_USDT_USDT-5m.csv', `${START / 1000},1,1,1,1,1`);
    put('A_USDT_USDT-5m.csv', HEADER, candle(0), `${START},1,0x10,1,1,1`);
    put('B_USDT_USDT-5m.csv');
    put('C_USDT_USDT-5m.csv');
    put('ETH_BTC-5m.csv', HEADER, candle(0));
    put('\u001b[31mnotes.txt', 'x');
  });

  it('import lists files found, imported, missing and skipped', async () => {
    const { out, err, code } = await importInto(home, folder);
    const lines = out.split('\n');
    expect(err).toBe('');
    expect(code).toBe(1);
    expect(lines[0]).toBe(`Found in ${folder}: 8 files`);
    const cells = (line: string) =>
      line
        .split('│')
        .slice(1, -1)
        .map((cell) => cell.trim());
    const [head, ...rows] = lines.filter((line) => /│ Imported|USDT:USDT +│ 5m +│/.test(line)).map(cells);
    expect(head).toEqual([
      'Symbol',
      'Series',
      'Files',
      'Imported',
      'Stored',
      'First (UTC)',
      'Last (UTC)',
      'Gaps',
      'Missing',
      'Closed',
      'Duplicates',
    ]);
    const names = 'A/USDT:USDT, BTC/USDT:USDT, B/USDT:USDT and 2 more';
    expect(lines.filter((line) => /^│ (freqtrade|not rec)/.test(line)).map(cells)).toEqual([
      ['freqtrade', 'candles', 'futures', names, '5m', 'CSV', '6', '0.00'],
      ['freqtrade', 'candles', 'spot', 'ETH/BTC', '5m', 'CSV', '1', '0.00'],
      ['not recognized', 'not for import', '', '', '', '', '1', '0.00'],
    ]);
    expect(rows.filter((row) => row.length === head!.length)).toEqual([
      ['BTC/USDT:USDT', '5m', '2', '6', '5', '2023-01-01 00:00', '2023-01-01 00:50', '2', '6', '0', '1'],
      ['ETH/USDT:USDT', '5m', '1', '1', '1', '2023-01-01 00:00', '2023-01-01 00:00', '0', '0', '0', '0'],
    ]);
    const rejected = lines.slice(lines.findIndex((line) => line.includes('│ Reason')) - 1).slice(0, 9);
    expect(rejected.filter((line) => line.startsWith('│')).map(cells)).toEqual([
      ['Result', 'Reason', 'Files', 'MB', 'Names'],
      ['skipped', 'not a CSV, Feather, JSON or Parquet file', '1', '0.00', '\\u{1b}[31mnotes.txt'],
      [
        'failed',
        'line 3: high is "0x10": expected a number. --skip-invalid',
        '1',
        '0.00',
        'A_USDT_USDT-5m.csv',
      ],
      ['', 'leaves such rows out', '', '', ''],
      ['failed', 'is empty', '2', '0.00', 'B_USDT_USDT-5m.csv'],
      ['', '', '', '', 'C_USDT_USDT-5m.csv'],
    ]);
    expect(
      lines.slice(
        lines.findIndex((line) => line.startsWith('gaps')),
        -1,
      ),
    ).toEqual([
      'gaps: BTC/USDT:USDT 5m, candles missing from: 2023-01-01 00:25 (4), 2023-01-01 00:10 (2)',
      'note: BTC/USDT:USDT 5m: files overlap; rows in several files are from more/BTC_USDT_USDT-5m.csv',
      'missing of all stored: binanceusdm BTC/USDT:USDT 5m: 6 lost',
      'note: more/ETH_USDT_USDT-5m.csv: times are in seconds',
      ...rejected,
      expect.stringMatching(/^4 of 8 files imported as binanceusdm and binance \(spot\) in /),
      // The others have one candle.
      'Next: npx --no-install touchstone backtest buy_and_hold --exchange binanceusdm --pairs BTC/USDT:USDT --timeframe 5m --offline',
    ]);
  });
});

it('one import stores files of several exchanges under each, and prints the exchange of each series', async () => {
  const folder = join(root, 'exchanges');
  for (const exchange of ['bybit', 'okx']) {
    const futures = join(folder, 'data', exchange, 'futures');
    mkdirSync(futures, { recursive: true });
    writeFileSync(
      join(futures, 'BTC_USDT_USDT-5m-futures.csv'),
      [HEADER, candle(0), candle(exchange === 'okx' ? 2 : 1)].join('\n'),
    );
  }
  writeFileSync(join(folder, 'ETH_USDT_USDT-5m.csv'), [HEADER, candle(0)].join('\n'));
  const home = join(root, 'exchanges-home');
  const { out, err, code } = await importInto(home, folder);
  expect([err, code]).toEqual(['', 0]);
  expect(out).toMatch(/│ Exchange +│ Symbol +│/);
  expect(out).toMatch(/│ bybit +│ BTC\/USDT:USDT +│ 5m +│ +1 │ +2 │ +2 │.*│ +0 │ +0 │ +0 │ +0 │/);
  expect(out).toMatch(/│ okx +│ BTC\/USDT:USDT +│ 5m +│ +1 │ +2 │ +2 │.*│ +1 │ +1 │ +0 │ +0 │/);
  expect(out).toContain('gaps: okx BTC/USDT:USDT 5m, candles missing from: 2023-01-01 00:05 (1)');
  expect(out.replaceAll(/[\s│]+/g, ' ')).toContain('names no exchange, and other files name several: bybit,');
  expect(out).toMatch(/2 of 3 files imported as bybit and okx in /);
  expect(out).not.toContain('Next: ');
});

it('a note names a file once, whatever the number of its series', async () => {
  const folder = join(root, 'series');
  mkdirSync(folder);
  const row = (symbol: string) => `${START}000000,33,1,1,1.5,1.5,1.5,1.5,1,${symbol}`;
  const header = 'ts_event,rtype,publisher_id,instrument_id,open,high,low,close,volume,symbol';
  writeFileSync(join(folder, 'bars.csv'), [header, row('A'), row('B')].join('\n'));
  const options = ['--symbols', 'A=A/USD:USD,B=B/USD:USD'];
  const { out } = await runScript(join(root, 'noted'), 'bin/touchstone.ts', ['import', folder, ...options]);
  expect(out).toContain('\nnote: bars.csv: times are in nanoseconds\n1 of 1 file imported');
});

it('import of leverage tiers says that an instrument must be stored first', async () => {
  const file = join(root, 'binance_leverage_tiers.json');
  writeFileSync(file, '{"BTC/USDT:USDT": []}');
  const { out, err, code } = await importInto(join(root, 'tiers'), file);
  expect(code).not.toBe(0);
  expect(out).toBe('');
  expect(err).toContain(
    'No instrument of binanceusdm is stored, and tiers belong to one. Collect the pairs first',
  );
});

describe('the printed command', () => {
  const DAY = 86_400_000;
  const HOUR = 3_600_000;
  const filesOf = (timeframe: Timeframe, rows = 60, offset = 0) => ({
    name: `${rows} candles of ${timeframe}${offset > 0 ? ' that open later' : ''}`,
    step: TIMEFRAME_MS[timeframe],
    offset,
    rows,
  });
  const files = [
    filesOf('3m'),
    filesOf('6h'),
    filesOf('1d', 200, 14.5 * HOUR),
    filesOf('3d', 4),
    filesOf('1w'),
    filesOf('1w', 300, 3 * DAY),
  ];

  it.each(files)('runs on $name', async ({ name, step, offset, rows }) => {
    const folder = join(root, `next ${name}`);
    mkdirSync(folder);
    const begin = Math.floor(Date.UTC(2015, 0, 2) / step) * step + (step === 7 * DAY ? 4 * DAY : 0) + offset;
    const lines = Array.from({ length: rows }, (_, row) => {
      const price = 100 + 5 * Math.sin(row / 3);
      return `${begin + row * step},${price},${price + 1},${price - 1},${price},1`;
    });
    writeFileSync(join(folder, 'prices.csv'), [HEADER, ...lines].join('\n'));
    const home = join(root, `home ${name}`);
    const options = ['--symbols', 'X/USD', '--exchange', 'kraken'];
    const { out } = await runInProcess(home, ['import', folder, ...options]);
    const command = /^Next: npx --no-install touchstone (.*)$/m.exec(out)?.[1];
    expect(command, out).toBeDefined();
    const run = await runInProcess(home, command!.split(' '));
    expect([run.code, run.err], run.out).toEqual([0, '']);
    expect(run.out).toContain('Sharpe');
  });
});
