import { describe, expect, it } from 'vitest';
import { namesOf, sound, startupRejection, strategiesFixture, withStartup } from './strategies-fixture.ts';

const fixture = strategiesFixture();
const { add, open, brokenOf } = fixture;

describe('broken strategy file', () => {
  const cases: readonly [string, string, number | null, string][] = [
    [
      'exports a number as default',
      'export default 5;',
      1,
      'the file must export default defineStrategy({...})',
    ],
    ['exports nothing as default', 'export const x = 1;', null, 'it has no default export'],
    ['is null', '\nexport default null;', null, 'it has no default export'],
    ['is invalid', sound(`name: 'mine', stoploss: 1`), 3, 'stoploss must be above -1 and below 0'],
    ['throws at load', `\n\nthrow new Error('no such thing');`, 3, 'no such thing'],
    ['throws a string', `throw 'no such thing';`, null, 'no such thing'],
    [
      'throws when called',
      sound(`name: 'mine',\n startupCandles() {\n  throw new Error('none') }`),
      5,
      'none',
    ],
    ['imports a missing file', `\nimport './none.ts';`, 2, "Cannot find module 'none.ts'"],
    ['imports a forbidden module', `\nimport 'node:fs';`, 2, 'imports "node:fs"'],
    [
      'takes the name of a built-in strategy',
      sound(`name: 'supertrend'`),
      3,
      'a built-in strategy has the name',
    ],
    ['does not parse', 'export default {\n  a: [1,\n};', 3, 'Expression expected'],
    ['declares twice', 'const a = 1;\n\nconst a = 2;', 3, "Identifier 'a' has already been declared"],
    [
      'has 300 kB of data',
      sound(`name: 'mine', description: 'x'.repeat(300_000)`),
      null,
      'its data is too large',
    ],
    [
      'has circular data',
      `const p = { kind: 'integer', default: 1, min: 1, max: 2, description: 'x' }; p.self = p;\n${sound(`name: 'mine', parameters: { p }, startupCandles: () => 1`)}`,
      null,
      'circular structure',
    ],
    [
      'has a choice that is an object',
      sound(
        `name: 'mine', parameters: { p: { kind: 'choice', default: 1, choices: [1, {}], description: 'x' } }`,
      ),
      3,
      'parameters.p: choices must be strings, numbers, true or false',
    ],
    ['exits', `\nprocess.exit(0);`, 2, 'process.exit is not a function'],
    ['waits forever', 'await new Promise(() => {});', null, 'loading did not finish: it ended its process'],
    [
      'needs more memory than it has',
      'const hoard = []; for (;;) hoard.push(new Array(100_000).fill(hoard.length));',
      null,
      'loading did not finish: it needed more than 128 MB',
    ],
  ];

  it('list reports every broken file with its line and error, and no other strategy', async () => {
    for (const [index, [, text]] of cases.entries()) {
      // Names must differ.
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

  it.each([['loops when called', sound('startupCandles() { for (;;); }')]])(
    'list reports a file that %s when the load limit is exceeded',
    async (_, text) => {
      add('broken.ts', text);
      expect(await brokenOf(open({ loadLimitMs: 1_000 }))).toMatchObject([
        { file: 'broken.ts', error: expect.stringContaining('it was still loading after 1 s') },
      ]);
    },
  );
});

describe('process that reads a strategy file', () => {
  it('list rejects every file that forges an invalid reply', async () => {
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
    expect((await brokenOf(strategies)).map(({ file, error }) => [file, error])).toEqual(
      Object.keys(replies).map((file) => [
        file,
        expect.stringContaining('process.getBuiltinModule is not a function'),
      ]),
    );
    expect(await namesOf(strategies)).toEqual(['other']);
  });

  it.each([
    ['writes forged replies to standard output', `console.log('{"definition":{},"startup":1}');`],
    ['replaces JSON.parse', `try { JSON.parse = () => ({}); } catch {}`],
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

function forged(changes: Record<string, unknown>): string {
  const definition = {
    name: 'forged',
    description: 'x',
    timeframe: '1h',
    pairs: ['BTC/USDT:USDT'],
    stakeAmount: 1,
    parameters: {},
    stoploss: -0.1,
    callbacks: [],
    ownFeatures: false,
    ownLabel: false,
  };
  return JSON.stringify({ definition: { ...definition, ...changes }, startup: 1 });
}

describe('startupCandles', () => {
  it.each([
    ['exits', 'if (n > 50) process.exit(); return n;', 'process.exit is not a function'],
    ['returns too many', 'return n > 50 ? 1e9 : n * 2;', 'returned 1000000000, which is not an integer'],
    ['returns a string', `return n > 50 ? '7' : n;`, 'returned 7, which is not an integer'],
    ['loops', 'if (n > 50) for (;;); return n;', 'did not return within 2 s for {"n":99}'],
    [
      'returns a fraction',
      'if (n <= 50) return n; return n / 2;',
      'returned 49.5, which is not an integer from 0 to 1000000',
    ],
  ])('startupCandles throws VAL006 only for the parameters for which the function %s', (_, body, message) =>
    fixture.expectRejection(body, message),
  );

  it('startupCandles of a file may name timeframes', async () => {
    add('mine.ts', sound(`name: 'mine', timeframe: '1h', startupCandles: { '1h': 5, '4h': 2 }`));
    const mine = (await open({ loadLimitMs: 30_000 }).find('mine'))!;
    const startup = { own: 5, named: { '1h': 5, '4h': 2 } };
    expect([mine.defaultStartup, await mine.startupCandles({})]).toEqual([startup, startup]);
  });

  it('startupCandles cannot forge a reply', async () => {
    const forges = `(globalThis as any).process.getBuiltinModule('node:fs').writeSync(4, '{"id":1,"startup":3}\\n'); return n;`;
    add('mine.ts', withStartup(`if (n === 7) { ${forges} } return n;`));
    const mine = (await open({ loadLimitMs: 30_000 }).find('mine'))!;
    expect(await startupRejection(mine.startupCandles({ n: 7 }))).toContain(
      'process.getBuiltinModule is not a function',
    );
    expect(await mine.startupCandles({ n: 8 })).toBe(8);
  });

  it('startupCandles uses a new process when the previous one has ended', async () => {
    add('mine.ts', `setTimeout(() => { throw new Error('late'); }, 1);\n${withStartup('return n;')}`);
    const mine = (await open({ loadLimitMs: 30_000 }).find('mine'))!;
    const responses = [];
    for (const n of [2, 3, 4]) responses.push(await mine.startupCandles({ n }).catch(() => n));
    expect(responses).toEqual([2, 3, 4]);
  });

  it('startupCandles is computed concurrently for many parameters', async () => {
    add('mine.ts', withStartup('return 2 * n;'));
    const mine = (await open().find('mine'))!;
    const responses = await Promise.all(
      Array.from({ length: 300 }, (_, n) => mine.startupCandles({ n: n % 100 })),
    );
    expect(responses).toEqual(Array.from({ length: 300 }, (_, n) => 2 * (n % 100)));
    expect(mine.defaultStartup).toBe(2);
  });
});

describe('changed strategy files', () => {
  it('changed shared file takes effect on the next call', async () => {
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

  it('broken file is listed under its former name and works again after correction', async () => {
    add('mine.ts', sound(`name: 'mi' + 'ne'`));
    const strategies = open();
    await strategies.list();
    add('mine.ts', 'no TypeScript');
    expect(await brokenOf(strategies)).toMatchObject([{ file: 'mine.ts', line: 1, strategy: 'mine' }]);
    add('mine.ts', sound(`name: 'mi' + 'ne'`));
    expect(await brokenOf(strategies)).toEqual([]);
    expect(await strategies.find('mine')).toBeDefined();
  });
});
