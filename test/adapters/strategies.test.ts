import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findBuiltIn } from '#adapters/known-strategies.ts';
import { LocalStrategies } from '#adapters/local/definitions/local-strategies.ts';
import { findStrategy, loadStrategies } from '#adapters/strategies.ts';
import { CodedError } from '#contract/errors.ts';

let folder: string;
const opened: LocalStrategies[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'touchstone-strategies-'));
  mkdirSync(join(folder, 'shared'));
  copyFileSync(EXAMPLE, join(folder, 'shared/example.ts'));
});
afterEach(() => {
  for (const strategies of opened.splice(0)) strategies.close();
  rmSync(folder, { recursive: true });
});

const EXAMPLE = join(import.meta.dirname, '../../strategies/example_pullback.ts');
const add = (file: string, text: string) => writeFileSync(join(folder, file), text);
/** A sound strategy with some of its fields changed, in a file of three lines. */
const sound = (changes: string, example = './shared/example.ts') =>
  `import example from '${example}';\n\nexport default { ...example, ${changes} };`;

function open(limits: { loadLimitMs?: number; startupLimitMs?: number } = {}): LocalStrategies {
  const strategies = new LocalStrategies({ folder, ...limits });
  opened.push(strategies);
  return strategies;
}

/** Files that cannot be used. */
const brokenOf = async (strategies = open()) => (await strategies.list()).broken;
/** Names that are not built in. */
async function namesOf(strategies: LocalStrategies): Promise<string[]> {
  const { strategies: all } = await strategies.list();
  return all.map(({ definition }) => definition.name).filter((name) => !findBuiltIn(name));
}

describe('a broken strategy file is listed with its line and error', () => {
  const cases: readonly [string, string, number | null, string][] = [
    ['is no definition', 'export default 5;', 1, 'the file must export default defineStrategy({...})'],
    ['exports nothing as default', 'export const x = 1;', null, 'it has no default export'],
    ['is null', '\nexport default null;', null, 'it has no default export'],
    ['is unsound', sound(`name: 'mine', stoploss: 1`), 3, 'stoploss must be above -1 and below 0'],
    ['throws at load', `\n\nthrow new Error('no such thing');`, 3, 'no such thing'],
    ['throws a text', `throw 'no such thing';`, null, 'no such thing'],
    [
      'throws when called',
      sound(`name: 'mine',\n startupCandles() {\n  throw new Error('none') }`),
      5,
      'none',
    ],
    ['imports what does not exist', `\nimport './none.ts';`, 2, "Cannot find module 'none.ts'"],
    ['imports more than it may', `\nimport 'node:fs';`, 2, 'imports "node:fs"'],
    [
      'takes the name of a built-in strategy',
      sound(`name: 'supertrend'`),
      3,
      'a built-in strategy has the name',
    ],
    ['does not parse', 'export default {\n  a: [1,\n};', 3, 'Expression expected'],
    ['declares twice', 'const a = 1;\n\nconst a = 2;', 3, "Identifier 'a' has already been declared"],
    [
      'has data without end',
      sound(`name: 'mine', description: 'x'.repeat(300_000)`),
      null,
      'its data is too large',
    ],
    [
      'has data in a circle',
      `const p = { kind: 'integer', default: 1, min: 1, max: 2, description: 'x' }; p.self = p;\n${sound(`name: 'mine', parameters: { p }, startupCandles: () => 1`)}`,
      null,
      'circular structure',
    ],
    [
      'has a choice that is no value',
      sound(
        `name: 'mine', parameters: { p: { kind: 'choice', default: 1, choices: [1, {}], description: 'x' } }`,
      ),
      3,
      'parameters.p: choices must be texts, numbers, true or false',
    ],
    ['exits', `\nprocess.exit(0);`, 2, 'loading did not finish: it ended its process'],
    ['waits for ever', 'await new Promise(() => {});', null, 'loading did not finish: it ended its process'],
    [
      'needs more memory than it has',
      'const hoard = []; for (;;) hoard.push(new Array(100_000).fill(hoard.length));',
      null,
      'loading did not finish: it needed more than 128 MB',
    ],
  ];

  it('each of them, and no other strategy', async () => {
    for (const [index, [, text]] of cases.entries()) {
      // Each has a name of its own.
      add(`file_${100 + index}.ts`, text.replace(`'mine'`, `'mine_${index}'`));
    }
    add('sound.ts', sound(`name: 'sound'`));
    const strategies = open({ loadLimitMs: 60_000 });
    const broken = await brokenOf(strategies);
    const listed = broken.map(({ line, error }, index) => [cases[index]![0], line, error]);
    expect(listed).toEqual(
      cases.map(([title, , line, error]) => [title, line, expect.stringContaining(error)]),
    );
    expect(broken.map(({ file }) => file)).toEqual(cases.map((_, index) => `file_${100 + index}.ts`));
    expect(await namesOf(strategies)).toEqual(['sound']);
  });

  it.each([
    ['loops', 'for (;;);'],
    ['loops when called', sound('startupCandles() { for (;;); }')],
  ])('that %s', async (_, text) => {
    add('broken.ts', text);
    expect(await brokenOf(open({ loadLimitMs: 1_000 }))).toMatchObject([
      { file: 'broken.ts', error: expect.stringContaining('it was still loading after 1 s') },
    ]);
  });

  it('that is a link, and no other file can be used until it is gone', async () => {
    symlinkSync(EXAMPLE, join(folder, 'link.ts'));
    add('sound.ts', sound(`name: 'sound'`));
    const strategies = open();
    expect(await brokenOf(strategies)).toMatchObject([
      { file: 'link.ts', error: expect.stringContaining('it is a link') },
    ]);
    expect(await namesOf(strategies)).toEqual([]);
    rmSync(join(folder, 'link.ts'));
    expect(await brokenOf(strategies)).toEqual([]);
    expect(await namesOf(strategies)).toEqual(['sound']);
  });

  it('whose shared file throws', async () => {
    add('shared/levels.ts', '\nexport const level = nowhere;');
    add('broken.ts', `\nimport { level } from './shared/levels.ts';\n${sound(`name: 'mine', x: level`)}`);
    expect(await brokenOf()).toMatchObject([
      { file: 'broken.ts', line: 2, error: 'nowhere is not defined (shared/levels.ts:2)' },
    ]);
  });

  it('of two with one name: the second', async () => {
    add('one.ts', sound(`name: 'mine', description: 'The first'`));
    add('two.ts', sound(`name: 'mine'`));
    const strategies = open();
    expect(await brokenOf(strategies)).toMatchObject([
      { file: 'two.ts', line: 3, error: 'one.ts has the name mine already; give this strategy another name' },
    ]);
    expect((await strategies.find('mine'))!.definition.description).toBe('The first');
  });
});

