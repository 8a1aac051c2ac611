import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
  waits_for_file: `indicators() {
    const { existsSync, writeFileSync } = (process as any).getBuiltinModule('node:fs');
    writeFileSync(process.env.TMPDIR + '/begun', '');
    while (!existsSync(import.meta.dirname + '/continue')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    return {};
  },`,
  talks: `indicators() { process.send(null); return {}; },`,
};

beforeAll(async () => {
  for (const [name, parts] of Object.entries(HOSTILE))
    writeFileSync(join(folder, `${name}.ts`), source(name, parts));
  writeFileSync(
    join(folder, 'talks_at_once.ts'),
    source('talks_at_once', '', `process.send?.({ codeDigest: 'mine', warnings: 7 });`),
  );
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

/** Process IDs of the platform's trials. */
function trialProcesses(home: string): number[] {
  return readdirSync('/proc')
    .filter((entry) => {
      try {
        const [environment, args] = ['environ', 'cmdline'].map((file) =>
          readFileSync(`/proc/${entry}/${file}`, 'utf8'),
        );
        return environment!.includes(`=${home}/`) && /^[^\0]*node\0.*hyperopt-trial\.ts/.test(args!);
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** True when the strategy has written its file. */
function hasBegun(pid: number): boolean {
  const [, own] = /(?:^|\0)TMPDIR=([^\0]*)/.exec(readFileSync(`/proc/${pid}/environ`, 'utf8')) ?? [];
  return existsSync(join(own!, 'begun'));
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
    ['exits', /^Strategy exits was stopped\. The strategy ended its process in signals of BTC\/USDT:USDT$/],
    ['exits_later', /^Strategy exits_later was stopped\. The strategy ended its process in/],
    ['timer', /^Strategy timer failed in a timer or an unhandled promise: too late \(timer\.ts:\d+\)$/],
    ['promise', /an unhandled promise: late rejection \(promise\.ts:\d+\)$/],
    [
      'long_text',
      /customExit threw for BTC\/USDT:USDT in the candle of \S+Z: x+ \[1999000 characters left out\] x+ \(long_text\.ts:\d+\)$/,
    ],
    [
      'forges',
      /^Strategy forges was stopped\. The strategy sent messages on the worker's channel\. Remove `process\.send`\.$/,
    ],
    [
      'talks',
      /^Strategy talks was stopped\. The strategy sent messages on the worker's channel\. Remove `process\.send`\.$/,
    ],
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

  it('job fails when its strategy sends messages while it loads', async () => {
    const job = await untilEnded(await start('talks_at_once'));
    expect(job).toMatchObject({ status: 'failed', error_code: 'VAL006' });
    expect(job.error).toBe(
      "Strategy talks_at_once was stopped. The strategy sent messages on the worker's channel. Remove `process.send`.",
    );
  });

  it('trial killed from outside runs again within its attempt', async () => {
    const jobId = await start('waits_for_file');
    const pid = await poll(() => trialProcesses(platform.home).find(hasBegun));
    process.kill(pid!, 'SIGKILL');
    writeFileSync(join(folder, 'continue'), '');
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
