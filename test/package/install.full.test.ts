import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect } from '../cli/mcp-fixture.ts';

/**
 * Packs the repository, installs the package into an empty folder outside of it, and uses it there. npm downloads the dependencies, as
 * `npm ci` does. Where Linux lets this user mount, the repository is hidden from every command: nothing in the package may need it.
 */

const ROOT = resolve(import.meta.dirname, '../..');
const MAX_MB = 250;
/** Not /dev/shm: the packages of a deployment take several hundred megabytes. */
const work = mkdtempSync(join(existsSync('/var/tmp') ? '/var/tmp' : tmpdir(), 'touchstone-package-'));
const folder = join(work, 'strategies-of-mine');
const bin = join(work, 'bin');
const PATH = [bin, process.env.PATH!.split(delimiter).filter((each) => !each.startsWith(ROOT))]
  .flat()
  .join(delimiter);
const { HOME = work } = process.env;
/** Settings without which npm reaches no registry on a machine behind a proxy or with its own certificates. */
const NPM = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name, value]) =>
      value &&
      /^(npm_config_(registry|userconfig|cafile)|node_extra_ca_certs|ssl_cert_(file|dir)|(https?|no)_proxy)$/i.test(
        name,
      ),
  ),
);
const environment = { ...NPM, HOME, PATH, NO_COLOR: '1', CDK_DISABLE_CLI_TELEMETRY: '1' };

/** Prefix of a command for which the repository is an empty folder; empty where mounting is not allowed. */
const HIDDEN = [
  'unshare',
  '--user',
  '--map-root-user',
  '--mount',
  'sh',
  '-c',
  `mount -t tmpfs none '${ROOT}' && exec "$0" "$@"`,
];
const canHide = spawnSync(HIDDEN[0]!, [...HIDDEN.slice(1), 'true']).status === 0;
const hidden = canHide ? HIDDEN : [];

function run(command: string, args: readonly string[], { hide = true, env = {}, cwd = folder } = {}) {
  const [program, ...rest] = [...(hide ? hidden : []), command, ...args] as [string, ...string[]];
  const { status, stdout, stderr, error } = spawnSync(program, rest, {
    cwd,
    env: { ...environment, ...env } as NodeJS.ProcessEnv,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (error) throw error;
  return { status, stdout, stderr, output: `${stdout}${stderr}` };
}

const touchstone = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  run('npx', ['--no-install', 'touchstone', ...args], { env });

/** As `run`, while this process serves what the command calls: it reads the output of a platform, for example. */
async function runInTime(command: string, args: readonly string[], env: Readonly<Record<string, string>>) {
  const [program, ...rest] = [...hidden, command, ...args] as [string, ...string[]];
  const child = spawn(program, rest, { cwd: folder, env: { ...environment, ...env } as NodeJS.ProcessEnv });
  const [stdout, stderr, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  return { status, stdout, output: `${stdout}${stderr}` };
}

/** Starts the platform of the package for a while. */
async function withPlatform(work: (url: string) => Promise<void>): Promise<void> {
  const ports = ['--backend-port', '0', '--strategy-port', '0', '--data-collection-port', '0'];
  const [program, ...rest] = [...hidden, 'npx', '--no-install', 'touchstone', 'start', ...ports];
  const platform = spawn(program!, rest, {
    cwd: folder,
    env: environment as NodeJS.ProcessEnv,
    detached: true,
  });
  try {
    let url = '';
    for await (const line of createInterface({ input: platform.stdout })) {
      url = /dashboard +(\S+)/.exec(line)?.[1] ?? '';
      if (url) break;
    }
    await work(url);
  } finally {
    process.kill(-platform.pid!, 'SIGTERM');
    if (platform.exitCode === null && platform.signalCode === null) await once(platform, 'exit');
  }
}

const tsc = (...args: readonly string[]) =>
  spawnSync(join(ROOT, 'node_modules/.bin/tsc'), args, { cwd: folder, encoding: 'utf8', env: { PATH } });

const checkTypes = (file: string) =>
  tsc(
    '--noEmit',
    '--ignoreConfig',
    '--strict',
    '--skipLibCheck',
    '--module',
    'nodenext',
    '--types',
    'node',
    file,
  );

function installNodeTypes(): void {
  mkdirSync(join(folder, 'node_modules/@types'), { recursive: true });
  for (const name of ['@types/node', 'undici-types']) {
    cpSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name), { recursive: true });
  }
}

function megabytes(path: string): number {
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const bytes = files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
  return bytes / 1e6;
}

let archive = '';
beforeAll(async () => {
  mkdirSync(folder);
  mkdirSync(bin);
  copyFileSync(process.execPath, join(bin, 'node'));
  const packed = spawnSync('npm', ['pack', '--pack-destination', work], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, PATH: [join(ROOT, 'node_modules/.bin'), process.env.PATH].join(delimiter) },
  });
  expect(packed.status, packed.stderr).toBe(0);
  archive = join(work, readdirSync(work).find((name) => name.endsWith('.tgz'))!);
  // As npm 11 writes it: with "type": "commonjs" and a test that fails.
  run('npm', ['init', '-y']);
  const installed = run('npm', ['i', archive, '--no-audit', '--no-fund', '--prefer-offline']);
  expect(installed.status, installed.output).toBe(0);
  const made = touchstone(['init']);
  expect(made.status, made.output).toBe(0);
}, 600_000);
afterAll(() => rmSync(work, { recursive: true, force: true }));

