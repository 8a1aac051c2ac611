import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packageFolder } from '#adapters/package-folder.ts';
import { runScript } from '../support/command.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'touchstone-init-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const init = (...args: string[]) =>
  runScript(join(folder, 'home'), 'bin/touchstone.ts', ['init', folder, ...args]);
const json = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8'));
const write = (name: string, value: unknown) => writeFileSync(join(folder, name), JSON.stringify(value));

describe('touchstone init', () => {
  it('strategy of the folder is the example of the clone, with the imports of the package', () => {
    const body = (file: string) => {
      const text = readFileSync(file, 'utf8');
      return text
        .slice(text.lastIndexOf('import '))
        .replace(/^import .*\n/, '')
        .replace(/'(my|example)_pullback'/, '');
    };
    const copy = body('templates/strategy-folder/strategies/my_pullback.ts');
    expect(copy).toBe(body('strategies/example_pullback.ts'));
  });

  it('init completes package.json of npm init, and keeps what the user wrote', async () => {
    const test = 'echo "Error: no test specified" && exit 1';
    write('package.json', { name: 'mine', type: 'commonjs', scripts: { test, lint: 'mine' } });
    write('tsconfig.json', { mine: true });
    const { code, out } = await init();
    expect(code).toBe(0);
    expect(json('package.json')).toMatchObject({
      name: 'mine',
      type: 'module',
      scripts: { start: 'touchstone start', test: 'touchstone --version && node --test', lint: 'mine' },
    });
    expect(json('tsconfig.json')).toEqual({ mine: true });
    expect(out).toMatch(/^kept +tsconfig\.json$/m);
    expect(out).toMatch(/^created +\.github\/workflows\/strategies\.yml$/m);
    expect(out).toMatch(/^created +\.gitignore$/m);
    expect(json('touchstone.config.json').$schema).toContain('touchstone.config.schema.json');
  });

  it('init changes nothing in a folder with CommonJS code', async () => {
    write('package.json', { type: 'commonjs' });
    write('index.js', 'module');
    const { code, err } = await init();
    expect([code, err]).toEqual([2, expect.stringContaining('Choose another folder')]);
    expect(json('package.json')).toEqual({ type: 'commonjs' });
    expect(readdirSync(folder).sort()).toEqual(['index.js', 'package.json']);
  });

  it('init --aws adds a CDK app with the behavior of the CDK that the stacks need', async () => {
    await init('--aws');
    expect(json('cdk.json')).toMatchObject({ app: 'node deploy.ts', context: expect.any(Object) });
    expect(json('package.json').devDependencies).toHaveProperty('aws-cdk-lib');
  });
});

it('touchstone on an older Node says in one sentence which Node it needs', () => {
  const older = join(folder, 'older.cjs');
  writeFileSync(
    older,
    "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.11.0' } });",
  );
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--require', older, 'bin/touchstone.cjs', 'start'],
    { encoding: 'utf8' },
  );
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^Touchstone needs Node 24 or later and this is Node 20\.11\.0: [^.]*\.\n$/);
});

it.each([
  ['/home/ada/touchstone', '/home/ada/touchstone/node_modules'],
  ['/home/ada/mine/node_modules/touchstone/dist', '/home/ada/mine/node_modules'],
  ['/home/ada/mine/node_modules/.pnpm/t@1/node_modules/touchstone/dist', '/home/ada/mine/node_modules'],
])('packages of the project at %s are in %s', (root, packages) => {
  expect(packageFolder(root)).toBe(packages);
});
