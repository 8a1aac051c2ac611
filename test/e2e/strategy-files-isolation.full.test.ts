import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { strategySource as source } from '../support/strategies.ts';
import { namesOf, strategyFilesFixture } from './strategy-files-fixture.ts';

/** Hostile strategy files, and files that share a module, over HTTP. */

describe('strategy files', () => {
  const fixture = strategyFilesFixture();
  const { folder, add, remove, list, submit } = fixture;

  it('strategy file that pollutes Object.prototype does not change the platform', async () => {
    add('pollutes.ts', source('pollutes', { top: `Object.prototype.x = 'y'; Array.prototype.map = null;` }));
    expect(namesOf(await list())).toContain('sound');
    expect(Object.prototype).not.toHaveProperty('x');
    expect((await submit('buy_and_hold')).status).toBe(201);
    remove('pollutes.ts');
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
      'Strategy loops: startupCandles() did not return within 1 s for {"n":6}. It must return an integer, or integers by timeframe, that it computes from the parameters only.',
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
      { file: 'b.ts', error: expect.stringContaining('trailing.p is not known') },
    ]);
    expect(namesOf({ items })).toEqual(expect.arrayContaining(['c', 'sound', 'supertrend']));
    for (const file of ['a.ts', 'b.ts', 'c.ts']) remove(file);
  });

  it('change of a shared module applies to the strategies that import it', async () => {
    mkdirSync(join(folder, 'shared'));
    add('shared/levels.ts', 'export const stake = 10;');
    const top = `import { stake } from './shared/levels.ts';`;
    add('shares.ts', source('shares', { top, fields: 'stakeAmount: stake,' }));
    const stakeOf = async () => (await fixture.platform.get('/api/v1/strategies/shares')).body.stake_amount;
    expect(await stakeOf()).toBe(10);
    add('shared/levels.ts', 'export const stake = 20;');
    expect(await stakeOf()).toBe(20);
  });
});
