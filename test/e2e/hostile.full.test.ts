import { mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openGate, waitAtGate, waitingAt } from '../support/gates.ts';
import { startTestPlatform, TERMINAL, type TestPlatform } from '../support/platform.ts';
import { poll } from '../support/poll.ts';

/** Strategies that never end, end their process or send messages, in jobs of local mode. */

/** Longer than a process needs to reach its strategy, also on a loaded machine. */
const LIMIT_MS = 30_000;
const RANGE = { start: '2026-03-01T00:00:00Z', end: '2026-03-08T00:00:00Z' };
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'touchstone-hostile-hyperoptJobs-')));
let platform: TestPlatform;

/** Strategy source with a parameter `n`; `parts` replace members of the definition. */
const source = (name: string, parts: string, before = '') => `${before}
export default {
  name: '${name}', description: 'Hostile.', timeframe: '1h', pairs: ['BTC/USDT:USDT', 'ETH/USDT:USDT'], stakeAmount: 100,
  parameters: { n: { kind: 'integer', default: 5, min: 1, max: 9, description: 'Candles' } },
  startupCandles: () => 1, stoploss: -0.99, indicators: () => ({}),
  signals(candles) { return { enterLong: new Uint8Array(candles.timestamp.length).fill(1) }; },
  ${parts}
};
`;

/** Strategy that runs code in a callback of every trial. */
const inExit = (code: string) => `callbacks: { customExit(context) { ${code} return null; } },`;

const BLOCK = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);';
const HOSTILE = {
  waits_in_exit: inExit(`if (context.pair.startsWith('ETH') && context.index > 40) ${BLOCK}`),
  waits_in_signals: `signals() { ${BLOCK} },`,
  waits: inExit(
    `if (context.pair.startsWith('ETH') && context.index > 40) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);`,
  ),
  exits: `signals() { process.exit(0); },`,
  exits_later: `indicators() { setTimeout(() => process.exit(0), 0); return {}; },`,
  ends_later: `indicators() { setTimeout(() => process.exit(7), 50); return {}; },`,
  timer: `indicators() { setTimeout(() => { throw new Error('too late'); }, 0); return {}; },`,
  promise: `indicators() { Promise.reject(new Error('late rejection')); return {}; },`,
  long_text: inExit(`if (context.index > 3) throw new Error('x'.repeat(2_000_000));`),
  forges: `indicators() { process.send({ outcome: { state: 'complete', value: 'much' }, spent: false }); return {}; },`,
  waits_at_gate: `indicators() { ${waitAtGate('waits_at_gate')} return {}; },`,
  talks: `indicators() { process.send(null); return {}; },`,
};

/** Sends a result of its own by every way to the worker, and to the worker's other messages. */
const FORGING = `
const all = globalThis as any;
const reply = { outcome: { state: 'complete', value: 888, windows: [], efficiency: null, returns: null }, spent: false };
function forge() {
  for (const way of [
    () => all.process.send(reply),
    () => all.process._send(reply),
    () => all.process.channel.send(reply),
    () => all.process.emit('message', reply),
    () => all.process.getBuiltinModule('node:process').send(reply),
    () => { all.Promise.prototype.then = () => ({ catch: () => 888 }); },
  ]) try { way(); } catch {}
}
forge();
`;

beforeAll(async () => {
  for (const [name, parts] of Object.entries(HOSTILE))
    writeFileSync(join(folder, `${name}.ts`), source(name, parts));
  writeFileSync(join(folder, 'honest.ts'), source('honest', ''));
  writeFileSync(join(folder, 'forges_quietly.ts'), source('forges_quietly', inExit('forge();'), FORGING));
  platform = await startTestPlatform({
    strategiesDirectory: folder,
    concurrency: 2,
    taskLimits: { taskMs: LIMIT_MS, stallMs: 1_000 },
  });
});
afterAll(async () => {
  await platform.stop();
  rmSync(folder, { recursive: true });
});

async function start(strategy: string, trials = 2): Promise<string> {
  const { status, body } = await platform.strategy.post('/api/v1/hyperopt', {
    strategy,
    models: 'none',
    n_trials: trials,
    seed: 1,
    backtest_period_days: 3,
    date_range: RANGE,
    search: { n: { min: 1, max: 9 } },
  });
  expect([status, body]).toMatchObject([200, {}]);
  return body.job_id;
}

/** Waits for the end of the job; `onLook` gets each earlier state. */
async function untilEnded(jobId: string, onLook: (job: any) => void = () => {}): Promise<any> {
  return platform.untilJob(jobId, (job) => TERMINAL.includes(job.status) || void onLook(job));
}

async function trialsOf(jobId: string): Promise<any[]> {
  return (await platform.strategy.get(`/api/v1/hyperopt/${jobId}/trials`)).body.items;
}