describe('a process that reads a strategy file', () => {
  it('has an empty environment', async () => {
    const env = '(globalThis as any).process.env';
    add('mine.ts', sound(`name: 'mine', description: 'has ' + JSON.stringify(${env})`));
    expect((await open().find('mine'))!.definition.description).toBe('has {}');
  });

  it.each([
    [
      'writes replies of its own to standard output',
      `process.stdout.write('{"definition":{},"startup":1}\\n');`,
    ],
    ['pollutes Object.prototype', `Object.prototype.x = 'y'; Object.prototype.stoploss = 5;`],
    ['replaces JSON.parse', `JSON.parse = () => ({});`],
  ])('describes its strategy when it %s', async (_, text) => {
    add('mine.ts', `${text}\n${sound(`name: 'mine'`)}`);
    add('other.ts', sound(`name: 'other'`));
    const strategies = open();
    expect(await namesOf(strategies)).toEqual(['mine', 'other']);
    expect((await strategies.find('mine'))!.definition.stoploss).toBe(
      (await strategies.find('other'))!.definition.stoploss,
    );
    expect(({} as { x?: string }).x).toBeUndefined();
  });

  it('is not believed when its reply is not one', async () => {
    const replies = {
      'a.ts': 'nonsense',
      'b.ts': '{}',
      'c.ts': forged({ stoploss: 7 }),
      'd.ts': forged({ name: '__proto__' }),
      'e.ts': forged({ pairs: 'BTC' }),
      'f.ts': forged({
        parameters: { p: { kind: 'integer', default: 5, min: 1, max: 2, description: 'x' } },
      }),
      'g.ts': 'x'.repeat(400_000),
    };
    for (const [file, reply] of Object.entries(replies)) {
      const fs = '(globalThis as any).process.getBuiltinModule("node:fs")';
      add(file, `${fs}.writeSync(4, ${JSON.stringify(`${reply}\n`)});\n${sound(`name: 'mine'`)}`);
    }
    add('other.ts', sound(`name: 'other'`));
    const strategies = open({ loadLimitMs: 60_000 });
    expect((await brokenOf(strategies)).map(({ file }) => file)).toEqual(Object.keys(replies));
    expect(await namesOf(strategies)).toEqual(['other']);
  });
});

function forged(changes: Record<string, unknown>): string {
  const definition = {
    ...{ name: 'forged', description: 'x', timeframe: '1h', pairs: ['BTC/USDT:USDT'], stakeAmount: 1 },
    ...{ parameters: {}, stoploss: -0.1, callbacks: [], ownFeatures: false, ownLabel: false },
  };
  return JSON.stringify({ definition: { ...definition, ...changes }, startup: 1 });
}

