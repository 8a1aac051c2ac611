import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runScript } from '../support/command.ts';
import { poll } from '../support/poll.ts';
import { ciFixture, crossing, pullRequest, SHORT } from './ci-fixture.ts';

const helper = (period: number) => `export const PERIOD = ${period};\n`;
const withHelper = crossing('uses_helper', 20).replace('sma(close, 20)', 'sma(close, PERIOD)');
const importing = `import { PERIOD } from './shared/periods.ts';\n${withHelper}`;

/** A folder with the strategies `uses_helper` and `on_main`, not committed. */
function folder() {
  const fixture = ciFixture();
  const { write, ci } = fixture;
  write('touchstone.config.json', { ci: SHORT });
  write('strategies/shared/periods.ts', helper(20));
  write('strategies/uses_helper.ts', importing);
  write('strategies/on_main.ts', crossing('on_main'));
  const report = async (args: readonly string[] = [], environment: Readonly<Record<string, string>> = {}) => {
    const { code, out, err } = await ci(['--json', ...args], environment);
    expect(out, err).not.toBe('');
    return { code, ...JSON.parse(out) };
  };
  return { ...fixture, report };
}

describe('touchstone ci', () => {
  it('first commit has certificates and results without a base', async () => {
    const { outside, commit, report } = folder();
    const before = await report();
    expect(before).toMatchObject({ code: 0, base: null, head: null });
    expect(before.strategies.map(({ change }: any) => change)).toEqual(['new', 'new']);
    const first = commit();
    writeFileSync(join(outside, 'push.json'), JSON.stringify({ before: '0'.repeat(40) }));
    const pushed = await report([], { GITHUB_EVENT_PATH: join(outside, 'push.json') });
    expect(pushed).toMatchObject({ code: 0, base: null, head: first });
    expect(pushed.strategies[0]).toMatchObject({ certificate: { state: 'certified' }, comparison: null });
  });

  it('a changed helper changes the strategies that may import it, and a push compares with the commit before it', async () => {
    const { outside, write, commit, report } = folder();
    const before = commit();
    write('strategies/shared/periods.ts', helper(30));
    commit();
    writeFileSync(join(outside, 'push.json'), JSON.stringify({ before }));
    const { code, base, strategies } = await report([], { GITHUB_EVENT_PATH: join(outside, 'push.json') });
    expect([code, base.commit]).toEqual([0, before]);
    expect(strategies).toMatchObject([
      { strategy: 'on_main', comparison: { same_result: true } },
      { strategy: 'uses_helper', change: 'changed', comparison: { same_result: false, candles: 'same' } },
    ]);
    // A comment changes the source and nothing else.
    write('strategies/shared/periods.ts', `${helper(30)}// As in the book.\n`);
    const commented = await report();
    expect(commented.strategies[1]).toMatchObject({
      change: 'changed',
      comparison: { same_result: true, trades: { only_base: 0, only_head: 0 } },
    });
  });

  it('base is the last common commit, not the newest one of the branch', async () => {
    const { outside, git, write, commit, report } = folder();
    const common = commit();
    git('checkout', '-q', '-b', 'feature');
    write('strategies/added.ts', crossing('added'));
    commit();
    git('checkout', '-q', 'main');
    write('strategies/on_main.ts', crossing('on_main', 30));
    const main = commit();
    git('checkout', '-q', 'feature');
    const event = pullRequest(join(outside, 'event.json'), main, 'http://127.0.0.1:1');
    const names = (strategies: any[]) => strategies.map((each) => [each.strategy, each.change]);
    const { base, strategies } = await report([], event);
    expect([base, names(strategies)]).toEqual([{ commit: common, name: 'main' }, [['added', 'new']]]);
    // GitHub's merge has a newer commit of the base than the event.
    git('merge', '-q', '-m', 'Merge', 'main');
    git('update-ref', 'refs/remotes/origin/main', main);
    const stale = pullRequest(join(outside, 'event.json'), common, 'http://127.0.0.1:1');
    const merged = await report([], stale);
    expect([merged.base.commit, names(merged.strategies)]).toEqual([main, [['added', 'new']]]);
  });

  it('changed settings run every strategy and are shown, and a missed guardrail fails', async () => {
    const { write, commit, ci, report } = folder();
    commit();
    write('touchstone.config.json', {
      ci: { ...SHORT, guardrails: { minTrades: 100_000, maxDrawdown: 99 } },
    });
    const { code, out } = await ci();
    expect(code).toBe(1);
    expect(out).toMatch(/^FAILED uses_helper: source unchanged, run with the changed settings$/m);
    expect(out).toMatch(/^ {2}Failure: Guardrail: \d+ trades; at least 100000 are required$/m);
    expect(out).toMatch(/^Warning: The settings `ci` changed: \{"config":.* before, .*"minTrades":100000/m);
    write('touchstone.config.json', { ci: { ...SHORT, failOnWorse: true } });
    commit();
    // Its losses per trade are the fees, so more trades are worse.
    write('strategies/on_main.ts', crossing('on_main', 5));
    const worse = await report(['--base', 'HEAD']);
    expect(worse.code).toBe(1);
    expect(worse.strategies[0].failures.join()).toMatch(
      /Compared with the base, its drawdown is [\d.]+ % larger/,
    );
  });

  it('a strategy that trades other pairs, or never, is not compared or not certified', async () => {
    const { write, commit, report } = folder();
    commit();
    const source = crossing('on_main');
    write('strategies/on_main.ts', source.replace('BTC/USDT:USDT', 'ETH/USDT:USDT'));
    const other = await report(['--base', 'HEAD']);
    expect(other.strategies[0]).toMatchObject({
      comparison: { candles: 'different', confidence: null, guardrails: [] },
      warnings: expect.arrayContaining([expect.stringContaining('read different candles')]),
    });
    write(
      'strategies/on_main.ts',
      source.replace('crossedAbove(close, average)', 'crossedAbove(close, 1e12)'),
    );
    const never = await report(['--base', 'HEAD']);
    expect(never).toMatchObject({ code: 1, strategies: [{ certificate: { state: 'not_checked' } }] });
  });

  it('stored candles are read without a trace in the data folder', async () => {
    const { root, outside, write, commit, report } = folder();
    const home = join(root, '.touchstone');
    mkdirSync(join(outside, 'candles'));
    const rows = Array.from({ length: 60 * 24 }, (_, i) => {
      const price = 100 + 10 * Math.sin(i / 9);
      return [Date.UTC(2024, 10, 1) + i * 3_600_000, price, price + 1, price - 1, price + 0.5, 10].join();
    });
    const csv = `timestamp_ms,open,high,low,close,volume\n${rows.join('\n')}\n`;
    writeFileSync(join(outside, 'candles/BTC_USDT_USDT-1h.csv'), csv);
    const touchstone = (...args: string[]) => runScript(home, 'bin/touchstone.ts', args);
    const imported = await touchstone('import', join(outside, 'candles'), '--exchange', 'binanceusdm');
    expect(imported.code, imported.err).toBe(0);
    const start = { start: '2024-11-05T00:00:00.000Z', end: '2024-12-20T00:00:00.000Z' };
    write('touchstone.config.json', { ci: { config: { exchange: 'binanceusdm', date_range: start } } });
    commit();
    const files = () => readdirSync(home, { recursive: true }).sort();
    const before = files();
    write('strategies/on_main.ts', crossing('on_main', 30));
    const { code, strategies } = await report(['--base', 'HEAD']);
    expect(code, JSON.stringify(strategies[0].failures)).toBe(0);
    expect(strategies[0]).toMatchObject({
      certificate: { state: 'certified' },
      head: { config: { exchange: 'binanceusdm', date_range: start } },
      comparison: { candles: 'same' },
    });
    expect(files()).toEqual(before);
    expect(JSON.parse((await touchstone('jobs', '--json')).out).items).toEqual([]);
  });

  it('stored candles that are missing fail the strategy, and name what is missing', async () => {
    const { write, commit, ci } = folder();
    commit();
    write('touchstone.config.json', { ci: { config: { ...SHORT.config, exchange: 'binanceusdm' } } });
    const { code, out, err } = await ci();
    expect([code, err]).toEqual([1, '']);
    expect(out).toMatch(
      /Failure: Backtest failed: No 1h candles of BTC\/USDT:USDT on binanceusdm are stored/,
    );
  });

  it('a signal leaves neither a temporary folder nor a copy of the candles', async () => {
    const { root, outside, write } = folder();
    write('touchstone.config.json', { ci: { config: { ...SHORT.config, exchange: 'binanceusdm' } } });
    const child = spawn(process.execPath, ['bin/touchstone.ts', 'ci'], {
      env: {
        PATH: process.env.PATH,
        HOME: root,
        TMPDIR: outside,
        STRATEGIES_DIRECTORY: join(root, 'strategies'),
        TOUCHSTONE_HOME: join(root, '.touchstone'),
      },
      stdio: 'ignore',
    });
    const ended = once(child, 'exit');
    const copies = () => readdirSync(join(root, '.touchstone')).filter((name) => name.startsWith('ci-'));
    await poll(() => existsSync(join(root, '.touchstone')) && copies().length > 0);
    expect(readdirSync(outside)).toEqual([expect.stringMatching(/^touchstone-ci-/)]);
    child.kill('SIGINT');
    expect(await ended).toEqual([130, null]);
    expect([copies(), readdirSync(outside)]).toEqual([[], []]);
  });

  it('a shallow clone names the setting of the checkout', async () => {
    const { root, outside, git, write, commit, ci } = folder();
    commit();
    write('strategies/on_main.ts', crossing('on_main', 30));
    commit();
    const shallow = join(outside, 'shallow');
    git('clone', '-q', '--depth', '1', `file://${root}`, shallow);
    const event = pullRequest(join(outside, 'event.json'), git('rev-parse', 'HEAD~1'), 'http://127.0.0.1:1');
    const { code, err } = await ci([], { ...event, STRATEGIES_DIRECTORY: join(shallow, 'strategies') });
    expect([code, err]).toEqual([2, expect.stringContaining('fetch-depth: 0 of actions/checkout')]);
  });
});
