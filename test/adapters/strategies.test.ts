import { copyFileSync, mkdirSync, rmSync, symlinkSync, truncateSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { findStrategy, loadStrategies } from '#adapters/strategies/load-strategies.ts';
import { CodedError } from '#contract/values/errors.ts';
import { EXAMPLE, namesOf, sound, strategiesFixture } from './strategies-fixture.ts';

const fixture = strategiesFixture();
const { add, open, brokenOf } = fixture;

describe('broken strategy file', () => {
  it.each([['loops', 'for (;;);']])(
    'list reports a file that %s when the load limit is exceeded',
    async (_, text) => {
      add('broken.ts', text);
      expect(await brokenOf(open({ loadLimitMs: 1_000 }))).toMatchObject([
        { file: 'broken.ts', error: expect.stringContaining('it was still loading after 1 s') },
      ]);
    },
  );

  it('list rejects the whole folder while it contains a link', async () => {
    symlinkSync(EXAMPLE, join(fixture.folder, 'link.ts'));
    add('sound.ts', sound(`name: 'sound'`));
    const strategies = open();
    expect(await brokenOf(strategies)).toMatchObject([
      { file: 'link.ts', error: expect.stringContaining('it is a link') },
    ]);
    expect(await namesOf(strategies)).toEqual([]);
    rmSync(join(fixture.folder, 'link.ts'));
    expect(await brokenOf(strategies)).toEqual([]);
    expect(await namesOf(strategies)).toEqual(['sound']);
  });

  it('file with a hole of many gigabytes is not read and affects no other file', async () => {
    add('large.ts', '');
    truncateSync(join(fixture.folder, 'large.ts'), 50 * 1024 ** 3);
    add('sound.ts', sound(`name: 'sound'`));
    const strategies = open();
    expect(await brokenOf(strategies)).toMatchObject([
      { file: 'large.ts', error: expect.stringMatching(/^it is larger than 4 MiB\. /) },
    ]);
    expect(await namesOf(strategies)).toEqual(['sound']);
  });

  it('list reports the shared file that throws', async () => {
    add('shared/levels.ts', '\nexport const level = nowhere;');
    add('broken.ts', `\nimport { level } from './shared/levels.ts';\n${sound(`name: 'mine', x: level`)}`);
    expect(await brokenOf()).toMatchObject([
      { file: 'broken.ts', line: 2, error: 'nowhere is not defined (shared/levels.ts:2)' },
    ]);
  });

  it('list reports the second of two files with one strategy name', async () => {
    add('one.ts', sound(`name: 'mine', description: 'The first'`));
    add('two.ts', sound(`name: 'mine'`));
    const strategies = open();
    expect(await brokenOf(strategies)).toMatchObject([
      { file: 'two.ts', line: 3, error: 'one.ts has the name mine already; give this strategy another name' },
    ]);
    expect((await strategies.find('mine'))!.definition.description).toBe('The first');
  });
});

describe('process that reads a strategy file', () => {
  it('strategy file is read with an empty environment', async () => {
    const env = '(globalThis as any).process.env';
    add('mine.ts', sound(`name: 'mine', description: 'has ' + JSON.stringify(${env})`));
    expect((await open().find('mine'))!.definition.description).toBe('has {}');
  });

  it.each([
    [
      'pollutes Object.prototype',
      `try { Object.prototype.x = 'y'; } catch {} try { Object.prototype.stoploss = 5; } catch {}`,
    ],
  ])('strategy is described correctly when its file %s', async (_, text) => {
    add('mine.ts', `${text}\n${sound(`name: 'mine'`)}`);
    add('other.ts', sound(`name: 'other'`));
    const strategies = open();
    expect(await namesOf(strategies)).toEqual(['mine', 'other']);
    expect((await strategies.find('mine'))!.definition.stoploss).toBe(
      (await strategies.find('other'))!.definition.stoploss,
    );
    expect(({} as { x?: string }).x).toBeUndefined();
  });
});

describe('startupCandles', () => {
  it('startupCandles throws VAL006 only for the parameters for which the function throws', () =>
    fixture.expectRejection(`if (n > 50) throw new Error('no'); return n;`, 'startupCandles() threw "no'));
});

describe('changed strategy files', () => {
  it('changed file takes effect on the next call', async () => {
    const strategies = open();
    expect(await namesOf(strategies)).toEqual([]);
    add('mine.ts', sound(`name: 'mine', stakeAmount: 50`));
    expect((await strategies.find('mine'))!.definition.stakeAmount).toBe(50);
    const { digest } = (await strategies.find('mine'))!;
    add('mine.ts', sound(`name: 'mine', stakeAmount: 60`));
    const changed = (await strategies.find('mine'))!;
    expect(changed.definition.stakeAmount).toBe(60);
    expect(changed.digest).not.toBe(digest);
    add('mine.ts', sound(`name: 'yours', stakeAmount: 60`));
    expect(await strategies.find('mine')).toBeUndefined();
    expect(await namesOf(strategies)).toEqual(['yours']);
    rmSync(join(fixture.folder, 'mine.ts'));
    expect(await strategies.find('yours')).toBeUndefined();
  });

  it('changed data that a file imports takes effect on the next call', async () => {
    add('shared/levels.json', '60');
    const imported = "import stakeAmount from './shared/levels.json' with { type: 'json' };\n";
    add('mine.ts', `${imported}${sound(`name: 'mine', stakeAmount`)}`);
    const strategies = open();
    expect((await strategies.find('mine'))!.definition.stakeAmount).toBe(60);
    add('shared/levels.json', '70');
    expect((await strategies.find('mine'))!.definition.stakeAmount).toBe(70);
  });

  it('many files that load forever do not delay a file after them', async () => {
    const atOnce = Math.max(2, availableParallelism());
    for (let number = 0; number < atOnce + 2; number++) add(`loops${number}.ts`, 'for (;;);');
    add('mine.ts', sound(`name: 'mine'`));
    const strategies = open({ loadLimitMs: 3_000 });
    const first = [
      strategies.list().then(() => 'all files are read'),
      strategies.find('mine').then((found) => found?.definition.name),
    ];
    expect(await Promise.race(first)).toBe('mine');
    await first[0];
  });

  it('file that loads forever does not delay other strategies', async () => {
    add('sound.ts', sound(`name: 'sound'`));
    const strategies = open({ loadLimitMs: 60_000 });
    await strategies.list();
    add('loops.ts', 'for (;;);');
    expect(await strategies.find('sound')).toBeDefined();
    expect(await strategies.find('supertrend')).toBeDefined();
  });
});

it('list reads a strategy folder that is created after the start', async () => {
  rmSync(fixture.folder, { recursive: true });
  const strategies = open();
  expect(await namesOf(strategies)).toEqual([]);
  expect(await brokenOf(strategies)).toEqual([]);
  mkdirSync(join(fixture.folder, 'shared'), { recursive: true });
  copyFileSync(EXAMPLE, join(fixture.folder, 'mine.ts'));
  expect(await namesOf(strategies)).toEqual(['example_pullback']);
});

describe('in-process strategies', () => {
  const inProcess = (changes: string) => sound(changes, pathToFileURL(EXAMPLE).href);

  it('loadStrategies offers strategies of the folder and built-in ones', async () => {
    add('mine.ts', inProcess(`name: 'mine'`));
    const { strategies, broken } = await (await loadStrategies(fixture.folder)).list();
    const names = strategies.map(({ definition }) => definition.name);
    expect(names).toEqual(expect.arrayContaining(['mine', 'supertrend']));
    expect(broken).toEqual([]);
  });

  it('loadStrategies rejects with the file that is broken', async () => {
    add('broken.ts', inProcess(`name: 'mine', stoploss: 1`));
    await expect(loadStrategies(fixture.folder)).rejects.toThrow(
      /^Strategy file broken\.ts: stoploss must be above -1 and below 0$/,
    );
  });

  it('loadStrategies rejects with the other file of the same strategy name', async () => {
    add('one.ts', inProcess(`name: 'mine'`));
    add('two.ts', inProcess(`name: 'mine'`));
    await expect(loadStrategies(fixture.folder)).rejects.toThrow(
      'Strategy file two.ts: strategy file one.ts has the name mine already',
    );
  });

  describe('findStrategy', () => {
    async function rejection(name: string): Promise<string> {
      const error = await findStrategy(name, fixture.folder).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(CodedError);
      expect((error as CodedError).code).toBe('VAL006');
      return (error as CodedError).message;
    }

    it('findStrategy finds a strategy regardless of file name and other files', async () => {
      add('a.ts', 'this is no TypeScript');
      add('b.ts', 'for (;;);');
      add('c.ts', `throw new Error('calls itself "mine" and is broken');`);
      add('d.ts', inProcess(`name: 'mine'`));
      expect(await findStrategy('mine', fixture.folder)).toMatchObject({
        definition: { name: 'mine' },
        file: 'd.ts',
      });
    });

    it('findStrategy finds a name computed at load', async () => {
      add('a.ts', inProcess(`name: 'mi' + 'ne'`));
      expect(await findStrategy('mine', fixture.folder)).toMatchObject({ definition: { name: 'mine' } });
    });

    it('findStrategy selects the file by digest when two define the name', async () => {
      add('a.ts', inProcess(`name: 'mine'`));
      add('b.ts', inProcess(`name: 'mi' + 'ne'`));
      const { digest } = (await findStrategy('mine', fixture.folder))!;
      rmSync(join(fixture.folder, 'a.ts'));
      const other = (await findStrategy('mine', fixture.folder))!.digest;
      add('a.ts', inProcess(`name: 'mine'`));
      expect(await findStrategy('mine', fixture.folder, digest)).toMatchObject({ file: 'a.ts' });
      expect(await findStrategy('mine', fixture.folder, other)).toMatchObject({ file: 'b.ts' });
    });

    it.each([
      [
        'does not parse',
        `export default { name: 'mine', `,
        /^Strategy mine cannot be loaded\. .*broken\.ts: /,
      ],
      ['throws', `throw new Error('mine' && 'no such thing');`, /broken\.ts: no such thing$/],
      [
        'is invalid',
        inProcess(`name: 'mine', stoploss: 1`),
        /broken\.ts: stoploss must be above -1 and below 0$/,
      ],
    ])('findStrategy rejects a file that %s with VAL006 and that file only', async (_, source, message) => {
      add('another.ts', 'nor is this');
      add('broken.ts', source);
      const text = await rejection('mine');
      expect(text).toMatch(message);
      expect(text).not.toContain('another');
    });

    it('findStrategy rejects a name that a broken file may define', async () => {
      add('broken.ts', 'nor is this');
      expect(await rejection('mine')).toMatch(/broken\.ts: /);
    });

    it('findStrategy returns undefined when every file loads and none defines the name', async () => {
      add('a.ts', inProcess(`name: 'other'`));
      expect(await findStrategy('mine', fixture.folder)).toBeUndefined();
    });

    it('findStrategy finds a built-in strategy without reading files', async () => {
      add('broken.ts', 'for (;;);');
      expect(await findStrategy('supertrend', fixture.folder)).toMatchObject({
        definition: { name: 'supertrend' },
      });
    });
  });
});
