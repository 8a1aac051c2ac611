import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { startTestPlatform } from '../support/platform.ts';
import { hostileFixture, RANGE } from './hostile-strategies-fixture.ts';

/** Strategies that read other files or end their process, in local mode. */

const fixture = hostileFixture(
  {
    long_text: "'x'.repeat(2_000_000)",
    controls: "new Error('\\u0000\\u001b[2J\\ud800 end')",
  },
  (strategy) => {
    strategy('pries', `indicators() { throw new Error(JSON.stringify(pry())); },`, PRYING);
    strategy('promise', "indicators() { Promise.reject(new Error('late rejection')); return {}; },");
    strategy(
      'blames_system',
      "indicators() { Promise.reject(Object.assign(new Error('late rejection'), { errno: 1, $metadata: {} })); return {}; },",
    );
    strategy('patches_views', PATCHING_VIEWS);
    strategy('ends_itself', 'indicators() { process.exit(0); },');
    strategy('honest', '');
    strategy('patches', '', PATCHING);
  },
);

/** Strategy that reports what it finds. */
const PRYING = `
function pry() {
  const own = (globalThis as any).process;
  return { globals: Object.getOwnPropertyNames(globalThis), process: Object.keys(own), environment: Object.keys(own.env) };
}`;

/** Replaces methods of the objects that callbacks get. */
const PATCHING_VIEWS = `callbacks: { customExit(context, trade) {
  for (const object of [context, trade, context.state, trade.data]) {
    const prototype = Object.getPrototypeOf(object);
    for (const name of Reflect.ownKeys(prototype)) {
      try { Object.defineProperty(prototype, name, { value: () => 888 }); } catch { continue; }
      throw new Error('replaced ' + String(name));
    }
    try { prototype.kept = 1; } catch { continue; }
    throw new Error('kept');
  }
  return null;
} },`;

/** Replaces functions of the engine's realm, as far as it can. */
const PATCHING = `
const all = globalThis as any;
const { sqrt, max } = Math;
for (const patch of [
  () => { all.Math.sqrt = (value: number) => 3 * sqrt(value); },
  () => { all.Math.max = (...values: number[]) => max(...values) / 2; },
  () => { all.Math = { ...all.Math, sqrt: () => 888 }; },
  () => { all.Promise.prototype.then = () => 888; },
  () => { all.Array.prototype.reduce = () => 888; },
  () => { all.Float64Array.prototype.fill = function () { return this; }; },
  () => { all.JSON.stringify = () => '{}'; },
  () => { all.Number.isFinite = () => false; },
  () => { all.Date.parse = () => 0; },
]) try { patch(); } catch {}
`;

describe('hostile strategy', () => {
  it('strategy finds no variable, no module of Node and no network', async () => {
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
    const job = await fixture.platform.run({ strategy: 'pries', date_range: RANGE });
    expect(job.error).toMatch(/\{.*\}/);
    const found = JSON.parse(/\{.*\}/.exec(job.error)![0]);
    expect(found).toMatchObject({ process: ['env', 'version', 'platform'], environment: [] });
    const ways = [
      'fetch',
      'WebSocket',
      'EventSource',
      'BroadcastChannel',
      'MessageChannel',
      'Worker',
      'navigator',
    ];
    expect(ways.filter((name) => found.globals.includes(name))).toEqual([]);
  });

  it('strategy cannot end its process', async () => {
    const job = await fixture.platform.run({ strategy: 'ends_itself', date_range: RANGE });
    expect(job).toMatchObject({ status: 'failed', error_code: 'VAL006', attempt: 1 });
    expect(job.error).toMatch(
      /indicators\(\) threw: process\.exit is not a function \(ends_itself\.ts:\d+\)$/,
    );
  });

  it('strategy that replaces what JavaScript computes with changes no metric', async () => {
    const [honest, patched] = await Promise.all(
      ['honest', 'patches'].map((strategy) => fixture.platform.run({ strategy, date_range: RANGE })),
    );
    expect(honest!.result.total_trades).toBeGreaterThan(0);
    expect(patched).toMatchObject({ status: 'completed', result: honest!.result });
  });

  it('strategy cannot change the classes of the objects that its callbacks get', async () => {
    const job = await fixture.platform.run({ strategy: 'patches_views', date_range: RANGE });
    expect(job).toMatchObject({ status: 'completed' });
    expect(job.result.total_trades).toBeGreaterThan(0);
  });

  it.each([
    [
      'blames_system',
      /^Strategy blames_system failed in a timer or an unhandled promise: late rejection \(blames_system\.ts:\d+\)$/,
    ],
    [
      'throws_long_text',
      /^Strategy throws_long_text failed during the simulation: customExit threw for BTC\/USDT:USDT in the candle of 2026-\S+Z: x+ \[1999000 characters left out\] x+$/,
    ],
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the thrown text has control characters
    ['throws_controls', /: \u0000\u001b\[2J\ufffd end \(throws_controls\.ts:\d+\)$/],
    [
      'promise',
      /^Strategy promise failed in a timer or an unhandled promise: late rejection \(promise\.ts:\d+\)$/,
    ],
  ])('backtest fails at the first attempt with a short error: %s', async (name, error) => {
    const job = await fixture.platform.run({ strategy: name, date_range: RANGE });
    expect(job).toMatchObject({ status: 'failed', error_code: 'VAL006', attempt: 1 });
    expect(job.error).toMatch(error);
    expect(job.error.length).toBeLessThan(2_100);
  });

  it('platform removes task folders of hostile strategies', async () => {
    await expect.poll(() => readdirSync(join(fixture.platform.home, 'tasks'))).toEqual([]);
  });
});

it('platform start removes task folders of a killed platform', async () => {
  const home = mkdtempSync(join(tmpdir(), 'touchstone-left-'));
  mkdirSync(join(home, 'tasks/local-left/deep'), { recursive: true });
  const next = await startTestPlatform({ home });
  expect(readdirSync(home)).not.toContain('tasks');
  await next.stop();
  rmSync(home, { recursive: true });
});
