import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';

const CHECK = join(import.meta.dirname, '../../bin/check/size-budget.ts');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'touchstone-size-'));
  for (const name of ['src', 'test']) mkdirSync(join(folder, name));
  return () => rmSync(folder, { recursive: true, force: true });
});

/** Problems of these files under a budget, one line each. */
function problemsOf(
  budget: Readonly<Record<string, number>>,
  files: Readonly<Record<string, string>>,
): string {
  writeFileSync(join(folder, 'size-budget.json'), JSON.stringify(budget));
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  const script = `import(${JSON.stringify(CHECK)}).then(({ sizeProblems }) =>
    console.log(sizeProblems(${JSON.stringify(Object.keys(files))}).join('\\n')))`;
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', script], { cwd: folder, encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.trim();
}

/** `const a = 1;` has five tokens. */
const code = (statements: number) => 'const a = 1; // one\n\n'.repeat(statements);

test('size budget accepts up to 2 % more tokens, and counts no comments, blank lines and tests', () => {
  expect(problemsOf({ src: 500 }, { 'src/a.ts': code(102), 'test/a.ts': code(900) })).toBe('');
});

test.each([
  ['code above the budget', { src: 500 }, 'src has 515 tokens, 3.0 % more than its budget of 500'],
  ['code without a budget', {}, 'src has 515 tokens and no budget'],
  ['a budget without code', { src: 600, lib: 5 }, 'size-budget.json has a budget for lib, which has no code'],
])('size budget reports %s', (_, budget, problem) => {
  expect(problemsOf(budget, { 'src/a.ts': code(103) })).toContain(problem);
});
