import { tmpdir } from 'node:os';
import { beforeAll, describe, expect, it } from 'vitest';
import { runScript } from '../support/command.ts';
import { M, registryFixture } from './registry-fixture.ts';

/** Variations of registry commands in separate processes, on completed backtests. */

const fixture = registryFixture();
const { runs, touchstone } = fixture;

/** Runs a command and expects exit code 0. */
async function expectDone(...args: string[]) {
  const { code, err } = await touchstone(...args);
  expect([args, code, err]).toEqual([args, 0, expect.any(String)]);
}

it('each registry command has help', async () => {
  const names = ['register', 'stage', 'promote', 'rollback', 'versions', 'compare'];
  const responses = await Promise.all(
    names.map((name) => runScript(tmpdir(), 'bin/touchstone.ts', [name, '--help'])),
  );
  for (const [index, name] of names.entries()) {
    const { code, out } = responses[index]!;
    expect([code, out]).toEqual([0, expect.stringMatching(new RegExp(`Usage: touchstone ${name} .*<`))]);
  }
});

describe('registry commands', () => {
  beforeAll(async () => {
    await expectDone(
      'register',
      M,
      '--run',
      runs[0]!,
      '--description',
      'the first try',
      '--max-drawdown',
      '90',
    );
    await expectDone('register', M, '--run', runs[1]!);
  });

  it('stage --dry-run prints the checks and stages nothing', async () => {
    const { code, out } = await touchstone('stage', M, '1', '--dry-run');
    expect(code).toBe(0);
    expect(out).toMatch(/backtest +│ passed/);
    expect(out).toMatch(/smoke_run +│ skipped/);
    expect((await touchstone('versions', M)).out).toMatch(/│ +1 │ None/);
  });

  describe('after a rollback', () => {
    beforeAll(async () => {
      await expectDone('stage', M, '1', '--comment', 'looks good');
      await expectDone('stage', M, 'latest', '--skip-validation');
      await expectDone('promote', M, '1', '--expect', 'none');
      await expectDone('promote', M, '2', '--expect', '1', '--comment', 'better');
      await expectDone('rollback', M, '1', '--reason', 'losses since');
    });

    it('versions lists versions and history', async () => {
      const [{ out }, current, { out: history }] = await Promise.all([
        touchstone('versions', M),
        touchstone('versions', M, '--no-archived'),
        touchstone('versions', M, '--history'),
      ]);
      expect(out).toMatch(/2 latest +│ Archived \(rolled back\)/);
      expect(out).toMatch(/1 champion +│ Production +│ sim +│ passed .* the first try/);
      expect(current.out).not.toContain('latest');
      expect(current.out).toContain('champion');
      expect(history).toMatch(/anonymous +│ rollback +│ +1 │ Archived │ Production │ +1 │ - +│ losses since/);
      expect(history).toMatch(/anonymous +│ stage +│ +1 │ None +│ Staging .*looks good/);
      for (const text of [out, history]) expect(text).not.toMatch(/NaN|undefined|\[object/);
    });

    it('backtest --model-version runs a registered version', async () => {
      const range = ['--start', '2026-01-10', '--end', '2026-01-20'];
      const run = await touchstone('backtest', M, '--model-version', 'latest', ...range);
      expect([run.code, run.out]).toEqual([0, expect.stringContaining('Registered with image touchstone:')]);
      const unknown = await touchstone('backtest', M, '--model-version', '7');
      expect(unknown.code).toBe(1);
      expect(unknown.err.split('\n').slice(0, 4)).toEqual([
        'RES003: Model version not found',
        'model_name: ema_crossover',
        'version: 7',
        'latest_version: 2',
      ]);
    });

    it('errors print the cause without a stack trace', async () => {
      const rejected: [args: string[], code: number, text: string][] = [
        [['promote', M, '7'], 1, 'RES003'],
        [['stage', M, '2'], 1, 'RES006'],
        [['compare', M, '1', '1'], 1, 'VAL005'],
        [['versions', 'nothing'], 1, 'RES002'],
        [['register', 'nothing', '--run', 'bt-1'], 1, 'RES002'],
        [['register', M], 2, '--run'],
        [['register', M, '--run', 'bt-1', '--min-sharpe', 'high'], 2, 'Pass a number'],
        [['--url', 'http://127.0.0.1:9', 'register', M, '--run', 'bt-1'], 2, '--strategy-url'],
      ];
      const responses = await Promise.all(rejected.map(([args]) => touchstone(...args)));
      for (const [index, [args, code, text]] of rejected.entries()) {
        const { err } = responses[index]!;
        expect([args, responses[index]!.code, err]).toEqual([args, code, expect.stringContaining(text)]);
        expect(err).not.toMatch(/ at .*\.ts:\d+/);
      }
    });

    it('--url and --strategy-url select services', async () => {
      const { backend_url, strategy_service_url } = fixture.platform.info;
      expect((await touchstone('--url', backend_url, 'versions', M)).out).toContain('champion');
      const registered = await touchstone(
        '--url',
        backend_url,
        '--strategy-url',
        strategy_service_url,
        'register',
        M,
        '--run',
        runs[0]!,
      );
      expect(registered.out).toContain('version 3');
    });
  });
});
