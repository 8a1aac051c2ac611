import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { platformFixture } from './platform-fixture.ts';

const DOC = readFileSync(new URL('../../docs/signals.md', import.meta.url), 'utf8');
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
  expect((await touchstone('signals', 'delete', id)).out).toBe(`Deleted ${id}\n`);
});

it('file that is not valid is not uploaded', async () => {
  const file = join(folder, 'wrong.csv');
  writeFileSync(file, 'timestamp,pair,enter_lng\n');
  const wrong = await touchstone('backtest', '--signals', file);
  expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('has unknown columns: "enter_lng"')]);
  const both = await touchstone('backtest', 'ema_crossover', '--signals', file);
  expect(both.err).toContain('and not both');
  expect((await touchstone('signals', 'list')).out).toBe('No files of signals.\n');
});
