import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const RULES = join(ROOT, 'bin/check/import-rules.ts');

/** Copy of the sources and of the linter's configuration, in which a test plants a violation. */
let copy: string;
beforeEach(() => {
  copy = mkdtempSync(join(tmpdir(), 'touchstone-imports-'));
  for (const path of ['biome.json', 'package.json', '.gitignore', 'bin/check', 'src']) {
    cpSync(join(ROOT, path), join(copy, path), { recursive: true });
  }
  return () => rmSync(copy, { recursive: true, force: true });
});

function plant(file: string, line: string): void {
  appendFileSync(join(copy, file), `\n${line}\n`);
}

function run(command: string, args: readonly string[]): { code: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: copy, encoding: 'utf8' });
  return { code: status, output: `${stdout}${stderr}` };
}

describe('linter of npm run check', () => {
  const lint = () => run(join(ROOT, 'node_modules/.bin/biome'), ['ci', '--colors=off', '.']);

  test('accepts the sources', () => {
    const { code, output } = lint();
    expect(code, output).toBe(0);
  });

  // The simulator imports the rules of ROI; types.ts imports only types of trade-table.ts.
  test.each([
    ['through a #alias', 'rules/roi.ts', "export { simulate } from '#engine/simulator/simulate.ts';"],
    ['of types only', 'trade-table.ts', "export type { PairInput } from './types.ts';"],
  ])('reports an import cycle %s', (_, name, line) => {
    const file = `src/engine/simulator/${name}`;
    plant(file, line);
    const { code, output } = lint();
    expect(code).not.toBe(0);
    expect(output).toMatch(new RegExp(`^${file}:\\d+:\\d+ lint/suspicious/noImportCycles`, 'm'));
  });
});

describe('packed literals', () => {
  test.each([
    ['the spread of a list', "export const list = [...['a', 'b'], 'c'];"],
    ['the spread of an object', 'export const row = { ...{ a: 1, b: 2 }, c: 3 };'],
    ['a spread with a type', "export const list = [...(['a', 'b'] as const), 'c'];"],
    ['the spread of arguments', 'export const most = Math.max(...[1, 2]);'],
    ['a union in brackets', "export type Name = 'a' | ('b' | 'c');"],
  ])('reports %s as packed', (_, line) => {
    plant('src/engine/version.ts', line);
    const { code, output } = run(join(ROOT, 'node_modules/.bin/biome'), [
      'lint',
      '--colors=off',
      'src/engine/version.ts',
    ]);
    expect(code).not.toBe(0);
    expect(output).toMatch(/^src\/engine\/version\.ts:\d+:\d+ plugin/m);
  });
});

describe('import rules of npm run check', () => {
  /** What a call of the rules returns for the copy, one line each. */
  const check = (call: string) => {
    const script = `const { importProblems, siblingProblems } = await import(${JSON.stringify(RULES)});
      const { imports } = JSON.parse(require('node:fs').readFileSync('package.json', 'utf8'));
      console.log(${call}.join('\\n'));`;
    return run(process.execPath, ['-e', `(async () => { ${script} })()`]).output;
  };

  test.each([
    ['another layer', 'src/engine/candles.ts', "import '#domain/ports.ts';"],
    ['zod in values', 'src/contract/values/bounds.ts', "import 'zod';"],
    ['a package', 'src/engine/candles.ts', "import 'node:fs';"],
    ['the clock', 'src/engine/candles.ts', 'export const now = Date.now();'],
  ])('report the use of %s', (_, file, line) => {
    plant(file, line);
    const output = check(`importProblems(${JSON.stringify(file)}, imports)`);
    expect(output).toMatch(new RegExp(`^${file} must not (import|use) [^\n]+\n$`));
  });

  // A use case of the registry imports the rules of transitions.
  test('report sibling folders that import each other', () => {
    const files = ['src/domain/registry/promote-version.ts', 'src/domain/transitions/plan-promotion.ts'];
    expect(check(`siblingProblems(${JSON.stringify(files)}, imports)`)).toBe('\n');
    plant(files[1]!, "import type { PromoteDeps } from '../registry/promote-version.ts';");
    expect(check(`siblingProblems(${JSON.stringify(files)}, imports)`)).toMatch(
      /^src\/domain\/registry and src\/domain\/transitions import each other: [^\n]+\n$/,
    );
  });
});
