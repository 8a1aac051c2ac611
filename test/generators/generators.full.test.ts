import { execFile, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SERVICES } from '#contract/values/names.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

/**
 * Generators of TypeScript clients with their defaults, over the committed documents. They need TypeScript 5, so they are packages of
 * their own folder, which this test installs outside of the repository.
 */

const DOCUMENTS = Object.values(SERVICES).map(({ document }) => document);
const work = mkdtempSync(join(existsSync('/var/tmp') ? '/var/tmp' : tmpdir(), 'touchstone-generators-'));
afterAll(() => rmSync(work, { recursive: true, force: true }));

const FILES = ['packages/package.json', 'packages/package-lock.json', 'openapi-fetch.mts', 'openapi-ts.mts'];
for (const file of FILES) {
  copyFileSync(join(import.meta.dirname, file), join(work, basename(file)));
}
const installed = spawnSync(
  'npm',
  ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--fetch-retries=1'],
  {
    cwd: work,
    encoding: 'utf8',
  },
);
const OFFLINE = /code (ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED)/;
const offline = OFFLINE.exec(installed.stderr)?.[1];
if (offline) console.warn(`Skipped: npm cannot download the generators (${offline}).`);

function tool(name: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(join(work, 'node_modules/.bin', name), args, {
    cwd: work,
    encoding: 'utf8',
  });
  expect(status, `${name} ${args.join(' ')}\n${stdout}${stderr}`).toBe(0);
  return `${stdout}${stderr}`;
}

describe.skipIf(offline)('generated TypeScript clients', () => {
  let platform: TestPlatform;
  beforeAll(async () => {
    expect(installed.status, installed.stderr).toBe(0);
    for (const name of DOCUMENTS) {
      const document = join(import.meta.dirname, `../../docs/openapi/${name}.json`);
      for (const output of [
        tool('openapi-typescript', document, '-o', `fetch/${name}.ts`),
        tool('openapi-ts', '-i', document, '-o', `hey/${name}`),
      ]) {
        expect(output).not.toMatch(/warn|deprecat|missing/i);
      }
    }
    platform = await startTestPlatform();
  }, 600_000);
  afterAll(() => platform?.stop());

  it('type-check with the programs that use them', () => {
    const options = [
      '--noEmit',
      '--strict',
      '--allowImportingTsExtensions',
      '--lib',
      'es2024,dom,dom.iterable',
    ];
    const modules = ['--target', 'es2024', '--module', 'esnext', '--moduleResolution', 'bundler'];
    tool('tsc', ...options, ...modules, 'openapi-fetch.mts', 'openapi-ts.mts');
  });

  it.each(['openapi-fetch', 'openapi-ts'])(
    '%s drives a backtest, a hyperopt job and a challenge',
    async (name) => {
      const outfile = join(work, `${name}.bundle.mjs`);
      await build({
        absWorkingDir: work,
        entryPoints: [`${name}.mts`],
        outfile,
        bundle: true,
        format: 'esm',
        platform: 'node',
        target: 'node24',
        logLevel: 'silent',
      });
      const { backend_url, strategy_service_url, data_collection_url } = platform.info;
      const { stdout } = await promisify(execFile)(process.execPath, [outfile], {
        env: {
          BACKEND_URL: backend_url,
          STRATEGY_SERVICE_URL: strategy_service_url,
          DATA_COLLECTION_URL: data_collection_url,
        },
      });
      for (const line of ['trades 3', 'trials 2', 'logged 2 ', 'symbols true'])
        expect(stdout).toContain(line);
      expect(stdout).toMatch(/rejected .*"code":"VAL005".*"field":"config.max_open_trades"/);
    },
    300_000,
  );
});
