import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestPlatform, TERMINAL, type TestPlatform } from '../support/platform.ts';
import { poll } from '../support/poll.ts';
import { isAlive } from '../support/processes.ts';
import { MisbehavingStrategies } from '../support/strategies.ts';

const RANGE = { start: '2026-03-01T00:00:00Z', end: '2026-03-08T00:00:00Z' };
const config = (strategy: string) => ({ strategy, date_range: RANGE });

describe('killed task', () => {
  const strategies = new MisbehavingStrategies();
  let platform: TestPlatform;
  beforeAll(async () => {
    strategies.addGated('dies_always');
    platform = await startTestPlatform({ strategiesDirectory: strategies.folder });
  });
  afterAll(async () => {
    await platform.stop();
    rmSync(strategies.folder, { recursive: true });
  });

  it('task killed on every attempt fails with a message', async () => {
    const { body } = await platform.post('/api/v1/backtests', { config: config('dies_always') });
    const killing = setInterval(() => {
      for (const pid of strategies.begun('dies_always', platform.home))
        if (isAlive(pid)) process.kill(pid, 'SIGKILL');
    }, 20);
    const job = await platform.until(body.job_id, 'failed').finally(() => clearInterval(killing));
    expect(job).toMatchObject({ status: 'failed', error_code: 'SVC001' });
    expect(job.error).toMatch(/failed .* on every attempt/);
  });
});

describe('killed platform', () => {
  const strategies = new MisbehavingStrategies();
  const home = mkdtempSync(join(tmpdir(), 'touchstone-killed-'));
  afterAll(() => {
    rmSync(home, { recursive: true, force: true });
    rmSync(strategies.folder, { recursive: true });
  });

  /** Platform in a separate process that can be killed. */
  async function startProcess(): Promise<{ child: ChildProcess; url: string }> {
    const child = spawn(process.execPath, ['bin/local.ts'], {
      env: {
        TOUCHSTONE_HOME: home,
        BACKEND_PORT: '0',
        DATA_COLLECTION_PORT: '0',
        STRATEGY_PORT: '0',
        STRATEGIES_DIRECTORY: strategies.folder,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    const url = (await poll(
      () => /backend +(http:\S+)\/docs/.exec(output)?.[1],
      Boolean,
      'platform started',
    ))!;
    return { child, url };
  }

  it('jobs of a killed platform finish after the next start, each with one writer', async () => {
    strategies.addGated('survives');
    const first = await startProcess();
    const ids: string[] = [];
    for (let i = 0; i < 4; i++) {
      const response = await fetch(`${first.url}/api/v1/backtests`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ config: config('survives') }),
      });
      ids.push(((await response.json()) as any).job_id);
    }
    await poll(() => strategies.begun('survives', home).length > 0, Boolean, 'a task begun');
    const orphans = strategies.begun('survives', home);
    first.child.kill('SIGKILL');
    await poll(() => orphans.every((pid) => !isAlive(pid)), Boolean, 'no task outlives its platform');

    const second = await startTestPlatform({ home, strategiesDirectory: strategies.folder });
    strategies.open('survives');
    for (const id of ids) {
      const job = await second.until(id, ...TERMINAL);
      expect(job).toMatchObject({ status: 'completed', error: null });
      expect(job.attempt).toBeGreaterThanOrEqual(1);
    }
    await second.stop();
  });
});
