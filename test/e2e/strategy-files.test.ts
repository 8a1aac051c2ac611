import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runScript } from '../support/command.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';
import { strategySource as source, strategyFolder } from '../support/strategies.ts';

/** Valid, invalid and hostile strategy files over HTTP. */

const RANGE = { start: '2026-03-01T00:00:00Z', end: '2026-03-08T00:00:00Z' };
const config = (strategy: string, params?: Record<string, unknown>) => ({
  ...{ strategy, date_range: RANGE },
  ...(params && { params }),
});

const namesOf = ({ items }: { items: { strategy: string }[] }) => items.map(({ strategy }) => strategy);

describe('strategy files', () => {
  const { folder, add, remove } = strategyFolder();
  let platform: TestPlatform;
  const list = async () => {
    const { status, body } = await platform.get('/api/v1/strategies');
    expect(status).toBe(200);
    return body;
  };
  const submit = (strategy: string, params?: Record<string, unknown>) =>
    platform.post('/api/v1/backtests', { config: config(strategy, params) });
  beforeAll(async () => {
    // Present before the start, which it must not prevent.
    add('exits.ts', '\nprocess.exit(1);');
    add('sound.ts', source('sound'));
    platform = await startTestPlatform({ strategiesDirectory: folder });
  });
  afterAll(async () => {
    await platform.stop();
    rmSync(folder, { recursive: true });
  });

  it('valid strategy files are listed next to an invalid one', async () => {
    const { items, broken } = await list();
    expect(namesOf({ items })).toContain('sound');
    expect(broken).toEqual([
      {
        file: 'exits.ts',
        line: 2,
        error: expect.stringContaining('loading did not finish: it ended its process'),
        strategy: null,
      },
    ]);
    remove('exits.ts');
    expect((await list()).broken).toEqual([]);
  });

  it('strategy file cannot read the key of the platform', async () => {
    const key = join(platform.home, 'issuer-key.pem');
    if (!existsSync(key)) writeFileSync(key, '-----BEGIN PRIVATE KEY-----');
    const read = `process.getBuiltinModule('node:fs').readFileSync(${JSON.stringify(key)}, 'utf8')`;
    add('steals.ts', source('steals', { top: `throw new Error(${read});` }));
    add(
      'steals_later.ts',
      source('steals_later', { startup: `if (n > 5) throw new Error(${read}); return n;` }),
    );
    const { broken } = await list();
    expect(broken).toMatchObject([{ file: 'steals.ts', line: 1, strategy: 'steals' }]);
    expect(broken[0].error).toContain('restricted');
    const { status, body } = await submit('steals_later', { n: 6 });
    expect([status, body.detail.code]).toEqual([400, 'VAL006']);
    for (const response of [broken, body]) expect(JSON.stringify(response)).not.toContain('PRIVATE KEY');
    remove('steals.ts');
    remove('steals_later.ts');
  });

  it('new, changed, invalid and removed strategy files apply from the next request', async () => {
    add('mine.ts', source('mine'));
    expect((await submit('mine')).status).toBe(201);
    add('mine.ts', source('mine', { n: 9 }));
    const { body: job } = await submit('mine');
    expect((await platform.get(`/api/v1/backtests/${job.job_id}`)).body.config.params).toEqual({ n: 9 });
    expect((await platform.get('/api/v1/strategies/mine')).body.parameters.n.default).toBe(9);

    add('mine.ts', source('mine', { top: '\n\nthrow new Error("not today");' }));
    expect((await list()).broken).toEqual([
      { file: 'mine.ts', line: 3, error: 'not today', strategy: 'mine' },
    ]);
    const rejected = await submit('mine');
    expect([rejected.status, rejected.body.detail.code]).toEqual([400, 'VAL006']);
    expect(rejected.body.detail.message).toBe(
      'Strategy mine cannot be used: strategy file mine.ts:3: not today. Correct the file and repeat the request.',
    );
    const one = await platform.get('/api/v1/strategies/mine');
    expect([one.status, one.body.detail.code]).toEqual([404, 'RES004']);
    expect(one.body.detail.context).toMatchObject({ file: 'mine.ts', line: 3, error: 'not today' });
    const { out } = await runScript(platform.home, 'bin/touchstone.ts', ['strategies']);
    expect(out).toMatch(/mine\.ts +│ +3 +│ +mine +│ +not today/);

    remove('mine.ts');
    expect((await list()).broken).toEqual([]);
    const unknown = await submit('mine');
    expect([unknown.status, unknown.body.detail.code]).toEqual([404, 'RES002']);
  });
});
