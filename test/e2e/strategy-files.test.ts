import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
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

  it('strategy file that pollutes Object.prototype does not change the platform', async () => {
    add('pollutes.ts', source('pollutes', { top: `Object.prototype.x = 'y'; Array.prototype.map = null;` }));
    expect(namesOf(await list())).toContain('sound');
    expect(Object.prototype).not.toHaveProperty('x');
    expect((await submit('buy_and_hold')).status).toBe(201);
    remove('pollutes.ts');
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
    for (const answer of [broken, body]) expect(JSON.stringify(answer)).not.toContain('PRIVATE KEY');
    remove('steals.ts');
    remove('steals_later.ts');
  });

  it('strategy that loops in startupCandles fails with VAL006 after a second; others run', async () => {
    add('loops.ts', source('loops', { startup: 'while (n > 5); return n;' }));
    await list();
    const [looping, same, other] = await Promise.all([
      submit('loops', { n: 6 }),
      submit('loops', { n: 4 }),
      submit('sound', { n: 7 }),
    ]);
    expect([looping!.status, looping!.body.detail.code]).toEqual([400, 'VAL006']);
    expect(looping!.body.detail.message).toBe(
      'Strategy loops: startupCandles() did not return within 1 s for {"n":6}. It must return an integer that it computes from the parameters only.',
    );
    expect([same!.status, other!.status]).toEqual([201, 201]);
    remove('loops.ts');
  });

  it('strategy file that loops at top level is listed; others run', async () => {
    add('hangs.ts', `for (;;);\n${source('hangs')}`);
    expect((await submit('sound')).status).toBe(201);
    const { items, broken } = await list();
    expect(broken).toMatchObject([{ file: 'hangs.ts', strategy: 'hangs' }]);
    expect(broken[0].error).toContain('it was still loading after 5 s');
    expect(namesOf({ items })).toContain('sound');
    remove('hangs.ts');
  });

  it('strategy file with huge, circular or forged data does not affect others', async () => {
    const imitated = '{"definition":{"name":"supertrend"},"startup":1}';
    add(
      'a.ts',
      source('a', {
        fields: `minimalRoi: Object.fromEntries(Array.from({ length: 1e5 }, (_, i) => [i, 1])),`,
      }),
    );
    add('b.ts', source('b', { top: 'const p = {}; p.p = p;', fields: 'trailing: { offset: 1, p },' }));
    add('c.ts', source('c', { top: `console.log(${JSON.stringify(imitated)});` }));
    const { items, broken } = await list();
    expect(broken).toMatchObject([
      { file: 'a.ts', error: expect.stringContaining('its data is too large') },
      { file: 'b.ts', error: expect.stringContaining('circular') },
    ]);
    expect(namesOf({ items })).toEqual(expect.arrayContaining(['c', 'sound', 'supertrend']));
    for (const file of ['a.ts', 'b.ts', 'c.ts']) remove(file);
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
    const refused = await submit('mine');
    expect([refused.status, refused.body.detail.code]).toEqual([400, 'VAL006']);
    expect(refused.body.detail.message).toBe(
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

  it('change of a shared module applies to the strategies that import it', async () => {
    mkdirSync(join(folder, 'shared'));
    add('shared/levels.ts', 'export const stake = 10;');
    const top = `import { stake } from './shared/levels.ts';`;
    add('shares.ts', source('shares', { top, fields: 'stakeAmount: stake,' }));
    const stakeOf = async () => (await platform.get('/api/v1/strategies/shares')).body.stake_amount;
    expect(await stakeOf()).toBe(10);
    add('shared/levels.ts', 'export const stake = 20;');
    expect(await stakeOf()).toBe(20);
  });
});
