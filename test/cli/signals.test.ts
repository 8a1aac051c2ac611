import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { parseTradeList } from '../../bin/cli/tradingview.ts';
import { platformFixture } from './platform-fixture.ts';

const DOC = readFileSync(new URL('../../docs/signals.md', import.meta.url), 'utf8');
const [, LIST, VERIFY] = /```csv\n(Trade #[^`]+)```[\s\S]*?touchstone (verify [^\n]+)/.exec(DOC)!;
const [, CSV] = /```csv\n([^`]+)```/.exec(DOC)!;
const [, COMMAND] = /touchstone (backtest --signals [^\n]+)/.exec(DOC)!;

const folder = mkdtempSync(join(tmpdir(), 'touchstone-signals-cli-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const touchstone = platformFixture('touchstone-signals-home-', {}, async () => undefined);

it('example of the page runs from a terminal, and again by the ID of its file', async () => {
  const file = join(folder, 'signals.csv');
  writeFileSync(file, CSV!);
  const args = COMMAND!.replace('signals.csv', file).split(' ');
  const { code, out, err } = await touchstone(...args);
  expect([code, err]).toEqual([0, '']);
  expect(out).toContain('BTC/USDT:USDT, ETH/USDT:USDT on sim');
  expect(out).toMatch(/signals sg-\w{26}\s+\(sha256/);
  expect(out).toContain('not_checked (signals were given)');
  const trades = (await touchstone('trades', 'last', '--csv')).out.trimEnd().split('\r\n').slice(1);
  expect(trades).toHaveLength(2);
  expect(trades[0]).toMatch(/2026-01-05T04:00:00.000Z.*2026-01-06T12:00:00.000Z/);
  expect(trades.join()).toMatch(/breakout.*dip/s);

  const { items } = JSON.parse((await touchstone('signals', 'list', '--json')).out);
  expect(items).toMatchObject([{ name: 'signals.csv', bytes: CSV!.length }]);
  const again = await touchstone('rerun', 'last', '--fee', '0');
  expect([again.code, again.err]).toEqual([0, '']);
  const id = items[0].signals_id;
  expect((await touchstone('signals', 'list')).out).toContain(id);
  // The same bytes are the same file.
  expect((await touchstone('signals', 'upload', file)).out).toBe(`${id}\n`);
  expect((await touchstone('signals', 'delete', id)).out).toBe(`Deleted ${id}\n`);
});

it('file that is not valid is not uploaded', async () => {
  const file = join(folder, 'wrong.csv');
  writeFileSync(file, 'timestamp,pair,enter_lng\n');
  const wrong = await touchstone('backtest', '--signals', file);
  expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('has unknown columns: "enter_lng"')]);
  writeFileSync(file, '');
  expect((await touchstone('signals', 'upload', file)).err).toContain(`${file} is empty`);
  expect((await touchstone('signals', 'upload', folder)).err).toContain('is not a file');
  const both = await touchstone('backtest', 'ema_crossover', '--signals', file);
  expect(both.err).toContain('and not both');
  expect((await touchstone('signals', 'list')).out).toBe('No files of signals.\n');
});

const onBitcoin = (file: string, pair = 'BTC/USDT:USDT') =>
  ['verify', 'tradingview', file, '--pairs', pair, '--timeframe', '1h'] as const;

it('list of trades of TradingView is run, and its differences are printed', async () => {
  const file = join(folder, 'list-of-trades.csv');
  writeFileSync(file, LIST!);
  const args = VERIFY!.replace('list-of-trades.csv', file).split(' ');
  const { code, out, err } = await touchstone(...args);
  expect([code, err]).toEqual([0, '']);
  expect(out).toContain('2 trades in the list, 2 of them in the run; 2 were closed in the same candle');
  expect(out).toMatch(/Profits of 2 trades.*: 1\.00 % in the list, -?[\d.]+ % here/);
  const json = JSON.parse((await touchstone(...args, '--json')).out);
  const [head, ...rows] = (await touchstone('trades', 'last', '--csv')).out.trimEnd().split('\r\n');
  const ours = rows.map((row) => {
    const cells = row.split(',');
    return Object.fromEntries(head!.split(',').map((name, at) => [name, cells[at]!]));
  });
  expect(ours.map(({ opened_at, side }) => [opened_at, side])).toEqual([
    ['2026-01-05T04:00:00.000Z', 'long'],
    ['2026-01-07T00:00:00.000Z', 'short'],
  ]);
  expect(json.trades[0].run.entry_price).toBe(Number(ours[0]!.entry_price));
  // A short that sells below the price of the list is worse.
  expect(json.trades[1].entryBp).toBeCloseTo((1 - Number(ours[1]!.entry_price) / 100) * 10_000, 6);
  const wrong = await touchstone('verify', 'tradingview', file, '--timeframe', '1h');
  // A reversal in one candle, and a trade that is still open at the end of the list.
  const reversed = join(folder, 'reversed.csv');
  const orders = [
    '1,Entry Long,Long,2026-01-05 04:00,110,',
    '1,Exit Long,Short,2026-01-06 12:00,102,2',
    '2,Entry Short,Short,2026-01-06 12:00,102,',
    '2,Exit Short,Open,2026-01-08 12:00,101,1',
  ];
  writeFileSync(reversed, `Trade #,Type,Signal,Date/Time,Price USDT,Profit %\r\n${orders.join('\r\n')}\r\n`);
  const open = await touchstone(...onBitcoin(reversed));
  expect(open.out).toContain('run; 1 was closed in the same candle, 1 is open in both');
  // Sold 100 times better than in the list, which is better by more than the purchase is worse.
  expect(open.out).toMatch(/Entries: -[\d,.]+ bp worse on average, [\d,.]+ bp at most/);
  const valued = JSON.parse((await touchstone(...onBitcoin(reversed), '--json')).out).trades;
  expect(valued[1].run).toMatchObject({ closed_at: '2026-01-08T12:00:00.000Z', left_open: true });
  const spot = await touchstone(...onBitcoin(reversed, 'BTC/USDT'), '--trading-mode', 'spot');
  expect(spot.out).toContain('Not in the run: 2. Spot has no shorts\n');
  expect(wrong.err).toContain('--pairs with one pair');
  // The exit of a candle excludes its entry: the run has no trade, and the list is compared.
  writeFileSync(
    reversed,
    LIST!.replaceAll(/^1,.*\n|2026-01-08 01:00/gm, (found) =>
      found.startsWith('1') ? '' : '2026-01-07 01:00',
    ),
  );
  const short = await touchstone(...args.with(args.indexOf(file), reversed));
  expect([short.code, short.err]).toEqual([0, '']);
  expect(short.out).toContain('1 trade in the list, 0 of them in the run; 0 were closed in the same candle');
  expect(short.out).toContain('Not in the run: 2.');
});

it('a list of trades is read as TradingView writes it, and refused where it is none', () => {
  const HOUR = 3_600_000;
  const read = (...rows: string[]) =>
    parseTradeList(`Trade #,Type,Date/Time,Signal,Price USDT,Profit %\n${rows.join('\n')}\n`, {
      stepMs: HOUR,
      offsetMs: 0,
    });
  const entry = '1,Entry Long,2026-01-05 04:00,Long,"1,098.5",';
  // A trade that is still open may end with a row without time and price; a minus sign may be the typographic one.
  expect(read(entry, '1,Exit Long,,Open,,\u22121.5')).toEqual([
    {
      number: '1',
      side: 'long',
      exit: null,
      profitPct: -1.5,
      entry: { time: Date.parse('2026-01-05T04:00Z'), price: 1_098.5 },
    },
  ]);
  expect(read(entry, '1,Exit Long,2026-01-06 03:30,Open,"1,100",1')).toMatchObject([
    { exit: null, openUntil: Date.parse('2026-01-06T03:00Z') },
  ]);
  expect(() => read(entry, entry)).toThrow('Row 2 is another entry of trade 1');
  expect(() => read(entry, '1,Exit Long,2026-01-05 03:00,Close,1,')).toThrow('Trade 1 ends before it begins');
  expect(() => read(entry, '1,Exit Long,,Close,,')).toThrow('Row 2 is no order of a list of trades');
  // Read as 985, 1.0985, 04:00 and 04:00 of the chart's zone, they would be other orders.
  for (const [time, price] of [
    ['2026-01-05 04:00', '"98,5"'],
    ['2026-01-05 04:00', '"1.098,5"'],
    ['2026-01-05 04:00 PM', '100'],
    ['2026-01-05T04:00:00+02:00', '100'],
  ]) {
    expect(() => read(`1,Entry Long,${time},Long,${price},`), `${time} ${price}`).toThrow(
      'a time such as 2026-01-05 13:00, and a price such as 1,098.5',
    );
  }
  expect(read('1,Entry Long,2026-01-05 04:00:00,Long,"12,345,678",+.5 %')).toMatchObject([
    { entry: { price: 12_345_678 }, profitPct: 0.5 },
  ]);
});

it('trades --groups lists the positions of groups, and the report has a table of them', async () => {
  const file = join(folder, 'groups.csv');
  writeFileSync(file, CSV!);
  const args = COMMAND!.replace('signals.csv', file).split(' ');
  await touchstone(...args);
  expect((await touchstone('trades', 'last', '--groups')).out).toContain('No positions');
  writeFileSync(file, CSV!.replace('breakout', 'spread:a').replace('dip', 'spread:b'));
  await touchstone(...args);
  const positions = await touchstone('trades', 'last', '--groups');
  expect(positions.out).toMatch(
    /│ +1 │ spread │ BTC\/USDT:USDT │ 2026-01-05 04:00 │ 2026-01-06 12:00 │ +1 │/,
  );
  expect(positions.out).toContain('2 of 2 positions');
  const shown = (await touchstone('show', 'last')).out;
  expect(shown).toMatch(/│ Group +│[^\n]*\n[^\n]*\n[^\n]*│ spread/);
  const none = await touchstone('trades', 'last', '--groups', '--group', 'no', '--json');
  expect(JSON.parse(none.out).items).toEqual([]);
  expect((await touchstone('trades', 'last', '--groups', '--csv')).code).toBe(2);
});
