import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  HYPEROPT_REQUEST,
  MARKET,
  readOutcome,
  reproducible,
  runHyperopt,
  startHyperopt,
  workerProcesses,
} from '../support/hyperopt-jobs.ts';
import { startTestPlatform, TERMINAL, type TestPlatform } from '../support/platform.ts';

/** Hyperopt jobs whose workers or platform are killed during trials. */

let platform: TestPlatform;
let one: ReturnType<typeof reproducible>;
beforeAll(async () => {
  platform = await startTestPlatform();
  one = reproducible(await runHyperopt(platform, HYPEROPT_REQUEST));
});
afterAll(() => platform.stop());

describe('reproducibility with several workers', () => {
  it('2 workers give the same trials and result', async () => {
    const jobId = await startHyperopt(platform, { ...HYPEROPT_REQUEST, workers: 2 });
    await platform.until(jobId, ...TERMINAL);
    expect(reproducible(await readOutcome(platform, jobId))).toEqual(one);
  });

  it('4 workers share the trials and give the same result', async () => {
    const jobId = await startHyperopt(platform, { ...HYPEROPT_REQUEST, workers: 4 });
    const stopped = new Set<number>();
    const send = (signal: 'SIGSTOP' | 'SIGCONT', pid: number) => {
      process.kill(pid, signal);
      if (signal === 'SIGSTOP') stopped.add(pid);
      else stopped.delete(pid);
    };
    try {
      await platform.untilJob(jobId, () => {
        for (const pid of workerProcesses(jobId)) if (!stopped.has(pid)) send('SIGSTOP', pid);
        return stopped.size === 4;
      });
      // One after the other ends a trial while all others are stopped: sharing does not depend on the speed of their starts.
      for (const [done, pid] of [...stopped].slice(0, 2).entries()) {
        send('SIGCONT', pid);
        const ended = async () =>
          (await readOutcome(platform, jobId)).trials.filter((trial) => trial.finished_at);
        await expect
          .poll(async () => new Set((await ended()).map(({ worker }) => worker)).size)
          .toBeGreaterThan(done);
        send('SIGSTOP', pid);
      }
    } finally {
      for (const pid of [...stopped]) send('SIGCONT', pid);
    }
    await platform.until(jobId, ...TERMINAL);
    const { trials, result } = await readOutcome(platform, jobId);
    expect(reproducible({ trials, result })).toEqual(one);
    expect(new Set(trials.map(({ worker }) => worker)).size).toBeGreaterThan(1);
  });

  // An execution starts a worker four times; more kills require another execution.
  it.each([
    [2, 3],
    [1, 5],
  ])('%i workers give the same trials and result when one is killed %i times', async (workers, kills) => {
    const jobId = await startHyperopt(platform, { ...HYPEROPT_REQUEST, workers });
    let killed = 0;
    let killedAt = 0;
    await platform.untilJob(jobId, (job) => {
      const [pid] = job.current_trial > killedAt && killed < kills ? workerProcesses(jobId) : [];
      if (pid) {
        process.kill(pid, 'SIGKILL');
        killed++;
        killedAt = job.current_trial;
      }
      return TERMINAL.includes(job.status);
    });
    expect(killed).toBe(kills);
    expect(reproducible(await readOutcome(platform, jobId))).toEqual(one);
  });
});

describe('searches on permuted candles', () => {
  it('a job whose worker is killed keeps its ended searches and has the same p-value', async () => {
    const request = { ...MARKET, models: 'none', n_trials: 10, permutations: 25, workers: 1 };
    const { result } = await runHyperopt(platform, request);
    const jobId = await startHyperopt(platform, request);
    let killed = 0;
    let counted = 0;
    await platform.untilJob(jobId, (job) => {
      // A lost worker never takes an ended search back.
      expect(job.permutations.ended).toBeGreaterThanOrEqual(counted);
      const isNew = job.permutations.ended > counted;
      counted = job.permutations.ended;
      const [pid] = isNew && killed < 2 ? workerProcesses(jobId) : [];
      if (pid) {
        process.kill(pid, 'SIGKILL');
        killed++;
      }
      return TERMINAL.includes(job.status);
    });
    expect(killed).toBe(2);
    expect(counted).toBe(25);
    const again = await readOutcome(platform, jobId);
    expect(again.result.permutations).toEqual(result.permutations);
    expect(result.permutations.searches).toBe(25);
  });
});

describe('failed hyperopt job', () => {
  it('job fails with the reason when all trials fail', async () => {
    const jobId = await startHyperopt(platform, {
      ...HYPEROPT_REQUEST,
      strategy: 'buy_and_hold',
      objective_metric: 'sqn',
      n_trials: 3,
    });
    const job = await platform.until(jobId, ...TERMINAL);
    expect(job).toMatchObject({ status: 'failed', error_code: 'OPT002', trials: { failed: 3 } });
    expect(job.error).toMatch(/^All 3 trials failed\. Each: sqn is undefined/);
    const { status, body } = await platform.strategy.get(`/api/v1/hyperopt/${jobId}/result`);
    expect(status).toBe(409);
    expect(body.detail.message).toContain('All 3 trials failed');
  });

  it('job without candles fails as a backtest does', async () => {
    const jobId = await startHyperopt(platform, {
      ...HYPEROPT_REQUEST,
      pairs: ['NOPE/USDT:USDT'],
      n_trials: 3,
    });
    const job = await platform.until(jobId, ...TERMINAL);
    expect(job).toMatchObject({ status: 'failed', error_code: 'DATA003' });
  });
});

describe('platform restart', () => {
  it('restarted platform resumes its hyperopt jobs', async () => {
    const home = mkdtempSync(join(tmpdir(), 'touchstone-hyperopt-'));
    const first = await startTestPlatform({ home });
    const jobId = await startHyperopt(first, HYPEROPT_REQUEST);
    await first.untilJob(jobId, ({ current_trial }) => current_trial >= 3);
    await first.stop();
    const second = await startTestPlatform({ home });
    try {
      const job = await second.until(jobId, ...TERMINAL);
      expect(job.status).toBe('completed');
      expect(reproducible(await readOutcome(second, jobId))).toEqual(one);
    } finally {
      await second.stop();
      rmSync(home, { recursive: true, force: true });
    }
  });
});
