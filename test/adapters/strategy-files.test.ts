import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
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