describe(`package in an empty folder${canHide ? '' : ' (the repository could not be hidden: unshare is not allowed)'}`, () => {
  test(`package installs with its dependencies in at most ${MAX_MB} MB, without CDK, ccxt and React`, () => {
    expect(megabytes(join(folder, 'node_modules'))).toBeLessThan(MAX_MB);
    for (const name of ['aws-cdk-lib', 'ccxt', 'react', 'esbuild', 'vite', 'swagger-ui-dist']) {
      expect(existsSync(join(folder, 'node_modules', name)), name).toBe(false);
    }
  });

  test('no packed program names the repository', () => {
    const packed = join(folder, 'node_modules/touchstone');
    for (const file of readdirSync(packed, { recursive: true, encoding: 'utf8' })) {
      if (!/\.(js|cjs|mjs|ts|json)$/.test(file) || !statSync(join(packed, file)).isFile()) continue;
      expect(readFileSync(join(packed, file), 'utf8').includes(ROOT), file).toBe(false);
    }
  });

  test('check, backtest and the test of the folder run its strategy', () => {
    const checked = touchstone(['check', 'my_pullback']);
    expect([checked.status, checked.stdout], checked.output).toEqual([
      0,
      expect.stringContaining('my_pullback.ts certified'),
    ]);
    const backtest = touchstone(['backtest', 'my_pullback', '--start', '2026-03-01', '--end', '2026-04-01']);
    expect(backtest.status, backtest.output).toBe(0);
    expect(backtest.stdout).toContain('my_pullback on BTC/USDT:USDT');
    const tested = run('npm', ['test']);
    expect([tested.status, tested.stdout], tested.output).toEqual([0, expect.stringContaining('pass 1')]);
  });

  test('test of the folder fails for a strategy that reads the future', () => {
    const file = join(folder, 'strategies/oracle.ts');
    const strategy = readFileSync(join(folder, 'strategies/my_pullback.ts'), 'utf8');
    writeFileSync(
      file,
      strategy
        .replace("'my_pullback'", "'oracle'")
        .replace('close[i]! > trend[i]!', 'close[i + 3]! > trend[i]!'),
    );
    try {
      const tested = run('npm', ['test']);
      expect(tested.status).not.toBe(0);
      expect(tested.output).toContain('oracle.ts is not certified');
    } finally {
      rmSync(file);
    }
  });

  test('command of the workflow compares a changed strategy with its commit', () => {
    const workflow = readFileSync(join(folder, '.github/workflows/strategies.yml'), 'utf8');
    const [, command = ''] = /run: npx (.*--comment)/.exec(workflow)!;
    const git = (...args: string[]) =>
      run('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@localhost', ...args], { hide: false });
    const file = join(folder, 'strategies/my_pullback.ts');
    const text = readFileSync(file, 'utf8');
    try {
      for (const args of [
        ['init', '-q', '-b', 'main'],
        ['add', '-A'],
        ['commit', '-q', '-m', 'First'],
      ]) {
        const { status, output } = git(...args);
        expect(status, output).toBe(0);
      }
      writeFileSync(file, text.replace('default: 10, min: 5', 'default: 14, min: 5'));
      const checked = run('npx', command.split(' '));
      expect(checked.status, checked.output).toBe(0);
      expect(checked.stdout).toMatch(/^passed my_pullback: changed$/m);
      expect(checked.stdout).toContain('params.rsi_period: 10 in the base, 14 in the head');
      expect(checked.stderr).toContain('Comment no pull request');
    } finally {
      writeFileSync(file, text);
      rmSync(join(folder, '.git'), { recursive: true, force: true });
    }
  });

  test('commands in a subfolder use the strategies and the data of the folder', () => {
    const { status, stdout } = run('npx', ['--no-install', 'touchstone', 'strategies', 'my_pullback'], {
      cwd: join(folder, 'test'),
    });
    expect([status, stdout]).toEqual([0, expect.stringContaining('pullback')]);
    expect(readdirSync(join(folder, 'test'))).toEqual(['strategies.test.ts']);
  });

  test('hyperopt and an exchange that is not simulated have their programs', () => {
    const searched = touchstone([
      'hyperopt',
      'start',
      'my_pullback',
      '--models',
      'none',
      '--timeframe',
      '1h',
      '--trials',
      '2',
      '--watch',
    ]);
    expect(searched.status, searched.output).toBe(0);
    const exchange = `import { ccxtFile } from 'touchstone-exchange'; console.log(new (await import(ccxtFile('okx'))).default().id)`;
    const address = join(folder, 'node_modules/touchstone/dist/src/adapters/exchange/ccxt-files.js');
    const loaded = run('node', [
      '--input-type=module',
      '--eval',
      exchange.replace('touchstone-exchange', `file://${address}`),
    ]);
    expect([loaded.stderr, loaded.stdout.trim()]).toEqual(['', 'okx']);
  });

  test('start serves the dashboard and the API reference of the package', async () => {
    await withPlatform(async (url) => {
      await expect
        .poll(async () => (await fetch(url, { headers: { accept: 'text/html' } })).text())
        .toContain('<script type="module"');
      expect((await fetch(`${url}/docs/swagger-ui.css`)).status).toBe(200);
    });
  });

  test('TypeScript example of docs/clients.md type-checks and runs against the platform', async () => {
    const [, example] = /^```ts\n(.*?)^```$/ms.exec(readFileSync(join(ROOT, 'docs/clients.md'), 'utf8'))!;
    const file = join(folder, 'client-example.mts');
    writeFileSync(file, example!);
    try {
      installNodeTypes();
      const checked = checkTypes(file);
      expect(checked.status, checked.stdout).toBe(0);
      await withPlatform(async (url) => {
        const { status, stdout, output } = await runInTime('node', [file], { TOUCHSTONE_URL: url });
        expect(status, output).toBe(0);
        for (const part of ['completed: ', 'USDT', 'best_value', 'VAL003 config.timeframe']) {
          expect(stdout).toContain(part);
        }
      });
      writeFileSync(file, example!.replace("strategy: 'ema_crossover'", "strategi: 'ema_crossover'"));
      const { stdout } = checkTypes(file);
      expect(stdout).toContain("'strategi' does not exist in type");
    } finally {
      rmSync(file);
    }
  });

  test('mcp of the package serves its tools, and a platform that it starts', async () => {
    const [command, ...args] = [...hidden, 'npx', '--no-install', 'touchstone', 'mcp'];
    const transport = new StdioClientTransport({ command: command!, args, cwd: folder, env: environment });
    const { client, call } = await connect(transport);
    try {
      const { data } = await call('get_strategy', { name: 'my_pullback' });
      expect(data.strategy).toBe('my_pullback');
    } finally {
      await client.close();
    }
  });

  test('without an embedded database every command says in one sentence what to set, before anything else', () => {
    const engine = join(folder, 'node_modules/@dynoxide');
    renameSync(engine, `${engine}-away`);
    try {
      const { status, stderr } = touchstone(['backtest', 'my_pullback'], {
        TOUCHSTONE_HOME: '/proc/nowhere',
      });
      expect(status).toBe(1);
      const lines = stderr.split('\n').filter((line) => line && !line.startsWith('npm '));
      expect(lines).toHaveLength(1);
      expect(lines[0]).toMatch(/^No embedded database for this machine: .*set DYNAMODB_ENDPOINT .*\.$/);
    } finally {
      renameSync(`${engine}-away`, engine);
    }
  });

  test('types of the package complete and check a strategy, also one of the command new', () => {
    expect(touchstone(['new', 'mine']).status).toBe(0);
    expect(readFileSync(join(folder, 'strategies/mine.ts'), 'utf8')).toContain("from 'touchstone/engine'");
    installNodeTypes();
    const sound = tsc('-p', '.');
    expect(sound.status, sound.stdout).toBe(0);
    const file = join(folder, 'strategies/wrong.ts');
    writeFileSync(file, "import { ema } from 'touchstone/engine';\nexport default ema('close', 3);\n");
    try {
      expect(tsc('-p', '.').stdout).toContain('strategies/wrong.ts(2,');
    } finally {
      rmSync(file);
      rmSync(join(folder, 'strategies/mine.ts'));
    }
  });

  test('CDK app of the folder synthesizes both stacks with its strategies in the bundles', () => {
    const made = touchstone(['init', '--aws']);
    expect(made.stdout).toContain('created  deploy.ts');
    // The packages of `npm install`, which this test does not download: they are in the repository.
    const packages = ['aws-cdk-lib', 'constructs', 'cdk-nag', 'esbuild', '@esbuild'];
    for (const name of packages) {
      const path = join(folder, 'node_modules', name);
      if (!existsSync(path)) symlinkSync(join(ROOT, 'node_modules', name), path);
    }
    const { context } = JSON.parse(readFileSync(join(folder, 'cdk.json'), 'utf8'));
    const { status, output } = run('node', ['deploy.ts'], {
      hide: false,
      env: {
        CDK_OUTDIR: join(work, 'cdk.out'),
        CDK_CONTEXT_JSON: JSON.stringify(context),
        CDK_VALIDATION: 'false',
      },
    });
    expect(status, output).toBe(0);
    const templates = readdirSync(join(work, 'cdk.out')).filter((name) => name.endsWith('.template.json'));
    expect(templates.sort()).toEqual([
      'touchstone-dev-data.template.json',
      'touchstone-dev-platform.template.json',
    ]);
    const bundled = readdirSync(join(work, 'cdk.out'), { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('/strategies/my_pullback.mjs'),
    );
    // Backend, strategy service, the functions of the fast lane, the image of the tasks.
    expect(bundled.length).toBeGreaterThanOrEqual(3);
  });
});
