import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { functionProblems } from '../../bin/check/function-size.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'touchstone-functions-'));
  return () => rmSync(folder, { recursive: true, force: true });
});

function problemsOf(source: string): string[] {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'code.ts');
  writeFileSync(file, source);
  return functionProblems(file).map((problem) => problem.slice(file.length));
}

const SIX = '(a: 1, b: 2, c: 3, d: 4, e: 5, f: 6)';
const FIVE = '(a: 1, b: 2, c: 3, d: 4, e: 5)';
/** A body that makes a function of this many lines. */
const body = (lines: number) => `{${'\n'.repeat(lines - 1)}}`;

test.each([
  ['a function', (rest: string) => `export function work${rest}`],
  ['an async function', (rest: string) => `export async function work${rest}`],
  ['a method', (rest: string) => `class A {\n  static async work${rest}\n}`],
  ['a function in a constant', (rest: string) => `export const work = function ${rest}`],
  ['a property', (rest: string) => `const a = { work: function ${rest} }`],
])('%s may have five parameters and 60 lines, more only with a reason', (_, declare) => {
  expect(problemsOf(declare(`${FIVE} ${body(60)}`))).toEqual([]);
  expect(problemsOf(declare(`${SIX} ${body(2)}`))).toEqual([
    expect.stringContaining('work has 6 parameters: split it, or say "More than five arguments because ..."'),
  ]);
  expect(problemsOf(declare(`${FIVE} ${body(61)}`))).toEqual([
    expect.stringContaining('work has 61 lines: split it, or say "Long because ..."'),
  ]);
});

test('a reason stands in the comment directly before the function', () => {
  const long = `export function work(): void ${body(61)}`;
  expect(problemsOf(`/** Long because it is a list. */\n${long}`)).toEqual([]);
  expect(problemsOf(`/**\n * A table. Long\n * because it is a list.\n */\n${long}`)).toEqual([]);
  expect(problemsOf(`/** A table. */\n${long}`)).toHaveLength(1);
  expect(problemsOf(`/** Long because it is a list. */\nconst a = 1;\n${long}`)).toHaveLength(1);
  expect(problemsOf(`/** More than five arguments because of speed. */\n${long}`)).toHaveLength(1);
  const many = `function work${SIX} {}`;
  expect(problemsOf(`/** More than five arguments because of speed. */\n${many}`)).toEqual([]);
  expect(problemsOf(`/** Long because it is a list. */\n${many}`)).toHaveLength(1);
});
