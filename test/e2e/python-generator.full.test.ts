import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SERVICES } from '#contract/values/names.ts';
import type { ServiceName } from '#contract/values/operation.ts';
import { accessClaims, openIssuerKey, signToken } from '../../src/local/issuer-key.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';
import { output, pythonWith } from '../support/python.ts';

/** openapi-python-client writes a package for each service from its document, and a typed script works with them. */

const ROOT = join(import.meta.dirname, '../..');
const found = await pythonWith('test/e2e/python/generator-requirements.txt');
if ('missing' in found) console.warn(`Skipped: openapi-python-client needs Python. ${found.missing}.`);
const { python, bin } = 'missing' in found ? { python: '', bin: '' } : found;
const SCRIPT = join(import.meta.dirname, 'python/generated.py');

/** Errors of the generator's own text: of `__exit__`, and of a model with a property of its own name. Both work. */
const KNOWN = /client\.py:\d+: error: Argument 1 to "__a?exit__"|\/models\/(symbols|instruments)\.py:/;

describe.skipIf(python === '')('openapi-python-client', () => {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-generated-'));
  const env = { PATH: `${bin}:${process.env.PATH}`, PYTHONPATH: folder, MYPYPATH: folder };
  const services = Object.keys(SERVICES) as ServiceName[];
  const packages = services.map((service) => `touchstone_${service}`);
  let platform: TestPlatform;
  let printed: string[];
  beforeAll(async () => {
    const home = join(folder, 'home');
    const generate = (service: ServiceName) => {
      const path = join(ROOT, `docs/openapi/${SERVICES[service].document}.json`);
      const options = ['--meta', 'none', '--fail-on-warning', '--output-path', `touchstone_${service}`];
      return output(join(bin, 'openapi-python-client'), ['generate', '--path', path, ...options], {
        cwd: folder,
        env,
      });
    };
    [platform, ...printed] = await Promise.all([
      startTestPlatform({ home, auth: true }),
      ...services.map(generate),
    ]);
  });
  afterAll(async () => {
    await platform?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('writes a module for each operation of all services, without a warning', () => {
    for (const text of printed) expect(text).not.toMatch(/warning|skipp|omit/i);
    for (const [index, service] of services.entries()) {
      const { paths } = JSON.parse(
        readFileSync(join(ROOT, `docs/openapi/${SERVICES[service].document}.json`), 'utf8'),
      );
      const ids = Object.values<Record<string, { operationId: string }>>(paths).flatMap((path) =>
        Object.values(path).map(({ operationId }) => operationId.toLowerCase()),
      );
      const modules = readdirSync(join(folder, packages[index]!, 'api'), {
        recursive: true,
        encoding: 'utf8',
      })
        .filter((file) => file.endsWith('.py') && !file.endsWith('__init__.py'))
        .map((file) => file.replace(/^.*\/|\.py$|_/g, ''));
      expect(modules.sort()).toEqual(ids.sort());
    }
  });

  it('writes packages that are typed', async () => {
    const args = [
      '-m',
      'mypy',
      '--cache-dir',
      join(folder, 'mypy'),
      '--ignore-missing-imports',
      '--no-pretty',
    ];
    const error = await output(python, [...args, ...packages, SCRIPT], { cwd: folder, env }).then(
      () => '',
      (failure: Error) => failure.message,
    );
    const problems = error.split('\n').filter((line) => line.includes(': error: ') && !KNOWN.test(line));
    expect(problems).toEqual([]);
    expect(error).toMatch(/checked \d{3,} source files/);
  });

  it('writes packages that run a backtest, a hyperopt job and a challenge', async () => {
    const { backend_url, strategy_service_url, data_collection_url } = platform.info;
    const claims = accessClaims({ user: 'ada', role: 'admin', lifetime: 600, now: Date.now() });
    const token = signToken(openIssuerKey(join(folder, 'home')), claims);
    const args = [SCRIPT, backend_url, strategy_service_url, data_collection_url, token];
    const read = JSON.parse(await output(python, args, { env }));

    const get = async (url: string, path: string): Promise<any> =>
      (await fetch(`${url}/api/v1/${path}`, { headers: { authorization: `Bearer ${token}` } })).json();
    expect(read.result).toEqual((await get(backend_url, `backtests/${read.run}`)).result);
    expect(read.equity).toEqual(await get(backend_url, `backtests/${read.run}/equity`));
    const { items } = await get(backend_url, `backtests/${read.run}/trades`);
    expect(items.length).toBeGreaterThan(10);
    expect(read.trades.map((trade: any) => [trade.id, trade.pair, trade.profit])).toEqual(
      items.map((trade: any) => [trade.id, trade.pair, trade.profit]),
    );
    expect(read.best).toEqual(await get(strategy_service_url, `hyperopt/${read.search}/result`));
    expect(read.versions).toEqual([
      ['2', 'Staging'],
      ['1', 'Production'],
    ]);
    const { champion_trades, challenger_trades } = await get(
      strategy_service_url,
      `challenges/${read.challenge}`,
    );
    expect(champion_trades + challenger_trades).toBe(2);
    expect(read).toMatchObject({
      recommendation: 'CONTINUE',
      ended: 'rolled_back',
      candles: 10,
      error: 'RES001',
    });
    expect(read.logged[0]).toBe(true);
  });
});