describe('startup candles', () => {
  const strategy = (body: string) =>
    sound(
      `name: 'mine', parameters: { n: { kind: 'integer', default: 1, min: 0, max: 100, description: 'N' } }, startupCandles({ n }) { ${body} }`,
    );
  const refusal = async (answer: Promise<number>) => {
    const error = await answer.then(
      (value) => `answered ${value}`,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(CodedError);
    expect(error).toMatchObject({ code: 'VAL006', field: 'config.params' });
    return (error as CodedError).message;
  };

  it('are computed for many parameters at the same time', async () => {
    add('mine.ts', strategy('return 2 * n;'));
    const mine = (await open().find('mine'))!;
    const answers = await Promise.all(
      Array.from({ length: 300 }, (_, n) => mine.startupCandles({ n: n % 100 })),
    );
    expect(answers).toEqual(Array.from({ length: 300 }, (_, n) => 2 * (n % 100)));
    expect(mine.defaultStartup).toBe(2);
  });

  it.each([
    ['loops', 'if (n > 50) for (;;); return n;', 'did not return within 2 s for {"n":99}'],
    ['exits', 'if (n > 50) process.exit(); return n;', 'failed (it ended its process) for {"n":99}'],
    ['throws', `if (n > 50) throw new Error('no'); return n;`, 'startupCandles() threw "no'],
    ['returns a half', 'return n / 2;', 'answered 49.5, which is not an integer from 0 to 1000000'],
    ['returns too many', 'return n > 50 ? 1e9 : n * 2;', 'answered 1000000000, which is not an integer'],
    ['returns text', `return n > 50 ? '7' : n;`, 'answered 7, which is not an integer'],
  ])('are VAL006 when the function %s, and other parameters have theirs', async (_, body, message) => {
    add('mine.ts', strategy(body.startsWith('return n /') ? `if (n <= 50) return n; ${body}` : body));
    add('other.ts', sound(`name: 'other', startupCandles: () => 5`));
    const strategies = open({ loadLimitMs: 30_000, startupLimitMs: 2_000 });
    const [mine, other] = [(await strategies.find('mine'))!, (await strategies.find('other'))!];
    const [bad, good, elsewhere] = await Promise.allSettled([
      refusal(mine.startupCandles({ n: 99 })),
      mine.startupCandles({ n: 4 }),
      other.startupCandles({ n: 1 }),
    ]);
    expect(bad).toMatchObject({ status: 'fulfilled', value: expect.stringContaining(message) });
    expect(good).toMatchObject({ status: 'fulfilled' });
    expect(elsewhere).toEqual({ status: 'fulfilled', value: 5 });
  });

  it('are VAL006 when the reply is forged, and asked of a fresh process after', async () => {
    const forges = `(globalThis as any).process.getBuiltinModule('node:fs').writeSync(4, '{"id":1,"startup":-3}\\n'); return n;`;
    add('mine.ts', strategy(`if (n === 7) { ${forges} } return n;`));
    const mine = (await open({ loadLimitMs: 30_000 }).find('mine'))!;
    expect(await refusal(mine.startupCandles({ n: 7 }))).toContain('startupCandles() failed');
    expect(await mine.startupCandles({ n: 8 })).toBe(8);
  });

  it('are computed by a fresh process when the kept one has ended', async () => {
    add('mine.ts', `setTimeout(() => process.exit(), 1);\n${strategy('return n;')}`);
    const mine = (await open({ loadLimitMs: 30_000 }).find('mine'))!;
    const answers = [];
    for (const n of [2, 3, 4]) answers.push(await mine.startupCandles({ n }).catch(() => n));
    expect(answers).toEqual([2, 3, 4]);
  });
});

describe('files that change', () => {
  it('count from the next call on', async () => {
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
    rmSync(join(folder, 'mine.ts'));
    expect(await strategies.find('yours')).toBeUndefined();
  });

  it('count when only a shared file has changed', async () => {
    add('shared/levels.ts', 'export const level = 10;');
    add(
      'mine.ts',
      `import { level } from './shared/levels.ts';\n${sound(`name: 'mine', stakeAmount: level`)}`,
    );
    const strategies = open();
    expect((await strategies.find('mine'))!.definition.stakeAmount).toBe(10);
    add('shared/levels.ts', 'export const level = 20;');
    expect((await strategies.find('mine'))!.definition.stakeAmount).toBe(20);
  });

  it('are listed as broken under their former name, and used when they are corrected', async () => {
    add('mine.ts', sound(`name: 'mi' + 'ne'`));
    const strategies = open();
    await strategies.list();
    add('mine.ts', 'no TypeScript');
    expect(await brokenOf(strategies)).toMatchObject([{ file: 'mine.ts', line: 1, strategy: 'mine' }]);
    add('mine.ts', sound(`name: 'mi' + 'ne'`));
    expect(await brokenOf(strategies)).toEqual([]);
    expect(await strategies.find('mine')).toBeDefined();
  });

  it('that load for ever keep no other strategy waiting', async () => {
    add('sound.ts', sound(`name: 'sound'`));
    const strategies = open({ loadLimitMs: 60_000 });
    await strategies.list();
    add('loops.ts', 'for (;;);');
    expect(await strategies.find('sound')).toBeDefined();
    expect(await strategies.find('supertrend')).toBeDefined();
  });
});

it('a folder that does not exist holds the built-in strategies, until it exists', async () => {
  rmSync(folder, { recursive: true });
  const strategies = open();
  expect(await namesOf(strategies)).toEqual([]);
  expect(await brokenOf(strategies)).toEqual([]);
  mkdirSync(join(folder, 'shared'), { recursive: true });
  copyFileSync(EXAMPLE, join(folder, 'mine.ts'));
  expect(await namesOf(strategies)).toEqual(['example_pullback']);
});

describe('strategies in this process', () => {
  const inProcess = (changes: string) => sound(changes, pathToFileURL(EXAMPLE).href);

  it('are there under their names', async () => {
    add('mine.ts', inProcess(`name: 'mine'`));
    const { strategies, broken } = await (await loadStrategies(folder)).list();
    const names = strategies.map(({ definition }) => definition.name);
    expect(names).toEqual(expect.arrayContaining(['mine', 'supertrend']));
    expect(broken).toEqual([]);
  });

  it('are refused with the file that cannot be used', async () => {
    add('broken.ts', inProcess(`name: 'mine', stoploss: 1`));
    await expect(loadStrategies(folder)).rejects.toThrow(
      /^Strategy file broken\.ts: stoploss must be above -1 and below 0$/,
    );
  });

  it('are refused with the other file that has the name', async () => {
    add('one.ts', inProcess(`name: 'mine'`));
    add('two.ts', inProcess(`name: 'mine'`));
    await expect(loadStrategies(folder)).rejects.toThrow(
      'Strategy file two.ts: strategy file one.ts has the name mine already',
    );
  });

  describe('one of a folder', () => {
    async function refusal(name: string): Promise<string> {
      const error = await findStrategy(name, folder).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(CodedError);
      expect((error as CodedError).code).toBe('VAL006');
      return (error as CodedError).message;
    }

    it('is found whatever its file is called and whatever the others do', async () => {
      add('a.ts', 'this is no TypeScript');
      add('b.ts', 'for (;;);');
      add('c.ts', `throw new Error('calls itself "mine" and is broken');`);
      add('d.ts', inProcess(`name: 'mine'`));
      expect(await findStrategy('mine', folder)).toMatchObject({
        definition: { name: 'mine' },
        file: 'd.ts',
      });
    });

    it('is found by a name that its file puts together', async () => {
      add('a.ts', inProcess(`name: 'mi' + 'ne'`));
      expect(await findStrategy('mine', folder)).toMatchObject({ definition: { name: 'mine' } });
    });

    it('is that of the digest where two define the name', async () => {
      add('a.ts', inProcess(`name: 'mine'`));
      add('b.ts', inProcess(`name: 'mi' + 'ne'`));
      const { digest } = (await findStrategy('mine', folder))!;
      rmSync(join(folder, 'a.ts'));
      const other = (await findStrategy('mine', folder))!.digest;
      add('a.ts', inProcess(`name: 'mine'`));
      expect(await findStrategy('mine', folder, digest)).toMatchObject({ file: 'a.ts' });
      expect(await findStrategy('mine', folder, other)).toMatchObject({ file: 'b.ts' });
    });

    it.each([
      [
        'does not parse',
        `export default { name: 'mine', `,
        /^Strategy mine cannot be loaded\. .*broken\.ts: /,
      ],
      ['throws', `throw new Error('mine' && 'no such thing');`, /broken\.ts: no such thing$/],
      [
        'is unsound',
        inProcess(`name: 'mine', stoploss: 1`),
        /broken\.ts: stoploss must be above -1 and below 0$/,
      ],
    ])('that %s is VAL006 with its file alone', async (_, source, message) => {
      add('another.ts', 'nor is this');
      add('broken.ts', source);
      const text = await refusal('mine');
      expect(text).toMatch(message);
      expect(text).not.toContain('another');
    });

    it('that none of the files quotes may be in any that cannot be loaded', async () => {
      add('broken.ts', 'nor is this');
      expect(await refusal('mine')).toMatch(/broken\.ts: /);
    });

    it('is undefined when every file is sound and none defines it', async () => {
      add('a.ts', inProcess(`name: 'other'`));
      expect(await findStrategy('mine', folder)).toBeUndefined();
    });

    it('that is built in needs no file', async () => {
      add('broken.ts', 'for (;;);');
      expect(await findStrategy('supertrend', folder)).toMatchObject({ definition: { name: 'supertrend' } });
    });
  });
});
