import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { sha256 } from '#adapters/sha256.ts';
import { digestStrategyFiles, loadStrategyFiles } from '#adapters/strategies/strategy-files.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'touchstone-strategy-files-'));
  mkdirSync(join(folder, 'shared'));
  writeFileSync(join(folder, 'shared/levels.ts'), 'export const level = 1;');
  writeFileSync(
    join(folder, 'one.ts'),
    "import { level } from './shared/levels.ts'; export default { name: 'one', level };",
  );
  writeFileSync(join(folder, 'two.ts'), "export default { name: 'two' };");
});
afterEach(() => rmSync(folder, { recursive: true }));

it('loadStrategyFiles returns the files of the folder without shared modules', async () => {
  const files = await loadStrategyFiles(folder);
  expect(files.map(({ file, definition }) => [file, definition.name])).toEqual([
    ['one.ts', 'one'],
    ['two.ts', 'two'],
  ]);
});

it('digest changes with the file or a module it can import', async () => {
  const before = await digestStrategyFiles(folder);
  writeFileSync(join(folder, 'two.ts'), "export default { name: 'two', changed: true };");
  const own = await digestStrategyFiles(folder);
  expect(own.get('one.ts')).toBe(before.get('one.ts'));
  expect(own.get('two.ts')).not.toBe(before.get('two.ts'));
  writeFileSync(join(folder, 'shared/levels.ts'), 'export const level = 2;');
  expect((await digestStrategyFiles(folder)).get('one.ts')).not.toBe(before.get('one.ts'));
});

it('property of a definition has one value, also with a getter', async () => {
  const source = "let reads = 0; export default { name: 'two', get callbacks() { return ++reads; } };";
  writeFileSync(join(folder, 'two.ts'), source);
  const [, two] = await loadStrategyFiles(folder);
  for (const { callbacks } of [two!.definition, two!.definition, await two!.load!()])
    expect(callbacks).toBe(1);
});

it.each([
  ['data', 'data.json', '[1]', '[2]'],
  ['shared data', 'shared/data.json', '[1]', '[2]'],
  ['a shared module of JavaScript', 'shared/levels.mjs', 'export const a = 1;', 'export const a = 2;'],
  ['a module of JavaScript', 'levels.js', 'export const a = 1;', 'export const a = 2;'],
  ['a module', 'levels.mts', 'export const a = 1;', 'export const a = 2;'],
])('digest changes with %s', async (_, file, before, after) => {
  writeFileSync(join(folder, file), before);
  const digests = await digestStrategyFiles(folder);
  writeFileSync(join(folder, file), after);
  expect((await digestStrategyFiles(folder)).get('one.ts')).not.toBe(digests.get('one.ts'));
});

it('digest changes with a strategy that the file imports, and with those that this one imports', async () => {
  writeFileSync(join(folder, 'three.ts'), "export { default } from './two.ts';");
  writeFileSync(join(folder, 'four.ts'), "export { default } from './three.ts';");
  const before = await digestStrategyFiles(folder);
  expect([...before.keys()]).toEqual(['four.ts', 'one.ts', 'three.ts', 'two.ts']);
  writeFileSync(join(folder, 'two.ts'), "export default { name: 'two', changed: true };");
  const after = await digestStrategyFiles(folder);
  const changed = [...after.keys()].filter((file) => after.get(file) !== before.get(file));
  expect(changed).toEqual(['four.ts', 'three.ts', 'two.ts']);
  writeFileSync(
    join(folder, 'shared/levels.ts'),
    "export { default } from '../two.ts'; export const level = 1;",
  );
  const shared = await digestStrategyFiles(folder);
  writeFileSync(join(folder, 'two.ts'), "export default { name: 'two' };");
  expect((await digestStrategyFiles(folder)).get('one.ts')).not.toBe(shared.get('one.ts'));
});

it('loadStrategyFiles rejects a file without a strategy by name', async () => {
  writeFileSync(join(folder, 'helper.ts'), 'export const x = 1;');
  await expect(loadStrategyFiles(folder)).rejects.toThrow(/helper\.ts: it has no default export/);
});

it('loadStrategyFiles returns an empty list for a missing folder', async () => {
  expect(await loadStrategyFiles(join(folder, 'nowhere'))).toEqual([]);
});

it.each([
  ['a file', 'linked.ts', 'one.ts'],
  ['a folder', 'linked', 'shared'],
  ['a data file', 'shared/data', '/etc/passwd'],
])('loadStrategyFiles rejects a link to %s by name', async (_, link, target) => {
  symlinkSync(target.startsWith('/') ? target : join(folder, target), join(folder, link));
  await expect(loadStrategyFiles(folder)).rejects.toThrow(`${join(folder, link)}: it is a link`);
});

it('line breaks and quotes in the names of files make no two folders one digest', async () => {
  const [a, b] = ['export const a = 1;', 'export const b = 1;'];
  const strange = `a.ts ${sha256(a)}\nshared/b.ts`;
  const folders = [
    { 'shared/a.ts': a, 'shared/b.ts': b },
    { [`shared/${strange}`]: b },
    { [`shared/${JSON.stringify(strange).replaceAll('/', '.')}`]: b },
    { [`shared/${strange.replaceAll('/', '.')}`]: b },
  ];
  const digests = folders.map(async (files) => {
    const own = mkdtempSync(join(tmpdir(), 'touchstone-named-'));
    for (const [file, text] of Object.entries({ 'one.ts': "export default { name: 'one' };", ...files })) {
      mkdirSync(dirname(join(own, file)), { recursive: true });
      writeFileSync(join(own, file), text);
    }
    const digest = (await digestStrategyFiles(own)).get('one.ts');
    rmSync(own, { recursive: true });
    return digest;
  });
  expect(new Set(await Promise.all(digests)).size).toBe(folders.length);
});
