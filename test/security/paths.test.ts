import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ccxtFile } from '#adapters/exchange/ccxt-files.ts';
import { openExchanges } from '#adapters/exchange/exchanges.ts';
import { findFiles } from '#adapters/import/find.ts';
import { symbolOfName } from '#adapters/import/market-symbols.ts';
import { candidate, recognize } from '#adapters/import/recognize.ts';
import { FileObjectStore } from '#adapters/local/file-object-store.ts';
import { checkObjectKey } from '#adapters/objects/object-key.ts';
import { candlesPrefix, decodeSymbol, encodeSymbol, fundingPrefix } from '#adapters/parquet/keys.ts';
import { findStrategy } from '#adapters/strategies/load-strategies.ts';
import { OPERATIONS } from '#contract/operations/operations.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';
import { exchange } from './hosts.ts';

/** Paths, names and keys of callers cannot reach other files or routes (path traversal). */

const TRICKS = [
  '..%2f..%2f..%2fetc%2fpasswd',
  '%2e%2e',
  '%2e%2e%2fhealth',
  '..%252f..%252fetc%252fpasswd',
  '%252e%252e',
  '..%5c..%5cetc',
  'a%00.json',
  '%c0%ae%c0%ae%c0%afetc',
  '%ff%fe',
  '%',
  '__proto__',
  'constructor',
  'toString',
  '.',
  '....%2f%2f',
  'a%2fb',
  'a%0d%0aX-Forged:%201',
];

describe('route parameters', () => {
  let platform: TestPlatform;
  let ports: Readonly<Record<string, number>>;
  beforeAll(async () => {
    platform = await startTestPlatform();
    const { backend_url, strategy_service_url, data_collection_url } = platform.info;
    const port = (url: string) => Number(new URL(url).port);
    ports = {
      backend: port(backend_url),
      strategy: port(strategy_service_url),
      data_collection: port(data_collection_url),
    };
  });
  afterAll(() => platform.stop());

  const send = (service: string, method: string, path: string) =>
    exchange(ports[service]!, `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`);

  const WITHOUT_VARIABLES = new Set<string>(OPERATIONS.map(({ method, path }) => `${method} ${path}`));
  const withVariables = OPERATIONS.filter(({ path }) => path.includes('{'));
  it.each(withVariables)(
    'malformed path parameters are rejected: $service $method $path',
    async ({ service, method, path }) => {
      for (const trick of TRICKS) {
        const address = path.replaceAll(/\{\w+\}/g, trick);
        const { status, headers, text } = await send(service, method, address);
        // `models/../challenges` is the list of challenges: dot segments are removed before the path is matched.
        const isOther = WITHOUT_VARIABLES.has(`${method} ${new URL(address, 'http://host').pathname}`);
        expect([400, 404, 405, 415, ...(isOther ? [200] : [])], `${address} ${text}`).toContain(status);
        expect(headers.get('x-correlation-id'), address).not.toBeNull();
        expect(headers.has('x-forged'), address).toBe(false);
        expect(text, address).not.toContain('root:');
      }
    },
  );

  it.each([
    '/docs/../../../etc/passwd',
    '/docs/..%2f..%2fetc%2fpasswd',
    '/docs//etc/passwd',
    '/docs/%2fetc%2fpasswd',
  ])('documentation returns 404 for %s', async (path) => {
    for (const service of Object.keys(ports)) expect((await send(service, 'GET', path)).status).toBe(404);
  });

  it('malformed exchange in a query is rejected', async () => {
    for (const exchange of ['..%2fx', '__proto__', 'http:%2f%2f169.254.169.254%2f', 'a%00']) {
      const { status } = await send('data_collection', 'GET', `/api/v1/symbols?exchange=${exchange}`);
      expect(status, exchange).toBe(400);
    }
  });
});