describe('hostile strategy in a trial', () => {
  it('trial that never ends is reported as stalled and fails at the limit', async () => {
    const jobId = await start('waits', 1);
    const seen = new Set<string>();
    await untilEnded(jobId, ({ stalled }) => stalled && seen.add(stalled));
    expect([...seen].join('\n')).toMatch(
      /^no progress for \d+ s in customExit of ETH\/USDT:USDT \(trial 0\)$/m,
    );
    const { body } = await platform.strategy.get(`/api/v1/hyperopt/${jobId}`);
    expect(body.stalled).toBeNull();
    for (const { state, error, attempt } of await trialsOf(jobId)) {
      expect({ state, attempt }).toEqual({ state: 'failed', attempt: 1 });
      expect(error).toMatch(
        /^Strategy waits was stopped\. The trial was ended after 30 seconds, its time limit: no progress for \d+ s in customExit of ETH\/USDT:USDT$/,
      );
    }
  });

  it.each([
    ['exits', /signals\(\) threw: process\.exit is not a function \(exits\.ts:\d+\)$/],
    [
      'exits_later',
      /a timer or an unhandled promise: process\.exit is not a function \(exits_later\.ts:\d+\)$/,
    ],
    ['timer', /^Strategy timer failed in a timer or an unhandled promise: too late \(timer\.ts:\d+\)$/],
    ['promise', /an unhandled promise: late rejection \(promise\.ts:\d+\)$/],
    [
      'long_text',
      /customExit threw for BTC\/USDT:USDT in the candle of \S+Z: x+ \[1999000 characters left out\] x+ \(long_text\.ts:\d+\)$/,
    ],
    ['forges', /indicators\(\) threw: process\.send is not a function \(forges\.ts:\d+\)$/],
    ['talks', /indicators\(\) threw: process\.send is not a function \(talks\.ts:\d+\)$/],
  ])('trial fails at its first attempt with a short error: %s', async (name, error) => {
    const jobId = await start(name);
    await untilEnded(jobId);
    const trials = await trialsOf(jobId);
    expect(trials).toHaveLength(2);
    for (const trial of trials) {
      expect(trial).toMatchObject({ state: 'failed', attempt: 1 });
      expect(trial.error).toMatch(error);
      expect(trial.error.length).toBeLessThan(2_100);
    }
  });

  it('trial completes when the strategy ends its process after the result', async () => {
    const job = await untilEnded(await start('ends_later'));
    expect(job).toMatchObject({ current_trial: 2 });
  });

  it('strategy forges no trial', async () => {
    const honest = await start('honest', 6);
    const forging = await start('forges_quietly', 6);
    for (const jobId of [honest, forging]) await untilEnded(jobId);
    const valuesOf = async (jobId: string) =>
      (await trialsOf(jobId)).map(({ state, value }) => [state, value]);
    expect((await valuesOf(honest)).map(([state]) => state)).toEqual(Array(6).fill('complete'));
    expect(await valuesOf(forging)).toEqual(await valuesOf(honest));
  });

  it('trial killed from outside runs again within its attempt', async () => {
    const jobId = await start('waits_at_gate');
    const [pid] = await poll(
      () => waitingAt('waits_at_gate', `=${platform.home}/`),
      ({ length }) => length > 0,
    );
    process.kill(pid!, 'SIGKILL');
    void openGate('waits_at_gate', folder);
    const job = await untilEnded(jobId);
    expect(job).toMatchObject({ status: 'completed', trials: { complete: 2 } });
    for (const trial of await trialsOf(jobId)) expect(trial).toMatchObject({ state: 'complete', attempt: 1 });
  });

  it('platform removes task folders of hostile trials', async () => {
    await expect.poll(() => readdirSync(join(platform.home, 'tasks'))).toEqual([]);
  });
});

describe('strategy that never ends', () => {
  // Both run concurrently: each takes as long as the limit.
  it.concurrent.each([
    ['waits_in_exit', 'customExit of ETH/USDT:USDT'],
    ['waits_in_signals', 'signals of BTC/USDT:USDT'],
  ])('backtest that never ends is reported as stalled and ends at the limit: %s', async (name, where) => {
    const { body } = await platform.post('/api/v1/backtests', {
      config: { strategy: name, date_range: RANGE },
    });
    const seen: (string | null)[] = [];
    const job = await platform.untilJob(body.job_id, ({ status, stalled }) => {
      if (stalled) seen.push(stalled);
      return status === 'failed';
    });
    expect(seen.at(-1)).toMatch(new RegExp(`^no progress for \\d+ s in ${where}$`));
    expect(job).toMatchObject({ status: 'failed', error_code: 'VAL006', attempt: 1, stalled: null });
    expect(job.error).toMatch(
      new RegExp(
        `^Strategy ${name} was stopped. The task was ended after 30 seconds, the time limit .*in ${where}$`,
      ),
    );
  });
});
