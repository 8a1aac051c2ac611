import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findStrategy, loadStrategies } from '#adapters/strategies.ts';
import { loadStrategyFiles } from '#adapters/strategy-files.ts';
import { CodedError } from '#contract/errors.ts';
import { startPlatform } from '../../src/local/platform.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'touchstone-strategies-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const add = (file: string, text: string) => writeFileSync(join(folder, file), text);
const EXAMPLE = pathToFileURL(join(import.meta.dirname, '../../strategies/example_pullback.ts')).href;
/** A sound strategy with some of its fields changed. */
const sound = (changes: string) =>
  `import example from '${EXAMPLE}'; export default { ...example, ${changes} };`;

describe('a strategy file that cannot be used is named', () => {
  it.each([
    ['is no definition', 'export default 5;', 'the file must export default defineStrategy({...})'],
    ['exports nothing as default', 'export const x = 1;', 'it has no default export'],
    ['is null', 'export default null;', 'it has no default export'],
    ['is unsound', sound(`name: 'mine', stoploss: 1`), 'stoploss must be above -1 and below 0'],
    ['throws at load', `throw new Error('no such thing');`, 'no such thing'],
    ['throws a text', `throw 'no such thing';`, 'no such thing'],
    ['throws when asked', sound(`name: 'mine', startupCandles() { throw new Error('none') }`), 'none'],
    ['imports what is not there', `import './none.ts';`, /Cannot find module .*none\.ts/],
    [
      'takes the name of a built-in one',
      sound(`name: 'supertrend'`),
      'a built-in strategy has the name supertrend',
    ],
  ])('that %s', async (_, text, problem) => {
    add('broken.ts', text);
    await expect(loadStrategies(folder)).rejects.toThrow(/^Strategy file .*broken\.ts: /);
    await expect(loadStrategies(folder)).rejects.toThrow(problem);
  });

  // Node itself has to read these: the test runner has a parser of its own.
  it.each([
    ['does not parse', 'export default {\n  a: [1,\n};', 'Expression expected'],
    ['declares twice', 'const a = 1;\n\nconst a = 2;', "Identifier 'a' has already been declared"],
  ])('that %s, with the line', async (_, text, problem) => {
    add('broken.ts', text);
    const module = join(import.meta.dirname, '../../src/adapters/strategies.ts');
    const script = `const { loadStrategies } = await import(${JSON.stringify(module)});
      await loadStrategies(${JSON.stringify(folder)}).catch((error) => console.log(error.message));`;
    const file = join(folder, 'broken.ts');
    expect(
      execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }),
    ).toMatch(new RegExp(`^Strategy file ${file}: ${problem} \\((file://)?${file}:[34]\\)`));
  });

  it('with the other file that has its name', async () => {
    add('one.ts', sound(`name: 'mine'`));
    add('two.ts', sound(`name: 'mine'`));
    await expect(loadStrategies(folder)).rejects.toThrow(
      'Strategy file two.ts: strategy file one.ts has the name mine already',
    );
  });
});

describe('a strategy file that never ends loading', () => {
  it.each([
    ['loops', 'for (;;);', 'it was still loading after'],
    ['loops when asked', sound('startupCandles() { for (;;); }'), 'it was still loading after'],
    ['waits for ever', 'await new Promise(() => {});', 'it did not come to the end of loading'],
    ['exits', 'process.exit(0);', 'it did not come to the end of loading'],
  ])('since it %s is named', async (_, text, problem) => {
    add('a.ts', sound(`name: 'mine'`));
    add('b.ts', text);
    // Long enough for a.ts, which ends by itself.
    await expect(loadStrategyFiles(folder, 3_000)).rejects.toThrow(
      `Strategy file ${join(folder, 'b.ts')}: ${problem}`,
    );
  });

  it('does not start the platform', async () => {
    mkdirSync(join(folder, 'strategies'));
    add('strategies/exits.ts', 'process.exit(0);');
    const started = startPlatform({
      home: join(folder, 'home'),
      ports: { backend: 0, strategy: 0, dataCollection: 0 },
      strategiesDirectory: join(folder, 'strategies'),
    });
    await expect(started).rejects.toThrow(/Strategy file .*exits\.ts: it did not come to the end/);
  });
});

it('sound files are there under their names', async () => {
  add('mine.ts', sound(`name: 'mine'`));
  const { registry } = await loadStrategies(folder);
  expect(registry.names()).toContain('mine');
  expect(registry.names()).toContain('supertrend');
});

describe('one strategy of a folder', () => {
  async function refusal(name: string, limitMs?: number): Promise<string> {
    const error = await findStrategy(name, folder, limitMs).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CodedError);
    expect((error as CodedError).code).toBe('VAL006');
    return (error as CodedError).message;
  }

  it('is found whatever its file is called and whatever the others do', async () => {
    add('a.ts', 'this is no TypeScript');
    add('b.ts', 'for (;;);');
    add('c.ts', `throw new Error('calls itself "mine" and is broken');`);
    add('d.ts', sound(`name: 'mine'`));
    expect(await findStrategy('mine', folder)).toMatchObject({ definition: { name: 'mine' }, file: 'd.ts' });
  });

  it('is found by a name that its file puts together', async () => {
    add('a.ts', sound(`name: 'mi' + 'ne'`));
    expect(await findStrategy('mine', folder)).toMatchObject({ definition: { name: 'mine' } });
  });

  it.each([
    ['does not parse', `export default { name: 'mine', `, /^Strategy mine cannot be loaded\. .*broken\.ts: /],
    ['throws', `throw new Error('mine' && 'no such thing');`, /broken\.ts: no such thing$/],
    [
      'loops',
      `const name = 'mine'; for (;;);`,
      /broken\.ts: it was still loading after 1 s; does it loop\?$/,
    ],
    ['is unsound', sound(`name: 'mine', stoploss: 1`), /broken\.ts: stoploss must be above -1 and below 0$/],
  ])('that %s is VAL006 with its file alone', async (_, source, message) => {
    add('another.ts', 'nor is this');
    add('broken.ts', source);
    const text = await refusal('mine', 1_000);
    expect(text).toMatch(message);
    expect(text).not.toContain('another');
  });

  it('that none of the files quotes may be in any that cannot be loaded', async () => {
    add('broken.ts', 'nor is this');
    expect(await refusal('mine')).toMatch(/broken\.ts: /);
  });

  it('is undefined when every file is sound and none defines it', async () => {
    add('a.ts', sound(`name: 'other'`));
    expect(await findStrategy('mine', folder)).toBeUndefined();
  });

  it('that is built in needs no file', async () => {
    add('broken.ts', 'for (;;);');
    const { digestOf } = await loadStrategies(join(folder, 'nowhere'));
    expect(await findStrategy('supertrend', folder)).toMatchObject({
      definition: { name: 'supertrend' },
      digest: digestOf('supertrend'),
    });
  });
});