describe('object keys', () => {
  it.each([
    '../x',
    'a/../b',
    'a/./b',
    '/a',
    'a//b',
    'a\\b',
    'a\0',
    'a b',
    'ä',
    'a/',
    '',
    '~lock',
    'x'.repeat(2000),
  ])('object key %j is rejected', async (key) => {
    expect(() => checkObjectKey(key)).toThrow(RangeError);
    const store = new FileObjectStore(join(tmpdir(), 'never-made'));
    await expect(store.get(key)).rejects.toThrow(RangeError);
    await expect(store.put(key, new Uint8Array(), 'text/plain')).rejects.toThrow(RangeError);
  });

  const odd = [
    '../../x',
    '..',
    '.',
    'A/../B:C',
    '%2e%2e%2f',
    'ä/ß:€',
    'a\0b',
    'A_B/C:D',
    ' ',
    '~',
    '__proto__',
    '..\\x',
  ];
  it.each(odd)('symbol or exchange %j is encoded in its key', (name) => {
    const series = { exchange: name, symbol: name, timeframe: '5m' } as const;
    const prefixes = [candlesPrefix(series), fundingPrefix(name, name)];
    for (const prefix of prefixes) {
      expect(() => checkObjectKey(`${prefix}/2025-01.parquet`)).not.toThrow();
      expect(prefix.split('/').length).toBe(prefix.startsWith('candles') ? 4 : 3);
    }
    if (/^[^/:]+\/[^/:]+:[^/:]+$/.test(name)) expect(decodeSymbol(encodeSymbol(name))).toBe(name);
  });

  it('different names have different keys', () => {
    const keys = odd.map((name) => fundingPrefix(name, 'A/B:C'));
    expect(new Set(keys).size).toBe(odd.length);
  });
});

describe('file names', () => {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-paths-'));
  const strategies = join(folder, 'strategies');
  mkdirSync(strategies);
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each([
    '/d/exchange=../symbol=BTC_USDT_USDT/timeframe=5m/2025-03.parquet',
    '/d/exchange=__proto__/symbol=BTC_USDT_USDT/timeframe=5m/2025-03.parquet',
    '/d/exchange=okx/symbol=..2e2e.2f_USDT_USDT/timeframe=5m/2025-03.parquet',
    '/d/exchange=okx/symbol=BTC_USDT_USDT/timeframe=..%2f/2025-03.parquet',
    '/d/data/spot/monthly/klines/..USDT/1m/..USDT-1m-2025-03.zip',
    '/d/data/spot/monthly/klines/X/1m/\x1b[2JUSDT-1m-2025-03.zip',
    '/d/data/futures/um/monthly/klines/X/../../1m/X-../..-2025-03.zip',
  ])('importer skips %j', async (path) => {
    expect((await recognize(candidate(path, new Set(), {}))).content.kind).toBe('other');
  });

  it.each(['..._USDT_USDT-5m.csv', '\x1b[2J_USDT_USDT-5m.csv', '.%zz_USDT_USDT-5m.csv'])(
    'importer makes no symbol of the name %j',
    async (name) => {
      const { content } = await recognize(candidate(`/d/${name}`, new Set(), {}));
      const symbol = content.kind === 'table' ? content.names.symbol : undefined;
      expect(symbolOfName(symbol ?? '', { mode: 'futures' }, [])).toHaveProperty('reason');
    },
  );

  it('importer does not follow links', async () => {
    symlinkSync('/etc', join(folder, 'etc'));
    symlinkSync('/etc/passwd', join(folder, 'BTC_USDT_USDT-5m.csv'));
    const { files } = await findFiles(folder);
    expect(files.map(({ content }) => content.kind)).toEqual(['other', 'other']);
  });

  it.each(['../passwd', '..', '__proto__', 'a"b', 'x|.*', '$(id)', 'a\0b'])(
    'unknown strategy %j is not found and not loaded',
    async (name) => expect(await findStrategy(name, strategies)).toBeUndefined(),
  );

  it.each([
    '../x',
    '__proto__',
    'constructor',
    'prototype',
    'base',
    'okx/../../x',
    'okx.js',
    'okx\0',
    'http://x',
  ])('unknown exchange %j is rejected', async (key) => {
    await expect(openExchanges().open(key)).rejects.toMatchObject({ code: 'VAL005', field: 'exchange' });
  });

  it('file of an exchange is in the ccxt package', () => {
    expect(ccxtFile('okx').pathname).toMatch(/\/node_modules\/ccxt\/js\/src\/okx\.js$/);
  });
});
