import { describe, expect, it } from 'vitest';
import { M, releasePolicyFixture } from './release-policy-fixture.ts';

/** Release policy in commands that run in separate processes. */

const touchstone = releasePolicyFixture(async (run) => {
  expect((await touchstone('register', M, '--run', run)).code).toBe(0);
});
const WAIVER = ['--waive', 'min_trades', '--reason', 'it buys and holds'];

describe('release policy in commands', () => {
  it('stage and promote print the checks of a rejection as a table, without JSON', async () => {
    const staged = await touchstone('stage', M, '1');
    expect(staged.code).toBe(1);
    expect(staged.err).toMatch(/^RES005: Version 1 was not staged\. min_trades: 1 trade;/);
    expect(staged.err).toMatch(/backtest +│ passed/);
    expect(staged.err).toMatch(/min_trades +│ failed +│ +1 │ +2 │/);
    // No validation task runs for a version that is not staged.
    expect(staged.err).toMatch(/look_ahead +│ skipped │ .* Runs when the version is staged/);
    const waived = await touchstone('stage', M, '1', ...WAIVER);
    expect(waived.out).toMatch(
      /min_trades +│ waived +│ +1 │ +2 │ 1 trade; at least 2 are required\. Waived by/,
    );
    expect(waived.out).toMatch(/look_ahead +│ passed/);
    expect(waived.code).toBe(0);
    const again = await touchstone('stage', M, '1', ...WAIVER);
    expect(again.out).toMatch(/Warning: waive\.checks: min_trades needed no waiver .* none was recorded/);
    const promoted = await touchstone('promote', M, '1', '--force');
    expect(promoted.code).toBe(1);
    expect(promoted.err).toMatch(/min_trades +│ failed/);
    for (const { err } of [staged, promoted]) expect(err).not.toMatch(/[{}]|undefined|\[object/);
  });

  it('--waive and --reason require each other', async () => {
    const [checks, reason, unknown] = await Promise.all([
      touchstone('promote', M, '1', '--waive', 'min_trades'),
      touchstone('promote', M, '1', '--reason', 'why'),
      touchstone('promote', M, '1', '--waive', 'min_trade', '--reason', 'why'),
    ]);
    expect([checks!.code, checks!.err]).toEqual([2, expect.stringContaining('--waive needs --reason')]);
    expect([reason!.code, reason!.err]).toEqual([2, expect.stringContaining('--reason belongs to --waive')]);
    expect([unknown!.code, unknown!.err]).toEqual([1, expect.stringContaining('VAL005')]);
  });

  it('promote --waive is shown by versions and its history', async () => {
    const { code, out } = await touchstone('promote', M, '1', ...WAIVER, '--challenge', 'ch-01ABC');
    expect([code, out]).toEqual([0, expect.stringContaining('in Production (waived min_trades)')]);
    const [list, history] = await Promise.all([
      touchstone('versions', M),
      touchstone('versions', M, '--history'),
    ]);
    expect(list.out).toContain('waived: min_trades');
    expect(history.out).toMatch(/In Production │ Challenge +│ Reason/);
    expect(history.out).toMatch(
      /promote +│ +1 │ Staging │ Production │ +1 │ ch-01ABC +│ waived min_trades; it buys/,
    );
  });
});
