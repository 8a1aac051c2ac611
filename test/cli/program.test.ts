import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { expect, it } from 'vitest';
import { createProgram, FAMILIES } from '../../bin/cli/program.ts';
import { runScript } from '../support/command.ts';

it('each family of commands defines exactly the commands that it names', async () => {
  for (const family of FAMILIES) {
    const { commands } = await createProgram([family]);
    expect(commands.map((command) => command.name())).toEqual(family.commands);
  }
});

it('each command prints JSON on request, and each option of a command has a description', async () => {
  const program = await createProgram(FAMILIES);
  const leaves = (command: Command): Command[] =>
    command.commands.length > 0 ? command.commands.flatMap(leaves) : [command];
  for (const command of leaves(program)) {
    if (command.name() === '__complete') continue;
    const options = command.options.filter(({ hidden }) => !hidden);
    expect(
      options.map(({ long }) => long),
      command.name(),
    ).toContain('--json');
    for (const { long, description } of options)
      expect(description, `${command.name()} ${long}`).not.toBe('');
  }
});

it('with --json a wrong argument is reported as JSON', async () => {
  const home = mkdtempSync(join(tmpdir(), 'touchstone-usage-'));
  const touchstone = (...args: string[]) => runScript(home, 'bin/touchstone.ts', args);
  try {
    const { code, out, err } = await touchstone('backtest', 'any', '--fee', 'much', '--json');
    expect([code, out]).toEqual([2, '']);
    expect(JSON.parse(err)).toEqual({
      error: { message: expect.stringMatching(/^option '--fee <ratio>' argument 'much' is invalid\. Pass/) },
    });
    const plain = await touchstone('show');
    expect([plain.code, plain.err]).toEqual([2, expect.stringMatching(/^error: missing .*'id'\nRun touch/)]);
  } finally {
    rmSync(home, { recursive: true });
  }
});

it('an unknown command is an error with --help too', async () => {
  const home = mkdtempSync(join(tmpdir(), 'touchstone-unknown-'));
  try {
    for (const words of [['nonsense'], ['challenge', 'nonsense']]) {
      const { code, out, err } = await runScript(home, 'bin/touchstone.ts', [...words, '--help']);
      expect([code, out]).toEqual([2, '']);
      expect(err).toContain("error: unknown command 'nonsense'");
    }
    const help = await runScript(home, 'bin/touchstone.ts', ['help', 'nonsense']);
    expect([help.code, help.err]).toEqual([2, expect.stringContaining("unknown command 'nonsense'")]);
    const { code, out } = await runScript(home, 'bin/touchstone.ts', ['challenge', '--help']);
    expect([code, out]).toEqual([0, expect.stringContaining('Usage: touchstone challenge')]);
  } finally {
    rmSync(home, { recursive: true });
  }
});

it.each(['platform', 'touchstone', 'operator', 'service', 'canary', 'erased-0123456789abcdef', ''])(
  'erase-user refuses the name %j, which is no user',
  async (name) => {
    const program = await createProgram(FAMILIES);
    program.exitOverride();
    await expect(program.parseAsync(['node', 'touchstone', 'erase-user', name, '--dry-run'])).rejects.toThrow(
      'or a name of the platform itself: pass the sub',
    );
  },
);

it('rerun keeps the settings of the earlier run, so its help states no defaults for them', async () => {
  const program = await createProgram(FAMILIES);
  const help = (name: string) => program.commands.find((each) => each.name() === name)!.helpInformation();
  expect(help('backtest')).toMatch(/starting balance \(default: 1000\)/);
  expect(help('rerun')).toMatch(/starting balance$/m);
  expect(help('rerun').match(/\(default:/g)).toHaveLength(1);
});

it('start rejects one port for two services', async () => {
  const home = mkdtempSync(join(tmpdir(), 'touchstone-ports-'));
  try {
    const ports = ['--backend-port', '9', '--strategy-port', '9'];
    const { code, err } = await runScript(home, 'bin/touchstone.ts', ['start', ...ports]);
    expect([code, err]).toEqual([2, expect.stringMatching(/^Port 9 .* --strategy-port or STRATEGY_PORT; 0/)]);
  } finally {
    rmSync(home, { recursive: true });
  }
});

it('command loads neither schemas, SDKs nor the engine before its first request', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-start-'));
  const list = join(folder, 'loaded');
  const hook = `import { registerHooks } from 'node:module';
    import { appendFileSync } from 'node:fs';
    registerHooks({ load(url, context, next) { appendFileSync(${JSON.stringify(list)}, url + '\\n'); return next(url, context); } });`;
  try {
    const { code } = await runScript(folder, 'bin/touchstone.ts', ['jobs', '--url', 'http://127.0.0.1:1'], {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hook)}`,
    });
    expect(code).toBe(1);
    const loaded = readFileSync(list, 'utf8');
    expect(loaded).toContain('/bin/cli/backtest.ts');
    expect(loaded).not.toMatch(
      /node_modules\/(zod|@aws-sdk|@smithy)\/|\/src\/(domain|engine|adapters\/(?!package-folder\.))|cli\/registry/,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
