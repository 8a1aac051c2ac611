import { describe, expect, it } from 'vitest';
import { welchTest } from '#engine/stats/welch.ts';
import { M, registryFixture } from './registry-fixture.ts';

/** Registry commands in separate processes, on completed backtests. */

const fixture = registryFixture();
const { runs, touchstone } = fixture;

describe('registry commands', () => {
  it('register below a threshold prints the failed thresholds as a table', async () => {
    const { code, out, err } = await touchstone('register', M, '--run', runs[0]!, '--min-sharpe', '99');
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(/Metric +│ +Value +│ +Threshold/);
    expect(err).toMatch(/sharpe_ratio +│ +-?\d+\.\d\d +│ +99\.00/);
  });

  it('register prints the version and the next command', async () => {
    const first = await touchstone(
      'register',
      M,
      '--run',
      runs[0]!,
      '--description',
      'the first try',
      '--tag',
      'slow',
      '--tag',
      'trend',
      '--max-drawdown',
      '90',
    );
    expect(first.err).toBe('');
    expect(first.out).toContain('version 1 of ema_crossover');
    expect(first.out).toContain('npx --no-install touchstone stage ema_crossover 1');
    const second = await touchstone('register', M, '--run', runs[1]!);
    expect([second.code, second.out]).toEqual([0, expect.stringContaining('version 2')]);
  });

  it('stage waits for the checks that run the strategy', async () => {
    const { code, out, err } = await touchstone('stage', M, '1', '--comment', 'looks good');
    expect(err).toBe('');
    for (const check of ['thresholds', 'smoke_run', 'determinism', 'look_ahead']) {
      expect(out).toMatch(new RegExp(`${check} +│ passed`));
    }
    expect([code, out]).toEqual([0, expect.stringContaining('Validation: passed')]);
    const ungated = await touchstone('stage', M, 'latest');
    expect(ungated.out).toContain(
      'Validation: skipped (thresholds); passed: smoke_run, determinism, look_ahead\n',
    );
  });

  it('promote --expect rejects when another version is in Production', async () => {
    const rejected = await touchstone('promote', M, '1', '--expect', '2');
    expect([rejected.code, rejected.err]).toEqual([1, expect.stringContaining('RES005')]);
    const { code, out } = await touchstone('promote', M, '1', '--expect', 'none');
    expect(code).toBe(0);
    expect(out).toMatch(/1 │ Staging │ Production │ - +│ \d{4}-\d\d-\d\d \d\d:\d\d/);
    const next = await touchstone('promote', M, '2', '--expect', '1', '--comment', 'better');
    expect(next.out).toMatch(/2 │ Staging │ Production │ +1 │/);
  });

  it('rollback prints the change', async () => {
    const { code, out } = await touchstone('rollback', M, '1', '--reason', 'losses since');
    expect(code).toBe(0);
    expect(out).toMatch(/ema_crossover │ +2 │ +1 │/);
  });

  it('stop needs a reason and prints the change; rollback returns the stopped version', async () => {
    const refused = await touchstone('stop', M);
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('--reason')]);
    const { code, out } = await touchstone('stop', M, '--reason', 'losses since', '--expect', '1');
    expect(code).toBe(0);
    expect(out).toContain('Version 1 is stopped: no version is in Production.');
    expect(out).toMatch(/ema_crossover │ +1 │ +- +│/);
    const versions = await touchstone('versions', M);
    expect(versions.out).toMatch(/1 +│ Archived \(stopped\) +│/);
    expect((await touchstone('rollback', M, '1', '--expect', 'none')).code).toBe(0);
  });

  it('rollback without a version names it and returns to the one before', async () => {
    const none = await touchstone('rollback', M);
    expect([none.code, none.out]).toEqual([1, '']);
    expect(none.err).toContain('Each earlier version in Production was rolled back or stopped.');
    for (const version of ['3', '4']) {
      await touchstone('register', M, '--run', runs[0]!);
      await touchstone('stage', M, version, '--skip-validation');
      expect((await touchstone('promote', M, version)).code).toBe(0);
    }
    const refused = await touchstone('rollback', M, '--expect', '1');
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('RES005')]);
    const { code, out } = await touchstone('rollback', M, '--reason', 'losses since');
    expect(code).toBe(0);
    expect(out).toContain('Returning to version 3, the last in Production before.');
    expect(out).toMatch(/ema_crossover │ +4 │ +3 │/);
    expect((await touchstone('rollback', M, '1', '--expect', '3')).code).toBe(0);
  });

  it('compare prints the confidence derived from the trades', async () => {
    const { body } = await fixture.platform.get(
      `/api/v1/catalog/strategies/${M}/compare?version_a=1&version_b=2`,
    );
    const [a, b] = await Promise.all(runs.map(statsOfTrades));
    expect(body.sample_sizes).toEqual({ a: a!.n, b: b!.n });
    const { probabilityBLarger: better } = welchTest(a!, b!)!;
    const expected = { PROMOTE: better, REJECT: 1 - better, INCONCLUSIVE: Math.max(better, 1 - better) };
    expect(body.confidence).toBeCloseTo(expected[body.decision as keyof typeof expected], 9);

    const { code, out } = await touchstone('compare', M, 'champion', '2');
    expect(code).toBe(0);
    expect(out).toMatch(/Metric +│ a: version 1 │ b: version 2 │ Improvement/);
    expect(out).toMatch(/sharpe_ratio +│ +-?\d+\.\d\d/);
    expect(out).toContain(`${body.decision}, confidence ${body.confidence.toFixed(2)}`);
    expect(out).toContain(body.recommendation);
    expect(out).not.toMatch(/NaN|undefined|\[object/);
  });
});

/** Count, mean and variance of profit_pct, from every page of the trades of a report. */
async function statsOfTrades(jobId: string) {
  const profits: number[] = [];
  for (let page = 1, pages = 1; page <= pages; page++) {
    const { body } = await fixture.platform.get(`/api/v1/backtests/${jobId}/report-data?page=${page}`);
    profits.push(...body.trades.items.map((trade: { profit_pct: number }) => trade.profit_pct));
    pages = body.trades.pages;
  }
  const mean = profits.reduce((total, each) => total + each, 0) / profits.length;
  const squares = profits.reduce((total, each) => total + (each - mean) ** 2, 0);
  return { n: profits.length, mean, variance: squares / (profits.length - 1) };
}
