import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runInProcess } from '../support/command.ts';
import { strategySource as source } from '../support/strategies.ts';
import { namesOf, strategyFilesFixture } from './strategy-files-fixture.ts';

/** Valid, invalid and hostile strategy files over HTTP. */

describe('strategy files', () => {
  // Present before the start, which it must not prevent.
  const fixture = strategyFilesFixture({ 'exits.ts': '\nprocess.exit(1);' });
  const { add, remove, list, submit } = fixture;

  it('valid strategy files are listed next to an invalid one', async () => {
    const { items, broken } = await list();
    expect(namesOf({ items })).toContain('sound');
    expect(broken).toEqual([
      {
        file: 'exits.ts',
        line: 2,
        error: 'process.exit is not a function',
        strategy: null,
      },
    ]);
    remove('exits.ts');
    expect((await list()).broken).toEqual([]);
  });

  it('strategy file cannot read the key of the platform', async () => {
    const key = join(fixture.platform.home, 'issuer-key.pem');
    if (!existsSync(key)) writeFileSync(key, '-----BEGIN PRIVATE KEY-----');
    const read = `process.getBuiltinModule('node:fs').readFileSync(${JSON.stringify(key)}, 'utf8')`;
    add('steals.ts', source('steals', { top: `throw new Error(${read});` }));
    add(
      'steals_later.ts',
      source('steals_later', { startup: `if (n > 5) throw new Error(${read}); return n;` }),
    );
    const { broken } = await list();
    expect(broken).toMatchObject([{ file: 'steals.ts', line: 1, strategy: 'steals' }]);
    expect(broken[0].error).toContain('process.getBuiltinModule is not a function');
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
    expect((await fixture.platform.get(`/api/v1/backtests/${job.job_id}`)).body.config.params).toEqual({
      n: 9,
    });
    expect((await fixture.platform.get('/api/v1/strategies/mine')).body.parameters.n.default).toBe(9);

    add('mine.ts', source('mine', { top: '\n\nthrow new Error("not today");' }));
    expect((await list()).broken).toEqual([
      { file: 'mine.ts', line: 3, error: 'not today', strategy: 'mine' },
    ]);
    const rejected = await submit('mine');
    expect([rejected.status, rejected.body.detail.code]).toEqual([400, 'VAL006']);
    expect(rejected.body.detail.message).toBe(
      'Strategy mine cannot be used: strategy file mine.ts:3: not today. Correct the file and repeat the request.',
    );
    const one = await fixture.platform.get('/api/v1/strategies/mine');
    expect([one.status, one.body.detail.code]).toEqual([404, 'RES004']);
    expect(one.body.detail.context).toMatchObject({ file: 'mine.ts', line: 3, error: 'not today' });
    const { out } = await runInProcess(fixture.platform.home, ['strategies']);
    expect(out).toMatch(/mine\.ts +│ +3 +│ +mine +│ +not today/);

    remove('mine.ts');
    expect((await list()).broken).toEqual([]);
    const unknown = await submit('mine');
    expect([unknown.status, unknown.body.detail.code]).toEqual([404, 'RES002']);
  });
});
